"""Measures how late timers fire on Redis: 2,000 timers fall due at random times within ten seconds,
with one listener and with three (`_3`), each in its own process. The baseline is dtimer on the same
server.
"""

import pathlib
import statistics
import sys

from support import node, redis, rounds, timers

ROUNDS = 3
LISTENERS = (1, 3)


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    folder = node.install(build)
    runs = {}
    with redis.server(build) as server:
        for _ in range(ROUNDS):
            for count in LISTENERS:
                ours = [timers.ours(build, server)] * count
                theirs = [timers.dtimers(folder, server, n) for n in range(count)]
                for name, commands in (("", ours), ("baseline_", theirs)):
                    late = timers.lateness(build, server, commands)
                    runs.setdefault((name, count), []).append(late)

    fields = {}
    for (name, count), lists in runs.items():
        suffix = "" if count == 1 else f"_{count}"
        for word, part in (("p50_ms", 0.5), ("p99_ms", 0.99), ("max_ms", 1)):
            value = statistics.median(timers.share(late, part) for late in lists)
            fields[name + word + suffix] = value
    measured = rounds.Rounds()
    for ours, theirs in zip(runs["", 1], runs["baseline_", 1]):
        measured.add(timers.share(theirs, 0.99), timers.share(ours, 0.99))
    early = sum(late[0] < 0 for (name, _), lists in runs.items() if not name for late in lists)
    rounds.print_result("timer_lateness_redis", "ms", measured, "dtimer", **fields, early=early)


main()
