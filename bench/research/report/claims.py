# SPDX-License-Identifier: GPL-2.0-only
"""The first table of the report: what the papers claim, and what the sections below it found.

"Ours" and the runs are read from the text of a section, so that they cannot differ from it. A
verdict is a judgement: reproduced (the same condition, and the paper's figure or order), trend (the
direction only), contradicted, not comparable (the condition does not exist here, or is another
one), not measured.
"""
import re
from typing import NamedTuple


class Claim(NamedTuple):
    paper: str
    claim: str
    figure: str   # the paper's, as it prints it
    section: str  # how its heading goes on behind "## "
    ours: str     # a pattern, whose groups are our figures
    verdict: str
    runs: str = ""  # where the section has different ones


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
          r"1 connection, none, Mbit/s \| .*? \| (\S+)", "trend"),
    Claim("000, Figure 6", "eight untuned connections over one", "8", GRID,
          r"none: 8 connections over 1 \(linear: 8\) \| .*? \| (\S+)", "reproduced"),
    Claim("000, 4.3", "untuned, Mbit/s = connections x k / ms: k", "214", GRID,
          r"\| none \| 2\.2\.20-None \| 214 \| (\S+)", "trend"),
    Claim("000, Figure 2", "autotuning over none at 0.5 ms, Mbit/s", "at least 100", GRID,
          r"kernel minus none, Mbit/s \| .*? \| (\S+)", "reproduced"),
    Claim("000, Figure 2", "eight connections over one at 0.5 ms, untuned, %", "55-70", GRID,
          r"0\.5 ms, none: gain of 8 connections over 1, % \| .*? \| (\S+)", "not comparable"),
    Claim("000, Figure 5", "the best buffer at 0.5 ms, one connection", "1024 KB",
          "Paper 000: the size of buffers", r"connections: 1: the best size \| .*? \| (.*?) \|",
          "contradicted"),
    Claim("000, Figure 9", "DRS over autotuning, larger maxima, 100 ms, one connection", "5-15",
          GRID, r"100 ms, 1 connection: DRS over kernel \| .*? \| (\S+)", "not comparable"),
    Claim("000, Figure 10", "DRS over autotuning, buffers by hand, 100 ms, one and eight "
          "connections", "1", GRID, r"(?s)100 ms, connections: 1; DRS over Linux 2\.4 \| 1 "
          r"\| (\S+).*?100 ms, connections: 8; DRS over Linux 2\.4 \| 1 \| (\S+)", "trend"),
    Claim("000", "DRS at least as fast as any other: cells where it has 97 %, with cubic", "all",
          GRID, r"in\s+(\d+ of \d+)\s+with\s+cubic", "trend"),
    Claim("001, Figure 2", "64 MB at 100 ms: right-sized over static", "7", DRS,
          r"times faster \| 7 \| (\S+)", "trend"),
    Claim("001, Figure 4", "largest window over largest flight", "2", DRS,
          r"largest window / largest flight \| 2 \| (\S+)", "contradicted"),
    Claim("001, Figure 5", "56 kbit/s: largest window, bytes", "below 13000", SLOW,
          r"largest window, bytes \(the paper: below\) \| 13000 \| (\S+)", "contradicted"),
    Claim("001, V.B", "56 kbit/s: flight, static over right-sized", "above 1", SLOW,
          r"static / right-sized, mean flight \| above 1 \| (\S+)", "contradicted"),
    Claim("001, Figure 7", "retransmits, static over right-sized: 1.5 Mbit/s and 100 ms, 50 ms; 56 "
          "kbit/s", "1.2", SLOW, r"\| 1\.5 Mbit/s, 100 ms (?:\| \S+ ){5}\| (\S+) .*\n"
          r"\| 1\.5 Mbit/s, 50 ms (?:\| \S+ ){5}\| (\S+) .*\n"
          r"\| 56 kbit/s, 100 ms (?:\| \S+ ){5}\| (\S+) ", "trend", "1 to 2"),
    Claim("001, IV.B", "bound (6) holds for coarse clocks", "always", "Paper 001, section IV.B",
          r"holds in (\d+ of \d+) cases", "reproduced"),
    Claim("002, Figure 2", "c.o.v. over Poisson's, Reno, above 38 clients, %", "over 140",
          CLIENTS, r"\| reno \| 4\d to \d+ \| over 140 % \| (.*?) % \|", "reproduced"),
    Claim("002, Figure 2", "the same with RED, %", "over 200", CLIENTS,
          r"\| reno, RED \| .*? \| over 200 % \| (.*?) % \|", "contradicted"),
    Claim("002, Figure 2", "up to 38 clients, %", "up to 50", CLIENTS,
          r"\| reno \| .*? \| up to 50 % \| (.*?) % \|", "contradicted"),
    Claim("002, Figure 2", "Vegas smoother than Reno above 38 clients (ns-3, kernel; drop-tail): "
          "points", "all", CLIENTS, r"(?s)ns-3, drop-tail: the c\.o\.v\. of vegas is below that "
          r"of reno at (\d+ of \d+).*?kernel, drop-tail: the c\.o\.v\. of vegas is below that of "
          r"reno at (\d+ of \d+)", "reproduced"),
    Claim("002, Figures 5, 9", "queue of 50, Vegas over Reno, throughput", "above 1", ADDED,
          r"\| 5, 9 .*? \| .*? \| (.*?) \|", "not comparable"),
    Claim("002, Figures 6, 10", "queue of 50, Vegas loses less than Reno: points", "all", ADDED,
          r"\| 6, 10 .*? \| .*? \| (.*?) \|", "not comparable"),
    Claim("002, Figures 7, 11", "queue of 1500, Vegas over Reno, throughput", "nearly 1", ADDED,
          r"\| 7, 11 .*? \| .*? \| (.*?) \|", "not comparable"),
    Claim("002, Figures 8, 12", "queue of 1500, Vegas loses less than Reno: points", "all", ADDED,
          r"\| 8, 12 .*? \| .*? \| (.*?) \|", "not comparable"),
    Claim("002, Figure 13", "the model above Reno under load: points", "all",
          "Paper 002: the stochastic model", r"(\d+ of \d+) numbers of clients above 38",
          "reproduced"),
    Claim("003, Figure 8", "BI-TCP's response over (1.3) and (1.5), numeric model, p = 3e-3, 1e-4, "
          "1e-7", "1", "Paper 003 (BI-TCP): response functions",
          r"(?s)### bitcp .*?\| 3e-3 \| .*? \| .*? \| (\S+).*?\| 1e-4 \| .*? \| .*? \| (\S+)"
          r".*?\| 1e-7 \| .*? \| .*? \| (\S+)", "contradicted"),
    Claim("003, Table 2", "2.5 Gbit/s, 40 ms over 120 and 240 ms: BI-TCP (kernel; queue of 40 ms "
          "where the paper's is one BDP of a link of 10 ms)", "9.18, 35.76", TABLES,
          r"\| Table 2 \| bitcp \| kernel \| .*? \| ([\d.]+),.*? \| ([\d.]+),",
          "not comparable", "1"),
    Claim("003, Table 2", "the same: AIMD", "6.56, 22.55", TABLES,
          r"\| Table 2 \| aimd \| kernel \| .*? \| ([\d.]+),.*? \| ([\d.]+),",
          "not comparable", "1"),
    Claim("003, Table 2", "the order AIMD, BI-TCP, HSTCP, STCP (kernel, ratio 3 and 6, longest "
          "runs)", "holds", TABLES, r"(?s)Table 2, 2\.5 Gbit/s, kernel, ratio 3 [^\n]*: (\w[\w ]*)"
          r"\n.*?Table 2, 2\.5 Gbit/s, kernel, ratio 6 [^\n]*: (\w[\w ]*)\n", "trend",
          "1"),
    Claim("003, Table 3", "100 Mbit/s: BI-TCP (ns-3; the same queue of 40 ms)", "13.1, 33.8",
          TABLES, r"\| Table 3 \| bitcp \| ns-3 \| .*? \| ([\d.]+),.*? \| ([\d.]+),",
          "not comparable", "1 to 2"),
    Claim("003, VII", "utilisation with BI-TCP, drop-tail, % (kernel, 2.5 Gbit/s)", "100", USED,
          r"\| drop-tail \| kernel \| bitcp \|.*\| ([\d.]+) \| [\d.]+ \|", "reproduced"),
    Claim("003, VII", "the same with RED, %", "99", USED,
          r"\| RED \| kernel \| bitcp \|.*\| ([\d.]+) \| [\d.]+ \|", "reproduced"),
    Claim("003, Figure 9", "TCP's share next to BI-TCP over that next to STCP, 100 Mbit/s (ns-3)",
          "about 1", "Paper 003: TCP friendliness, Figure 9",
          r"100 Mbit/s \| TCP's share next to bitcp / next to stcp \| about 1 \| (\S+)",
          "contradicted"),
    Claim("003, Figure 9", "the largest share first, 2.5 Gbit/s (kernel)", "STCP, HSTCP, BI-TCP",
          "Paper 003: TCP friendliness on the kernel",
          r"2500 Mbit/s \| high-speed share, the largest first \| .*? \| (.*?) \|",
          "contradicted"),
    Claim("003, Figure 10", "Jain's index of four BI-TCP flows over all scales (kernel, 2.5 "
          "Gbit/s, drop-tail)", "close to 1",
          "Paper 003: fairness over time scales on the kernel, 2500 Mbit/s, drop-tail",
          r"\| bitcp \| close to 1 \| (.*?) \|", "reproduced"),
    Claim("003, Figure 10", "the same of STCP", "below 0.8",
          "Paper 003: fairness over time scales on the kernel, 2500 Mbit/s, drop-tail",
          r"\| stcp \| below 0\.8 \| (.*?) \|", "contradicted"),
    Claim("003, Figure 11", "RED: HSTCP deviates from 1 up to 25 s (kernel, 2.5 Gbit/s)", "much",
          "Paper 003: fairness over time scales on the kernel, 2500 Mbit/s, RED",
          r"\| hstcp, up to 25 s \| .*? \| (.*?) \|", "reproduced"),
    Claim("003, Figure 2", "ten of 20 flows lose together, drop-tail, % of the seconds with a "
          "loss (200 Mbit/s)", "70", "Paper 003: synchronised losses",
          r"\| drop-tail \| 10 of 20 \| .*? \| (\S+) %", "trend"),
    Claim("003, Figure 3", "STCP starves flows of long round-trip times", "a picture", "", "",
          "not measured"),
    Claim("004, Figures 3 to 5", "30 connections over one without others, scenarios 1, 2, 3",
          "little, limited, significant", PARALLEL,
          r"(?s)scenario 1 without others: 30 over 1 \| \S+ \| ([\d.]+) \|.*?"
          r"scenario 2 without others: 30 over 1 \| \S+ \| ([\d.]+) \|.*?"
          r"scenario 3 without others: 30 over 1 \| \S+ \| ([\d.]+) \|", "trend"),
    Claim("004, III.A", "scenario 1, 15 others: 30 connections over one, drop-tail, RED",
          "starved only by drop-tail", PARALLEL,
          r"(?s)starved \| ([\d.]+) \|.*?starved \| ([\d.]+) \|",
          "reproduced"),
    Claim("004, Figure 6", "scenario 4, 10 others: what 30 gain and others do not lose, %", "most",
          PARALLEL, r"mainly a larger total \| (-?\d+) %", "reproduced"),
    Claim("004, Figure 7", "scenario 5, 10 others: what they lose to 30 connections (10), %",
          "nothing", PARALLEL, r"\| nothing \| (-?\d+ % \(.*?\)) \|", "reproduced"),
    Claim("004, Figure 8", "scenario 6, 5 others: the same", "more with more; relatively flat",
          PARALLEL, r"relatively flat \| (-?\d+ % \(.*?\)) \|", "trend"),
    Claim("004, IV", "scenarios 2 to 6 with a median error up to 0.15, predicted from (1, 8), (1, "
          "10), (1, 15), doubling", "all (our bar)", PARALLEL, r"Scenarios 2 to 6 with .*?: "
          r"(\d+ of \d+) by .*?(\d+ of \d+) by .*?(\d+ of \d+) by .*?(\d+ of \d+) by", "trend"),
    Claim("004, IV.A", "median error by (7), (6), (8)", "(8) the largest", PARALLEL,
          r"\| \(7\) and \(6\) below \(8\) \| (.*?) \|", "reproduced"),
    Claim("004, Figure 12", "correlation of the mean error with the number of connections",
          "below 0.1", PARALLEL, r"\| below 0\.1 \| (\S+)", "contradicted"),
    Claim("004, Figure 14", "impacts predicted within 0.25: of the others' throughput, of the "
          "impact itself, %", "90", IMPACT,
          r"\| 1 to 6 \| \d+ \| \S+ % \| (\S+) % (?:\| \S+ % ){2}\| (\S+) %", "contradicted"),
    Claim("004, Figure 14", "mean of predicted minus simulated impact", "above 0", IMPACT,
          r"\| 1 to 6 \|.*\| (\S+) \|", "reproduced"),
    Claim("004, Figures 9, 10", "mean errors on 41 paths of PlanetLab", "-0.28 to 0.19", "", "",
          "not measured"),
]


def table(text: str) -> list[list[str]]:
    """Returns the rows: paper, claim, the paper's figure, ours, runs, verdict."""
    sections = re.split(r"^## ", text, flags=re.MULTILINE)
    rows = []
    for claim in CLAIMS:
        section = next((section for section in sections
                        if claim.section and section.startswith(claim.section)), "")
        found = re.search(claim.ours, section) if section else None
        if not found:
            rows.append([claim.paper, claim.claim, claim.figure, "", "", "not measured"])
            continue
        runs = re.search(r"(?:one run of each|runs of each: (\d+(?: to \d+)?))", section)
        rows.append([claim.paper, claim.claim, claim.figure,
                     ", ".join(group.strip() for group in found.groups()),
                     claim.runs or (runs and (runs[1] or "1")) or "", claim.verdict])
    return rows
