"""Measures the memory of a queued event of 65 bytes on Redis. The baseline is Ruby Routemaster.

200,000 events are published for one subscriber with the default batches of 100. The result is the
growth of the server's `used_memory` per event, without any connected client. Ruby Routemaster does
not run on this machine: its result was measured with the same events on the same version of Redis.
For comparison, the same messages are stored in plain lists of 100.
"""

import pathlib
import sys

from support import redis, rounds

RUBY = 95  # Bytes per event.
COUNT = 200_000
FIRST = 1_000  # Events that are there before, so that everything has been used once.
BATCH = 100
MESSAGE = b"x" * 65


def memory_of_events(build, server):
    """Bytes per event of the bus."""
    publish = [build / "bench/bench_redis_publish", "--url", server.url]
    redis.run(server, publish, FIRST)
    before = server.used_memory()
    run = redis.run(server, publish, COUNT)
    after = server.used_memory()
    queued = server.command("HGET", "batches:gauges:event", "s0")
    if int(queued) != FIRST + COUNT:
        raise RuntimeError(f"{FIRST + COUNT} events were published, {queued} are queued")
    return (after - before) / COUNT, run


def memory_of_lists(server):
    """Bytes per message of plain lists."""
    before = server.used_memory()
    for n in range(COUNT // BATCH):
        server.command("RPUSH", f"list:{n}", *[MESSAGE] * BATCH)
    return (server.used_memory() - before) / COUNT


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    with redis.server(build) as server:
        value, run = memory_of_events(build, server)
        server.empty()
        plain = memory_of_lists(server)
    measured = rounds.Rounds()
    measured.add(RUBY, value)
    rounds.print_result(
        "redis_memory",
        "bytes/event",
        measured,
        "Ruby Routemaster, as measured on it",
        plain_lists=plain,
        events_per_second=run.rate,
    )


main()
