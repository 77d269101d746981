#!/usr/bin/env python3
"""Checks that the programs shown in Markdown files are examples, which are compiled and run.

A C++ block follows the comment `<!-- examples/NAME.cpp -->` and equals that file. README.md shows
at least one example.
"""

import re

import checker

SHOWN = re.compile(r"^<!-- (examples/\S+) -->\n```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```cpp\n", re.MULTILINE)


def check(root):
    """Complaints about every Markdown file."""
    for path in checker.files(root):
        if path.suffix != ".md":
            continue
        text = path.read_text(encoding="utf-8")
        shown = list(SHOWN.finditer(text))
        if path.relative_to(root).as_posix() == "README.md" and not shown:
            yield path.relative_to(root), 1, "shows no example"
        starts = {match.end() - len("```") - len(match.group(2)) for match in shown}
        for block in BLOCK.finditer(text):
            if block.end() not in starts:
                line = text.count("\n", 0, block.start()) + 1
                yield path.relative_to(root), line, "C++ that is no example"
        for match in shown:
            line = text.count("\n", 0, match.start()) + 1
            example = root / match.group(1)
            if not example.is_file():
                yield path.relative_to(root), line, f"there is no {match.group(1)}"
            elif example.read_text(encoding="utf-8") != match.group(2):
                yield path.relative_to(root), line, f"differs from {match.group(1)}"


def shows(name, code):
    """Markdown that shows `code` as the example `name`."""
    return f"# A\n\n<!-- examples/{name} -->\n```cpp\n{code}```\n"


CODE = "int main() {}\n"

CLEAN = [
    {"README.md": shows("a.cpp", CODE), "examples/a.cpp": CODE},
    {"docs/a.md": "```sh\nls\n```\n"},
]

VIOLATIONS = [
    ("README.md", 1, "shows no example", {"README.md": "# A\n"}),
    ("docs/a.md", 1, "C++ that is no example", {"docs/a.md": "```cpp\nint a;\n```\n"}),
    ("README.md", 3, "there is no examples/a.cpp", {"README.md": shows("a.cpp", CODE)}),
    ("docs/a.md", 3, "differs from examples/a.cpp",
     {"docs/a.md": shows("a.cpp", CODE), "examples/a.cpp": "int main() { return 1; }\n"}),
]

if __name__ == "__main__":
    checker.main(check, CLEAN, VIOLATIONS)
