"""Code that the style checkers share: reads the tree, reports complaints, and runs the self-tests.

A checker is a function that takes the root of a tree and yields (path, line, complaint). With
`--self-test` the checker runs on small generated trees instead: it must report every planted
violation at its line, and nothing in the clean trees.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED_FOLDERS = {"build", ".git", "__pycache__"}

# Public headers that include another library, and the folder of that library's headers.
ADAPTORS = {"asio.hpp": "boost/"}


def files(root, *folders):
    """Every file below the folders of `root` (all of it when none is named), sorted."""
    for folder in folders or ("",):
        for path in sorted((root / folder).rglob("*")):
            inside = path.relative_to(root).parts
            if path.is_file() and not SKIPPED_FOLDERS.intersection(inside):
                yield path


def headers(root):
    """The public headers, each with its name relative to include/routemaster."""
    base = root / "include" / "routemaster"
    for path in files(root, "include/routemaster"):
        if path.suffix == ".hpp":
            yield path, path.relative_to(base).as_posix()


_CODE = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<raw>R"(?P<mark>[^\s()\\]*)\(.*?\)(?P=mark)")
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?<![0-9a-zA-Z])(?P<char>'(?:\\.|[^'\\\n])+')""",
    re.DOTALL | re.VERBOSE,
)


def code_only(text):
    """`text` with comments, and what is inside literals, blanked out; offsets and lines stay."""

    def blank(match):
        found = match.group()
        inner = re.sub(r"[^\n]", " ", found)
        return inner if match.group("comment") else found[0] + inner[1:-1] + found[-1]

    return _CODE.sub(blank, text)


def plant(root, tree):
    """Writes a planted tree: {path: text}."""
    for name, text in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def self_test(check, clean, violations):
    """Whether `check` passes every clean tree and catches each violation.

    A violation is (path, line, part of the complaint, tree).
    """
    faults = 0
    for number, tree in enumerate(clean):
        with tempfile.TemporaryDirectory(prefix="routemaster-style.") as folder:
            plant(Path(folder), tree)
            for path, line, complaint in check(Path(folder)):
                print(f"clean tree {number}: {path}:{line}: {complaint}")
                faults += 1
    for path, line, part, tree in violations:
        with tempfile.TemporaryDirectory(prefix="routemaster-style.") as folder:
            plant(Path(folder), tree)
            found = [(str(p), at, complaint) for p, at, complaint in check(Path(folder))]
            if not any(p == path and at == line and part in c for p, at, c in found):
                print(f"not caught: '{part}' at {path}:{line}; found {found}")
                faults += 1
    print(f"{len(clean)} clean trees, {len(violations)} violations planted, {faults} faults")
    return faults == 0 and bool(violations)


def main(check, clean, violations):
    """The command line of a checker; exits 1 when there is something to complain about."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--root", type=Path, default=ROOT, help="the tree to check")
    parser.add_argument("--self-test", action="store_true", help="check the checker itself")
    options = parser.parse_args()
    if options.self_test:
        sys.exit(0 if self_test(check, clean, violations) else 1)
    complaints = list(check(options.root))
    for path, line, complaint in complaints:
        print(f"{path}:{line}: {complaint}")
    print(f"{len(complaints)} complaints")
    sys.exit(1 if complaints else 0)
