"""Measures durable posts of timers on an embedded store, 1,024 under way, each submitted
separately.

The baseline of these posts (`disk_ratio`) writes records of as many bytes as such a post has in the
journal, 1,024 in a group, with pwrite and fdatasync: the rate of the disk alone. `ratio` compares
posts on Redis (`value_redis`), 1,024 under way, with posts of dtimer on the same server
(`baseline_redis`), 50 under way.
"""

import pathlib
import sys

from support import embedded, node, redis, rounds, timers

COUNT, WARM_UP = 600_000, 100_000
IN_FLIGHT = 1_024
JOURNAL_BYTES = 60
ROUNDS, REDIS_ROUNDS = 5, 3


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    shape = ["--count", COUNT, "--warm-up", WARM_UP, "--in-flight", IN_FLIGHT]
    disk, ours = [], []
    for _ in range(ROUNDS):
        disk.append(embedded.raw(build, JOURNAL_BYTES, IN_FLIGHT))
        ours.append(embedded.run(build, "bench_embedded_timers", *shape, "post"))
    measured = embedded.compared(disk, ours)
    folder, on_redis = node.install(build), rounds.Rounds()
    with redis.server(build) as server:
        for _ in range(REDIS_ROUNDS):
            timers.posts_beside_dtimer(build, server, folder, on_redis)
    rounds.print_result(
        "timer_post",
        "posts/s",
        measured,
        "pwrite + fdatasync of the same bytes, 1024 records",
        disk_ratio=measured.ratio(),
        ratio=on_redis.ratio(),
        value_redis=on_redis.value(),
        baseline_redis=on_redis.baseline(),
        cpu_us_per_op=embedded.middle(ours, "cpu_us"),
    )


main()
