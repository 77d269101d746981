#!/usr/bin/env python3
"""Finds public names of the headers that no comment explains.

A name is a class, enumeration, concept, alias, function or constant at namespace scope, or a type,
alias or function in the public part of a class. A `///` comment applies to the declarations that
follow it without an empty line between them, and to the overloads below. A `///<` comment applies
to its own declaration.

These names need no comment: overrides, defaulted and deleted functions, destructors, comparisons,
friends, constructors with one required argument or none, conversions to bool, a getter `{ return
member_; }`, the members that every step has (step/traits.hpp explains them), the members that every
iterator and range has, forward declarations, specializations, members that are defined outside
their class, and everything in a namespace `detail` or in an anonymous namespace.
"""

import re

import checker

CLASS = re.compile(r"(class|struct|union|enum)\b")
CLASS_NAME = re.compile(
    r"(?:class|struct|union|enum(?:\s+class|\s+struct)?)\s+(?:[A-Z][A-Z_]+\b\s*(?:\([^)]*\)\s*)?)*"
    r"([\w:]+)"
)
FUNCTION_NAME = re.compile(r"(operator\s*(?:\(\)|[^\s(]+|\s\w+)|~?[\w:]+)\s*\($")
DIRECTIVE = re.compile(r"^[ ]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
SELF_EXPLAINING = re.compile(
    r"\boverride\b|=\s*(default|delete)\s*$|~\w+\s*\(|\boperator\s*(==|!=|<=>|<|bool)"
)

STEP = {"Reply", "check", "payload_bytes"}

ITERATION = set(
    "iterator_category value_type difference_type pointer reference begin end"
    " operator* operator-> operator++".split()
)


class Scope:
    """What is between two braces: a namespace, or a class with its current access."""

    def __init__(self, kind, name, reachable, public=True):
        self.kind = kind
        self.name = name
        self.reachable = reachable
        self.public = public


def without_prefix(head):
    """The declaration without `template <...>`, attributes and what follows `requires`."""
    head = re.sub(r"\[\[.*?\]\]", " ", head).strip()
    while head.startswith("template"):
        depth = 0
        for at, letter in enumerate(head):
            depth += (letter == "<") - (letter == ">")
            if letter == ">" and depth == 0:
                head = head[at + 1 :].strip()
                break
        else:
            return ""
    head = re.sub(r"^requires\s*\((?:[^()]|\([^()]*\))*\)", " ", head)
    return " ".join(head.split())


def function_name(head):
    """The name before the first parenthesis of parameters; None when there is none."""
    opening = re.search(r"operator\s*\(\)\s*\(|(?<!\boperator)\(", head)
    match = FUNCTION_NAME.search(head[: opening.end()]) if opening else None
    return match.group(1) if match else None


def parameters(head):
    """How many parameters without a default the first parenthesis has."""
    depth = 0
    texts = [""]
    for letter in head[head.index("(") :]:
        depth += (letter in "(<{[") - (letter in ")>}]")
        if depth == 0:
            break
        if letter == "," and depth == 1:
            texts.append("")
        else:
            texts[-1] += letter
    return sum("=" not in text and text.strip(" (") != "" for text in texts)


def subject(head, body, scope):
    """What the declaration declares that has to be explained; None when nothing."""
    specialization = re.match(r"template\s*<\s*>", head)
    head = without_prefix(head)
    if not head or specialization or re.match(r"friend\b|static_assert\b|using namespace\b", head):
        return None
    if CLASS.match(head):
        return CLASS_NAME.match(head).group(1) if body is not None else None
    if alias := re.match(r"using\s+(\w+)\s*=", head):
        known = scope.kind == "class" and alias.group(1) in ITERATION | STEP
        return None if known else alias.group(1)
    if re.match(r"using\b|typedef\b", head):
        return None
    if concept := re.match(r"concept\s+(\w+)", head):
        return concept.group(1)
    name = function_name(head.split("=")[0] if "operator" not in head else head)
    if name is None:
        constant = re.match(r"(?:inline|constexpr|static|const|extern)\b.*?(\w+)\s*(=|$)", head)
        return constant.group(1) if constant and scope.kind == "namespace" else None
    if SELF_EXPLAINING.search(head):
        return None
    if "::" in name and scope.kind == "namespace":
        return None
    if scope.kind == "class":
        if name == scope.name and parameters(head) <= 1:
            return None
        if name in ITERATION | STEP:
            return None
        if body is not None and re.fullmatch(r"\s*return \*?\w+_;\s*", body):
            return None
    return name


def matching_brace(code, opening):
    """The offset of the brace that closes the one at `opening`."""
    depth = 0
    for at in range(opening, len(code)):
        depth += (code[at] == "{") - (code[at] == "}")
        if depth == 0:
            return at
    return len(code) - 1


def opened_scope(head, outer):
    """The scope that a brace after `head` opens; None when it is a body or an initializer."""
    plain = without_prefix(head)
    reachable = outer.reachable and outer.public
    if match := re.match(r"(?:inline\s+)?namespace\b\s*([\w:]*)", plain):
        private = match.group(1) == "" or "detail" in match.group(1).split("::")
        return Scope("namespace", match.group(1), reachable and not private)
    if re.match(r"(class|struct|union)\b[^=]*$", plain):
        match = CLASS_NAME.match(plain)
        specialization = re.match(r"template\s*<\s*>", head.strip())
        return Scope("class", match.group(1) if match else "", reachable and not specialization,
                     public=not plain.startswith("class"))
    return None


def declarations(text):
    """(first line, last line, head, body, scope) of each declaration in public reach."""
    code = checker.code_only(text)
    code = DIRECTIVE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), code)
    scopes = [Scope("namespace", "", True)]
    start, at, depth, body = 0, 0, 0, None

    def line(offset):
        return code.count("\n", 0, offset) + 1

    def found(end):
        head = code[start:end]
        first = start + len(head) - len(head.lstrip())
        if body is not None:
            head = code[start : body[0]]
        inside = code[body[0] + 1 : body[1]] if body else None
        if head.strip() and scopes[-1].reachable and scopes[-1].public:
            yield line(first), line(end), head.strip(), inside, scopes[-1]

    while at < len(code):
        letter = code[at]
        depth += (letter == "(") - (letter == ")")
        if letter == "{" and depth == 0:
            scope = opened_scope(code[start:at], scopes[-1])
            if scope:
                if scope.kind == "class":
                    body = (at, at)
                    yield from found(at)
                    body = None
                scopes.append(scope)
                start = at + 1
            else:
                body = body or (at, matching_brace(code, at))
                at = matching_brace(code, at)
                rest = code[at + 1 :].lstrip()[:1]
                if rest in ("{", ","):
                    # The braces initialize a member; the body of the constructor follows.
                    pass
                elif rest != ";":
                    yield from found(at)
                    start, body = at + 1, None
        elif letter == "}" and depth == 0:
            if len(scopes) > 1:
                scopes.pop()
            start = at + 1
        elif letter == ";" and depth == 0:
            yield from found(at)
            start, body = at + 1, None
        elif letter == ":" and depth == 0 and scopes[-1].kind == "class":
            access = re.fullmatch(r"\s*(public|protected|private)\s*", code[start:at])
            if access:
                scopes[-1].public = access.group(1) == "public"
                start = at + 1
        at += 1


def explained(lines, first, last, above):
    """Whether a comment speaks for the declaration on these lines (counted from 1).

    `above` is (last line, whether it is explained) of the declaration before it in its scope.
    """
    if any("///<" in line for line in lines[first - 1 : last]):
        return True
    before = first - 1
    while before > 0 and re.match(r"\s*//(?!/)", lines[before - 1]):
        before -= 1
    if before > 0 and lines[before - 1].strip().startswith("///"):
        return True
    return above == (before, True)


def check(root):
    """Complaints about the public headers."""
    for path, name in checker.headers(root):
        if name.startswith("detail/"):
            continue
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        above = {}
        overloads = set()
        for first, last, head, body, scope in declarations(text):
            clear = explained(lines, first, last, above.get(scope))
            above[scope] = (last, clear)
            what = subject(head, body, scope)
            if not what:
                continue
            if clear:
                overloads.add((scope, what))
            elif (scope, what) not in overloads:
                yield path.relative_to(root), first, f"{what} has no /// comment"


def header(*lines):
    """A planted tree of one header with these lines inside the namespace, from line 2 on."""
    text = "\n".join(["namespace routemaster {", *lines, "}", ""])
    return {"include/routemaster/a.hpp": text}


def planted(line, part, *lines):
    """A violation at `line` of the header."""
    return ("include/routemaster/a.hpp", line, f"{part} has no", header(*lines))


CLEAN = [
    header("/// A.", "struct A {", "    using Reply = int;", "    int x = 0;", "};"),
    header("/// A.", "struct A {", "    Result<void> check() const { return {}; }", "};"),
    header("/// A.", "template <class T>", "[[nodiscard]] int f(T t);", "int f();"),
    header("struct A;", "using B = int;  ///< B.", "int f();  ///< F."),
    header("namespace detail {", "int f();", "}", "namespace {", "int g() { return 1; }", "}"),
    header(
        "/// A.",
        "class A final : public B {",
        "public:",
        "    A() = default;",
        "    explicit A(std::pair<int, int> x) : x_{x}, y_{std::move(x)} {}",
        "    ~A();",
        "",
        "    int x() const { return x_; }",
        "    void f(int a, int b) override;",
        "    friend bool operator==(A, A) = default;",
        "    explicit operator bool() const noexcept { return x_ != 0; }",
        "",
        "    /// The start.",
        "    int begin() const {",
        "        if (x_) return f({1, 2});",
        "        return 2;",
        "    }",
        "",
        "private:",
        "    int g();",
        "    struct C { int h(); };",
        "    int x_{};",
        "};",
        "inline int A::begin() { return 1; }",
        "template <>",
        "struct Hash<A> { int operator()(A); };",
    ),
    header("/// E.", "enum class E {", "    a,", "    b = 2,", "};", "", "/// F.", "int f();"),
    header("/// F.", "int f() {", "    return 1;", "}", "int f(int a);", "", "void f(char c);"),
    header("/// A.", "class A {", "public:", "    A(int x, int y = 0, std::pair<int, int> z = {});",
           "    static int f() { return {1, 2}; }  ///< F.", "};"),
    header("/// N.", "inline constexpr int n{1};", "", "/// C.", "template <class T>",
           "concept C = requires(T t) { t.f(); };"),
]

VIOLATIONS = [
    planted(2, "A", "struct A {", "    int x;", "};"),
    planted(2, "E", "enum class E { a, b };"),
    planted(2, "f", "int f(int a, int b);"),
    planted(2, "f", "inline int f() {", "    return 1;", "}"),
    planted(2, "f", "template <class T>", "    requires(sizeof(T) > 1)", "void f(T t) {}"),
    planted(2, "B", "using B = std::vector<int>;"),
    planted(2, "n", "inline constexpr int n = 1;"),
    planted(2, "C", "template <class T>", "concept C = true;"),
    planted(4, "f", "/// A.", "struct A {", "    void f();", "};"),
    planted(7, "g", "/// A.", "struct A {", "    /// F.", "    void f() {}", "", "    void g();",
            "};"),
    planted(5, "A", "/// A.", "class A {", "public:", "    A(int x, int y);", "};"),
    planted(5, "B", "/// A.", "class A {", "public:", "    using B = int;", "};"),
    planted(5, "operator+", "/// A.", "class A {", "public:", "    A operator+(A b) const;", "};"),
    planted(6, "C", "/// A.", "class A {", "    int y;", "public:", "    struct C { int x; };",
            "};"),
    planted(5, "g", "/// F.", "int f();", "", "int g();"),
    planted(7, "g", "/// F.", "int f() {", "    return 1;", "}", "", "int g();"),
    planted(2, "f", "int f();", "/// F.", "int f(int a);"),
    planted(5, "g", "/// F.", "int f() { return 1; }", "", "auto g() -> int { return 2; }"),
    planted(6, "size", "/// A.", "class A {", "public:", "    explicit A(int x);",
            "    int size() const { return list_.size(); }", "};"),
]

if __name__ == "__main__":
    checker.main(check, CLEAN, VIOLATIONS)
