#!/usr/bin/env python3
"""Finds public headers that are too long: each header documents one concept, and is read as a
whole.
"""

import checker

LINES_MAX = 200


def check(root):
    """Complaints about the public headers."""
    for path, _ in checker.headers(root):
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > LINES_MAX:
            yield path.relative_to(root), lines, f"{lines} lines, more than {LINES_MAX}"


def header(name, lines):
    """A planted tree: the header `name` with so many lines."""
    return {f"include/routemaster/{name}.hpp": "\n" * lines}


CLEAN = [
    header("bus", LINES_MAX),
    {"lib/core/jobs/state/jobs.hpp": "\n" * (LINES_MAX + 1)},
]

VIOLATIONS = [
    ("include/routemaster/bus.hpp", LINES_MAX + 1, "more than", header("bus", LINES_MAX + 1)),
    ("include/routemaster/testing/a.hpp", 999, "more than", header("testing/a", 999)),
]

if __name__ == "__main__":
    checker.main(check, CLEAN, VIOLATIONS)
