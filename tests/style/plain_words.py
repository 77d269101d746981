#!/usr/bin/env python3
"""Checks that comments and names of cases use nouns instead of pronouns.

In each folder at most 5 % of the words of comments, or of names, are pronouns and similar words,
and in no sentence of eight words or more a quarter of the words. LevelDB, Boost.Redis, River and
libpqxx have between 2.3 and 4.5 %.
"""

import re

import checker

SHARE_MAX = 0.05
HEAVY_SHARE = 0.25
HEAVY_WORDS = 8
# A shorter text is a label. A folder with fewer words is too small to measure.
SENTENCE_WORDS = 6
FOLDER_WORDS = 200

FOLDERS = ("include", "lib", "services")
SUFFIXES = (".cpp", ".hpp", ".lua")

_POINTER = re.compile(
    r"\b(it|that|those|ones?|which|who|whom|whose|them|they|what|others?|same|such|so|nobody|"
    r"somebody|none)\b",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"\s*(?:///<?|//|--)\s?(.*)")
_NAME = re.compile(r'\b(?:TEST_CASE|SUBCASE|add)\(\s*((?:"(?:\\.|[^"\\\n])*"\s*)+)')
_LITERAL = re.compile(r'"((?:\\.|[^"\\\n])*)"')
_END = re.compile(r"(?<=[.:;!?])\s+(?=[A-Z`])")


def sentences(text):
    """(line of its comment, sentence) of every sentence in the comments of a source."""
    block, begin = [], 0
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        match = _COMMENT.match(line)
        if match and match.group(1).strip():
            begin = begin if block else number
            block.append(match.group(1).strip())
        elif block:
            for sentence in _END.split(" ".join(block)):
                if len(sentence.split()) >= SENTENCE_WORDS:
                    yield begin, sentence
            block = []


def names(text):
    """(line, name) of every case in a source of tests, or of the conformance suite."""
    for match in _NAME.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, "".join(_LITERAL.findall(match.group(1)))


def pointers(sentence):
    """How many words of a sentence point at a thing instead of naming it."""
    return len(_POINTER.findall(sentence))


def folder_of(path):
    """The folder whose share counts: include, or two levels of lib and services, three of core."""
    parts = path.parts[:-1]
    depth = 1 if parts[0] == "include" else 3 if parts[:2] == ("lib", "core") else 2
    return "/".join(parts[:depth])


def texts(root):
    """(path, what it is, line, sentence) of everything that is checked."""
    for path in checker.files(root, *FOLDERS, "tests"):
        name = path.relative_to(root)
        if path.suffix not in SUFFIXES:
            continue
        text = path.read_text(encoding="utf-8")
        if name.parts[0] != "tests":
            for line, sentence in sentences(text):
                yield name, "comments", line, sentence
        if name.parts[0] == "tests" or name.parts[:3] == ("lib", "testing", "conformance"):
            for line, sentence in names(text):
                yield name, "names", line, sentence


def check(root):
    """Complaints about the sentences, and about whole folders."""
    words, marks = {}, {}
    for name, kind, line, sentence in texts(root):
        count, found = len(sentence.split()), pointers(sentence)
        folder = folder_of(name), kind
        words[folder] = words.get(folder, 0) + count
        marks[folder] = marks.get(folder, 0) + found
        if count >= HEAVY_WORDS and found >= HEAVY_SHARE * count:
            yield name, line, f"{found} pronouns of {count} words: {sentence}"
    for (folder, kind), count in sorted(words.items()):
        share = marks[folder, kind] / count
        if count >= FOLDER_WORDS and share > SHARE_MAX:
            yield folder, 1, f"{share:.1%} of all words in {kind} are pronouns, more than 5 %"


_PLAIN = "/// Removes a completed job and releases the dependents of the job.\n"
_RIDDLE = "/// The same of one that was done: those that wait for it wait for it no more.\n"
_POINTING = "/// Removes a completed job and each job that waits for it, in one step.\n"

CLEAN = [
    {"lib/core/jobs/state/jobs.hpp": _PLAIN * 40},
    {"lib/core/jobs/state/jobs.hpp": "/// It.\n"},
    {"tests/unit/jobs_test.cpp": _RIDDLE + 'TEST_CASE("a job releases its dependents")'},
]

VIOLATIONS = [
    ("lib/core/a.hpp", 2, "pronouns of", {"lib/core/a.hpp": "\n" + _RIDDLE}),
    ("lib/redis/lua/a.lua", 1, "pronouns of", {"lib/redis/lua/a.lua": "--" + _RIDDLE[3:]}),
    ("tests/unit/jobs_test.cpp", 1, "pronouns of", {
        "tests/unit/jobs_test.cpp": 'TEST_CASE("of those that wait "\n"it is none that goes")'}),
    ("lib/http", 1, "more than 5 %", {"lib/http/a.cpp": (_POINTING + "\n") * 20}),
]

if __name__ == "__main__":
    checker.main(check, CLEAN, VIOLATIONS)
