#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0-only
"""Random links, and the applications on them (bench_random.sh); one connection after the other (bench_paths.sh).

field.py draw CELL SECONDS              prints a link and an application; the number of the cell is the seed
field.py receive ADDRESS PORT SECONDS KIND [NUMBER...]
                                        reads one connection for so long, and prints what came
field.py send ADDRESS PORT CONTROL KIND [NUMBER...]
                                        sends until the receiver ends it, and prints what TCP saw of that;
                                        KIND is a function below
field.py serve ADDRESS PORT CONTROL     sends as much as each connection asks for
field.py fetch ADDRESS PORT PAUSE SIZE COUNT [PARALLEL]
                                        COUNT times, pauses and asks for SIZE bytes by new connections, and prints how long
                                        they took, handshakes included, and when the last ones began
Both ends share a clock: two network namespaces of one host do.
"""
import concurrent.futures
import io
import json
import math
import random
import select
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterator

HEADER = struct.Struct("=Id")  # of a message: its length, and when it was written
CHUNK = 1 << 14
PAYLOAD = memoryview(bytes(1 << 26))
now = time.monotonic


def draw(cell: str, seconds: str) -> dict:
    """Rates, round trips and queues are as often in each doubling of their range as in any other. What varies and the
    application are taken from dicts with a draw of each, so that none depends on another."""
    draws, half_s = random.Random(int(cell)), float(seconds) / 2

    def scaled(low: float, high: float) -> float:
        return float(f"{low * (high / low) ** draws.random():.3g}")

    def one_of(values: list):
        return values[int(draws.random() * len(values))]

    mbps, rtt_ms, queue = scaled(3, 250), scaled(3, 160), scaled(0.3, 10)
    bdp = mbps * rtt_ms * 125
    queue = max(queue, float(f"{15000 / bdp:.3g}"))  # linkem has at least ten packets
    factor = scaled(1.2, 4) ** one_of([1, -1])
    period_s = scaled(0.01, 1)
    frame = max(scaled(0.02, 0.9) * mbps * 125000 * period_s, 1448)
    kinds = {"plain": "", "shared": "",
             "jitter": f"--jitter-ab uniform={scaled(0.1, 2) * rtt_ms:.3g}ms,every={scaled(2, 50)}ms",
             "delay": f"--schedule {half_s:g}s::{rtt_ms / 2 * factor:.4g}ms",
             "rate": f"--schedule {half_s:g}s:{mbps * factor if mbps * factor < 250 else mbps / factor:.4g}mbit:",
             "loss": f"--loss-ab {scaled(1e-5, 1e-3)}"}
    kind = one_of([*kinds, "plain", "shared"])
    applications = {"bulk": [], "frames": [frame, period_s], "stream": [frame, period_s, half_s],
                    "on_off": [scaled(0.5, 3), scaled(0.5, 3)],
                    "answers": [max(scaled(0.03, 6) * bdp, 6000), scaled(0.05, 5) * rtt_ms / 1e3]}
    name = one_of([*applications, "bulk"])
    application = " ".join([name, *(f"{number:.6g}" for number in applications[name])])
    return {"kind": kind, "queue_bdp": queue, "application": application,
            "path": f"--rate {mbps}mbit --delay {rtt_ms / 2}ms --queue {queue}bdp {kinds[kind]}",
            "x": f"{cell}: {mbps:g} Mbit/s, {rtt_ms:g} ms, {queue:g} BDP, "
                 f"{' '.join([kind, *kinds[kind].split()[1:]])}, {application}"}


# --- applications -----------------------------------------------------------------------------------


def write(connection: socket.socket, size: float) -> None:
    connection.send(HEADER.pack(int(size), now()), socket.MSG_MORE)
    connection.sendall(PAYLOAD[:int(size)])


def bulk(connection: socket.socket, _at_the_receiver: float = 0) -> None:
    while True:
        write(connection, CHUNK)


later = batches = bulk  # counted from a later second on; read in batches of a size


def on_off(connection: socket.socket, on_s: float, off_s: float) -> None:
    while True:
        end = now() + on_s
        while now() < end:
            write(connection, CHUNK)
        time.sleep(off_s)


def ticks(period_s: float, until_s: float = math.inf) -> Iterator[None]:
    """What is not done in time delays the next ones; none is made up for."""
    due = now()
    end = due + until_s
    while due < end:
        yield
        due = max(due + period_s, now())
        time.sleep(max(due - now(), 0))


def frames(connection: socket.socket, size: float, period_s: float, until_s: float = math.inf) -> None:
    for _ in ticks(period_s, until_s):
        write(connection, size)


def stream(connection: socket.socket, size: float, period_s: float, until_s: float) -> None:
    frames(connection, size, period_s, until_s)
    bulk(connection)


def live(connection: socket.socket, size: float, period_s: float, buffer: float) -> None:
    """A frame for which there is no room is left out."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, int(buffer))
    for _ in ticks(period_s):
        if select.select([], [connection], [], 0)[1]:
            write(connection, size)


def answers(connection: socket.socket, size: float, pause_s: float) -> None:
    while connection.recv(1):
        time.sleep(pause_s)
        write(connection, size)


# --- both ends --------------------------------------------------------------------------------------


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))]


class Batches(io.RawIOBase):
    """Reads whenever as many bytes wait."""

    def __init__(self, connection: socket.socket, size: int):
        self.connection = connection
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        select.select([self.connection], [], [])
        return self.connection.recv_into(buffer)


def receive(address: str, port: str, seconds: str, kind: str, *numbers: str) -> dict:
    """The goodput of a stream is that of the time in which it is bulk."""
    listener, messages, began = socket.create_server((address, int(port))), [], math.inf
    print("listening", flush=True)
    connection, _ = listener.accept()
    file = connection.makefile("rb", 1 << 18)
    if kind == "batches":
        size = int(numbers[0])
        file = io.BufferedReader(Batches(connection, size), size)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, float(seconds))
    try:
        while True:
            if kind == "answers":
                connection.send(b"?")
            size, written = HEADER.unpack(file.read(HEADER.size))
            file.read(size)
            began = min(began, written)
            messages.append((now() - began, size, 1e3 * (now() - written)))
    except KeyboardInterrupt:
        pass
    since = float(numbers[-1]) if kind in ("stream", "later") else 0
    total = sum(size for at, size, _ in messages if at >= since)
    times = [ms for _, _, ms in messages] if kind in ("answers", "frames", "live") else []
    return {"elapsed_s": float(seconds), "bytes": total, "goodput_bps": total * 8 / (float(seconds) - since),
            "message_ms": {"mean": sum(times) / len(times), "median": quantile(times, 0.5),
                           "p90": quantile(times, 0.9), "p99": quantile(times, 0.99)} if times else None}


def read_info(connection: socket.socket, *offsets: int) -> list[int]:
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
    return [struct.unpack_from("I", info, offset)[0] for offset in offsets]


def sample(connection: socket.socket, rtts_ms: list[float], after_s: float) -> None:
    """Every 20 ms while something is in flight, as messages does."""
    time.sleep(after_s)
    while True:
        unacked, rtt_us = read_info(connection, 24, 68)
        rtts_ms += [rtt_us / 1e3] if unacked else []
        time.sleep(0.02)


def send(address: str, port: str, control: str, kind: str, *numbers: str) -> dict:
    connection, rtts_ms = socket.socket(), []
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if control != "default":
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
    connection.connect((address, int(port)))
    after_s = float(numbers[0]) if kind == "later" else 0
    threading.Thread(target=sample, args=(connection, rtts_ms, after_s), daemon=True).start()
    try:
        globals()[kind](connection, *map(float, numbers))
    except ConnectionError:
        pass
    mss, retransmits = read_info(connection, 16, 100)
    used = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    return {"rtt_ms": {"median": quantile(rtts_ms, 0.5), "p95": quantile(rtts_ms, 0.95)}, "sender": {"mss": mss},
            "retransmits": retransmits, "congestion": used.rstrip(b"\0").decode()}


# --- one connection after the other ------------------------------------------------------------------


def serve_one(connection: socket.socket) -> None:
    size = int(connection.recv(64))
    while size:
        size -= connection.send(PAYLOAD[:size])
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)
    used = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    print(json.dumps({"retransmits": read_info(connection, 100)[0], "congestion": used.rstrip(b"\0").decode()}),
          flush=True)
    connection.close()


def serve(address: str, port: str, control: str) -> None:
    listener = socket.create_server((address, int(port)))
    if control != "default":
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
    print("listening", flush=True)
    while True:
        threading.Thread(target=serve_one, args=listener.accept()[:1], daemon=True).start()


def fetch_one(address: str, port: str, size: str) -> float:
    began = now()
    with socket.create_connection((address, int(port))) as connection:
        connection.send(size.encode())
        while connection.recv(1 << 20):
            pass
        return now() - began


def fetch(address: str, port: str, pause_s: str, size: str, count: str, parallel: str = "1") -> dict:
    times = []
    for _ in range(int(count)):
        time.sleep(float(pause_s))
        began_s = now()
        with concurrent.futures.ThreadPoolExecutor(int(parallel)) as pool:
            times += pool.map(lambda _: fetch_one(address, port, size), range(int(parallel)))
    middle = quantile(times, 0.5)
    return {"began_s": began_s, "elapsed_s": middle, "times_s": times, "bytes": int(size),
            "goodput_bps": int(size) * 8 / middle}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
