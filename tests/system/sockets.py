#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0-only
"""sockets.py STEP...: does to sockets what an application would, and prints the kernel's answers.

tcp4 tcp6 mptcp4 udp4 unix raw4
                        a new socket, for the following steps
set NAME VALUE [/LENGTH]
                        setsockopt() with an option of LENGTH bytes (its own size)
get NAME[,NAME...] [/LENGTH]
                        prints "NAME VALUE", and "NAME VALUE /LENGTH" if another length is returned
listen ADDR PORT        binds and listens
accept                  replaces the listener by the connection
connect ADDR PORT       tries for 5 s
disconnect              from its peer, to connect again
send BYTES, receive BYTES
push BYTES              prints "push TAKEN": as many of them as the kernel takes at once
trickle BYTES MS, sip BYTES MS
                        send and receive so many, over and over, with that pause
record                  prints "record yes" if the daemon has a record of the socket, else "record no"
ask BYTES               sends so many, receives one, and prints "ask MILLISECONDS"
say TEXT                prints it
until FILE              waits until FILE exists in $TEST_DIR, at most 240 s
choose NAME FILE        sets the congestion control NAME on a new TCP socket, over and over, until FILE
                        exists in $TEST_DIR, at most 240 s; prints "chosen TIMES REFUSED"

If the kernel refuses a set or get, "set NAME: REASON" is printed, and the next step follows. Any other
failure ends the program with status 1.
"""
import ctypes
import errno
import os
import socket
import struct
import sys
import time

IPPROTO_MPTCP = 262
KINDS = {
    "tcp4": (socket.AF_INET, socket.SOCK_STREAM, 0),
    "tcp6": (socket.AF_INET6, socket.SOCK_STREAM, 0),
    "mptcp4": (socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP),
    "udp4": (socket.AF_INET, socket.SOCK_DGRAM, 0),
    "unix": (socket.AF_UNIX, socket.SOCK_STREAM, 0),
    "raw4": (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP),
}
OPTIONS = {
    "rcvbuf": (socket.SOL_SOCKET, socket.SO_RCVBUF),
    "sndbuf": (socket.SOL_SOCKET, socket.SO_SNDBUF),
    "rcvbufforce": (socket.SOL_SOCKET, 33),
    "sndbufforce": (socket.SOL_SOCKET, 32),
    "locks": (socket.SOL_SOCKET, 72),  # SO_BUF_LOCK; 1: send, 2: receive buffer
    "netns": (socket.SOL_SOCKET, 71),  # SO_NETNS_COOKIE, of 8 bytes
    "keepalive": (socket.SOL_SOCKET, socket.SO_KEEPALIVE),
    "pacing": (socket.SOL_SOCKET, 47),  # SO_MAX_PACING_RATE, bytes per second
    "clamp": (socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP),
    "congestion": (socket.IPPROTO_TCP, socket.TCP_CONGESTION),
    "unsent": (socket.IPPROTO_TCP, 25),  # TCP_NOTSENT_LOWAT
}
BPF_MAP_LOOKUP_ELEM, BPF_OBJ_GET = 1, 7
SYS_BPF = 321 if os.uname().machine == "x86_64" else 280
CHUNK = bytes(1 << 16)
DIRECTORY = os.environ["TEST_DIR"]
RECORDS = b"/sys/fs/bpf/tcptuned/map_flows"

libc = ctypes.CDLL(None, use_errno=True)  # Python's getsockopt() takes at most 1024 bytes
sock = None
words = sys.argv[1:]


def option_length(own):
    return int(words.pop(0)[1:]) if words and words[0].startswith("/") else own


def set_option(name, value):
    data = value.encode() if name == "congestion" else struct.pack("I", int(value) & 0xFFFFFFFF)
    length = option_length(len(data))
    if libc.setsockopt(sock.fileno(), *OPTIONS[name], data.ljust(length, b"\0"), length):
        print(f"set {name}: {os.strerror(ctypes.get_errno())}")


def get_options(names):
    for name in names.split(","):
        if name == "wscale":
            print("wscale", sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)[6] >> 4)
            continue
        own = 16 if name == "congestion" else 4
        data, length = ctypes.create_string_buffer(len(CHUNK)), ctypes.c_uint(option_length(own))
        if libc.getsockopt(sock.fileno(), *OPTIONS[name], data, ctypes.byref(length)):
            print(f"get {name}: {os.strerror(ctypes.get_errno())}")
            continue
        value = data.value.decode() if name == "congestion" else struct.unpack("i", data.raw[:4])[0]
        print(name, value, *([] if length.value == own else [f"/{length.value}"]))


def listen(address, port):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((address, int(port)))
    sock.listen(8)


def accept():
    global sock
    sock = sock.accept()[0]


def connect(address, port):
    for _ in range(100):
        error = sock.connect_ex((address, int(port)))
        if error != errno.ECONNREFUSED:
            break
        time.sleep(0.05)
    if error:
        raise OSError(error, os.strerror(error))


def disconnect():
    if libc.connect(sock.fileno(), bytes(16), 16):  # AF_UNSPEC
        raise OSError(ctypes.get_errno(), "disconnect")


def send(size):
    left = int(size)
    while left:
        left -= sock.send(CHUNK[:left])


def push(size):
    sock.setblocking(False)
    taken = 0
    try:
        while taken < int(size):
            taken += sock.send(CHUNK[: int(size) - taken])
    except BlockingIOError:
        pass
    sock.setblocking(True)
    print("push", taken)


def receive(size):
    left = int(size)
    while left:
        data = sock.recv(min(left, len(CHUNK)))
        if not data:
            raise EOFError(f"{left} bytes are missing")
        left -= len(data)


def ask(size):
    begin = time.monotonic()
    send(size)
    receive(1)
    print("ask", int(1000 * (time.monotonic() - begin)))


def trickle(size, pause):
    while True:
        send(size)
        time.sleep(int(pause) / 1000)


def sip(size, pause):
    while True:
        receive(size)
        time.sleep(int(pause) / 1000)


def bpf(command, attributes):
    return libc.syscall(SYS_BPF, command, ctypes.create_string_buffer(attributes, 128), 128)


# Socket storage is looked up with a file descriptor of the socket as the key.
def record():
    path, value = ctypes.create_string_buffer(RECORDS), ctypes.create_string_buffer(len(CHUNK))
    key = ctypes.c_int(sock.fileno())
    pinned = bpf(BPF_OBJ_GET, struct.pack("Q", ctypes.addressof(path)))
    if pinned < 0:
        raise OSError(ctypes.get_errno(), RECORDS)
    addresses = ctypes.addressof(key), ctypes.addressof(value)
    if not bpf(BPF_MAP_LOOKUP_ELEM, struct.pack("QQQ", pinned, *addresses)):
        print("record yes")
    elif ctypes.get_errno() == errno.ENOENT:
        print("record no")
    else:
        raise OSError(ctypes.get_errno(), RECORDS)
    os.close(pinned)


def wait_for(file):
    end = time.monotonic() + 240
    while not os.path.exists(f"{DIRECTORY}/{file}"):
        if time.monotonic() > end:
            raise TimeoutError(file)
        time.sleep(0.02)


def choose(name, file):
    times, refused, end = 0, 0, time.monotonic() + 240
    while not os.path.exists(f"{DIRECTORY}/{file}"):
        if time.monotonic() > end:
            raise TimeoutError(file)
        with socket.socket() as one:
            times += 1
            try:
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
            except OSError:
                refused += 1
        time.sleep(0.001)
    print("chosen", times, refused)


STEPS = {
    "set": (set_option, 2), "get": (get_options, 1), "listen": (listen, 2), "accept": (accept, 0),
    "connect": (connect, 2), "disconnect": (disconnect, 0), "send": (send, 1), "receive": (receive, 1),
    "push": (push, 1),
    "trickle": (trickle, 2), "sip": (sip, 2), "ask": (ask, 1),
    "record": (record, 0), "say": (print, 1), "until": (wait_for, 1), "choose": (choose, 2),
}

sys.stdout.reconfigure(line_buffering=True)
while words:
    name = words.pop(0)
    if name in KINDS:
        sock = socket.socket(*KINDS[name])
    else:
        function, count = STEPS[name]
        arguments, words[:count] = words[:count], []
        function(*arguments)
