# SPDX-License-Identifier: GPL-2.0-only
"""Paper 002: clients added to others, Figures 5 to 12; the stochastic model, Figure 13; and the
same clients on the kernel."""
import functools
import math
import re

import pandas
from common import KERNEL, Report
from section_002_1_clients import (COLOURS, DASHED, RENO, add_picture, compare_algorithms,
                                   comparison_text, congestion, draw, interval, kernel_clients,
                                   points, poisson, spread, summarize, title_of)

# The gateways of Figures 5 to 12 by the size of their queue, and their style.
GATEWAYS = {
    50: {"FIFO-50": {"marker": "o"}, "RED-50": {"marker": "^", **DASHED}},
    1500: {"FIFO-1500": {"marker": "o"}, "RED1": {"marker": "^", **DASHED},
           "RED2": {"marker": "s", **DASHED, "linestyle": ":"}},
}
ADDED = ["mbps", "loss_percent", "cov", "mbps_background"]

# The series of Figure 13.
MODEL = {
    "equations": {"label": "model, (1) to (4) as printed,\nwindows from 1 on",
                  "color": "#4575b4", "marker": "s"},
    "equations-outside": {"label": "the same, the queue\ncounted in packets",
                          "color": "#4575b4", "marker": "s", **DASHED},
    "equations-20": {"label": "as printed, windows from 20 on", "color": "#e08214", "marker": "^"},
    "equations-outside-20": {"label": "the same, the queue\ncounted in packets",
                             "color": "#e08214", "marker": "^", **DASHED},
    RENO: {"label": "reno, ns-3", "color": COLOURS["tt_reno"], "marker": "o"},
}


def figure(value: float, digits: int) -> str:
    """Returns a number, or nothing if it is missing."""
    return "" if pandas.isna(value) else f"{value:.{digits}f}"


def add_added_table(report: Report, rows: pandas.DataFrame) -> None:
    """Adds a table of the added clients. ROWS has a column for each quantity and algorithm; its
    index is the first column."""
    header = ["gateway, added", "Mbit/s: reno", "vegas", "bitcp", "vegas / reno", "bitcp / reno",
              "lost, %: reno", "vegas", "bitcp", "c.o.v.: reno", "vegas", "bitcp",
              "Mbit/s of the background: next to reno", "vegas", "bitcp"]
    rows = rows.reindex(columns=pandas.MultiIndex.from_product([ADDED, COLOURS]))
    cells = []
    for name, row in rows.iterrows():
        ratio = row.mbps / row.mbps.tt_reno
        cells.append([name, *(figure(x, 1) for x in row.mbps),
                      *(figure(x, 2) for x in (ratio.tt_vegas, ratio.bitcp, *row.loss_percent)),
                      *(figure(x, 3) for x in row["cov"]),
                      *(figure(x, 1) for x in row.mbps_background)])
    report.table(header, cells)


def add_added_picture(report: Report, summary: pandas.DataFrame, background: str, figures: str,
                      queue: int) -> None:
    """Adds a picture of the throughput and the loss of added clients behind the gateways with one
    size of the queue."""
    styles = {}
    for algorithm, colour in COLOURS.items():
        for gateway, style in GATEWAYS[queue].items():
            label = re.sub(", FIFO.*|-50$", "", f"{title_of(algorithm)}, {gateway}")
            series = f"{algorithm}; {background} Reno clients; {gateway}"
            styles[series] = {"label": label, "color": colour, **style}
    with report.picture(f"added_{background}_{queue}.png", f"{background} Reno clients, queue of "
                        f"{queue} packets (paper 002, Figures {figures})", f"Figures {figures}",
                        (1100, 560), ncols=2) as (_, (left, right)):
        draw(left, summary, "mbps", styles)
        draw(right, summary, "loss_percent", styles)
        left.set(ylabel="throughput of the added clients, Mbit/s")
        right.set(ylabel="lost at the gateway, % of the added clients' packets")
        for axes in (left, right):
            axes.set(xlabel=f"clients added to {background} with Reno", xlim=(0, None),
                     ylim=(0, None))
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncol=3, frameon=False)


def add_background(report: Report, summary: pandas.DataFrame, wide: pandas.DataFrame,
                   background: str, figures: dict[int, str]) -> None:
    """Adds the figures of one background. FIGURES: by the size of the queue."""
    report.write(f"### {background} clients with Reno in the background, Figures {figures[50]} "
                 f"(queue of 50) and {figures[1500]} (1500)")
    command = f"bench/research/sim/run short '^added.*{background} Reno clients'"
    gateways = [gateway for queue in GATEWAYS.values() for gateway in queue]
    present = wide.loc[background]
    counts = sorted(set(present.index.get_level_values("clients")))
    present = present.reindex(pandas.MultiIndex.from_product([gateways, counts]))
    missing = [f"some points of {gateway}" for gateway in gateways
               if present.loc[gateway].mbps.isna().any(axis=None)]
    for queue in GATEWAYS:
        add_added_picture(report, summary, background, figures[queue], queue)
    present.index = [f"{gateway}, {clients}" for gateway, clients in present.index]
    add_added_table(report, present.dropna(how="all"))
    report.not_measured(missing, command)


def add_added_claims(report: Report, wide: pandas.DataFrame) -> None:
    """Adds the table of what the paper's text says of Figures 5 to 12."""
    def ratio(lines: pandas.DataFrame, algorithm: str) -> str:
        return spread((lines.mbps[algorithm] / lines.mbps.tt_reno).dropna())

    def less_loss(lines: pandas.DataFrame, algorithm: str) -> str:
        both = lines.loss_percent[[algorithm, "tt_reno"]].dropna()
        both = both[both.max(axis=1) > 0.005]
        return f"{(both[algorithm] < both.tt_reno).sum()} of {len(both)}"

    rows = []
    for figures, queue, paper, text in [
            ("5, 9", 50, "Vegas delivers more than Reno: times as much", ratio),
            ("6, 10", 50, "Vegas loses less than Reno", less_loss),
            ("7, 11", 1500, "throughput is nearly the same: times as much", ratio),
            ("8, 12", 1500, "Vegas loses less than Reno", less_loss)]:
        lines = wide[wide.index.get_level_values("gateway").isin(GATEWAYS[queue])]
        rows.append([f"{figures} (queue of {queue})", paper, text(lines, "tt_vegas"),
                     text(lines, "bitcp")])
    report.table(["figures", "paper", "vegas, ours", "bitcp, ours"], rows)


def vegas_without_loss(wide: pandas.DataFrame, half: str, filled: str) -> str:
    """Returns sentences about the points with the large drop-tail queue where Vegas gets less than
    Reno without a loss. HALF and FILLED are the paper's numbers of Reno clients."""
    lines = wide[wide.index.get_level_values("gateway") == "FIFO-1500"]
    ratio = (lines.mbps.tt_vegas / lines.mbps.tt_reno).dropna()
    behind = ratio[(ratio < 0.95) & (lines.loss_percent.tt_vegas < 0.005)]
    if behind.empty:
        return ""
    return f"""
Behind the queue of 1500 without RED it gets {spread(behind)} of Reno's throughput at {len(behind)}
of {len(ratio)} points, without a loss: the cause is not losses but its own rule. Vegas keeps one to
three packets of its own in the queue, and yields to the delay that Reno causes there. Our clients
all start within a second, on an idle link. With {filled} Reno clients (section 3.2.2) the paper
adds the others to a link that these have saturated, so that the minimum RTT that its Vegas measures
may include the queue: this is probably why throughputs are nearly the same there and are not here.
With {half} (section 3.2.1) only half of the link is in use; why ours differ is not known."""


def write_added(report: Report) -> None:
    """Figures 5 to 12 in ns-3."""
    report.write("## Paper 002: clients added to Reno's, Figures 5 to 12")
    summary = summarize(report.lines("added"))
    parts = summary.series.str.extract("(?P<algorithm>.*); (?P<background>.*) Reno clients; "
                                       "(?P<gateway>.*)")
    wide = summary.join(parts).pivot(index=["background", "gateway", "clients"],
                                     columns=["what", "algorithm"], values="mean")
    wide = wide.reindex(columns=pandas.MultiIndex.from_product([ADDED, COLOURS]))
    table1, half, filled = (functools.partial(report.paper_value, "002", where)
                            for where in ("Table 1", "Section 3.2.1", "Section 3.2.2"))
    few, many = half("background clients"), filled("background clients")
    report.write(f"""\
Clients with the algorithm in question are added to {few} and to {many} clients with Reno; figures
are of those that are added. The queue has {table1("queue packets")} packets (RED with thresholds of
{table1("red min_th")} and {table1("red max_th")}) or {half("large queue packets")} (RED1:
{half("red1 min_th")} and {half("red1 max_th")}; RED2: {half("red2 min_th")} and
{half("red2 max_th")}). The c.o.v. is that of all clients. The paper prints no values of these
figures.""")
    add_background(report, summary, wide, few, {50: "5 and 6", 1500: "7 and 8"})
    add_background(report, summary, wide, many, {50: "9 and 10", 1500: "11 and 12"})
    report.write("""\
What the paper's text says of these figures, and ours; "n of m" counts the points above at which
either loses packets. Of Figures 6 and 10 the paper says that Vegas outperforms Reno, or performs
admirably; that this includes losses is our reading.""")
    add_added_claims(report, wide)
    report.write(f"""\
60 clients with windows of 20 have at most 1200 packets in flight, so that a queue of 1500 without
RED never loses one. Our Vegas gives up a quarter of its window at a loss; Figures 2 to 4 say how it
differs from the paper's.{vegas_without_loss(wide, few, many)}""")
    report.write(report.conditions(report.lines("added")))


def onset_text(covs: pandas.DataFrame) -> str:
    """Returns from how many clients on the model is well above Poisson packets, and what the first
    windows have to do with that."""
    onsets = []
    for series in MODEL:
        onset = covs.index[covs[series] > 1.5 * poisson(covs.index)].min()
        onsets.append("at none of these points" if pandas.isna(onset) else
                      f"from {onset} clients on")

    def stuck(bound: float) -> int:
        return int(0.75 * bound / 10) + 1

    per_interval = 50e6 / 8 / 1500 * 0.1
    return f"""\
The model's c.o.v. exceeds that of Poisson packets by more than half {onsets[0]} ({onsets[1]} with
the queue in packets), and with windows that begin at 20 (the receiver's, Table 1) {onsets[2]}
({onsets[3]}). The paper does not give its first window. Where the two differ, the start causes the
jump: with windows that begin at 1, packets accumulate until the windows have grown; then all
clients send what is waiting, and exceed the bound together. Windows that oscillate between half a
share of the bound and all of it carry three quarters of it. With {stuck(per_interval + 5)} clients
and more ({stuck(per_interval + 50)} with the queue in packets) this is less than the 10 packets
that each client gets in an interval, so that the backlog never ends, though the path could carry
it. With windows that begin at 20 it starts with an interval of Poisson traffic that exceeds the
bound."""


def write_model(report: Report, summary: pandas.DataFrame, heavy: int) -> None:
    """Figure 13."""
    report.write("## Paper 002: the stochastic model of Reno, section 4 and Figure 13")
    lines = report.lines("clients")
    lines = lines[lines.engine == "stochastic"]
    report.write("""\
This compares a numerical solution of equations (1) to (4) (`bench/research/sim/stochastic.cc`) with
Reno in ns-3. In each round trip every client sends what its window allows. Windows grow as long as
all clients together send no more than the path takes, and are halved otherwise. As printed, that
bound is (50 Mbit/s / 8 / 1500 + 50) 0.1 s = 422 packets, which adds the queue to a rate; with the
queue in packets it is 467. Windows begin at 1 or at 20.""")
    add_picture(report, "clients_model.png", "Reno's burstiness and the stochastic model (paper "
                "002, Figure 13)", "c.o.v. of the model", summary, "cov", MODEL)
    covs = pandas.DataFrame({series: points(summary, series, "cov") for series in MODEL})
    rows = [[str(clients), figure(poisson(clients), 3), *(figure(x, 3) for x in cov),
             *(figure(x, 2) for x in cov[:4] / cov[RENO])] for clients, cov in covs.iterrows()]
    report.table(["clients", "Poisson", "from 1: (1) to (4)", "queue in packets",
                  "from 20: (1) to (4)", "queue in packets", "reno, ns-3", "from 1: model / ns-3",
                  "queue in packets / ns-3", "from 20: model / ns-3", "queue in packets / ns-3"],
                 rows)
    both = covs[["equations", RENO]].dropna().loc[heavy + 1:]
    report.write(f"""\
The model has no timeouts and halves all windows at once. The paper says that its model is above its
simulation under heavy load; ours, with windows that begin at 1, is above ns-3 at
{(both.equations > both[RENO]).sum()} of {len(both)} numbers of clients above {heavy}.
{onset_text(covs)}
Windows are at least 1 and at most 20 (Table 1); the equations have neither bound.""")
    report.write(report.conditions(lines, ("bench/research/sim/stochastic.cc",)))


def kernel_seconds(rows: pandas.DataFrame) -> str:
    return (f"Throughput and loss were measured for {interval(rows.measured_s, 1)} s, the c.o.v. "
            f"for {interval(rows.cov_seconds, 1)} s, after 8 s that do not count.")


def add_kernel_table(report: Report, summary: pandas.DataFrame, kernel: pandas.DataFrame) -> None:
    """Adds the table of the clients on the kernel, next to the same in ns-3."""
    rows = []
    for point in kernel.itertuples():
        gateway = "RED-50" if point.queue == "RED" else "FIFO-50"
        simulated = math.nan
        for acks in ("each", "delayed"):
            series = points(summary, f"{point.algorithm}; {gateway}; ACKs {acks}", "cov")
            simulated = series.get(point.clients, simulated)
        several = f" ({point.least:.3f}-{point.most:.3f})" if point.runs > 1 else ""
        rows.append([f"{point.clients}, {point.queue}", title_of(point.algorithm),
                     figure(poisson(point.clients), 3), f"{point.cov:.3f}{several}",
                     figure(point.cov / poisson(point.clients), 2), figure(simulated, 3),
                     figure(point.cov / simulated, 2), figure(point.bps / 1e6, 1),
                     figure(100 * point.loss, 2)])
    report.table(["clients, gateway", "", "Poisson", "c.o.v.", "times Poisson", "ns-3's",
                  "ours / ns-3's", "Mbit/s", "lost, %"], rows)


def write_kernel(report: Report, summary: pandas.DataFrame, heavy: int) -> None:
    """Some points of Figures 2 to 4 on the kernel."""
    report.write("## Paper 002: clients of one gateway on the kernel")
    rows = report.rows("clients")
    report.write("""\
The same clients, gateway and bottleneck, with connections of this kernel over the emulated link and
the headers as struct_ops (`bench_clients.sh`). The c.o.v. is that of the segments that leave the
sending host, before the access links; throughput is what the bottleneck carried.""")
    kernel = kernel_clients(report)
    add_kernel_table(report, summary, kernel)
    report.write(f"""\
{report.row_conditions("clients", KERNEL)} {kernel_seconds(rows[rows.valid])} The kernel's
receivers decide whether to delay ACKs; ns-3's value is the one with delayed ACKs if there is one
(reno), otherwise the one with an ACK for each packet.""")
    pairs = compare_algorithms(report, summary, heavy)
    pairs = pairs[(pairs.engine == "kernel") & (pairs.a == "vegas") & (pairs.b == "reno")]
    found = "; with ".join(f"{pair.queue} {comparison_text(pair, heavy)}"
                           for pair in pairs.itertuples())
    over = report.paper_value("002", "Figure 2 (section 3.2)", "reno over Poisson", "over 38")
    reason = """\
Ours counts packets as they leave the host, before the access links space them; ns-3 and the paper
count them at the gateway, behind those links."""
    if (pairs.below == 0).any():
        reason = """\
That is the opposite of the paper and of ns-3. Ours counts packets as they leave the host, before
the access links space them (a window that opens by several packets sends them at once); ns-3 and
the paper count them at the gateway, behind those links. Also, the kernel's receivers delay ACKs.
Which of these is the cause was not measured."""
    report.write(f"""\
The paper prints no values; in its Figure 2 Reno is {over} above Poisson with more than {heavy}
clients, and Vegas shows no sharp increase. With {found}.
{reason}""")
    measured = set(zip(kernel.clients, kernel.queue))
    report.not_measured([f"{clients} clients {queue}" for clients in (20, 44, 60)
                         for queue in ("drop-tail", "RED") if (clients, queue) not in measured],
                        "bench/run clients")


def write(report: Report) -> None:
    heavy = congestion(report)[1]
    summary = summarize(report.lines("clients"))
    write_added(report)
    write_model(report, summary, heavy)
    write_kernel(report, summary, heavy)
