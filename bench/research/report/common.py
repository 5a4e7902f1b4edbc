# SPDX-License-Identifier: GPL-2.0-only
"""The measurements, the figures of the papers, and the Markdown that the sections write."""
import contextlib
import functools
import json
import pathlib
import re
import sys

import matplotlib
import pandas

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

pyplot.rcParams.update({"axes.grid": True, "grid.linestyle": ":", "axes.axisbelow": True,
                        "axes.titlesize": "medium", "figure.titlesize": "medium"})

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "bench"))
from history import changed_since, is_known, missing_history  # noqa: E402
from tables import read_lines  # noqa: E402

# What ns-3 3.37 does that the papers' ns-2 did not.
NS3 = ("MinRto {min_rto}, recovery PRR, limited transmit, InitialCwnd 10 segments, "
       "ConnTimeout 3 s, ConnCount 6, DataRetries 6")

# The sources that decide what a congestion control does anywhere, in the kernel, and as it is
# shipped, and those that decide how large buffers are.
ALGORITHMS = ("include/tcptuned/algo/congestion.h", "include/tcptuned/algo/bitcp.h",
              "bench/cc/*.h")
KERNEL = (*ALGORITHMS, "bpf/cc/*", "bench/cc/*.bpf.c")
SHIPPED = ("include/tcptuned/algo/congestion.h", "include/tcptuned/algo/bitcp.h", "bpf/cc/*")
TUNING = ("include/tcptuned/algo/rightsize.h", "bpf/tuner.bpf.c", "bpf/receiver.h",
          "bpf/sender.h")

# The columns of sim.csv and kernels.csv that identify a measurement.
POINT = ["experiment", "engine", "algorithm", "x", "conditions", "seed", "what"]


def style(algorithm: str) -> dict:
    """Returns the colour and the marker of a congestion control, as arguments of plot()."""
    colour, marker = {
        "bitcp": ("#1b7837", "o"), "bic": ("#1b7837", "o"), "aimd": ("#4575b4", "s"),
        "hstcp": ("#b2182b", "^"), "highspeed": ("#b2182b", "^"),
        "stcp": ("#e08214", "D"), "scalable": ("#e08214", "D"),
    }.get(algorithm.removeprefix("ns3-"), ("#555555", "v"))
    return {"color": colour, "marker": marker}


def several(count: int, what: str) -> str:
    """Returns "1 run", "2 runs"."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def number(x: float) -> str:
    """Returns a number in full, without the decimals of a whole one."""
    return str(int(x)) if x == int(x) else repr(float(x))


def unique(values) -> str:
    """Returns the different values in a list, sorted, without those that are missing."""
    present = sorted({value for value in values if not pandas.isna(value) and value != ""})
    return ", ".join(value if isinstance(value, str) else number(value) for value in present)


def seconds_of(conditions: pandas.Series) -> pandas.Series:
    """Returns the duration at the end of conditions: 200 of "20 Mbit/s drop-tail 40 ms; 200 s"."""
    return conditions.str.extract(r"([0-9.]+)[^;]*$")[0].astype(float).fillna(0)


def longest(lines: pandas.DataFrame) -> pandas.DataFrame:
    """Returns the lines of the longest runs of each engine, algorithm, x and queue, which is the
    first word of the conditions."""
    seconds = seconds_of(lines.conditions)
    queue = lines.conditions.str.split(" ").str[0]
    duration = seconds.groupby([lines.engine, lines.algorithm, lines.x, queue]).transform("max")
    return lines[seconds == duration]


def given_up(lines: pandas.DataFrame) -> str:
    """Returns a sentence about the connections that ns-3 gave up, or nothing."""
    gone = lines[(lines.what == "given_up") & (lines.value > 0)]
    if gone.empty:
        return ""
    queue = gone.conditions.str.split(" ").str[0]
    runs = "; ".join(f"{count:.0f} with {algorithm} at {x}, {queue}" for count, algorithm, x, queue
                     in zip(gone.value, gone.algorithm, gone.x, queue))
    return f"ns-3 gave up, after six retransmissions in a row: {runs}."


def count_of(runs: pandas.Series, remark: str = "") -> str:
    """Says how many runs each point has; the remark is about those that have several."""
    lowest, highest = runs.min(), runs.max()
    if runs.empty:
        return "no valid run"
    if highest == 1:
        return "one run of each, so the spread is unknown"
    return f"runs of each: {lowest if lowest == highest else f'{lowest} to {highest}'}{remark}"


def aged(text: str, sources: tuple) -> str:
    """Adds to a text with "commit A, B" which of the sources changed after these commits, and which
    commits git does not know."""
    commits = {commit for listed in re.findall("commit ([0-9a-f]{7}[^;]*)", text)
               for commit in re.findall("[0-9a-f]{7,}", listed)}
    if "-dirty" in text:
        text += " *-dirty*: with uncommitted changes."
    if missing_history():
        return f"{text} What changed since is unknown: {missing_history()}."
    unknown = unique(commit for commit in commits if not is_known(commit))
    since = unique(name for commit in commits for name in changed_since(commit, sources))
    text += f" Unknown to git: {unknown}." if unknown else ""
    return text + (f" Changed since one of these commits: {since}." if since else "")


def conditions(lines: pandas.DataFrame, sources: tuple = ALGORITHMS) -> str:
    """Returns a sentence about how lines of Report.sim were measured."""
    runs = lines.groupby(["engine", "algorithm", "x", "conditions"]).seed.nunique()
    min_rto = "300 ms" if lines.experiment.isin(["clients", "added"]).any() else "1 s"
    simulated = (f"Debian 12's ns-3 3.37 ({NS3.format(min_rto=min_rto)}); "
                 if (lines.engine == "ns-3").any() else "")
    how = " | ".join(sorted(set(lines.conditions))).replace("droptail", "drop-tail")
    seeds = "seeds" if lines.seed.nunique() > 1 else "seed"
    text = (f"Conditions: {simulated}{how}{'; ' if how else ''}{seeds} {unique(lines.seed)}; "
            f"{count_of(runs)}; commit {unique(lines.commit)}; {unique(lines.date.str[:10])}.")
    return aged(text, sources)


def place(row: dict) -> tuple:
    return row["bench"], row["x"], row["column"]


def merge_rows(files: list[pathlib.Path]) -> list[dict]:
    """Reads the rows of all files. Valid rows of the last one replace those of the same bench, x
    and column of the others."""
    *older, newest = ([json.loads(line) for line in read_lines(file)] for file in files)
    newer = {place(row) for row in newest if not row.get("invalid")}
    return [row for rows in older for row in rows if place(row) not in newer] + newest


class Report:
    """The measurements, and the report as far as it is written.

    It consists of paragraphs: write(), table() and picture() each add one, between blank lines.
    """

    def __init__(self, out: pathlib.Path, sim_files: list[pathlib.Path],
                 result_files: list[pathlib.Path]):
        self.out = out
        self.top = TOP
        # All columns are text but value, which is a number, or NaN where text has none. The column
        # engine is the kernel's version in kernels.csv.
        names = [*POINT, "text", "source", "commit", "date"]
        sim = pandas.concat(pandas.read_csv(file, dtype=str, keep_default_na=False, header=0,
                                            names=names) for file in sim_files)
        sim["value"] = pandas.to_numeric(sim.text, errors="coerce")
        self.sim = sim.drop_duplicates(POINT, keep="last").sort_values(POINT, ignore_index=True)
        self.results = merge_rows(result_files)
        self.paragraphs: list[str] = []

    @functools.lru_cache(maxsize=None)
    def paper(self, number: str) -> pandas.DataFrame:
        """Returns bench/research/papers/NUMBER.csv, all columns as text."""
        return pandas.read_csv(TOP / f"bench/research/papers/{number}.csv", dtype=str,
                               keep_default_na=False)

    def paper_value(self, number: str, where: str, what: str, x: str = "") -> str:
        """Returns one value of a paper, the fourth column of its file, by the first three; "" if
        there is none."""
        paper = self.paper(number)
        key = (paper.iloc[:, 0] == where) & (paper.iloc[:, 1] == what) & (paper.iloc[:, 2] == x)
        return "\n".join(paper[key].iloc[:, 3])

    def lines(self, experiment: str) -> pandas.DataFrame:
        """Returns the lines of an experiment."""
        return self.sim[self.sim.experiment == experiment]

    @functools.lru_cache(maxsize=None)
    def rows(self, bench: str) -> pandas.DataFrame:
        """Returns the runs of a bench, one row each: a column for each field, with a dot in the
        name of a nested one ("link.tolerance"). The column valid says whether a run counts."""
        rows = pandas.json_normalize([row for row in self.results if row["bench"] == bench])
        for column in ("x", "column", "commit", "kernel", "date", "seed", "link.tolerance",
                       "invalid"):
            if column not in rows:
                rows[column] = None
        rows["valid"] = ~rows.invalid.fillna(False).astype(bool)
        return rows

    conditions = staticmethod(conditions)
    given_up = staticmethod(given_up)

    def row_conditions(self, bench: str, sources: tuple = KERNEL + TUNING) -> str:
        """Returns a sentence about how the rows of a bench were measured."""
        rows = self.rows(bench)
        valid = rows[rows.valid]
        runs = valid.groupby(["x", "column"]).size()
        seeds = unique(valid.seed)
        tolerances = unique(valid["link.tolerance"])
        text = ("Conditions: linkem between two hosts on one machine of two cores, "
                f"Linux {unique(valid.kernel)}; commit {unique(valid.commit)}; "
                f"{unique(valid.date.str[:10])}; "
                f"{count_of(runs, ', medians, minimum and maximum in parentheses')}")
        if seeds:
            text += f"; seed {seeds}"
        if tolerances not in ("", "1"):
            text += f"; the emulator was allowed {tolerances} times its usual lateness"
        spoiled = (~rows.valid).sum()
        return aged(f"{text}; runs discarded because the emulator was late: {spoiled}.", sources)

    def write(self, text: str) -> None:
        """Adds a paragraph, or several; none if the text is empty."""
        if text.strip():
            self.paragraphs.append(text.strip("\n").rstrip())

    def table(self, header: list[str], rows: list[list[str]]) -> None:
        """Adds a table."""
        lines = [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
        self.write("\n".join(lines + [f"| {' | '.join(row)} |" for row in rows]))

    def not_measured(self, what: list[str], command: str) -> None:
        """Adds what was not measured, if anything, and the command that measures it."""
        if what:
            listed = ("; " if any("," in name for name in what) else ", ").join(what)
            self.write(f"Not measured: {listed}. `{command}` measures it.")

    @contextlib.contextmanager
    def picture(self, name: str, title: str, caption: str = "", size=(900, 560), **subplots):
        """Draws a picture: `with report.picture("a.png", title) as (figure, axes)`. Further
        arguments are those of pyplot.subplots(). The caption, by default the title, is the
        picture's text in the Markdown."""
        width, height = size
        figure, axes = pyplot.subplots(figsize=(width / 100, height / 100), dpi=100,
                                       layout="constrained", **subplots)
        if subplots:
            figure.suptitle(title)
        else:
            axes.set_title(title)
        yield figure, axes
        figure.savefig(self.out / name)
        pyplot.close(figure)
        self.write(f"![{caption or title}]({name})")


