#!/usr/bin/env python3
"""Plants bugs in the headers, one at a time, and tells which test finds each.

    tests/mutants/mutants.py [--only WORDS] [--list]

A suite can be green and yet find nothing: this proves that ours finds what mutants.toml lists. For
each mutant the headers are copied to a temporary folder, the bug is planted there, and the
conformance suite over the memory store is compiled against the copy, together with the unit tests
of what lies below it, and run. A mutant is killed by a failed case, a crash, or a run that does
not end. One that does not compile proves nothing, so it counts as an error.

Takes about 10 s for each mutant, a few minutes in all, so it is run by hand and by
`.ci/run --mutants`. Exits non-zero when a mutant survives, does not compile, or cannot be planted
because its text is no longer there exactly once.
"""

import argparse
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The suite first: it is what the mutants are to be killed by.
TESTS = [
    "tests/conformance/memory_test.cpp",
    "tests/unit/counters_test.cpp",
    "tests/unit/health_test.cpp",
    "tests/unit/job_table_test.cpp",
    "tests/unit/message_list_test.cpp",
    "tests/unit/uid_test.cpp",
]
FLAGS = ["-std=c++20", "-O0", "-g1", "-w", "-pthread"]
SECONDS_MAX = 60
MEMORY_MAX = 2 << 30  # A mutant may well allocate without end.


class Builder:
    """Compiles the tests against a copy of the headers."""

    def __init__(self, folder, compiler):
        self.folder = folder
        self.compiler = compiler
        self.main = folder / "main.o"
        self.headers = folder / "include" / "routemaster"
        self.run_compiler("-c", ROOT / "tests/support/doctest_main.cpp", "-o", self.main)

    def run_compiler(self, *arguments):
        command = [self.compiler, *FLAGS, "-I", self.folder / "include", "-I", ROOT / "tests"]
        done = subprocess.run([*command, *arguments], capture_output=True, text=True)
        return done.returncode == 0, done.stderr

    def fresh_headers(self):
        shutil.rmtree(self.folder / "include", ignore_errors=True)
        shutil.copytree(ROOT / "include", self.folder / "include")

    def build(self, test):
        """The executable of a test and None, or None and what the compiler says."""
        program = self.folder / pathlib.Path(test).stem
        good, complaint = self.run_compiler(ROOT / test, self.main, "-o", program)
        return (program, None) if good else (None, complaint)


def plant(mutant, headers):
    """Changes the copied headers. Returns a complaint, or None."""
    path = headers / mutant["file"]
    text = path.read_text(encoding="utf-8")
    changes = [(mutant["search"].strip("\n"), mutant["replace"].strip("\n"))]
    changes += mutant.get("also", [])
    for search, replace in changes:
        found = text.count(search)
        if found != 1:
            return f"its text stands {found} times in {mutant['file']}: {search.strip()}"
        text = text.replace(search, replace)
    path.write_text(text, encoding="utf-8")
    return None


def limit_memory():
    """Runs in the child, before the test."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))


def killers(program):
    """The names of the cases that fail, or how else the program ends badly; empty: all is well."""
    try:
        done = subprocess.run([program], capture_output=True, text=True, errors="replace",
                              timeout=SECONDS_MAX, preexec_fn=limit_memory)
    except subprocess.TimeoutExpired:
        return [f"(did not end within {SECONDS_MAX} s)"]
    names = re.findall(r"^TEST CASE:  (.*)$", done.stdout, re.MULTILINE)
    if done.returncode != 0 and not names:
        return [f"(exit status {done.returncode})"]
    return list(dict.fromkeys(names))


def verdict(mutant, builder):
    """(killed, text) of one mutant."""
    builder.fresh_headers()
    if complaint := plant(mutant, builder.headers):
        return False, "NOT PLANTED: " + complaint
    for test in TESTS:
        program, complaint = builder.build(test)
        if program is None:
            return False, "DOES NOT COMPILE: " + complaint.strip().splitlines()[0]
        if found := killers(program):
            more = f" and {len(found) - 1} more" if len(found) > 1 else ""
            return True, found[0] + more
    return False, "SURVIVED"


def main():
    parser = argparse.ArgumentParser(description="Plants bugs and tells which test finds each.")
    parser.add_argument("--only", default="", help="only mutants whose name contains this")
    parser.add_argument("--list", action="store_true", help="name the mutants and do nothing")
    parser.add_argument("--compiler", default="g++")
    arguments = parser.parse_args()

    listed = tomllib.loads((pathlib.Path(__file__).parent / "mutants.toml").read_text("utf-8"))
    mutants = [one for one in listed["mutant"] if arguments.only in one["name"]]
    if not mutants:
        sys.exit(f"no mutant is called anything with '{arguments.only}'")
    if arguments.list:
        print("\n".join(one["name"] for one in mutants))
        return

    with tempfile.TemporaryDirectory() as folder:
        builder = Builder(pathlib.Path(folder), arguments.compiler)
        builder.fresh_headers()
        for test in TESTS:
            program, complaint = builder.build(test)
            if program is None or killers(program):
                sys.exit(f"{test} fails without any mutant: {complaint or killers(program)}")
        failed = 0
        for mutant in mutants:
            killed, text = verdict(mutant, builder)
            failed += not killed
            word = "killed" if killed else "FAILED"
            print(f"{word}  {mutant['name']}\n        {text}", flush=True)
    print(f"{len(mutants) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
