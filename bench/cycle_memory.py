"""Pushes, acquires and acknowledges jobs on the memory store, in one thread, 1,024 at once. The
baseline is beanstalkd without a log, over its socket.
"""

import pathlib
import sys

from support import beanstalkd, embedded, rounds

COUNT, WARM_UP = 1_000_000, 100_000
THEIR_COUNT, THEIR_WARM_UP = 100_000, 10_000
IN_FLIGHT = 1_024
ROUNDS = 5

build = pathlib.Path(sys.argv[1]).resolve()
ours, theirs = [], []
for _ in range(ROUNDS):
    theirs.append(beanstalkd.cycle(build, False, IN_FLIGHT, THEIR_COUNT, THEIR_WARM_UP))
    shape = ["--count", COUNT, "--warm-up", WARM_UP, "--in-flight", IN_FLIGHT]
    ours.append(embedded.Run(embedded.result_of(build, "bench_embedded_cycle", *shape)))
rounds.print_result(
    "cycle_memory",
    "jobs/s",
    embedded.compared(theirs, ours),
    "beanstalkd in memory, 1024 jobs in flight",
    cpu_us_per_op=embedded.middle(ours, "cpu_us"),
    baseline_cpu_us_per_op=embedded.middle(theirs, "server_cpu_us"),
)
