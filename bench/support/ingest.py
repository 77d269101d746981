"""Measures publications over HTTP. The baseline is nginx, which responds with 204.

There are one publisher token, one topic and one subscriber. wrk with 64 kept-alive connections
posts the same event repeatedly. Each round measures three servers, one after the other, with new
data: nginx; the bus with a subscriber whose batch is not due within an hour, so that nothing is
delivered; and the bus while it delivers batches (100 events, 500 ms) to a receiver on this machine.
"""

import base64
import json
import os
import pathlib
import statistics
import subprocess
import sys

from support import rounds, servers

ROUNDS = 3
WARM_UP_SECONDS = 1
SECONDS = 4
CONNECTIONS = 64
THREADS = 2
TOKEN = "bench-publisher"
SCRIPT = pathlib.Path(__file__).with_name("publish.lua")


def wrk(server, seconds):
    """Posts events for this many seconds and returns wrk's summary."""
    credentials = base64.b64encode(f"{TOKEN}:x".encode()).decode()
    command = ["wrk", "-t", str(THREADS), "-c", str(CONNECTIONS), "-d", f"{seconds}s",
               "-s", SCRIPT, server.url]  # fmt: skip
    run = subprocess.run(command, env={**os.environ, "BENCH_CREDENTIALS": credentials},
                         stdout=subprocess.PIPE, text=True, check=True)  # fmt: skip
    line = next(line for line in run.stdout.splitlines() if line.startswith("summary "))
    summary = json.loads(line.removeprefix("summary "))
    if summary["not_2xx"] or summary["broken"]:
        raise RuntimeError(f"requests failed: {summary}")
    return summary


def measure(server):
    """Requests per second after a warm-up, and wrk's other results."""
    warm_up = wrk(server, WARM_UP_SECONDS)
    before = server.cpu_seconds()
    summary = wrk(server, SECONDS)
    cpu = server.cpu_seconds() - before
    return {
        "rate": summary["requests"] / summary["microseconds"] * 1e6,
        "cpu_us_per_op": cpu / summary["requests"] * 1e6,
        "p50_ms": summary["p50_us"] / 1000,
        "p99_ms": summary["p99_us"] / 1000,
        "answered": warm_up["requests"] + summary["requests"],
    }


def check_taken_in(server, answered):
    """Checks that every response that wrk counted is one event. A surplus event was under way when
    wrk ended: at most one on each connection, at the end of each of the two runs."""
    topics = server.call("GET", "/topics", token=TOKEN)
    taken_in = next(topic["events"] for topic in topics if topic["name"] == "orders")
    if not answered <= taken_in <= answered + 2 * CONNECTIONS:
        raise RuntimeError(f"{answered} events were answered 200, but {taken_in} were taken in")
    return taken_in


def subscribe(bus, callback, **subscription):
    """Creates the publisher's token, and a subscriber."""
    for token in (TOKEN, "bench-subscriber"):
        servers.add_token(bus, token)
    payload = {"topics": ["orders"], "callback": callback, **subscription}
    bus.call("POST", "/subscription", payload, "bench-subscriber")


def measure_bus(build, store, receiver, subscription, callback="/orders"):
    """One run of the bus with one subscriber, whose callback is this path of the receiver."""
    with servers.folder(build) as folder, servers.bus(build, store.format(folder=folder)) as bus:
        subscribe(bus, receiver.url + callback, **subscription)
        measured = measure(bus)
        measured["rss_mb"] = bus.rss_mb()
        measured["taken_in"] = check_taken_in(bus, measured["answered"])
        measured["delivered"] = receiver.call("GET", "/report")["events"]
        measured["delivered_share"] = measured["delivered"] / measured["taken_in"]
    receiver.call("POST", "/reset")
    return measured


def middle(runs, field):
    """The median of one field."""
    return statistics.median(run[field] for run in runs)


def main(bench, store):
    """Runs the benchmark named `bench` on a store; `{folder}` in its URL is a temporary folder."""
    build = pathlib.Path(sys.argv[1]).resolve()
    held_back = {"timeout": 3_600_000, "max": 1_000_000_000}
    due_soon = {"timeout": 500, "max": 100}
    plain, ingest, delivering = [], [], []
    with servers.nginx(build) as nginx, servers.receiver(build) as receiver:
        for _ in range(ROUNDS):
            plain.append(measure(nginx))
            # A batch is full at 1 MiB. The receiver never responds to the first full batch, so the
            # rest stays queued.
            ingest.append(measure_bus(build, store, receiver, held_back, "/silent"))
            delivering.append(measure_bus(build, store, receiver, due_soon))
    if any(run["delivered"] for run in ingest):
        raise RuntimeError("events were delivered that should have waited")
    alone, both = rounds.Rounds(), rounds.Rounds()
    for baseline, queued, delivered in zip(plain, ingest, delivering):
        alone.add(baseline["rate"], queued["rate"])
        both.add(baseline["rate"], delivered["rate"])
    rounds.print_result(
        bench,
        "requests/s",
        alone,
        "nginx return 204",
        p50_ms=middle(ingest, "p50_ms"),
        p99_ms=middle(ingest, "p99_ms"),
        baseline_p99_ms=middle(plain, "p99_ms"),
        cpu_us_per_op=middle(ingest, "cpu_us_per_op"),
        baseline_cpu_us_per_op=middle(plain, "cpu_us_per_op"),
        rss_mb=middle(ingest, "rss_mb"),
        value_delivering=both.value(),
        ratio_delivering=both.ratio(),
        p99_ms_delivering=middle(delivering, "p99_ms"),
        cpu_us_per_op_delivering=middle(delivering, "cpu_us_per_op"),
        delivered_share=middle(delivering, "delivered_share"),
    )
