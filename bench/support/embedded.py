"""Runs the programs that drive an embedded store, or its baselines, each time on a fresh file."""

import json
import statistics
import subprocess

from support import rounds, servers


class Run:
    """A program's result: operations a second, and microseconds of processor time for each."""

    def __init__(self, told):
        self.told = told
        self.rate = told["count"] / told["seconds"]
        self.cpu_us = told["cpu_seconds"] / told["count"] * 1e6


def tell(build, program, *arguments):
    """Runs a program and returns its report."""
    command = [build / "bench" / program, *map(str, arguments)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def run(build, program, *arguments):
    """Runs a program on a temporary file."""
    with servers.folder(build) as folder:
        return Run(tell(build, program, "--file", folder / "store.db", *arguments))


def raw(build, record, group, seconds=1, kind="raw"):
    """Writes records of `record` bytes in groups of `group`, each on disk before the next."""
    shape = ["--kind", kind, "--record", record, "--group", group, "--seconds", seconds]
    return run(build, "bench_journal_rows", *shape)


def middle(runs, field):
    """The median of one field."""
    return statistics.median(getattr(run, field) for run in runs)


def compared(baselines, runs):
    """The rates of both, round by round."""
    measured = rounds.Rounds()
    for baseline, run in zip(baselines, runs):
        measured.add(baseline.rate, run.rate)
    return measured
