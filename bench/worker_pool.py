"""Runs jobs with an empty handler in a `WorkerPool` with eight threads: on an embedded store,
strict, on the memory store, and on Redis. The baselines are two packages for Node.js on the same
Redis server, BullMQ and bee-queue. `value_engine` is the rate without a pool: one thread pushes,
acquires and acknowledges the same jobs on an embedded store.
"""

import pathlib
import sys

from support import embedded, node, redis, rounds

ROUNDS = 5
COUNT, WARM_UP = 400_000, 50_000
MEMORY_COUNT, MEMORY_WARM_UP = 1_000_000, 100_000
REDIS_COUNT, REDIS_WARM_UP = 100_000, 20_000
THREADS = 8
NODE_COUNT, NODE_WARM_UP = 20_000, 5_000
NODE_IN_FLIGHT = 50


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    program = "bench_worker_pool"
    folder = node.install(build)
    strict, memory, on_redis, engine, bullmq, bee = [], [], [], [], [], []
    with redis.server(build) as server:
        for _ in range(ROUNDS):
            shape = ["--count", COUNT, "--warm-up", WARM_UP]
            engine.append(embedded.run(build, "bench_embedded_cycle", *shape))
            strict.append(embedded.run(build, program, "--threads", THREADS, *shape))
            shape = ["--count", MEMORY_COUNT, "--warm-up", MEMORY_WARM_UP, "--threads", THREADS]
            memory.append(embedded.Run(embedded.result_of(build, program, *shape)))
            for runs, name in ((bullmq, "bullmq_process.mjs"), (bee, "bee_process.mjs")):
                server.empty()
                command = node.command(folder, name, server, NODE_IN_FLIGHT)
                runs.append(redis.run(server, command, NODE_COUNT, NODE_WARM_UP))
            server.empty()
            command = [build / "bench" / program, "--url", server.url, "--threads", str(THREADS)]
            on_redis.append(redis.run(server, command, REDIS_COUNT, REDIS_WARM_UP))
    beside_engine = embedded.compared(engine, strict)
    beside_bullmq, beside_bee = redis.compared(bullmq, on_redis), redis.compared(bee, on_redis)
    rounds.print_result(
        "worker_pool",
        "jobs/s",
        beside_engine,
        "BullMQ on Redis, concurrency 50; beside value_redis",
        baseline_value=beside_bullmq.baseline(),
        ratio=beside_bullmq.ratio(),
        baseline_bee="bee-queue on Redis, concurrency 50",
        baseline_value_bee=beside_bee.baseline(),
        ratio_bee=beside_bee.ratio(),
        value_engine=beside_engine.baseline(),
        ratio_engine=beside_engine.ratio(),
        value_memory=embedded.middle(memory, "rate"),
        value_redis=redis.middle(on_redis, "rate"),
        cpu_us_per_op=embedded.middle(strict, "cpu_us"),
        cpu_us_per_op_memory=embedded.middle(memory, "cpu_us"),
        **redis.processor_times(on_redis, suffix="_redis"),
        **redis.processor_times(bullmq, prefix="baseline_"),
        **redis.processor_times(bee, prefix="baseline_", suffix="_bee"),
    )


main()
