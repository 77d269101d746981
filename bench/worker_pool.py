"""Runs jobs whose handler does nothing through a `WorkerPool` with eight threads: on an embedded
store, strict; in memory; and on Redis. The baseline is the machinery alone: the same jobs pushed,
acquired and acknowledged on an embedded store by one thread, without a pool.
"""

import pathlib
import sys

from support import embedded, redis, rounds

ROUNDS = 5
COUNT, WARM_UP = 400_000, 50_000
MEMORY_COUNT, MEMORY_WARM_UP = 1_000_000, 100_000
REDIS_COUNT, REDIS_WARM_UP = 100_000, 20_000
THREADS = 8


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    program = "bench_worker_pool"
    strict, memory, on_redis, engine = [], [], [], []
    with redis.server(build) as server:
        for _ in range(ROUNDS):
            shape = ["--count", COUNT, "--warm-up", WARM_UP]
            engine.append(embedded.run(build, "bench_embedded_cycle", *shape))
            strict.append(embedded.run(build, program, "--threads", THREADS, *shape))
            shape = ["--count", MEMORY_COUNT, "--warm-up", MEMORY_WARM_UP, "--threads", THREADS]
            memory.append(embedded.Run(embedded.result_of(build, program, *shape)))
            server.empty()
            command = [build / "bench" / program, "--url", server.url, "--threads", str(THREADS)]
            on_redis.append(redis.run(server, command, REDIS_COUNT, REDIS_WARM_UP))
    rounds.print_result(
        "worker_pool",
        "jobs/s",
        embedded.compared(engine, strict),
        "push, acquire and ack without a pool, 1024 jobs in flight",
        value_memory=embedded.middle(memory, "rate"),
        value_redis=redis.middle(on_redis, "rate"),
        cpu_us_per_op=embedded.middle(strict, "cpu_us"),
        cpu_us_per_op_memory=embedded.middle(memory, "cpu_us"),
        **redis.processor_times(on_redis, suffix="_redis"),
    )


main()
