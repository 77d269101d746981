"""Measures how much later events reach healthy subscribers while other subscribers fail; see
tools/isolation.cpp.

Of 1,000 subscribers 100 fail. Half of these never respond, half respond with 500, and 10 of each
kind allow 1,000 deliveries under way and have a backlog of 1,000 events. In the baseline these 100
subscribers do not exist. In a second baseline they are healthy, and the bus publishes the same
events. `ratio_all_healthy` therefore shows the cost of the failures without the cost of the events.

The receivers represent other machines, and run on a separate processor. On shared processors, the
scheduler's placement of the receivers and of the threads of the bus changes even the p50 from run
to run.

The compared value is the p99 of the events of one second, in the median second of a run. Occasional
delays of a shared machine's disk change the p99 of a whole run (`p99_run_ms`) by more than the
measured effect.
"""

import json
import pathlib
import statistics
import subprocess
import sys

from support import rounds, servers

ROUNDS = 15
HEALTHY, SILENT, FAILING, GREEDY = 900, 50, 50, 10
ALL = HEALTHY + SILENT + FAILING
RATE = 1_000  # events a second for the healthy
SECONDS = 12
DELIVERY_TIMEOUT = 5  # seconds; so that some of each round are over


def run(build, receiver, broken, *flags):
    """Runs the program with these subscribers; returns its report."""
    with servers.folder(build) as folder:
        command = [*servers.here(), build / "bench/bench_isolation", "--file", folder / "bus.db"]
        command += ["--receiver", receiver.url, "--others", broken.url, "--seconds", SECONDS]
        command += ["--delivery-timeout", DELIVERY_TIMEOUT, *flags]
        words = [str(word) for word in command]
        result = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(result)


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    forms = {
        "alone": ["--healthy", HEALTHY, "--rate", RATE],
        "all healthy": ["--healthy", ALL, "--rate", RATE * ALL / HEALTHY],
        "beside": ["--healthy", HEALTHY, "--rate", RATE, "--silent", SILENT, "--failing", FAILING]
        + ["--greedy", GREEDY],
    }
    runs = {form: [] for form in forms}
    measured, failures = rounds.Rounds(), rounds.Rounds()
    healthy = servers.receiver(build, launcher=servers.elsewhere())
    # The receiver of failing subscribers must not take processor time from the healthy receiver.
    others = servers.receiver(build, launcher=[*servers.elsewhere(), "chrt", "--idle", "0"])
    with healthy as receiver, others as broken:
        for number in range(ROUNDS):
            # The forms rotate, because each run changes the state of disk and memory for the next.
            first = number % len(forms)
            for form in [*forms, *forms][first : first + len(forms)]:
                runs[form].append(run(build, receiver, broken, *forms[form]))
            last = {form: runs[form][-1]["p99_second_ms"] for form in forms}
            measured.add(last["alone"], last["beside"])
            failures.add(last["all healthy"], last["beside"])

    def median(form, field):
        return statistics.median(each[field] for each in runs[form])

    rounds.print_result(
        "isolation",
        "ms",
        measured,
        "p99 of the same without the others",
        all_healthy_value=failures.baseline(),
        ratio_all_healthy=failures.ratio(),
        p99_run_ms=median("beside", "p99_ms"),
        baseline_p99_run_ms=median("alone", "p99_ms"),
        all_healthy_p99_run_ms=median("all healthy", "p99_ms"),
        p50_ms=median("beside", "p50_ms"),
        baseline_p50_ms=median("alone", "p50_ms"),
        worst_ms=median("beside", "worst_ms"),
        baseline_worst_ms=median("alone", "worst_ms"),
        cpu_us_per_op=median("beside", "cpu_seconds") / median("beside", "events") * 1e6,
        baseline_cpu_us_per_op=median("alone", "cpu_seconds") / median("alone", "events") * 1e6,
        in_flight=median("beside", "in_flight"),
    )


main()
