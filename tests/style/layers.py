#!/usr/bin/env python3
"""Checks the layers against the #includes.

Every public header is in the table below. A header includes only headers of its own layer and of
lower layers; L0 includes nothing but itself and the standard library. Only lib/ includes
third-party headers. A driver includes no other driver and nothing of L3. Only tests include
testing/.

In lib/, a folder is a driver, and the same rules apply to it, with these exceptions. lib/api, the
routes, uses the facades of L3. lib/stores opens all drivers. lib/testing includes everything that
it tests. lib/core implements the headers: a source there has the layer of its header, and a private
header has the layer of its folder; bus/, jobs/ and timers/ have such folders each. Any driver may
include private headers of lib/core up to L2, but no private header of another driver.
"""

import re

import checker

# The layer of each header, by name without `.hpp`, or of a folder with a trailing slash. A private
# header (detail/) has the layer of the lowest header that includes it.
LAYERS = {
    0: """
        error result time clock entropy random uid log required public_part byte_size async asio
        detail/assert detail/awaited_call
    """,
    1: """
        value event topic subscription batch timer counter health names capacity measurement url
        job_batch queue_throughput printable_text
        api_token job queued_batch job_key job_metadata job_schedule job_explanation job_status
        idempotency_key
        listed_worker worker_profile batch_explanation recurring_explanation job_exceptions
        push_options rate_limit recurring_job retry_policy typed_job
        timer_action unique detail/rare
        codec/
    """,
    2: """
        store transport callbacks reject active publication detail/boxed detail/step_domains
        store/completion_thread store/outcome store/perform store/spare_thread
        store/step store/step/
    """,
    3: """
        bus publisher subscriber job_queue job_queues job_workers api_tokens dispatcher autodrop
        job_batches monitor admission_control follow_ups job_context job_handler job_leases
        job_responder worker_pool_options recurring_jobs recurring_scheduler timer_options
        timer_context timer_handler timer_listener_options timer_requests timer_explanation
    """,
    4: """
        store/ transport/ server/
        runner open_store delivery_worker worker_pool timer_listener delayer
        action_timers action_runner
    """,
    5: """
        routemaster
        testing/
    """,
}

# The layers of the private folders of lib/core.
CORE_LAYERS = {
    "containers": 0,
    "system": 0,
    "codec": 1,
    "schedule": 1,
    "state": 2,
    "step": 2,
    "store": 2,
    "upkeep": 3,
    "work": 3,
}

# The folders of lib/core with the facades, tables and steps of one domain each.
DOMAINS = ("bus", "jobs", "timers")

# The folders of lib/ that include private headers of folders besides lib/core.
PRIVATE_INCLUDES = {"api": {"core", "http_server"}, "testing": {"core", "embedded"}}

# The driver of a folder of lib/, where the names differ.
DRIVERS = {"api": "server", "http_server": "server"}

# Folders of L4. Each file is a driver, except in server/, where the whole folder is one driver.
DRIVER_FOLDERS = ("store/", "transport/", "server/")

# Headers of the operating system count as standard library headers.
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
        if name.startswith(folder) and layer_of(name) == 4:
            # store/embedded_file.hpp belongs to store/embedded.hpp.
            return folder if folder == "server/" else name.removesuffix(".hpp").split("_")[0]
    return None


def includes(path):
    """(line, name, whether it is one of ours) of every #include."""
    text = path.read_text(encoding="utf-8")
    # The contents of literals are blanked, including the names in #include; take these from `text`.
    code = checker.code_only(text)
    for match in INCLUDE.finditer(text):
        if "include" not in code[match.start() : match.end()]:
            continue
        line = text.count("\n", 0, match.start(2)) + 1
        name = match.group(2)
        own = name.startswith("routemaster/")
        yield line, name.removeprefix("routemaster/"), own, match.group(1)


def of_adaptor(name, target):
    """Whether the public header `name` is an adaptor for the library of `target`."""
    return name in checker.ADAPTORS and target.startswith(checker.ADAPTORS[name])


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
            elif not (STANDARD.fullmatch(target) or of_adaptor(name, target)):
                yield line, f"<{target}> is third-party; only lib/ may include it"
            continue
        if target in checker.ADAPTORS:
            yield line, f"no header includes the adaptor {target}"
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


def core_layer(root, name):
    """The layer of a file of lib/core, by its place there; None when the tables do not have it."""
    stem = name.rsplit(".", 1)[0]
    if stem.split("/")[0] in DOMAINS:
        stem = stem.split("/", 1)[1]
    if (root / "include" / "routemaster" / f"{stem}.hpp").is_file():
        return layer_of(stem)
    return CORE_LAYERS.get(stem.split("/")[0])


def check_core(root, path, name):
    """Complaints about one file of lib/core."""
    layer = core_layer(root, name)
    if layer is None:
        yield 1, f"core/{name} is not in the table of layers.py"
        return
    for line, target, own, bracket in includes(path):
        if own:
            target_layer = layer_of(target)
        elif bracket == '"':
            if not target.startswith("core/"):
                yield line, f'"{target}": private headers are spelled "core/..."'
                continue
            target_layer = core_layer(root, target.removeprefix("core/"))
        else:
            continue
        if target_layer is None:
            yield line, f"{target} is not in the table of layers.py"
        elif target_layer > layer:
            yield line, f"core/{name} is L{layer}, {target} is L{target_layer}"


def check_private(root, line, target, folder):
    """Complaints about a private header that lib/<folder> includes at `line`."""
    first = target.split("/")[0]
    if "/" not in target or first in (folder, ".."):
        return
    if first == "core" and folder not in ("api", "testing"):
        if (core_layer(root, target.removeprefix("core/")) or 0) > 2:
            yield line, f"the driver {folder} includes {target} of L3"
    elif (root / "lib" / first).is_dir() and first not in PRIVATE_INCLUDES.get(folder, {"core"}):
        yield line, f"the driver {folder} includes the private {target}"


def check_library(root, path, folder):
    """Complaints about one file of lib/<folder>."""
    for line, target, own, bracket in includes(path):
        if not own:
            if bracket == '"':
                yield from check_private(root, line, target, folder)
            continue
        if layer_of(target) is None:
            yield line, f"{target} is not in the table of layers.py"
        elif folder == "testing":
            continue
        elif target.startswith("testing/"):
            yield line, "only tests include testing/"
        elif layer_of(target) == 3:
            if folder != "api":
                yield line, f"the driver {folder} includes {target} of L3"
        elif folder != "stores" and driver_of(target):
            names = driver_of(target).strip("/").split("/")
            if DRIVERS.get(folder, folder) not in names:
                yield line, f"the driver {folder} includes the driver {target}"


def check(root):
    """Complaints about the whole tree."""
    for path, name in checker.headers(root):
        for line, complaint in check_header(path, name):
            yield path.relative_to(root), line, complaint
    for path in checker.files(root, "lib"):
        if path.suffix in (".cpp", ".hpp"):
            folder, name = path.relative_to(root / "lib").as_posix().split("/", 1)
            found = (check_core(root, path, name) if folder == "core"
                     else check_library(root, path, folder))
            for line, complaint in found:
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
    {"lib/core/codec/json.cpp": '#include <nlohmann/json.hpp>\n#include "routemaster/event.hpp"\n'},
    header("store/embedded", "<memory>", '"routemaster/store.hpp"'),
    header("server/service", '"routemaster/server/http_server.hpp"'),
    header("testing/manual_clock", '"routemaster/testing/signal.hpp"', '"routemaster/bus.hpp"'),
    {"include/routemaster/uid.hpp": '#pragma once\n// #include "routemaster/bus.hpp"\n'},
    {"lib/embedded/a.cpp": '#include <sqlite3.h>\n#include "routemaster/store/embedded.hpp"\n'},
    {"lib/stores/a.cpp": '#include "routemaster/store/embedded.hpp"\n'},
    {"lib/testing/a.cpp": '#include "routemaster/testing/a.hpp"\n'},
    {"lib/embedded/a.cpp": '#include "core/state/machine.hpp"\n#include "b.hpp"\n'},
    {"lib/testing/a.cpp": '#include "embedded/a.hpp"\n', "lib/embedded/a.hpp": ""},
    header("store/memory") | {
        "lib/core/store/memory.cpp": '#include "routemaster/store/memory.hpp"\n'
                                     '#include "core/state/machine.hpp"\n#include <mutex>\n'
    },
    {"lib/api/a.cpp": '#include "routemaster/bus.hpp"\n'},
]

VIOLATIONS = [
    ("include/routemaster/novel.hpp", 1, "not in the table", header("novel")),
    planted("bus", '"routemaster/asio.hpp"', "no header includes the adaptor asio.hpp"),
    planted("asio", "<sqlite3.h>", "<sqlite3.h> is third-party"),
    planted("error", '"routemaster/event.hpp"', "error.hpp is L0, event.hpp is L1"),
    planted("store", '"routemaster/bus.hpp"', "store.hpp is L2, bus.hpp is L3"),
    planted("bus", '"routemaster/store/memory.hpp"', "bus.hpp is L3"),
    planted("bus", '"routemaster/novel.hpp"', "not in the table"),
    planted("bus", '"routemaster/testing/signal.hpp"', "only tests include testing/"),
    planted("routemaster", '"routemaster/testing/signal.hpp"', "only tests include testing/"),
    planted("event", "<msgpack.hpp>", "third-party"),
    planted("codec/json", "<nlohmann/json.hpp>", "third-party"),
    planted("store/embedded", "<sqlite3.h>", "third-party"),
    planted("event", '"uid.hpp"', "own headers are spelled"),
    planted("store/embedded", '"routemaster/store/memory.hpp"', "includes the driver"),
    planted("transport/local", '"routemaster/dispatcher.hpp"', "of L3"),
    ("lib/http/a.cpp", 1, "of L3", {"lib/http/a.cpp": '#include "routemaster/bus.hpp"\n'}),
    (
        "lib/http_server/a.cpp",
        1,
        "of L3",
        {"lib/http_server/a.cpp": '#include "routemaster/bus.hpp"\n'},
    ),
    (
        "lib/http/a.cpp",
        1,
        "includes the driver",
        {"lib/http/a.cpp": '#include "routemaster/store/embedded.hpp"\n'},
    ),
    (
        "lib/http/a.cpp",
        1,
        "includes the private embedded/engine.hpp",
        {"lib/http/a.cpp": '#include "embedded/engine.hpp"\n', "lib/embedded/engine.hpp": ""},
    ),
    (
        "lib/core/jobs/state/jobs.hpp",
        1,
        "core/jobs/state/jobs.hpp is L2, bus.hpp is L3",
        {"lib/core/jobs/state/jobs.hpp": '#include "routemaster/bus.hpp"\n'},
    ),
    (
        "lib/core/containers/slab.hpp",
        1,
        "is L0, core/jobs/state/jobs.hpp is L2",
        {"lib/core/containers/slab.hpp": '#include "core/jobs/state/jobs.hpp"\n'},
    ),
    (
        "lib/core/jobs/state/jobs.hpp",
        1,
        "private headers are spelled",
        {"lib/core/jobs/state/jobs.hpp": '#include "entity.hpp"\n'},
    ),
    (
        "lib/http/a.cpp",
        1,
        "includes core/work/event_queue.hpp of L3",
        {"lib/http/a.cpp": '#include "core/work/event_queue.hpp"\n'},
    ),
    ("lib/core/novel/a.hpp", 1, "not in the table", {"lib/core/novel/a.hpp": ""}),
]

if __name__ == "__main__":
    checker.main(check, CLEAN, VIOLATIONS)
