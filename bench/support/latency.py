"""Measures the time from the publication of an event until its subscriber receives it, at 50 events
a second.

There is one subscriber with timeout 0. Every 20 ms an event is posted over a kept-alive connection.
The latency is measured from just before the request is sent until the receiver has read the batch,
by CLOCK_MONOTONIC, which is the same in all processes. The baseline is the round trip of the same
body, posted directly to the receiver half way between two events.
"""

import statistics
import time

from support import rounds, servers

SECONDS = 15
WINDOWS = 3
RATE = 50
WARM_UP = 25  # events
PUBLISHER, SUBSCRIBER = "bench-publisher", "bench-subscriber"


def request(path, body, token=PUBLISHER):
    """The bytes of a POST."""
    head = (f"POST {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: {servers.basic(token)}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n")  # fmt: skip
    return (head + body).encode()


def post(connection, data):
    """Sends a request and waits for its response, which has no body; returns when it was sent."""
    sent = time.monotonic_ns()
    connection.sendall(data)
    answer = connection.recv(4096)
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(4096)
    if b" 200 " not in answer[:16] and b" 204 " not in answer[:16]:
        raise RuntimeError(f"not a success: {answer!r}")
    return sent


def at_pace(begun, n, half=0):
    """Sleeps until event `n` is due, or half an interval later."""
    time.sleep(max(0, begun + (n + half / 2) / RATE - time.monotonic()))


def publish(bus, receiver):
    """When each event was sent, how long its response took, and the round trip after it."""
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
    """Waits until this many have arrived."""
    deadline = time.monotonic() + 10
    while (come := receiver.call("GET", "/report")["events"]) < count:
        if time.monotonic() > deadline:
            raise RuntimeError(f"{count} events were sent, but {come} have come")
        time.sleep(0.05)


def latencies(receiver, sent):
    """How long each event took to reach its subscriber."""
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


def percentile(parts, share):
    """A percentile of the values."""
    return statistics.quantiles(sum(parts, []), n=100)[share - 1]


def subscribe(bus, receiver):
    """Creates tokens for both clients, and subscribes one of them."""
    for token in (PUBLISHER, SUBSCRIBER):
        servers.add_token(bus, token)
    subscription = {"topics": ["orders"], "callback": receiver.url + "/s", "timeout": 0, "max": 100}
    bus.call("POST", "/subscription", subscription, SUBSCRIBER)


class Latencies:
    """The result of a run, and the processor time that some processes took for it."""

    def __init__(self, bus, receiver, processes):
        before = [each.cpu_seconds() for each in processes]
        sent, answers, round_trips = publish(bus, receiver)
        after = [each.cpu_seconds() for each in processes]
        self.cpu_us = [(b - a) / len(sent) * 1e6 for a, b in zip(before, after)]
        self.took = windows(latencies(receiver, sent))
        self.answers = windows(answers)
        self.round_trips = windows(round_trips)

    def print_result(self, bench, **more):
        """Prints the result."""
        halves = rounds.Rounds()
        for window, baseline in zip(self.took, self.round_trips):
            halves.add(statistics.median(baseline), statistics.median(window))
        rounds.print_result(
            bench,
            "ms",
            halves,
            "POST to the receiver itself, p50",
            p50_ms=percentile(self.took, 50),
            p99_ms=percentile(self.took, 99),
            worst_ms=max(sum(self.took, [])),
            answer_p50_ms=percentile(self.answers, 50),
            answer_p99_ms=percentile(self.answers, 99),
            baseline_p99_ms=percentile(self.round_trips, 99),
            **more,
        )
