"""Measures the file size and the duration of a push under a constant load of 50,000 jobs a second.

The jobs have 200 bytes, and are pushed, acquired and acknowledged on an embedded store, strict,
while a million other jobs stay in the store. The baseline is the same load on a store that never
compacts its file.
"""

import pathlib
import statistics
import sys

from support import embedded, rounds, servers

MEGABYTE = 1 << 20
SLACK = 64 * MEGABYTE

build = pathlib.Path(sys.argv[1]).resolve()
with servers.folder(build) as folder:
    result = embedded.result_of(build, "bench_embedded_compaction", "--file", folder / "store.db")
measured = rounds.Rounds()
for each in result["rounds"]:
    measured.add(each["plain_p99_ms"], each["p99_ms"])


def middle(field):
    """The median of a field over the rounds."""
    return statistics.median(each[field] for each in result["rounds"])


rounds.print_result(
    "compaction",
    "ms",
    measured,
    "a push without compaction, p99",
    p99_ratio=measured.ratio(),
    p50_ms=middle("p50_ms"),
    p999_ms=middle("p999_ms"),
    baseline_p50_ms=middle("plain_p50_ms"),
    baseline_p999_ms=middle("plain_p999_ms"),
    file_mb=result["file_bytes"] / MEGABYTE,
    file_bound_mb=(2 * result["live_bytes"] + SLACK) / MEGABYTE,
    file_end_mb=result["file_bytes_end"] / MEGABYTE,
    baseline_file_mb=result["plain_file_bytes"] / MEGABYTE,
    live_mb=result["live_bytes"] / MEGABYTE,
    cpu_us_per_op=result["cpu_us_per_op"],
)
