#!/usr/bin/env python3
"""Writes the file that tells ctest which tests a doctest executable has.

    list_cases.py EXECUTABLE OUTPUT --folder NAME --timeout SECONDS [--together]

By default each case is a ctest test named FOLDER/CASE, and runs in a separate process. The cases
that are registered for a store form one test with the name of the store, because starting a server
takes longer than most of these cases. With --together, the cases of one source file also form one
test, with the name of the file, because a process starts slowly under a sanitizer. A test with more
than a hundred cases is split.
"""

import argparse
import collections
import pathlib
import subprocess
import xml.etree.ElementTree

TOGETHER_MAX = 100


def literal(text):
    """An argument of a ctest command."""
    return f"[==[{text}]==]"


def cases_of(executable):
    """(name, file) of each case, in the order in which they run."""
    listed = subprocess.run([executable, "--list-test-cases", "--reporters=xml"],
                            check=True, capture_output=True, text=True)
    return [(one.attrib["name"], pathlib.PurePath(one.attrib["filename"]))
            for one in xml.etree.ElementTree.fromstring(listed.stdout).iter("TestCase")]


def filter_of(name):
    """The argument that selects the cases of a name, in which * stands for anything."""
    return "--test-case=" + name.replace(",", "\\,")


def tests_of(cases, together):
    """(name, arguments) of each test."""
    groups = collections.Counter()
    for name, file in cases:
        if file.suffix != ".cpp":
            # The case is registered in a header, for each store.
            store = name.partition(": ")[0]
            groups[store, "--source-file=*/" + file.name, filter_of(store + ": *")] += 1
        elif together:
            groups[file.stem, f"--source-file=*/{file.name}"] += 1
        else:
            groups[name, filter_of(name)] += 1
    for (name, *selection), count in groups.items():
        if count <= TOGETHER_MAX:
            yield name, selection
            continue
        for first in range(1, count + 1, TOGETHER_MAX):
            last = min(first + TOGETHER_MAX - 1, count)
            yield (f"{name}, {first} to {last}",
                   [*selection, f"--first={first}", f"--last={last}"])


def main():
    parser = argparse.ArgumentParser(description="Tells ctest which tests there are.")
    parser.add_argument("executable", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--timeout", required=True, type=int, help="of one test, in seconds")
    parser.add_argument("--together", action="store_true")
    options = parser.parse_args()

    cases = cases_of(options.executable)
    lines = []
    for name, arguments in tests_of(cases, options.together):
        test = literal(f"{options.folder}/{name}")
        words = " ".join(map(literal, [options.executable, *arguments]))
        lines.append(f"add_test({test} {words})\n"
                     f"set_tests_properties({test} PROPERTIES LABELS {options.folder} "
                     f"TIMEOUT {options.timeout} "
                     f"WORKING_DIRECTORY {literal(options.output.parent)})\n")
    options.output.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
