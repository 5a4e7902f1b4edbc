# SPDX-License-Identifier: GPL-2.0-only
"""What the sections of paper 003 share."""
import pandas

from common import KERNEL, Report, aged, count_of, number, unique

ALGORITHMS = ["aimd", "bitcp", "hstcp", "stcp"]

# The first slow start of connections in dumbbell.cc
FIRST_SLOW_START = """\
The first slow start of a flow ends at a quarter of the bandwidth-delay product of its path, at 16
packets at least (`AddFlow()` in `bench/research/sim/dumbbell.cc`), before it loses anything; of its
own the paper says nothing."""

# The emulator's usual limit of lateness (bench/linkem/stats.c)
USUAL_LATENESS_US = 500


def paper_values(report: Report, where: str) -> dict[tuple, str]:
    """Returns what the paper says, by algorithm and x of a table or figure."""
    paper = only(report.paper("003"), where=where)
    return dict(zip(zip(paper.algorithm, paper.x), paper.value))


def only(frame: pandas.DataFrame, **values) -> pandas.DataFrame:
    """Returns the rows with these values of columns."""
    for column, value in values.items():
        frame = frame[frame[column] == value]
    return frame


def absent(names: list[str], present) -> list[str]:
    """Returns those names that are not present."""
    return [name for name in names if name not in set(present)]


def missing_cells(runs: pandas.DataFrame, column: str, values: list[int], where: str) -> list[str]:
    """Returns the values of a column at which algorithms were not measured, and these. where: how
    a value is called, "ratio {}"."""
    missing = {value: absent(ALGORITHMS, only(runs, **{column: value}).algorithm)
               for value in values}
    return [f"{', '.join(names)} at {where.format(value)}"
            for value, names in missing.items() if names]


def three_digits(x: float) -> str:
    """Returns a number with at least three significant digits, trailing zeros included."""
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"


def short(x: float) -> str:
    """Returns a number of three significant digits, or a whole one; nothing for 0 and NaN."""
    if not x > 0:
        return ""
    return f"{x:.0f}" if x >= 1000 else f"{x:.3g}"


def spread(values: pandas.Series, form) -> str:
    """Returns the mean, and minimum and maximum in parentheses if there are several values. form
    is a function that formats a number."""
    mean = form(values.mean())
    return mean if len(values) < 2 else f"{mean} ({form(values.min())}-{form(values.max())})"


def span(values, form: str) -> str:
    """Returns "MINIMUM to MAXIMUM"."""
    return f"{min(values):{form}} to {max(values):{form}}"


def runs_of(lines: pandas.DataFrame) -> pandas.DataFrame:
    """Returns one row for each run, with what was measured in it as columns."""
    point = ["engine", "algorithm", "x", "conditions", "seed"]
    return lines.pivot(index=point, columns="what", values="value").reset_index()


def kernel_rows(report: Report, bench: str) -> pandas.DataFrame:
    """Returns the valid runs of bench/run. The columns mbps, queue and rtt_ratio are of the text
    x, and longest says whether a run is one of the longest of its x and column."""
    rows = report.rows(bench)
    rows = rows[rows.valid]
    form = r"^(?P<mbps>\d+) Mbit/s, (?P<queue>[^,]*)(?:, (?P<rtt_ratio>\d+))?"
    cell = rows.x.astype(str).str.extract(form)
    rows = rows.assign(algorithm=rows.column, mbps=pandas.to_numeric(cell.mbps),
                       queue=cell["queue"], rtt_ratio=pandas.to_numeric(cell.rtt_ratio))
    most = rows.groupby(["x", "column"]).seconds.transform("max")
    return rows.assign(longest=rows.seconds == most)


def lateness_us(rows: pandas.DataFrame) -> pandas.Series:
    """Returns the larger p99 of the emulator's lateness in the two directions."""
    return rows[["link.late_p99_us", "link.late_back_p99_us"]].max(axis=1)


def kernel_conditions(report: Report, bench: str, rows: pandas.DataFrame, cell: str = "") -> str:
    """Returns a sentence about how rows of a bench were measured. The runs that were not valid are
    counted of those whose x begins with the text cell."""
    invalid = report.rows(bench).query("not valid")
    spoiled = (invalid.x + ", ").str.startswith(cell).sum()
    late = lateness_us(rows)
    worst = rows.loc[late.idxmax()]
    before = rows["link.late_before_p99_us"].max()
    background = rows.background_mbps.dropna().map(sum)
    seeds, tolerances = unique(rows.seed), unique(rows["link.tolerance"])
    text = (f"Conditions: Linux {unique(rows.kernel)} over linkem, {unique(rows.seconds)} s, of "
            "which the second half counts")
    if rows.seconds.nunique() > 1:
        text += " (of each cell the longest runs)"
    text += f"; {count_of(rows.groupby(['x', 'column']).size())}"
    if seeds:
        text += f"; seed {seeds}"
    text += (f"; commit {unique(rows.commit)}; {unique(rows.date.str[:10])}; lateness of the "
             f"emulator (p99) at most {number(round(late.max() / 1e3, 2))} ms, which is "
             f"{worst.algorithm} at {worst.x}, and above the usual limit of 0.5 ms in "
             f"{(late > USUAL_LATENESS_US).sum()} of {len(rows)} runs")
    if before > 0:
        text += f", in the half before at most {number(round(before / 1e3, 2))} ms"
    if tolerances not in ("", "1"):
        text += f"; the emulator was allowed {tolerances} times its usual lateness"
    text += (f"; runs discarded because the emulator was late: {spoiled}. The bottleneck carried "
             f"at least {number(round(100 * rows.carried.min(), 1))} % of its rate.")
    if len(background):
        text += f" Background sent: {span(background, '.0f')} Mbit/s both ways together."
    return aged(text, KERNEL)
