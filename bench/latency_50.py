"""Measures the time from the publication of an event until its subscriber receives it, at 50 events
a second. The service is one process on a file, strict; see support/latency.py.

The disk causes most of this time: `disk_sync_ms` is the time to append a page and sync it, right
before and after the measurement.
"""

import contextlib
import os
import pathlib
import statistics
import sys
import time

from support import latency, servers

SYNCS = 100


def disk_syncs(folder):
    """How long writing and syncing a page takes, several times."""
    took = []
    with open(folder / "syncs", "ab", buffering=0) as file:
        for _ in range(SYNCS):
            file.write(bytes(4096))
            before = time.monotonic_ns()
            os.fdatasync(file.fileno())
            took.append((time.monotonic_ns() - before) / 1e6)
    return took


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(servers.folder(build))
        receiver = stack.enter_context(servers.receiver(build, "--arrivals"))
        bus = stack.enter_context(servers.bus(build, f"file:{folder}/bus.db"))
        latency.subscribe(bus, receiver)
        syncs = disk_syncs(folder)
        measured = latency.Latencies(bus, receiver, [bus])
        syncs += disk_syncs(folder)
    (cpu_us,) = measured.cpu_us
    measured.print_result("latency_50", cpu_us_per_op=cpu_us, disk_sync_ms=statistics.median(syncs))


main()
