"""Measures publications over HTTP to routemaster-web on Redis. The baseline is Ruby Routemaster.

wrk with 64 kept-alive connections posts the same event repeatedly; see support/ingest.py. There is
one subscriber with the defaults of Ruby Routemaster, and no process delivers. Ruby Routemaster does
not run on this machine: its result was measured on a similar machine, with a process for each of
its two cores.
"""

import pathlib
import sys

from support import ingest, redis, rounds, servers

RUBY = 1_340  # Requests a second.
ROUNDS = 4


def measure(build, server):
    """One run from an empty bus."""
    server.empty()
    with servers.web(build, server.url) as web:
        ingest.subscribe(web, "http://127.0.0.1:1/orders")
        redis_cpu_before = server.cpu_seconds()
        measured = ingest.measure(web)
        redis_cpu = server.cpu_seconds() - redis_cpu_before
        measured["redis_cpu_us_per_op"] = redis_cpu / measured["answered"] * 1e6
        measured["rss_mb"] = web.rss_mb()
        taken_in = ingest.check_taken_in(web, measured["answered"])
    queued = int(server.command("HGET", "batches:gauges:event", "bench-subscriber"))
    if queued != taken_in:
        raise RuntimeError(f"{taken_in} events were taken in, but {queued} are queued")
    return measured


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    with redis.server(build) as server:
        runs = [measure(build, server) for _ in range(ROUNDS)]
    measured = rounds.Rounds()
    for run in runs:
        measured.add(RUBY, run["rate"])
    fields = ("p50_ms", "p99_ms", "cpu_us_per_op", "redis_cpu_us_per_op", "rss_mb")
    rounds.print_result(
        "redis_http_ingest",
        "requests/s",
        measured,
        "Ruby Routemaster on both cores, as measured on it",
        **{field: ingest.middle(runs, field) for field in fields},
    )


main()
