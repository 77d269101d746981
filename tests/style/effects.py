"""What the checkers of effects share: the cases of all tests, and the lines of a table."""

import re

import checker

TEST_CASE = re.compile(r"\bTEST_CASE\(\s*((?:\"(?:\\.|[^\"\\\n])*\"\s*)+)\)")
SECTION = re.compile(r"\[\"?([^\"\]]*)\"?\]\s*$")
ENTRY = re.compile(r"\"?([^\"\s=]+)\"?\s*=")


def test_cases(root):
    """The names of all test cases."""
    names = set()
    for path in checker.files(root, "tests"):
        if path.suffix == ".cpp":
            for match in TEST_CASE.finditer(path.read_text(encoding="utf-8")):
                parts = re.findall(r"\"((?:\\.|[^\"\\\n])*)\"", match.group(1))
                names.add("".join(parts).replace('\\"', '"'))
    return names


def entry_lines(text):
    """{(section, key): line} of a table, {section: line} included as (section, None)."""
    lines = {}
    section = None
    for number, line in enumerate(text.splitlines(), start=1):
        if match := SECTION.match(line):
            section = match.group(1)
            lines[section, None] = number
        elif match := ENTRY.match(line):
            lines[section, match.group(1)] = number
    return lines
