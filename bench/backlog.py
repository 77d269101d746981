"""A backlog of ten million jobs of 200 bytes, strict: whether the last million is pushed as fast as
the first, whether it is worked off as fast as a short queue, what memory it takes, and how long the
store takes to open it again.
"""

import pathlib
import sys

from support import embedded, rounds, servers

COUNT = 10_000_000
ROUNDS = 1

build = pathlib.Path(sys.argv[1]).resolve()
pushes, runs = rounds.Rounds(), []
for _ in range(ROUNDS):
    with servers.folder(build) as folder:
        shape = ["--file", folder / "store.db", "--count", COUNT]
        runs.append(embedded.tell(build, "bench_embedded_backlog", *shape))
    pushes.add(runs[-1]["push_first"], runs[-1]["push_last"])


def middle(*fields):
    """The median of a field, or of its ratio to another."""
    return rounds.median([run[fields[0]] / (run[fields[1]] if fields[1:] else 1) for run in runs])


rounds.tell(
    "backlog",
    "pushes/s",
    pushes,
    "the first million",
    push_ratio=pushes.ratio(),
    drain_ratio=middle("drain", "short_queue"),
    drain_ratio_live=middle("drain_live", "short_queue"),
    drain_per_second=middle("drain"),
    short_queue_per_second=middle("short_queue"),
    rss_mb=middle("rss_mb"),
    reopen_s=middle("reopen_s"),
    close_s=middle("close_s"),
    file_mb=middle("file_mb"),
    cpu_us_per_op=middle("cpu_us_per_op"),
)
