# SPDX-License-Identifier: GPL-2.0-only
"""Paper 000: the size of buffers, Figure 5, and Table 1."""
import pandas

from common import SHIPPED, TUNING, Report
from section_000_grid import TUNINGS

SIZES = [2**power * 1024 for power in range(3, 17)]  # those of the full bench
COLUMNS = ["by hand", "tcptuned, cubic"]
UNITS = {"K": 2**10, "M": 2**20}


def read_sizes(report: Report) -> pandas.DataFrame:
    """Returns the runs with their rtt, size, bytes, streams and mbps."""
    rows = report.rows("buffer_size")
    parts = rows.x.str.extract(r"(?P<rtt>.*), (?P<size>([0-9]+)([KM]).*), (?P<streams>[0-9]+)$")
    return rows.assign(rtt=parts.rtt, size=parts["size"], streams=parts.streams.astype(int),
                       bytes=parts[2].astype(int) * parts[3].map(UNITS),
                       mbps=rows.goodput_bps / 1e6)


def spread_by(runs: pandas.DataFrame, *key: str) -> pandas.DataFrame:
    """Returns median, lowest and highest of the valid runs."""
    found = runs[runs.valid].groupby(list(key)).mbps.agg(["median", "min", "max"])
    return found.set_axis(["median", "lowest", "highest"], axis=1)


def draw(report: Report, runs: pandas.DataFrame, rtt: str) -> None:
    # Where a size that was tried has no valid run the line has a gap.
    tried = sorted(runs.bytes.unique())
    sizes = spread_by(runs, "column", "streams", "bytes")
    bdp = float(rtt.removesuffix(" ms")) * 125000
    best = int(report.paper_value("000", "Figure 5", "best", "bytes"))
    markers = iter("so^vDP*X")
    with report.picture(f"buffer_size_{rtt.removesuffix(' ms')}.png",
                        f"Effect of buffer size, {rtt}, 1 Gbit/s (paper 000, Figure 5)",
                        f"Effect of buffer size, {rtt}") as (_, axes):
        for column, size in zip(COLUMNS, (9, 5)):  # the wider mark is behind the other
            for streams in sizes.index.unique("streams"):
                points = sizes.loc[(column, streams)].reindex(tried)
                colour = TUNINGS[column]["color"]
                axes.plot(points["median"], "-" if streams == 1 else "--", color=colour,
                          marker=next(markers), markersize=size,
                          label=f"{column}, {streams} connection{'s' if streams > 1 else ''}")
                points = points.dropna()
                axes.vlines(points.index, points.lowest, points.highest, lw=1, color=colour)
        for at, side, colour, text in ((best, "left", "black", " the best of the paper"),
                                       (bdp, "right", "#555555", "bandwidth x delay ")):
            axes.axvline(at, ls=":", lw=2, color=colour)
            axes.text(at, 60, text, ha=side, color=colour)
        axes.set_xscale("log", base=2)
        axes.set_xticks(SIZES, [8, 16, 32, 64, 128, 256, 512, "1 MB", 2, 4, 8, 16, 32, "64 MB"])
        axes.set(xlabel="SO_RCVBUF and SO_SNDBUF that each connection requests, KB (log scale)",
                 ylabel="goodput, Mbit/s", ylim=(0, 1060))
        axes.legend(loc="center right")


def figure(x: float) -> str:
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def write_table(report: Report, runs: pandas.DataFrame) -> None:
    def cell(median: float, lowest: float, highest: float) -> str:
        spread = f" ({figure(lowest)}-{figure(highest)})" if lowest != highest else ""
        return figure(median) + spread

    sizes = spread_by(runs, "bytes", "size", "column", "streams")
    cells = sizes.apply(lambda size: cell(*size), axis=1).unstack(["column", "streams"], "")
    cells = cells.sort_index(axis=1)
    report.write("Mbit/s:")
    report.table(["requested", *(f"{column}, {streams}" for column, streams in cells.columns)],
                 [[size, *cells.loc[bytes_, size]] for bytes_, size in cells.index])


def write_best(report: Report, runs: pandas.DataFrame) -> None:
    """Writes the best size of each number of connections, and what comes within 3 % of it."""
    paper = int(report.paper_value("000", "Figure 5", "best", "bytes"))
    names = runs.set_index("bytes")["size"].to_dict()
    rows = []
    for streams, mbps in spread_by(runs[runs.column == "by hand"],
                                   "streams", "bytes")["median"].groupby("streams"):
        mbps = mbps.droplevel("streams")
        best = mbps.idxmax()
        good = mbps.index[mbps >= 0.97 * mbps.max()]
        near = f" (within 3 % of it: {names[good[0]]} to {names[good[-1]]})" * (len(good) > 1)
        rows.append([f"by hand, connections: {streams}: the best size", f"{paper // 1024} KB",
                     names[best] + near, f"{best / paper:.2g}"])
        rows.append([f"by hand, connections: {streams}: smallest size with 97 % of that",
                     "-", names[good[0]], f"{good[0] / paper:.2g}"])
    report.table(["of Figure 5", "paper", "ours", "ratio to the paper's best"], rows)


def comparison(runs: pandas.DataFrame) -> str:
    """Compares one connection by hand at 0.5 ms with what the paper says."""
    one = runs[(runs.rtt == "0.5 ms") & (runs.streams == 1) & (runs.column == "by hand")]
    mbps = spread_by(one, "bytes")["median"]
    text = ""
    if mbps.get(65536, mbps.max()) < 0.97 * mbps.max():
        text = ("As in the paper, the product of bandwidth and delay, 62.5 KB at 0.5 ms, is too "
                "little: two applications take turns on the processors, and the data in the "
                "buffer has to last until then. ")
    if len(mbps) and mbps.index[-1] >= 2**23:
        largest = one["size"][one.bytes == mbps.index[-1]].iloc[0]
        text += ("In the paper, more memory than the best size costs throughput; here "
                 f"{largest} reaches {100 * mbps.iloc[-1] / mbps.max():.0f} % of the best.")
    return text


def write_missing(report: Report, runs: pandas.DataFrame, rtt: str) -> None:
    """Writes which sizes were tried without a valid run, and which were not tried."""
    tried = sorted(runs.bytes.unique())
    measured = spread_by(runs, "column", "streams", "bytes").index
    what = []
    for column in COLUMNS:
        for streams in measured.unique("streams"):
            sizes = ", ".join(f"{size / 1024:g} KB" for size in tried
                              if (column, streams, size) not in measured)
            if sizes:
                what.append(f"{column}, connections: {streams} ({sizes})")
    if what:
        what = [f"at {rtt} without a valid run {'; '.join(what)}"]
    untried = ", ".join(f"{size // 1024}" for size in SIZES if size not in tried)
    if untried:
        what.append(f"not tried at {rtt} {untried} KB")
    report.not_measured(["; ".join(what)] if what else [],
                        f"BENCH_GRID=full BENCH_RTTS={rtt.removesuffix(' ms')} "
                        "bench/run buffer_size")


def write(report: Report) -> None:
    report.write("## Paper 000: the size of buffers, Figure 5")
    runs = read_sizes(report)
    report.write("""
What an application gets for a requested buffer size, with maxima of 64 MB: if the request is
honoured (*by hand*), and with tcptuned, which takes it as a hint.""")
    rtts = sorted(runs.rtt[runs.valid].unique(), key=lambda rtt: float(rtt.split()[0]))
    for rtt in rtts:
        draw(report, runs[runs.rtt == rtt], rtt)
        write_table(report, runs[runs.rtt == rtt])
        write_best(report, runs[runs.rtt == rtt])
    report.write(report.row_conditions("buffer_size", SHIPPED + TUNING))
    report.write(comparison(runs))
    for rtt in rtts:
        write_missing(report, runs[runs.rtt == rtt], rtt)

    report.write("## Paper 000: Table 1, with tcptuned")
    paper = report.paper("000")
    table = paper[paper["where"] == "Table 1"].pivot(index="tuning", columns="x", values="value")
    columns = ["Level", "Changes", "Band", "Visibility"]
    report.table(["tuning", *map(str.lower, columns)],
                 [[tuning, *table.loc[tuning, columns]]
                  for tuning in paper.tuning[paper["where"] == "Table 1"].unique()])
    report.write("""
The last two rows are ours. tcptuned works in an unmodified kernel and measures each connection by its
own segments; applications notice it only in getsockopt(), which returns the sizes that they set.
tcptune-run does the same for one command and its children, without privileges, by TCP_INFO.""")
