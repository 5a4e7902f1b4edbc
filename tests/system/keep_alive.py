# SPDX-License-Identifier: GPL-2.0-only
"""Connections that send once and then stay idle.

    keep_alive.py serve ADDRESS                      reads all that comes, prints each megabyte
    keep_alive.py connect ADDRESS COUNT BYTES [SOURCE...]
                                                     COUNT connections of BYTES each, from the
                                                     sources in turn; prints "sent" after the last
"""
import concurrent.futures
import resource
import selectors
import socket
import sys
import time

PORT = 7400


def serve(address):
    listener = socket.create_server((address, PORT), backlog=512)
    print("listening", flush=True)
    look = selectors.DefaultSelector()
    look.register(listener, selectors.EVENT_READ)
    total = 0
    while True:
        for key, _ in look.select():
            if key.fileobj is listener:
                look.register(listener.accept()[0], selectors.EVENT_READ)
                continue
            data = key.fileobj.recv(65536)
            if not data:
                look.unregister(key.fileobj)
            if total // 1000000 != (total + len(data)) // 1000000:
                print("MB", (total + len(data)) // 1000000, flush=True)
            total += len(data)


def connect(address, count, size, *sources):
    def send(i):
        source = (sources[i % len(sources)], 0) if sources else None
        client = socket.create_connection((address, PORT), source_address=source)
        client.sendall(bytes(int(size)))
        return client

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        clients = list(pool.map(send, range(int(count))))
    print("sent", len(clients), flush=True)
    time.sleep(120)


resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
{"serve": serve, "connect": connect}[sys.argv[1]](*sys.argv[2:])
