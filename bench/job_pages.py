"""Measures the duration of pages of a queue of five million jobs on an embedded store, strict,
while jobs are pushed one by one. The baseline is a queue of 10,000 jobs.
"""

import pathlib
import statistics
import sys

from support import embedded, rounds, servers

ROUNDS = 3
COUNT, SHORT_COUNT = 5_000_000, 10_000


def look(build, count):
    """One run."""
    with servers.folder(build) as folder:
        shape = ["--file", folder / "store.db", "--count", count]
        return embedded.result_of(build, "bench_job_pages", *shape)


build = pathlib.Path(sys.argv[1]).resolve()
measured, longs = rounds.Rounds(), []
for _ in range(ROUNDS):
    short = look(build, SHORT_COUNT)
    longs.append(look(build, COUNT))
    measured.add(short["page_max_ms"], longs[-1]["page_max_ms"])
rounds.print_result(
    "job_pages",
    "ms",
    measured,
    "the same of a queue of 10,000",
    push_max_ms=statistics.median(run["push_max_ms"] for run in longs),
)
