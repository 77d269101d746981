#!/usr/bin/env python3
"""Checks that including the whole API takes no longer to compile than including nlohmann/json.hpp.

Compiles an empty program with each of them alternately, and compares the least processor time of
both, because other load on the machine only lengthens a round. With `--self-test`, a program that
includes both must take longer.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OURS = "#include <routemaster/routemaster.hpp>\n"
THEIRS = "#include <nlohmann/json.hpp>\n"

ROUNDS_MIN = 3
ROUNDS_MAX = 8  # A difference that is still there after so many is none of chance.
BY_CHANCE = 1.3  # A larger one never is.


def processor_time():
    """Seconds that all processes that were waited for have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compile_program(compiler, includes, folder):
    """Seconds of processor time that an empty program with these includes takes."""
    source = Path(folder) / "program.cpp"
    source.write_text(includes + "int main() {}\n", encoding="utf-8")
    before = processor_time()
    subprocess.run([compiler, "-O2", "-std=c++20", "-I", ROOT / "include", "-c", source, "-o",
                    source.with_suffix(".o")], check=True)
    return processor_time() - before


def costs_no_more(compiler, includes, limit):
    """Whether `includes` cost no more than `limit` does; prints both."""
    ours, theirs = [], []
    with tempfile.TemporaryDirectory(prefix="routemaster-style.") as folder:
        while len(ours) < ROUNDS_MIN or (
            min(theirs) < min(ours) < BY_CHANCE * min(theirs) and len(ours) < ROUNDS_MAX
        ):
            ours.append(compile_program(compiler, includes, folder))
            theirs.append(compile_program(compiler, limit, folder))
    print(f"{min(ours):.2f} s, at most {min(theirs):.2f} s allowed, in {len(ours)} rounds")
    return min(ours) <= min(theirs)


def main():
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--self-test", action="store_true", help="check the checker itself")
    options = parser.parse_args()
    if options.self_test:
        sys.exit(1 if costs_no_more(options.compiler, OURS + THEIRS, THEIRS) else 0)
    sys.exit(0 if costs_no_more(options.compiler, OURS, THEIRS) else 1)


if __name__ == "__main__":
    main()
