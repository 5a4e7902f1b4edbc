# SPDX-License-Identifier: GPL-2.0-only
"""Connections that send once and then stay idle.

    keep_alive.py serve ADDRESS                      reads all data, prints each megabyte
    keep_alive.py connect ADDRESS COUNT BYTES [SOURCE...]
                                                     COUNT connections of BYTES each, from the
                                                     sources in turn; prints "sent" after the last
    keep_alive.py pairs COUNT [PORT [BYTES]]         COUNT connections within this process, that
                                                     carry BYTES (1) each way; prints "open" at last
    keep_alive.py replace PORT                       connections within this process, of which each
                                                     is closed before the next; prints "replaced"
                                                     once it was 100
"""
import concurrent.futures
import itertools
import resource
import selectors
import signal
import socket
import struct
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
    signal.pause()


def pairs(count, port=7200, size=1):
    listener = socket.create_server(("", int(port)))
    part = bytes(min(int(size), 16384))  # no buffer is smaller
    ends = []
    for i in range(int(count)):
        # 5000 connections to each address: one address has too few ports for more.
        client = socket.create_connection((f"127.0.0.{1 + i // 5000}", int(port)))
        server = listener.accept()[0]
        for sender, receiver in (client, server), (server, client):  # which ends the handshake
            for _ in range(int(size) // len(part)):
                sender.sendall(part)
                receiver.recv(len(part), socket.MSG_WAITALL)
        ends += client, server
    print("open", count, flush=True)
    signal.pause()


def replace(port):
    listener = socket.create_server(("", int(port)))
    for i in itertools.count(1):
        client = socket.create_connection(("127.0.0.1", int(port)))
        server = listener.accept()[0]
        client.sendall(b"x")
        server.recv(1)
        for end in client, server:  # with a reset, so that ports are free at once
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            end.close()
        if i == 100:
            print("replaced", i, flush=True)


files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
{"serve": serve, "connect": connect, "pairs": pairs, "replace": replace}[sys.argv[1]](*sys.argv[2:])
