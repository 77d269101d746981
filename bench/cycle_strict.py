"""Pushes, acquires and acknowledges jobs on an embedded store, strict, 1,024 at once. The baselines
are beanstalkd without a log, and beanstalkd with a sync of its log at each write, both over its
socket with as many jobs at once.
"""

import pathlib
import sys

from support import beanstalkd, embedded, rounds

COUNT, WARM_UP = 300_000, 30_000
THEIR_COUNT, THEIR_WARM_UP = 100_000, 10_000
SYNCED_COUNT, SYNCED_WARM_UP = 1_500, 0
IN_FLIGHT = 1_024
ROUNDS = 3

build = pathlib.Path(sys.argv[1]).resolve()
ours, theirs, synced = [], [], []
for _ in range(ROUNDS):
    theirs.append(beanstalkd.cycle(build, False, IN_FLIGHT, THEIR_COUNT, THEIR_WARM_UP))
    synced.append(beanstalkd.cycle(build, True, IN_FLIGHT, SYNCED_COUNT, SYNCED_WARM_UP))
    shape = ["--count", COUNT, "--warm-up", WARM_UP, "--in-flight", IN_FLIGHT]
    ours.append(embedded.run(build, "bench_embedded_cycle", *shape))
beside_synced = embedded.compared(synced, ours)
rounds.print_result(
    "cycle_strict",
    "jobs/s",
    embedded.compared(theirs, ours),
    "beanstalkd in memory, 1024 jobs in flight",
    cpu_us_per_op=embedded.middle(ours, "cpu_us"),
    baseline_cpu_us_per_op=embedded.middle(theirs, "server_cpu_us"),
    baseline_client_cpu_us_per_op=embedded.middle(theirs, "cpu_us"),
    baseline_synced="beanstalkd -b DIR -f 0, 1024 jobs in flight",
    baseline_value_synced=beside_synced.baseline(),
    ratio_synced=beside_synced.ratio(),
)
