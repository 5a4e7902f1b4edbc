# SPDX-License-Identifier: GPL-2.0-only
"""What bench/table shows of each bench: its figures, and the requirements that they have to meet."""
import dataclasses
import gzip
import math
import re
import statistics
from typing import Callable

from history import changed_since, is_known, missing_history

# --- numbers ----------------------------------------------------------------------------------------


def unique(values):
    return sorted(set(values))


def rounded(value, digits=0):
    """Halves are rounded away from zero."""
    scaled = abs(value) * 10**digits
    return math.copysign(math.floor(scaled + 0.5) / 10**digits, value)


def figure(value):
    if value is None:
        return "-"
    if value == math.inf:
        return "infinite"
    if value >= 100:
        return f"{rounded(value):.0f}"
    digits = 1 if value >= 10 else 3
    return f"{rounded(value, digits):.{digits}f}".rstrip("0").rstrip(".")


def quotient(a, b):
    return None if a is None or not b or math.inf in (a, b) else a / b


def median(values):
    return statistics.median(values) if values else None


def spread(values):
    """`median (min-max)`, as in a cell of a table."""
    if not values:
        return "no result"
    if len(values) == 1:
        return figure(values[0])
    return f"{figure(median(values))} ({figure(min(values))}-{figure(max(values))})"


# --- rows of results.json ---------------------------------------------------------------------------


def read_lines(path):
    """The lines of a file, perhaps compressed, which are rows as JSON."""
    opened = gzip.open(path, "rt") if str(path).endswith(".gz") else open(path)
    with opened as file:
        return [line for line in file if line.strip()]


def seconds_of(row):
    """How long a run was meant to be; 0: as long as all others. The seconds of cost and loopback are iperf3's own."""
    return 0 if row["bench"] in ("cost", "loopback") else row.get("seconds") or 0


def is_valid(row):
    return not row.get("invalid")


# Columns in which nothing of tcptuned runs.
UNTUNED = re.compile(r"(kernel|none|by hand|64 MB by sysctl|bpftune|without|static|cubic|reno|bbr|aimd|hstcp|stcp|"
                     r"tt_\w+)(, .*)?")


def is_tuned(column):
    return not UNTUNED.fullmatch(column) or bool(re.search("tcptuned|auto|bitcp|keep", column))


def control_of(row):
    """The congestion control that its connections ended with, or each of theirs; "" if that was not recorded."""
    flows = [flow.get("congestion", "") for flow in row.get("flows") or []]
    return " + ".join(flows) if any(flows) else row.get("congestion", "")


def longest(rows):
    """Of each cell the longest runs, in the order in which they were measured."""
    def key(row):
        return row["bench"], row["x"], row["column"]

    most = {}
    for row in filter(is_valid, rows):
        most[key(row)] = max(most.get(key(row), 0), seconds_of(row))
    return [row for row in rows if not is_valid(row) or seconds_of(row) == most[key(row)]]


def field(*path, times=1, per=1):
    """A function that takes a number out of a row; None where it has none."""
    def value(row):
        for name in path:
            try:
                row = row[name]
            except (KeyError, IndexError, TypeError):
                return None
        return None if row is None else times * row / per

    return value


# The paths of the tree whose change makes measurements of tcptuned older than it: of most benches those that decide
# windows, of others these.
RULE = ("include/tcptuned/algo/rightsize.h", "include/tcptuned/algo/marks.h", "include/tcptuned/algo/peer.h",
        "bpf/rightsizing.h", "bpf/receiver.h", "bpf/sender.h")
BITCP = ("include/tcptuned/algo/bitcp.h", "include/tcptuned/algo/congestion.h", "bpf/cc")
CHOICE = ("include/tcptuned/algo/random_loss.h", "include/tcptuned/algo/room.h", "bpf/cc_auto.h",
          "bpf/congestion_control.h")
AUTO = (*RULE, *BITCP, *CHOICE)
WITHOUT_ROOT = ("include/tcptuned/algo/rightsize.h", "include/tcptuned/algo/marks.h", "lib/tuner.c", "run")
OUTDATED_BY = {
    **dict.fromkeys(("friends", "rtt_ratio", "fairness", "friendliness", "clients", "peace_bitcp"), BITCP),
    "pauses": (*BITCP, *CHOICE, "include/tcptuned/algo/resume.h"),
    **dict.fromkeys(("peace", "random", "everyday", "alternatives"), AUTO),
    **dict.fromkeys(("unprivileged", "unprivileged_sender", "loopback", "ftp"), WITHOUT_ROOT),
    "idle": (*RULE, "bpf/budget.h", "include/tcptuned/algo/budget.h"),
    **dict.fromkeys(("cost", "connections"), ("bpf",)),
    "streams": (*AUTO, "streams/model.c", "streams/search.c", "streams/verdict.c"),
    **dict.fromkeys(("random_loss", "random_loss_shared"), CHOICE),
    "unsent": (*RULE, "include/tcptuned/algo/unsent.h"),
    **dict.fromkeys(("paths", "paths_changed", "paths_neighbour"),
                    ("include/tcptuned/algo/path.h", "include/tcptuned/algo/resume.h", "bpf/paths.h", "bpf/cc")),
    "adopt": ("bpf/manage.bpf.c", "bpf/record.h", "daemon/kern"),
    "scrape": ("bpf/scan.bpf.c", "daemon/flows", "daemon/metrics"),
}


@dataclasses.dataclass
class Metric:
    name: str  # with its unit
    caption: str
    value: Callable
    only: Callable = None  # the rows that are shown
    optional: bool = False  # left out where no row has it


@dataclasses.dataclass
class Need:
    """What the median of a metric has to be: @op @bound, or @op @factor times that of column @reference."""
    metric: str
    op: str
    text: str  # see Measured.compare()
    column: str = None  # None: each one in which tcptuned runs
    reference: str = "kernel"
    factor: float = 1
    bound: float = None
    only: str = None  # this x; None: all


@dataclasses.dataclass
class Bench:
    name: str
    title: str
    head: str  # of the first column, which is x
    metrics: object  # a list, or a function of the rows that makes one
    checks: object = ()  # a list of requirements, or a function of what was measured that makes lines


def age_of(bench, commits):
    """What is to be known of the age of measurements of tcptuned: nothing if they are of the present code."""
    if missing_history():
        return "of unknown age"
    unknown = [commit for commit in commits if not is_known(commit)]
    if unknown:
        return f"unknown to git: {', '.join(unknown)}"
    changed = unique(name for commit in commits for name in changed_since(commit, OUTDATED_BY.get(bench.name, RULE)))
    return f"older than {', '.join(changed)}" if changed else ""


class Measured:
    """The rows of one bench."""

    def __init__(self, bench, rows):
        self.bench = bench
        self.rows = [row for row in rows if row["bench"] == bench.name]
        metrics = bench.metrics(self.rows) if callable(bench.metrics) else bench.metrics
        self.metrics = {metric.name: metric for metric in metrics
                        if not metric.optional or any(metric.value(row) is not None for row in self.rows)}

    def rows_of(self, metric):
        return [row for row in self.rows if not metric.only or metric.only(row)]

    @property
    def xs(self):
        return list(dict.fromkeys(row["x"] for row in self.rows))

    @property
    def columns(self):
        return list(dict.fromkeys(row["column"] for row in self.rows))

    def cell(self, metric, x, column):
        return [row for row in self.rows_of(metric)
                if row["x"] == x and row["column"] == column and is_valid(row)]

    def by_control(self, metric, x, column):
        """The values of a cell by the congestion control that the connections ended with, and the commits."""
        found = {}
        for row in self.cell(metric, x, column):
            values, commits = found.setdefault(control_of(row), ([], set()))
            if metric.value(row) is not None:
                values.append(metric.value(row))
                commits.add(row.get("commit") or "")
        return {control: both for control, both in found.items() if both[0]}

    def values(self, name, x, column):
        return [value for values, _ in self.by_control(self.metrics[name], x, column).values() for value in values]

    def mid(self, name, x, column):
        """The median of a cell; None if there is none, or its connections had different congestion controls."""
        found = list(self.by_control(self.metrics[name], x, column).values()) if name in self.metrics else []
        return median(found[0][0]) if len(found) == 1 else None

    def table(self, metric):
        rows = self.rows_of(metric)
        columns = list(dict.fromkeys(row["column"] for row in rows))
        tried = {(row["x"], row["column"]) for row in rows}
        lengths = unique(seconds_of(row) for row in rows if is_valid(row))
        yield f"| {self.bench.head} | {' | '.join(columns)} | runs | congestion control | commit |"
        yield "|---" * (len(columns) + 4) + "|"
        for x in dict.fromkeys(row["x"] for row in rows):
            cells = {column: self.cell(metric, x, column) for column in columns}
            texts = []
            for column, cell in cells.items():
                found = self.by_control(metric, x, column)
                texts.append(spread([]) if (x, column) in tried and not found else "; ".join(
                    spread(values) + (f" with {control}" if len(found) > 1 else "")
                    for control, (values, _) in found.items()) or "-")
                if len(found) > 1:
                    texts[-1] = "mixed: " + texts[-1]
                if len(lengths) > 1 and cell and seconds_of(cell[0]):
                    texts[-1] += f", {figure(seconds_of(cell[0]))} s"
            runs = unique(map(len, cells.values()))
            yield (f"| {x} | {' | '.join(texts)} | {'-'.join(str(n) for n in unique([runs[0], runs[-1]]))} | "
                   f"{self.controls(cells)} | {self.commits(cells)} |")

    def controls(self, cells):
        """Names the congestion controls of each column, or the one of all."""
        controls = {column: " or ".join(unique(map(control_of, cell))) for column, cell in cells.items() if cell}
        if len(set(controls.values())) == 1:
            return next(iter(controls.values()))
        return "; ".join(f"{column}: {control or 'not recorded'}" for column, control in controls.items())

    def commits(self, cells):
        def of(columns):
            return unique(row.get("commit") or "" for column in columns for row in cells[column])

        age = age_of(self.bench, of(filter(is_tuned, cells)))
        return ", ".join(of(cells)) + (f"; {age}" if age else "")

    def records(self):
        """Lines of CSV, one for each congestion control of a cell."""
        for metric in self.metrics.values():
            for x in self.xs:
                for column in self.columns:
                    for control, (values, commits) in self.by_control(metric, x, column).items():
                        yield (self.bench.name, f"{x}; {column}", metric.name,
                               *(f"{value:.7g}" for value in (median(values), min(values), max(values))),
                               len(values), control, " ".join(unique(commits)))

    def checks(self):
        if callable(self.bench.checks):
            yield from self.bench.checks(self)
            return
        for x in self.xs:
            for need in self.bench.checks:
                for column in [need.column] if need.column else filter(is_tuned, self.columns):
                    if need.only in (None, x):
                        yield self.compare(need.metric, x, column, need.op, need.reference, need.factor, need.bound,
                                           need.text)

    def compare(self, name, x, column, op, reference=None, factor=1.0, bound=None, text="", k=None):
        """A line that says whether the median of a cell meets a requirement: @bound, or @factor times that of column
        @reference (@k, if given). In @text, t and k are both medians."""
        t = self.mid(name, x, column)
        if k is None and reference is not None:
            k = self.mid(name, x, reference)
        if bound is None and k is not None:
            bound = factor * k
        share = quotient(t, k)
        return need(t, op, bound, text.format(
            x=x, column=column, reference=reference, t=figure(t), k=figure(k), times=figure(share),
            percent=figure(share and 100 * share), inverse=figure(quotient(k, t)),
            more=figure(share and 100 * (share - 1))))


def need(value, op, bound, text):
    if value is None or bound is None:
        return f"- no result: {text}"
    met = value >= bound if op == ">=" else value <= bound
    return f"- {'met' if met else '**not met**'}: {text}"


# --- figures that several benches have ----------------------------------------------------------------

goodput_mbps = field("goodput_bps", per=1e6)
rtt_ms = field("rtt_ms", "median")
carried_percent = field("carried", times=100)
CARRIED = Metric("carried_percent", "What the bottleneck carried, in % of its rate:", carried_percent)


def goodput(caption, **options):
    return Metric("goodput_mbps", caption, goodput_mbps, **options)


def rtt(caption="RTT, median of a run, in ms:"):
    return Metric("rtt_ms", caption, rtt_ms)


RTT_P95 = Metric("rtt_p95_ms", "95th percentile, in ms:", field("rtt_ms", "p95"))
QUEUE_MEAN = Metric("queue_mean_ms", "Delay of the link's queue, mean of a run, in ms:", field("link", "queue_mean_ms"))


def retransmits(caption="Retransmitted segments:"):
    return Metric("retransmits", caption, field("retransmits"))


# --- one receiver, one sender ---------------------------------------------------------------------------


def retransmits_per_1000(row):
    return quotient(1000 * row.get("retransmits", 0) * row["sender"]["mss"], row["bytes"]) if row.get("bytes") else None


def seconds_for_64_mb(row):
    return row["elapsed_s"] * 2**26 / row["bytes"] if row.get("bytes") else None


def after_5_s(column):
    """Median of a column of the samples of a flow."""
    return lambda row: median([point[column] for point in row.get("flow_points") or [] if point[0] > 5])


ONE_CONNECTION = [
    Bench("locked_receiver", "128 messages of 1 MB, 1 Gbit/s, the receiver fixed SO_RCVBUF at 64 KB", "RTT, ms", [
        goodput("Goodput in Mbit/s, from the first byte sent to the last one read; rows: RTT in ms. By hand: buffers "
                "of 2 x BDP, set with setsockopt(), cubic. Kernel, by sysctl, BBR: the receiver fixes nothing."),
    ], [
        Need("goodput_mbps", ">=", "{x} ms: {t} of {k} Mbit/s by hand, {percent} % (at least 97 %)",
             "tcptuned", "by hand", 0.97),
        Need("goodput_mbps", ">=", "50 ms: {times} times what it is without (at least 50)", "tcptuned", "without", 50,
             only="50"),
    ]),
    Bench("deep_queue", "A deep queue: 1 Gbit/s, 10 ms, 20 MB; only the receiver runs tcptuned", "sender", [
        goodput("Goodput in Mbit/s:"),
        rtt("RTT under load, median of a run, in ms:"),
        Metric("receive_buffer_mb", "Receive buffer at the end, in MB:", field("receiver", "rcvbuf", per=1e6)),
    ], [
        Need("goodput_mbps", ">=", "{x}: {percent} % of the throughput (at least 98 %)", "tcptuned", factor=0.98),
        Need("rtt_ms", "<=", "{x}: RTT {t} ms (at most 25; the kernel alone {k})", "tcptuned", bound=25),
        Need("receive_buffer_mb", "<=", "{x}: receive buffer 1/{inverse} of the kernel's (at most 1/5)", "tcptuned",
             factor=1 / 5),
    ]),
    Bench("pausing_reader", "A reader that pauses for 200 ms in each second: 1 Gbit/s, tcp_rmem 6 MB, cubic, only the "
          "receiver runs tcptuned", "RTT in ms, and when the pauses start", [
        goodput("Goodput in Mbit/s:"),
    ], [
        Need("goodput_mbps", ">=", "{x}: {percent} % of the throughput of the kernel alone (at least 98 %)", "tcptuned",
             factor=0.98),
    ]),
    Bench("unsent", "The send buffer: 1 Gbit/s, cubic, only the sender runs tcptuned", "path", [
        goodput("Rows: RTT in ms, and what is special about the path. \"no bound\": send_unsent_max is 1G. Goodput in "
                "Mbit/s:"),
        Metric("unsent_mb", "Bytes unsent, median of a run, in MB:", field("unsent_bytes", "median", per=1e6)),
        Metric("send_memory_mb", "Memory of the send queue, median of a run, in MB:",
               field("send_memory_bytes", "median", per=1e6)),
        Metric("latency_ms", "From being written by one application to being read by the other, median of a run, in "
               "ms:", field("latency_ms", "median")),
    ], [
        Need("goodput_mbps", ">=", "{x}: {percent} % of the throughput without the bound (at least 98 %)", "tcptuned",
             "tcptuned, no bound", 0.98),
        Need("goodput_mbps", ">=", "{x}: {percent} % of the throughput of the kernel alone (at least 98 %)",
             "tcptuned", factor=0.98),
        Need("latency_ms", "<=", "{x}: {t} ms from application to application, the kernel alone {k} (at most half)",
             "tcptuned", factor=1 / 2),
    ]),
    Bench("slow_link", "Slow links, a queue of ten packets: a Reno sender", "link", [
        Metric("retransmits_per_1000", "Retransmitted segments per 1000 sent; the receivers of the kernel and of the "
               "static window run without tcptuned:", retransmits_per_1000),
        retransmits(),
        Metric("goodput_kbps", "Goodput in kbit/s:", field("goodput_bps", per=1e3)),
    ], [
        Need(name, op, text, column, reference, factor) for name, op, factor, text in (
            ("retransmits", "<=", 0.8,
             "{x}, {column}: {t} segments retransmitted, {k} with {reference} (at least 20 % fewer)"),
            ("goodput_kbps", ">=", 0.98, "{x}, {column}: {t} kbit/s, {k} with {reference} (at least 98 %)"))
        for reference in ("static 64 KB", "kernel")
        for column in ("tcptuned at the receiver", "tcptuned, known path")
    ]),
]

# --- papers 000 and 001 -----------------------------------------------------------------------------------

OWN = "tcptuned, cubic", "tcptuned"


def check_grid(m):
    """At least 97 % of the best other column, unless both have three runs, and these overlap."""
    compared, below = 0, []
    for x in m.xs:
        runs = {column: m.values("goodput_mbps", x, column) for column in m.columns}
        if not runs.get("by hand"):
            continue
        others = [column for column in m.columns if runs[column] and column not in OWN]
        name = max(others, key=lambda column: median(runs[column]))
        best = runs[name]
        for column in filter(runs.get, OWN):
            own, share = runs[column], median(runs[column]) / median(best)
            compared += 1
            overlap = min(len(own), len(best)) >= 3 and min(own) <= max(best) and min(best) <= max(own)
            if share < 0.97 and not overlap:
                below.append(f"- **below**: {x}, {column}: {rounded(median(own)):.0f} Mbit/s, {name} "
                             f"{rounded(median(best)):.0f}, {rounded(100 * share):.0f} %")
    yield need(len(below), "<=", 0, "at least 97 % of the best other column, or within its spread, in all but "
               f"{len(below)} of {compared} comparisons")
    yield from below


TWO_PAPERS = [
    Bench("grid", "The grid of paper 000: 128 messages of 1 MB over 1 Gbit/s, no loss", "buffers, RTT, connections", [
        goodput("Goodput in Mbit/s; rows: buffers, RTT, connections. Columns and rows as in bench_grid.sh; by hand is "
                "what none and kernel become once the application sets its buffers."),
    ], check_grid),
    Bench("buffer_size", "Buffers of an application that sets them: 128 messages of 1 MB over 1 Gbit/s (paper 000, "
          "Figure 5)", "RTT, SO_*BUF, connections", [
        goodput("Goodput in Mbit/s; rows: RTT, what it asks for, connections:"),
    ]),
    Bench("drs", "Transfers of 64 MB, 1 Gbit/s, 100 ms, queue of one BDP (paper 001, Figure 2)", "transfer", [
        Metric("seconds_for_64_mb", "Static: a receive buffer of 64 KB, half of it window. Seconds from the first byte "
               "sent to the last one read; of a shorter static transfer by its rate:", seconds_for_64_mb),
    ], [
        Need("seconds_for_64_mb", "<=", "{inverse} times faster right-sized (the paper: 7)", "right-sized, reno",
             "static, reno", 1 / 7),
    ]),
    Bench("slow_flight", "Flight and window over 56 kbit/s, 100 ms, reno (paper 001, Figures 5 and 6)", "link", [
        Metric("flight_bytes", "Bytes in flight, median of a run after 5 s:", after_5_s(1)),
        Metric("window_bytes", "Window offered, median of a run after 5 s, bytes:", after_5_s(2)),
    ]),
]


# --- connections that share a bottleneck ------------------------------------------------------------------


def throughput_ratio(row):
    """Of the first connection over the second; infinite: the second got nothing."""
    if row.get("ratio") is None and row.get("flows") and row["flows"][1]["mbps"] == 0:
        return math.inf
    return row.get("ratio")


def check_rtt_ratio(m):
    for ratio, paper in ("3", 9.18), ("6", 35.76):
        x = f"2500 Mbit/s, drop-tail, {ratio}"
        if m.mid("throughput_ratio", x, "bitcp") is None:
            continue
        yield m.compare("throughput_ratio", x, "bitcp", "<=", bound=paper,
                        text=f"{{x}}: {{t}} with bitcp (paper 003, Table 2: {paper})")
        yield m.compare("carried_percent", x, "bitcp", ">=", bound=99,
                        text="{x}: the link is used to {t} % (at least 99 %)")


def fairness_metrics(rows):
    metrics = []
    for scale in "1", "5", "25", "50", "100":
        counts = unique(row["fairness_intervals"][scale] for row in rows
                        if (row.get("fairness_intervals") or {}).get(scale) is not None)
        of_which = f", of which there are {' or '.join(map(str, counts))} in a run" if counts else ""
        metrics += [
            Metric(f"jain_{scale}_s_worst_fifth", f"{scale} s{of_which}, the worst fifth:", field("fairness", scale),
                   optional=True),
            Metric(f"jain_{scale}_s_worst_hundredth", f"{scale} s, the worst hundredth:",
                   field("fairness_worst_100th", scale), optional=True),
        ]
    metrics[0].caption = (
        "Two start at once, two in the first ninth of the run. Jain's index over intervals of so many seconds in its "
        "second half, mean of the worst fifth of them, and of the worst hundredth; rows: link, queue.\n\n"
        + metrics[0].caption)
    return metrics + [CARRIED]


def sum_mbps(first, second):
    def value(row):
        flows = row.get("flows")
        return flows[first]["mbps"] + flows[second]["mbps"] if flows else None

    return value


FAIRNESS = [
    Bench("friends", "bitcp, cubic and reno with the same free buffers: 100 Mbit/s, 100 ms, queue of one BDP, 30 s",
          "loss", [
        Metric("utilisation_percent", "Utilisation of what the link can carry, in %; rows: random loss:",
               field("utilisation", times=100)),
        retransmits(),
    ]),
    Bench("rtt_ratio", "Two connections behind one bottleneck, with round trips of 40 ms and of 1, 3, 6 times that",
          "link, queue, RTT ratio", [
        Metric("throughput_ratio", "Each from a host of its own; the queue holds 40 ms; a tenth of the rate each way is "
               "background. Throughput of the first over that of the second, second half of the run; rows: link, "
               "queue, ratio of round trips:", throughput_ratio),
        CARRIED,
    ], check_rtt_ratio),
    Bench("fairness", "Four connections of 100 ms behind one bottleneck", "link, queue", fairness_metrics),
    Bench("friendliness", "Two connections of a kind and two of Reno behind one bottleneck", "link, queue", [
        Metric("kind_mbps", "Round trips of 38, 42, 36 and 44 ms, a queue of 40 ms, a tenth of the rate each way is "
               "background. Second half of the run; rows: link, queue. Mbit/s of the two of the kind:",
               sum_mbps(0, 1)),
        Metric("reno_mbps", "Of the two of Reno:", sum_mbps(2, 3)),
        CARRIED,
    ]),
]

CLIENTS = [
    Bench("clients", "Clients with Poisson traffic behind one gateway: 50 Mbit/s, 100 ms (paper 002, Figures 2 to 4)",
          "clients, gateway", [
        goodput("Mbit/s that the bottleneck carried; rows: clients, gateway:"),
        Metric("loss_percent", "Lost at the gateway, in %:", field("loss", times=100)),
        Metric("cov", "Coefficient of variation of the segments sent in 100 ms, all of the host:", field("cov")),
    ]),
]

# --- links that vary, neighbours ------------------------------------------------------------------------------

AT_LEAST_98 = "{x}, {column}: {t} Mbit/s, the kernel alone {k} (at least 98 %)"

mbps = field("mbps")
flow_0_mbps = field("flows", 0, "mbps")
flow_1_mbps = field("flows", 1, "mbps")


def each_flow_mbps(m, x, column):
    """Median over all connections of the cell."""
    return median([flow["mbps"] for row in m.rows if row["x"] == x and row["column"] == column and is_valid(row)
                   for flow in row["flows"]])


def check_neighbour(m):
    for x in m.xs:
        for column in filter(is_tuned, m.columns):
            yield m.compare("first_mbps", x, column, ">=", factor=0.8, k=each_flow_mbps(m, x, "kernel"),
                            text="{x}, {column}: {t} Mbit/s, one of two of the kernel {k} (at least 80 %)")


def check_peace(m):
    for x in m.xs:
        for column in m.columns:
            if not column.startswith("auto, "):
                continue
            kind = column.removeprefix("auto, ")
            # The second one of two begins a little later, and often has less for that.
            yield m.compare("second_mbps", x, column, ">=", f"{kind}, {kind}", 0.8,
                            text=f"{{x}}: {kind} gets {{t}} Mbit/s next to it, {{k}} next to its own kind "
                            "(at least 80 %)")


def of_the_kernel(m, name, column):
    """By cell, also one that the table does not show: the median of a figure over the kernel's."""
    def mid(x, column):
        found = [m.metrics[name].value(row) for row in m.rows if (row["x"], row["column"]) == (x, column) and is_valid(row)]
        return median([value for value in found if value is not None])

    mids = {x: (mid(x, column), mid(x, "kernel")) for x in m.xs if name in m.metrics}
    return {x: own / kernel for x, (own, kernel) in mids.items() if own is not None and kernel}


def check_random(m):
    for column in "bbr", "tcptuned":  # what follows is of the latter
        times = of_the_kernel(m, "message_ms", column)
        # A writer that is blocked makes no late message, but fewer.
        shares = {x: min(share, 1 / times[x]) if x in times else share for x, share in
                  of_the_kernel(m, "goodput_mbps", column).items()}
        below = {share: sum(value < share for value in shares.values()) for share in (0.75, 0.9)}
        yield (f"- {column}: of {len(shares)} cells, {below[0.75]} have less than 75 % of the kernel's speed, {below[0.9]} "
               f"less than 90 %, {sum(value > 1.1 for value in shares.values())} more than 110 %; the median has "
               f"{figure(100 * (median(list(shares.values())) or 0))} %")
    yield need(below[0.75] if shares else None, "<=", 0, f"{below[0.75]} cells with tcptuned below 75 % (at most none)")
    yield need(below[0.9] if shares else None, "<=", len(shares) / 30, f"{below[0.9]} of {len(shares)} below 90 % (at most 2 of 60)")
    rtts = of_the_kernel(m, "rtt_ms", "tcptuned")
    deep = {row["x"] for row in m.rows if is_valid(row) and row["kind"] != "shared" and row["queue_bdp"] >= 2}
    alone = [rtts[x] for x in deep if x in rtts]
    middle = median(alone)
    yield need(middle, "<=", 0.5, f"alone in a queue of at least 2 BDP: RTT {figure(middle and 100 * middle)} % of the "
               f"kernel's in the median of {len(alone)} cells (at most half)")
    yield from (f"- below 90 %: {x}: speed {figure(100 * share)} %, RTT {figure(100 * rtts[x])} %"
                for x, share in sorted(shares.items(), key=lambda cell: cell[1]) if share < 0.9)


UPLOAD = "beside an upload, 100/5 Mbit/s, 50 ms"
EVERYDAY = ("reads 4 MiB at a time, 20 Mbit/s, 50 ms", "50 ms after a handshake of 20, then 8 to 32 Mbit/s")
LIVE = ("live, SO_SNDBUF of 32 KB, 3 Mbit/s, 40 ms, 10 to 1.5 Mbit/s", "live, SO_SNDBUF of 32 KB, 9.6 over 8 Mbit/s, 50 ms")

VARYING = [
    Bench("jitter", "Delay that jitters, in order, and a queue of 4 MB", "link", [
        goodput("Goodput in Mbit/s; rows: the link, its round trip, and what is drawn again each time:"),
        rtt(),
    ], [Need("goodput_mbps", ">=", "{x}, {column}: {t} Mbit/s, the kernel alone {k} (at least 95 %)", factor=0.95)]),
    Bench("impaired", "Losses in bursts, reordering, congestion marks and a policer; a queue of 4 MB", "link", [
        goodput("Goodput in Mbit/s; rows: the link, its round trip, and what impairs it:"),
        rtt(),
    ], [Need("goodput_mbps", ">=", "{x}, {column}: {t} Mbit/s, the kernel alone {k} (at least 95 %)", factor=0.95)]),
    Bench("random_loss", "Losses that no queue causes, and others at the RTT of an empty path: 1 Gbit/s, 100 ms", "path", [
        goodput("Goodput in Mbit/s, all with buffers of up to 64 MB:"),
        retransmits("Segments retransmitted:"),
        rtt(),
    ], [
        Need("goodput_mbps", ">=", "{x}: {t} Mbit/s, the kernel {k} (at least 95 %)",
             "tcptuned, auto", "kernel, 64 MB", 0.95),
        Need("goodput_mbps", ">=", "{x}: {t} Mbit/s, BBR {k} (at least 90 %)", "tcptuned, auto", "bbr, 64 MB", 0.9,
             only="losses of 1e-4"),
    ]),
    Bench("random_loss_shared", "The same paths, with a second connection that is not tuned", "path", [
        Metric("second_mbps", "Mbit/s of the second one:", flow_1_mbps),
        Metric("first_mbps", "Of the first one:", flow_0_mbps),
    ], [
        Need("second_mbps", ">=", "{x}: {t} Mbit/s for the other one, next to cubic {k} (at least 95 %)",
             "auto, cubic", "cubic, cubic", 0.95),
    ]),
    Bench("alternatives", "What one would use instead of tcptuned; the second connection on each path", "path", [
        goodput("Goodput in Mbit/s:"),
        rtt(), RTT_P95,
        retransmits("Segments retransmitted:"),
    ], [Need("goodput_mbps", ">=", "{x}: {t} Mbit/s, the kernel alone {k} (at least 98 %)", factor=0.98)]),
    Bench("first_seconds", "The first seconds in a deep queue", "link", [
        Metric("rtt_early_p95_ms", "RTT of the first six seconds, 95th percentile, in ms; rows: the link, its round "
               "trip, the queue:", field("rtt_early_p95_ms")),
        Metric("rtt_early_ms", "Its median:", field("rtt_early_ms")),
        Metric("mbps", "Mbit/s in eight seconds:", mbps),
    ], [
        Need("rtt_early_p95_ms", "<=", "{x}, {column}: RTT p95 {t} ms, the kernel alone {k} (at most 1.2 of it)",
             factor=1.2),
        Need("mbps", ">=", AT_LEAST_98, factor=0.98),
    ]),
    Bench("longer", "A path that becomes longer at half time, a queue of 8 and 2.5 MB", "link", [
        Metric("after_mbps", "Mbit/s in the five seconds that begin one second after the change:",
               field("after_mbps")),
        Metric("later_mbps", "From ten seconds after it on:", field("later_mbps"), optional=True),
        Metric("mbps", "Over the whole time:", mbps),
        Metric("rtt_end_ms", "RTT in the last two seconds, median, in ms:", field("rtt_end_ms")),
    ], [Need("later_mbps", ">=", "{x}, {column}: {t} Mbit/s afterwards, the kernel alone {k} (at least 95 %)",
             factor=0.95)]),
    Bench("slower", "A link that becomes 64 times as slow after a quarter of the time, a queue of 20 MB", "link", [
        Metric("rtt_end_ms", "RTT in the last two seconds, median, in ms:", field("rtt_end_ms")),
        Metric("window_end_kb", "Window, the smaller one of the sender and of the receiver, median of that time, in "
               "KB:", field("window_end", per=1e3)),
        Metric("mbps", "Mbit/s over the whole time:", mbps),
    ], [Need("rtt_end_ms", "<=", "{x}, {column}: RTT {t} ms in the end (at most the kernel alone: {k})")]),
    Bench("lte", "Recorded rates: 40 ms, a queue of 1.5 MB", "trace", [
        Metric("mbps", "Mbit/s; rows: the trace:", mbps),
        rtt(), QUEUE_MEAN,
    ], [
        Need("mbps", ">=", AT_LEAST_98, factor=0.98),
        Need("rtt_ms", "<=", "{x}, {column}: RTT {t} ms, the kernel alone {k} (at most a third)", factor=1 / 3),
    ]),
    Bench("several", "Several connections that begin together: 1 Gbit/s, 10 ms, 20 MB", "connections", [
        goodput("Mbit/s of all; rows: how many:"),
        rtt(),
        RTT_P95, QUEUE_MEAN,
    ], [
        Need("goodput_mbps", ">=", AT_LEAST_98, factor=0.98),
        Need("rtt_ms", "<=", "{x}, {column}: RTT {t} ms (at most 20; the kernel alone {k})", bound=20),
    ]),
    Bench("one_by_one", "Several connections that begin half a second after one another: 1 Gbit/s, 10 ms, 20 MB", "connections", [
        goodput("Mbit/s of all, while all send; rows: how many:"),
        rtt("RTT of the first one, median of a run, in ms:"),
        RTT_P95, QUEUE_MEAN,
    ], [Need("goodput_mbps", ">=", AT_LEAST_98, factor=0.98)]),
    Bench("neighbour", "A connection with one neighbour that is not tuned", "link", [
        Metric("first_mbps", "Mbit/s of the first; in column kernel it is not tuned, either. Rows: link, RTT, queue:",
               flow_0_mbps),
        Metric("second_mbps", "Of its neighbour, which is cubic:", flow_1_mbps),
        rtt(),
    ], check_neighbour),
    Bench("leaves", "A neighbour that is not tuned and ends after 10 of 30 s", "link", [
        Metric("long_s", "Seconds after its last byte, of 20, in which RTT exceeds three times that of the path. "
               "Rows: link, RTT, queue:", field("long_s")),
        Metric("rtt_with_ms", "RTT, median until then, in ms:", field("rtt_with_ms")),
    ], [Need("long_s", "<=", "{x}, {column}: {t} s (at most 10)", bound=10)]),
    Bench("peace", "Two connections of two kinds: tcptuned as shipped (auto) and one that is not tuned", "link", [
        Metric("second_mbps", "Mbit/s of the second one; rows: link, RTT, queue:", flow_1_mbps),
        Metric("first_mbps", "Of the first one:", flow_0_mbps),
        rtt("RTT of the first one, median of a run, in ms:"),
    ], check_peace),
    Bench("peace_bitcp", "bitcp from the handshake on next to a connection that is not tuned", "link", [
        Metric("first_mbps", "Mbit/s of the first one in the second half of the run; rows: link, RTT, queue:",
               flow_0_mbps),
        Metric("second_mbps", "Of the second one:", flow_1_mbps),
        Metric("first_retransmits", "Segments that the first one retransmitted, in all of the run:",
               field("flows", 0, "retransmits")),
        Metric("second_retransmits", "The second one:", field("flows", 1, "retransmits")),
    ]),
    Bench("incast", "64 senders to one receiver: 1 Gbit/s, 0.5 ms, a queue of 128 packets", "load", [
        Metric("elapsed_s", "Seconds until all have arrived:", field("elapsed_s")),
        retransmits("Segments retransmitted:"),
    ], [
        Need("elapsed_s", "<=", "{x}: {t} s, the kernel alone {k} (at most 5 % more)", "tcptuned", factor=1.05),
        Need("retransmits", "<=", "{x}: {t} segments again, the kernel alone {k} (at most 5 % more)", "tcptuned",
             factor=1.05),
    ]),
    Bench("random", "Random links and applications; speed: goodput, of messages the inverse of their mean time", "cell", [
        goodput("Mbit/s read in the time, of stream in the half of it that is bulk; rows: the number of the cell, rate, "
                "RTT, queue, what varies, application:", only=lambda row: not row.get("message_ms"), optional=True),
        Metric("message_ms", "Of messages, ms from being written to being read, mean of a run:",
               field("message_ms", "mean"), only=lambda row: row.get("message_ms"), optional=True),
        Metric("message_p99_ms", "Their p99:", field("message_ms", "p99"),
               only=lambda row: row.get("message_ms"), optional=True),
        rtt(), RTT_P95,
        Metric("neighbour_mbps", "Mbit/s of the neighbour, which is not tuned:", field("neighbour_mbps"),
               only=lambda row: row.get("neighbour_mbps"), optional=True),
    ], check_random),
    Bench("everyday", "Cases of every day that need care of their own", "case", [
        goodput("Mbit/s, from a later second on where the case has one:", only=lambda row: not row.get("message_ms"),
                optional=True),
        Metric("message_p90_ms", "Of live frames, ms from being written to being read, p90:", field("message_ms", "p90"),
               only=lambda row: row.get("message_ms"), optional=True),
        rtt(),
        Metric("neighbour_mbps", "Mbit/s of the upload:", field("neighbour_mbps"),
               only=lambda row: row.get("neighbour_mbps"), optional=True),
    ], [
        *(Need("goodput_mbps", ">=", "{x}: {t} Mbit/s, the kernel alone {k} (at least 95 %)", "tcptuned", factor=0.95,
               only=x) for x in (UPLOAD, *EVERYDAY)),
        Need("goodput_mbps", ">=", "{x}: {t} Mbit/s (at least 60)", "tcptuned", bound=60, only=UPLOAD),
        Need("rtt_ms", "<=", "{x}: RTT {t} ms, the kernel alone {k} (at most a fifth)", "tcptuned", factor=0.2, only=UPLOAD),
        *(Need("message_p90_ms", "<=", "{x}: {t} ms, the kernel alone {k} (at most 5 % more)", "tcptuned", factor=1.05,
               only=x) for x in LIVE),
    ]),
    Bench("pauses", "An answer each 2.5 s: all but the first come after a pause", "path", [
        Metric("answer_ms", "ms from being written to being read, median of the answers of a run. No restart: "
               "net.ipv4.tcp_slow_start_after_idle = 0.", field("message_ms", "median")),
        retransmits(),
    ], [
        Need("answer_ms", "<=", "{x}, {column}: {t} ms, {reference} {k} (at most 0.5 times)", factor=0.5),
        Need("answer_ms", "<=", "{x}, {column}: {t} ms, {reference} {k} (at most 1.3 times)",
             None, "kernel, no restart", 1.3),
    ]),
    Bench("connections", "New connections per second: nginx and wrk, a core each, plain veth", "answer", [
        Metric("connections_per_s", "rows: bytes of an answer; both ends tuned:", field("connections_per_s")),
    ], [
        Need("connections_per_s", ">=", "{x}: {t}, without {k} (at least 98 %)", "tcptuned", "without", 0.98),
    ]),
]

# --- path memory, budget, cost ----------------------------------------------------------------------------------


def check_idle(m):
    k = m.mid("goodput_mbps", "none", "tcptuned")
    for x in m.xs:
        if x == "none":
            continue
        yield m.compare("goodput_mbps", x, "tcptuned", ">=", factor=0.95, k=k,
                        text="{x}: {t} of {k} Mbit/s without any, {percent} % (at least 95 %)")


def check_cost(m, percent=3):
    """No verdict where two measurements without tcptuned differ by more than what is to be shown."""
    for x in m.xs:
        without = m.mid("goodput_mbps", x, "without")
        again = quotient(m.mid("goodput_mbps", x, "without, again"), without)
        for column in m.columns:
            if column.startswith("without") or not m.values("goodput_mbps", x, column):
                continue
            text = f"{{x}}, {{column}}: {{more}} % (at most {percent} % lower)"
            line = m.compare("goodput_mbps", x, column, ">=", "without", 1 - percent / 100, text=text)
            if again and abs(again - 1) > percent / 100:
                line = (f"- cannot tell: {line.split(': ', 1)[1]}; \"without\" and itself differ by "
                        f"{figure(100 * (again - 1))} %")
            yield line


def counts_programs(row):
    return bool(row.get("programs_share"))


REST = [
    Bench("paths", "New connections to a host that has sent much before", "link and amount", [
        Metric("elapsed_s", "Seconds from the handshake to the last byte read, median of three connections 5 s apart. Sender: "
               "only that one is tuned.", field("elapsed_s")),
        retransmits(),
    ], [
        *(Need("elapsed_s", "<=", f"{{x}}, {{column}}: {{t}} s, kernel {{k}} (at most {bound})",
               column, bound=bound, only=x)
          for x, bound in (("1000 Mbit/s, 100 ms, 1000 KB", 0.36), ("1000 Mbit/s, 100 ms, 10000 KB", 0.5))
          for column in ("tcptuned", "tcptuned, bitcp")),
        Need("elapsed_s", "<=", "{x}, sender alone: {t} s, kernel {k}, {inverse} times as fast (at least 1.3)",
             "tcptuned, sender", factor=1 / 1.3),
        Need("elapsed_s", "<=", "{x}: {t} s, kernel {k} (no slower)", "tcptuned", factor=1.02),
    ]),
    Bench("paths_changed", "The same, where the path has changed since, 1 Gbit/s and 100 ms before", "now", [
        Metric("elapsed_s", "Seconds, as above; 10 MB, and 3 MB at a hundredth of the rate. Of ten connections at once, the "
               "median.", field("elapsed_s")),
        retransmits(),
    ], [
        Need("elapsed_s", "<=", "{x}: {t} s, kernel {k} (at most 1.1 times)", "tcptuned", factor=1.1),
        Need("retransmits", "<=", "{x}: {t} segments retransmitted, kernel {k} (at most 1.5 times)",
             "tcptuned", factor=1.5),
    ]),
    Bench("paths_neighbour", "Others on the link meanwhile, 10 MB, 1 Gbit/s, 100 ms", "others", [
        Metric("neighbour_mbps", "Mbit/s that they have in the first two seconds of the fetch.", field("neighbour_mbps")),
        Metric("elapsed_s", "Seconds of the fetch.", field("elapsed_s")),
        retransmits(),
    ], [
        Need("neighbour_mbps", ">=", "{x}: {t} Mbit/s, beside the kernel's {k} (at least 95 %)",
             "tcptuned", factor=0.95),
    ]),
    Bench("idle", "A budget of 24 MB and idle connections: one of 1 Gbit/s, 50 ms, both ends tuned", "idle", [
        goodput("Goodput in Mbit/s; rows: idle connections, and what each sent before:"),
    ], check_idle),
    Bench("adopt", "Open connections, both ends here, in two network namespaces", "sockets", [
        Metric("adopted_s", "Seconds to adopt them at the start:", field("adopted_s")),
        Metric("stop_s", "Seconds that a stop takes:", field("stop_s")),
        Metric("slab_bytes_per_socket", "Bytes that the slabs of the kernel grow by for each:",
               field("slab_bytes_per_socket")),
        Metric("idle_percent", "CPU time of the daemon without any request, in % of a core:",
               field("idle_share", times=100)),
    ], [
        Need("adopted_s", "<=", "{x} sockets: adopted in {t} s (100,000 connections under 2 s)", "tcptuned", bound=2),
        Need("idle_percent", "<=", "{x} sockets: an idle daemon takes {t} % of a core (at most 0.1 %)",
             "tcptuned", bound=0.1),
    ]),
    Bench("scrape", "Scrapes of open connections, both ends here, and traffic meanwhile", "sockets", [
        Metric("scrape_s", "Scrapes and traffic alone, and a scrape a second during the traffic. Seconds of a scrape, "
               "median of a run:", field("scrape_s")),
        Metric("scrape_max_s", "The longest of a run:", field("scrape_max_s")),
        goodput("Traffic over loopback, 1 MB and then a pause of 8 ms, in Mbit/s:"),
    ], [
        Need("scrape_s", "<=", "{x} sockets: a scrape takes {t} s (at most 0.3)", "alone", bound=0.3),
        Need("scrape_s", "<=", "{x} sockets: a scrape takes {t} s during traffic (at most 0.3)",
             "together", bound=0.3),
        Need("goodput_mbps", ">=", "{x} sockets: {t} of {k} Mbit/s, a scrape a second meanwhile (at least 97 %)",
             "together", "alone", 0.97),
    ]),
    Bench("cost", "Cost: iperf3 over plain veth", "segments", [
        goodput("Mbit/s; \"without\" twice shows how far two measurements of the same thing differ.",
                only=lambda row: not counts_programs(row)),
        Metric("programs_percent", "Time in the programs of both hosts, as the kernel counts it, in % of one core:",
               field("programs_share", times=100), only=counts_programs, optional=True),
        Metric("programs_ns", "The same, in ns for each segment that the receiver got:", field("programs_ns"),
               only=counts_programs, optional=True),
    ], check_cost),
]

# --- how many connections (paper 004) ---------------------------------------------------------------------


def kernel_numbers(m, x):
    """The numbers of connections that were measured at @x without tcptuned, except none."""
    numbers = (int(column.split(", ")[1]) for column in m.columns if column.startswith("kernel, "))
    return sorted(n for n in numbers if n and m.mid("goodput_mbps", x, f"kernel, {n}") is not None)


def impact_on_others(m, x, n, reference=1):
    """Measured: the part that others lose with @n connections, compared with @reference; None without others."""
    left = quotient(m.mid("others_mbps", x, f"kernel, {n}"), m.mid("others_mbps", x, f"kernel, {reference}"))
    return None if left is None else 1 - left


def best_within(m, x):
    """The goodput of the best number that in truth takes at most 10 % from others."""
    return max((m.mid("goodput_mbps", x, f"kernel, {n}") for n in kernel_numbers(m, x)
                if (impact_on_others(m, x, n) or 0) <= 0.1), default=None)


def advised(m, x, kind):
    """Of each search: the number, and the goodput that so many connections had."""
    for n in m.values(f"{kind}_streams", x, "advice"):
        yield int(n), m.mid("goodput_mbps", x, f"kernel, {int(n)}")


def check_streams(m):
    for x in m.xs:
        for row in m.cell(m.metrics["probe_s"], x, "advice"):
            if row.get("refusal"):
                yield f"- no number: {x}: {row['refusal']}"
        most = max((m.mid("goodput_mbps", x, f"kernel, {n}") for n in kernel_numbers(m, x)), default=None)
        for n, mbps in advised(m, x, "fastest"):
            yield need(mbps, ">=", most and 0.9 * most,
                       f"{x}: {n} advised as fastest, {figure(mbps)} of {figure(most)} Mbit/s (at least 90 %)")
        for n, mbps in advised(m, x, "within"):
            most_within, impact = best_within(m, x), impact_on_others(m, x, n)
            yield need(mbps, ">=", most_within and 0.9 * most_within,
                       f"{x}: {n} advised within 10 %, {figure(mbps)} of {figure(most_within)} Mbit/s (at least 90 %)")
            if impact is not None:
                none = impact_on_others(m, x, n, 0)
                yield need(impact, "<=", 0.15, f"{x}: {n} connections take {figure(100 * impact)} % from others "
                           f"compared with one (at most 15), {figure(none and 100 * none)} % compared with none")
        one, own = m.mid("goodput_mbps", x, "kernel, 1"), m.mid("goodput_mbps", x, "tcptuned, 1")
        if most and one and own and most > 1.05 * one:
            yield (f"- {x}: one connection with tcptuned has {figure(own)} Mbit/s, "
                   f"{figure(100 * (own - one) / (most - one))} % of the gain from {figure(one)} to {figure(most)}")


# --- FTP (paper 000), and without root --------------------------------------------------------------------


BY_HAND = "{{x}}, {{column}}: {{t}} of {{k}} Mbit/s by hand, {{percent}} % (at least {} %)"


def check_loopback(m):
    yield from check_cost(m, percent=1)
    for x in m.xs:
        for column in "tcptune-run", "--tune":
            own = m.mid("own_percent", x, column)
            yield need(own, "<=", 1, f"{x}, {column}: {figure(own)} % of a core (at most 1)")


FTP = [
    Bench("unprivileged", "tcptune-run without root: 100 MB with SO_RCVBUF at 64 KB, 1 Gbit/s", "program, path", [
        goodput("Mbit/s of the whole command (of the kernel: 10 MB):"),
    ], [
        Need("goodput_mbps", ">=", BY_HAND.format(90), "tcptune-run", "by hand", 0.9),
        Need("goodput_mbps", ">=", BY_HAND.format(90), "--tune", "by hand", 0.9),
    ]),
    Bench("unprivileged_sender", "tcptune-run without root: a sender for 10 s, 1 Gbit/s", "path", [
        goodput("Mbit/s; by hand: net.core.wmem_max and tcp_wmem raised to 64 MB by root:"),
    ]),
    Bench("loopback", "tcptune-run: cost, iperf3 over the loopback interface", "cores", [
        goodput("Mbit/s; \"without\" twice shows how far two measurements of the same thing differ."),
        Metric("own_percent", "tcptune-run's own processor time, % of a core:", field("own_share", per=0.01),
               optional=True),
    ], check_loopback),
    Bench("ftp", "FTP, vsftpd and lftp: 60 MB, 1 Gbit/s, 50 ms", "transfer", [
        goodput("Mbit/s from the command on, by vsftpd's log; rows: from the client's view, mode, its buffers. The "
                "kernel moves 6 MB where the client fixed 64 KB."),
    ], [
        Need("goodput_mbps", ">=", BY_HAND.format(97), "tcptuned", "by hand", 0.97),
        Need("goodput_mbps", ">=", BY_HAND.format(90), "tcptune-run", "by hand", 0.9),
    ]),
    Bench("third_party", "Third-party FTP between two servers: 60 MB at 50 ms, 100 MB at 5 ms, a queue of 20 MB",
          "path", [
        goodput("Mbit/s from the command on, by vsftpd's log; rows: the path between the servers, and the RTT to the "
                "client, by which \"control path\" sets the servers' buffers:"),
        rtt("RTT of the data connection in the second half, median of a run, in ms:"),
    ], [
        Need("goodput_mbps", ">=", "{x}: {t} of {k} Mbit/s by hand, {percent} % (at least 97 %)",
             "tcptuned", "by hand", 0.97),
        Need("rtt_ms", "<=", "{x}: RTT {t} ms, by hand {k} (at most twice that)", "tcptuned", "by hand", 2),
    ]),
]

STREAMS = [
    Bench("streams", "How many connections: the kernel's, cubic; tcptuned as shipped; tcptunectl streams", "path", [
        goodput("Mbit/s of ours, 10 s from the start on (20 s next to others); rows: the path:", only=lambda row: row["column"] != "advice"),
        Metric("others_mbps", "Mbit/s of the others together:", field("others_mbps"), optional=True),
        Metric("fastest_streams", "The fastest number that was advised:", field("fastest", "streams"),
               only=lambda row: row["column"] == "advice"),
        Metric("within_streams", "The number within 10 %:", field("within", "streams"),
               only=lambda row: row["column"] == "advice"),
        Metric("probe_mb", "MB that were transferred to find out:", field("bytes", per=1e6),
               only=lambda row: row["column"] == "advice"),
        Metric("probe_s", "Seconds that it took:", field("probe_s"), only=lambda row: row["column"] == "advice"),
    ], check_streams),
    Bench("paper_streams", "Scenarios 1, 2, 3 and 6 of paper 004, by the kernel, single packets", "scenario", [
        goodput("Mbit/s of ours, 20 s from the start on; rows: scenario, congestion control of all, others:"),
        Metric("others_mbps", "Mbit/s of the others together:", field("others_mbps"), optional=True),
    ]),
]

BENCHES = ONE_CONNECTION + TWO_PAPERS + FAIRNESS + VARYING + CLIENTS + REST + FTP + STREAMS


def prunes(rows):
    """Where tcptuned made the kernel pack or drop what was received, and the kernel alone did not."""
    counted = [row for row in rows if row.get("prunes") is not None]
    if not counted:
        return

    alone, ours = {}, set()
    for row in counted:
        key = row["bench"], row["x"]
        if not is_tuned(row["column"]):
            alone[key] = alone.get(key, 0) + row["prunes"]
        elif row["prunes"] > 0:
            ours.add(key)
    count = sum(not alone.get(key) for key in ours)
    yield from ("", "### Receive queues that were packed or dropped from for lack of room (nstat)", "")
    yield need(count, "<=", 0, f"{count} rows in which tcptuned had any where the kernel alone had none")
