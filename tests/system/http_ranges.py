#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""http_ranges.py ADDRESS PORT BYTES [MODE]: serves zeroes, also ranges of them.

MODE: whole (no ranges), 429 (always), limit (paced, and 503 beyond two connections at a time), close (the
same, without an answer, which the next connection does not get either), stop (closes in the middle of an
answer), silent (accepts, and never answers), auth (403 unless user "user", password "S3cret"), or a URL to
which it redirects.

A line is printed for each answer: how many are being sent.
"""
import mmap
import re
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SIZE = int(sys.argv[3])
MODE = sys.argv[4] if len(sys.argv) > 4 else ""
DATA = memoryview(mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE))  # takes no memory
PIECE = 256 << 10
SO_MAX_PACING_RATE = 47
busy = 0
late = False
lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        global busy, late
        if MODE in ("limit", "close"):  # 10 Mbit/s each
            self.connection.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, 1250000)
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
            number = busy
            print(number, flush=True)
        try:
            if MODE == "429" or (MODE == "limit" and number > 2):
                self.send_error(int(MODE) if MODE == "429" else 503)
            elif MODE == "close" and (number > 2 or late):
                late = number > 2
                self.close_connection = True
            else:
                self.serve()
        except OSError:
            self.close_connection = True
        finally:
            with lock:
                busy -= 1

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
print("listening", flush=True)
server.serve_forever()
