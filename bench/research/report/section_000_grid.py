# SPDX-License-Identifier: GPL-2.0-only
"""Paper 000: the grid of Figures 2 to 10, and the laws of section 4.3.

A cell of the grid is named by its buffers, round-trip time and number of connections: "default,
0.5 ms, 1". It has a column for each tuning.
"""
import numpy
import pandas

from common import SHIPPED, TUNING, Report, number

BUFFERS = ["default", "kernel only", "user and kernel"]
RTTS = [0.5, 25, 50, 100]
STREAMS = [1, 2, 4, 8]
DRS = "tcptuned, cubic"  # stands for the paper's DRS
OWN = [DRS, "tcptuned"]
LINK = 1000 * 1448 / 1500  # payload of 1 Gbit/s, Mbit/s

TUNINGS = {
    "none": {"color": "#b2182b", "marker": "^"},
    "kernel": {"color": "#e08214", "marker": "D"},
    "by hand": {"color": "#4575b4", "marker": "s"},
    DRS: {"color": "#7fbf7b", "marker": "o", "markerfacecolor": "none"},
    "tcptuned": {"color": "#1b7837", "marker": "o"},
}

# The laws of section 4.3: our column, the paper's tuning and its name there.
LAWS = [("none", "none", "2.2.20-None"), ("kernel", "kernel", "2.4.17-Auto"),
        (DRS, "drs", "2.4.17-DRS"), ("tcptuned", "drs", "2.4.17-DRS")]

FIGURES = {"default, 0.5 ms": "Figure 2", "kernel only, 0.5 ms": "Figure 3",
           "user and kernel, 0.5 ms": "Figure 4", "default, 25 ms": "Figure 6",
           "kernel only, 25 ms": "Figure 7", "user and kernel, 25 ms": "Figure 8",
           "kernel only, 100 ms": "Figure 9", "user and kernel, 100 ms": "Figure 10"}

# What the paper's text says: where, what, the key of its figure in 000.csv, and what of ours it is
# about: a cell and column, or one less another ("-"), over another ("/"), or over it in per cent
# above 1 ("%"); for each of the values of {}.
STATEMENTS = [
    ("Figure 2", "default, 0.5 ms, 1 connection: kernel minus none, Mbit/s",
     ("kernel - none", "Mbit/s"),
     ("default, 0.5 ms, 1", "kernel"), "-", ("default, 0.5 ms, 1", "none"), [""]),
    ("Figure 2", "the same: DRS minus kernel, Mbit/s", ("drs - kernel", "Mbit/s"),
     ("default, 0.5 ms, 1", DRS), "-", ("default, 0.5 ms, 1", "kernel"), [""]),
    ("Figure 2", "default, 0.5 ms, {}: gain of 8 connections over 1, %", ("streams", "gain %"),
     ("default, 0.5 ms, 8", "{}"), "%", ("default, 0.5 ms, 1", "{}"), ["none", "kernel", DRS]),
    ("Figure 3", "0.5 ms, 1 connection, kernel: larger maxima minus default, Mbit/s",
     ("kernel only - default", "Mbit/s"),
     ("kernel only, 0.5 ms, 1", "kernel"), "-", ("default, 0.5 ms, 1", "kernel"), [""]),
    ("Figure 3", "0.5 ms, connections: {}; DRS, larger maxima over default",
     ("drs kernel only / default", "{}"),
     ("kernel only, 0.5 ms, {}", DRS), "/", ("default, 0.5 ms, {}", DRS), STREAMS),
    ("Figure 4", "user and kernel, 0.5 ms, connections: {}; DRS over Linux 2.4",
     ("drs / kernel", "ratio"),
     ("user and kernel, 0.5 ms, {}", DRS), "/", ("user and kernel, 0.5 ms, {}", "by hand"),
     STREAMS),
    ("Figure 6", "default, 25 ms, 1 connection, {}, Mbit/s", ("all", "Mbit/s"),
     ("default, 25 ms, 1", "{}"), "", ("default, 25 ms, 1", "{}"), ["none", "kernel", DRS]),
    ("Figure 6", "default, 25 ms, {}: 8 connections over 1 (linear: 8)", ("all", "8 / 1"),
     ("default, 25 ms, 8", "{}"), "/", ("default, 25 ms, 1", "{}"), ["none", "kernel", DRS]),
    ("Figure 6", "default, 25 ms, connections: {}; DRS over kernel", ("drs / kernel", "ratio"),
     ("default, 25 ms, {}", DRS), "/", ("default, 25 ms, {}", "kernel"), STREAMS),
    ("Figure 7", "25 ms, 1 connection, kernel: larger maxima over default",
     ("kernel only / default", "kernel"),
     ("kernel only, 25 ms, 1", "kernel"), "/", ("default, 25 ms, 1", "kernel"), [""]),
    ("Figure 7", f"25 ms, 1 connection, {DRS}: larger maxima over default",
     ("kernel only / default", "drs"),
     ("kernel only, 25 ms, 1", DRS), "/", ("default, 25 ms, 1", DRS), [""]),
    ("Figure 7", "kernel only, 25 ms, DRS: 8 connections over 1", ("drs", "8 / 1"),
     ("kernel only, 25 ms, 8", DRS), "/", ("kernel only, 25 ms, 1", DRS), [""]),
    ("Figure 8", "user and kernel, 25 ms, DRS: {} connections over 1", ("drs", "{} / 1"),
     ("user and kernel, 25 ms, {}", DRS), "/", ("user and kernel, 25 ms, 1", DRS), [2, 4]),
    ("Figure 8", "user and kernel, 25 ms: DRS minus Linux 2.4, Mbit/s (the paper does not say for "
     "how many connections; here {})", ("drs - kernel", "Mbit/s"),
     ("user and kernel, 25 ms, {}", DRS), "-", ("user and kernel, 25 ms, {}", "by hand"), STREAMS),
    ("section 4.3", "kernel only, 50 ms, 8 connections, DRS, Mbit/s",
     ("drs", "kernel only 50 ms 8"),
     ("kernel only, 50 ms, 8", DRS), "", ("kernel only, 50 ms, 8", DRS), [""]),
    ("Figure 9", "kernel only, 100 ms, 8 connections, DRS, Mbit/s", ("drs", "kernel only 100 ms 8"),
     ("kernel only, 100 ms, 8", DRS), "", ("kernel only, 100 ms, 8", DRS), [""]),
    ("Figure 9", "kernel only, 100 ms, 1 connection: DRS over kernel", ("drs / kernel", "ratio"),
     ("kernel only, 100 ms, 1", DRS), "/", ("kernel only, 100 ms, 1", "kernel"), [""]),
    ("Figure 10", "user and kernel, 100 ms, connections: {}; DRS over Linux 2.4",
     ("drs / kernel", "ratio"),
     ("user and kernel, 100 ms, {}", DRS), "/", ("user and kernel, 100 ms, {}", "by hand"), [1, 8]),
]


def parse(x: str) -> tuple[str, float, int]:
    buffers, rtt, streams = x.split(", ")
    return buffers, float(rtt.removesuffix(" ms")), int(streams)


def order_of(x: str) -> tuple[int, float, int]:
    buffers, rtt, streams = parse(x)
    return BUFFERS.index(buffers), rtt, streams


def figure_of(x: str) -> str:
    return FIGURES.get(x.rpartition(", ")[0], "no figure there")


def compare(cells: pandas.DataFrame) -> pandas.DataFrame:
    """Returns for each cell and column of tcptuned the best other column, its share of that, and
    how it stands."""
    others = [tuning for tuning in TUNINGS if tuning not in OWN]
    medians = cells["median"].unstack().reindex(columns=others)
    compared = medians[medians["by hand"].notna()]  # none alone is not the best of anything
    best_of = compared.idxmax(axis=1).reindex(medians.index)
    found = []
    for (x, column), own in cells.iterrows():
        if column not in OWN or pandas.isna(best_of[x]):
            continue
        best = cells.loc[x, best_of[x]]
        standing = "below"
        if own["median"] >= 0.97 * best["median"]:
            standing = "met"
        elif (min(own.runs, best.runs) >= 3 and own.lowest <= best.highest
              and best.lowest <= own.highest):
            standing = "within the spread"
        found.append([x, column, best_of[x], own["median"] / best["median"], standing])
    return pandas.DataFrame(found, columns=["x", "column", "best", "share", "standing"])


# --- the picture ---


def draw_panel(report: Report, axes, cells: pandas.DataFrame, buffers: str, rtt: float) -> None:
    """Draws the points of the tunings, and what the paper's text says about the same. Each tuning
    is slightly to the right of the one before, which it would hide otherwise."""
    panel = f"{buffers}, {rtt:g} ms"
    for place, (tuning, look) in enumerate(TUNINGS.items()):
        points = cells.reindex([(f"{panel}, {streams}", tuning) for streams in STREAMS])
        points.index = STREAMS * numpy.exp2([0.07 * (place - 2)])
        axes.plot(points["median"], label=tuning, **look)  # no line over a missing number
        points = points.dropna()
        axes.vlines(points.index, points.lowest, points.highest, lw=1, color=look["color"])
    for law, line in ("none", "--"), ("kernel", ":"), ("drs", "-."):
        said = pandas.Series(dtype=float)
        if buffers == "default" and rtt >= 25:
            k = float(report.paper_value("000", "law", law, "k"))
            said = pandas.Series({streams: k * streams / rtt for streams in STREAMS})
        elif buffers == "kernel only" and law == "drs":
            paper = report.paper("000").set_index("x").query("tuning == 'drs'").value
            said = paper[paper.index.str.startswith(f"{buffers} {rtt:g} ms ")].astype(float)
            said.index = said.index.str.split().str[-1].astype(int)
        axes.plot(said.index, said, line, color="black", marker="x" if law == "drs" else "",
                  label=f"paper: {law.replace('drs', 'DRS')}")
    lowest = cells.lowest[cells.index.get_level_values("x").str.startswith(panel)].min()
    axes.set_ylim(bottom=50 * int(lowest / 50 - 0.5) if rtt < 1 and lowest > 500 else 0)
    axes.set_xscale("log", base=2)
    axes.set_xticks(STREAMS, STREAMS)
    axes.set(title=f"{panel} ({figure_of(f'{panel}, 1')})", xlabel="connections",
             ylabel="goodput, Mbit/s")


def draw(report: Report, cells: pandas.DataFrame) -> None:
    rtts = sorted({parse(x)[1] for x, _ in cells.index})
    title = ("128 messages of 1 MB over 1 Gbit/s: Mbit/s against connections; rows: buffers, "
             "columns: round-trip time")
    with report.picture("grid.png", title, "The grid", size=(370 * len(rtts), 1080), nrows=3,
                        ncols=len(rtts), squeeze=False) as (_, axes):
        for row, buffers in zip(axes, BUFFERS):
            for panel, rtt in zip(row, rtts):
                draw_panel(report, panel, cells, buffers, rtt)
        axes[2, 0].legend(loc="lower center", fontsize="small")


# --- the table ---


def figure(x: float) -> str:
    return f"{x:.0f}" if x >= 100 else number(round(x, 1))


def write_table(report: Report, cells: pandas.DataFrame, compared: pandas.DataFrame) -> None:
    def goodput(x: str, tuning: str) -> str:
        if (x, tuning) not in cells.index:
            return ""
        median, lowest, highest, runs = cells.loc[x, tuning]
        if runs == 0:
            return "no result"
        spread = f"{figure(lowest)}-{figure(highest)}, " if runs > 1 else ""
        return f"{figure(median)} ({spread}{runs:.0f})"

    def share(x: str, column: str) -> str:
        found = compared[(compared.x == x) & (compared.column == column)]
        return "".join(f"**{number(share)}**" if standing == "below" else number(share)
                       for share, standing in zip(found.share.round(2), found.standing))

    rows = [[x, figure_of(x), *(goodput(x, tuning) for tuning in TUNINGS),
             *(share(x, column) for column in OWN)]
            for x in cells.index.unique("x")]
    report.table(["buffers, RTT, connections", "paper's figure", *TUNINGS,
                  *(f"{column} / best other" for column in OWN)], rows)


# --- what is not met ---


def limited_share(run: pandas.Series, limit: str) -> float:
    """Returns the part of a run for which its sender was limited by the receive window or the send
    buffer ("rwnd", "sndbuf")."""
    return (numpy.nan_to_num(run[f"sender.{limit}_limited_s"])
            / numpy.nanmax([run["sender.busy_s"], run.elapsed_s]))


def slow_start_exit(run: pandas.Series) -> float:
    """Returns the window in segments at which slow start ended without a loss, which HyStart does
    by the delay; NaN if it did not."""
    ssthresh = run["sender.ssthresh"]
    return numpy.nan if run.retransmits or ssthresh == 2**31 - 1 else ssthresh


def emulator_late(runs: pandas.DataFrame, cell: pandas.DataFrame) -> str:
    """Says that the emulator was late in the slowest of the runs, and how the other runs of the
    cell fared in which it was as late; nothing if it was not, or in the best run as well. 500 us
    is what it may be late by default."""
    late = runs["link.late_p99_us"].fillna(0)
    if late.iloc[0] <= 500 or len(runs) > 1 and late.iloc[0] <= 2 * late.iloc[-1]:
        return ""
    text = "in the one run the emulator was {:g} ms late (p99)"
    if len(runs) > 1:
        text = "in the slowest run the emulator was {:g} ms late (p99), in the best {:g} ms"
    text = text.format(*(late.iloc[[0, -1]] / 1000).round(2)) + ", which may be the reason"
    others = cell[cell["link.late_p99_us"] >= late.iloc[0]].drop(runs.index[0])
    if others.empty:
        return text
    return (f"{text}; of {len(others)} other run{'s' if len(others) > 1 else ''} of this cell, of "
            f"all columns, in which it was as late, {(others.mbps > runs.mbps.iloc[0]).sum()} "
            "carried more")


def reasons(runs: pandas.DataFrame, best: pandas.DataFrame, cell: pandas.DataFrame):
    """Yields what the runs of a column show about why it is behind the best one. What the best
    column's runs did as well explains nothing, nor does a window within a tenth of theirs."""
    slow, best_column = runs.iloc[0], best.column.iloc[0]
    lost, best_lost = runs.retransmits.sum(), best.retransmits.sum()
    if lost > best_lost:
        yield f"{lost:.0f} segments were retransmitted ({best_column}: {best_lost:.0f})"
    yield emulator_late(runs, cell)
    for limit, name in ("rwnd", "the receive window"), ("sndbuf", "the send buffer"):
        share, others = limited_share(slow, limit), limited_share(best.iloc[-1], limit)
        if share > others + 0.05:
            yield (f"{name} was the limit for {share:.0%} of the slowest run ({best_column}: "
                   f"{others:.0%})").replace("%", " %")
    window, others = slow_start_exit(slow), best.apply(slow_start_exit, axis=1).min()
    if slow.column == DRS and window > 0 and not others <= 1.1 * window:
        yield (f"in the slowest run cubic left slow start at {window:.0f} segments without a loss, "
               f"as HyStart does when the delay rises ({best_column}: "
               f"{'in no run' if pandas.isna(others) else f'at {others:.0f} or more'})")
        streams = parse(slow.x)[2]
        if streams > 1:
            yield (f"that is of one of {streams} connections, and what the others did is not in "
                   "the rows")


def write_explanations(report: Report, runs: pandas.DataFrame, compared: pandas.DataFrame) -> None:
    """Writes a line for each comparison that is not met."""
    lines = []
    for x, column, best_column, share, standing in compared.itertuples(index=False):
        if standing == "met":
            continue
        cell = runs[(runs.x == x) & runs.mbps.notna()].sort_values("mbps")
        own, best = cell[cell.column == column], cell[cell.column == best_column]
        why = "; ".join(filter(None, reasons(own, best, cell)))
        why = why or "nothing in the rows explains it"
        lines.append(f"- {x}, {column}: **{standing}**, {100 * share:.0f} % of {best_column}. "
                     f"Runs: {', '.join(map('{:.0f}'.format, own.mbps))} Mbit/s against "
                     f"{', '.join(map('{:.0f}'.format, best.mbps))}. {why[0].upper()}{why[1:]}.")
    report.write("\n".join(lines))


def write_missing(report: Report, cells: pandas.DataFrame) -> None:
    rtts, streams = ({parse(x)[part] for x, _ in cells.index} for part in (1, 2))
    what = [name.format(", ".join(map("{:g}".format, missing))) for name, missing in (
        ("round-trip times of {} ms", [rtt for rtt in RTTS if rtt not in rtts]),
        ("connections: {}", [count for count in STREAMS if count not in streams])) if missing]
    report.not_measured([", and ".join(what)] if what else [], "BENCH_GRID=full bench/run grid")
    # Some cells do not exist: there is nothing to tune without the kernel's or the user's buffers.
    without = {"kernel only": ["none"], "user and kernel": ["none", "kernel"]}
    absent = [f"{buffers}, {rtt:g} ms, {count}, {tuning}"
              for rtt in sorted(rtts) for count in sorted(streams)
              for buffers in BUFFERS for tuning in TUNINGS
              if tuning not in without.get(buffers, [])
              and (f"{buffers}, {rtt:g} ms, {count}", tuning) not in cells.index]
    if absent:
        report.write(f"Without a valid run: {'; '.join(absent)}.")


# --- what the paper's text says ---


def combine(how: str, a: float, b: float) -> float:
    return {"": a, "-": a - b, "/": a / b, "%": 100 * (a / b - 1)}[how]


def range_of(paper: str) -> tuple[float, float]:
    """Returns the limits of "30-50", "7", "at least 100", "above 1" or "below 20"."""
    end = float(paper.split()[-1].split("-")[-1])
    if paper.startswith("below"):
        return -numpy.inf, end
    if paper.startswith(("above", "at least")):
        return end, numpy.inf
    return float(paper.split("-")[0]), end


def judge(paper: str, how: str, one: pandas.Series, other: pandas.Series) -> list[str]:
    """Returns our figure for a statement of the paper, with what the lowest and the highest of the
    runs make of it, and its ratio to the paper. If those are as far apart as the difference that
    the paper states, or on both sides of its bound, our figure is no answer."""
    ours = combine(how, one["median"], other["median"])
    lowest = combine(how, one.lowest, other.highest)
    highest = combine(how, one.highest, other.lowest)
    low, high = range_of(paper)
    bound = high if low == -numpy.inf else low
    is_side = paper.startswith(("above", "below"))
    text, *ends = (f"{x:.3f}" if how == "/" and x < 9.5 else f"{x:.3g}"
                   for x in (ours, lowest, highest))
    if ends[0] != ends[1]:
        text += f" ({' to '.join(ends)})"
    if how == "/" and paper in ("above 1", "below 1") and 0.97 < ours < 1 / 0.97:
        return [text, "no difference"]
    if how == "-" and highest - lowest > bound or is_side and lowest < bound < highest:
        return [text, "the runs differ by more"]
    if low <= ours <= high:
        return [text, "1"]
    return [text, f"{ours / (high if ours > high else low):.2f}"]


def write_statements(report: Report, cells: pandas.DataFrame) -> None:
    """Writes those statements of whose cells there are runs."""
    rows = []
    for where, what, key, one, how, other, values in STATEMENTS:
        for value in values:
            key_of_value, one_of_value, other_of_value = (
                tuple(part.format(value) for part in parts) for parts in (key, one, other))
            if one_of_value in cells.index and other_of_value in cells.index:
                paper = report.paper_value("000", where, *key_of_value)
                rows.append([where, what.format(value), paper, *judge(
                    paper, how, cells.loc[one_of_value], cells.loc[other_of_value])])
    report.table(["where", "what", "paper", "ours", "ratio"], rows)


def filled_by_one(cells: pandas.DataFrame) -> str:
    """Says which tunings fill the link with one connection at 0.5 ms."""
    one = cells["median"][cells.index.get_level_values("x") == "default, 0.5 ms, 1"].droplevel("x")
    slow = one[one < 0.97 * LINK]
    listed = ", ".join(f"{column} ({mbps:.0f})" for column, mbps in slow.items())
    if len(slow) == len(one):
        return f"one connection at 0.5 ms gets less than 97 % with all of them: {listed}"
    return (f"one connection at 0.5 ms gets 97 % or more{' in all columns but ' if listed else ''}"
            f"{listed}, which leaves almost nothing to gain from more of them")


# --- the laws ---


def write_laws(report: Report, cells: pandas.DataFrame) -> None:
    """Fits k by least squares of the relative error, which is what the paper states:
    sum (1 - k x / y)^2."""
    rows, our_window = [], ""
    for tuning, law, name in LAWS:
        relative = numpy.array([streams / rtt / cells["median"][x, column]
                                for x, column in cells.index if column == tuning
                                for buffers, rtt, streams in [parse(x)]
                                if buffers == "default" and rtt >= 25])
        k = relative.sum() / (relative**2).sum()
        paper = report.paper_value("000", "law", law, "k")
        rows.append([tuning, name, paper, f"{k:.0f}", f"{round(k) / float(paper):.2f}",
                     f"{100 * abs(k * relative - 1).max():.0f}", str(len(relative))])
        if tuning == "none":
            our_window = f"{k / 8:.0f}"
    report.write(f"""
### The laws of section 4.3: processes x k / delay

In Mbit/s, with the delay in ms, for 25 ms and more. The paper's laws hold within
{report.paper_value("000", "law", "all", "error %")} %; ours are least squares of the relative error
over the cells of the row "default" above.""")
    report.table(["tuning", "the paper's", "its k", "our k", "ratio", "largest error of ours, %",
                  "cells"], rows)
    report.write(f"""
Conditions: those of the grid.

Such a law says that a fixed window of k / 8 KB limits each connection: {our_window} KB for our
none, which today's kernel offers for a buffer of 128 KB, and
{float(report.paper_value("000", "law", "none", "k")) / 8:.0f} KB for the paper's, of the 32 KB that
Linux 2.2 offered for 64. It does not describe connections whose window follows the path and whose
limit is the rate of the link, as their errors show.""")


def write_differences(report: Report, cells: pandas.DataFrame, runs: pandas.DataFrame) -> None:
    by_hand = runs[(runs.x == "user and kernel, 100 ms, 1") & (runs.column == "by hand")
                   & runs.mbps.notna()]
    start = (f"And at 100 ms the link alone takes {8 * 2**27 / (LINK * 1e6):.2f} s for 128 MB, "
             f"of the {by_hand.elapsed_s.median():.2f} s that one connection with buffers by "
             "hand takes; the rest is slow start.")
    report.write(f"""
Our results differ where the kernel of 2001 had a limit that today's does not have. Its autotuning
could not offer more than 64 KB because it had no window scaling (section 4.2); today's can, and the
sender's buffer of 4 MB limits it until the maxima are raised. Its network card ended at
{report.paper_value("000", "section 4.1", "nic", "Mbit/s")} Mbit/s, and its stack and processors
below that, so that more connections helped; of the {int(LINK)} Mbit/s of payload that our link has,
{filled_by_one(cells)}. {start}""")


def write(report: Report) -> None:
    runs = report.rows("grid")
    runs = runs.assign(mbps=runs.goodput_bps / 1e6)
    all_cells = runs.groupby(["x", "column"]).mbps.agg(["median", "min", "max", "count"])
    all_cells.columns = ["median", "lowest", "highest", "runs"]
    all_cells = all_cells.reindex(sorted(all_cells.index, key=lambda cell: order_of(cell[0])))
    cells = all_cells[all_cells.runs > 0]
    compared = compare(cells)
    report.write("""
## Paper 000 (automatic tuning compared): the grid, Figures 2 to 10

128 messages of 1 MB in all, from the first byte sent to the last byte read, over 1 Gbit/s without
loss. *none*, *kernel* and *tcptuned* correspond to the paper's Linux 2.2 without autotuning, 2.4
with its own, and 2.4 with DRS; *by hand* is cubic with ideal buffer sizes, set as far as the row
allows. All of them use cubic except *tcptuned*, which is as shipped, with bitcp. The comment at the
top of `bench/bench_grid.sh` describes each in detail. In the picture the points of one number of
connections are side by side, with bars from the minimum to the maximum; the panels of 0.5 ms do not
begin at 0, and "paper" is what the paper's laws (below) and its text state.""")
    draw(report, cells)
    report.write("Goodput in Mbit/s: median, and in parentheses minimum, maximum and number of "
                 "runs; and the share of the best of none, kernel and by hand:")
    write_table(report, all_cells, compared)

    standing = compared.groupby("column").standing.value_counts().unstack().reindex(
        index=OWN, columns=["met", "within the spread", "below"]).fillna(0).astype(int)
    total = standing.sum(axis=1)
    report.write(f"{compared.x.nunique()} of the paper's 48 cells were measured. By medians, "
                 "tcptuned reaches 97 % of the best other column in "
                 f"{standing.met['tcptuned']} of {total['tcptuned']} as shipped, and in "
                 f"{standing.met[DRS]} of {total[DRS]} with cubic. Of the rest, "
                 f"{standing['within the spread'].sum()} are within the spread (the ranges of at "
                 f"least three runs of each overlap), and {standing.below.sum()} below.")
    write_explanations(report, runs, compared)
    write_missing(report, cells)
    report.write("""
The paper gives its figures as plots only. This table compares the statements of its text with our
medians; in parentheses is what the minimum and the maximum of the runs make of them. Ratio 1 means
within the paper's range; *no difference*: less than 3 % where the paper has a difference; *the runs
differ by more*: than the difference that the paper states, or to both sides of its bound. DRS is
tcptuned with cubic; Linux 2.4 where the user sets buffers is *by hand*. For "as the number of
processes increases" we take 4 and 8.""")
    write_statements(report, cells)
    report.write(report.row_conditions("grid", SHIPPED + TUNING) +
                 " Without tuning, slow connections sent fewer messages, since their rate is "
                 "constant.")
    write_differences(report, cells, runs)
    write_laws(report, cells)
