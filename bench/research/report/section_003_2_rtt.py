# SPDX-License-Identifier: GPL-2.0-only
"""Paper 003: throughput ratios of two flows with different round-trip times, Tables 1 to 3, in
ns-3 and on the kernel.

Ratios are frames with a row for each run: engine, algorithm, rtt_ratio, seconds, the ratio of
throughputs, and whether the run is one of the longest of its cell.
"""
import itertools

import pandas

from common import Report, longest, number, seconds_of, style
from paper_003 import (ALGORITHMS, FIRST_SLOW_START, absent, kernel_conditions, kernel_rows,
                       missing_cells, only, paper_values, runs_of, span, spread, three_digits)

RTT_RATIOS = [1, 3, 6]
CELL = ["algorithm", "rtt_ratio"]
COLUMNS = ["engine", *CELL, "seconds", "ratio", "longest"]
TABLE_HEADER = ["", *(name for x in RTT_RATIOS for name in (f"{x}: paper", "ours", "ratio"))]


def simulated_lines(report: Report, mbps: int) -> pandas.DataFrame:
    lines = report.lines("rtt_ratio")
    return lines[lines.conditions.str.startswith(f"{mbps} Mbit/s drop-tail")]


def simulated_ratios(lines: pandas.DataFrame) -> pandas.DataFrame:
    runs = runs_of(lines)
    if runs.empty:
        return pandas.DataFrame(columns=COLUMNS)
    runs = runs.assign(rtt_ratio=runs.x.astype(int), seconds=seconds_of(runs.conditions),
                       ratio=runs.mbps_1 / runs.mbps_2)
    most = runs.groupby(CELL).seconds.transform("max")
    return runs.assign(longest=runs.seconds == most)[runs.mbps_2 > 0]


def kernel_ratios(report: Report, mbps: int, queue: str = "drop-tail") -> pandas.DataFrame:
    rows = only(kernel_rows(report, "rtt_ratio"), mbps=mbps, queue=queue).assign(engine="kernel")
    return rows[rows.ratio.notna()] if len(rows) else pandas.DataFrame(columns=COLUMNS)


def paper_ratios(report: Report, table: str) -> pandas.DataFrame:
    ratios = [("paper", algorithm, int(x), 0, float(value), True)
              for (algorithm, x), value in paper_values(report, table).items()]
    return pandas.DataFrame(ratios, columns=COLUMNS)


def rtt_rows(paper: dict[tuple, str], ratios: pandas.DataFrame) -> list[list[str]]:
    """Returns the rows of the table. Where the cells are of different lengths, each says of which
    it is."""
    rows = []
    for algorithm in [*ALGORITHMS, "cubic", "reno", "ns3-bic", "ns3-highspeed", "ns3-scalable"]:
        of = only(ratios, algorithm=algorithm)
        if of.empty:
            continue
        row = [algorithm]
        for rtt_ratio in RTT_RATIOS:
            cell = only(of, rtt_ratio=rtt_ratio)
            figure = paper.get((algorithm, str(rtt_ratio)), "")
            ours = compared = ""
            if len(cell):
                ours = spread(cell.ratio, three_digits)
                if ratios.seconds.nunique() > 1:
                    ours += f", {number(cell.seconds.max())} s"
                if figure:
                    compared = f"{cell.ratio.mean() / float(figure):.2f}"
            row += [figure, ours, compared]
        rows.append(row)
    return rows


def rtt_missing(ratios: pandas.DataFrame) -> list[str]:
    return missing_cells(ratios, "rtt_ratio", RTT_RATIOS, "ratio {}")


def rtt_lengths(ratios: pandas.DataFrame) -> str:
    """Returns a sentence about the cells that were measured with runs of more than one length."""
    listed = []
    up = 0
    for (algorithm, rtt_ratio), cell in ratios[ratios.rtt_ratio > 1].groupby(CELL):
        means = cell.groupby("seconds").ratio.mean()
        if len(means) > 1:
            each = ", ".join(f"{three_digits(mean)} in {number(seconds)} s"
                             for seconds, mean in means.items())
            listed.append(f"{algorithm}, ratio {rtt_ratio}: {each}")
            up += means.iloc[-1] > means.iloc[0]
    if not listed:
        return ""
    return (f"Of several lengths of run: {'; '.join(listed)}. The longer is the higher in {up} of "
            f"{len(listed)}: how much of the second half is still the start's, and chance, are in "
            "these figures; the paper does not say how long its runs are.")


def compare_synchronised(ratios: pandas.DataFrame) -> str:
    """Says, of cells with runs of several lengths, whether the higher ratio goes with the higher
    share of synchronised losses."""
    ratios = ratios[ratios.rtt_ratio > 1].dropna(subset="synchronised_2")
    means = ratios.groupby([*CELL, "seconds"])[["ratio", "synchronised_2"]].mean()
    products = [(one[0] - other[0]) * (one[1] - other[1]) for _, cell in means.groupby(CELL)
                for one, other in itertools.combinations(cell.values, 2)]
    if not products:
        return ""
    up, down = sum(x > 0 for x in products), sum(x < 0 for x in products)
    return ("of two lengths of run in one cell the one with the higher ratio has the higher share "
            f"of synchronised losses {up} times of {len(products)}, the lower {down} times")


def rtt_compared(paper: dict[tuple, str], ratios: pandas.DataFrame) -> dict[bool, list[str]]:
    """Returns the cells of different round-trip times that are above the paper's (True), and the
    others."""
    cells = {True: [], False: []}
    for (algorithm, x), mean in ratios[ratios.rtt_ratio > 1].groupby(CELL).ratio.mean().items():
        if (algorithm, str(x)) in paper:
            cells[mean > float(paper[algorithm, str(x)])].append(f"{algorithm} at {x}")
    return cells


def rtt_differs(paper: dict[tuple, str], ratios: pandas.DataFrame, why: str, shown: str) -> str:
    """Says what may be behind the cells above and below the paper's. shown: what the measurements
    say of the cause that is likely."""
    above, others = rtt_compared(paper, ratios).values()
    count = len(above) + len(others)
    if not count:
        return ""
    text = (f"Of the cells with a round trip of 3 and 6 times the other's {len(above)} of {count} "
            "are above the paper's.")
    if above:
        text += (" Less background leaves more of the link, and larger windows, to the two flows, "
                 f"and spreads their losses less, and {why}: both may make losses of the two more "
                 f"synchronised, and with that ratios higher, as they are for {', '.join(above)}. "
                 f"That is not shown{': ' if shown else ''}{shown}.")
    if others:
        text += (f" Why {'the others' if above else 'they'} ({', '.join(others)}) are below is "
                 f"not shown{' either' if above else ''}.")
    means = only(ratios, rtt_ratio=1).groupby("algorithm").ratio.mean()
    uneven = means.index[(means > 1.5) | (means < 1 / 1.5)]
    if len(uneven):
        text += (" With the same round-trip time, too, one of the two flows has more than 1.5 "
                 f"times what the other has with {', '.join(uneven)}: likely what was not equal "
                 "at the start is not yet equal then.")
    return text


def what_is_shown(report: Report, ratios: pandas.DataFrame) -> str:
    """Returns what speaks for or against synchronised losses as the cause of what is above the
    paper's."""
    said = [compare_synchronised(ratios)]
    kernel = only(kernel_ratios(report, 2500), longest=True)
    above, others = rtt_compared(paper_values(report, "Table 2"), kernel).values()
    if above or others:
        said.append("on the kernel at 2.5 Gbit/s, with as little background, "
                    f"{len(above)} of {len(above) + len(others)} cells are above the paper's")
    return "; and ".join(filter(None, said))


def rtt_picture(report: Report, name: str, title: str, table: str, *engines) -> None:
    """Draws the ratios of the paper and of one or two engines, the second one as crosses."""
    caption = table + (" on the kernel" if (engines[0].engine == "kernel").all() else "")
    title = f"{title}, drop-tail: paper 003, {table}"
    with report.picture(name, title, caption) as (_, axes):
        for algorithm in ALGORITHMS:
            look = style(algorithm)
            colour = look["color"]
            for ratios in (paper_ratios(report, table), *engines):
                of = only(ratios, algorithm=algorithm)
                if of.empty:
                    continue
                means = of.groupby("rtt_ratio").ratio.mean()
                engine = of.engine.iloc[0]
                drawn = look
                x = means.index
                if engine == "paper":
                    drawn = {"color": colour, "linestyle": "--"}
                elif ratios is not engines[0]:
                    drawn = {"color": colour, "linestyle": "", "marker": "x", "markersize": 10}
                    x = x * 1.03
                axes.plot(x, means, label=f"{algorithm}, {engine}", **drawn)
        axes.set(yscale="log", xlim=(0.8, 6.5), ylim=(0.5, 1000), xticks=RTT_RATIOS,
                 xlabel="round-trip time of flow 2 / flow 1 (40 ms)",
                 ylabel="throughput of flow 1 / flow 2 (log scale)")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1))


def write_simulated(report: Report, table: str, rate: str, mbps: int) -> bool:
    """Writes a table of ns-3; returns whether it was simulated."""
    everything = simulated_lines(report, mbps)
    lines = longest(everything)
    ratios = simulated_ratios(lines)
    if ratios.empty:
        return False
    paper = paper_values(report, table)
    report.write(f"""
## Paper 003: RTT fairness at {rate}, {table}

Throughput of a flow with a round-trip time of 40 ms over that of a second one with 40, 120 and
240 ms, in ns-3. Means of the longest runs (least and most in parentheses where there is more than
one), and their ratio to the paper.
""")
    rtt_picture(report, f"rtt_{mbps}.png", f"Two flows over {rate}", table, ratios,
                only(kernel_ratios(report, mbps), longest=True))
    report.table(TABLE_HEADER, rtt_rows(paper, ratios))
    report.write(f"{report.conditions(lines)} Of each run the second half counts. "
                 f"{report.given_up(lines)}")
    report.not_measured(rtt_missing(ratios),
                        f"bench/research/sim/run full 'rtt_ratio|ns-3|.*|{mbps} Mbit'")
    ours = simulated_ratios(everything[~everything.algorithm.str.startswith("ns3")])
    report.write(rtt_lengths(ours))
    runs = only(ours, longest=True)
    shares = runs[runs.rtt_ratio > 1].groupby("algorithm").synchronised_2.mean().dropna()
    if len(shares):
        each = ", ".join(f"{algorithm} {100 * share:.0f} %" for algorithm, share in shares.items())
        report.write(f"""
Share of the seconds with a loss event in which both flows had one (ratios 3 and 6): {each}. The
paper says of its own run that this is rare in such small windows, and gives no figure. The
bottleneck carried at least {100 * runs.utilisation.min():.1f} % of what it can in all of ours.
""")
    why = "the paper's packets are paced with a random delay, ours are not"
    report.write(f"""
The paper's background is web traffic of a fifth to a half of the rate, 25 small TCP flows and two
to four long ones, each way; here on-off sources without congestion control take a tenth of the rate
each way. {FIRST_SLOW_START}
{rtt_differs(paper, ratios, why, what_is_shown(report, ours))}
""")
    return True


def write_kernel(report: Report, table: str, mbps: int) -> None:
    everything = kernel_ratios(report, mbps)
    ratios = only(everything, longest=True)
    paper = paper_values(report, table)
    report.write(f"""
## Paper 003: RTT fairness at {mbps} Mbit/s on the kernel, {table}

Two connections of this kernel over the emulated link, drop-tail, with a queue of 40 ms and the
algorithms as struct_ops. A tenth of the rate each way is background, from ten Reno connections that
send a message every 200 ms; the paper's is a fifth and more, and of the length of its runs it says
nothing.
""")
    if simulated_lines(report, mbps).empty:
        rtt_picture(report, f"rtt_kernel_{mbps}.png",
                    f"Two connections of the kernel over {mbps} Mbit/s", table, ratios)
    report.table(TABLE_HEADER, rtt_rows(paper, ratios))
    report.write(kernel_conditions(report, "rtt_ratio", ratios, f"{mbps} Mbit/s, drop-tail, "))
    report.not_measured(rtt_missing(ratios),
                        f"BENCH_MBPS={mbps} BENCH_QUEUES=drop-tail bench/run rtt_ratio")
    report.write(rtt_lengths(everything))
    why = "the kernel sends in bursts of up to 64 KB, the paper paces"
    report.write(rtt_differs(paper, ratios, why, ""))


def write_kernel_red(report: Report, mbps: int) -> None:
    ratios = only(kernel_ratios(report, mbps, "RED"), longest=True)
    command = f"BENCH_MBPS={mbps} BENCH_QUEUES=RED bench/run rtt_ratio"
    report.write(f"### The same under adaptive RED, {mbps} Mbit/s")
    if ratios.empty:
        report.not_measured(["any of it"], command)
        return
    report.write("The paper gives no figures: for every protocol it finds the ratio of throughputs "
                 "close to that of the round-trip times.")
    paper = paper_values(report, "RTT under RED")
    rows = []
    cells = {True: [], False: []}
    for (x, algorithm), cell in ratios.groupby(["rtt_ratio", "algorithm"]).ratio:
        mean, figure = cell.mean(), paper["all", str(x)]
        rows.append([algorithm, figure, f"{mean:.2f}", f"{mean / float(figure):.2f}",
                     str(len(cell))])
        if x > 1:
            cells[0.5 <= mean / x <= 2].append(f"{algorithm} at {x}")
    report.table(["", "RTT ratio, and the paper's of throughputs", "ours", "ratio", "runs"], rows)
    text = kernel_conditions(report, "rtt_ratio", ratios, f"{mbps} Mbit/s, RED, ")
    if cells[True]:
        text += f"\nWithin half and twice the ratio of round-trip times: {', '.join(cells[True])}."
    if cells[False]:
        text += f" Not: {', '.join(cells[False])}; why is not shown here."
    report.write(text)
    report.not_measured(rtt_missing(ratios), command)


def all_ratios(report: Report, table: str, mbps: int) -> pandas.DataFrame:
    """Returns the ratios of the paper and of runs of all lengths."""
    frames = [paper_ratios(report, table), simulated_ratios(simulated_lines(report, mbps)),
              kernel_ratios(report, mbps)]
    return pandas.concat(frame[COLUMNS] for frame in frames)


def side_by_side(table: str, ratios: pandas.DataFrame) -> list[list[str]]:
    """Returns a row for each algorithm and engine."""
    rows = []
    for algorithm, engine in itertools.product(ALGORITHMS, ["paper", "ns-3", "kernel"]):
        of = only(ratios, algorithm=algorithm, engine=engine, longest=True)
        if of.empty:
            continue
        row = [table, algorithm, engine]
        for x in RTT_RATIOS:
            cell = only(of, rtt_ratio=x)
            text = three_digits(cell.ratio.mean()) if len(cell) else ""
            if cell.seconds.max() > 0:
                text += f", {number(cell.seconds.max())} s"
            row.append(text)
        rows.append(row)
    return rows


def orders(where: str, ratios: pandas.DataFrame) -> list[str]:
    """Says whether AIMD <= BI-TCP < HSTCP < STCP, as in Table 2, where an engine has all four."""
    found = []
    for engine, x in itertools.product(["paper", "ns-3", "kernel"], [3, 6]):
        of = only(ratios, engine=engine, rtt_ratio=x)
        of = of[of.algorithm.isin(ALGORITHMS)]
        means = of.groupby("algorithm").ratio.mean()
        if absent(ALGORITHMS, means.index):
            continue
        aimd, bitcp, hstcp, stcp = means[ALGORITHMS]
        counts = of.groupby("algorithm").size()
        how = ""
        if engine != "paper":
            runs = str(counts.max()) if counts.nunique() == 1 else span(counts, "d")
            runs = "one run each" if runs == "1" else f"runs of each: {runs}"
            how = f" ({' and '.join(map(number, sorted(of.seconds.unique())))} s; {runs})"
        holds = "holds" if aimd <= bitcp < hstcp < stcp else "does not hold"
        found.append(f"- {where}, {engine}, ratio {x}{how}: "
                     f"{', '.join(map(three_digits, means[ALGORITHMS]))}: {holds}")
    return found


def orders_of_shorter_runs(where: str, ratios: pandas.DataFrame) -> list[str]:
    """Says the same of runs that are shorter than the longest of a cell, where all four have one
    of that length."""
    found = []
    for (engine, x, seconds), _ in only(ratios, longest=False).groupby(
            ["engine", "rtt_ratio", "seconds"]):
        found += orders(where, only(ratios, engine=engine, rtt_ratio=x, seconds=seconds))
    return found


def write_side_by_side(report: Report) -> None:
    """Writes Tables 1 to 3 next to each other: the paper, ns-3, the kernel."""
    slow, fast = all_ratios(report, "Table 3", 100), all_ratios(report, "Table 2", 2500)
    fast_where, slow_where = "Table 2, 2.5 Gbit/s", "Table 3, 100 Mbit/s"
    fast_orders = orders(fast_where, only(fast, longest=True))
    slow_orders = orders(slow_where, only(slow, longest=True))
    fast_shorter = orders_of_shorter_runs(fast_where, fast)
    slow_shorter = orders_of_shorter_runs(slow_where, slow)
    report.write("""
## Paper 003: Tables 1 to 3 side by side

Throughput of a flow of 40 ms over that of one with 1, 3 and 6 times that, drop-tail; means of the
longest runs, and how long they were. Table 1 is the rows of Table 2 without BI-TCP. Spread,
conditions and ratios are with the single tables above.
""")
    report.table(["table", "", "", "1", "3", "6"],
                 side_by_side("Table 2", fast) + side_by_side("Table 3", slow))
    report.write("The order AIMD <= BI-TCP < HSTCP < STCP, with the four ratios in that order:")
    report.write("\n".join(fast_orders + slow_orders))
    if fast_shorter or slow_shorter:
        report.write("In shorter runs of the same cells, where all four have one:")
        report.write("\n".join(fast_shorter + slow_shorter))
    if any("one run each" in order for order in fast_orders + slow_orders):
        report.write("An order of single runs may be another one the next time; where the same "
                     "points were run for another time, the tables above have both.")
    if all(", paper," in order for order in fast_orders):
        report.not_measured(["all four of Table 2 at one RTT ratio on the kernel or in ns-3"],
                            "BENCH_MBPS=2500 BENCH_QUEUES=drop-tail BENCH_CONTROLS="
                            "'aimd bitcp hstcp stcp' bench/run rtt_ratio")
    report.write(f"""
At 100 Mbit/s the order need not hold, and in the paper's own Table 3 it does not: two flows of
40 ms have {int(100e6 * 0.08 / 12000 / 2)} packets each of the path and its queue, near the
{2 * 32 / 0.125:.0f} at which bitcp is least fair (W_max beta = 2 S_max, section VI-B.2).
""")


def write(report: Report) -> None:
    missing = []
    for table, rate, mbps in (("Table 3", "100 Mbit/s", 100),
                              ("Table 2", "500 Mbit/s (the paper: 2.5 Gbit/s)", 500),
                              ("Table 2", "2.5 Gbit/s", 2500)):
        if not write_simulated(report, table, rate, mbps) and mbps != 500:
            missing.append(f"{table} at {rate}")
    report.not_measured([f"in ns-3 {'; '.join(missing)}"] if missing else [],
                        r"bench/research/sim/run full 'rtt_ratio|ns-3|\(aimd\|bitcp\|hstcp\|stcp\)"
                        r"|.*|\(100 Mbit.*200 s\|2500\)'")
    for table, mbps in ("Table 3", 100), ("Table 2", 2500):
        write_kernel(report, table, mbps)
        write_kernel_red(report, mbps)
    write_side_by_side(report)
