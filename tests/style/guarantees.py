#!/usr/bin/env python3
"""Checks that each promise of docs/guarantees.md has a bug that breaks it, or a test case.

guarantees.toml lists the promises of each section, each with the mutant of
tests/mutants/mutants.toml, or the test case, that stands for it: the case fails when the promise is
broken. A section has at least as many promises as paragraphs, list items and table rows. Also
checks that the lists "Watched by" name cases that exist.
"""

import re
import tomllib

import checker

DOCUMENT = "docs/guarantees.md"
TABLE = "tests/style/guarantees.toml"
MUTANTS = "tests/mutants/mutants.toml"
REGISTERED = re.compile(
    r"\b(?:TEST_CASE(?:_\w+)?|add(?:\.with_stores)?)\(\s*((?:\"(?:\\.|[^\"\\\n])*\"\s*)+)"
)
SECTION = re.compile(r"\[\"?(\w+)\"?\]")
HEADING = re.compile(r"## (\d+[a-z]?)\. ")
ENTRY = re.compile(r"\"((?:\\.|[^\"\\])*)\"\s*=")
SUITES = {
    "asio": "tests/asio", "conformance": "lib/testing/conformance",
    "faults": "tests/faults",
    "integration": "tests/integration", "redis": "tests/redis", "simulation": "tests/simulation",
    "threads": "tests/threads", "unit": "tests/unit",
}
WATCHED = "*Watched by:*"


def test_cases(root):
    """{suite: the names of its cases and of its files}."""
    names = {}
    for suite, folder in SUITES.items():
        known = names.setdefault(suite, set())
        for path in checker.files(root, folder):
            if path.suffix != ".cpp":
                continue
            known.add(path.stem)
            for match in REGISTERED.finditer(path.read_text(encoding="utf-8")):
                parts = re.findall(r"\"((?:\\.|[^\"\\\n])*)\"", match.group(1))
                name = "".join(parts).replace('\\"', '"')
                # The cases of Redis have the name of their topic in front.
                known.update((name, name.removeprefix("redis: ")))
    return names


def paragraphs(text):
    """(section, line, text) of each paragraph, list item and table row of numbered sections."""
    section, begin, lines = None, 0, []
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        begins = not line.strip() or line.startswith(("#", "- ", "|"))
        if begins and lines:
            if section is not None:
                yield section, begin, " ".join(" ".join(lines).split())
            lines = []
        if match := HEADING.match(line):
            section = match.group(1)
        elif line.strip() and not line.startswith("#"):
            begin = begin if lines else number
            lines.append(line)


def is_promise(text):
    """Whether a paragraph is more than an introduction, a list of cases, or the head of a table."""
    return not (text.endswith(":") or text.startswith((WATCHED, "|--", "| data |")))


def is_known(name, suite, cases):
    """Whether a suite has a case; "…" stands for anything."""
    if "…" not in name:
        return name in cases.get(suite, ())
    pattern = re.compile(".*".join(map(re.escape, name.split("…"))))
    return any(pattern.fullmatch(case) for case in cases.get(suite, ()))


def unknown_cases(root, text, cases):
    """The names in a list "Watched by" that no case has."""
    suite = "conformance" if "the conformance cases" in text else None
    for name in re.findall(r"(?<!the benchmark )`([^`]+)`", text):
        head, _, tail = name.partition("/")
        if head in SUITES and tail:
            suite, name = head, tail
        elif (root / name.split()[0]).exists() or "::" in name:
            continue
        if suite is not None and not is_known(name, suite, cases):
            yield suite, name


def promises(root):
    """({section: {promise: what stands for it}}, {(section, promise): line}) of the table."""
    text = (root / TABLE).read_text(encoding="utf-8")
    lines, section = {}, None
    for number, line in enumerate(text.splitlines(), start=1):
        if match := SECTION.match(line):
            section = match.group(1)
            lines[section, None] = number
        elif match := ENTRY.match(line):
            lines[section, match.group(1)] = number
    return tomllib.loads(text), lines


def check(root):
    """Complaints about sections without promises, and about cases and mutants that are missing."""
    cases = test_cases(root)
    table, lines = promises(root)
    sections = {}
    for section, line, text in paragraphs((root / DOCUMENT).read_text(encoding="utf-8")):
        sections.setdefault(section, []).extend([line] * is_promise(text))
        if text.startswith(WATCHED):
            for suite, name in unknown_cases(root, text, cases):
                yield DOCUMENT, line, f"{suite} has no case '{name}'"
    for section, places in sections.items():
        listed = len(table.get(section, ()))
        if listed < len(places):
            yield DOCUMENT, places[0], f"{len(places)} paragraphs, but {listed} promises in {TABLE}"
    known = set().union(*cases.values())
    mutants = tomllib.loads((root / MUTANTS).read_text(encoding="utf-8"))
    known.update(each["name"] for each in mutants.get("mutant", ()))
    for section, entries in table.items():
        if section not in sections:
            yield TABLE, lines[section, None], f"{DOCUMENT} has no section {section}"
        for promise, names in entries.items():
            for name in [names] if isinstance(names, str) else names:
                if name not in known:
                    line = lines.get((section, promise), lines[section, None])
                    yield TABLE, line, f"there is no mutant and no case '{name}'"


TEXT = """# Guarantees

The terms.

## 1. Data survives

An event is
on disk.

- A timer, too.

*Watched by:* `unit/an event is
kept`, `a timer is kept`, `tests/faults`.
"""


def tree(table, text=TEXT):
    """A planted tree: a document, a table, one mutant and three cases."""
    return {
        DOCUMENT: text,
        TABLE: table,
        MUTANTS: '[[mutant]]\nname = "an event is lost"\n',
        "tests/unit/kept_test.cpp": 'TEST_CASE("an event is kept") {}\n'
                                    'TEST_CASE("a timer "\n          "is kept") {}\n',
        "tests/faults/crash_test.cpp": 'TEST_CASE("a crash") {}\n',
    }


GOOD = """[1]
"an event is on disk" = "an event is lost"
"so is a timer" = ["a timer is kept", "a crash"]
"""

CLEAN = [
    tree(GOOD),
    tree(GOOD, TEXT.replace("`a timer is kept`", "`a … is kept`")),
    tree(GOOD, TEXT + "\nThis says where:\n"),
]

VIOLATIONS = [
    (DOCUMENT, 7, "2 paragraphs, but 1 promises", tree('[1]\n"a timer" = "a timer is kept"\n')),
    (DOCUMENT, 7, "2 paragraphs, but 0 promises", tree("")),
    (TABLE, 4, "has no section 2", tree(GOOD + '[2]\n"a job" = "an event is lost"\n')),
    (TABLE, 2, "there is no mutant and no case 'an event stays'",
     tree(GOOD.replace("an event is lost", "an event stays"))),
    (TABLE, 3, "there is no mutant and no case 'a storm'",
     tree(GOOD.replace("a crash", "a storm"))),
    (DOCUMENT, 12, "unit has no case 'a job is kept'",
     tree(GOOD, TEXT.replace("`a timer is kept`", "`a job is kept`"))),
    (DOCUMENT, 12, "faults has no case 'a timer is kept'",
     tree(GOOD, TEXT.replace("`a timer is kept`", "`faults/a timer is kept`"))),
]

if __name__ == "__main__":
    checker.main(check, CLEAN, VIOLATIONS)
