#!/usr/bin/env python3
"""Checks the text of every file: line length, tabs, white space at line ends, left-over marks such
as those for unfinished work, and paths that exist only on one machine.

Every header also has `#pragma once` and says what it is in `/// @file`.
"""

import re

import checker

COLUMNS = 100

# Data and fixtures are not checked; all other files are written by hand.
CODE = {".hpp", ".cpp", ".h", ".py", ".sh", ".cmake", ".in", ".lua", ".txt", ".md", ""}
DATA = {".json", ".jsonl"}

# Split, so that this file does not violate the rule.
MARK = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
MACHINE_PATH = re.compile(r"(?<![\w./$}-])/(work|root|home|Users)" r"/\w")


def too_wide(path, line):
    """Whether a line is too long; tables and links of prose cannot be broken."""
    if len(line) <= COLUMNS or path.suffix in DATA:
        return False
    return not (path.suffix == ".md" and (line.startswith("|") or "](" in line or "://" in line))


def check_lines(path, text):
    """Complaints about the lines of one file: (line, complaint)."""
    for number, line in enumerate(text.splitlines(), 1):
        if too_wide(path, line):
            yield number, f"{len(line)} columns, more than {COLUMNS}"
        if "\t" in line and path.suffix not in DATA:
            yield number, "a tab"
        if line != line.rstrip():
            yield number, "white space at the end of the line"
        if mark := MARK.search(line):
            yield number, f"{mark.group()}: finish it or file it"
        if machine := MACHINE_PATH.search(line):
            yield number, f"{machine.group()}... is a path of one machine"


def check_file(path):
    """Complaints about one file."""
    text = path.read_text(encoding="utf-8")
    yield from check_lines(path, text)
    if text and not text.endswith("\n"):
        yield text.count("\n") + 1, "no newline at the end of the file"
    if text.endswith("\n\n"):
        yield text.count("\n"), "an empty line at the end of the file"
    if path.suffix == ".hpp":
        if "#pragma once" not in text.splitlines():
            yield 1, "no #pragma once"
        if not re.search(r"^/// @file$", text, re.MULTILINE):
            yield 1, "no /// @file that says what this header is"


def check(root):
    """Complaints about the whole tree."""
    for path in checker.files(root):
        if path.suffix in CODE | DATA:
            for line, complaint in check_file(path):
                yield path.relative_to(root), line, complaint


HEADER = "/// @file\n/// A thing.\n\n#pragma once\n"


def planted(line, part, name="lib/a.cpp"):
    """A violation: a file of this one line."""
    return (name, 1, part, {name: line})


CLEAN = [
    {"include/routemaster/a.hpp": HEADER},
    {"lib/a.cpp": "int a;  // " + "x" * (COLUMNS - 11) + "\n"},
    {"docs/a.md": "| " + "x" * COLUMNS + " |\n[a](b" + "x" * COLUMNS + ")\n"},
    {"examples/data/a.jsonl": '{"a": "' + "x" * COLUMNS + '"}\n'},
    {"a.sh": 'mktemp -d "/tmp/a.XXXXXX"; cd "$prefix/work/a"; ls build/root/a\n'},
    {"build/release/a.cpp": "\t"},
]

VIOLATIONS = [
    planted("x" * (COLUMNS + 1) + "\n", "101 columns"),
    planted("x" * (COLUMNS + 1) + "\n", "101 columns", "docs/a.md"),
    planted("\tint a;\n", "a tab"),
    planted("int a; \n", "white space"),
    planted("int a;", "no newline"),
    planted("\n\n", "empty line"),
    planted("// TO" "DO: more\n", "finish it"),
    planted("# FIX" "ME\n", "finish it", "scripts/a"),
    planted("cd /wo" "rk/main\n", "path of one machine", "scripts/a"),
    planted("/// @file\n", "no #pragma once", "include/a.hpp"),
    planted("#pragma once\n", "no /// @file", "include/a.hpp"),
]
# The reported line of an empty last line.
VIOLATIONS[5] = ("lib/a.cpp", 2, "empty line", {"lib/a.cpp": "\n\n"})

if __name__ == "__main__":
    checker.main(check, CLEAN, VIOLATIONS)
