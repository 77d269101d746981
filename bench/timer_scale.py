"""Measures ten million timers on an embedded store, strict: the processor time of a post, a
cancellation and a firing, the memory of a timer, and the time in which the store opens the file
again. The baseline of the memory is the bytes of the id and the payload.
"""

import pathlib
import sys

from support import embedded, rounds, servers

COUNT = 10_000_000

build = pathlib.Path(sys.argv[1]).resolve()
with servers.folder(build) as folder:
    shape = ["--file", folder / "store.db", "--count", COUNT]
    filled = embedded.result_of(build, "bench_embedded_timers", *shape, "scale")
    opened = embedded.result_of(build, "bench_embedded_timers", *shape, "reopen")
measured = rounds.Rounds()
measured.add(filled["content_bytes"], filled["bytes_each"] - filled["content_bytes"])
rounds.print_result(
    "timer_scale",
    "bytes",
    measured,
    "bytes of the id and the payload",
    cpu_us_per_op=filled["cpu_us_per_op"],
    cpu_us_per_post=filled["cpu_us_per_post"],
    cpu_us_per_cancel=filled["cpu_us_per_cancel"],
    cpu_us_per_take=filled["cpu_us_per_take"],
    bytes_each=measured.value(),
    bytes_each_reopened=opened["bytes_each"] - filled["content_bytes"],
    reopen_s=opened["reopen_s"],
    posts_per_second=filled["post_per_second"],
    ops_per_second=filled["ops_per_second"],
    file_mb=filled["file_mb"],
)
