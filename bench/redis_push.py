"""Pushes jobs to a queue on Redis, 1,024 under way. The baseline is redis-benchmark, which runs the
same script with the same arguments.

Sixteen pushes are submitted together, as redis-benchmark sends sixteen commands together. In the
fields that end in `_single`, pushes are submitted one by one.
"""

import pathlib
import sys

from support import redis, rounds

COUNT = 150_000
WARM_UP = 16_000
ROUNDS = 5


def check_pushed(server, count):
    """Checks that this many jobs are READY, but for a few random numbers that were drawn twice."""
    ready = server.command("LLEN", "jobs:instant:bench")
    known = server.command("SCARD", "jobs:index:bench")
    if ready != known or not count * 0.999 <= known <= count:
        raise RuntimeError(f"{count} jobs were pushed, {known} are known, {ready} are READY")


def measure(server, push):
    """One run from an empty queue, after a short one."""
    for count in (WARM_UP, COUNT):
        server.empty()
        run = push(count)
    check_pushed(server, COUNT)
    return run


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    plain, together, single = [], [], []
    with redis.server(build) as server:
        store = [build / "bench/bench_redis_push", "--url", server.url, "--together"]
        words = redis.words(server, build, "push")
        for _ in range(ROUNDS):
            plain.append(measure(server, lambda count: redis.repeat(server, words, count)))
            together.append(measure(server, lambda count: redis.run(server, [*store, "16"], count)))
            single.append(measure(server, lambda count: redis.run(server, [*store, "1"], count)))
    one_by_one = redis.compared(plain, single)
    rounds.print_result(
        "redis_push",
        "pushes/s",
        redis.compared(plain, together),
        "redis-benchmark -c 50 -P 16, the same script",
        value_single=one_by_one.value(),
        ratio_single=one_by_one.ratio(),
        **redis.processor_times(together),
        **redis.processor_times(single, suffix="_single"),
        **redis.processor_times(plain, prefix="baseline_"),
    )


main()
