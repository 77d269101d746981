"""Publishes events of 65 bytes to a bus on Redis, 1,024 under way, for 1 and for 10 subscribers.
The baseline is redis-benchmark, which runs the same script. Nothing is delivered.
"""

import pathlib
import sys

from support import redis, rounds

ROUNDS = 3
COUNTS = {1: 80_000, 10: 16_000}  # Events, by subscribers.
WARM_UP_SHARE = 10
SMALLEST = 1  # An event that lets the subscribers in.


def check_queued(server, subscribers, count):
    """Checks that each subscriber has this many events queued."""
    gauges = server.command("HVALS", "batches:gauges:event")
    if [int(gauge) for gauge in gauges] != [count] * subscribers:
        raise RuntimeError(f"{count} events for {subscribers} were expected: {gauges}")


def measure(build, server, runs, subscribers):
    """One round: redis-benchmark and the store, from an empty bus each."""
    count = COUNTS[subscribers]
    warm_up = count // WARM_UP_SHARE
    store = [build / "bench/bench_redis_publish", "--url", server.url,
             "--subscribers", str(subscribers)]  # fmt: skip
    words = redis.words(server, build, "publish")
    server.empty()
    redis.run(server, store, SMALLEST)
    redis.repeat(server, words, warm_up)
    plain = redis.repeat(server, words, count)
    check_queued(server, subscribers, SMALLEST + warm_up + count)
    server.empty()
    ours = redis.run(server, store, count, warm_up)
    check_queued(server, subscribers, warm_up + count)
    runs.append((plain, ours))


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    runs = {subscribers: [] for subscribers in COUNTS}
    with redis.server(build) as server:
        for _ in range(ROUNDS):
            for subscribers in COUNTS:
                measure(build, server, runs[subscribers], subscribers)
    (plain, ours), (plain_10, ours_10) = (zip(*runs[subscribers]) for subscribers in COUNTS)
    ten = redis.compared(plain_10, ours_10)
    rounds.print_result(
        "redis_ingest",
        "events/s",
        redis.compared(plain, ours),
        "redis-benchmark -c 50 -P 16, the same script",
        value_10=ten.value(),
        baseline_value_10=ten.baseline(),
        ratio_10=ten.ratio(),
        **redis.processor_times(ours),
        **redis.processor_times(ours_10, suffix="_10"),
        **redis.processor_times(plain, prefix="baseline_"),
        **redis.processor_times(plain_10, prefix="baseline_", suffix="_10"),
    )


main()
