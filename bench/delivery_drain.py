"""Drains 200,000 queued events in batches of 100: for one subscriber, in order, and for 16."""

import pathlib
import sys

from support import delivery, rounds, servers

EVENTS = 200_000
ROUNDS = 9

build = pathlib.Path(sys.argv[1]).resolve()
with servers.receiver(build) as receiver:
    one, result = delivery.measure(build, receiver, ROUNDS, 1, EVENTS, 100, "events")
    many, report_16 = delivery.measure(build, receiver, ROUNDS, 16, EVENTS, 100, "events")
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
