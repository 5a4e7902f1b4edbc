# SPDX-License-Identifier: GPL-2.0-only
"""Paper 001: transfers of 64 MB, Figures 2 to 4."""
import numpy
import pandas

from common import SHIPPED, TUNING, Report, number

MB = 2**20
LOOKS = {
    "static, reno": {"color": "#b2182b"},
    "tcptuned": {"color": "#1b7837"},
    "right-sized, reno": {"color": "#4575b4", "ls": "--"},
}


def read_runs(report: Report, bench: str) -> pandas.DataFrame:
    """Returns the valid runs of a bench of which there are points in time, with those as a data
    frame, and their largest flight and window in bytes."""
    rows = report.rows(bench)
    rows = rows[rows.valid & rows.flow_points.str.len().gt(0)]
    points = [pandas.DataFrame(points).iloc[:, [0, 1, 2, 4]].set_axis(
        ["s", "flight", "window", "read"], axis=1) for points in rows.flow_points]
    return rows.assign(points=points, flight=[run.flight.max() for run in points],
                       window=[run.window.max() for run in points])


def ratio(a, b) -> str:
    """Returns a / b with three digits, or nothing without one of them."""
    if a in ("", None) or b in ("", None) or pandas.isna(a) or pandas.isna(b) or not float(b):
        return ""
    return f"{float(a) / float(b):.3g}"


def spread(values: pandas.Series, digits: int = 0) -> str:
    """Returns "median (lowest-highest)" of values that are rounded before."""
    values = values.round(digits)
    if values.empty:
        return "no result"
    text = number(round(values.median(), digits + 1))
    return text if len(values) == 1 else f"{text} ({number(values.min())}-{number(values.max())})"


def median(values: pandas.Series, digits: int = 0) -> str:
    """Returns the median of values that are rounded before, or nothing."""
    return "" if values.empty else number(round(values.round(digits).median(), digits + 1))


def draw_flights(report: Report, name: str, title: str, runs: pandas.DataFrame,
                 panels: list[tuple[str, str, int]]) -> None:
    """Draws flight and window of the first run of each column, in a unit of so many bytes."""
    with report.picture(name, title, "Flight and window", size=(1100, 520),
                        ncols=len(panels)) as (_, axes):
        for panel, (column, unit, size) in zip(axes, panels):
            for points in runs.points[runs.column == column][:1]:
                panel.plot(points.s, points.window / size, lw=5, color="#92c5de",
                           label="window that the receiver advertises")
                panel.plot(points.s, points.flight / size, lw=2, color="#b2182b",
                           label="in flight")
            panel.set(title=column, xlabel="time, s", ylabel=unit)
            panel.set_xlim(left=0)
            panel.set_ylim(bottom=0)
            panel.legend()


def draw_progress(report: Report, runs: pandas.DataFrame) -> None:
    with report.picture("drs_progress.png", "64 MB over 1 Gbit/s, 100 ms (paper 001, Figure 2)",
                        "Progress") as (_, axes):
        for column, look in LOOKS.items():
            label, rest = column, f"{column}, by its rate"
            for run in runs[runs.column == column].itertuples():
                took, received = run.elapsed_s, run.bytes / MB
                axes.plot([*run.points.s, took], [*run.points.read / MB, received], lw=2,
                          label=label, **look)
                if received < 64:  # what a shorter transfer would have come to
                    further = numpy.geomspace(1, 64 / received)
                    axes.plot(took * further, received * further, lw=2, label=rest,
                              **{**look, "ls": ":"})
                    rest = None
                label = None
        paper = [float(report.paper_value("001", "Figure 2", transfer, "median s"))
                 for transfer in ("right-sized", "static")]
        axes.plot(paper, [64, 64], "x", color="black", ms=12, mew=3,
                  label="the paper: right-sized, static")
        ticks = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200]
        axes.set_xscale("log")
        axes.set_xticks(ticks, ticks)
        axes.minorticks_off()
        axes.set(xlabel="time, s (log scale)", ylabel="received, MB", xlim=(0.1, 400),
                 ylim=(0, 70))
        axes.legend(loc="center")


def growth(points: pandas.DataFrame) -> str:
    """Compares the window with the flight while that grows, up to half of its largest."""
    growing = points[(points.flight >= points.flight.max() / 2).cumsum() == 0]
    growing = growing[growing.flight > 65536]
    if growing.empty:
        return ""
    times = (growing.window / growing.flight).quantile(0.5, "lower")
    return (f"While its flight grows, up to half of the maximum, the window is {times:.2g} times "
            f"as large (median of {len(growing)} samples); once the link is full, the window stays "
            "at what the link and its queue hold, and the flight reaches it.")


def write_table(report: Report, runs: pandas.DataFrame) -> None:
    def paper(where: str, what: str, x: str) -> str:
        return report.paper_value("001", where, what, x)

    static, sized, shipped = (runs[runs.column == column]
                              for column in ("static, reno", "right-sized, reno", "tcptuned"))
    whole = static.elapsed_s * 64 * MB / static.bytes
    faster = ratio(whole.median(), sized.elapsed_s.median())
    flights = ratio(sized.flight.median(), static.flight.median())
    margin = sized.window / sized.flight
    slow, fast = (paper("Figure 2", transfer, "median s") for transfer in ("static", "right-sized"))
    times = paper("Figure 2", "ratio", "times")
    window = int(paper("Figure 3", "static", "window bytes"))
    larger = paper("Figure 4", "right-sized", "window / largest flight")
    more = paper("Figure 4", "right-sized / static", "flight")
    report.table(["where", "what", "paper", "ours", "ratio"], [
        ["Figure 2", "static, median time, s", slow, spread(whole, 1),
         ratio(whole.median(), slow)],
        ["Figure 2", "right-sized, median time, s", fast, spread(sized.elapsed_s, 2),
         ratio(sized.elapsed_s.median(), fast)],
        ["Figure 2", "tcptuned as shipped, median time, s", "", spread(shipped.elapsed_s, 2), ""],
        ["Figure 2", "times faster", times, faster, ratio(faster, times)],
        ["Figure 3", "static, window advertised, KB", str(window // 1024),
         median(static.window / 1024), ratio(static.window.median(), window)],
        ["Figure 4", "right-sized, largest window / largest flight", larger, median(margin, 2),
         ratio(margin.median(), larger)],
        ["Figure 4", "right-sized, retransmitted segments", "some", median(sized.retransmits), ""],
        ["Figure 4", "flight, right-sized / static", more, flights, ratio(flights, more)],
    ])


def write(report: Report) -> None:
    report.write("## Paper 001 (Dynamic Right-Sizing): 64 MB at 100 ms, Figures 2 to 4")
    runs = read_runs(report, "drs")
    static = runs[runs.column == "static, reno"]
    shorter = ""
    if (static.bytes < 64 * MB).any():
        shorter = (f" Of that one, only {median(static.bytes / MB, 2)} MB were sent; its time is "
                   "extrapolated to 64 MB, since its rate is constant.")
    report.write(f"""
Transfers of 64 MB over 1 Gbit/s and 100 ms with a queue of one bandwidth-delay product. *static*: a
receive buffer of 64 KB, of which {median(static.window / 1024)} KB are advertised (in the paper:
half); *right-sized*: tcptuned on both hosts, and Reno as in the paper; *tcptuned*: as shipped. KB
and MB are 2^10 and 2^20 bytes. Flight and window are tcptuned's own readings (`tcptunectl flows
--json`); it only observes the static transfer.{shorter}""")
    draw_progress(report, runs)
    draw_flights(report, "drs_flight.png",
                 "64 MB over 1 Gbit/s, 100 ms: flight and window (paper 001, Figures 3 and 4)",
                 runs, [("static, reno", "KB", 1024), ("right-sized, reno", "MB", MB)])
    write_table(report, runs)
    report.write(report.row_conditions("drs", SHIPPED + TUNING))
    grown = [growth(points) for points in runs.points[runs.column == "right-sized, reno"][:1]]
    report.write(f"""
The window limits the static transfer, then and now, to as much in each round trip. The paper's
right-sized transfer lost packets and stayed at seven times that; ours has a link of 1 Gbit/s and
its queue to itself, and grows until that is full, so that most of its time is slow start.
{"".join(grown)}""")
