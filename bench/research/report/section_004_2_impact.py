# SPDX-License-Identifier: GPL-2.0-only
"""Paper 004: the impact of parallel connections on others, Figures 13 to 16, and what of the paper
cannot be repeated."""
import pandas
from common import Report
from section_004_1_throughput import JUDGED, SOURCES, STYLES, cells, fit, name_of, simulated

BAR = 0.25  # Figure 14
GROUPS = {"cross_mbps": "", "cross2_mbps": ", second group"}


def impacts(report: Report) -> pandas.DataFrame:
    """Returns a row for each prediction of an impact, and its errors in three readings: of the
    impact itself, of the others' throughput that follows from it, and the plain difference. The
    column own is the part that each of our connections lost."""
    table = []
    for cell, rows in cells(report):
        for method in JUDGED:
            found = fit(rows.parallel_mbps[rows.index > 0], method)
            for group in GROUPS:
                others = rows.get(group, pandas.Series(0, rows.index))
                if not found or not others.get(1, 0) > 0:
                    continue
                for n in rows.index[rows.index > 1]:
                    table.append([*cell, group, method, n, found[0].impact(n),
                                  1 - others[n] / others[1],
                                  1 - rows.parallel_mbps[n] / n / rows.parallel_mbps[1]])
    frame = pandas.DataFrame(table, columns=["scenario", "queue", "number", "group", "method", "n",
                                             "predicted", "simulated", "own"])
    return frame.assign(
        impact=frame.predicted / frame.simulated - 1,
        others=(1 - frame.predicted) / (1 - frame.simulated) - 1,
        points=frame.predicted - frame.simulated)


def within(found: pandas.DataFrame, reading: str) -> str:
    """Returns how many predictions are within the bar, of those with an impact above 0."""
    if reading == "impact":
        found = found[found.simulated > 0]
    return f"{100 * (found[reading].abs() < BAR).mean():.0f} %" if len(found) else ""


def add_summary(report: Report, found: pandas.DataFrame) -> None:
    """Adds the table of what is within the bar."""
    parts = {scenario: found[found.scenario == scenario] for scenario in "123456"}
    parts["1 to 6"] = found[found.scenario != "7"]
    parts |= {"1 to 6, drop-tail": parts["1 to 6"][parts["1 to 6"].queue == "droptail"],
              "1 to 6, RED": parts["1 to 6"][parts["1 to 6"].queue == "red"]}
    for number, group in enumerate(GROUPS, 1):
        parts[f"7, group {number}"] = found[(found.scenario == "7") & (found.group == group)]
    rows = []
    for name, part in parts.items():
        if part.empty:
            continue
        one = part[part.method == "1, 10"]
        rows.append([name, str(len(one)), *(within(part[part.method == method], "others")
                                            for method in JUDGED),
                     within(one, "impact"), within(one, "points"), f"{one.points.mean():+.2f}"])
    report.table(["scenarios", "predictions", *(f"throughput: {method}" for method in JUDGED),
                  "impact: 1, 10", "difference: 1, 10", "mean difference: 1, 10"], rows)


def add_misses(report: Report, found: pandas.DataFrame) -> None:
    """Adds the table of the cells that miss the bar. An error comes from the fit, or from the
    assumption that the others lose what each of our own connections does."""
    table = []
    one = found[found.method == "1, 10"]
    for key, part in one.groupby(["scenario", "queue", "number", "group"]):
        share = (part.others.abs() < BAR).mean()
        if share >= 0.9:
            continue
        fitted = (part.predicted - part.own).abs().mean()
        assumed = (part.own - part.simulated).abs().mean()
        text = "; ".join(f"{row.n}: {row.predicted:.2f}, {row.own:.2f}, {row.simulated:.2f}"
                         for row in part.itertuples() if row.n in (2, 8, 15, 30))
        table.append([f"{name_of(key[:3])}{GROUPS[key[3]]}", f"{100 * share:.0f} %", text,
                      f"{fitted:.2f}", f"{assumed:.2f}",
                      "fit" if fitted > assumed else "assumption"])
    if table:
        report.write(f"""\
Cells in which fewer than 90 % of the predictions from (1, 10) are within {BAR} of the others'
throughput. (18) with (10) says that others lose the part of their rate that each of our own
connections loses. The table has this part as it is predicted, as each of ours lost it and as the
others did, and the mean differences of the first two, which are errors of the fit, and of the last
two, where the assumption does not hold:""")
        report.table(["cell", "within", "n: predicted, ours, the others'", "fit", "assumption",
                      "the larger"], table)


def draw_others(report: Report, panel, title: str, cell: tuple[str, str, int]) -> None:
    """Draws the others' throughput and what is predicted of it."""
    panel.set(title=title, xlabel="parallel connections", ylabel="Mbit/s of the others",
              xlim=(0, 31))
    rows = simulated(report).loc[cell]
    rows = rows[rows.index > 0]
    for group, marker in zip(GROUPS, "so"):
        if group not in rows or not rows[group].max() > 0:
            continue
        panel.plot(rows.index, rows[group], marker, color="black", label="simulated")
        for method in JUDGED:
            if found := fit(rows.parallel_mbps, method):
                panel.plot(range(1, 32), [rows[group][1] * (1 - found[0].impact(n))
                                          for n in range(1, 32)], **STYLES[method])
    panel.set_ylim(0, 1.05 * panel.get_ylim()[1])


def add_picture(report: Report, found: pandas.DataFrame) -> None:
    """Adds Figures 13, 14 and 16."""
    with report.picture("parallel_impact.png", "Impact on others (paper 004, Figures 13, 14, 16)",
                        "Figures 13, 14 and 16", (1100, 700), nrows=2, ncols=2) as (_, axes):
        draw_others(report, axes[0, 0], "Figure 13a: scenario 4, 5 others", ("4", "droptail", 5))
        draw_others(report, axes[0, 1], "Figure 13b: scenario 6, 15 others", ("6", "droptail", 15))
        draw_others(report, axes[1, 0], "Figure 16: two groups of 14 others (squares: the first)",
                    ("7", "red", 14))
        panel, lines = axes[1, 1], found[found.scenario != "7"]
        for method in JUDGED:
            values = lines[lines.method == method].others.abs().sort_values()
            if len(values):
                panel.plot(values, [(i + 1) / len(values) for i in range(len(values))],
                           label=f"predicted: {method}", **STYLES[method])
        panel.axvline(BAR, color="black", linewidth=0.8)
        panel.axhline(0.9, color="black", linewidth=0.8)
        panel.set(title="Figure 14: scenarios 1 to 6", ylabel="part of the predictions",
                  xlabel="|relative error| of the others' throughput", xlim=(0, 1), ylim=(0, 1))
        panel.legend(loc="lower right")


def add_not_repeated(report: Report) -> None:
    paper = report.paper("004")
    means = paper[(paper["where"] == "Figure 10") & (paper.what == "mean")].value.astype(float)
    report.write(f"""\
## Paper 004: what is not repeated

- Figure 9, two paths of PlanetLab: the machines, and their traffic of 2005, do not exist any more.
- Figure 10, {len(means)} paths of PlanetLab, as above. The paper's mean errors are
  {means.min():.2f} to {means.max():.2f}, their median without the sign {means.abs().median():.2f}.
- Figures 11 and 12, mean errors on these paths: the same of our simulations is in the table of
  what the text says.
- Figures 1 and 15 are the networks, and Figure 2 the scenarios, that are simulated here.
- Section V.B, other RTTs without RED: the paper has no figures of it; not simulated.""")


def write(report: Report) -> None:
    report.write("## Paper 004: impact on others, Figures 13 to 16")
    found = impacts(report)
    report.write(f"""\
By which part the others' throughput falls when they share the link with n parallel connections
instead of one: predicted by (18) from the throughput of the parallel ones alone, and simulated.
By the paper's Figure 14 the relative error of 90 % of the predictions is below {BAR}, and
the predicted impact is on average the larger. It does not say what an error is relative to. As
scenario 5 is among them, in which others lose nothing (Figure 7), we take the others' throughput.
The table also has the relative error of the impact itself, where there is one, and the plain
difference of predicted and simulated impact: how many of the predictions are within {BAR}.""")
    add_summary(report, found)
    add_misses(report, found)
    add_picture(report, found)
    report.write(report.conditions(report.lines("parallel").assign(
        conditions="Reno without SACK, an ACK for each packet"), SOURCES))
    add_not_repeated(report)
