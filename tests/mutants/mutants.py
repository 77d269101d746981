#!/usr/bin/env python3
"""Plants bugs (mutants), one at a time, and reports which test detects each.

    tests/mutants/mutants.py [--only WORDS] [--suite NAME] [--list | --check]

A suite of tests can pass and still detect no bug. This program proves that our suites detect the
bugs that mutants.toml lists. For each mutant it copies the sources to a temporary folder, plants
the bug there, and compiles and runs the suite that must detect the bug against the copy:

    conformance   the conformance suite over the memory store, and the unit tests of the code below
                  the store
    simulation    simulated worlds with every kind of fault, over the engine of the embedded store
    simulation_timers   such worlds with many timers
    simulation_pools    such worlds with worker pools
    simulation_ticks    such worlds with recurring jobs and timers
    simulation_rates    such worlds with rate limits
    simulation_batches  such worlds with batches of jobs, and jobs that wait for others
    faults        the tests of the file of the embedded store after a crash
    dispatcher    the unit tests of the dispatcher: shares, stop, errors, wake-ups, and retries
    explanations  the unit tests of explanations of why something waits
    async         the tests of awaitables and futures
    wake_ups      the tests of wake-ups between threads
    url           the tests of the URL check
    option_effects    the tests of options that an object passes to its parts
    http_transport    the tests of many concurrent deliveries over HTTP
    http_timeouts     the tests of timeouts of deliveries over HTTP
    http_posts        the tests of the POSTs under way
    http_descriptors  the tests of a transport without file descriptors
    http_server_answers   the tests of large responses and large requests
    http_floods       the tests of receivers that never stop sending
    http_api      the unit tests of the rights of each route, and of the fields of its responses
    tls_meter         the tests of the limit of received bytes of a TLS connection
    lease_loop    the unit tests of the leases of every kind of worker
    delivery_worker   the unit tests of `DeliveryWorker`, and of callbacks without it
    listeners     the unit tests of listeners of timers, in this process and in others
    worker_pool   the unit tests of pools and their jobs
    processes     the tests of forks, signals and ends of a program
    redis_timers  the tests of timers on Redis; a mutant may be in a Lua script
    redis_joint   the tests of steps that are combined into one call; as above
    redis_slices  the tests of the limits of one step with many large jobs; as above
    redis_leftovers   the tests of entries that a step must remove; as above
    redis_exit    the tests of ends of a program with a store on Redis; as above
    redis_ruby    the tests of what Ruby processes read; as above
    redis_rollback    the tests of `check-rollback`; as above
    services      the integration tests that the mutant names, on programs with the bug: settings
                  are passed on and have an effect. Makes the release build first

A mutant is detected by a failed case, a crash, or a run that does not end. A mutant that does not
compile proves nothing, and therefore counts as an error.

The start takes minutes, and therefore only a developer and `.ci/run --all` run this program. It
exits non-zero when a mutant is not detected, does not compile, or cannot be planted because its
text does not occur exactly once.
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

import services

ROOT = pathlib.Path(__file__).resolve().parents[2]


def sources_of(folder):
    """Every source below a folder of lib/."""
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(f"lib/{folder}/**/*.cpp"))


# All programs are linked with these. Most mutants are in the state machine, and each of its sources
# includes most of it. Therefore its sources are compiled as one.
STATE = [*sources_of("core/state"), *sources_of("core/*/state")]
ALL_STATE = "lib/core/state.cpp"
CORE = [*(one for one in sources_of("core") if one not in STATE), ALL_STATE]
LIBRARIES = ["-luriparser", "-lsqlite3", "-ldeflate",
             "-lhiredis", "-lcurl", "-lssl", "-lcrypto"]

# The programs of each suite, with their sources. Programs that kill many mutants come first.
PROGRAMS = {
    "conformance": [
        ["tests/conformance/memory_test.cpp", *sources_of("testing/conformance")],
        ["tests/unit/counted_tree_test.cpp"],
        ["tests/unit/counters_test.cpp"],
        ["tests/unit/health_test.cpp"],
        ["tests/unit/idempotency_keys_test.cpp"],
        ["tests/unit/job_table_test.cpp"],
        ["tests/unit/kept_keys_test.cpp"],
        ["tests/unit/message_list_test.cpp"],
        ["tests/threads/store_test.cpp"],
        ["tests/unit/timer_turns_test.cpp"],
        ["tests/threads/uid_test.cpp"],
    ],
    "simulation": [
        [
            "tests/simulation/world_test.cpp",
            "lib/embedded/engine.cpp",
            "lib/embedded/journal_writer.cpp",
            "lib/embedded/replay.cpp",
            *sources_of("testing/simulation"),
        ],
    ],
}
for what, world in (("timers", "timer"), ("pools", "pool"), ("ticks", "recurring"),
                    ("rates", "rate"), ("batches", "batch")):
    PROGRAMS[f"simulation_{what}"] = [
        [f"tests/simulation/{world}_world_test.cpp", *PROGRAMS["simulation"][0][1:]]
    ]
PROGRAMS["dispatcher"] = [
    [f"tests/unit/dispatcher_{what}_test.cpp"]
    for what in ("fairness", "close", "trouble", "wake", "retry")
]
PROGRAMS["faults"] = [
    [
        "tests/faults/embedded_attempts_test.cpp",
        "tests/faults/embedded_commit_test.cpp",
        "tests/faults/embedded_dependencies_test.cpp",
        "tests/faults/embedded_groups_test.cpp",
        "tests/faults/embedded_idempotency_keys_test.cpp",
        "tests/faults/embedded_job_batches_test.cpp",
        "tests/faults/embedded_jobs_test.cpp",
        "tests/faults/embedded_long_rows_test.cpp",
        "tests/faults/embedded_poison_test.cpp",
        "tests/faults/embedded_priorities_test.cpp",
        "tests/faults/embedded_queues_test.cpp",
        "tests/faults/embedded_recurring_test.cpp",
        "tests/faults/embedded_timers_test.cpp",
        "tests/faults/disk.cpp",
        *sources_of("embedded"),
    ]
]
PROGRAMS["without_memory"] = [
    [
        "tests/faults/delivery_allocation_test.cpp",
        "tests/faults/handler_allocation_test.cpp",
        "tests/faults/failing_allocation.cpp",
        *sources_of("embedded"),
    ]
]
PROGRAMS["name_limits"] = [["tests/unit/name_limits_test.cpp"]]
PROGRAMS["recurring"] = [
    [f"tests/unit/{what}_test.cpp"]
    for what in ("recurring_scheduler", "recurring_jobs", "recurring_timers", "job_schedule")
]
PROGRAMS["lease_loop"] = [
    [f"tests/unit/{what}_test.cpp"]
    for what in ("lease_loop", "lease_loop_wake_ups", "lease_loop_alive")
]
PROGRAMS["job_leases"] = [
    [f"tests/unit/{what}_test.cpp"]
    for what in ("job_leases", "job_leases_processes", "job_lease_extensions")
]
PROGRAMS["explanations"] = [["tests/unit/explanations_test.cpp"]]
PROGRAMS["wake_ups"] = [[f"tests/threads/{what}_test.cpp"] for what in ("event_queue", "runner")]
PROGRAMS["async"] = [["tests/threads/async_test.cpp", *sources_of("embedded")]]
PROGRAMS["http_transport"] = [
    ["tests/integration/http_transport_load_test.cpp", *sources_of("http")]
]
PROGRAMS["http_timeouts"] = [["tests/integration/http_transport_test.cpp", *sources_of("http")]]
PROGRAMS["http_posts"] = [["tests/integration/http_posts_test.cpp", *sources_of("http")]]
PROGRAMS["http_descriptors"] = [
    ["tests/integration/http_transport_repair_test.cpp", *sources_of("http")]
]
PROGRAMS["http_floods"] = [
    ["tests/integration/http_transport_floods_test.cpp", *sources_of("http")]
]
PROGRAMS["tls_meter"] = [["tests/integration/tls_meter_test.cpp", *sources_of("http")]]
PROGRAMS["http_server_turns"] = [
    [
        "tests/integration/http_server_turns_test.cpp",
        *(source for source in sources_of("server") if "/api/" not in source),
    ]
]
PROGRAMS["http_server_answers"] = [
    [
        "tests/integration/http_server_unread_test.cpp",
        *(source for source in sources_of("server") if "/api/" not in source),
    ],
    [
        "tests/integration/http_server_large_requests_test.cpp",
        *(source for source in sources_of("server") if "/api/" not in source),
    ],
]
PROGRAMS["http_api"] = [
    [f"tests/unit/http_api_{what}_test.cpp", *sources_of("server")]
    for what in ("access", "jobs", "large_answers", "leases", "limits", "queues", "timers")
] + [["tests/unit/response_fields_test.cpp", *sources_of("server")]]
PROGRAMS["entropy"] = [["tests/unit/entropy_test.cpp"]]
PROGRAMS["idle_threads"] = [["tests/threads/idle_threads_test.cpp"]]
PROGRAMS["url"] = [["tests/threads/url_test.cpp"]]
PROGRAMS["slab"] = [["tests/unit/slab_test.cpp"]]
PROGRAMS["option_effects"] = [
    [f"tests/unit/{what}_test.cpp"] for what in ("option_effects", "worker_option_effects")
]
PROGRAMS["dead_search"] = [["tests/unit/dead_search_test.cpp"]]
PROGRAMS["prefetch"] = [["tests/unit/prefetch_test.cpp"]]
PROGRAMS["listeners"] = [
    [f"tests/{what}_test.cpp"]
    for what in ("unit/timer_listener", "threads/timer_listener_threads", "unit/timer_requests",
                 "unit/delayer", "unit/action_runner")
]
PROGRAMS["delivery_worker"] = [
    [f"tests/threads/{what}_test.cpp"] for what in ("callbacks", "delivery_worker")
]
PROGRAMS["worker_pool"] = [
    *([f"tests/threads/{what}_test.cpp"] for what in ("worker_pool", "worker_pool_threads")),
    *([f"tests/unit/{what}_test.cpp"]
      for what in ("worker_pool_leases", "worker_pool_async", "typed_job", "job_queue",
                   "job_queue_calls", "follow_ups")),
]
PROGRAMS["stop_inside"] = [
    [
        "tests/threads/stop_inside_test.cpp",
        *(source for source in sources_of("server") if "/api/" not in source),
    ]
]
PROGRAMS["processes"] = [
    [
        *(f"tests/threads/{what}_test.cpp" for what in ("fork", "exit", "signals")),
        *(source for folder in ("embedded", "http", "server") for source in sources_of(folder)
          if "/api/" not in source),
    ]
]
ON_REDIS = [
    *(f"tests/support/redis_{what}.cpp" for what in ("client", "server")), *sources_of("redis"),
]
PROGRAMS["redis_timers"] = [
    ["tests/redis/timers_test.cpp", "tests/redis/timer_turns_test.cpp", *ON_REDIS]
]
PROGRAMS["redis_joint"] = [["tests/redis/joint_calls_test.cpp", *ON_REDIS]]
PROGRAMS["redis_slices"] = [["tests/redis/job_slices_test.cpp", *ON_REDIS]]
PROGRAMS["redis_pushes"] = [
    ["tests/redis/idempotency_keys_test.cpp", "tests/support/tcp_gate.cpp", *ON_REDIS]
]
PROGRAMS["redis_leftovers"] = [["tests/redis/leftovers_test.cpp",
                               "tests/redis/timer_leftovers_test.cpp", *ON_REDIS]]
PROGRAMS["redis_leases"] = [["tests/redis/lease_ids_test.cpp", *ON_REDIS]]
PROGRAMS["redis_exit"] = [["tests/redis/exit_test.cpp", *ON_REDIS]]
PROGRAMS["redis_ruby"] = [
    [*(f"tests/redis/{what}_test.cpp" for what in ("ruby", "callbacks", "unreadable")), *ON_REDIS]
]
PROGRAMS["redis_rollback"] = [["tests/redis/rollback_test.cpp", *ON_REDIS]]
PROGRAMS["redis_link"] = [
    ["tests/redis/link_test.cpp", "tests/support/tcp_gate.cpp", *ON_REDIS]
]
# The file that CMake generates from the scripts. A program without scripts does not need it.
LUA = "lib/lua_sources.hpp"
FLAGS = ["-std=c++20", "-O0", "-g1", "-w", "-pthread"]
SECONDS_MAX = 60
MEMORY_MAX = 2 << 30  # A mutant may well allocate without end.


class Builder:
    """Compiles programs against a copy of the sources. What a mutant does not touch is compiled
    once: the compiler says which files each source includes."""

    def __init__(self, folder, compiler):
        self.folder = folder
        self.compiler = compiler
        self.copy = folder / "copy"
        self.objects = {}  # By source: the object, and the files it was made of.
        self.fresh_copy()

    def run_compiler(self, *arguments):
        command = [self.compiler, *FLAGS, "-I", self.copy / "include", "-I", self.copy / "lib",
                   "-I", self.copy / "tests"]
        done = subprocess.run([*command, *arguments], capture_output=True, text=True)
        return done.returncode == 0, done.stderr

    def fresh_copy(self):
        for name in ("include", "lib", "services", "tests"):
            shutil.rmtree(self.copy / name, ignore_errors=True)
            shutil.copytree(ROOT / name, self.copy / name)
        together = "".join(f'#include "{one.removeprefix("lib/")}"\n' for one in STATE)
        (self.copy / ALL_STATE).write_text(together, encoding="utf-8")
        self.write_lua()

    def write_lua(self):
        """The scripts as constants, as lib/redis/CMakeLists.txt writes them."""
        text = "#pragma once\n#include <string_view>\nnamespace routemaster::redis::lua {\n"
        for file in sorted(self.copy.glob("lib/redis/lua/**/*.lua")):
            constant = f'R"lua({file.read_text(encoding="utf-8")})lua"'
            text += f"inline constexpr std::string_view {file.stem} = {constant};\n"
        (self.copy / LUA).write_text(text + "}\n", encoding="utf-8")

    def compile(self, source, touched):
        """The object of a source and None, or None and what the compiler says."""
        known = self.objects.get(source)
        if known and not self.depends(source, known[1], touched):
            return known[0], None
        name = source.replace("/", ".")
        target = self.folder / (name + (".mutant.o" if touched else ".o"))
        depends = self.folder / (name + ".d")
        good, complaint = self.run_compiler("-c", "-MD", "-MF", depends, self.copy / source, "-o",
                                            target)
        if not good:
            return None, complaint
        if not touched:
            self.objects[source] = (target, depends.read_text().split())
        return target, None

    def depends(self, source, files, touched):
        """Whether a source that is made of these files has to be compiled again."""
        if touched is None or not touched.endswith(".lua"):
            return touched in files
        # Each user of a script includes the file with all scripts, but names only the scripts that
        # it uses.
        name = pathlib.Path(touched).stem
        text = (self.copy / source).read_text(encoding="utf-8")
        headers = [one for one in files if "/redis/steps/" in one]
        text += "".join(pathlib.Path(one).read_text(encoding="utf-8") for one in headers)
        return str(self.copy / LUA) in files and re.search(rf"\b{name}\b", text) is not None

    def build(self, sources, touched=None):
        """The executable of a program and None, or None and what the compiler says. `touched` is
        the file of the copy in which a bug was planted, if any."""
        objects = []
        for source in [*sources, *CORE, "tests/support/doctest_main.cpp"]:
            target, complaint = self.compile(source, touched)
            if target is None:
                return None, complaint
            objects.append(target)
        program = self.folder / pathlib.Path(sources[0]).stem
        good, complaint = self.run_compiler(*objects, *LIBRARIES, "-o", program)
        return (program, None) if good else (None, complaint)


def place_of(mutant, copy):
    """The file of the copy in which the bug is planted."""
    name = mutant["file"]
    inside = name.startswith(("lib/", "services/"))
    return copy / name if inside else copy / "include" / "routemaster" / name


def plant(mutant, path):
    """Changes a copied file. Returns a complaint, or None."""
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


def check(mutants):
    """Prints which mutants cannot be planted; the exit status."""
    complaints = 0
    with tempfile.TemporaryDirectory() as folder:
        for mutant in mutants:
            copy = pathlib.Path(folder) / "copy"
            shutil.copyfile(place_of(mutant, ROOT), copy)
            if complaint := plant(mutant, copy):
                complaints += 1
                print(f"{mutant['name']}: {complaint}")
            if suite_of(mutant) not in (*PROGRAMS, "services"):
                complaints += 1
                print(f"{mutant['name']}: there is no suite {suite_of(mutant)}")
    sources = {one for programs in PROGRAMS.values() for program in programs for one in program}
    for source in sorted(sources):
        if not (ROOT / source).is_file() and source != ALL_STATE:
            complaints += 1
            print(f"{source}: is missing")
    names = [one["name"] for one in mutants]
    for name in sorted({each for each in names if names.count(each) > 1}):
        complaints += 1
        print(f"{name}: is listed more than once")
    print(f"{complaints} complaints")
    return 1 if complaints else 0


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


def suite_of(mutant):
    return mutant.get("suite", "conformance")


def verdict_of(found):
    """The text of a verdict on a mutant that these cases kill."""
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return True, found[0] + more


def verdict(mutant, builder, programs):
    """(killed, text) of one mutant."""
    builder.fresh_copy()
    path = place_of(mutant, builder.copy)
    if complaint := plant(mutant, path):
        return False, "NOT PLANTED: " + complaint
    builder.write_lua()
    if suite_of(mutant) == "services":
        if complaint := programs.build(mutant["file"], path):
            return False, "DOES NOT COMPILE: " + complaint.strip().splitlines()[0]
        found = programs.killers(mutant["tests"])
        return verdict_of(found) if found else (False, "SURVIVED")
    for sources in PROGRAMS[suite_of(mutant)]:
        program, complaint = builder.build(sources, str(path))
        if program is None:
            return False, "DOES NOT COMPILE: " + complaint.strip().splitlines()[0]
        if found := killers(program):
            return verdict_of(found)
    return False, "SURVIVED"


def main():
    parser = argparse.ArgumentParser(description="Plants bugs and reports which test finds each.")
    parser.add_argument("--only", default="", help="only mutants whose name contains this")
    parser.add_argument("--suite", choices=[*PROGRAMS, "services"],
                        help="only mutants for this suite")
    parser.add_argument("--list", action="store_true", help="name the mutants and do nothing")
    parser.add_argument("--check", action="store_true",
                        help="only look whether each can still be planted")
    parser.add_argument("--compiler", default="g++")
    arguments = parser.parse_args()

    listed = tomllib.loads((pathlib.Path(__file__).parent / "mutants.toml").read_text("utf-8"))
    mutants = [one for one in listed["mutant"] if arguments.only in one["name"]
               and arguments.suite in (None, suite_of(one))]
    if not mutants:
        sys.exit(f"no mutant is called anything with '{arguments.only}'")
    if arguments.list:
        print("\n".join(one["name"] for one in mutants))
        return
    if arguments.check:
        sys.exit(check(mutants))

    with tempfile.TemporaryDirectory() as folder:
        builder = Builder(pathlib.Path(folder), arguments.compiler)
        programs = services.Programs(pathlib.Path(folder))
        suites = {suite_of(one) for one in mutants}
        if "services" in suites:
            tests = ",".join(sorted({one["tests"] for one in mutants if "tests" in one}))
            complaint = services.build_all() or programs.killers(tests, built=True)
            if complaint:
                sys.exit(f"the integration tests fail without any mutant: {complaint}")
        for suite in sorted(suites - {"services"}):
            for sources in PROGRAMS[suite]:
                program, complaint = builder.build(sources)
                if program is None or killers(program):
                    sys.exit(f"{sources[0]} fails without any mutant: "
                             f"{complaint or killers(program)}")
        failed = 0
        for mutant in mutants:
            killed, text = verdict(mutant, builder, programs)
            failed += not killed
            word = "killed" if killed else "FAILED"
            print(f"{word}  {mutant['name']}\n        {text}", flush=True)
    print(f"{len(mutants) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
