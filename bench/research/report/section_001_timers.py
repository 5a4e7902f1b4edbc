# SPDX-License-Identifier: GPL-2.0-only
"""Paper 001, section IV.B: the bounds for coarse timers."""
import math

import pandas

from common import Report

RTTS = [0.5, 1, 5, 10, 25, 50, 100]


def bound(clock: float, rtt: float) -> int:
    """Returns the whole number below the bound (6), in windows."""
    return math.ceil(2 * clock / rtt) + 2


def write_table(report: Report, found: pandas.DataFrame) -> None:
    """Writes the bound and what was found for the paper's clock and today's: d, what the estimator
    makes of it, and what it offers, in windows of the sender."""
    def span(clock: float, rtt: float, what: str) -> str:
        if (clock, rtt) not in found.index:
            return ""
        lowest, highest = found.loc[(clock, rtt), [f"{what}_least", f"{what}_most"]]
        return f"{lowest:.3g}" if highest - lowest < 0.005 else f"{lowest:.3g} to {highest:.3g}"

    jiffy = float(report.paper_value("001", "IV.B", "jiffy", "us")) / 1000
    header, rows = ["RTT, ms"], [[f"{rtt:g}"] for rtt in RTTS]
    for clock in jiffy, 1:
        header += [f"clock of {clock:g} ms: (6), d / w at most", "ours", "ratio",
                   "our estimate / w", "offered / w"]
        for row, rtt in zip(rows, RTTS):
            highest = found.d_most.get((clock, rtt))
            row += [str(bound(clock, rtt)), span(clock, rtt, "d"),
                    "" if highest is None else f"{highest / bound(clock, rtt):.2f}",
                    span(clock, rtt, "per_rtt"), span(clock, rtt, "window")]
    report.table(header, rows)


def bounds_kept(found: pandas.DataFrame) -> str:
    """Says whether d and the round trips that it is of keep to (6) and (5), and what is offered."""
    bounds = [bound(clock, rtt) for clock, rtt in found.index]
    kept = {what: (found[f"{what}_least"] >= 1).sum() + (found[f"{what}_most"] <= bounds).sum()
            for what in ("d", "rounds")}
    return (f"Bound (6) on d holds in {kept['d']} of {2 * len(found)} cases, bound (5) on the "
            f"round trips of that period in {kept['rounds']} of {2 * len(found)}. Our smallest "
            f"estimate from this one round is {found.per_rtt_least.min():.2g} of the window; the "
            f"offer is {found.window_least.min():.2g} to {found.window_most.max():.2g} times the "
            "window. It is a first round, in which a new connection has room to grow.")


def write(report: Report) -> None:
    coarse = report.lines("coarse")
    found = coarse.assign(clock=coarse.conditions.str.split().str[2].astype(float),
                          rtt=coarse.x.astype(float))
    found = found.pivot(index=["clock", "rtt"], columns="what", values="value")
    report.write("""
## Paper 001, section IV.B: bounds (1) to (6) for coarse timers

A receiver with a coarse clock takes too long a period for one round trip. The bytes d of that
period can exceed the window w by as much as the bound (6) allows: here its largest whole number for
the paper's clock of 10 ms, and for the 1 ms of the timestamps by which a receiver measures the RTT
today. *Ours* is the minimum and the maximum that `bench/research/sim/coarse.cc` finds around
`rightsize.h`, over senders that send in bursts, evenly and at random; then follow the estimate,
which is d divided by the time that it took, and the window that is offered for it.""")
    if coarse.empty:
        report.not_measured(["what the estimator makes of it"],
                            "bench/research/sim/run short '^coarse'")
    else:
        write_table(report, found)
        report.write(bounds_kept(found))
        report.write(report.conditions(coarse, ("include/tcptuned/algo/rightsize.h",)))
    report.write("""
`tests/unit/test_rightsize.c` checks each of (1) to (6) on `rightsize.h`, with clocks of 10 ms and
1 ms and senders that send in bursts and evenly. It finds that the bound of three above 20 ms holds,
and that a LAN of 1 ms is overstated by 15 and more, as the paper says. What tcptuned makes of the
same d, by dividing it by the time that it took, is at most twice what the window carries in the
RTT, or in 4 ms where the RTT is less (`RIGHTSIZE_WINDOW_FLOOR_US`; eight windows at 1 ms). For RTTs
of two ticks and more, it offers no less than the window, and at most twelve times as much (in 4 ms,
where the RTT is less).""")
