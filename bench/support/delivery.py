"""Measures how fast queued events are delivered over HTTP. The baseline is libcurl alone.

The bus (tools/drain.cpp) and libcurl alone (tools/curl_posts.cpp) alternately deliver the same
bodies to the same receiver, a separate process, with as many POSTs under way.
"""

import json
import subprocess

from support import rounds, servers


def run(build, receiver, program, *arguments):
    """Runs a program that delivers to the receiver; returns its report."""
    receiver.call("POST", "/reset")
    command = [build / "bench" / program, "--receiver", receiver.url, *map(str, arguments)]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(result)


def check(receiver, events, subscribers):
    """Checks that each of the subscribers got every event once, in order."""
    report = receiver.call("GET", "/report")
    wrong = report["repeated"] or report["skipped"]
    if wrong or report["events"] != events or report["subscribers"] != subscribers:
        raise RuntimeError(f"{events} events for {subscribers} in order were expected: {report}")


def measure(build, receiver, repeats, subscribers, events, max_events, count):
    """Interleaved rounds; `count` is the number that the rate is based on: "events" or
    "deliveries"."""
    measured, last = rounds.Rounds(), {}
    shape = ["--events", events, "--max-events", max_events]
    for _ in range(repeats):
        alone = run(build, receiver, "bench_curl_posts", "--in-flight", subscribers, *shape)
        check(receiver, events, subscribers)
        with servers.folder(build) as folder:
            store = ["--file", folder / "bus.db"]
            last = run(build, receiver, "bench_drain", "--subscribers", subscribers, *store, *shape)
        check(receiver, events, subscribers)
        measured.add(alone[count] / alone["seconds"], last[count] / last["seconds"])
    cpu = last["cpu_seconds"] / last[count] * 1e6
    return measured, {"cpu_us_per_op": cpu, "publish_per_second": last["publish_per_second"]}
