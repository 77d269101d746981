"""How long it takes until a job runs elsewhere when the worker that runs it is killed with SIGKILL,
on Redis. The baseline is BullMQ on the same server.
"""

import contextlib
import pathlib
import signal
import subprocess
import sys
import time

from support import node, redis, rounds

ROUNDS = 3
NODE_ROUNDS = 1  # It looks for lost jobs every 30 s.


@contextlib.contextmanager
def worker(command):
    """A worker that is ready."""
    words = [str(word) for word in command]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGKILL)


def await_line(process, line):
    """Reads until the worker prints a line."""
    for said in process.stdout:
        if said.strip() == line:
            return
    raise RuntimeError(f"the worker ended without: {line}")


def recovery(server, command, push):
    """Seconds from the death of the worker that runs the job until the other runs it."""
    server.empty()
    with worker([*command, *push]) as victim:
        await_line(victim, "begun")
        with worker(command) as heir:
            await_line(heir, "ready")
            time.sleep(2)  # So that both look after their jobs as they do all day.
            victim.send_signal(signal.SIGKILL)
            begun = time.monotonic()
            await_line(heir, "begun")
            return time.monotonic() - begun


def main():
    """Runs the benchmark."""
    build = pathlib.Path(sys.argv[1]).resolve()
    folder = node.install(build)
    with redis.server(build) as server:
        store = [build / "bench/bench_job_worker", "--url", server.url]
        bullmq = node.command(folder, "bullmq_worker.mjs", server, 1)
        ours = [recovery(server, store, ["--push"]) for _ in range(ROUNDS)]
        theirs = [recovery(server, bullmq, ["--push", "1"]) for _ in range(NODE_ROUNDS)]
    measured = rounds.Rounds()
    for seconds in ours:
        measured.add(theirs[0], seconds)
    rounds.print_result("job_recovery", "s", measured, "BullMQ", worst_s=max(ours))


main()
