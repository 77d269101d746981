"""Publishes events to one topic with 100 subscribers on an embedded store, strict, and measures
copies of events a second. 1,024 publications are under way, each submitted separately. Batches have
up to 100 events.

The baseline writes records of as many bytes as such a publication has in the journal, 1,024 in a
group, with pwrite and fdatasync.
"""

import pathlib
import sys

from support import embedded, rounds

SUBSCRIBERS = 100
COUNT, WARM_UP = 40_000, 4_000
IN_FLIGHT = 1_024
JOURNAL_BYTES = 65 + SUBSCRIBERS * 21 + 7
ROUNDS = 7

build = pathlib.Path(sys.argv[1]).resolve()
shape = ["--count", COUNT, "--warm-up", WARM_UP, "--in-flight", IN_FLIGHT,
         "--subscribers", SUBSCRIBERS]  # fmt: skip
measured, ours = rounds.Rounds(), []
for _ in range(ROUNDS):
    disk = embedded.raw(build, JOURNAL_BYTES, IN_FLIGHT)
    ours.append(embedded.run(build, "bench_embedded_publish", *shape))
    measured.add(disk.rate * SUBSCRIBERS, ours[-1].rate * SUBSCRIBERS)
rounds.print_result(
    "fanout",
    "event copies/s",
    measured,
    "pwrite + fdatasync of the same bytes, 1024 records",
    publications_per_second=embedded.middle(ours, "rate"),
    cpu_us_per_op=embedded.middle(ours, "cpu_us") / SUBSCRIBERS,
    cpu_us_per_publication=embedded.middle(ours, "cpu_us"),
)
