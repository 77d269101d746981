"""Measures the cost of an ordering group for a job: pushes, acquires and acknowledges jobs on an
embedded store, strict, 1,024 at once, each in one of 10,000 ordering groups of concurrency 1. In
the baseline the jobs have no group. Each round measures both.
"""

import pathlib
import sys

from support import embedded, rounds

COUNT, WARM_UP = 300_000, 30_000
GROUPS = 10_000
IN_FLIGHT = 1_024
ROUNDS = 5

build = pathlib.Path(sys.argv[1]).resolve()
shape = ["--count", COUNT, "--warm-up", WARM_UP, "--in-flight", IN_FLIGHT]
plain, grouped = [], []
measured = rounds.Rounds()
for _ in range(ROUNDS):
    plain.append(embedded.run(build, "bench_embedded_cycle", *shape))
    grouped.append(embedded.run(build, "bench_embedded_cycle", *shape, "--groups", GROUPS))
    measured.add(1e6 / plain[-1].rate, 1e6 / grouped[-1].rate)
rounds.print_result(
    "job_groups",
    "us/job",
    measured,
    "jobs without a group",
    cpu_us_per_op=embedded.middle(grouped, "cpu_us"),
    baseline_cpu_us_per_op=embedded.middle(plain, "cpu_us"),
)
