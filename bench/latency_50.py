"""How long an event takes from its publisher to its subscriber at 50 events a second.

The service on a file, strict, a subscriber with timeout 0. Every 20 ms an event is posted over a
kept-alive connection; the clock (CLOCK_MONOTONIC, which is the same in all processes) runs from
just before the request is sent until the receiver has read the batch. Half way between two events
the same body is posted to the receiver itself: the round trip that a subscriber costs without a bus
is the baseline. Most of the rest is the disk: `disk_sync_ms` tells what it takes to append a page
and sync it right before and after.
"""

import contextlib
import os
import pathlib
import statistics
import sys
import time

from support import rounds, servers

SECONDS = 15
WINDOWS = 3
RATE = 50
WARM_UP = 25  # events
SYNCS = 100
PUBLISHER, SUBSCRIBER = "bench-publisher", "bench-subscriber"


def request(path, body, token=PUBLISHER):
    """The bytes of a POST."""
    head = (f"POST {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: {servers.basic(token)}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n")  # fmt: skip
    return (head + body).encode()


def post(connection, data):
    """Sends a request and waits for its answer, which has no body; returns when it was sent."""
    sent = time.monotonic_ns()
    connection.sendall(data)
    answer = connection.recv(4096)
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(4096)
    if b" 200 " not in answer[:16] and b" 204 " not in answer[:16]:
        raise RuntimeError(f"not a success: {answer!r}")
    return sent


def at_pace(begun, n, half=0):
    """Sleeps until it is the turn of event `n`, or of the half way after it."""
    time.sleep(max(0, begun + (n + half / 2) / RATE - time.monotonic()))


def publish(bus, receiver):
    """When each event was sent, how long its answer took, and how long the round trip after it."""
    sent, answers, round_trips = {}, {}, {}
    begun = time.monotonic()
    with bus.connect() as to_bus, receiver.connect() as to_receiver:
        for n in range(1, WARM_UP + SECONDS * RATE + 1):
            body = f'{{"type":"update","url":"https://shop.example/orders/{n}","timestamp":null}}'
            data, plain = request("/topics/orders", body), request("/direct", f"[{body}]")
            at_pace(begun, n)
            sent[n] = post(to_bus, data)
            answers[n] = (time.monotonic_ns() - sent[n]) / 1e6
            at_pace(begun, n, half=1)
            before = post(to_receiver, plain)
            round_trips[n] = (time.monotonic_ns() - before) / 1e6
    return sent, answers, round_trips


def await_events(receiver, count):
    """Waits until so many have come."""
    deadline = time.monotonic() + 10
    while (come := receiver.call("GET", "/report")["events"]) < count:
        if time.monotonic() > deadline:
            raise RuntimeError(f"{count} events were sent, but {come} have come")
        time.sleep(0.05)


def latencies(receiver, sent):
    """How long each event took to its subscriber."""
    await_events(receiver, 2 * len(sent))
    arrivals = receiver.call("GET", "/arrivals")
    took = {n: (at - sent[n]) / 1e6 for name, n, at in arrivals if name == "s"}
    if sorted(took) != sorted(sent):
        raise RuntimeError("not every event arrived")
    return took


def windows(took):
    """The values of each part of the run, in the order of the events."""
    measured = [took[n] for n in sorted(took)][WARM_UP:]
    size = len(measured) // WINDOWS
    return [measured[i * size : (i + 1) * size] for i in range(WINDOWS)]


def disk_syncs(folder):
    """How long the disk takes to keep a page, several times."""
    took = []
    with open(folder / "syncs", "ab", buffering=0) as file:
        for _ in range(SYNCS):
            file.write(bytes(4096))
            before = time.monotonic_ns()
            os.fdatasync(file.fileno())
            took.append((time.monotonic_ns() - before) / 1e6)
    return took


def percentile(parts, share):
    """The value below which so many hundredths of all are."""
    return statistics.quantiles(sum(parts, []), n=100)[share - 1]


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(servers.folder(build))
        receiver = stack.enter_context(servers.receiver(build, "--arrivals"))
        bus = stack.enter_context(servers.bus(build, f"file:{folder}/bus.db"))
        for token in (PUBLISHER, SUBSCRIBER):
            servers.add_token(bus, token)
        wish = {"topics": ["orders"], "callback": receiver.url + "/s", "timeout": 0, "max": 100}
        bus.call("POST", "/subscription", wish, SUBSCRIBER)
        syncs = disk_syncs(folder)
        cpu = bus.cpu_seconds()
        sent, answers, round_trips = publish(bus, receiver)
        cpu = bus.cpu_seconds() - cpu
        took, answers, plain = map(windows, (latencies(receiver, sent), answers, round_trips))
        syncs += disk_syncs(folder)
    halves = rounds.Rounds()
    for window, baseline in zip(took, plain):
        halves.add(statistics.median(baseline), statistics.median(window))
    rounds.tell(
        "latency_50",
        "ms",
        halves,
        "POST to the receiver itself, p50",
        p50_ms=percentile(took, 50),
        p99_ms=percentile(took, 99),
        worst_ms=max(sum(took, [])),
        answer_p50_ms=percentile(answers, 50),
        answer_p99_ms=percentile(answers, 99),
        baseline_p99_ms=percentile(plain, 99),
        cpu_us_per_op=cpu / len(sent) * 1e6,
        disk_sync_ms=statistics.median(syncs),
    )


main()
