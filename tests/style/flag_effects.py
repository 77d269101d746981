#!/usr/bin/env python3
"""Checks that each flag of the programs has a test case that observes the effect of the flag.

flag_effects.toml names a case for each flag that a file of services/ declares: the case fails when
the program ignores the flag. A file that declares a flag more than once, for several commands, has
a list of cases, in the order of the declarations.
"""

import re
import tomllib

import checker
import effects

TABLE = "tests/style/flag_effects.toml"
DECLARATION = re.compile(
    r"\b(?:add_(?:option|flag)\w*|set_config|set_version_flag)\s*(?:<[^>]*>)?\(\s*\"([^\"]*)\""
)


def flag_of(names):
    """The long name in a declaration; None for an argument without a dash."""
    return next((name for name in names.split(",") if name.startswith("--")), None)


def declarations(root):
    """{file: {flag: the line of each declaration}} of all programs."""
    declared = {}
    for path in checker.files(root, "services"):
        if path.suffix not in (".cpp", ".hpp"):
            continue
        text = path.read_text(encoding="utf-8")
        flags = declared.setdefault(path.relative_to(root).as_posix(), {})
        for match in DECLARATION.finditer(text):
            if flag := flag_of(match.group(1)):
                flags.setdefault(flag, []).append(text.count("\n", 0, match.start()) + 1)
    return declared


def check(root):
    """Complaints about flags without a case, and about cases and flags that are not there."""
    text = (root / TABLE).read_text(encoding="utf-8")
    table = tomllib.loads(text)
    lines = effects.entry_lines(text)
    declared = declarations(root)
    cases = effects.test_cases(root)
    for file, flags in declared.items():
        for flag, places in flags.items():
            if flag not in table.get(file, {}):
                yield file, places[0], f"{flag} has no case in {TABLE}"
    for file, entries in table.items():
        for flag, named in entries.items():
            line = lines.get((file, flag), lines.get((file, None), 1))
            places = declared.get(file, {}).get(flag)
            named = [named] if isinstance(named, str) else named
            if places is None:
                yield TABLE, line, f"{file} declares no {flag}"
            elif len(places) != len(named):
                yield TABLE, line, f"{file} declares {flag} {len(places)} times"
            for case in named:
                if case not in cases:
                    yield TABLE, line, f"there is no test case '{case}'"


def tree(table, source='app.add_option("--port", port, "Port");\n'):
    """A planted tree: a program, a table, and one test case."""
    return {
        "services/serve.cpp": source,
        "tests/serve_test.cpp": 'TEST_CASE("a port "\n          "is a setting") {}\n',
        TABLE: table,
    }


PORT = '["services/serve.cpp"]\n"--port" = "a port is a setting"\n'
TWICE = 'app.add_flag("-a,--all", all);\nother.add_flag("--all", all);\n'

CLEAN = [
    tree(PORT),
    tree(PORT, 'app.add_option_function<std::string>(\n    "-p,--port", take);\n'),
    tree(PORT, 'app.add_option("--port", port);\napp.add_option("name", name);\n'),
    tree(PORT.replace('"--port" = "a port is a setting"',
                      '"--all" = ["a port is a setting", "a port is a setting"]'), TWICE),
]

VIOLATIONS = [
    ("services/serve.cpp", 2, "--quiet has no case",
     tree(PORT, 'app.add_option("--port", port);\napp.add_flag(\n    "--quiet", quiet);\n')),
    ("services/serve.cpp", 1, "--port has no case", tree("")),
    (TABLE, 2, "declares no --port", tree(PORT, "")),
    (TABLE, 2, "declares no --port", tree(PORT, 'app.add_option("--ports", ports);\n')),
    (TABLE, 2, "there is no test case 'a host is'",
     tree(PORT.replace("port is a setting", "host is"))
     | {"tests/serve_test.cpp": 'TEST_CASE("a host") {}\n'}),
    (TABLE, 2, "declares --all 2 times", tree(PORT.replace("--port", "--all"), TWICE)),
]

if __name__ == "__main__":
    checker.main(check, CLEAN, VIOLATIONS)
