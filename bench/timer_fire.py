"""Measures the rate at which due timers are taken and confirmed on an embedded store, strict:
50,000 timers, a thousand in one step.

The baseline of this rate (`disk_ratio`) writes records of as many bytes as a firing and its
confirmation have in the journal, a thousand in a group, with pwrite and fdatasync: the rate of the
disk alone. `ratio` compares one listener on Redis (`value_redis`) with one listener of dtimer on
the same server (`baseline_redis`), both with their defaults.
"""

import pathlib
import sys

from support import embedded, node, redis, rounds, timers

COUNT = 50_000
JOURNAL_BYTES = 70
ROUNDS, REDIS_ROUNDS = 5, 3


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    disk, ours = [], []
    for _ in range(ROUNDS):
        disk.append(embedded.raw(build, JOURNAL_BYTES, 1_000))
        ours.append(embedded.run(build, "bench_embedded_timers", "--count", COUNT, "fire"))
    measured = embedded.compared(disk, ours)
    folder, on_redis = node.install(build), rounds.Rounds()
    with redis.server(build) as server:
        for _ in range(REDIS_ROUNDS):
            timers.firings_beside_dtimer(build, server, folder, on_redis)
    rounds.print_result(
        "timer_fire",
        "timers/s",
        measured,
        "pwrite + fdatasync of the same bytes, 1000 records",
        disk_ratio=measured.ratio(),
        ratio=on_redis.ratio(),
        value_redis=on_redis.value(),
        baseline_redis=on_redis.baseline(),
        cpu_us_per_op=embedded.middle(ours, "cpu_us"),
    )


main()
