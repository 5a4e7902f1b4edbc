# SPDX-License-Identifier: GPL-2.0-only
"""Paper 003, section VII: utilisation, and TCP friendliness (Figure 9), in ns-3 and on the kernel.

Shares are frames with a row for each run: engine, algorithm, mbps, queue, seconds; and in per cent
of the link, headers included, the shares of the two high-speed flows, of the two of TCP and of the
background, what was unused, and what was carried in all.
"""
import itertools
import re

import pandas

from common import Report, longest, number, seconds_of
from paper_003 import (ALGORITHMS, FIRST_SLOW_START, absent, kernel_conditions, kernel_rows,
                       missing_cells, only, paper_values, runs_of, span, spread)

RATES = [20, 100, 500, 2500]
QUEUES = {"droptail": "drop-tail", "red": "RED", "red-1500": "RED-1500"}
# The shares in the order of the table: their names there and their colours
SHARES = {"fast": ("high-speed", "#1b7837"), "tcp": ("long-lived TCP", "#4575b4"),
          "background": ("background", "#999999"), "unused": ("unused", "#eeeeee")}
SHARES_HEADER = ["Mbit/s", "", *(name for name, _ in SHARES.values()), "runs"]
COLUMNS = ["engine", "algorithm", "mbps", "queue", "seconds", *SHARES, "carried"]

# What the text of the paper says of Figure 9: the rate, what is compared, its name in 003.csv, and
# which share of which algorithms is divided by that of which others.
STATEMENTS = [
    (20, "TCP's share next to hstcp / next to stcp", "tcp hstcp / stcp", "tcp",
     ["hstcp"], ["stcp"]),
    (20, "TCP's share next to bitcp / next to stcp", "tcp bitcp / stcp", "tcp",
     ["bitcp"], ["stcp"]),
    (100, "TCP's share next to bitcp / next to stcp", "tcp bitcp / stcp", "tcp",
     ["bitcp"], ["stcp"]),
    (20, "unused, hstcp and stcp / aimd and bitcp", "unused hstcp stcp / aimd bitcp", "unused",
     ["hstcp", "stcp"], ["aimd", "bitcp"]),
    (500, "high-speed share, stcp / bitcp", "high-speed stcp / bitcp", "fast",
     ["stcp"], ["bitcp"]),
    (500, "high-speed share, aimd / bitcp", "high-speed aimd / bitcp", "fast",
     ["aimd"], ["bitcp"]),
]


def queue_of(conditions: pandas.Series) -> pandas.Series:
    return conditions.str.split(" ").str[0].map(QUEUES)


def simulated_shares(lines: pandas.DataFrame) -> pandas.DataFrame:
    """Returns the shares in ns-3. What the link carried is divided as what was received."""
    runs = runs_of(lines)
    fast, tcp = runs.mbps_1 + runs.mbps_2, runs.mbps_3 + runs.mbps_4
    carried = 100 * runs.utilisation
    share = carried / (fast + tcp + runs.background_mbps)
    return runs.assign(mbps=runs.x.astype(int), queue=queue_of(runs.conditions),
                       seconds=seconds_of(runs.conditions), fast=fast * share, tcp=tcp * share,
                       background=runs.background_mbps * share, carried=carried,
                       unused=(100 - carried).clip(lower=0))[COLUMNS]


def kernel_shares(rows: pandas.DataFrame) -> pandas.DataFrame:
    rows = rows[rows.algorithm.isin(ALGORITHMS)]
    received = 100 * rows.goodput_bps / 1e6 / rows.mbps * 1500 / rows["sender.mss"]
    fast = rows.flows.map(lambda flows: (flows[0]["mbps"] + flows[1]["mbps"])
                          / sum(flow["mbps"] for flow in flows)) * received
    carried = 100 * rows.carried
    return rows.assign(engine="kernel", fast=fast, tcp=received - fast, carried=carried,
                       background=carried - received,
                       unused=(100 - carried).clip(lower=0))[COLUMNS]


def share_rows(shares: pandas.DataFrame) -> list[list[str]]:
    """Returns the rows of a table of shares: the mean, and minimum and maximum of several runs."""
    rows = []
    for mbps, algorithm in itertools.product(RATES, ALGORITHMS):
        cell = only(shares, mbps=mbps, algorithm=algorithm)
        if len(cell):
            rows.append([str(mbps), algorithm,
                         *(spread(cell[share], "{:.1f}".format) for share in SHARES),
                         f"{len(cell)} of {number(cell.seconds.max())} s"])
    return rows


def shares_picture(report: Report, name: str, title: str, caption: str, shares) -> None:
    """Draws a bar for each algorithm at each rate, and a gap for what was not measured."""
    rates = sorted(shares.mbps.unique())
    means = shares.groupby(["mbps", "algorithm"])[list(SHARES)].mean()
    cells = {5 * group + place: (mbps, algorithm) for group, mbps in enumerate(rates)
             for place, algorithm in enumerate(ALGORITHMS)}
    drawn = {x: means.loc[cell] for x, cell in cells.items() if cell in means.index}
    with report.picture(name, f"{title}: paper 003, Figure 9", caption,
                        size=(1100, 560)) as (_, axes):
        bottom = [0.0] * len(drawn)
        for share in ("background", "tcp", "fast", "unused"):
            heights = [mean[share] for mean in drawn.values()]
            label, colour = SHARES[share]
            axes.bar(drawn.keys(), heights, 0.75, bottom, label=label, color=colour,
                     edgecolor="#444444")
            bottom = [low + height for low, height in zip(bottom, heights)]
        axes.set_xticks(list(cells), [cell[1] + ("" if x in drawn else "\n(none)")
                                      for x, cell in cells.items()])
        for group, mbps in enumerate(rates):
            axes.text(5 * group + 1.5, -0.1, f"{mbps} Mbit/s", ha="center", va="top",
                      transform=axes.get_xaxis_transform())
        axes.grid(axis="x", visible=False)
        axes.set(ylabel="share of the bottleneck, %", ylim=(0, 100))
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1))


def statement_rows(report: Report, mbps: int, shares: pandas.DataFrame) -> list[list[str]]:
    """Returns what the paper's text says of Figure 9 at a rate, next to ours; not where one of the
    runs is missing."""
    where = f"Figure 9, {mbps} Mbit/s"
    of = only(shares, mbps=mbps)
    means = of.groupby("algorithm")[list(SHARES)].mean()
    paper = paper_values(report, "Figure 9")
    rows = []
    for rate, what, name, share, above, below in STATEMENTS:
        if rate != mbps or absent(above + below, means.index) or not means[share][below].sum():
            continue
        said = paper[name, str(mbps)]
        ours = f"{means[share][above].mean() / means[share][below].mean():.2f}"
        figure = re.fullmatch(r"(?:[a-z]* )?([0-9.]+)", said)
        rows.append([where, what, said, ours,
                     f"{float(ours) / float(figure[1]):.2f}" if figure else ""])
    ranks = paper.get(("order", str(mbps)), "").split()
    if ranks and not absent(ranks, means.index):
        ours = means.fast.sort_values(ascending=False)
        same = means.fast[ranks].is_monotonic_decreasing
        rows.append([where, "high-speed share, the largest first", ", ".join(ranks),
                     ", ".join(f"{name} {share:.1f} %" for name, share in ours.items()),
                     "the same order" if same else "another order"])
    if ("background", str(mbps)) in paper and len(of):
        rows.append([where, "share of the background", paper["background", str(mbps)],
                     f"{span(of.background, '.1f')} %", ""])
    return rows


def write_shares(report: Report, shares: pandas.DataFrame, conditions: str) -> None:
    """Writes the table of shares, how they were measured, and what the paper says of them."""
    report.table(SHARES_HEADER, share_rows(shares))
    report.write(conditions)
    rows = [row for mbps in RATES for row in statement_rows(report, mbps, shares)]
    if rows:
        report.table(["where", "what", "paper", "ours", "ratio"], rows)


def missing_shares(shares: pandas.DataFrame) -> str:
    """Returns the rates and algorithms without a run."""
    missing = "; ".join(missing_cells(shares, "mbps", RATES, "{} Mbit/s"))
    return missing.replace(", ".join(ALGORITHMS), "any")


def utilisation_rows(report: Report, shares: pandas.DataFrame) -> list[list[str]]:
    rows = []
    for engine, queue, algorithm in itertools.product(["ns-3", "kernel"], QUEUES.values(),
                                                      ALGORITHMS):
        of = only(shares, engine=engine, queue=queue, algorithm=algorithm)
        if of.empty:
            continue
        paper = paper_values(report, f"Utilisation {queue.removesuffix('-1500')}")
        wanted = 100 * float(paper[algorithm, "2500"])
        row = [queue, engine, algorithm, f"{wanted:g}"]
        for mbps in sorted(shares.mbps.unique()):
            carried = only(of, mbps=mbps).carried
            row += [spread(carried, "{:.1f}".format), f"{round(carried.mean(), 1) / wanted:.2f}"] \
                if len(carried) else ["", ""]
        rows.append(row)
    return rows


def red_thresholds(mbps: int) -> str:
    """Returns min_th and max_th where they are automatic: half of 5 ms in packets of 500 bytes, at
    least 5, and three times that (bench/linkem/red.h)."""
    low = max(5, mbps * 1e6 / 8 / 500 * 5e-3 / 2)
    return f"{int(low)} and {int(3 * low)}"


def red_queue(report: Report, queue: str) -> str:
    """Says how long RED's queue was on the kernel."""
    rows = only(kernel_rows(report, "friendliness"), queue=queue)
    held = [number(round(rows["link.queue_mean_ms"].agg(f), 1)) for f in ("min", "max")]
    return (f" On the kernel the queue of {queue} held {' to '.join(dict.fromkeys(held))} ms on "
            "average, over the whole of a run, of the 40 that there are.")


def thresholds_matter(shares: pandas.DataFrame) -> str:
    """Says how much more of the link is used with the longer queue, where both were measured."""
    of = shares.groupby(["engine", "mbps", "algorithm", "queue"]).carried.mean().unstack()
    both = of.reindex(columns=["RED", "RED-1500"]).dropna()
    each = "; ".join(f"{engine} at {mbps} Mbit/s, {algorithm}: {red:.1f} % of the link instead of "
                     f"{red_1500:.1f}"
                     for (engine, mbps, algorithm), (red, red_1500) in both.iterrows())
    if (both["RED"] > both["RED-1500"]).all():
        return f"With the longer queue more is used ({each})."
    return f"The longer queue is not always used more ({each})."


def write_utilisation(report: Report, mix, rows, shares: pandas.DataFrame) -> None:
    report.write("""
## Paper 003: utilisation, section VII

Two high-speed flows of a kind and two long-lived TCP flows, with round-trip times of 36 to 44 ms:
the share in per cent of what the bottleneck could carry in the second half of a run that it did
carry, background included. Means, least and most of the runs in parentheses.
""")
    header = ["queue", "", "", "2.5 Gbit/s: paper"]
    for mbps in sorted(shares.mbps.unique()):
        header += [f"{mbps} Mbit/s: ours", "ratio"]
    report.table(header, utilisation_rows(report, shares))
    text = report.conditions(mix).replace("Conditions:", "Conditions in ns-3:", 1)
    report.write("\n".join(filter(None, [text, report.given_up(mix), FIRST_SLOW_START])))
    text = kernel_conditions(report, "friendliness", rows)
    report.write(text.replace("Conditions:", "On the kernel:", 1))
    for engine, name, queue, command in (
            ("ns-3", "in ns-3", "drop-tail", "bench/research/sim/run full '^mix.*droptail'"),
            ("ns-3", "in ns-3", "RED", "bench/research/sim/run full '^mix.*red'"),
            ("kernel", "on the kernel", "RED",
             "BENCH_MBPS='20 100 500 2500' BENCH_QUEUES=RED bench/run friendliness")):
        missing = missing_shares(only(shares, engine=engine, queue=queue))
        if missing:
            report.not_measured([f"{name}, {queue}: {missing}"], command)
    report.write(f"""
A queue of one bandwidth-delay product keeps the link busy through a loss. RED holds a shorter one,
and how short depends on what it takes for a packet. The paper gives no thresholds. ns-2 had
automatic ones since the end of 2001, of 2.5 and 7.5 ms of the rate in packets of 500 bytes
(`mean_pktsize_` in its ns-default.tcl), but counted its queue in the packets that there were: with
packets of 1500 bytes they are 7.5 and 22.5 ms, {red_thresholds(20)} packets at 20 Mbit/s and
{red_thresholds(2500)} at 2.5 Gbit/s. That is *RED* here. *RED-1500* has 2.5 and 7.5 ms, as the
formula means it.{red_queue(report, 'RED')}{red_queue(report, 'RED-1500')}
{thresholds_matter(shares)}
""")


def write_simulated(report: Report, mix, shares: pandas.DataFrame) -> None:
    shares = only(shares, engine="ns-3", queue="drop-tail")
    report.write("""
## Paper 003: TCP friendliness, Figure 9

The same runs, drop-tail: shares of the bottleneck in per cent of its rate; what it carried is
divided as what was received. The paper prints Figure 9 as bars without figures; what its text says
of them is in the second table.
""")
    shares_picture(report, "shares.png", "Two high-speed flows and two of TCP, drop-tail",
                   "Figure 9", shares)
    of = mix[queue_of(mix.conditions) == "drop-tail"]
    write_shares(report, shares, report.conditions(of))
    slow = only(shares, mbps=20).background
    report.write(f"""
The paper does not give the round-trip times of this experiment, nor how long its small connections
last: here 25 of them begin and end at random within the run, seven of them at a time on average,
each with a window of at most 64 packets, and on-off sources send a tenth of the rate. At 20 Mbit/s
that background is {span(slow, '.0f')} % of the link, and windows are as small as the paper says
that they are there, below STCP's low window.
""")


def write_kernel(report: Report, rows: pandas.DataFrame, shares: pandas.DataFrame) -> None:
    report.write("""
## Paper 003: TCP friendliness on the kernel, Figure 9

Two connections of a kind and two of Reno with round-trip times of 38, 42, 36 and 44 ms over the
emulated link, a queue of 40 ms: shares of the bottleneck in per cent of its rate, headers included.
A tenth of the rate each way is background, from ten Reno connections that send a message every
200 ms; there are no other small ones. The paper prints bars without figures, for drop-tail, and
says that RED gives approximately the same; what its text says of them is in the second tables.
""")
    for queue, name, picture in (("drop-tail", "drop-tail", "shares_kernel.png"),
                                 ("RED", "adaptive RED", "shares_kernel_red.png")):
        report.write(f"### On the kernel, {name}")
        of = only(shares, engine="kernel", queue=queue)
        title = f"Two high-speed connections and two of Reno on the kernel, {queue}"
        shares_picture(report, picture, title, "Figure 9, on the kernel", of)
        write_shares(report, of, kernel_conditions(report, "friendliness", only(rows, queue=queue)))
        report.not_measured([missing_shares(of)] if missing_shares(of) else [],
                            f"BENCH_MBPS='20 100 500 2500' BENCH_QUEUES={queue} "
                            "bench/run friendliness")


def write(report: Report) -> None:
    mix = longest(report.lines("mix"))
    rows = only(kernel_rows(report, "friendliness"), longest=True)
    shares = pandas.concat([simulated_shares(mix), kernel_shares(rows)], ignore_index=True)
    write_utilisation(report, mix, rows, shares)
    write_simulated(report, mix, shares)
    write_kernel(report, rows, shares)
