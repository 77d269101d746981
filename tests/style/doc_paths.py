#!/usr/bin/env python3
"""Checks that the files that the documents name exist.

A path is text between backticks that begins with a folder of the sources and ends with a file name.
A path with a word in capitals is a pattern, and matches any file that fits. A path that is followed
by "(new)" before its sentence ends is an example, and is not checked.
"""

import re

import checker

PATH = re.compile(r"`((?:include|lib|tests|services|examples|bench|docs)/[\w./-]+\.\w+)`")
PATTERN_WORD = re.compile(r"(?<![A-Za-z])[A-Z]{2,}(?![a-z])")
NEW = re.compile(r"(?:`[^`]*`|[^`:;.])*\(new\)")


def is_there(root, name):
    """Whether a file is there that the path names or, with words in capitals, stands for."""
    return any(root.glob(PATTERN_WORD.sub("*", name)))


def check(root):
    """Complaints about every document."""
    for path in checker.files(root, "docs"):
        if path.suffix != ".md":
            continue
        text = path.read_text(encoding="utf-8")
        for match in PATH.finditer(text):
            if is_there(root, match.group(1)) or NEW.match(text, match.end()):
                continue
            line = text.count("\n", 0, match.start()) + 1
            yield path.relative_to(root), line, f"there is no {match.group(1)}"


def document(text):
    """A planted tree: one document, and the file lib/core/step.cpp."""
    return {"docs/a.md": f"# A\n\n{text}\n", "lib/core/step.cpp": ""}


CLEAN = [
    document("See `lib/core/step.cpp`, `lib/core/STEP.cpp`, and `FILE.db`."),
    document("Make `lib/core/flag.cpp` (new): it is an example."),
    document("Make `lib/core/flag.cpp` and `lib/core/flags.cpp` (new)."),
    document("`lib/a.cpp` of text that is no document") | {"docs/a.md": "# A\n"},
]

VIOLATIONS = [
    ("docs/a.md", 3, "there is no lib/core/gone.cpp", document("See `lib/core/gone.cpp`.")),
    ("docs/a.md", 3, "there is no lib/gone/STEP.cpp", document("See `lib/gone/STEP.cpp`.")),
    ("docs/a.md", 3, "there is no lib/gone.cpp", document("`lib/gone.cpp`: gone. `a.cpp` (new).")),
]

if __name__ == "__main__":
    checker.main(check, CLEAN, VIOLATIONS)
