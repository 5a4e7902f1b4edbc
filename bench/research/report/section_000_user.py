# SPDX-License-Identifier: GPL-2.0-only
"""Paper 000: what applications and users can do without the kernel: FTP, and tcptune-run."""
from common import SHIPPED, TUNING, Report

USER = (*TUNING, "lib/tuner.c", "run/*.c")


def write_medians(report: Report, bench: str, head: str, value: str = "goodput_bps",
                  scale: float = 1e-6) -> None:
    """Writes a table of medians, with the number of runs, of all columns of a bench."""
    runs = report.rows(bench)
    cells = (scale * runs[value]).groupby([runs.x, runs.column], sort=False).agg(["median", "count"])
    columns = list(runs.column.unique())
    report.table([head, *columns],
                 [[x, *(f"{cells.loc[(x, column), 'median']:.3g} ({cells.loc[(x, column), 'count']})"
                        if (x, column) in cells.index else "" for column in columns)]
                  for x in runs.x.unique()])
    report.write(report.row_conditions(bench, SHIPPED + USER))


def write(report: Report) -> None:
    report.write("""
## Paper 000: auto-tuned FTP and DRS FTP

The paper's FTPs are of 2001: NLANR's measures the path with packets of its own before a transfer, and
LANL's by the control connection while it goes on. Here an unmodified vsftpd and lftp transfer 60 MB over
1 Gbit/s and 50 ms: with what the client fixes or the kernel gives, with buffers of twice the
bandwidth-delay product *by hand*, which is what both FTPs would set at best, with tcptuned on both hosts,
and with tcptune-run on the client alone, as LANL's was used. Mbit/s by vsftpd's log, and runs:""")
    write_medians(report, "ftp", "transfer, client's buffers")
    report.write("""
In a transfer between two servers the control connections are on other paths than the data, by which, as
the paper says, LANL's FTP "measures characteristics of the wrong connection". Column *by hand, control
path* has the buffers that follow from it. Mbit/s, and then the RTT of the data connection in ms:""")
    write_medians(report, "third_party", "path between the servers, to the client")
    write_medians(report, "third_party", "path between the servers, to the client",
                  "rtt_ms.median", 1)
    report.write("""
## Paper 000: "end-to-end bandwidth without kernel privileges"

The paper's guideline for users who cannot change the kernel names its FTPs. tcptune-run is for any
program: here programs that fix SO_RCVBUF at 64 KB receive 100 MB over 1 Gbit/s as user nobody. *by hand* is
a buffer of twice the bandwidth-delay product, forced by root. Mbit/s of the whole command, and runs:""")
    write_medians(report, "unprivileged", "program, path")
    report.write("""
A sender without privileges has the memory that the maximum of tcp_wmem allows, 4 MB, or twice
net.core.wmem_max by SO_SNDBUF, here 8 MB: that is all --tune can add. Mbit/s in 10 s, and
runs:""")
    write_medians(report, "unprivileged_sender", "path")
