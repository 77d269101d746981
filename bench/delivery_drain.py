"""Delivers a backlog of events in batches of 100: 200,000 events to one subscriber, in order, and a
million events to 16 subscribers.

The last settlements wait up to 50 ms to share a commit. With only 200,000 events, this wait would
be a third of the time that 16 subscribers need.
"""

import pathlib
import sys

from support import delivery, rounds, servers

EVENTS, EVENTS_16 = 200_000, 1_000_000
ROUNDS = 9

build = pathlib.Path(sys.argv[1]).resolve()
with servers.receiver(build) as receiver:
    one, result = delivery.measure(build, receiver, ROUNDS, 1, EVENTS, 100, "events")
    many, report_16 = delivery.measure(build, receiver, ROUNDS, 16, EVENTS_16, 100, "events")
rounds.print_result(
    "delivery_drain",
    "events/s",
    one,
    "libcurl multi alone, same bodies, 1 in flight",
    cpu_us_per_op=result["cpu_us_per_op"],
    value_16=many.value(),
    baseline_value_16=many.baseline(),
    ratio_16=many.ratio(),
    min_16=min(many.values),
    max_16=max(many.values),
    cpu_us_per_op_16=report_16["cpu_us_per_op"],
    publish_per_second=result["publish_per_second"],
)
