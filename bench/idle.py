"""Measures the processor time and memory of an idle service with 1,000 subscribers, which are
registered over HTTP, and without events.

Processor time comes from /proc/PID/task/*/schedstat of all threads, in nanoseconds. The baseline is
nginx, its master and its workers, idle in the same windows.
"""

import contextlib
import pathlib
import sys
import time

from support import rounds, servers

SUBSCRIBERS = 1_000
TOPICS = 20
TOPICS_EACH = 3
WINDOWS = 3
WINDOW_SECONDS = 8
SETTLE_SECONDS = 3


def register(bus):
    """Creates every subscriber and subscribes it to a few of the topics."""
    names = [f"topic_{chr(ord('a') + n)}" for n in range(TOPICS)]
    for n in range(SUBSCRIBERS):
        token = f"bench-subscriber-{n}"
        servers.add_token(bus, token)
        topics = [names[(n + i) % TOPICS] for i in range(TOPICS_EACH)]
        callback = f"http://127.0.0.1:1/{token}"
        bus.call("POST", "/subscription", {"topics": topics, "callback": callback}, token)
    listed = len(bus.call("GET", "/subscribers", token=servers.ROOT_KEY))
    if listed != SUBSCRIBERS:
        raise RuntimeError(f"{SUBSCRIBERS} subscribers were registered, {listed} are listed")


def busy(running, seconds):
    """Percent of a core that each of the servers takes."""
    before, begun = [each.cpu_seconds() for each in running], time.monotonic()
    time.sleep(seconds)
    after, elapsed = [each.cpu_seconds() for each in running], time.monotonic() - begun
    return [(late - early) / elapsed * 100 for early, late in zip(before, after)]


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(servers.folder(build))
        nginx = stack.enter_context(servers.nginx(build))
        bus = stack.enter_context(servers.bus(build, f"file:{folder}/bus.db"))
        register(bus)
        time.sleep(SETTLE_SECONDS)
        measured = rounds.Rounds()
        for _ in range(WINDOWS):
            measured.add(*busy([nginx, bus], WINDOW_SECONDS))
        rounds.print_result(
            "idle",
            "% of a core",
            measured,
            "nginx, master and workers, idle",
            rss_mb=bus.rss_mb(),
            baseline_rss_mb=nginx.rss_mb(),
            subscribers=SUBSCRIBERS,
        )


main()
