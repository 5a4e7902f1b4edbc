# SPDX-License-Identifier: GPL-2.0-only
"""Paper 004: the throughput of parallel connections, Figures 3 to 8, and its predictions."""
import functools

import pandas
import parallel
from common import Report

SOURCES = ("bench/research/sim/parallel.cc", "bench/research/sim/network.cc",
           "bench/research/sim/next_seg.cc")
COMMAND = "bench/research/sim/run short '^parallel'"
BAR = 0.15
QUEUES = {"droptail": "drop-tail", "red": "RED"}

CELL = ["scenario", "queue", "others"]
FIGURES = {"3": ("1", 5), "4": ("2", 5), "5": ("3", 10), "6": ("4", 10), "7": ("5", 10),
           "8": ("6", 5)}  # scenario and others; Figure 4 does not say how many

# How predictions are made: from which numbers of connections, by which polynomial. Doubling takes
# as many of its levels as were simulated, four at least.
METHODS = {
    "1, 8": ([1, 8], parallel.PARTIAL),
    "1, 10": ([1, 10], parallel.PARTIAL),
    "1, 15": ([1, 15], parallel.PARTIAL),
    "doubling": ([1, 2, 4, 8, 16], parallel.BEST),
    "linear: 1, 10": ([1, 10], parallel.LINEAR),
    "full: 1, 8, 15": ([1, 8, 15], parallel.FULL),
    "partial: doubling": ([1, 2, 4, 8, 16], parallel.PARTIAL),
}
JUDGED = list(METHODS)[:4]  # as the paper, by (7), and as tcptunectl streams does
STYLES = {"1, 8": {"color": "#1b7837"}, "1, 10": {"color": "#4575b4", "linestyle": "--"},
          "1, 15": {"color": "#b2182b", "linestyle": "-."},
          "doubling": {"color": "#e08214", "linestyle": ":"}}


@functools.lru_cache(maxsize=None)
def simulated(report: Report, seed: str = "1") -> pandas.DataFrame:
    """Returns a row for each simulation with a seed, by scenario, queue, number of others and of
    parallel connections. Of the durations of a cell it is the one with most of these, or the
    longest."""
    lines = report.lines("parallel").query("seed == @seed")
    parts = lines.conditions.str.extract(r"scenario (?P<scenario>\d); (?P<others>\d+) others; "
                                         r"(?P<queue>\w+); (?P<seconds>\d+) s")
    lines = lines.join(parts).assign(n=lines.x.astype(int))
    lines = lines.astype({"others": int, "seconds": int})
    wide = lines.pivot_table(index=[*CELL, "seconds", "n"], columns="what", values="value")
    count = wide.groupby(level=[*CELL, "seconds"]).size().rename("count").reset_index()
    best = count.sort_values(["count", "seconds"]).drop_duplicates(CELL, keep="last")
    wide = wide.reset_index().merge(best[[*CELL, "seconds"]])
    return wide.set_index([*CELL, "n"]).sort_index()


def cells(report: Report):
    """Returns the cells: scenario, queue and others, and the simulations by their connections."""
    for cell, rows in simulated(report).groupby(level=CELL):
        yield cell, rows.droplevel(CELL)


def fit(rates: pandas.Series, method: str) -> tuple[parallel.Fit, list[int]] | None:
    """Returns a fit to throughputs and the numbers of connections that it is of, or None if one of
    these was not simulated or carried nothing."""
    wanted, model = METHODS[method]
    levels = [n for n in wanted if n in rates.index and rates[n] > 0]
    if len(levels) < min(len(wanted), 4):
        return None
    return parallel.fit({n: rates[n] for n in levels}, model), levels


def errors(rates: pandas.Series, method: str) -> pandas.Series:
    """Returns the relative errors (15) of the numbers of connections that the fit is not of."""
    found = fit(rates, method)
    rest = [n for n in rates.index if found and n > 0 and n not in found[1] and rates[n] > 0]
    return pandas.Series({n: found[0].rate(n) / rates[n] - 1 for n in rest}, dtype=float)


def fair(rates: pandas.Series, others: int) -> pandas.Series:
    """Returns in place of throughputs the fair shares of a full link: (5) in (10)."""
    return pandas.Series({n: n / (n + others) for n in rates.index})


def median(values: pandas.Series) -> str:
    """Returns the median of the absolute values as a figure."""
    return "" if values.empty else f"{values.abs().median():.3f}"


def name_of(cell: tuple) -> str:
    scenario, queue, others = cell
    return f"scenario {scenario}, {others} others, {QUEUES[queue]}"


def add_summary(report: Report) -> None:
    """Adds the table of scenarios: the median of all errors of its cells; and how many keep the
    bar."""
    rows, keep = [], {method: [] for method in JUDGED}
    for scenario in "1234567":
        found = [rows.parallel_mbps for cell, rows in cells(report) if cell[0] == scenario]
        medians, kept, judged = [], 0, 0
        for method in METHODS:
            of_cells = [errors(rates, method) for rates in found]
            of_cells = [values for values in of_cells if not values.empty]
            medians.append(median(pandas.concat(of_cells)) if of_cells else "")
            if method in JUDGED and of_cells:
                judged += len(of_cells)
                kept += sum(values.abs().median() <= BAR for values in of_cells)
                if scenario in "23456":
                    keep[method].append(pandas.concat(of_cells).abs().median() <= BAR)
        rows.append([scenario, str(len(found)), *medians, f"{kept} of {judged}"])
    report.table(["scenario", "cells", *METHODS, f"cells with a median up to {BAR}"], rows)
    report.write(f"Scenarios 2 to 6 with a median up to {BAR}: " + ", ".join(
        f"{sum(kept)} of {len(kept)} by {method}" for method, kept in keep.items()) + ".")


def causes(rows: pandas.DataFrame, others: int, method: str) -> str:
    """Says what the rows of a cell show of the cause of its errors."""
    rates = rows.parallel_mbps
    of_each = rates / rates.index / rates[1]
    probed, last = max(fit(rates, method)[1]), rates.index.max()
    found = []
    if of_each.max() > 1.1:
        found.append(f"each of {of_each.idxmax()} carried {of_each.max():.2f} times what one alone "
                     "did, and by (7) it cannot be more")
    if of_each[probed] > 0.85 and of_each[last] < 0.6 * of_each[probed]:
        found.append(f"each of {probed} carried {of_each[probed]:.2f} of what one alone did, each "
                     f"of {last} {of_each[last]:.2f}: the link fills beyond the levels of the fit")
    if of_each[probed] < 0.95 and of_each[last] > 0.9 * of_each[probed]:
        found.append(f"each of {probed} carried {of_each[probed]:.2f} of what one alone did, each "
                     f"of {last} {of_each[last]:.2f}: the fall does not go on as it does by (7)")
    shares = errors(fair(rates, others), method)
    if rows.utilisation[last] > 0.8 and shares.abs().median() > BAR / 2:
        found.append(f"fair shares by (5) have {median(shares)}")
    if (rates == rates[last]).sum() > 1:
        found.append(f"connections beyond {rates.index[rates == rates[last]].min()} carried "
                     "nothing")
    if rates.max() > 1.05 * rates[last]:
        found.append(f"{rates.idxmax()} carried {rates.max() / rates[last]:.2f} times as much as "
                     f"{last}, and by (7) more never carry less")
    if "given_up" in rows and rows.given_up.max() > 0:
        found.append(f"ns-3 gave up {rows.given_up.max():.0f} connections at most")
    return "; ".join(found) or "nothing in the rows explains it"


def add_misses(report: Report) -> None:
    """Adds a line for each cell in which a prediction misses the bar, or for several that
    differ in the number of others alone."""
    lines = {}
    for (scenario, queue, others), rows in cells(report):
        rows = rows[rows.index > 0]
        missed = {method: values for method in JUDGED
                  if (values := errors(rows.parallel_mbps, method)).abs().median() > BAR}
        if missed:
            figures = ", ".join(f"{method}: {median(values)} ({values.min():+.2f} to "
                                f"{values.max():+.2f})" for method, values in missed.items())
            text = f"{figures}: {causes(rows, others, list(missed)[0])}."
            lines.setdefault((scenario, queue, text), []).append(str(others))
    if lines:
        report.write(f"Cells in which the median exceeds {BAR}, with the range of the errors, and "
                     "what their rows show of the cause:")
        report.write("\n".join(f"- {name_of((scenario, queue, ', '.join(others)))}: {text}"
                               for (scenario, queue, text), others in lines.items()))


def add_cells(report: Report) -> None:
    """Adds the table of all cells: throughputs, and the median errors."""
    table = []
    for cell, rows in cells(report):
        def figures(what: str) -> list[str]:
            return ["" if n not in rows.index else f"{rows[what][n]:.3g}" for n in (1, 8, 30)]

        scenario, queue, others = cell
        table.append([f"{scenario}, {others}, {QUEUES[queue]}", f"{rows.seconds.iloc[0]}",
                      *figures("parallel_mbps"), *(figures("cross_mbps") if others else [""] * 3),
                      "" if 30 not in rows.index else f"{rows.utilisation[30]:.3f}",
                      *(median(errors(rows.parallel_mbps, method)) for method in JUDGED)])
    report.table(["scenario, others, queue", "s", "Mbit/s of 1", "of 8", "of 30",
                  "of the others next to 1", "next to 8", "next to 30", "link in use with 30",
                  *(f"error, {method}" for method in JUDGED)], table)


def add_picture(report: Report) -> None:
    """Adds Figures 3 to 8, with what is predicted."""
    with report.picture("parallel_throughput.png", "Parallel connections and others (paper 004, "
                        "Figures 3 to 8)", "Figures 3 to 8", (1100, 700), nrows=2,
                        ncols=3) as (_, axes):
        for panel, (name, (scenario, others)) in zip(axes.flat, FIGURES.items()):
            cell = (scenario, "droptail", others)
            panel.set(title=f"Figure {name}: scenario {scenario}, {others} others", xlim=(0, 31),
                      xlabel="parallel connections", ylabel="Mbit/s")
            rows = simulated(report).loc[cell]
            rows = rows[rows.index > 0]
            panel.plot(rows.index, rows.cross_mbps, "s", color="#999999", label="the others")
            panel.plot(rows.index, rows.parallel_mbps, "o", color="black", label="parallel")
            for method in JUDGED:
                if found := fit(rows.parallel_mbps, method):
                    panel.plot(range(1, 32), [found[0].rate(n) for n in range(1, 32)],
                               label=f"predicted: {method}", **STYLES[method])
            panel.set_ylim(0, None)
        drawn = next(panel for panel in axes.flat if panel.lines)
        drawn.legend(fontsize="small")


def unique_in_order(texts: list[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def add_claims(report: Report) -> None:
    """Adds the table of what the paper's text says of its simulations and models."""
    paper = functools.partial(report.paper_value, "004")
    rows = []

    def cell(scenario: str, others: int, queue: str = "droptail") -> list[pandas.DataFrame]:
        """Of each seed with which there is all that a text needs."""
        needed = {(scenario, queue, others, n)
                  for n in ((1, 10, 30) if scenario in "56" else (1, 30))}
        return [simulated(report, seed).loc[(scenario, queue, others)]
                for seed in sorted(report.lines("parallel").seed.unique())
                if needed <= set(simulated(report, seed).index)]

    def add(figure: str, what: str, said: str, found: list[pandas.DataFrame], text) -> None:
        """With several seeds the least and the largest, as the number that a text begins with."""
        texts = sorted(map(text, found), key=lambda ours: float(ours.split()[0]))
        rows.append([figure, what, said, " to ".join(unique_in_order([*texts[:1], *texts[-1:]])) or
                     "not simulated"])

    def gain(found: pandas.DataFrame) -> str:
        return f"{found.parallel_mbps[30] / found.parallel_mbps[1]:.2f}"

    def total(found: pandas.DataFrame) -> str:
        both = found.parallel_mbps + found.cross_mbps
        return f"{both[30] / both[1]:.2f}"

    def share_of_total(found: pandas.DataFrame) -> str:
        both = found.parallel_mbps + found.cross_mbps
        gained = found.parallel_mbps[30] - found.parallel_mbps[1]
        return f"{100 * (both[30] - both[1]) / gained:.0f} %"

    def lost(found: pandas.DataFrame) -> str:
        return (f"{100 * (1 - found.cross_mbps[30] / found.cross_mbps[1]):.0f} %"
                f"{tail(1 - found.cross_mbps[10] / found.cross_mbps[1])}")

    def tail(impact: float) -> str:
        return f" ({100 * impact:.0f} % next to 10)"

    for name, scenario in (("3", "1"), ("4", "2"), ("5", "3")):
        add(f"Figure {name}", f"scenario {scenario} without others: 30 over 1",
            paper(f"Figure {name}", "gain without others"), cell(scenario, 0), gain)
    add("Figure 3", "scenario 1, 5 others: of what 30 gained over 1, not taken from them",
        "little", cell("1", 5), share_of_total)
    add("Section III.A", "scenario 1, 15 others: 30 over 1, drop-tail", "starved", cell("1", 15),
        gain)
    add("Section III.A", "the same with RED", "not starved", cell("1", 15, "red"), gain)
    add("Figure 4", "scenario 2, 5 others: total next to 30 over that next to 1",
        paper("Figure 4", "total with more connections"), cell("2", 5), total)
    add("Figure 6", "scenario 4, 10 others: of what 30 gained over 1, not taken from them",
        paper("Figure 6", "gain with others"), cell("4", 10), share_of_total)
    add("Figure 7", "scenario 5, 10 others: what they lose to 30 instead of 1",
        paper("Figure 7", "others lose"), cell("5", 10), lost)
    add("Figure 8", "scenario 6, 5 others: what they lose to 30 instead of 1",
        paper("Figure 8", "others lose"), cell("6", 5), lost)

    every = {method: pandas.concat([errors(found.parallel_mbps, method)
                                    for name, found in cells(report) if name[0] != "7"])
             for method in METHODS}
    rows += [
        ["Section IV.A", "median error in all cells: (7), (6), (8)", "(7) and (6) below (8)",
         ", ".join(median(every[method]) for method in ("1, 10", "full: 1, 8, 15",
                                                        "linear: 1, 10"))],
        ["Figure 11", "(1, 8), (1, 10), (1, 15): mean error in all cells", "similar",
         ", ".join(f"{every[method].mean():+.3f}" for method in JUDGED[:3])],
        ["Figure 12", "(1, 10): correlation of the mean error and the number of connections",
         paper("Figure 12", "correlation of the mean relative error and the connections"),
         f"{correlation(every['1, 10']):.2f}"],
    ]
    report.table(["where", "what", "paper", "ours"], rows)


def correlation(values: pandas.Series) -> float:
    """Returns the correlation of the mean errors of numbers of connections with these numbers."""
    means = values.groupby(level=0).mean()
    return means.corr(pandas.Series(means.index, means.index))


def missing(report: Report) -> list[str]:
    """Returns of how many simulations of the short profile there are none, by scenario."""
    cells_of = {scenario: [("droptail", others) for others in (0, 5, 15, 30)] + [("red", 15)]
                for scenario in "123456"}
    for scenario in "345":
        cells_of[scenario].append(("droptail", 10))
    cells_of["7"] = [("red", 14)]
    points = [(scenario, *cell, n) for scenario, wanted in cells_of.items() for cell in wanted
              for n in (0, 1, 2, 4, 8, 10, 15, 20, 30)]
    found = simulated(report)[simulated(report).seconds == 100].index
    absent = pandas.Series([point[0] for point in points if point not in found],
                           dtype=object).value_counts()
    one_seed = [scenario for scenario, others in (("1", 15), ("4", 10), ("5", 10), ("6", 5))
                for seed in "23" if (scenario, "droptail", others, 30) not in
                simulated(report, seed).index]
    return [f"scenario {scenario}: {absent[scenario]} of {9 * len(cells_of[scenario])} simulations "
            "of 100 s" for scenario in sorted(absent.index)] + [
                f"two more seeds of scenario {scenario}" for scenario in sorted(set(one_seed))]


def add_kernel(report: Report) -> None:
    """Adds the table of the same scenarios by the kernel: the median errors of predictions."""
    runs = report.rows("paper_streams").query("valid")
    parts = runs.x.str.extract(r"scenario (?P<scenario>\d), (?P<control>\w+),")
    runs = runs.join(parts).assign(n=runs.column.str.split().str[-1].astype(int))
    found = []
    for (scenario, control, _), of_cell in runs.groupby(["scenario", "control", "x"]):
        rates = of_cell.groupby("n").goodput_bps.median()
        found += [(scenario, which, method, errors(rates, method))
                  for which in (control, "both") for method in JUDGED]
    frame = pandas.DataFrame(found, columns=["scenario", "control", "method", "errors"])
    rows = [[scenario, control, *(median(pandas.concat(list(part.errors[part.method == method])))
                                  for method in JUDGED)]
            for (scenario, control), part in frame.groupby(["scenario", "control"])]
    report.write("""\
The same scenarios by the kernel over linkem, single packets, next to 0, 5 and 15 others with the
same congestion control: the median error of all numbers that nothing was fitted to. These are the
first 20 s of the connections, so that slow start is a large part of them.""")
    report.table(["scenario", "congestion control", *JUDGED], rows)
    report.write(report.row_conditions("paper_streams"))


def write(report: Report) -> None:
    report.write("## Paper 004 (parallel connections): throughput, Figures 2 to 8")
    report.write("""\
n Reno connections that begin together and m others share a bottleneck with a queue of 25 packets,
in the six scenarios of Figure 2: 1.5 Mbit/s and an RTT of 58 ms (1), 100 Mbit/s and 58 ms (2) and
118 ms (3), 1 Gbit/s and 118 ms (4), and the latter and scenario 2 with socket buffers of 60 KB (5,
6). Scenario 7 is Figure 15. The comment at the top of `bench/research/sim/parallel.cc` describes
them. Throughput counts from the 10th second on, when the parallel connections begin. libtcptuned
fits (7) to n = 1 and one other level, as the paper does, or, as `tcptunectl streams` does, (6), with
the term that (7) leaves out, to 1, 2, 4, 8 (and 16, where it was simulated) by least squares. For
comparison (8), which is linear, (6) of three levels, and (7) of those of doubling. Errors are those
of (15) at all n to which nothing was fitted. The median of their absolute values:""")
    add_summary(report)
    report.write(f"""\
The bar of {BAR} is ours, and is meant for scenarios 2 to 6; the paper has no figures of its
simulations. If others and ours share a full link fairly, the throughput is in proportion to
n / (n + m) by (5) and (10), and (7) lacks the term 2 m n of it: beyond the levels that it was
fitted to it then predicts too little, the more so the more others there are.""")
    add_misses(report)
    add_picture(report)
    add_cells(report)
    report.write("""\
What the paper's text says of its plots and models, and ours: where several seeds were simulated,
the least and the largest. Errors are those of scenarios 1 to 6:""")
    add_claims(report)
    report.write("""\
In scenario 1 with drop-tail the link is always full, so that of connections that begin together
only those get through whose SYN finds a place in the queue. The retransmissions of the others
arrive together, too, and are lost again: each further connection adds five drops, and no
throughput.""")
    add_kernel(report)
    report.not_measured(missing(report), COMMAND)
    report.write("""\
The paper does not name its version of ns-2. That began with a window of one or two segments where
ours is 10, recovered as Reno does where ours is proportional (PRR), and its minrto_ was 1 s until
October 2004 and 0.2 s since. Throughputs, and when connections starve, hang on these.""")
    report.write(report.conditions(report.lines("parallel").assign(
        conditions="Reno without SACK, an ACK for each packet"), SOURCES))
