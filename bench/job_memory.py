"""Measures the memory of a READY job with default settings, with five million jobs in memory. The
bytes of the job itself are the baseline, and are not included.
"""

import pathlib
import sys

from support import embedded, rounds

COUNT = 5_000_000

build = pathlib.Path(sys.argv[1]).resolve()
run = embedded.result_of(build, "bench_job_pages", "--count", COUNT)
measured = rounds.Rounds()
measured.add(run["payload_bytes"], run["bytes_each"] - run["payload_bytes"])
rounds.print_result("job_memory", "bytes", measured, "bytes of the encoded job")
