"""Measures the time from the publication of an event until its subscriber receives it, at 50 events
a second. The service is one routemaster-web and two routemaster-worker on a Redis server; see
support/latency.py.
"""

import contextlib
import pathlib
import sys
import time

from support import latency, redis, servers

WORKERS = 2


def await_workers(server):
    """Waits until all of them have sent a heartbeat."""
    deadline = time.monotonic() + 10
    while (alive := server.command("HLEN", "workers")) < WORKERS:
        if time.monotonic() > deadline:
            raise RuntimeError(f"{WORKERS} workers were started, {alive} are alive")
        time.sleep(0.05)


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    with contextlib.ExitStack() as stack:
        receiver = stack.enter_context(servers.receiver(build, "--arrivals"))
        server = stack.enter_context(redis.server(build))
        web = stack.enter_context(servers.web(build, server.url))
        workers = [stack.enter_context(servers.worker(build, server.url)) for _ in range(WORKERS)]
        latency.subscribe(web, receiver)
        await_workers(server)
        measured = latency.Latencies(web, receiver, [web, server, *workers])
    web_cpu_us, redis_cpu_us, *worker_cpu_us = measured.cpu_us
    measured.print_result(
        "redis_latency_50",
        cpu_us_per_op=web_cpu_us + sum(worker_cpu_us),
        redis_cpu_us_per_op=redis_cpu_us,
    )


main()
