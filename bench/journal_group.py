"""Measures how fast groups of records of 150 bytes are written to disk, each group synced before
the next: as rows of the store's journal in SQLite. The baseline is pwrite and fdatasync of the same
bytes into a file whose space was reserved. For comparison, it also measures an append-only file of
our own.
"""

import pathlib
import sys

from support import embedded, rounds

RECORD = 150
GROUPS = (1, 16, 256, 4096)
ROUNDS = 9
SECONDS = 0.3

build = pathlib.Path(sys.argv[1]).resolve()
measured = {}
for group in GROUPS:
    kinds = {"raw": [], "journal": [], "segment": [], "overwrite": []}
    for _ in range(ROUNDS):
        for kind, runs in kinds.items():
            runs.append(embedded.raw(build, RECORD, group, SECONDS, kind))
    measured[group] = kinds

fields = {}
for group, kinds in measured.items():
    journal = embedded.compared(kinds["raw"], kinds["journal"])
    segment = embedded.compared(kinds["raw"], kinds["segment"])
    fields |= {
        f"ratio_{group}": journal.ratio(),
        f"value_{group}": journal.value(),
        f"baseline_value_{group}": journal.baseline(),
        f"segment_ratio_{group}": segment.ratio(),
        f"segment_value_{group}": segment.value(),
        f"overwrite_value_{group}": embedded.middle(kinds["overwrite"], "rate"),
        f"cpu_us_per_op_{group}": embedded.middle(kinds["journal"], "cpu_us"),
    }
rounds.print_result(
    "journal_group",
    "records/s",
    embedded.compared(measured[256]["raw"], measured[256]["journal"]),
    "pwrite + fdatasync of the same bytes, 256 records",
    cpu_us_per_op=embedded.middle(measured[256]["journal"], "cpu_us"),
    **fields,
)
