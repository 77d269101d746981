"""Measures durable pushes of READY jobs, 1,024 under way, each submitted separately.

The baseline writes records of as many bytes as such a push has in the journal, 1,024 in a group,
with pwrite and fdatasync: the rate of the disk alone.
"""

import pathlib
import sys

from support import embedded, rounds

COUNT, WARM_UP = 600_000, 100_000
IN_FLIGHT = 1_024
JOURNAL_BYTES = 45
ROUNDS = 7

build = pathlib.Path(sys.argv[1]).resolve()
shape = ["--count", COUNT, "--warm-up", WARM_UP, "--in-flight", IN_FLIGHT]
disk, single, together = [], [], []
for _ in range(ROUNDS):
    disk.append(embedded.raw(build, JOURNAL_BYTES, IN_FLIGHT))
    single.append(embedded.run(build, "bench_embedded_push", *shape))
    together.append(embedded.run(build, "bench_embedded_push", "--together", 16, *shape))
rounds.print_result(
    "push_strict",
    "pushes/s",
    embedded.compared(disk, single),
    "pwrite + fdatasync of the same bytes, 1024 records",
    cpu_us_per_op=embedded.middle(single, "cpu_us"),
    value_16=embedded.middle(together, "rate"),
    cpu_us_per_op_16=embedded.middle(together, "cpu_us"),
)
