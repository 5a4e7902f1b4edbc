# SPDX-License-Identifier: GPL-2.0-only
"""Paper 002: clients with Poisson traffic behind one gateway, Figures 2 to 4."""
import functools
import re

import numpy
import pandas
from common import Report, seconds_of

COLOURS = {"tt_reno": "#b2182b", "tt_vegas": "#4575b4", "bitcp": "#1b7837"}
DASHED = {"linestyle": "--", "markerfacecolor": "none"}

# The series in the order of the tables: the name that summarize() gives them, and their style.
SERIES = {}
for _algorithm, _acks, _title, _colour, _marker in [
        ("tt_reno", "each", "reno", COLOURS["tt_reno"], "o"),
        ("tt_reno", "delayed", "reno, delayed ACKs", "#e08214", "^"),
        ("tt_vegas", "each", "vegas", COLOURS["tt_vegas"], "s"),
        ("bitcp", "each", "bitcp", COLOURS["bitcp"], "D"),
        ("udp", "each", "UDP", "#555555", "v")]:
    _line = {"color": _colour, "marker": _marker}
    SERIES[f"{_algorithm}; FIFO-50; ACKs {_acks}"] = {"label": _title, **_line}
    SERIES[f"{_algorithm}; RED-50; ACKs {_acks}"] = {"label": f"{_title}, RED", **_line, **DASHED}

RENO = "tt_reno; FIFO-50; ACKs each"
RENO_RED = "tt_reno; RED-50; ACKs each"


def title_of(algorithm: str) -> str:
    return algorithm.removeprefix("tt_")


def spread(values: pandas.Series) -> str:
    return f"{values.min():.2f} to {values.max():.2f}" if len(values) else "not measured"


def interval(values: pandas.Series, digits: int = 0) -> str:
    """Returns the least and the most: "30.1 to 34.9", or "30" if they are equal."""
    # The addition turns -0 into 0.
    least, most = (f"{round(value, digits) + 0:g}" for value in (values.min(), values.max()))
    return least if least == most else f"{least} to {most}"


def poisson(clients):
    """Returns the c.o.v. of Poisson packets in 100 ms, by the number of clients (section 3.2)."""
    return 1 / numpy.sqrt(10 * clients)


def poisson_uncertainty(seconds):
    """Returns by how many per cent that c.o.v. is uncertain if it was measured for so long: of n
    intervals by 1 / sqrt(2 n)."""
    return 100 / numpy.sqrt(2 * seconds / 0.1)


def congestion(report: Report) -> tuple[int, int]:
    """Returns the least and the most clients that make moderate congestion; more make heavy."""
    least, most = (int(report.paper_value("002", "Section 3.2", "clients of moderate congestion",
                                          x)) for x in ("least", "most"))
    return least, most


def summarize(lines: pandas.DataFrame) -> pandas.DataFrame:
    """Returns mean, least and most of the longest runs, over all seeds, for each series, number
    of clients and quantity. A series is the algorithm and the conditions without the duration."""
    names = lines.algorithm + "; " + lines.conditions
    lines = lines.assign(series=names.str.replace(r"; [0-9]+ [a-z ]*$", "", regex=True),
                         clients=lines.x.astype(int), seconds=seconds_of(lines.conditions))
    key = ["series", "what", "clients"]
    longest = lines[lines.seconds == lines.groupby(key).seconds.transform("max")]
    return longest.groupby(key, as_index=False).agg(
        mean=("value", "mean"), least=("value", "min"), most=("value", "max"),
        runs=("value", "size"), seconds=("seconds", "first"))


def points(summary: pandas.DataFrame, series: str, what: str) -> pandas.Series:
    """Returns the means of a series by the number of clients."""
    chosen = summary[(summary.series == series) & (summary.what == what)]
    return chosen.set_index("clients")["mean"]


def draw(axes, summary: pandas.DataFrame, what: str, styles: dict[str, dict]) -> None:
    """Draws those series of which there are points."""
    for series, style in styles.items():
        means = points(summary, series, what)
        if not means.empty:
            axes.plot(means.index, means, **style)


def add_picture(report: Report, name: str, title: str, caption: str, summary: pandas.DataFrame,
                what: str, styles: dict[str, dict]) -> None:
    """Adds a picture of the c.o.v. or of losses by the number of clients."""
    with report.picture(name, title, caption, (1100, 560)) as (_, axes):
        if what == "cov":
            clients = numpy.arange(5, 61)
            axes.plot(clients, poisson(clients), "k:", label="Poisson, 1/sqrt(10 n)")
        draw(axes, summary, what, styles)
        label = {"cov": "c.o.v. of packets per round trip of 100 ms",
                 "loss_percent": "lost, % of the packets that arrived"}[what]
        axes.set(xlabel="clients", ylabel=label, xlim=(0, 62), ylim=(0, None))
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1))


def add_throughput_picture(report: Report, summary: pandas.DataFrame, heavy: int) -> None:
    """Adds Figure 3 as the paper has it, and next to it the part where the series differ."""
    with report.picture("clients_throughput.png", "Throughput (paper 002, Figure 3)",
                        "Throughput against clients", (1200, 520), ncols=2) as (_, (left, right)):
        draw(left, summary, "mbps", SERIES)
        draw(right, summary[summary.clients >= heavy], "mbps", SERIES)
        left.set(xlim=(0, 62), ylim=(0, None))
        right.set_title(f"above {heavy} clients")
        for axes in (left, right):
            axes.set(xlabel="clients", ylabel="delivered, Mbit/s (packets of 1500 bytes)")
        right.legend(loc="upper left", bbox_to_anchor=(1, 1))


def kernel_clients(report: Report) -> pandas.DataFrame:
    """Returns what the valid runs on the kernel measured, for each number of clients, queue and
    algorithm."""
    rows = report.rows("clients")
    rows = rows[rows.valid].reindex(columns=["x", "column", "cov", "cov_seconds", "goodput_bps",
                                             "loss"])
    place = rows.x.str.split(", ")
    rows = rows.assign(clients=place.str[0].astype(int), queue=place.str[1])
    rows = rows.rename(columns={"column": "algorithm"})
    return rows.groupby(["clients", "queue", "algorithm"], as_index=False).agg(
        cov=("cov", "mean"), least=("cov", "min"), most=("cov", "max"), runs=("cov", "size"),
        seconds=("cov_seconds", "sum"), bps=("goodput_bps", "mean"), loss=("loss", "mean"))


def compare_algorithms(report: Report, summary: pandas.DataFrame, heavy: int) -> pandas.DataFrame:
    """Compares the c.o.v. of algorithms A and B in ns-3 and on the kernel, with either queue.

    The column below says at how many numbers of clients above HEAVY, of how many, that of A is
    below that of B. Two are equal if they differ by no more than the c.o.v. of Poisson packets does
    by chance in a run of the same duration.
    """
    ns3 = summary[(summary.what == "cov") & summary.series.str.endswith("; ACKs each")]
    ns3 = ns3.assign(engine="ns-3", algorithm=ns3.series.str.split("; ").str[0],
                     queue=numpy.where(ns3.series.str.contains("RED-50"), "RED", "drop-tail"),
                     cov=ns3["mean"], seconds=(ns3.seconds - 10) * ns3.runs)
    covs = pandas.concat([ns3, kernel_clients(report).assign(engine="kernel")])
    covs = covs[covs.clients > heavy].sort_values(["engine", "queue"], ascending=False)
    found = []
    for (engine, queue), same in covs.groupby(["engine", "queue"], sort=False):
        for a, b in [("tt_vegas", "tt_reno"), ("bitcp", "tt_reno"), ("bitcp", "tt_vegas")]:
            both = same[same.algorithm == a].merge(same[same.algorithm == b], on="clients")
            if both.empty:
                continue
            noise = poisson_uncertainty(both[["seconds_x", "seconds_y"]].min(axis=1))
            below = both.cov_x < (1 - noise / 100) * both.cov_y
            equal = ~below & (both.cov_x <= (1 + noise / 100) * both.cov_y)
            remark = f" ({equal.sum()} within {noise.max():.1f} %)" if equal.any() else ""
            found.append([engine, queue, title_of(a), title_of(b), below.sum(), len(both), remark])
    return pandas.DataFrame(found, columns=["engine", "queue", "a", "b", "below", "of", "remark"])


def comparison_text(pair, heavy: int) -> str:
    return (f"the c.o.v. of {pair.a} is below that of {pair.b} at {pair.below} of {pair.of} "
            f"numbers of clients above {heavy}{pair.remark}")


def judge_excess(paper: str, excess: pandas.Series) -> str:
    """Says whether an excess over Poisson packets is what the paper says. The paper has no figure
    for a sharp increase: here it is more than under moderate congestion, 50 %. What is within 10 %
    of Poisson packets is noise: no excess, and "very close"."""
    limit = int((re.findall("[0-9]+", paper) or [50])[0])
    least, most = excess.min(), excess.max()
    if paper.startswith(("over", "a sharp")):
        return "yes" if least > limit else "in part" if most > limit else "no"
    if paper.startswith("up to") and most <= 10:
        return "no: none"
    if paper.startswith(("up to", "no sharp")):
        return "yes" if most <= limit else "in part" if least <= limit else "no"
    if paper.startswith("very close"):
        return "yes" if least >= -10 and most <= 10 else "no"
    return ""


def excess_over_poisson(summary: pandas.DataFrame, series: str, fewest: int,
                        most: int) -> pandas.Series:
    """Returns by how many per cent, rounded, the c.o.v. is above that of Poisson packets, for the
    numbers of clients from FEWEST to MOST."""
    cov = points(summary, series, "cov").loc[fewest:most]
    return (100 * (cov / poisson(cov.index) - 1)).round()


def add_claims(report: Report, summary: pandas.DataFrame) -> None:
    """Adds the table of what the paper says of its Figure 2."""
    figure2 = functools.partial(report.paper_value, "002", "Figure 2 (section 3.2)")
    tcp = figure2("tcp over Poisson", "10-38")
    reno, reno_red, vegas = (figure2(f"{name} over Poisson", "over 38")
                             for name in ("reno", "reno red", "vegas"))
    moderate = congestion(report)
    heavy = moderate[1] + 1, 60
    rows = []
    for title, series, clients, paper in [
            ("reno", "tt_reno; FIFO-50; ACKs each", moderate, tcp),
            ("vegas", "tt_vegas; FIFO-50; ACKs each", moderate, tcp),
            ("bitcp", "bitcp; FIFO-50; ACKs each", moderate, "-"),
            ("reno", "tt_reno; FIFO-50; ACKs each", heavy, reno),
            ("reno, RED", "tt_reno; RED-50; ACKs each", heavy, reno_red),
            ("reno, delayed ACKs", "tt_reno; FIFO-50; ACKs delayed", heavy, "a sharp increase"),
            ("vegas", "tt_vegas; FIFO-50; ACKs each", heavy, vegas),
            ("ns-3's vegas", "ns3-vegas; FIFO-50; ACKs each", heavy, vegas),
            ("ns-3's reno", "ns3-reno; FIFO-50; ACKs each", heavy, reno),
            ("bitcp", "bitcp; FIFO-50; ACKs each", heavy, "-"),
            ("bitcp, RED", "bitcp; RED-50; ACKs each", heavy, "-"),
            ("UDP", "udp; FIFO-50; ACKs each", heavy, "very close to Poisson"),
            ("UDP, RED", "udp; RED-50; ACKs each", heavy, "very close to Poisson")]:
        excess = excess_over_poisson(summary, series, *clients)
        if not excess.empty:
            rows.append([title, interval(excess.index), paper, f"{interval(excess)} %",
                         judge_excess(paper, excess)])
    report.table(["", "clients (ours)", "paper", "ours", "as in the paper"], rows)


def add_table(report: Report, summary: pandas.DataFrame, what: str, digits: int) -> None:
    """Adds a table: a row for each number of clients, a column for each series that was simulated,
    and one of Poisson packets if it is of the c.o.v."""
    chosen = summary[(summary.what == what) & summary.series.isin(SERIES)]
    cells = {}
    for point in chosen.itertuples():
        text = f"{point.mean:.{digits}f}"
        if point.runs > 1:
            text += f" ({point.least:.{digits}f}-{point.most:.{digits}f})"
        cells[point.series, point.clients] = text
    series = [name for name in SERIES if name in set(chosen.series)]
    header = ["clients", *(SERIES[name]["label"] for name in series)]
    rows = [[str(clients), *(cells.get((name, clients), "") for name in series)]
            for clients in sorted(set(chosen.clients))]
    if what == "cov":
        header.insert(1, "Poisson")
        for row in rows:
            row.insert(1, f"{poisson(int(row[0])):.3f}")
    report.table(header, rows)


def first_loss(summary: pandas.DataFrame, series: str) -> str:
    """Returns the least number of clients with which packets are lost."""
    lost = points(summary, series, "loss_percent")
    return str(lost[lost > 0.005].index.min()) if (lost > 0.005).any() else "none"


def harm_text(summary: pandas.DataFrame, heavy: int) -> str:
    """Returns a sentence about Reno's throughput under heavy congestion: relative to UDP, and with
    RED relative to that without."""
    def ratio(a: str, b: str) -> pandas.Series:
        quotient = points(summary, a, "mbps") / points(summary, b, "mbps")
        return quotient.dropna().loc[heavy + 1:]

    udp = ratio(RENO, "udp; FIFO-50; ACKs each")
    red = pandas.concat(ratio(f"tt_reno; RED-50; ACKs {acks}", f"tt_reno; FIFO-50; ACKs {acks}")
                        for acks in ("each", "delayed"))
    return (f"With more than {heavy} clients reno delivers {spread(udp)} of what UDP delivers. "
            f"With RED it delivers {spread(red)} of what it delivers without, with ACKs each and "
            f"delayed: less by more than 1 % at {(red < 0.99).sum()} of {len(red)} points.")


def add_conditions(report: Report, summary: pandas.DataFrame) -> None:
    """Adds how the clients were simulated, and what was not."""
    chosen = summary[summary.series.str.contains("ACKs") & (summary.what == "cov")]
    intervals = " ".join(
        f"A run of {seconds:.0f} s has {(seconds - 10) * 10:.0f} intervals, so that the c.o.v. of "
        f"Poisson packets itself is uncertain by {poisson_uncertainty(seconds - 10):.1f} %."
        for seconds in sorted(set(chosen.seconds)))
    lines = report.lines("clients")
    report.write(f"""\
{report.conditions(lines[lines.engine == "ns-3"])}
If a point was simulated for two durations, the longer one counts. Figures are means of the seeds,
with least and most in parentheses if there are several. {intervals}""")
    if points(summary, "udp; RED-50; ACKs each", "cov").empty:
        report.not_measured(["UDP under RED"],
                            "bench/research/sim/run full '^clients.*udp.*RED'")
    seconds = int(report.paper_value("002", "Table 1", "test time s"))
    if chosen.seconds.max() < seconds:
        report.not_measured([f"the paper's {seconds} s, three seeds, and more numbers of clients"],
                            "bench/research/sim/run full '^clients|ns-3'")


def add_reading(report: Report, summary: pandas.DataFrame) -> None:
    """Adds what moderate congestion did, and where ours differs from the paper's."""
    least, most = congestion(report)
    excess = excess_over_poisson(summary, RENO, least, most)
    noise = "" if excess.max() > 10 else ", which is noise"
    report.write(f"""\
With up to {most} clients the c.o.v. of the paper's TCP exceeds that of Poisson packets by up to
half; with ours, at {interval(excess.index)} clients, by {interval(excess)} %{noise}. The gateway
first loses packets of reno with {first_loss(summary, RENO)} clients (with RED
{first_loss(summary, RENO_RED)}): without a loss, windows grow until they hold all that clients have
to send.""")
    report.write("""\
Ours differs from the paper's simulation. The minimum retransmission timeout is 300 ms; the paper
does not give its own. The paper ran ns-2 of the year 2000 for 200 s, which has no selective ACKs
and lets windows grow that are not used. It does not give RED's weight and maximum probability; ours
are those of ns-2, 0.002 and 0.1. Its Vegas also retransmits before three duplicate ACKs if enough
time has passed since the packet was sent; in ours the TCP stack decides that. Our Vegas rounds Diff
to whole packets, as ns-2 does, so that half a packet in the queue satisfies a client: 60 clients
keep 30 packets in the queue of 50. (Taken literally, alpha = 1 is a whole packet each.) At a loss
it gives up a quarter of its window, as in ns-2, but it does not give up half of it at a timeout.
bitcp halves windows below its low_window of 14, as Reno does, and reduces larger ones by an
eighth.""")


def write(report: Report) -> None:
    report.write("## Paper 002 (burstiness): clients of one gateway, Figures 2 to 4")
    summary = summarize(report.lines("clients"))
    heavy = congestion(report)[1]
    pairs = compare_algorithms(report, summary, heavy)
    table1 = functools.partial(report.paper_value, "002", "Table 1")
    filled = report.paper_value("002", "Section 3.2", "clients that fill the bottleneck")
    report.write(f"""\
Each client has a link of {table1("client link Mbit/s")} Mbit/s and {table1("client link delay ms")}
ms to a gateway. The gateway has a link of {table1("bottleneck Mbit/s")} Mbit/s and
{table1("bottleneck delay ms")} ms, and a queue of {table1("queue packets")} packets. Clients send
packets at the times of Poisson processes, 100 a second each, with windows of at most
{table1("window packets")} packets: {filled} clients fill the bottleneck (Table 1). ns-3 runs the
headers that run in the kernel. The c.o.v. is measured at the gateway, as in the paper, in intervals
of the round-trip propagation delay, without the first 10 s.""")
    add_picture(report, "clients_cov.png", "Burstiness at the gateway (paper 002, Figure 2)",
                "c.o.v. against clients", summary, "cov", SERIES)
    report.write("""\
The paper prints no values of Figure 2. The table compares its text with ours: by how much the
c.o.v. exceeds that of Poisson packets. "Up to" a value is as in the paper if an excess is above
10 % and none is above that value. Up to 50 % is no sharp increase, more is one; within 10 % of
Poisson is very close. These limits are ours.""")
    add_claims(report, summary)
    report.write(f"In Figure 2 of the paper Vegas is below Reno with more than {heavy} clients. "
                 "Ours:")
    report.write("\n".join(f"- {pair.engine}, {pair.queue}: {comparison_text(pair, heavy)}."
                           for pair in pairs.itertuples()))
    report.write("c.o.v.:")
    add_table(report, summary, "cov", 3)
    add_throughput_picture(report, summary, heavy)
    report.write("""\
The paper prints no values of Figures 3 and 4 either. Its text says that moderate congestion affects
neither throughput nor loss, and that heavy congestion harms Reno, more so with RED. Mbit/s:""")
    add_table(report, summary, "mbps", 1)
    report.write(harm_text(summary, heavy))
    tcp = {name: line for name, line in SERIES.items() if not name.startswith("udp")}
    add_picture(report, "clients_loss.png", "Packets of TCP lost at the gateway (paper 002, Figure "
                "4)", "Loss against clients", summary, "loss_percent", tcp)
    report.write("Lost packets in % (the picture leaves out UDP, which does not slow down):")
    add_table(report, summary, "loss_percent", 2)
    add_conditions(report, summary)
    add_reading(report, summary)
