#!/usr/bin/env python3
"""Finds calls of clocks, sleeps, randomness and printing in the public headers and in lib/core.

Steps contain the current time, and randomness is seeded, so that every run can be repeated. The
files whose purpose is such a call are exceptions. The other folders of lib/ are not checked.
"""

import re

import checker

# (pattern in code, reason of the ban, files of lib/core with an exception)
BANNED = [
    (r"::now\s*\(", "reads a clock", {"clock.cpp"}),
    (r"\b\w*sleep(_for|_until)?\s*\(", "sleeps", {"runner.cpp", "system/patience.hpp"}),
    (r"\b(random_device|getrandom)\b", "takes randomness from the system", {"entropy.cpp"}),
    (r"\bs?rand\s*\(", "uses the C library's randomness", set()),
    (r"\bstd::\w+_distribution\b", "differs between standard libraries", set()),
    (r"\bstd::(mt19937|minstd_rand|default_random_engine)", "is not our generator", set()),
    (r"#\s*include\s*<random>", "is for entropy.cpp alone", {"entropy.cpp"}),
    (r"\bstd::(cout|cerr|clog)\b", "prints", set()),
    (r"\bv?printf\s*\(|\bputs\s*\(", "prints", set()),
    # A failed assertion has no other way to report.
    (r"\bv?fprintf\s*\(", "prints", {"detail/assert.cpp"}),
]


def core(root):
    """The files of lib/core, each with its name there."""
    base = root / "lib" / "core"
    for path in checker.files(root, "lib/core"):
        if path.suffix in (".cpp", ".hpp"):
            yield path, path.relative_to(base).as_posix()


def check(root):
    """Complaints about the public headers and lib/core."""
    for path, name in [*checker.headers(root), *core(root)]:
        code = checker.code_only(path.read_text(encoding="utf-8"))
        for number, line in enumerate(code.splitlines(), 1):
            for pattern, why, allowed in BANNED:
                match = re.search(pattern, line)
                if match and name not in allowed:
                    yield path.relative_to(root), number, f"{match.group().strip()} {why}"


def header(name, line):
    """A planted tree: the header `name` with one line of code."""
    return {f"include/routemaster/{name}.hpp": f"#pragma once\n{line}\n"}


def planted(line, part):
    """A violation: `line` in a header that has no exception."""
    return ("include/routemaster/bus.hpp", 2, part, header("bus", line))


CLEAN = [
    {"lib/core/clock.cpp": "auto now = std::chrono::system_clock::now();\n"},
    {"lib/core/entropy.cpp": "#include <random>\nauto seed() { return std::random_device{}(); }\n"},
    header("bus", "// std::this_thread::sleep_for(1s), rand() and Clock::now() are banned."),
    header("bus", 'inline auto text = "sleep(1)"; auto t = clock.now(); int operand(int);'),
    {"lib/core/detail/assert.cpp": 'void f() { std::fprintf(stderr, "x"); }\n'},
    {"lib/http/a.cpp": "auto now = std::chrono::steady_clock::now();\n"},
]

VIOLATIONS = [
    planted("auto t = std::chrono::steady_clock::now();", "reads a clock"),
    planted("std::this_thread::sleep_for(ms);", "sleeps"),
    planted("usleep(10);", "sleeps"),
    planted("std::random_device device;", "randomness"),
    planted("int n = rand ();", "C library's"),
    planted("std::uniform_int_distribution<int> d{1, 6};", "differs"),
    planted("std::mt19937_64 engine;", "not our generator"),
    planted("#include <random>", "entropy.cpp alone"),
    ("lib/core/bus.cpp", 1, "reads a clock", {"lib/core/bus.cpp": "auto t = Clock::now();\n"}),
    planted('std::cerr << "x";', "prints"),
    planted('std::printf("x");', "prints"),
    planted('std::fprintf(stderr, "x");', "prints"),
]

if __name__ == "__main__":
    checker.main(check, CLEAN, VIOLATIONS)
