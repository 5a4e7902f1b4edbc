# SPDX-License-Identifier: GPL-2.0-only
"""Paper 001: low-bandwidth links, Figures 5 to 7."""
import pandas

from common import SHIPPED, TUNING, Report, number
from section_001_drs import draw_flights, median, ratio, read_runs

STATIC = "static 64 KB"
RECEIVER = "tcptuned at the receiver"
KNOWN = "tcptuned, known path"
# The columns of Figure 7: their names in the report, and their colours.
COLUMNS = {
    STATIC: (STATIC, "#b2182b"), "kernel": ("kernel", "#e08214"), RECEIVER: (RECEIVER, "#1b7837"),
    KNOWN: (KNOWN, "#7fbf7b"),
}
LINKS = ["56 kbit/s, 100 ms", "1.5 Mbit/s, 50 ms", "1.5 Mbit/s, 100 ms"]

# --- Figures 5 and 6 ---


def kb(size: float) -> str:
    return f"{size / 1024:.0f} KB"


def count(times: int) -> str:
    return {0: "never", 1: "once"}.get(times, f"{times} times")


def window_changes(points: pandas.DataFrame) -> str:
    """Says how the window of the first run grows, and comes down from its largest."""
    window, largest = points.window, points.window.idxmax()
    text = (f"In the {points.s.iloc[-1]:.0f} s of the picture the window begins with "
            f"{kb(window[0])}")
    if largest > 0:
        text += f", grows to {kb(window[largest])} within {points.s[largest]:.1f} s"
    steps = window[largest:].diff()
    if not (steps < 0).any():
        return f"{text}, and stays there."
    first = points.s[steps[steps < 0].index[0]]
    return (f"{text}, then shrinks {count((steps < 0).sum())}, the first time at "
            f"{first:.1f} s, and grows {count((steps > 0).sum())}: at the end it is "
            f"{kb(window.iloc[-1])}.")


def static_change(points: pandas.DataFrame) -> str:
    window = points.window
    lowest = window[window.idxmax():].min()
    if lowest == window.max():
        return ""
    return ("The static one, which tcptuned only observes, is not constant either: after its "
            f"maximum, {kb(window.max())}, it falls to {kb(lowest)}.")


def write_flight(report: Report, runs: pandas.DataFrame) -> None:
    draw_flights(report, "drs_slow.png",
                 "56 kbit/s, 100 ms: flight and window (paper 001, Figures 6 and 5)", runs,
                 [(STATIC, "KB", 1024), ("tcptuned", "KB", 1024)])
    runs = runs.assign(mean_flight=[points.flight[points.s > 5].mean() for points in runs.points],
                       last_window=[points.window.iloc[-1] for points in runs.points])
    static, sized = runs[runs.column == STATIC], runs[runs.column == "tcptuned"]
    paper = report.paper_value("001", "Figure 5", "right-sized", "largest window below bytes")
    less = ratio(static.mean_flight.median(), sized.mean_flight.median())
    report.table(["where", "what", "paper", "ours", "ratio"], [
        ["Figure 5", "right-sized: largest window, bytes (the paper: below)", paper,
         median(sized.window), ratio(sized.window.median(), paper)],
        ["Figure 5", "right-sized: the last window, bytes", "", median(sized.last_window), ""],
        ["Figure 6", "static: mean flight after 5 s, bytes", "plot only",
         median(static.mean_flight), ""],
        ["Figure 5", "right-sized: mean flight after 5 s, bytes", "plot only",
         median(sized.mean_flight), ""],
        ["section V.B", "static / right-sized, mean flight", "above 1", less, ""],
    ])
    report.write(report.row_conditions("slow_flight", SHIPPED + TUNING))
    said = [window_changes(points) for points in sized.points[:1]]
    said += [static_change(points) for points in static.points[:1]]
    if less and float(less) < 1.05:
        said.append("The mean flight of the right-sized one is still that of the static one, with "
                    "Reno at the other end; Figure 7 is about longer transfers.")
    elif less:
        said.append("The mean flight of the right-sized one is less than that of the static one, "
                    "as the paper says.")
    report.write("""
The receiver does not withdraw what it has advertised (RFC 9293 advises against it): its window
shrinks only as data arrives. """ + "\n".join(filter(None, said)))


# --- Figure 7 ---


def draw_retransmits(report: Report, runs: pandas.DataFrame, paper: float) -> None:
    per_1000 = 1000 * runs.retransmits * runs["sender.mss"] / runs.bytes
    bars = per_1000.groupby([runs.column, runs.x]).agg(["median", "min", "max"])

    def rate_and_delay(link: str) -> tuple[float, float]:
        rate, unit, delay, _ = link.replace(",", "").split()
        return float(rate) * (1000 if unit == "Mbit/s" else 1), float(delay)

    links = sorted(runs.x.unique(), key=rate_and_delay)
    with report.picture("drs_retransmits.png", "Retransmitted segments (paper 001, Figure 7)",
                        "Retransmits") as (_, axes):
        for place, (column, (name, colour)) in enumerate(COLUMNS.items()):
            bar = bars.reindex([(column, link) for link in links])
            at = [link + 0.15 * (place - 1.5) for link in range(len(links))]
            errors = [bar["median"] - bar["min"], bar["max"] - bar["median"]]
            axes.bar(at, bar["median"], 0.15, yerr=errors, color=colour, edgecolor="black",
                     alpha=0.8, label=name)
            if column == STATIC:  # the paper has one figure: how far static is above right-sized
                axes.plot(range(len(links)), bar["median"] / paper, "x", color="black", ms=10,
                          mew=3, label=f"paper: static / {paper:g}")
        axes.set_xticks(range(len(links)), links)
        axes.grid(False, axis="x")
        axes.set_ylabel("retransmitted, per 1000 segments sent")
        axes.legend()


def savings(medians: pandas.DataFrame, paper: float) -> str:
    """Compares the retransmits of the static window with each of the others, over all links."""
    times = medians.rdiv(medians[STATIC], axis=0)
    times = times[(times > 0) & (times < float("inf"))]
    lowest, highest = times.min(), times.max()

    def span(column: str) -> str:
        ends = f"{lowest[column]:.1f}", f"{highest[column]:.1f}"
        return ends[0] if ends[0] == ends[1] else " to ".join(ends)

    text = ""
    if lowest[RECEIVER] > 0:
        text = (f"With a Reno sender a static window has {span(RECEIVER)} times the retransmits of "
                "the right-sized one")
        if lowest[KNOWN] > 0:
            text += f", {span(KNOWN)} with a known path"
        text += f" (the paper: {paper:g}): "
        if lowest[RECEIVER] > paper:
            text += ("more than the paper's, which offers twice what arrives in a round trip "
                     "whatever the queue holds;\n`rightsize.h` offers a slow path less than that "
                     "once a reassembly gap shows that its queue does not hold it.")
        else:
            text += "not everywhere as much as the paper's."
    return text


def write_retransmits(report: Report, runs: pandas.DataFrame) -> None:
    paper = float(report.paper_value("001", "Figure 7", "static / right-sized", "retransmits"))
    draw_retransmits(report, runs, paper)
    report.write(f"""
Retransmitted segments, medians over runs of {runs.elapsed_s.min():.0f} to
{runs.elapsed_s.max():.0f} s. *Static / right-sized* is static over tcptuned at the receiver, what
the paper gives as roughly {paper:g}; *known path*: with a path that tcptuned remembers from
half a minute before.""")
    medians = runs.pivot_table(index="x", columns="column", values="retransmits", aggfunc="median")
    medians = medians.reindex(columns=COLUMNS)
    rows = []
    for link, values in medians.iterrows():
        times = values[STATIC] / values[RECEIVER] if values[RECEIVER] else float("nan")
        rows.append([link, *("" if pandas.isna(value) else number(value) for value in values),
                     *(["", ""] if pandas.isna(times) else
                       [number(round(times, 2)), f"{times / paper:.2f}"])])
    report.table(["link", *(name for name, _ in COLUMNS.values()), "static / right-sized",
                  "ratio to the paper"], rows)
    report.write(report.row_conditions("slow_link", SHIPPED + TUNING))
    report.write(savings(medians, paper))
    report.not_measured([link for link in LINKS if link not in medians.index],
                        "bench/run slow_link")


def write(report: Report) -> None:
    runs = read_runs(report, "slow_flight")
    window = runs.window[runs.column == STATIC].median()
    report.write(f"""
## Paper 001: low-bandwidth links, Figures 5 to 7

56 kbit/s, 100 ms, a Reno sender, a queue of ten packets (the paper does not describe its queue).
*static 64 KB* is an application that requests 64 KB (`SO_RCVBUF`), for which the kernel reserves
128 KB, of which up to {kb(window)} were advertised. The paper's static buffer has 64 KB, of which 32 are advertised.""")
    write_flight(report, runs)
    rows = report.rows("slow_link")
    write_retransmits(report, rows[rows.valid])
