# SPDX-License-Identifier: GPL-2.0-only
"""What git says of the commits that measurements name."""
import functools
import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[1]


def git(*arguments):
    return subprocess.run(["git", "-C", TOP, *arguments], capture_output=True, text=True)


@functools.lru_cache(maxsize=None)
def missing_history():
    """Returns why git cannot tell how old a measurement is, as a sentence; None if it can."""
    shallow = git("rev-parse", "--is-shallow-repository")
    if shallow.returncode:
        return f"only a clone shows how old measurements are: {shallow.stderr.strip()}"
    if shallow.stdout.strip() == "true":
        return "this clone is shallow and does not show how old measurements are; run git fetch --unshallow"
    return None


@functools.lru_cache(maxsize=None)
def is_known(commit):
    """Returns whether it is in the history of HEAD: any other one may be gone tomorrow."""
    return (not git("cat-file", "-e", f"{commit}^{{commit}}").returncode and
            not git("merge-base", "--is-ancestor", commit, "HEAD").returncode)


@functools.lru_cache(maxsize=None)
def changed_since(commit, paths):
    """Returns the names of the files among these paths that are not as they were at a known commit."""
    return [pathlib.Path(name).name
            for name in git("diff", "--name-only", commit, "--", *paths).stdout.split()]
