"""Measures the time until a job runs again in another process after its worker was killed with
SIGKILL, on Redis. The baseline is BullMQ on the same server.
"""

import pathlib
import sys

from support import node, recovery, redis, rounds

ROUNDS = 3
NODE_ROUNDS = 1  # It looks for lost jobs every 30 s.


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    folder = node.install(build)
    with redis.server(build) as server:
        store = [build / "bench/bench_job_worker", "--url", server.url]
        bullmq = node.command(folder, "bullmq_worker.mjs", server, 1)
        ours, theirs = [], []
        for _ in range(ROUNDS):
            server.empty()
            ours.append(recovery.elsewhere(store, ["--push"]))
        for _ in range(NODE_ROUNDS):
            server.empty()
            theirs.append(recovery.elsewhere(bullmq, ["--push", "1"]))
    measured = rounds.Rounds()
    for seconds in ours:
        measured.add(theirs[0], seconds)
    rounds.print_result("job_recovery", "s", measured, "BullMQ", worst_s=max(ours))


main()
