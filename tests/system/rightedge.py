#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0-only
"""rightedge.py [DEVICE]: how the TCP receive windows moved that this network namespace advertised.

Watches what it sends over a TUN device until SIGTERM (SIGUSR1: counts from now on, for the connections
that are known). Without a device it reads lines of `tshark -T fields` with tcp.stream, tcp.srcport,
tcp.flags, tcp.ack and tcp.window_size, whose sequence numbers are not relative. Names each edge that moves
back on standard error, and prints as JSON:

connections      directions whose SYN was seen, which has the window scale
acks             their segments with an acknowledgement, after the SYN
retracted        how many of these moved the right edge of the window back: acknowledgement plus
                 window lie before those of an earlier one, or of a SYN with an acknowledgement
retracted_bytes  the largest such distance
window_max_bytes the largest window
shrunk           windows that were smaller than the one before
reordered        segments that acknowledge less than an earlier one, which are ignored
resets           connections that were reset before this end had sent a FIN
dropped          segments that this program missed

RFC 793 (section 3.7) and RFC 1122 (4.2.2.16) ask receivers not to move the right edge back.
"""
import ctypes
import json
import signal
import socket
import struct
import sys
import time

SO_ATTACH_FILTER, SO_RCVBUFFORCE, SOL_PACKET, PACKET_STATISTICS, ETH_P_ALL = 26, 33, 263, 6, 3
FIN, SYN, RST, ACK = 1, 2, 4, 16
RING_BYTES = 64 << 20
COUNTS = ("connections", "acks", "retracted", "retracted_bytes", "reordered", "window_max_bytes",
          "shrunk", "resets")


class Direction:
    """What one end of a connection advertises to the other."""

    def __init__(self, ports, wscale):
        self.ports = ports
        self.wscale = wscale
        self.ack = self.window = 0
        self.edge = None  # the furthest right edge, if known
        self.finished = False


directions = {}
counts = dict.fromkeys(COUNTS, 0)
signals = set()


def before(a, b):
    """How far sequence number a lies before b, modulo 2^32; negative: behind it."""
    return ((b - a + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)


def window_scale(options):
    """The window scale option (kind 3, RFC 7323 section 2.2) of a SYN; 0: none."""
    i = 0
    while i + 1 < len(options) and options[i]:
        if options[i] == 3:
            return options[i + 2]
        i += 1 if options[i] == 1 else max(options[i + 1], 2)
    return 0


def on_syn(key, flags, ack, window, options):
    """The window of a SYN is not scaled. Without an acknowledgement it has no right edge."""
    counts["connections"] += key not in directions
    directions[key] = direction = Direction(key[1:], window_scale(options))
    if flags & ACK:
        direction.ack, direction.edge = ack, ack + window


def on_ack(direction, ack, window):
    known = direction.edge is not None
    counts["acks"] += 1
    if known and before(ack, direction.ack) > 0:
        counts["reordered"] += 1
        return
    counts["window_max_bytes"] = max(counts["window_max_bytes"], window)
    counts["shrunk"] += known and window < direction.window
    back = before(ack + window, direction.edge) if known else 0
    if back > 0:
        counts["retracted"] += 1
        counts["retracted_bytes"] = max(counts["retracted_bytes"], back)
        print(f"{time.strftime('%T')} {direction.ports}, window scale {direction.wscale}: {back} bytes back "
              f"as {direction.window} became {window}", file=sys.stderr, flush=True)
    else:
        direction.edge = ack + window
    direction.ack, direction.window = ack, window


def on_packet(packet):
    if packet[0] >> 4 == 4 and packet[9] == socket.IPPROTO_TCP:
        header, addresses = (packet[0] & 15) * 4, packet[12:20]
    elif packet[0] >> 4 == 6 and packet[6] == socket.IPPROTO_TCP:
        header, addresses = 40, packet[8:40]
    else:
        return
    sport, dport, ack, offset, flags, window = struct.unpack_from("!HHxxxxIBBH", packet, header)
    options = packet[header + 20:header + (offset >> 4) * 4]
    on_segment((addresses, sport, dport), flags, ack, window, options)


def on_segment(key, flags, ack, window, options=b""):
    if flags & SYN:
        on_syn(key, flags, ack, window, options)
        return
    direction = directions.get(key)
    if not direction:
        return
    if flags & RST:  # every host answers so to segments that arrive after its end
        counts["resets"] += not direction.finished
    elif flags & ACK:
        on_ack(direction, ack, window << direction.wscale)
    direction.finished |= bool(flags & (FIN | RST))


def open_capture(device):
    # outgoing packets only: the packet type at SKF_AD_OFF + SKF_AD_PKTTYPE is PACKET_OUTGOING
    program = ctypes.create_string_buffer(struct.pack(
        "HBBI" * 4, 0x30, 0, 0, 0xFFFFF004, 0x15, 0, 1, 4, 6, 0, 0, 128, 6, 0, 0, 0))
    capture = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
    capture.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                       struct.pack("HP", 4, ctypes.addressof(program)))
    capture.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RING_BYTES)
    capture.bind((device, ETH_P_ALL))
    capture.setblocking(False)
    return capture


def read_all(capture):
    try:
        while True:
            on_packet(capture.recv(128))  # IPv6 and TCP with all their options
    except BlockingIOError:
        pass


def read_fields():
    for line in sys.stdin:
        stream, port, flags, ack, window = line.split()  # a window that tshark has scaled
        on_segment((stream, port), int(flags, 16), int(ack), int(window))


def watch(device):
    capture = open_capture(device)
    for number in (signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, lambda number, frame: signals.add(number))
    print("watching", file=sys.stderr, flush=True)
    while signal.SIGTERM not in signals:
        time.sleep(0.02)  # the buffer holds more than that
        if signal.SIGUSR1 in signals:
            read_all(capture)  # what came before
            signals.clear()
            counts.update(dict.fromkeys(COUNTS[1:], 0))
            for direction in directions.values():
                direction.edge = None
            print("counting from now", file=sys.stderr, flush=True)
        read_all(capture)
    read_all(capture)
    counts["dropped"] = struct.unpack("II", capture.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1]


if len(sys.argv) > 1:
    watch(sys.argv[1])
else:
    read_fields()
print(json.dumps(counts))
