#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""http_ranges.py ADDRESS PORT BYTES|FILE [MODE [KEY]]: serves zeroes or a file, also ranges of it.

MODE: whole (no ranges), 429 (always), limit (paced, and 503 beyond two connections at a time), close (the
same, without an answer), stop (closes in the middle of an answer), silent (accepts, and never answers), paced
(10 Mbit/s each), auth (403 unless user "user", password "S3cret"), or a URL
to which it redirects.
KEY, a file with a private key and a certificate: HTTPS. If a client offers HTTP/2, the server chooses
it, and then cannot serve it.

A line is printed for each answer: how many are being sent, each by a connection.
"""
import mmap
import re
import socket
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FILE = sys.argv[3]
MODE = sys.argv[4] if len(sys.argv) > 4 else ""
if FILE.isdigit():
    DATA = memoryview(mmap.mmap(-1, int(FILE), flags=mmap.MAP_PRIVATE))  # takes no memory
else:
    with open(FILE, "rb") as file:
        DATA = memoryview(file.read())
SIZE = len(DATA)
PIECE = 256 << 10
SO_MAX_PACING_RATE = 47
busy = 0
lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        global busy
        if MODE in ("paced", "limit", "close"):
            self.pace()
        if MODE == "silent":
            time.sleep(600)
        if MODE == "auth" and self.headers.get("Authorization") != "Basic dXNlcjpTM2NyZXQ=":
            self.send_error(403)
            return
        if "://" in MODE:
            self.send_response(302)
            self.send_header("Location", MODE)
            self.send_header("Content-Length", "10000")
            self.end_headers()
            self.wfile.write(bytes(10000))
            return
        with lock:
            busy += 1
            print(busy, flush=True)
        try:
            if MODE == "429" or (MODE == "limit" and busy > 2):
                self.send_error(int(MODE) if MODE == "429" else 503)
            elif MODE == "close" and busy > 2:
                self.close_connection = True
            else:
                self.serve()
        except OSError:
            self.close_connection = True
        finally:
            with lock:
                busy -= 1

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(SIZE))
        self.end_headers()

    def pace(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, 1250000)

    def serve(self) -> None:
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        first, last = (int(wanted[1]), min(int(wanted[2]), SIZE - 1)) if wanted else (0, SIZE - 1)
        if MODE == "whole" or not wanted:
            first, last = 0, SIZE - 1
            self.send_response(200)
        else:
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{SIZE}")
        left = last - first + 1
        self.send_header("Content-Length", str(left))
        self.end_headers()
        while left > 0:
            at = last + 1 - left
            left -= self.wfile.write(DATA[at : min(at + PIECE, last + 1)])
            if MODE == "stop" and last - first - left > 4 << 20:
                self.close_connection = True
                return

    def log_message(self, *args: object) -> None:
        pass


server = ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler)
server.daemon_threads = True
if len(sys.argv) > 5:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(sys.argv[5])
    tls.set_alpn_protocols(["h2", "http/1.1"])
    server.socket = tls.wrap_socket(server.socket, True, do_handshake_on_connect=False)
print("listening", flush=True)
server.serve_forever()
