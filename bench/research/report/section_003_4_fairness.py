# SPDX-License-Identifier: GPL-2.0-only
"""Paper 003, section VII: fairness over time scales, Figures 10 and 11, in ns-3 and on the kernel;
synchronised losses (Figure 2) and what two BI-TCP flows do (Figure 5) in ns-3.

Points of fairness are frames with a row for each run and time scale: algorithm, scale, value (the
index), and intervals, of which there are so many in the second half of the run.
"""
import math

import pandas

from common import Report, longest, number, seconds_of, several, style, unique
from paper_003 import (ALGORITHMS, FIRST_SLOW_START, absent, kernel_conditions, kernel_rows, only,
                       paper_values, runs_of, spread)
from section_003_3_shares import red_thresholds

SCALES = [1, 5, 25, 50, 100]
POINT = ["algorithm", "scale", "value", "intervals"]
FIGURES = {"drop-tail": "Figure 10", "RED": "Figure 11"}
COMPARED = {
    "drop-tail": '"Close to 1" is taken for 0.95 and more.',
    "RED": """\
"Much deviation from 1", on "short-term scales", is taken for less than 0.95, and up to the 25 s of
its next sentence; of aimd and bitcp the paper says nothing here.""",
}

# The queues of Figure 2: their names in sim.csv, colours and markers, and the flows of 20 that the
# text speaks of. Of drop-tail the paper says both "more than half" and "at least half", of RED
# "more than a quarter": six and more.
SYNCHRONISED = {"drop-tail": ("droptail", "#b2182b", "s", 10), "RED": ("red", "#4575b4", "o", 6)}

# Modes of bitcp.h that Figure 5 shows: marker, its size, colour, name
MODES = {
    3: ("s", 2, "#1b7837", "additive increase"),
    2: ("o", 2, "#4575b4", "binary search"),
    4: ("^", 3, "#b2182b", "slow start past the maximum"),
    0: ("x", 3, "#777777", "slow start or fast recovery"),
}


def simulated_points(lines: pandas.DataFrame, what: str) -> pandas.DataFrame:
    points = lines[lines.what.str.fullmatch(f"{what}_[0-9]+")]
    scale = points.what.str.extract("([0-9]+)$")[0].astype(int)
    return points.assign(scale=scale, intervals=seconds_of(points.conditions) // 2 // scale)[POINT]


def kernel_points(rows: pandas.DataFrame, what: str) -> pandas.DataFrame:
    frames = []
    for scale in SCALES:
        if f"{what}.{scale}" not in rows:
            continue
        intervals = rows.seconds // 2 // scale
        if f"fairness_intervals.{scale}" in rows:
            intervals = rows[f"fairness_intervals.{scale}"].fillna(intervals)
        of = rows.assign(scale=scale, value=rows[f"{what}.{scale}"], intervals=intervals)
        frames.append(of[of.value.notna()])
    return pandas.concat(frames)[POINT]


def write_points(report: Report, queue: str, points: pandas.DataFrame) -> None:
    """Writes the table of indices, and what the paper says of them."""
    header = [""]
    for scale, intervals in points.groupby("scale").intervals:
        most = several(int(intervals.max()), "interval")
        few = "" if intervals.nunique() == 1 else f"{number(intervals.min())} to "
        header.append(f"{scale} s ({few}{most})")
    rows = []
    for algorithm in absent(ALGORITHMS, absent(ALGORITHMS, points.algorithm)):
        cells = dict(list(only(points, algorithm=algorithm).groupby("scale").value))
        rows.append([algorithm] + [spread(cells[scale], "{:.3f}".format) if scale in cells else ""
                                   for scale in sorted(points.scale.unique())])
    report.table(header, rows)
    write_compared(report, queue, points)


def as_in_paper(said: str, algorithm: str, means: pandas.DataFrame) -> pandas.Series:
    """Returns at which scales a mean is what the paper says. That an index is "close to 1" from
    0.95 on, and that below it there is "much deviation from 1", is ours. means: a column for each
    algorithm."""
    of = means[algorithm].dropna()
    if said == "close to 1":
        return of >= 0.95
    if said == "much deviation from 1":
        return of < 0.95
    if said.startswith("below"):
        return of < float(said.split()[1])
    # Above STCP, below BI-TCP: where one of these was not measured, it does not count.
    others = means.reindex(index=of.index, columns=["stcp", "bitcp"])
    return ~(of < others.stcp) & ~(others.bitcp < of)


def write_compared(report: Report, queue: str, points: pandas.DataFrame) -> None:
    """Writes what the paper says of a figure, and what ours is over the scales."""
    means = points.groupby(["scale", "algorithm"]).value.mean().unstack()
    rows = []
    for (algorithm, x), said in paper_values(report, FIGURES[queue]).items():
        of = means if x == "all" else means[means.index <= int(x.removeprefix("up to "))]
        if algorithm not in of or of[algorithm].isna().all():
            continue
        holds = as_in_paper(said, algorithm, of)
        answer = f"at {holds.sum()} of {len(holds)} scales" if holds.any() else "no"
        ours = of[algorithm].dropna()
        least, most = f"{ours.min():.3f}", f"{ours.max():.3f}"
        rows.append([algorithm if x == "all" else f"{algorithm}, {x} s",
                     said.replace("STCP below", "STCP, below"),
                     least if least == most else f"{least} to {most}",
                     "yes" if holds.all() else answer])
    if rows:
        report.table(["over all scales", "paper (text)", "ours", "as in the paper"], rows)
        report.write(COMPARED[queue])


def fairness_picture(report: Report, name: str, flows: str, mbps: int, queue: str, points) -> None:
    title = f"Four {flows} over {mbps} Mbit/s, {queue}: paper 003, {FIGURES[queue]}"
    caption = FIGURES[queue] + (" on the kernel" if "kernel" in flows else "")
    with report.picture(name, title, caption, size=(1100, 560)) as (_, axes):
        for algorithm in ALGORITHMS:
            means = only(points, algorithm=algorithm).groupby("scale").value.mean()
            axes.plot(means.index, means, label=algorithm, **style(algorithm))
        one = "1"
        if queue == "drop-tail":
            axes.axhline(0.8, linestyle="--", color=style("stcp")["color"],
                         label="paper: stcp is below")
            one = "paper: aimd, bitcp close to 1"
        axes.axhline(0.95, linestyle=":", color="#555555", label="0.95")
        axes.axhline(1, linestyle="--", color="black", label=one)
        axes.set(xscale="log", xlim=(0.8, 125), ylim=(min(0.75, axes.get_ylim()[0]), 1.02),
                 xlabel="time scale, s (log scale)", ylabel="fairness index of four flows")
        axes.set_xticks(SCALES, map(str, SCALES))
        axes.set_xticks([], minor=True)
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1))


def fair_share(mbps: int) -> float:
    """Returns a quarter of link and queue, of 100 ms each, in packets."""
    return mbps * 1e6 * 0.2 / 12000 / 4


def why_it_differs(mbps: int, lines: pandas.DataFrame) -> str:
    """Says why ours is not the paper's: rate, length, windows."""
    seconds = unique(seconds_of(lines.conditions))
    if mbps == 2500:
        return "" if seconds == "600" else f"The paper has 2.5 Gbit/s and 600 s, ours {seconds} s."
    here, there = fair_share(mbps), fair_share(2500)
    return (f"The paper has 2.5 Gbit/s and 600 s, ours {mbps} Mbit/s and {seconds} s. A fair share "
            f"of link and queue is {int(here)} packets here, {int(there)} there. AIMD adds 32 in "
            f"each round trip, {3200 / here:.0f} % of its share (there {3200 / there:.1f} %); "
            f"bitcp, which searches where the share is below {2 * 32 / 0.125:.0f}, less.")


def write_simulated(report: Report, mbps: int, queue: str) -> bool:
    """Writes a figure of ns-3; returns whether it was simulated."""
    word = "red" if queue == "RED" else "droptail"
    worst, what = ("hundredth", "fairness_100th") if queue == "RED" else ("fifth", "fairness")
    figure = FIGURES[queue]
    lines = only(report.lines("fairness"), x=str(mbps))
    lines = longest(lines[lines.conditions.str.startswith(f"{word} ")])
    if lines.empty:
        return False
    points = simulated_points(lines, what)
    report.write(f"""
## Paper 003: fairness over time scales, {mbps} Mbit/s, {queue}, {figure}

Jain's index of four flows of 100 ms over intervals of a length, mean of the worst {worst} of the
intervals of the second half, of one at least. The background is that of the RTT tables in ns-3:
on-off sources, and no TCP but the four flows. {FIRST_SLOW_START}
""")
    fairness_picture(report, f"fairness_{word}_{mbps}.png", "flows", mbps, queue, points)
    write_points(report, queue, points)
    report.write(f"{report.conditions(lines)} {report.given_up(lines)}")
    report.not_measured(absent(ALGORITHMS, lines.algorithm),
                        f"bench/research/sim/run full '^fairness.*|{mbps}|{word}'")
    text = why_it_differs(mbps, lines)
    if queue == "RED":
        used = runs_of(lines).groupby("algorithm").utilisation.mean()
        each = ", ".join(f"{100 * share:.0f} % with {name}" for name, share in used.items())
        text += (f" RED's automatic thresholds are {red_thresholds(mbps)} packets at this rate; "
                 f"{each} of the bottleneck were used.")
    report.write(text)
    return True


def write_kernel(report: Report, mbps: int, queue: str) -> bool:
    """Writes a figure of four connections of the kernel; returns whether it was measured. Figure 11
    is of the worst hundredth; rows of before that was kept have the worst fifth only."""
    rows = only(kernel_rows(report, "fairness"), mbps=mbps, queue=queue, longest=True)
    figure = FIGURES[queue]
    if rows.empty:
        return False
    worst, what, other = "fifth", "fairness", ""
    if queue == "RED":
        other = ", and of the worst hundredth"
        if "fairness_worst_100th.1" in rows and rows["fairness_worst_100th.1"].notna().all():
            worst, what, other = "hundredth", "fairness_worst_100th", ""
    points = kernel_points(rows, what)
    report.write(f"""
## Paper 003: fairness over time scales on the kernel, {mbps} Mbit/s, {queue}, {figure}

Jain's index of four connections of 100 ms over intervals of a length, mean of the worst {worst} of
the intervals of the second half, of one at least. The paper's runs are of 2.5 Gbit/s and
600 s{other}.
""")
    word = queue.lower().replace("-", "")
    fairness_picture(report, f"fairness_kernel_{word}_{mbps}.png", "connections of the kernel",
                     mbps, queue, points)
    write_points(report, queue, points)
    report.write(kernel_conditions(report, "fairness", rows, f"{mbps} Mbit/s, {queue}, "))
    report.not_measured(absent(ALGORITHMS, points.algorithm),
                        f"BENCH_MBPS={mbps} BENCH_QUEUES={queue} bench/run fairness")
    return True


def at_highest_rate(report: Report, experiment: str, algorithm: str) -> tuple:
    """Returns the longest runs of an algorithm at the highest rate that was simulated, and that
    rate."""
    lines = longest(report.lines(experiment))
    mbps = lines.x.astype(int).max()
    return only(lines, algorithm=algorithm, x=str(mbps)), mbps


def synchronised_row(paper: float, queue: str, share: float, seconds: float) -> list[str]:
    """Returns a row of the table. The interval is the one of Wilson (95 %), as if the seconds with
    a loss event did not depend on each other. seconds: how many these are."""
    z = 1.96
    width = 1 + z * z / seconds
    middle = (share + z * z / 2 / seconds) / width
    variance = share * (1 - share) / seconds + z * z / 4 / seconds / seconds
    half = z / width * math.sqrt(variance)
    within = f"{100 * (middle - half):.0f} to {100 * (middle + half):.0f} %"
    if middle - half <= paper <= middle + half:
        within += ", which includes the paper's"
    return [queue, f"{SYNCHRONISED[queue][3]} of 20", f"{100 * paper:.0f} %",
            f"{100 * share:.0f} %", f"{share / paper:.2f}", number(seconds),
            within]


def synchronised_paper(report: Report) -> dict[str, float]:
    """Returns the shares that the paper gives, by queue."""
    return {queue: float(value)
            for (queue, _), value in paper_values(report, "Figure 2").items()}


def synchronised_picture(report: Report, mbps: int, shares: dict[str, pandas.Series]) -> None:
    title = f"20 HSTCP flows over {mbps} Mbit/s: paper 003, Figure 2"
    with report.picture("synchronised.png", title, "Figure 2") as (_, axes):
        for queue, paper in synchronised_paper(report).items():
            _, colour, marker, flows = SYNCHRONISED[queue]
            axes.plot(range(1, 21), 100 * shares[queue], color=colour, marker=marker, label=queue)
            axes.plot(flows, 100 * paper, "x", color=colour, markersize=12, markeredgewidth=3,
                      label=f"{queue}, the paper's text")
        axes.set(xlabel="flows with a loss event in the same second, at least", xlim=(1, 20),
                 ylabel="seconds with a loss event, %", ylim=(0, 105), xticks=range(2, 21, 2))
        axes.legend(loc="upper right")


def write_synchronised(report: Report) -> None:
    lines, mbps = at_highest_rate(report, "synchronised", "hstcp")
    report.write("## Paper 003: synchronised losses, Figure 2")
    runs = runs_of(lines)
    shares, rows, above = {}, [], {True: [], False: []}
    for queue, paper in synchronised_paper(report).items():
        word, _, _, flows = SYNCHRONISED[queue]
        of = runs[runs.conditions.str.startswith(f"{word} ")]
        shares[queue] = of[[f"synchronised_{count}" for count in range(1, 21)]].fillna(0).mean()
        share = shares[queue][f"synchronised_{flows}"]
        rows.append(synchronised_row(paper, queue, share, of.loss_seconds.sum()))
        above[share > paper].append(queue)
    report.write(f"""
Twenty HSTCP flows with round-trip times of 40 to 150 ms over {mbps} Mbit/s (the paper's:
2.5 Gbit/s). Of the seconds in which a flow has a loss event, the share in which at least so many
flows have one. The background is that of the RTT tables in ns-3; the paper's is 7 % of the rate
forward and 35 % backward, with small TCP flows in it.
""")
    synchronised_picture(report, mbps, shares)
    report.write("""
Of drop-tail the paper says both "more than half" of the twenty flows and "at least half" of them,
and the table has the second; of RED "more than a quarter", which is six.
""")
    report.table(["queue", "flows", "paper (text)", "ours", "ratio", "seconds with a loss event",
                  "95 % of chance"], rows)
    text = f"{report.conditions(lines)} Of each run the second half counts. {FIRST_SLOW_START}"
    if mbps != 2500:
        text += ("\nA smaller window loses more often, so that of as many flows more lose in the "
                 "same second by chance.")
        if above[True]:
            text += f" That would explain what is above the paper's ({', '.join(above[True])})."
        if above[False]:
            text += f" It does not explain what is below ({', '.join(above[False])})."
    report.write(text)
    report.not_measured(["the paper's rate"] if mbps != 2500 else [],
                        "bench/research/sim/run full '^synchronised.*|2500|'")


def trace_of(lines: pandas.DataFrame, flow: int) -> pandas.DataFrame:
    """Returns the samples of a flow, of seconds, window and mode, from its first segment on."""
    samples = only(lines, what=f"trace_{flow}").text.iloc[0].split()
    trace = pandas.DataFrame([sample.split("/") for sample in samples],
                             columns=["time", "window", "mode"]).astype(float)
    return trace[trace.window > 0]


def write_modes(report: Report) -> None:
    lines, mbps = at_highest_rate(report, "modes", "bitcp")
    report.write("## Paper 003: the operating modes, Figure 5")
    report.write(f"""
A sample run, as in the paper, which says nothing of its conditions and prints no values: two BI-TCP
flows over one bottleneck of {mbps} Mbit/s; the second begins later. The mode is what `bitcp_mode()`
of `bitcp.h` says of the same state, every 0.1 s.
""")
    rows = []
    title = f"Two bitcp flows of 100 ms over {mbps} Mbit/s: paper 003, Figure 5"
    with report.picture("modes.png", title, "Figure 5") as (_, axes):
        for flow, line, label_at in (1, "-", 170), (2, "--", -90):
            trace = trace_of(lines, flow)
            axes.plot(trace.time, trace.window, line, color="#aaaaaa", linewidth=1)
            for mode, (marker, size, colour, name) in MODES.items():
                of = only(trace, mode=mode)
                axes.plot(of.time, of.window, marker, color=colour, markersize=size,
                          label=name if flow == 1 else None)
            for time, window in trace[trace.time >= 44].values[:1, :2]:
                axes.text(time + 1, window + label_at, f"flow {flow}", ha="center", va="center")
            modes = trace["mode"][trace.time >= 20]
            rows.append([f"flow {flow}, share of the time from 20 s on"]
                        + [f"{100 * (modes == mode).mean():.0f} %" for mode in (3, 2, 4)])
        axes.set(xlabel="time, s", ylabel="congestion window, packets", ylim=(0, None))
        axes.legend(loc="upper right")
    report.table(["", "additive increase", "binary search", "slow start past the maximum"], rows)
    report.write(f"""
Additive increase takes a distance of more than {2 * 32} packets to the maximum: a loss at a window
of 1000 gives up 125, and fast convergence searches for half of those.

{report.conditions(lines)}
""")


def write(report: Report) -> None:
    missing = [f"{figure} at {mbps} Mbit/s" for queue, figure in FIGURES.items()
               for mbps in (50, 100, 2500) if not write_simulated(report, mbps, queue)]
    report.not_measured(missing, "bench/research/sim/run full '^fairness'")
    missing = [f"{mbps} Mbit/s with {queue}" for mbps in (100, 2500) for queue in FIGURES
               if not write_kernel(report, mbps, queue)]
    if missing:
        report.write("## Paper 003: fairness over time scales on the kernel, not measured")
        report.not_measured(missing, "bench/run fairness")
    write_synchronised(report)
    write_modes(report)
