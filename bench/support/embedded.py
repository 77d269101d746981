"""Runs the programs that use an embedded store, or their baselines, each time on a new file."""

import json
import statistics
import subprocess

from support import rounds, servers


class Run:
    """A program's result: operations a second, and microseconds of processor time for each."""

    def __init__(self, result):
        self.result = result
        self.rate = result["count"] / result["seconds"]
        self.cpu_us = result["cpu_seconds"] / result["count"] * 1e6


def result_of(build, program, *arguments):
    """Runs a program and returns its report."""
    command = [build / "bench" / program, *map(str, arguments)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def run(build, program, *arguments):
    """Runs a program on a temporary file."""
    with servers.folder(build) as folder:
        return Run(result_of(build, program, "--file", folder / "store.db", *arguments))


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
