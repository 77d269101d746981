"""Measures how late timers fire: 2,000 timers fall due at random times within ten seconds, on an
embedded store, strict, also while a million other timers wait. The baseline is the duration of one
commit, because a firing is on disk before a listener receives the timer.
"""

import pathlib
import statistics
import sys

from support import embedded, rounds, servers

COUNT, SECONDS = 2_000, 10
MILLION = 1_000_000
ROUNDS = 3


def late(build, pending):
    """One run, with so many others."""
    shape = ["--count", COUNT, "--seconds", SECONDS, "--pending", pending]
    with servers.folder(build) as folder:
        file = ["--file", folder / "store.db"]
        return embedded.result_of(build, "bench_timer_lateness", *file, *shape)


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    commit_ms, alone, among = [], [], []
    for _ in range(ROUNDS):
        commit_ms.append(1e3 / embedded.raw(build, 100, 1).rate)
        alone.append(late(build, 0))
        among.append(late(build, MILLION))

    def middle(runs, field):
        return statistics.median(run[field] for run in runs)

    measured = rounds.Rounds()
    for commit, run in zip(commit_ms, alone):
        measured.add(commit, run["p99_ms"])
    rounds.print_result(
        "timer_lateness_embedded",
        "ms",
        measured,
        "one write and its sync",
        p50_ms=middle(alone, "p50_ms"),
        p99_ms=middle(alone, "p99_ms"),
        max_ms=middle(alone, "max_ms"),
        p50_ms_million=middle(among, "p50_ms"),
        p99_ms_million=middle(among, "p99_ms"),
        max_ms_million=middle(among, "max_ms"),
        early=sum(run["early"] for run in alone + among),
    )


main()
