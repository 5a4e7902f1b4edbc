#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Turns what a measurement left in $TEST_DIR into a row of results.

rows.py FUNCTION [ARG...]   calls a function below and prints what it returns as JSON

bench/lib.sh calls it. A transfer is what messages printed about it (transfer.json). Its progress curve ("series") is
[[seconds since the first byte was sent, bytes read]...], the curve of its load ("load_series")
[[seconds, RTT in ms, window in bytes]...]. A link is linkem's statistics.
"""
import bisect
import json
import os
import pathlib
import re
import statistics
import sys
import time

# --- files ------------------------------------------------------------------------------------------


def text_of(name: str) -> str:
    return pathlib.Path(os.environ["TEST_DIR"], name).read_text()


def load(name: str):
    return json.loads(text_of(name))


def load_lines(name: str) -> list:
    return [json.loads(line) for line in text_of(name).splitlines()]


def load_last_line(name: str) -> dict:
    return json.loads(text_of(name).splitlines()[-1])


def measured_rows(**wanted) -> list[dict]:
    """The rows of this commit and seed that have these values."""
    wanted |= {"commit": os.environ["BENCH_COMMIT"], "seed": int(os.environ["RUN_SEED"])}
    with open(os.environ["BENCH_RESULTS"]) as file:
        rows = [json.loads(line) for line in file if line.strip()]
    return [row for row in rows if all(row.get(name) == value for name, value in wanted.items())]


# --- curves -----------------------------------------------------------------------------------------


def upper_median(values: list):
    """The upper median; None of an empty list."""
    return sorted(values)[len(values) // 2] if values else None


def bytes_read(flow: dict, seconds: float) -> float:
    """The bytes read by then, interpolated between two points of the curve. If the flow has "began_s", when it began
    to connect, the time is on that clock; the first byte is sent one RTT later."""
    at = max(0, seconds - flow["began_s"] - flow["rtt_ms"] / 1e3) if "began_s" in flow else seconds
    series = flow["series"]
    after = bisect.bisect_right(series, at, key=lambda point: point[0])
    before = series[after - 1] if after else [0, 0]
    if after == len(series):
        return before[1]
    (t0, b0), (t1, b1) = before, series[after]
    return b0 + (b1 - b0) * (at - t0) / (t1 - t0) if t1 > t0 else b0


def mbps(flow: dict, since: float, until: float) -> float:
    return (bytes_read(flow, until) - bytes_read(flow, since)) * 8e-6 / (until - since)


def max_goodput_bps(link: dict, mss: int) -> float:
    """The payload rate that the link can carry."""
    return link["ab"]["rate_bps"] * mss / link["mtu"]


def first(values):
    return next(iter(values), None)


# --- rows -------------------------------------------------------------------------------------------


def run_seconds() -> float | None:
    return json.loads(os.environ.get("RUN_SECONDS") or "null")


def link_figures(transfer: dict, link: dict, tries: str, prunes: str) -> dict:
    utilisation = transfer.get("utilisation")
    if utilisation is None:
        utilisation = transfer["goodput_bps"] / max_goodput_bps(link, transfer["sender"]["mss"])
    ahead = link["ab"]
    return ({"prunes": int(prunes)} if prunes else {}) | {
        "tries": int(tries), "utilisation": utilisation,
        "link": {"drops": ahead["drops"]["total"]["segments"], "queue_mean_ms": ahead["queue"]["mean_delay_ms"],
                 "queue_max_bytes": ahead["queue"]["max_bytes"], "late_p99_us": ahead["late_us"]["p99"],
                 "tolerance": link["tolerance"], "late_max_us": ahead["late_us"]["max"],
                 "late_back_p99_us": link["ba"]["late_us"]["p99"],
                 "judged_after_s": link["judge_after_seconds"],
                 "late_before_p99_us": max(link[way]["late_before_us"]["p99"] for way in ("ab", "ba")),
                 "host_cpu_share": link["host_cpu_share"], "host_steal_share": link["host_steal_share"]}}


def add(bench: str, x: str, column: str, link_file: str = "", tries: str = "", prunes: str = "") -> None:
    """Appends a row to $BENCH_RESULTS and a line to $BENCH_PROGRESS. Without tries there is no result, since the link
    was late, or there was no link."""
    row = {"bench": bench, "x": x, "column": column, "commit": os.environ.get("BENCH_COMMIT", ""),
           "kernel": os.uname().release, "date": time.strftime("%FT%TZ", time.gmtime()),
           "seed": int(os.environ["RUN_SEED"])}
    if link_file and not tries:
        row["invalid"] = load(link_file)["invalid_reasons"] or ["another link was late"]
        said = "no result: " + "; ".join(row["invalid"])
    else:
        transfer = load("transfer.json")
        row |= transfer
        if link_file:
            row |= link_figures(transfer, load(link_file), tries, prunes)
            row.pop("series", None)
            row.pop("load_series", None)
        goodput = row.get("goodput_bps")
        said = f"{goodput / 1e6:.0f} Mbit/s" if goodput is not None else "measured"
    if run_seconds():
        row["seconds"] = run_seconds()
    with open(os.environ["BENCH_RESULTS"], "a") as file:
        print(json.dumps(row, separators=(",", ":")), file=file)
    with open(os.environ.get("BENCH_PROGRESS", "/dev/null"), "a") as file:
        print(f"{bench} {x}, {column}: {said}", file=file)


def is_measured(bench: str, x: str, column: str, tolerance: str) -> None:
    """Exits with 1 unless $BENCH_RESULTS has a valid row of this commit, seed and length."""
    length = {"seconds": run_seconds()} if run_seconds() else {}
    rows = measured_rows(bench=bench, x=x, column=column, **length)
    if not any(not row.get("invalid") and row.get("link", {}).get("tolerance", 1) <= float(tolerance) for row in rows):
        sys.exit(1)


# --- bench_vary.sh ----------------------------------------------------------------------------------


def load_median(flow: dict, column: int, since: float, until: float):
    return upper_median([point[column] for point in flow["load_series"] if since <= point[0] <= until])


def vary() -> dict:
    transfer = load("transfer.json")
    return transfer | {"mbps": mbps(transfer, 0, run_seconds())}


def first_seconds() -> dict:
    """The RTT in the first six seconds, ms."""
    transfer = vary()
    rtts = sorted(point[1] for point in transfer["load_series"] if point[0] <= 6)
    return transfer | {"rtt_early_ms": rtts[len(rtts) // 2], "rtt_early_p95_ms": rtts[len(rtts) * 95 // 100]}


def longer(change_s: str) -> dict:
    """The five seconds that begin one second after the change of the path, and those from ten seconds after it on."""
    transfer, end = vary(), run_seconds()
    since, later = float(change_s) + 1, float(change_s) + 10
    return transfer | {"after_mbps": mbps(transfer, since, min(since + 5, end)),
                       "later_mbps": mbps(transfer, later, end) if later < end else None,
                       "rtt_end_ms": load_median(transfer, 1, end - 2, end)}


def slower() -> dict:
    transfer, end = vary(), run_seconds()
    return transfer | {"rtt_end_ms": load_median(transfer, 1, end - 2, end),
                       "window_end": load_median(transfer, 2, end - 2, end)}


def neighbours(rtt_ms: str, since_s: str, *seconds: str) -> dict:
    """The rates of connections over the time in which all of them send, from a second of it on; each lasts so long.
    long_s: seconds in which the first one's RTT exceeds three times the path's, after the last byte of the second one
    was read."""
    flows = [load(f"flow-{i + 1}.log") for i in range(len(seconds))]
    lengths = [float(length) for length in seconds]
    shared, last = min(lengths), max(lengths)
    since = max(flow["started_s"] for flow in flows) + float(since_s)
    until = min(flow["started_s"] + length for flow, length in zip(flows, lengths))
    rates = [mbps(flow, since - flow["started_s"], until - flow["started_s"]) for flow in flows]
    result = flows[0] | {
        "goodput_bps": sum(rates) * 1e6,
        "retransmits": sum(flow["retransmits"] for flow in flows),
        "flows": [{"mbps": rate, "congestion": flow["congestion"],
                   "retransmits": flow["retransmits"], "rtt_ms": flow["rtt_ms"]["median"]}
                  for flow, rate in zip(flows, rates)]}
    load_series = flows[0]["load_series"]
    if last != shared:
        left_s = flows[1]["elapsed_s"]
        alone = [point for point in load_series if point[0] >= left_s]
        is_long = [point[1] > 3 * float(rtt_ms) for point in alone]
        result["long_s"] = (alone[-1][0] - left_s) * sum(is_long) / len(alone)
        result["rtt_with_ms"] = upper_median([point[1] for point in load_series if point[0] < shared])
    del result["series"], result["load_series"]
    return result


# --- bench_paths.sh ---------------------------------------------------------------------------------


def beside_a_fetch() -> dict:
    """What a neighbour had in the first two seconds of a fetch, and that."""
    fetch, neighbour = load("transfer.json"), load("neighbour.log")
    since = fetch["began_s"] - neighbour["started_s"]
    return fetch | {"neighbour_mbps": mbps(neighbour, since, since + 2)}


# --- bench_streams.sh -------------------------------------------------------------------------------


def streams(others_since_s: str) -> dict:
    since = float(others_since_s)
    others = mbps(load("others.log"), since, since + run_seconds())
    return load("transfer.json") | {"others_mbps": others}


def streams_advised(x: str) -> int | None:
    """The number of connections within the bound that the newest advice of this commit and seed gives."""
    rows = measured_rows(bench="streams", x=x, column="advice")
    advised = [row["within"]["streams"] for row in rows if row.get("within")]
    return advised[-1] if advised else None


# --- bench_fairness.sh ------------------------------------------------------------------------------


def jain_index(rates: list[float]) -> float | None:
    """None: no connection got anything."""
    total = sum(rates)
    return total * total / (len(rates) * sum(rate * rate for rate in rates)) if total > 0 else None


def fairness(flows: list[dict], since: float, until: float) -> dict:
    """Means of the worst of the indices over windows of 1 to 100 s. Paper 003 takes the worst fifth with drop-tail
    (Figure 10), and the worst hundredth with RED (Figure 11)."""
    indices = {}
    for scale in (1, 5, 25, 50, 100):
        starts = [since + i * scale for i in range(int((until - since + 0.001) // scale))]
        of_windows = [jain_index([mbps(flow, t, t + scale) for flow in flows]) for t in starts]
        indices[str(scale)] = sorted(index for index in of_windows if index is not None)

    def worst(part):
        return {scale: statistics.mean(of_scale[:max(1, len(of_scale) // part)]) if of_scale else None
                for scale, of_scale in indices.items()}

    return {"fairness": worst(5), "fairness_worst_100th": worst(100),
            "fairness_intervals": {scale: len(of_scale) for scale, of_scale in indices.items()}}


def carried_bytes() -> int:
    """By the link, between half.json and whole.json."""
    return load("whole.json")["ab"]["out"]["bytes"] - load("half.json")["ab"]["out"]["bytes"]


def elapsed_seconds() -> float:
    return load("whole.json")["up_seconds"] - load("half.json")["up_seconds"]


def compete(seconds: str, *rtts_ms: str) -> dict:
    """Connections that share a bottleneck, in the second half of the time, on the clock of `began-0`."""
    until = json.loads(seconds)
    since = until / 2
    flows = [load(f"flow-{i}.log") | {"rtt_ms": json.loads(rtt_ms),
                                      "began_s": float(text_of(f"began-{i}")) - float(text_of("began-0"))}
             for i, rtt_ms in enumerate(rtts_ms, 1)]
    rates = [mbps(flow, since, until) for flow in flows]
    background = [load(f"background-{end}.json") for end in "ab"]
    link = load("whole.json")["ab"]
    return {"seconds": until, "sender": {"mss": flows[0]["sender"]["mss"]}, "goodput_bps": sum(rates) * 1e6,
            "flows": [{"rtt_ms": flow["rtt_ms"], "mbps": rate, "retransmits": flow["retransmits"]}
                      for flow, rate in zip(flows, rates)],
            "ratio": rates[0] / rates[1] if rates[1] > 0 else None,
            "background_mbps": [end["mbps"] for end in background],
            "background_exit": [end["exit"] for end in background],
            "carried": carried_bytes() * 8 / elapsed_seconds() / link["rate_bps"],
            "red": link["drops"]["red_early"]["segments"] + link["drops"]["red_forced"]["segments"],
            **fairness(flows, since, until)}


# --- bench_clients.sh -------------------------------------------------------------------------------


def burstiness() -> dict:
    """The coefficient of variation of segments per 0.1 s (segments.json, by bpftool). The first and the last interval
    that has one are left out, as they were not counted in full."""
    counts = [entry["formatted"]["value"] for entry in load("segments.json")]
    last = max(i for i, count in enumerate(counts) if count)
    counts = counts[1:last]
    mean = statistics.fmean(counts)
    return {"cov": statistics.pstdev(counts) / mean, "mean": mean, "cov_seconds": len(counts) / 10}


def clients() -> dict:
    half, whole = load("half.json")["ab"], load("whole.json")["ab"]
    bps = carried_bytes() * 8 / elapsed_seconds()
    lost = whole["drops"]["total"]["segments"] - half["drops"]["total"]["segments"]
    return {"measured_s": elapsed_seconds(), "sender": {"mss": 1448},
            "retransmits": load_last_line("clients.log")["retransmitted"], "goodput_bps": bps,
            "utilisation": bps / whole["rate_bps"],
            "loss": lost / (whole["in"]["segments"] - half["in"]["segments"]), **load("burstiness.json")}


# --- other benches ----------------------------------------------------------------------------------


def flow_points() -> dict:
    """Adds to the transfer what tcptuned saw of it (samples.log: the time and `tcptunectl flows --json`): [seconds
    since the first sample that has the connection, bytes in flight, the window that its sender knows of, its congestion
    window in bytes, bytes received]..."""
    points = []
    for at, answer in re.findall(r"^([0-9.]+) (\{.*)$", text_of("samples.log"), re.MULTILINE):
        flows = json.loads(answer)["flows"]
        sender = first(flow for flow in flows if flow["remote"].endswith(":5301"))
        receiver = first(flow for flow in flows if flow["local"].endswith(":5301"))
        if sender and receiver:
            points.append([float(at), sender["flight_bytes"], sender["send_window_bytes"],
                           sender["cwnd_segments"] * sender["mss_bytes"], receiver["bytes_received"]])
    return load("transfer.json") | {
        "flow_points": [[round(point[0] - points[0][0], 3), *point[1:]] for point in points]}


def seconds_taken(file: str) -> dict:
    """The lower median and the maximum of a file with the seconds of a scrape on each line."""
    seconds = sorted(load_lines(file))
    return {"scrape_s": seconds[(len(seconds) - 1) // 2], "scrape_max_s": seconds[-1]}


def third_party() -> dict:
    """Adds the median RTT of the second half to an FTP transfer."""
    rtts = load_lines("rtts.log")
    return load("transfer.json") | {"rtt_ms": {"median": upper_median(rtts[len(rtts) // 2:])}}


if __name__ == "__main__":
    result = globals()[sys.argv[1]](*sys.argv[2:])
    if result is not None:
        json.dump(result, sys.stdout, separators=(",", ":"))
        print()
