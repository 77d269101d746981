"""Measures the time until the job of a killed worker runs again in another worker.

A worker is a program that prints "ready" when it works, and "begun" when a job begins. The job
never ends. With an option, the worker first pushes this job.
"""

import contextlib
import signal
import subprocess
import time


@contextlib.contextmanager
def worker(command):
    """A worker, which is killed in the end."""
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


def elsewhere(command, push):
    """Seconds from the death of the worker that runs the job until another runs it."""
    with worker([*command, *push]) as victim:
        await_line(victim, "begun")
        with worker(command) as heir:
            await_line(heir, "ready")
            time.sleep(2)  # So that both look after their jobs as they do all day.
            victim.send_signal(signal.SIGKILL)
            begun = time.monotonic()
            await_line(heir, "begun")
            return time.monotonic() - begun


def restarted(command, push):
    """Seconds from the death of the worker that runs the job until it runs in the next process,
    which is started at once."""
    with worker([*command, *push]) as victim:
        await_line(victim, "begun")
        victim.send_signal(signal.SIGKILL)
        begun = time.monotonic()
        victim.wait()
    with worker(command) as heir:
        await_line(heir, "begun")
        return time.monotonic() - begun
