"""Pushes, acquires and acknowledges jobs on Redis. The baselines are two packages for Node.js on
the same server: BullMQ (add and process) and rsmq (send, receive and delete).

The bus has 1,024 jobs under way, the packages 50, as in the examples of BullMQ's documentation. The
fields that end in `_50` are results of the bus with 50. Each of the three programs is one process.
"""

import pathlib
import sys

from support import node, redis, rounds

ROUNDS = 4
COUNT, COUNT_50, WARM_UP = 60_000, 20_000, 5_000
NODE_COUNT, NODE_WARM_UP = 8_000, 4_000
NODE_IN_FLIGHT = 50


def measure(server, command, count, warm_up):
    """One run with nothing else on the server; the program checks that the queue is empty at the
    end."""
    server.empty()
    return redis.run(server, command, count, warm_up)


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    folder = node.install(build)
    bullmq, rsmq, ours, ours_50 = [], [], [], []
    with redis.server(build) as server:
        store = [build / "bench/bench_redis_cycle", "--url", server.url, "--in-flight"]
        for _ in range(ROUNDS):
            for runs, program in ((bullmq, "bullmq.mjs"), (rsmq, "rsmq.mjs")):
                command = node.command(folder, program, server, NODE_IN_FLIGHT)
                runs.append(measure(server, command, NODE_COUNT, NODE_WARM_UP))
            ours.append(measure(server, [*store, "1024"], COUNT, WARM_UP))
            ours_50.append(measure(server, [*store, "50"], COUNT_50, WARM_UP))
    rsmq_rounds, rounds_50 = redis.compared(rsmq, ours), redis.compared(bullmq, ours_50)
    rounds.print_result(
        "redis_cycle",
        "jobs/s",
        redis.compared(bullmq, ours),
        "BullMQ add + process, concurrency 50",
        baseline_rsmq="rsmq send + receive + delete, 50 in flight",
        baseline_value_rsmq=rsmq_rounds.baseline(),
        ratio_rsmq=rsmq_rounds.ratio(),
        value_50=rounds_50.value(),
        ratio_50=rounds_50.ratio(),
        ratio_rsmq_50=redis.compared(rsmq, ours_50).ratio(),
        **redis.processor_times(ours),
        **redis.processor_times(ours_50, suffix="_50"),
        **redis.processor_times(bullmq, prefix="baseline_"),
        **redis.processor_times(rsmq, prefix="baseline_", suffix="_rsmq"),
    )


main()
