"""Measures how late timers fire when one listener of ours and two listeners of dtimer share a
namespace: 2,000 timers fall due at random times within ten seconds. The baseline is three listeners
of dtimer.
"""

import pathlib
import statistics
import sys

from support import node, redis, rounds, timers

ROUNDS = 3


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    folder = node.install(build)
    mixed, alone = [], []
    with redis.server(build) as server:
        nodes = [timers.dtimers(folder, server, n) for n in range(3)]
        for _ in range(ROUNDS):
            both = [timers.ours(build, server), *nodes[:2]]
            mixed.append(timers.lateness(build, server, both))
            alone.append(timers.lateness(build, server, nodes))

    def middle(runs, part):
        return statistics.median(timers.share(late, part) for late in runs)

    measured = rounds.Rounds()
    for theirs, ours in zip(alone, mixed):
        measured.add(timers.share(theirs, 0.99), timers.share(ours, 0.99))
    rounds.print_result(
        "timer_lateness_mixed",
        "ms",
        measured,
        "dtimer, three listeners",
        p50_ms=middle(mixed, 0.5),
        p99_ms=middle(mixed, 0.99),
        max_ms=middle(mixed, 1),
        baseline_p50_ms=middle(alone, 0.5),
        baseline_p99_ms=middle(alone, 0.99),
        baseline_max_ms=middle(alone, 1),
        early=sum(late[0] < 0 for late in mixed),
    )


main()
