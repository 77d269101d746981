"""Delivers a backlog of 80,000 events to 16 subscribers, in batches of one event."""

import pathlib
import sys

from support import delivery, rounds, servers

EVENTS = 80_000
ROUNDS = 3

build = pathlib.Path(sys.argv[1]).resolve()
with servers.receiver(build) as receiver:
    singles, result = delivery.measure(build, receiver, ROUNDS, 16, EVENTS, 1, "deliveries")
rounds.print_result(
    "delivery_singles",
    "deliveries/s",
    singles,
    "libcurl multi alone, same bodies, 16 in flight",
    cpu_us_per_op=result["cpu_us_per_op"],
    publish_per_second=result["publish_per_second"],
)
