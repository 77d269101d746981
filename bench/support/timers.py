"""Starts listeners to timers on Redis, ours and those of dtimer, and measures how late timers fire.
"""

import json
import subprocess
import time

from support import node

COUNT, SECONDS = 2_000, 10


def ours(build, server):
    """The command of a listener of ours."""
    return [build / "bench/bench_redis_timer_listen", "--url", server.url]


def dtimers(folder, server, number):
    """The command of a listener of dtimer, which needs a number of its own."""
    return node.command(folder, "dtimer_listen.mjs", server, number)


def start(command):
    """A process, once it listens."""
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)  # fmt: skip
    if process.stdout.readline() != "listening\n":
        raise RuntimeError(f"{command[0]} does not listen")
    return process


def post(build, server, *how):
    """Posts timers, by a process of ours."""
    command = [build / "bench/bench_redis_timer_post", "--url", server.url, *map(str, how)]
    said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(said)


def lateness(build, server, commands):
    """Has listeners of these commands get timers that are due at random within ten seconds.
    Returns how late they were in milliseconds, sorted."""
    server.empty()
    processes = [start(command) for command in commands]
    post(build, server, "--count", COUNT, "--warm-up", 0, "--in-flight", 64, "--seconds", SECONDS)
    deadline = time.monotonic() + SECONDS + 20
    while server.command("ZCARD", "bench:ei") > 0:
        if time.monotonic() > deadline:
            raise RuntimeError("timers are left")
        time.sleep(0.1)
    time.sleep(0.2)
    late = []
    for process in processes:
        late += json.loads(process.communicate(input="", timeout=30)[0])
    if len(late) != COUNT:
        raise RuntimeError(f"{COUNT} timers were posted, {len(late)} fired")
    return sorted(late)


def share(late, part):
    """A percentile of sorted values."""
    return late[int(part * (len(late) - 1))]


POSTS, POSTS_IN_FLIGHT, NODE_IN_FLIGHT = 50_000, 1_024, 50
FIRINGS = 50_000


def rate(run):
    """Operations a second."""
    return run["count"] / run["seconds"]


def node_rate(folder, server, program, in_flight, *how):
    """Operations a second of a program of dtimer."""
    command = node.command(folder, program, server, in_flight) + list(how)
    said = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                          check=True).stdout  # fmt: skip
    return rate(json.loads(said))


def posts_beside_dtimer(build, server, folder, measured):
    """Adds a round: posts a second, 1,024 under way, and those of dtimer, 50 under way."""
    server.empty()
    theirs = node_rate(folder, server, "dtimer_post.mjs", NODE_IN_FLIGHT,
                       "--count", POSTS, "--warm-up", 2_000)  # fmt: skip
    server.empty()
    ours = post(build, server, "--count", POSTS, "--warm-up", 2_000, "--in-flight", POSTS_IN_FLIGHT)
    if server.command("ZCARD", "bench:ei") != POSTS + 2_000:
        raise RuntimeError("timers are missing")
    measured.add(theirs, rate(ours))


def firings_beside_dtimer(build, server, folder, measured):
    """Adds a round: timers a second, all of which are due, that one listener gets and confirms, and
    those of dtimer, with its defaults."""
    posted = ["--count", FIRINGS, "--warm-up", 0, "--in-flight", 1_024, "--now"]
    server.empty()
    post(build, server, *posted)
    theirs = node_rate(folder, server, "dtimer_fire.mjs", 1, "--count", FIRINGS)
    server.empty()
    post(build, server, *posted)
    command = [build / "bench/bench_redis_timer_fire", "--url", server.url, "--count", FIRINGS]
    said = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                          check=True).stdout  # fmt: skip
    measured.add(theirs, rate(json.loads(said)))
