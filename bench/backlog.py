"""Measures a backlog of ten million jobs of 200 bytes on an embedded store, strict.

Compares the push rate of the last million jobs with the rate of the first million, and the rate at
which the backlog is processed with the rate of a short queue. Also measures the resident memory and
the time in which the store opens the file again.
"""

import pathlib
import statistics
import sys

from support import embedded, rounds, servers

COUNT = 10_000_000
MEMORY_MAX = 256 << 20
ROUNDS = 1

build = pathlib.Path(sys.argv[1]).resolve()
pushes, filled, drained = rounds.Rounds(), [], []
for _ in range(ROUNDS):
    with servers.folder(build) as folder:
        shape = ["--file", folder / "store.db", "--count", COUNT, "--memory-max", MEMORY_MAX]
        filled.append(embedded.result_of(build, "bench_embedded_backlog", *shape, "fill"))
        drained.append(embedded.result_of(build, "bench_embedded_backlog", *shape, "drain"))
    pushes.add(filled[-1]["push_first"], filled[-1]["push_last"])


def middle(runs, field):
    """The median of a field."""
    return statistics.median(run[field] for run in runs)


short_queue = middle(drained, "short_queue")
rounds.print_result(
    "backlog",
    "pushes/s",
    pushes,
    "the first million",
    push_ratio=pushes.ratio(),
    drain_ratio=middle(drained, "drain") / short_queue,
    drain_ratio_live=middle(filled, "drain_live") / short_queue,
    drain_per_second=middle(drained, "drain"),
    short_queue_per_second=short_queue,
    rss_mb=max(middle(filled, "rss_mb"), middle(drained, "rss_mb")),
    rss_mb_reopened=middle(drained, "rss_mb"),
    reopen_s=middle(drained, "reopen_s"),
    close_s=middle(filled, "close_s"),
    file_mb=middle(filled, "file_mb"),
    file_mb_drained=middle(drained, "file_mb"),
    cpu_us_per_op=middle(filled, "cpu_us_per_op"),
    cpu_us_per_drain=middle(drained, "cpu_us_per_op"),
)
