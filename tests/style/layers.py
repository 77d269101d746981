#!/usr/bin/env python3
"""Checks the layers against the #includes.

Every public header is in the table below. A header includes its own layer and lower ones; L0
includes nothing but itself and the standard library. Third-party headers are included by codec/*
alone. A driver includes no other driver and nothing of L3. Nothing but tests includes testing/.
In lib/, a folder is a driver, and the same holds for it; lib/core is behind all headers,
lib/server/api, the routes, stands on the facades of L3, lib/stores opens all drivers, and
lib/simulation is what testing/ is: it includes whatever it puts to the test.
"""

import re

import checker

# The layer of each header, by name without `.hpp`, or of a folder with a trailing slash. What is
# private (detail/) has the layer of the lowest header that includes it.
LAYERS = {
    0: """
        error result time clock entropy random uid log required public_part byte_size
        detail/assert detail/hash_index detail/huge_page_allocator detail/intrusive_list
        detail/slab
    """,
    1: """
        value event topic subscription batch job timer counter health names room measurement url
        codec/ detail/dead_error detail/delivery_job detail/published_tags
    """,
    2: """
        step store transport callbacks reject active publication completion_thread
        detail/state/ detail/step_check detail/watchers
    """,
    3: """
        bus publisher subscriber job_queue api_tokens dispatcher autodrop monitor room_guard
        detail/fair_share detail/inbox detail/rounds
    """,
    4: """
        store/ transport/ server/
        runner open_store
    """,
    5: """
        routemaster
        testing/
    """,
}

# Folders of L4: each file is a driver, except that all of server/ is one.
DRIVER_FOLDERS = ("store/", "transport/", "server/")

# Headers of the operating system count as the standard library's.
STANDARD = re.compile(r"[a-z_0-9]+|(sys|netinet|arpa|net)/[a-z_]+\.h|(unistd|fcntl|poll|signal)\.h")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def layer_of(name):
    """The layer of a header; None when the table does not have it."""
    stem = name.removesuffix(".hpp")
    for layer, row in LAYERS.items():
        entries = row.split()
        if stem in entries or any(e.endswith("/") and stem.startswith(e) for e in entries):
            return layer
    return None


def driver_of(name):
    """The driver that a header belongs to; None when it belongs to none."""
    for folder in DRIVER_FOLDERS:
        if name.startswith(folder):
            # store/embedded_file.hpp belongs to store/embedded.hpp.
            return folder if folder == "server/" else name.removesuffix(".hpp").split("_")[0]
    return None


def includes(path):
    """(line, name, whether it is one of ours) of every #include."""
    text = path.read_text(encoding="utf-8")
    # Names inside quotes are blanked with the other literals, so only the place comes from there.
    code = checker.code_only(text)
    for match in INCLUDE.finditer(text):
        if "include" not in code[match.start() : match.end()]:
            continue
        line = text.count("\n", 0, match.start(2)) + 1
        name = match.group(2)
        own = name.startswith("routemaster/")
        yield line, name.removeprefix("routemaster/"), own, match.group(1)


def check_header(path, name):
    """Complaints about one public header: (line, complaint)."""
    layer = layer_of(name)
    if layer is None:
        yield 1, f"{name} is not in the table of layers.py"
        return
    for line, target, own, bracket in includes(path):
        if not own:
            if bracket == '"':
                yield line, f'"{target}": own headers are spelled "routemaster/..."'
            elif not STANDARD.fullmatch(target) and not name.startswith("codec/"):
                yield line, f"<{target}> is third-party; only codec/* may include it"
            continue
        target_layer = layer_of(target)
        if target_layer is None:
            yield line, f"{target} is not in the table of layers.py"
        elif target.startswith("testing/") and not name.startswith("testing/"):
            yield line, "only tests include testing/"
        elif target_layer > layer:
            yield line, f"{name} is L{layer}, {target} is L{target_layer}"
        elif driver_of(name):
            yield from check_driver(line, target, driver_of(name))


def check_driver(line, target, driver):
    """Complaints about what the driver includes at `line`."""
    if driver_of(target) not in (None, driver):
        yield line, f"the driver {driver} includes the driver {target}"
    elif layer_of(target) == 3:
        yield line, f"the driver {driver} includes {target} of L3"


def stands_above_facades(path):
    """Whether a file of lib/ may include L3: the core itself, and the routes of the HTTP API."""
    return "/lib/core/" in path.as_posix() or "/lib/server/api/" in path.as_posix()


def check_library(path, folder):
    """Complaints about one file of lib/<folder>."""
    for line, target, own, _ in includes(path):
        if not own:
            continue
        if layer_of(target) is None:
            yield line, f"{target} is not in the table of layers.py"
        elif folder == "simulation":
            continue
        elif target.startswith("testing/"):
            yield line, "only tests include testing/"
        elif layer_of(target) == 3:
            if not stands_above_facades(path):
                yield line, f"the driver {folder} includes {target} of L3"
        elif folder != "stores" and driver_of(target):
            names = driver_of(target).strip("/").split("/")
            if folder not in names:
                yield line, f"the driver {folder} includes the driver {target}"


def check(root):
    """Complaints about the whole tree."""
    for path, name in checker.headers(root):
        for line, complaint in check_header(path, name):
            yield path.relative_to(root), line, complaint
    for path in checker.files(root, "lib"):
        if path.suffix in (".cpp", ".hpp"):
            folder = path.relative_to(root / "lib").parts[0]
            for line, complaint in check_library(path, folder):
                yield path.relative_to(root), line, complaint


def header(name, *lines):
    """A planted tree of one header that includes `lines`."""
    text = "#pragma once\n" + "".join(f"#include {line}\n" for line in lines)
    return {f"include/routemaster/{name}.hpp": text}


def planted(name, line, part):
    """A violation: the header `name` has `line` as its only #include."""
    return (f"include/routemaster/{name}.hpp", 2, part, header(name, line))


CLEAN = [
    header("result", "<optional>", '"routemaster/error.hpp"', '"routemaster/detail/assert.hpp"'),
    header("codec/json", "<nlohmann/json.hpp>", '"routemaster/event.hpp"'),
    header("store/embedded", "<memory>", '"routemaster/store.hpp"'),
    header("server/service", '"routemaster/server/http_server.hpp"'),
    header("testing/manual_clock", '"routemaster/testing/signal.hpp"', '"routemaster/bus.hpp"'),
    {"include/routemaster/uid.hpp": '#pragma once\n// #include "routemaster/bus.hpp"\n'},
    {"lib/embedded/a.cpp": '#include <sqlite3.h>\n#include "routemaster/store/embedded.hpp"\n'},
    {"lib/stores/a.cpp": '#include "routemaster/store/embedded.hpp"\n'},
    {"lib/simulation/a.cpp": '#include "routemaster/testing/a.hpp"\n'},
    {"lib/core/bus.cpp": '#include "routemaster/bus.hpp"\n'},
    {"lib/server/api/a.cpp": '#include "routemaster/bus.hpp"\n'},
]

VIOLATIONS = [
    ("include/routemaster/novel.hpp", 1, "not in the table", header("novel")),
    planted("error", '"routemaster/event.hpp"', "error.hpp is L0, event.hpp is L1"),
    planted("store", '"routemaster/bus.hpp"', "store.hpp is L2, bus.hpp is L3"),
    planted("bus", '"routemaster/store/memory.hpp"', "bus.hpp is L3"),
    planted("bus", '"routemaster/novel.hpp"', "not in the table"),
    planted("bus", '"routemaster/testing/signal.hpp"', "only tests include testing/"),
    planted("routemaster", '"routemaster/testing/signal.hpp"', "only tests include testing/"),
    planted("event", "<msgpack.hpp>", "third-party"),
    planted("store/embedded", "<sqlite3.h>", "third-party"),
    planted("event", '"uid.hpp"', "own headers are spelled"),
    planted("store/embedded", '"routemaster/store/memory.hpp"', "includes the driver"),
    planted("transport/local", '"routemaster/dispatcher.hpp"', "of L3"),
    ("lib/http/a.cpp", 1, "of L3", {"lib/http/a.cpp": '#include "routemaster/bus.hpp"\n'}),
    ("lib/server/a.cpp", 1, "of L3", {"lib/server/a.cpp": '#include "routemaster/bus.hpp"\n'}),
    (
        "lib/http/a.cpp",
        1,
        "includes the driver",
        {"lib/http/a.cpp": '#include "routemaster/store/embedded.hpp"\n'},
    ),
]

if __name__ == "__main__":
    checker.main(check, CLEAN, VIOLATIONS)
