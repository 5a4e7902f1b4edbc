#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0-only
"""answers.py SAMPLES TCPTUNECTL...: what do both ends of connections say limits them?

Reads lines "NAME PORT SENDER RECEIVER SEND RECEIVE" from standard input: the port of the receiving end, the
processes at both ends, and the expected words of the sender and of the receiver. Reads all connections until
each has given SAMPLES answers, at most 600 s, and ends with status 1 after a wrong one.

On a busy host a process that was woken runs later, and meanwhile it is the truth that its connection
waits for it. So a sample counts if both processes slept all the time (a receiver 0, which every segment wakes, is
not looked at), and that of a writer that sleeps of its own accord while something is in flight. The emulated link of
a busy host may lose and delay what it should not: unless losses are expected, a sample does not count while something
is being repaired, and the queue fills again, or while the RTT says that segments wait, where that is not the limit that is
expected. None of a receiver 0 counts while it is late, or if nothing has arrived since the look before.
"""
import collections
import json
import subprocess
import sys
import time

REFILL_S = 5  # three times what 4 MB take at 20 Mbit/s


def sleeps(pid):
    if pid == "0":
        return "asleep"
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        lines = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    if not lines["State"].startswith("S"):
        return None
    return lines["voluntary_ctxt_switches"], lines["nonvoluntary_ctxt_switches"]


samples, command = int(sys.argv[1]), sys.argv[2:] + ["flows", "--json", "--limit=1000"]
rows = [line.split() for line in sys.stdin]
counted, repaired, arrived, wrong = collections.Counter(), {}, {}, 0
end = time.monotonic() + 600
while time.monotonic() < end and any(counted[row[0]] < samples for row in rows):
    before = {pid: sleeps(pid) for row in rows for pid in row[2:4]}
    flows = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["flows"]
    after = {pid: sleeps(pid) for pid in before}
    sending = {flow["remote"].rsplit(":", 1)[1]: flow for flow in flows}
    receiving = {flow["local"].rsplit(":", 1)[1]: flow for flow in flows}
    for name, port, *pids, send, receive in rows:
        sender, receiver = sending.get(port), receiving.get(port)
        if not sender or not receiver:
            sys.exit(f"{name}: the connection to port {port} is not there")
        silent = receiver["bytes_received"] == arrived.get(port)
        arrived[port] = receiver["bytes_received"]
        if any(not before[pid] or before[pid] != after[pid] for pid in pids):
            continue
        if send == "application" and not sender["flight_bytes"]:
            continue
        if receive in ("sender", "receiver_window") and \
                receiver["receiver_rtt_us"] >= 1.5 * receiver["receive"]["min_rtt_us"]:
            continue
        if send != "path" and sender["flight_bytes"] and \
                sender["srtt_us"] >= 1.5 * min(sender["min_rtt_us"], sender["send"]["min_rtt_us"]):
            continue
        now, again = time.monotonic(), sender["retransmitted_segments"]
        if sender["lost_segments"] or again != repaired.setdefault(port, (0, 0))[0]:
            repaired[port] = again, now + REFILL_S
        if send != "loss" and now < repaired[port][1]:
            continue
        late = 2 * receiver["receive_buffer_used_bytes"] > receiver["receive_buffer_bytes"]
        if pids[1] == "0" and (late or silent):
            continue
        counted[name] += 1
        said = sender["limit"], receiver["receive"]["limit"]
        if said != (send, receive):
            wrong += 1
            print(f"{name}: {said}, expected {(send, receive)}")
            if wrong == 1:
                print(f"  {sender}\n  {receiver}")
for name, *_, send, receive in rows:
    print(f"{name}: {send}, {receive}: {counted[name]} samples")
sys.exit(bool(wrong) or min(counted[row[0]] for row in rows) < samples)
