# SPDX-License-Identifier: GPL-2.0-only
"""Paper 003: the kernel's own congestion controls next to ours, over the same links, in virtual
time."""
import math

import pandas

from common import Report, unique
from paper_003 import absent, only, span
from section_003_1_response import RESPONSES, windows

# The kernel's algorithm, and ours
PAIRS = [("bic", "bitcp"), ("bic-paper", "bitcp"), ("highspeed", "hstcp"), ("scalable", "stcp"),
         ("vegas", "tt_vegas"), ("vegas-paper", "tt_vegas"), ("reno", "tt_reno")]

# The order of the table of queues
QUEUED = ["bic", "bic-paper", "bitcp", "highspeed", "hstcp", "scalable", "stcp", "aimd", "vegas",
          "vegas-paper", "tt_vegas", "reno", "tt_reno"]

# Where both follow the same rule: the kernel's, ours, what is compared, how far they may be apart,
# and what ours is to be of the kernel's. hstcp cuts off what is left to whole packets, 25.997 of 51
# to 25: that is 2 % there. Vegas under losses grows by a packet a round trip, and gives up a half
# (the kernel's) or a quarter (ours, ns-2's): sqrt((2 - b) / 2b), 1.53 times.
CHECKS = [
    ("bic-paper", "bitcp", "decrease", 0.01, 1),
    ("highspeed", "hstcp", "decrease", 0.03, 1),
    ("scalable", "stcp", "decrease", 0.01, 1),
    ("reno", "tt_reno", "decrease", 0.01, 1),
    ("reno", "tt_reno", "window", 0.05, 1),
    ("vegas-paper", "tt_vegas", "window", 0.1, 1.528),
]

# Why they differ, where this one of the kernel's was measured
DIFFERENCES = {
    "": """\
- The numeric model has no recovery, in which the window stands still for a round trip; of the
  paper's equation and its pseudo-code see above.""",
    "bic": """\
- `bic` searches by a quarter of the distance to the maximum where the paper takes half, in steps of
  at most 16. Within eight packets of the maximum its parameters let it take five round trips for
  one packet, where the paper goes on in ever smaller steps down to S_min 0.01; past it, it adds a
  third of the way that it has come per round trip, where the paper has slow start. A loss leaves it
  0.8. It also multiplies its growth by the number of packets that an ACK stands for, although
  `tcp_cong_avoid_ai()` counts packets by now and not ACKs: with delayed ACKs it grows twice as fast
  as its parameters say.""",
    "highspeed": """\
- `highspeed` adds a(w) once per ACK, not per packet: with delayed ACKs it grows half as fast as RFC
  3649 says; of 51 packets `hstcp` is left 25.997, cut off to 25. What `highspeed` gives up follows
  the window in congestion avoidance only, so that a first slow start ends with a half.""",
    "scalable": """\
- `scalable` has no low window, and grows by a packet per round trip below 100 of them, where the
  algorithm's a = 0.01 (Kelly's) is less than one; it gives up an eighth at every window, `stcp` a
  half below 16.""",
    "vegas": """\
- `vegas` leaves slow start at once when its estimate says so, as `tt_vegas` does, but doubles in
  every round trip until then, and has α 2 and β 4 by default. A loss halves its
  window, and leaves `tt_vegas` three quarters, as ns-2 has it: losses as frequent as here decide
  over both, and by the response function of such an increase and decrease ours is 1.53 times the
  kernel's.""",
}


def cell(values: pandas.DataFrame, algorithm: str, what: str, form: str) -> str:
    """Returns a value, or nothing. What Vegas has left is none of a loss: it gives packets up
    without one, too."""
    value = values[what].get(algorithm, math.nan) if what in values else math.nan
    if math.isnan(value) or (what in ("decrease", "growth") and "vegas" in algorithm):
        return ""
    return format(value, form)


def pair_rows(values: pandas.DataFrame, every: int, model: pandas.DataFrame) -> list[list[str]]:
    """Returns the kernel's and ours side by side. model: windows of the numeric model."""
    rows = []
    for pair in PAIRS:
        if absent(pair, values.window.dropna().index):
            continue
        theirs, ours = values.window[list(pair)]
        modelled = windows(model, "model", pair[1])
        modelled = [window for p, window in modelled.items() if float(p) == 1 / every]
        equation = RESPONSES[pair[1]][0](1 / every) if pair[1] in RESPONSES else 0
        rows.append([*pair, *(cell(values, name, "window", ".1f") for name in pair),
                     f"{ours / theirs:.2f}", f"{modelled[0]:.1f}" if modelled else "",
                     f"{equation:.1f}" if equation else "",
                     *(cell(values, name, "decrease", ".3f") for name in pair),
                     *(cell(values, name, "growth", ".2f") for name in pair)])
    return rows


def checks(values: pandas.DataFrame) -> str:
    """Says how far apart both are where they follow the same rule."""
    text = []
    for *pair, what, limit, times in CHECKS:
        if what not in values or absent(pair, values[what].dropna().index):
            continue
        theirs, ours = values[what][pair]
        apart = ours / theirs / times - 1
        text.append(f"- {'met' if abs(apart) <= limit else '**not met**'}: {' and '.join(pair)}, "
                    f"{'left after a loss' if what == 'decrease' else 'window'} "
                    f"{theirs:.3g} and {ours:.3g}")
        if times != 1:
            text[-1] += f", {ours / theirs:.2f} times instead of {times:.2f}"
        text[-1] += f": {100 * apart:+.1f} % (at most {100 * limit:g})"
    return "\n".join(text)


def peers_picture(report: Report, lines: pandas.DataFrame, every: int) -> None:
    """Draws the windows of the algorithms of which there is something to compare."""
    panes = {"BI-TCP": ["bic", "bitcp", "bic-paper"], "HighSpeed TCP": ["highspeed", "hstcp"],
             "Scalable TCP": ["scalable", "stcp"], "Reno": ["reno", "tt_reno"]}
    traces = only(lines, what="trace").set_index("algorithm").text
    drawn = {title: [name for name in names if name in traces] for title, names in panes.items()}
    drawn = {title: names for title, names in drawn.items() if len(names) > 1}
    with report.picture("peers.png",
                        f"Congestion window, one loss every {every} packets, 100 ms", "Windows",
                        size=(1000, 760 if len(drawn) > 2 else 420), squeeze=False,
                        nrows=(len(drawn) + 1) // 2, ncols=min(2, len(drawn))) as (_, axes):
        for pane, (title, names) in zip(axes.flat, drawn.items()):
            for name, colour in zip(names, ("#b2182b", "#1b7837", "#e08214")):
                points = [map(float, sample.split(":")) for sample in traces[name].split()]
                pane.plot(*zip(*points), color=colour, label=name)
            pane.set(title=title, xlabel="seconds", ylabel="window, packets", xlim=(2, None),
                     ylim=(0, None))
            pane.legend(loc="lower right")


def write_conditions(report: Report, lines: pandas.DataFrame) -> None:
    linux = f"Conditions: Linux {unique(lines.engine)};"
    report.write(report.conditions(lines).replace("Conditions:", linux, 1))


def write_responses(report: Report, lines: pandas.DataFrame) -> None:
    report.write("""
## The kernel's own congestion controls next to ours

A check by code that is not ours: `bic`, `highspeed`, `scalable`, `vegas` and `reno` as Debian's
kernel has them, and ours as struct_ops, one connection at a time over the same link (veth, netem, a
packet dropped after every so many, one of 200 in the first two seconds), in QEMU with virtual time
(`bench/research/kernels/run`). The kernel reports the windows (tracepoint `tcp_probe`), and
tcptuned does not run. `bic-paper` is the kernel's `bic` with the paper's S_max 32 and β 1/8 in the
place of its own 16 and 1/5, `vegas-paper` its `vegas` with α 1, β 3 in the place of 2 and 4.

*Window*: mean over round trips, the first quarter of the run left out, with the ratio of ours to
the kernel's. *Left*: mean share of the window that is left after a loss. *Growth*: packets per
round trip between losses.
""")
    model = report.lines("response")
    model = model[model.conditions.str.startswith("every; ")]
    alone = []
    for every in sorted(lines.x.astype(int).unique()):
        of = only(lines, x=str(every))
        values = of.pivot(index="algorithm", columns="what", values="value")
        report.write(f"### One loss every {every} packets")
        rows = pair_rows(values, every, model)
        report.table(["kernel", "ours", "window: kernel", "ours", "ratio", "numeric model of ours",
                      "the paper's equation", "left: kernel", "ours", "growth: kernel", "ours"],
                     rows)
        report.write(checks(values))
        if "losses" in values and values.losses.min() < 10:
            report.write(f"""
These runs have {span(values.losses.dropna(), '.0f')} losses each. A window that grows slowly, as
stcp's and scalable's do, is still on its way to its mean then, and below the numeric model, which
is of a long run.
""")
        names = absent(values.window.dropna().index, [name for row in rows for name in row[:2]])
        alone += [f"{name} with a loss every {every} packets {values.window[name]:.1f}"
                  for name in names]
    peers_picture(report, of, every)
    write_conditions(report, lines)
    if alone:
        report.write("Measured, but without a counterpart (mean window): "
                     f"{'; '.join(sorted(alone))}.")
    names = sorted({"aimd"}.union(*PAIRS))
    report.not_measured(absent(names, lines.algorithm), "bench/research/kernels/run short")
    report.write("Where they differ, and why (net/ipv4/tcp_*.c of Linux 6.12):")
    report.write("\n".join(text for name, text in DIFFERENCES.items()
                           if not name or name in set(lines.algorithm)))


def write_queue(report: Report, lines: pandas.DataFrame) -> None:
    report.write(f"""
### The kernel's and ours at a queue of one BDP

Alone at a drop-tail bottleneck of {unique(lines.conditions.str.split(";").str[0])}. *Carried*:
goodput of what the link can carry.
""")
    values = lines.pivot(index=["algorithm", "conditions"], columns="what", values="value")
    values = values.reset_index("conditions")
    rows = []
    for name in absent(QUEUED, absent(QUEUED, values.index)):
        of = values.loc[name]
        carried = 100 * of.goodput * 1514 / 1448 / float(of.conditions.split(" ")[0])
        rows.append([name, f"{of.goodput:.2f}", f"{carried:.1f}", f"{of.retransmits:.0f}",
                     f"{of.drops:.0f}", f"{of.window:.0f}", f"{of.rtt:.1f}",
                     cell(values, name, "decrease", ".3f"), f"{of.losses:.0f}"])
    report.table(["", "goodput, Mbit/s", "carried, %", "retransmits", "drops", "window", "RTT, ms",
                  "left after a loss", "losses"], rows)
    write_conditions(report, lines)


def write(report: Report) -> None:
    write_responses(report, report.lines("peer_response"))
    write_queue(report, report.lines("peer_queue"))
