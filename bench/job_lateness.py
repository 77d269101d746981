"""Measures how late jobs begin: 2,000 jobs fall due at random times within ten seconds, on an
embedded store, strict, and on Redis. The baseline is BullMQ on the same Redis server, with up to 50
jobs at once.
"""

import json
import pathlib
import statistics
import subprocess
import sys

from support import embedded, node, redis, rounds, servers

ROUNDS = 3
COUNT, SECONDS = 2_000, 10
NODE_IN_FLIGHT = 50


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    folder = node.install(build)
    shape = ["--count", str(COUNT), "--seconds", str(SECONDS)]
    ours, on_redis, bullmq = [], [], []
    with redis.server(build) as server:
        for _ in range(ROUNDS):
            with servers.folder(build) as files:
                file = ["--file", files / "store.db"]
                ours.append(embedded.result_of(build, "bench_job_lateness", *file, *shape))
            server.empty()
            url = ["--url", server.url]
            on_redis.append(embedded.result_of(build, "bench_job_lateness", *url, *shape))
            server.empty()
            command = node.command(folder, "bullmq_lateness.mjs", server, NODE_IN_FLIGHT)
            words = [str(word) for word in [*command, *shape]]
            said = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
            bullmq.append(json.loads(said))

    def middle(runs, field):
        return statistics.median(run[field] for run in runs)

    measured = rounds.Rounds()
    for theirs, run in zip(bullmq, ours):
        measured.add(theirs["p99_ms"], run["p99_ms"])
    rounds.print_result(
        "job_lateness",
        "ms",
        measured,
        "BullMQ, concurrency 50",
        p50_ms=middle(ours, "p50_ms"),
        p99_ms=middle(ours, "p99_ms"),
        max_ms=middle(ours, "max_ms"),
        p50_ms_redis=middle(on_redis, "p50_ms"),
        p99_ms_redis=middle(on_redis, "p99_ms"),
        max_ms_redis=middle(on_redis, "max_ms"),
        baseline_p50_ms=middle(bullmq, "p50_ms"),
        baseline_p99_ms=middle(bullmq, "p99_ms"),
        baseline_max_ms=middle(bullmq, "max_ms"),
        early=sum(run["early"] for run in ours + on_redis),
        baseline_early=sum(run["early"] for run in bullmq),
    )


main()
