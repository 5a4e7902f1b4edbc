# SPDX-License-Identifier: GPL-2.0-only
"""The first table of the report: what the papers claim, and what the sections below it found.

"Ours" is read from the text of a section, so that it cannot differ from it, and the runs are those
of the cells that it comes from. A verdict is a judgement: reproduced (the paper's condition, and
its figure or order), agrees (its figure or order under another condition), trend (the direction
only), contradicted, not comparable (the condition does not exist here, or is another one), not
measured.
"""
import re
from collections import Counter
from typing import NamedTuple

from common import Report
from tables import is_valid, longest


class Claim(NamedTuple):
    paper: str
    claim: str
    figure: str   # the paper's, as it prints it
    section: str  # how its heading goes on behind "## "
    ours: str     # a pattern, whose groups are our figures
    verdict: str
    cells: str = ""  # a pattern of "bench; x; column", or of a point of sim.csv in that form


GRID = "Paper 000 (automatic tuning compared): the grid"
DRS = "Paper 001 (Dynamic Right-Sizing)"
SLOW = "Paper 001: low-bandwidth links"
CLIENTS = "Paper 002 (burstiness): clients of one gateway"
ADDED = "Paper 002: clients added"
TABLES = "Paper 003: Tables 1 to 3 side by side"
USED = "Paper 003: utilisation"
PARALLEL = "Paper 004 (parallel connections): throughput"
IMPACT = "Paper 004: impact on others"

CLAIMS = [
    Claim("000, Figure 6", "one untuned connection at 25 ms, Mbit/s", "below 20", GRID,
          r"1 connection, none, Mbit/s \| .*? \| (\S+)", "trend",
          r"grid; default, 25 ms, 1; none"),
    Claim("000, Figure 6", "eight untuned connections over one", "8", GRID,
          r"none: 8 connections over 1 \(linear: 8\) \| .*? \| (\S+)", "reproduced",
          r"grid; default, .*, [18]; none"),
    Claim("000, 4.3", "untuned, Mbit/s = connections x k / ms: k", "214", GRID,
          r"\| none \| 2\.2\.20-None \| 214 \| (\S+)", "trend",
          r"grid; default, (25|50|100) ms, \d; none"),
    Claim("000, Figure 2", "autotuning over none at 0.5 ms, Mbit/s", "at least 100", GRID,
          r"kernel minus none, Mbit/s \| .*? \| (\S+)", "agrees",
          r"grid; default, 0\.5 ms, 1; (none|kernel)"),
    Claim("000, Figure 2", "eight connections over one at 0.5 ms, untuned, %", "55-70", GRID,
          r"0\.5 ms, none: gain of 8 connections over 1, % \| .*? \| (\S+)", "not comparable",
          r"grid; default, 0\.5 ms, [18]; none"),
    Claim("000, Figure 5", "the best buffer at 0.5 ms, one connection", "1024 KB",
          "Paper 000: the size of buffers", r"connections: 1: the best size \| .*? \| (.*?) \|",
          "contradicted",
          r"buffer_size; 0\.5 "),
    Claim("000, Figure 9", "DRS over autotuning, larger maxima, 100 ms, one connection", "5-15",
          GRID, r"100 ms, 1 connection: DRS over kernel \| .*? \| (\S+)", "not comparable",
          r"grid; kernel only, 100 ms, 1; (kernel|tcptuned, cubic)"),
    Claim("000, Figure 10", "DRS over autotuning, buffers by hand, 100 ms, one connection", "1",
          GRID, r"100 ms, connections: 1; DRS over Linux 2\.4 \| 1 \| (\S+)", "agrees",
          r"grid; user and kernel, 100 ms, 1; (by hand|tcptuned, cubic)"),
    Claim("000", "DRS at least as fast as any other: cells where it has 97 %, with cubic", "all",
          GRID, r"in\s+(\d+ of \d+)\s+with\s+cubic", "trend",
          r"grid; .*; (none|kernel|by hand|tcptuned, cubic)$"),
    Claim("001, Figure 2", "64 MB at 100 ms: right-sized over static", "7", DRS,
          r"times faster \| 7 \| (\S+)", "trend",
          r"drs; .*reno"),
    Claim("001, Figure 4", "largest window over largest flight", "2", DRS,
          r"largest window / largest flight \| 2 \| (\S+)", "contradicted",
          r"drs; .*right-sized, reno"),
    Claim("001, Figure 5", "56 kbit/s: largest window, bytes", "below 13000", SLOW,
          r"largest window, bytes \(the paper: below\) \| 13000 \| (\S+)", "contradicted",
          r"slow_flight; .*tcptuned"),
    Claim("001, V.B", "56 kbit/s: flight, static over right-sized", "above 1", SLOW,
          r"static / right-sized, mean flight \| above 1 \| (\S+)", "contradicted",
          r"slow_flight; "),
    Claim("001, Figure 7", "retransmits, static over right-sized: 1.5 Mbit/s and 100 ms, 50 ms; 56 "
          "kbit/s", "1.2", SLOW, r"\| 1\.5 Mbit/s, 100 ms (?:\| \S+ ){4}\| (\S+) .*\n"
          r"\| 1\.5 Mbit/s, 50 ms (?:\| \S+ ){4}\| (\S+) .*\n"
          r"\| 56 kbit/s, 100 ms (?:\| \S+ ){4}\| (\S+) ", "trend",
          r"slow_link; .*(static 64 KB|at the receiver)"),
    Claim("002, Figure 2", "c.o.v. over Poisson's, Reno, above 38 clients, %", "over 140",
          CLIENTS, r"\| reno \| 4\d to \d+ \| over 140 % \| (.*?) % \|", "agrees",
          r"clients; ns-3; tt_reno; (44|52|60); FIFO-50; ACKs each"),
    Claim("002, Figure 2", "the same with RED, %", "over 200", CLIENTS,
          r"\| reno, RED \| .*? \| over 200 % \| (.*?) % \|", "contradicted",
          r"clients; ns-3; tt_reno; (44|52|60); RED-50; ACKs each"),
    Claim("002, Figure 2", "up to 38 clients, %", "up to 50", CLIENTS,
          r"\| reno \| .*? \| up to 50 % \| (.*?) % \|", "contradicted",
          r"clients; ns-3; tt_reno; (10|20|30|38); FIFO-50; ACKs each"),
    Claim("002, Figure 2", "Vegas smoother than Reno above 38 clients (ns-3, kernel; drop-tail): "
          "points", "all", CLIENTS, r"(?s)ns-3, drop-tail: the c\.o\.v\. of vegas is below that "
          r"of reno at (\d+ of \d+).*?kernel, drop-tail: the c\.o\.v\. of vegas is below that of "
          r"reno at (\d+ of \d+)", "agrees",
          r"clients; (ns-3; tt_(reno|vegas); (44|52|60); FIFO-50; ACKs each|"
          r"(44|60), drop-tail; tt_(reno|vegas))"),
    Claim("002, Figures 5, 9", "queue of 50, Vegas over Reno, throughput", "above 1", ADDED,
          r"\| 5, 9 .*? \| .*? \| (.*?) \|", "not comparable",
          r"added; ns-3; .*(FIFO|RED)-50"),
    Claim("002, Figures 6, 10", "queue of 50, Vegas loses less than Reno: points", "all", ADDED,
          r"\| 6, 10 .*? \| .*? \| (.*?) \|", "not comparable",
          r"added; ns-3; .*(FIFO|RED)-50"),
    Claim("002, Figures 7, 11", "queue of 1500, Vegas over Reno, throughput", "nearly 1", ADDED,
          r"\| 7, 11 .*? \| .*? \| (.*?) \|", "not comparable",
          r"added; ns-3; .*(FIFO-1500|RED[12])"),
    Claim("002, Figures 8, 12", "queue of 1500, Vegas loses less than Reno: points", "all", ADDED,
          r"\| 8, 12 .*? \| .*? \| (.*?) \|", "not comparable",
          r"added; ns-3; .*(FIFO-1500|RED[12])"),
    Claim("002, Figure 13", "the model above Reno under load: points", "all",
          "Paper 002: the stochastic model", r"(\d+ of \d+) numbers of clients above 38",
          "reproduced",
          r"clients; stochastic; "),
    Claim("003, Figure 8", "BI-TCP's response over (1.3) and (1.5), numeric model, p = 3e-3, 1e-4, "
          "1e-7", "1", "Paper 003 (BI-TCP): response functions",
          r"(?s)### bitcp .*?\| 3e-3 \| .*? \| .*? \| (\S+).*?\| 1e-4 \| .*? \| .*? \| (\S+)"
          r".*?\| 1e-7 \| .*? \| .*? \| (\S+)", "contradicted",
          r"response; model; bitcp; (3e-3|1e-4|1e-7)"),
    Claim("003, Table 2", "2.5 Gbit/s, 40 ms over 120 and 240 ms: BI-TCP (kernel; queue of 40 ms "
          "where the paper's is one BDP of a link of 10 ms)", "9.18, 35.76", TABLES,
          r"\| Table 2 \| bitcp \| kernel \| .*? \| ([\d.]+),.*? \| ([\d.]+),",
          "not comparable",
          r"rtt_ratio; 2500 Mbit/s, drop-tail, [36]; bitcp"),
    Claim("003, Table 2", "the same: AIMD", "6.56, 22.55", TABLES,
          r"\| Table 2 \| aimd \| kernel \| .*? \| ([\d.]+),.*? \| ([\d.]+),",
          "not comparable",
          r"rtt_ratio; 2500 Mbit/s, drop-tail, [36]; aimd"),
    Claim("003, Table 2", "the order AIMD, BI-TCP, HSTCP, STCP (kernel, ratio 3 and 6, longest "
          "runs)", "holds", TABLES, r"(?s)Table 2, 2\.5 Gbit/s, kernel, ratio 3 [^\n]*: (\w[\w ]*)"
          r"\n.*?Table 2, 2\.5 Gbit/s, kernel, ratio 6 [^\n]*: (\w[\w ]*)\n", "trend",
          r"rtt_ratio; 2500 Mbit/s, drop-tail, [36]; "),
    Claim("003, Table 3", "100 Mbit/s: BI-TCP (ns-3; the same queue of 40 ms)", "13.1, 33.8",
          TABLES, r"\| Table 3 \| bitcp \| ns-3 \| .*? \| ([\d.]+),.*? \| ([\d.]+),",
          "not comparable",
          r"rtt_ratio; ns-3; bitcp; [36]; 100 Mbit/s.* 200 s"),
    Claim("003, VII", "utilisation with BI-TCP, drop-tail, % (kernel, 2.5 Gbit/s)", "100", USED,
          r"\| drop-tail \| kernel \| bitcp \|.*\| ([\d.]+) \| [\d.]+ \|", "agrees",
          r"friendliness; 2500 Mbit/s, drop-tail; bitcp"),
    Claim("003, VII", "the same with RED, %", "99", USED,
          r"\| RED \| kernel \| bitcp \|.*\| ([\d.]+) \| [\d.]+ \|", "agrees",
          r"friendliness; 2500 Mbit/s, RED; bitcp"),
    Claim("003, Figure 9", "TCP's share next to BI-TCP over that next to STCP, 100 Mbit/s (ns-3)",
          "about 1", "Paper 003: TCP friendliness, Figure 9",
          r"100 Mbit/s \| TCP's share next to bitcp / next to stcp \| about 1 \| (\S+)",
          "contradicted",
          r"mix; ns-3; (bitcp|stcp); 100; droptail"),
    Claim("003, Figure 9", "the largest share first, 2.5 Gbit/s (kernel)", "STCP, HSTCP, BI-TCP",
          "Paper 003: TCP friendliness on the kernel",
          r"2500 Mbit/s \| high-speed share, the largest first \| .*? \| (.*?) \|",
          "contradicted",
          r"friendliness; 2500 Mbit/s, drop-tail; "),
    Claim("003, Figure 10", "Jain's index of four BI-TCP flows over all scales (kernel, 2.5 "
          "Gbit/s, drop-tail)", "close to 1",
          "Paper 003: fairness over time scales on the kernel, 2500 Mbit/s, drop-tail",
          r"\| bitcp \| close to 1 \| (.*?) \|", "agrees",
          r"fairness; 2500 Mbit/s, drop-tail; bitcp"),
    Claim("003, Figure 10", "the same of STCP", "below 0.8",
          "Paper 003: fairness over time scales on the kernel, 2500 Mbit/s, drop-tail",
          r"\| stcp \| below 0\.8 \| (.*?) \|", "contradicted",
          r"fairness; 2500 Mbit/s, drop-tail; stcp"),
    Claim("003, Figure 11", "RED: HSTCP deviates from 1 up to 25 s (kernel, 2.5 Gbit/s)", "much",
          "Paper 003: fairness over time scales on the kernel, 2500 Mbit/s, RED",
          r"\| hstcp, up to 25 s \| .*? \| (.*?) \|", "agrees",
          r"fairness; 2500 Mbit/s, RED; hstcp"),
    Claim("003, Figure 2", "ten of 20 flows lose together, drop-tail, % of the seconds with a "
          "loss (200 Mbit/s)", "70", "Paper 003: synchronised losses",
          r"\| drop-tail \| 10 of 20 \| .*? \| (\S+) %", "trend",
          r"synchronised; ns-3; .*droptail"),
    Claim("003, Figure 3", "STCP starves flows of long round-trip times", "a picture", "", "",
          "not measured"),
    Claim("004, Figures 3 to 5", "30 connections over one without others, scenarios 1, 2, 3",
          "little, limited, significant", PARALLEL,
          r"(?s)scenario 1 without others: 30 over 1 \| \S+ \| ([\d.]+) \|.*?"
          r"scenario 2 without others: 30 over 1 \| \S+ \| ([\d.]+) \|.*?"
          r"scenario 3 without others: 30 over 1 \| \S+ \| ([\d.]+) \|", "trend",
          r"parallel; ns-3; .*; (1|30); scenario [123]; 0 others"),
    Claim("004, III.A", "scenario 1, 15 others: 30 connections over one, drop-tail, RED",
          "starved only by drop-tail", PARALLEL,
          r"(?s)starved \| ([^|]*) \|.*?starved \| ([^|]*) \|",
          "agrees",
          r"parallel; ns-3; .*; (1|30); scenario 1; 15 others"),
    Claim("004, Figure 6", "scenario 4, 10 others: what 30 gain and others do not lose, %", "most",
          PARALLEL, r"mainly a larger total \| (-?\d+) %", "agrees",
          r"parallel; ns-3; .*; (1|30); scenario 4; 10 others"),
    Claim("004, Figure 7", "scenario 5, 10 others: what they lose to 30 connections (10), %",
          "nothing", PARALLEL, r"\| nothing \| (-?\d+ % \(.*?\)) \|", "agrees",
          r"parallel; ns-3; .*; (1|10|30); scenario 5; 10 others"),
    Claim("004, Figure 8", "scenario 6, 5 others: the same", "more with more; relatively flat",
          PARALLEL, r"relatively flat \| (-?\d+ % \(.*?\)) \|", "trend",
          r"parallel; ns-3; .*; (1|10|30); scenario 6; 5 others"),
    Claim("004, IV", "scenarios 2 to 6 with a median error up to 0.15, predicted from (1, 8), (1, "
          "10), (1, 15), doubling", "all (our bar)", PARALLEL, r"Scenarios 2 to 6 with .*?: "
          r"(\d+ of \d+) by .*?(\d+ of \d+) by .*?(\d+ of \d+) by .*?(\d+ of \d+) by", "trend",
          r"parallel; ns-3; .*; 8; scenario [2-6]"),
    Claim("004, IV.A", "median error by (7), (6), (8)", "(8) the largest", PARALLEL,
          r"\| \(7\) and \(6\) below \(8\) \| (.*?) \|", "agrees",
          r"parallel; ns-3; .*; 8; scenario [1-6]"),
    Claim("004, Figure 12", "correlation of the mean error with the number of connections",
          "below 0.1", PARALLEL, r"\| below 0\.1 \| (\S+)", "contradicted",
          r"parallel; ns-3; .*; 8; scenario [1-6]"),
    Claim("004, Figure 14", "impacts predicted within 0.25: of the others' throughput, of the "
          "impact itself, %", "90", IMPACT,
          r"\| 1 to 6 \| \d+ \| \S+ % \| (\S+) % (?:\| \S+ % ){2}\| (\S+) %", "contradicted",
          r"parallel; ns-3; .*; 8; scenario [1-6]"),
    Claim("004, Figure 14", "mean of predicted minus simulated impact", "above 0", IMPACT,
          r"\| 1 to 6 \|.*\| (\S+) \|", "agrees",
          r"parallel; ns-3; .*; 8; scenario [1-6]"),
    Claim("004, Figures 9, 10", "mean errors on 41 paths of PlanetLab", "-0.28 to 0.19", "", "",
          "not measured"),
    Claim("002, Figure 4", "60 clients, kernel, drop-tail: Reno and Vegas lose, %", "Vegas less",
          "Paper 002: clients of one gateway on the kernel",
          r"(?s)\| 60, drop-tail \| reno \|[^\n]*\| (\S+) \|\n\| 60, drop-tail \| vegas "
          r"\|[^\n]*\| (\S+) \|", "contradicted", r"clients; 60, drop-tail; tt_(reno|vegas)"),
    Claim("003, Figure 8", "BI-TCP over TCP where it crosses it, p = 1e-2; over AIMD where it "
          "meets it, p = 1e-5", "1, 1", "Paper 003 (BI-TCP): response functions",
          r"(?s)\n  ([\d.]+) times TCP\..*?\n  ([\d.]+) of AIMD", "contradicted",
          r"response; model; (bitcp|tt_reno|aimd); (1e-2|1e-5)"),
    Claim("003, Table 3", "100 Mbit/s: BI-TCP (kernel)", "13.1, 33.8", TABLES,
          r"\| Table 3 \| bitcp \| kernel \| .*? \| ([\d.]+),.*? \| ([\d.]+),", "contradicted",
          r"rtt_ratio; 100 Mbit/s, drop-tail, [36]; bitcp"),
    Claim("003, VI", "RED, 2.5 Gbit/s, 40 ms over 120 ms: HSTCP (kernel)", "3",
          "Paper 003: RTT fairness at 2500 Mbit/s on the kernel",
          r"(?s)under adaptive RED.*?\| hstcp \| 3 \| (\S+)", "contradicted",
          r"rtt_ratio; 2500 Mbit/s, RED, 3; hstcp"),
    Claim("003, Figure 9", "20 Mbit/s: unused next to HSTCP and STCP over unused next to AIMD and "
          "BI-TCP (ns-3)", "almost 2", "Paper 003: TCP friendliness, Figure 9",
          r"20 Mbit/s \| unused, .*? \| almost 2 \| (\S+)", "contradicted", r"mix; ns-3; "
          r"(bitcp|aimd|hstcp|stcp); 20; droptail"),
    Claim("003, Figure 10", "Jain's index of AIMD, of BI-TCP (ns-3, 50 Mbit/s, drop-tail)",
          "close to 1", "Paper 003: fairness over time scales, 50 Mbit/s, drop-tail",
          r"(?s)\| aimd \| close to 1 \| (.*?) \|.*?\| bitcp \| close to 1 \| (.*?) \|",
          "contradicted", r"fairness; ns-3; (aimd|bitcp); 50; droptail"),
    Claim("004, Figures 15, 16", "scenario 7: impacts predicted within 0.25, %", "effective",
          IMPACT, r"\| 7, group 1 \| \d+ \| \S+ % \| (\S+) %", "contradicted",
          r"parallel; ns-3; .*; scenario 7"),
    Claim("004, IV", "scenario 2 by the kernel: median error from (1, 8), Reno and CUBIC, CUBIC",
          "up to 0.15 (our bar)", PARALLEL, r"\| 2 \| both \| (\S+) \|.*?\n\| 2 \| cubic \| (\S+)",
          "contradicted", r"paper_streams; scenario 2"),
]


def runs_of_cells(report: Report) -> Counter:
    """Returns how many valid runs, the longest, or seeds each cell has."""
    cells = Counter("; ".join((row["bench"], row["x"], row["column"]))
                    for row in longest(report.results) if is_valid(row))
    point = ["experiment", "engine", "algorithm", "x", "conditions"]
    for names, seeds in report.sim.groupby(point).seed.nunique().items():
        cells["; ".join(names)] = seeds
    return cells


def table(text: str, report: Report) -> list[list[str]]:
    """Returns the rows: paper, claim, the paper's figure, ours, runs, verdict."""
    sections, cells = re.split(r"^## ", text, flags=re.MULTILINE), runs_of_cells(report)
    rows = []
    for claim in sorted(CLAIMS, key=lambda claim: claim.paper[:3]):
        section = next((section for section in sections
                        if claim.section and section.startswith(claim.section)), "")
        found = re.search(claim.ours, section) if section else None
        if not found:
            rows.append([claim.paper, claim.claim, claim.figure, "", "", "not measured"])
            continue
        runs = {n for cell, n in cells.items() if re.match(claim.cells, cell)}
        rows.append([claim.paper, claim.claim, claim.figure,
                     ", ".join(group.strip() for group in found.groups()),
                     " to ".join(map(str, sorted({min(runs), max(runs)}))), claim.verdict])
    return rows
