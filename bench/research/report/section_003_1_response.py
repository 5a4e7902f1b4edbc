# SPDX-License-Identifier: GPL-2.0-only
"""Paper 003: the response function, Figures 4 and 6 to 8, equations (1.1) to (1.5)."""
import math
import re

import numpy
import pandas

import equations
from common import Report, longest, style
from paper_003 import absent, only, paper_values, short, span

# Each algorithm: its equation, what the report calls that, and the window below which it is Reno.
RESPONSES = {
    "bitcp": (equations.bitcp, "equations (1.3) and (1.5)", 0),
    "aimd": (equations.aimd, "the equation below (1.4)", 0),
    "hstcp": (equations.hstcp, "0.15/p^0.82 (section IV)", 38),
    "stcp": (equations.stcp, "0.08/p (Kelly's a/b; Figure 4)", 16),
    "tt_reno": (equations.reno, "sqrt(1.5/p), AIMD with 1 and 0.5", 0),
}

# Loss rates that were simulated in ns-3, and those of the numeric model
NS3_RATES = ["1e-2", "3e-3", "1e-3", "3e-4", "1e-4", "3e-5", "1e-5"]
MODEL_RATES = [*NS3_RATES, "3e-6", "1e-6", "1e-7"]

# S_max and S_min of Figures 6 and 7
BY_S_MAX = [("8", "0.01"), ("16", "0.01"), ("32", "0.01"), ("64", "0.01"), ("128", "0.01")]
BY_S_MIN = [("32", "1"), ("32", "0.1"), ("32", "0.01"), ("32", "0.001")]


def windows(lines: pandas.DataFrame, engine: str, algorithm: str) -> dict[str, float]:
    """Returns the average window at each loss rate, the rare losses first."""
    of = only(lines, engine=engine, algorithm=algorithm, what="window")
    return dict(sorted(zip(of.x, of.value), key=lambda point: float(point[0])))


def ratio(window: float | None, wanted: float, digits: int) -> str:
    return f"{window / wanted:.{digits}f}" if window and wanted else ""


def descending(*points: dict[str, float]) -> list[str]:
    """Returns the loss rates of all points, the frequent losses first."""
    return sorted(set().union(*points), key=float, reverse=True)


def response_rows(model: dict, ns3: dict, algorithm: str) -> list[list[str]]:
    """Returns the table of an algorithm against its equation, or Reno's in Reno's range."""
    function, _, low_window = RESPONSES[algorithm]
    rows = []
    for text in descending(model, ns3):
        p = float(text)
        wanted = function(p)
        if wanted < low_window:
            wanted = equations.reno(p)
        name = ""
        if algorithm == "bitcp":
            name = "(1.3) " if equations.bitcp_1_3(p) else "(1.5) "
        row = [text, name + short(wanted) if wanted else "none holds"]
        for window in model.get(text), ns3.get(text):
            row += [short(window or 0), ratio(window, wanted, 3)]
        rows.append(row)
    return rows


def draw_equation(axes, function, **look) -> None:
    """Draws an equation where it holds."""
    points = [(p, function(p)) for p in 10 ** numpy.arange(-2, -7.01, -0.05)]
    axes.plot(*zip(*[point for point in points if point[1]]), linestyle="--", **look)


def draw_points(axes, points: dict[str, float], **look) -> None:
    axes.plot([float(p) for p in points], points.values(), **look)


def set_response_axes(axes, highest: float) -> None:
    axes.set(xscale="log", yscale="log", xlim=(7e-8, 1.5e-2), ylim=(5, highest),
             xlabel="loss event rate",
             ylabel="average window, packets (rate per round-trip time)")
    axes.legend(loc="upper right")


def response_picture(report: Report, lines, name: str, number: str, algorithms: list[str]) -> None:
    title = f"Response functions, a loss every 1/p packets (paper 003, Figure {number})"
    with report.picture(name, title, "Response functions") as (_, axes):
        for algorithm in algorithms:
            look = style(algorithm)
            label = algorithm.removeprefix("tt_")
            function, _, low_window = RESPONSES[algorithm]
            draw_equation(axes, lambda p: function(p) if function(p) > low_window else 0,
                          color=look["color"])
            draw_points(axes, windows(lines, "model", algorithm), color=look["color"],
                        label=f"{label}, numeric model")
            draw_points(axes, windows(lines, "ns-3", algorithm), linestyle="",
                        label=f"{label}, ns-3", **look)
        axes.plot([], [], "k--", label="the paper's equations")
        set_response_axes(axes, 2e6)


def model_share(model: dict[str, float], function, low_window: float) -> str:
    """Returns minimum and maximum of the numeric model over an equation, for windows above
    low_window."""
    ratios = [window / function(float(p)) for p, window in model.items()
              if function(float(p)) > low_window]
    return span(ratios, ".2f") if ratios else ""


def bisect(low: float, high: float, is_above) -> float:
    """Returns the loss rate at which a decreasing function is no longer above a limit."""
    for _ in range(100):
        p = math.sqrt(low * high)
        if is_above(p):
            low = p
        else:
            high = p
    return low


def crosses_tcp(function) -> float:
    """Returns the window from which on an equation is above TCP's."""
    return equations.reno(bisect(1e-8, 1, lambda p: function(p) > equations.reno(p)))


def rate_of(window: str) -> float:
    """Returns the loss rate at which bitcp has a window."""
    return bisect(1e-10, 1e-3, lambda p: equations.bitcp(p) > float(window))


def paper_statements(report: Report, model: dict[str, float]) -> str:
    """Returns what the paper says of where bitcp leaves TCP and meets AIMD in Figure 8, and of
    other windows and loss rates. It "meets" AIMD where it has nine tenths of its window."""
    figure_8 = paper_values(report, "Figure 8")
    crossing = paper_values(report, "Section VI-B")
    fast = paper_values(report, "Section I")
    paper = paper_values(report, "Section VII")
    cross, meets = figure_8["bitcp crosses TCP", "p"], figure_8["bitcp meets aimd", "p"]
    aimd = {p: equations.aimd(float(p)) for p in model}
    reached = [float(p) for p, window in model.items() if window >= 0.9 * aimd[p]]
    bitcp_10g, hstcp_10g = (fast[f"{name} reaches 10 Gbit/s", "p"] for name in ("bitcp", "hstcp"))
    at_2500, at_100 = (paper[f"bitcp at {rate}", "p"] for rate in ("2.5 Gbit/s", "100 Mbit/s"))
    w_2500, w_100 = (paper[f"bitcp at {rate}", "window"] for rate in ("2.5 Gbit/s", "100 Mbit/s"))
    link = 10e9 * 0.1 / 12000
    ours, theirs = equations.bitcp(float(bitcp_10g)), equations.hstcp(float(hstcp_10g))
    return f"""\
- Figure 8, by the paper: bitcp crosses TCP around p = {cross}, at a window of
  {figure_8["bitcp crosses TCP", "window"]}. Ours there: {model[cross]:.1f},
  {model[cross] / equations.reno(float(cross)):.2f} times TCP.
- Figure 8, by the paper: bitcp meets AIMD around p = {meets}. Ours there is
  {model[meets] / aimd[meets]:.2f} of AIMD, (1.3) itself
  {equations.bitcp(float(meets)) / aimd[meets]:.2f}; nine tenths of it are
  {f"reached at p = {max(reached):g}" if reached else "not reached"}.
- Section VI-B, by the paper: HSTCP crosses TCP at a window of
  {crossing["hstcp crosses TCP", "window"]}, STCP at {crossing["stcp crosses TCP", "window"]}.
  0.15/p^0.82 does at {crosses_tcp(equations.hstcp):.1f}, RFC 3649's equation at
  {crosses_tcp(equations.hstcp_rfc3649):.1f}, 0.08/p at {crosses_tcp(equations.stcp):.1f}; `hstcp.h`
  has RFC 3649's low window, 38, `stcp.h` 16.
- Section I, by the paper: BI-TCP reaches 10 Gbit/s around p = {bitcp_10g}, HSTCP at {hstcp_10g}.
  With 100 ms that is a window of {short(link)}; (1.3) gives {short(ours)} there,
  {ours / link:.2f} of it, 0.15/p^0.82 {short(theirs)}, {theirs / link:.2f} of it.
- Section VII, by the paper: BI-TCP has windows of about {w_2500} (loss rate {at_2500}) at
  2.5 Gbit/s and {w_100} ({at_100}) at 100 Mbit/s. By (1.3) and (1.5) those loss rates give
  {short(equations.bitcp(float(at_2500)))} and {short(equations.bitcp(float(at_100)))}, and those
  windows want loss rates of {rate_of(w_2500):.1e} and {rate_of(w_100):.1e}: the paper's windows and
  loss rates there are not of one response function."""


def write_responses(report: Report, lines: pandas.DataFrame) -> None:
    report.write("""
## Paper 003 (BI-TCP): response functions, Figures 4 and 6 to 8

The average window at a loss event rate p, in packets. As in the derivation of section VI-B.1, a
loss comes after every 1/p packets. *Numeric model*: the header of the algorithm, without a network;
*ns-3*: the same header as the congestion control of a connection with 100 ms of round-trip time.
Each with its ratio to the paper's equation.
""")
    response_picture(report, lines, "response_4.png", "4", ["aimd", "hstcp", "stcp", "tt_reno"])
    response_picture(report, lines, "response.png", "8", list(RESPONSES))
    missing = []
    for algorithm, (_, name, _) in RESPONSES.items():
        model, ns3 = (windows(lines, engine, algorithm) for engine in ("model", "ns-3"))
        label = algorithm.removeprefix("tt_")
        if model or ns3:
            report.write(f"### {label} against {name}")
            report.table(["p", "equation", "numeric model", "ratio", "ns-3", "ratio"],
                         response_rows(model, ns3, algorithm))
        rates = absent(NS3_RATES, ns3)
        if rates:
            missing.append(f"{label} at {', '.join(rates)}")
    report.write(report.conditions(lines).replace("every; ", ""))
    if missing:
        report.not_measured([f"in ns-3 {'; '.join(missing)} (rarer losses take days)"],
                            "bench/research/sim/run full 'response|ns-3'")


def write_remarks(report: Report, lines: pandas.DataFrame) -> None:
    bitcp, hstcp, stcp = (windows(lines, "model", name) for name in ("bitcp", "hstcp", "stcp"))
    paper = paper_values(report, "Section VI-B")
    larger = [100 * (equations.search_fixed_point(p) / equations.bitcp_1_5(p) - 1)
              for p in (3e-3, 1e-3, 3e-4)]
    report.write(f"""
Where the equation gives less than a window of 38 (hstcp, RFC 3649's; the paper has
{paper["hstcp crosses TCP", "window"]}) or {paper["stcp crosses TCP", "window"]} (stcp) the table
has the equation of normal TCP, which the algorithm follows there; BI-TCP has no equation for
windows below 14. (1.5) is here the line above it in the paper, before W_max is replaced by R, which
makes it {span(larger, '.1f')} % larger at these loss rates. In ns-3 the first slow start ends at a
window of 64, and a fast recovery takes a round trip in which the window does not grow; the
equations and the model have none.

- bitcp: its pseudo-code is not what its equations describe; see below.
- hstcp is RFC 3649's, whose response function is 0.12/p^0.835: the model is
  {model_share(hstcp, equations.hstcp_rfc3649, 38)} of that.
{paper_statements(report, bitcp)}
- stcp: the paper gives STCP's β, 0.125, but neither its increase nor its equation: 0.01 packets for
  each one acknowledged are Kelly's ("Scalable TCP", 2002), and so is 0.08/p, a/b for small a and b.
  Without that approximation it is ln(1 + a) / ln(1 / (1 - b)) = {equations.stcp_exact(1):.4f}, of
  which the model is {model_share(stcp, equations.stcp_exact, 60)} above windows of 60. At p = 3e-3
  it is caught between whole packets: it gives up 3 of 19 where an eighth is 2.4.
""")


def write_own_of_ns3(report: Report, lines: pandas.DataFrame) -> None:
    """Compares with ns-3's own implementations."""
    names = {"bitcp": "bitcp", "ns3-bic": "ns-3's bic", "hstcp": "hstcp",
             "ns3-highspeed": "highspeed", "stcp": "stcp", "ns3-scalable": "scalable",
             "tt_reno": "reno", "ns3-reno": "ns-3's reno"}
    columns = [windows(lines, "ns-3", name) for name in names]
    report.write("""
### Next to ns-3's own implementations

The same in ns-3, with its own algorithms instead of ours: average window in packets.
""")
    report.table(["p", *names.values()], [[p] + [short(points.get(p, 0)) for points in columns]
                                          for p in descending(*columns)])
    report.write("""
ns-3's BIC is Linux's, not the paper's: it searches by a quarter of the distance, in steps of at
most 16 packets, and gives up a fifth of the window at a loss. Its Scalable grows by a packet for 50
acknowledged, the original (Kelly's) and ours for 100.
""")


def write_readings(report: Report) -> None:
    """Shows which reading of the paper its equations describe."""
    lines = report.lines("reading")
    window = lines.pivot(index="x", columns="algorithm", values="value")
    window = window.sort_index(key=lambda x: x.astype(float), ascending=False)
    wanted = window.index.map(lambda p: equations.bitcp(float(p)))
    derived = window.index.map(lambda p: equations.bitcp_pseudo_code(float(p)))
    share = window.assign(derived=derived).div(wanted, axis=0)
    report.write("""
### BI-TCP's equations and its pseudo-code

The paper says two things about binary search. In the pseudo-code of section VI-A the target moves
with each ACK, and the distance to the maximum shrinks by e^-1/2 per round trip; the text and
equation (1.2) have it halved. And in the pseudo-code a window that has passed its maximum meets the
next loss with `prev_max` at the default maximum, so that fast convergence applies to a flow that is
not shrinking; the derivation has no fast convergence. The four combinations, in floating point
(`bench/research/sim/readings.cc`), as ratios to (1.3) and (1.5):
""")
    columns = {"ack-default": "pseudo-code: target per ACK, prev_max default",
               "ack-last": "target per ACK, prev_max of the last loss",
               "derived": "the equations with N_2 of the pseudo-code",
               "rtt-default": "target per RTT, prev_max default",
               "rtt-last": "target per RTT, prev_max of the last loss"}
    rows = [[p, f"{window:.0f}"] + [f"{value:.2f}" for value in share.loc[p, list(columns)]]
            for p, window in zip(share.index, wanted)]
    report.table(["p", "equation", *columns.values()], rows)
    # From the rarest losses on, how far is the pseudo-code within a tenth of the equations?
    near = share["ack-default"][::-1].between(0.9, 1.1).cummin()
    near_from = near[near].index
    where = f", at p = {near_from[-1]} and below" if len(near_from) else ""
    report.write(f"""
Over these loss rates the pseudo-code comes to {span(share['ack-default'], '.2f')} of the equations,
the text with the last loss's maximum to {span(share['rtt-last'], '.2f')}. `bitcp.h` follows the
pseudo-code, the first of these columns: compare its numeric model above.

The gap of the second column can be derived. The equations count N_2 = log2(d / S_min) + 2 round
trips of binary search over a distance d. Where the target moves with each ACK, the distance g obeys
g' = -g/2 per round trip until g/2 is S_min, which takes 2 ln(d / (2 S_min)), and the last 2 S_min
take two: for d = 2 S_max = 64 that is 18.1 round trips instead of 14.6, and (1.1) and (1.2) with it
(`bitcp_pseudo_code()` in `bench/research/report/equations.py`) give the third column. What was
simulated comes to {span(window['ack-last'] / derived, '.3f')} of it. The rest, from the first to
the second column, is fast convergence at every loss: half of what was given up is searched for, and
the other half regained by the slow start past the maximum. So the pseudo-code is within a tenth of
its paper's equations only where additive increase outweighs the search{where}, and the text's
reading is within about a tenth throughout.
""")


def parameters_picture(report: Report, name: str, number: str, which: str, points: dict) -> None:
    title = f"BI-TCP's response function for different S_{which} (paper 003, Figure {number})"
    colours = ["#762a83", "#4575b4", "#1b7837", "#e08214", "#b2182b"]
    with report.picture(name, title, f"Figure {number}") as (_, axes):
        for (pair, found), colour, marker in zip(points.items(), colours, "o^Dsv"):
            s_max, s_min = pair
            draw_equation(axes, lambda p: equations.bitcp(p, float(s_max), float(s_min)),
                          color=colour, label=f"S_{which} {s_max if which == 'max' else s_min}")
            draw_points(axes, found, color=colour, marker=marker, linestyle="")
        draw_equation(axes, equations.reno, color="#555555", label="TCP")
        axes.plot([], [], "ko", label="points: bitcp.h, numeric model; lines: equations")
        set_response_axes(axes, 2e5)


def parameters_table(report: Report, points: dict) -> None:
    """Writes windows and their ratio to the equation at each loss rate."""
    header = ["p"]
    for s_max, s_min in points:
        header += [f"{s_max}, {s_min}: equation", "ours", "ratio"]
    rows = []
    for p in descending(*points.values()):
        row = [p]
        for (s_max, s_min), found in points.items():
            wanted = equations.bitcp(float(p), float(s_max), float(s_min))
            window = found.get(p, 0)
            row += [short(wanted), short(window), ratio(window, wanted, 2)]
        rows.append(row)
    report.table(header, rows)


def write_parameters(report: Report, response: pandas.DataFrame) -> None:
    lines = report.lines("parameters")
    points = {}
    for s_max, s_min in BY_S_MAX + BY_S_MIN:
        how = f"every; S_max {s_max}; S_min {s_min};"
        of = lines[lines.conditions.str.startswith(how)]
        points[s_max, s_min] = windows(of, "model", "bitcp")
    # The paper's choice is among the response functions.
    points["32", "0.01"] = windows(response, "model", "bitcp")
    by_s_max, by_s_min = ({pair: points[pair] for pair in pairs} for pairs in (BY_S_MAX, BY_S_MIN))
    report.write("""
### Other S_max and S_min, Figures 6 and 7

The equations with other parameters, and `bitcp.h` with the same. Which values the paper draws its
text does not say; it says that S_max moves the function at low loss rates only, about a pivot at
p = 1e-4, and S_min at high ones.
""")
    parameters_picture(report, "parameters_s_max.png", "6", "max", by_s_max)
    report.write("S_max, S_min:")
    parameters_table(report, by_s_max)
    parameters_picture(report, "parameters_s_min.png", "7", "min", by_s_min)
    parameters_table(report, by_s_min)
    command = "bench/research/sim/run full '^parameters'"
    report.write(re.sub("every; .*; seed", "seed", report.conditions(lines)))
    missing = [f"{s_max} and {s_min} at {', '.join(absent(MODEL_RATES, found))}"
               for (s_max, s_min), found in points.items() if absent(MODEL_RATES, found)]
    report.not_measured(missing, command)
    report.write("Where ours is below the equations, the pseudo-code differs from them as it does "
                 "with the paper's own parameters.")


def write(report: Report) -> None:
    lines = report.lines("response")
    lines = lines[lines.conditions.str.startswith("every; ")]
    # Of the runs of a point the one with the most losses counts.
    lines = longest(lines)
    write_responses(report, lines)
    write_remarks(report, lines)
    write_own_of_ns3(report, lines)
    write_readings(report)
    write_parameters(report, lines)
