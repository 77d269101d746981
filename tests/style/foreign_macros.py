#!/usr/bin/env python3
"""Compiles the public headers after the macros of Qt, X11, Windows, and C libraries.

A program may include such a header before a header of routemaster. A public header that uses a name
of such a macro, for example a member `slots` or an enumerator `None`, then does not compile. The
headers of the standard library and of third parties are included before the macros, because we
cannot change them.
"""

import re
import subprocess
import tempfile
from pathlib import Path

import checker

# Macros of other libraries' headers, by origin. Each macro expands to a text that is no identifier,
# so that each use as a name is an error.
MACROS = {
    "Qt, without QT_NO_KEYWORDS": ["slots", "signals", "emit", "foreach(a, b)", "forever"],
    "Xlib.h and X.h": [
        "Bool", "Status", "True", "False", "None", "Success", "Always", "Above", "Below",
        "Unsorted", "Expose", "KeyPress", "KeyRelease", "FocusIn", "FocusOut", "GrayScale",
        "CursorShape", "BadRequest", "Complex", "Convex", "XYBitmap", "ClientMessage"],
    "Windows.h": [
        "min(a, b)", "max(a, b)", "ERROR", "interface", "small", "near", "far", "hyper", "cdecl",
        "pascal", "IN", "OUT", "OPTIONAL", "DELETE", "IGNORE", "CONST", "VOID", "TRUE", "FALSE",
        "BOOL", "NO_ERROR", "STRICT", "DIFFERENCE", "THIS", "Yield()", "GetMessage", "SendMessage",
        "PostMessage", "CreateEvent", "ReportEvent", "GetJob", "SetJob", "AddJob"],
    "sys/sysmacros.h": ["major(a)", "minor(a)", "makedev(a, b)"],
    "complex.h": ["I", "complex", "imaginary"],
    "GNU dialects of C++": ["unix", "linux", "i386"],
    "glib.h": ["MIN(a, b)", "MAX(a, b)", "ABS(a)", "CLAMP(a, b, c)"],
    "syslog.h and others in capitals": ["DEBUG", "INFO", "WARNING", "NDEBUG_", "READ", "WRITE"],
}

_INCLUDE = re.compile(r'^\s*#\s*include\s*<([^>]+)>', re.MULTILINE)
_COMPLAINT = re.compile(r"^(.+?):(\d+):\d+: (?:fatal )?error: (.*)$", re.MULTILINE)


def program(root):
    """A source that includes foreign headers, then the macros, then every public header."""
    foreign, own = set(), []
    for path, name in checker.headers(root):
        if name in checker.ADAPTORS:
            continue
        own.append(f"#include <routemaster/{name}>")
        foreign.update(_INCLUDE.findall(path.read_text(encoding="utf-8")))
    foreign = {name for name in foreign if not name.startswith("routemaster/")}
    lines = [f"#include <{name}>" for name in sorted(foreign)]
    for origin, names in MACROS.items():
        lines.append(f"// {origin}")
        for name in names:
            lines += [f"#undef {name.split('(')[0]}", f"#define {name} 0 is a foreign macro"]
    return "\n".join([*lines, *own]) + "\n"


def check(root):
    """Complaints about the public headers."""
    with tempfile.TemporaryDirectory(prefix="routemaster-style.") as folder:
        source = Path(folder) / "program.cpp"
        source.write_text(program(root), encoding="utf-8")
        compiled = subprocess.run(
            ["g++", "-std=c++20", "-fsyntax-only", "-ftrack-macro-expansion=0",
             "-I", root / "include", source],
            capture_output=True, text=True, check=False)
    found = _COMPLAINT.findall(compiled.stderr)
    if compiled.returncode != 0 and not found:
        yield source, 1, compiled.stderr
    for name, line, complaint in found:
        path = Path(name)
        yield path.relative_to(root) if path.is_relative_to(root) else path, int(line), complaint


def header(text):
    """A planted tree: one public header."""
    return {"include/routemaster/pool.hpp": "#pragma once\n#include <algorithm>\n" + text}


CLEAN = [
    header("struct Pool { int concurrency = 1; };\n"),
    header("inline int least(int a, int b) { return (std::min)(a, b); }\n"),
]

VIOLATIONS = [
    ("include/routemaster/pool.hpp", 3, "expected", header("struct Pool { int slots = 1; };\n")),
    ("include/routemaster/pool.hpp", 3, "", header("enum class State { None };\n")),
    ("include/routemaster/pool.hpp", 3, "", header("struct Version { int major() const; };\n")),
    ("include/routemaster/pool.hpp", 3, "",
     header("inline int least(int a, int b) { return std::min(a, b); }\n")),
    ("include/routemaster/pool.hpp", 3, "", header("template <class I> struct Box {};\n")),
]

if __name__ == "__main__":
    checker.main(check, CLEAN, VIOLATIONS)
