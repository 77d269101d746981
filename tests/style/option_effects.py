#!/usr/bin/env python3
"""Checks that a test case observes the effect of each option in the public headers.

option_effects.toml names a case for each member of each `...Options` struct: the case fails when
the member is ignored. The options of the testing headers are exempt: they choose the size of tests.
"""

import re
import tomllib

import checker
import effects

TABLE = "tests/style/option_effects.toml"
STRUCT = re.compile(r"\bstruct\s+(\w*Options)\s*\{")
NOT_A_MEMBER = re.compile(r"\[\[|friend\b|static\b|template\b|using\b")
MEMBER = re.compile(r"(\w+)\s*[;={]")


def parts(body):
    """The declarations in the body of a struct, without nested braces, each with its offset."""
    depth = 0
    begin = None
    head = ""
    for at, letter in enumerate(body):
        if depth == 0 and not letter.isspace() and begin is None:
            begin = at
        depth -= letter == "}"
        if depth == 0 and begin is not None:
            head += letter
        depth += letter == "{"
        is_function = letter == "}" and re.search(r"\)[\w\s]*\{\}$", head)
        if depth == 0 and (letter == ";" or is_function):
            yield begin, head
            begin = None
            head = ""


def options(root):
    """{struct: {member: (header, line)}} of the public headers."""
    declared = {}
    for path, name in checker.headers(root):
        if name.startswith("testing/"):
            continue
        code = checker.code_only(path.read_text(encoding="utf-8"))
        for match in STRUCT.finditer(code):
            body = code[match.end() : code.index("\n}", match.end())]
            members = declared.setdefault(match.group(1), {})
            for begin, head in parts(body):
                member = MEMBER.search(head)
                if member and not NOT_A_MEMBER.match(head):
                    line = code.count("\n", 0, match.end() + begin) + 1
                    members[member.group(1)] = path.relative_to(root).as_posix(), line
    return declared


def check(root):
    """Complaints about members without a case, and about cases and members that do not exist."""
    text = (root / TABLE).read_text(encoding="utf-8")
    table = tomllib.loads(text)
    lines = effects.entry_lines(text)
    declared = options(root)
    cases = effects.test_cases(root)
    for struct, members in declared.items():
        for member, (header, line) in members.items():
            if member not in table.get(struct, {}):
                yield header, line, f"{struct}::{member} has no case in {TABLE}"
    for struct, entries in table.items():
        for member, named in entries.items():
            line = lines.get((struct, member), lines.get((struct, None), 1))
            if member not in declared.get(struct, {}):
                yield TABLE, line, f"{struct} has no member {member}"
            named = [named] if isinstance(named, str) else named
            if not named:
                yield TABLE, line, f"{struct}::{member} has no case"
            for case in named:
                if case not in cases:
                    yield TABLE, line, f"there is no test case '{case}'"


HEADER = "include/routemaster/server.hpp"
SERVER = """
/// Settings of a `Server`.
struct ServerOptions {
    std::uint16_t port = 0;  ///< 0: any; see `Server`.
    std::function<bool(int)> large{};
    Rules rules{.urls = UrlRule::https};

    [[nodiscard]] bool any() const { return port == 0; }
    friend bool operator==(const ServerOptions&, const ServerOptions&) = default;
};
"""
COMPLETE = """
[ServerOptions]
port = "a port is a setting"
large = "a port is a setting"
rules = ["rules are a setting", "a port is a setting"]
"""


def tree(table, source=SERVER):
    """A planted tree: a header, a table, and two test cases."""
    return {
        HEADER: source,
        "tests/server_test.cpp": 'TEST_CASE("a port "\n          "is a setting") {}\n'
                                 'TEST_CASE("rules are a setting") {}\n',
        TABLE: table,
    }


CLEAN = [
    tree(COMPLETE),
    tree("", "struct Server {\n    int port = 0;\n};\n"),
    tree("", "struct ServerOptions;\n"),
    tree("") | {HEADER: "", "include/routemaster/testing/world.hpp": SERVER},
]

VIOLATIONS = [
    (HEADER, 4, "ServerOptions::port has no case", tree("")),
    (HEADER, 5, "ServerOptions::large has no case",
     tree(COMPLETE.replace("large", "small"))),
    (HEADER, 6, "ServerOptions::rules has no case", tree("")),
    (HEADER, 4, "ServerOptions::hosts has no case",
     tree(COMPLETE, SERVER.replace("std::uint16_t port", "std::set<Host> hosts;\n    int port"))),
    (TABLE, 4, "ServerOptions has no member small", tree(COMPLETE.replace("large", "small"))),
    (TABLE, 3, "ServerOptions has no member port", tree(COMPLETE, "struct ServerOptions {\n};\n")),
    (TABLE, 5, "there is no test case 'rules are none'",
     tree(COMPLETE.replace("rules are a setting", "rules are none"))),
    (TABLE, 3, "ServerOptions::port has no case",
     tree(COMPLETE.replace('port = "a port is a setting"', "port = []"))),
]

if __name__ == "__main__":
    checker.main(check, CLEAN, VIOLATIONS)
