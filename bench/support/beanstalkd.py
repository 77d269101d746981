"""A beanstalkd server for one benchmark, and its client."""

import contextlib
import subprocess

from support import embedded, servers

# beanstalkd is fastest with one to four connections, in memory and synced. With 64 connections it
# takes 1.5 times as long.
CONNECTIONS = 4


@contextlib.contextmanager
def server(build, synced=False):
    """A fresh server, in memory or with a log that is synced at each write."""
    with servers.folder(build) as folder:
        port = servers.free_port()
        command = ["beanstalkd", "-l", "127.0.0.1", "-p", str(port)]
        if synced:
            command += ["-b", folder, "-f", "0"]
        process = subprocess.Popen(command)
        with servers.running(servers.Server(process, f"tcp://127.0.0.1:{port}")) as running:
            servers.await_connection(running)
            yield running


class Run(embedded.Run):
    """The client's result, and the server's processor time for each job."""

    def __init__(self, result, server_cpu_seconds):
        super().__init__(result)
        self.server_cpu_us = server_cpu_seconds / result["count"] * 1e6


def cycle(build, synced, in_flight, count, warm_up):
    """Runs the jobs on a fresh server."""
    with server(build, synced) as running:
        before = running.cpu_seconds()
        result = embedded.result_of(build, "bench_beanstalk_cycle", "--port", running.address[1],
                                    "--in-flight", in_flight, "--connections", CONNECTIONS,
                                    "--count", count, "--warm-up", warm_up)  # fmt: skip
        share = count / (count + warm_up)
        return Run(result, (running.cpu_seconds() - before) * share)
