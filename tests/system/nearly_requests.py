#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# nearly_requests.py PATH PORT SECONDS [SEED]
#	sends the control socket at PATH and the metrics port what is nearly a request: bytes are changed, cut out
#	and repeated. Some clients do not read the answer, or keep their connection open.
#
# Prints how many requests were sent to each, and how many of them had an answer.

import random
import socket
import sys
import time

path, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
chance = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else None)

REQUESTS = [
    b'{"command":"flows","port":5201,"address":"192.0.2.0/24","sort":"rtt","limit":10,"reverse":true}\n',
    b'{"command":"flows","rules":true,"policy":"default","cgroup":"/system.slice"}\n',
    b'{"command":"events","local_port":80,"remote_address":"2001:db8::/32"}\n',
    b'{"command":"paths","path_sort":"rtt","limit":100000}\n',
    b'{"command":"paths_forget","prefix":"192.0.2.0/24"}\n',
    b'{"command":"policy_test","remote_address":"192.0.2.1","remote_port":443}\n',
    b'{"command":"policy_disable","policy":"nonesuch"}\n',
    b'{"command":"policy_apply"}\n',
    b'{"command":"advise","address":"192.0.2.1"}\n',
    b'{"command":"trial"}\n',
    b'{"command":"status"}\n',
]
PAGES = [
    b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain\r\n\r\n",
    b"GET /metrics HTTP/1.0\r\nAccept-Encoding: gzip, deflate;q=0.5\r\n\r\n",
    b"HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n",
    b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
]


def mutated(text):
    data = bytearray(text)
    for _ in range(chance.randrange(6)):
        at, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
        what = chance.randrange(4)
        if what == 0 and at < len(data):
            data[at] = chance.randrange(256)
        elif what == 1:
            del data[at:end]
        elif what == 2:
            data[at:at] = data[at:end] * chance.randrange(1, 40)
        else:
            data[at:at] = chance.choice([b"\0", b'"', b"{", b"[" * 500, b"-1", b"1e999", b"\xff\xfe", b"\r\n", b"A" * 9000])
    return bytes(data)


def exchange(client, text):
    """True if there was an answer."""
    client.settimeout(0.2)
    try:
        client.sendall(text)
        return chance.random() < 0.1 or bool(client.recv(1 << 16))
    except OSError:
        return False


def connect(family, address):
    client = socket.socket(family, socket.SOCK_STREAM)
    client.settimeout(1)
    try:
        client.connect(address)
        return client
    except OSError:
        client.close()


targets = [
    ("control", REQUESTS, socket.AF_UNIX, path),
    ("metrics", PAGES, socket.AF_INET, ("127.0.0.1", port)),
]
sent = {name: [0, 0] for name, *_ in targets}
kept = []
end = time.monotonic() + seconds
while time.monotonic() < end:
    name, texts, family, address = chance.choice(targets)
    client = connect(family, address)
    if not client:
        continue
    sent[name][0] += 1
    sent[name][1] += exchange(client, mutated(chance.choice(texts)))
    kept.append(client)
    if chance.random() < 0.9 or len(kept) > 8:
        kept.pop(chance.randrange(len(kept))).close()
for name, (requests, answers) in sent.items():
    print(name, requests, answers)
