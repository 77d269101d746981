"""A Redis server for one benchmark, without persistence, and its clients."""

import contextlib
import json
import resource
import statistics
import subprocess
import time

from support import rounds, servers


def answer(stream):
    """Reads one reply of the protocol."""
    line = stream.readline()
    kind, text = line[:1], line[1:-2]
    if kind == b"-":
        raise RuntimeError(text.decode())
    if kind == b"+":
        return text.decode()
    number = int(text)
    if kind == b":":
        return number
    if number < 0:
        return None
    if kind == b"*":
        return [answer(stream) for _ in range(number)]
    return stream.read(number + 2)[:-2]


class Redis(servers.Server):
    """A running server."""

    def command(self, *words):
        """Sends one command over a new connection and returns the reply."""
        encoded = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        data = b"*%d\r\n" % len(encoded)
        data += b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded)
        with self.connect() as connection, connection.makefile("rb") as stream:
            connection.sendall(data)
            return answer(stream)

    def port(self):
        """Its address."""
        return self.address[1]

    def empty(self):
        """Removes all keys; the scripts stay."""
        self.command("FLUSHALL", "SYNC")

    def info(self, field):
        """A number from INFO."""
        lines = self.command("INFO").decode().splitlines()
        return next(int(line[len(field) + 1 :]) for line in lines if line.startswith(field + ":"))

    def used_memory(self):
        """Bytes allocated, once all clients have disconnected."""
        deadline = time.monotonic() + 10
        while self.info("connected_clients") > 1:
            if time.monotonic() > deadline:
                raise RuntimeError("somebody is still connected")
            time.sleep(0.01)
        return self.info("used_memory")


@contextlib.contextmanager
def server(build):
    """A fresh server."""
    with servers.folder(build) as folder:
        port = servers.free_port()
        command = ["redis-server", "--save", "", "--bind", "127.0.0.1", "--port", str(port),
                   "--dir", folder, "--loglevel", "warning"]  # fmt: skip
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        with servers.running(Redis(process, f"redis://127.0.0.1:{port}")) as redis:
            servers.await_connection(redis)
            yield redis


class Run:
    """A program's result: operations a second, and microseconds of processor time for each, of the
    program and of the server."""

    def __init__(self, result, redis_cpu_seconds):
        self.result = result
        self.rate = result["count"] / result["seconds"]
        self.cpu_us = result["cpu_seconds"] / result["count"] * 1e6
        operations = result["count"] + result.get("warm_up", 0)
        self.redis_cpu_us = redis_cpu_seconds / operations * 1e6


def run(redis, command, count, warm_up=0):
    """Runs a program that performs operations on the server and prints a line of JSON about
    `count` of them."""
    sizes = ["--count", str(count), "--warm-up", str(warm_up)]
    before = redis.cpu_seconds()
    said = subprocess.run([*command, *sizes], stdout=subprocess.PIPE, text=True, check=True).stdout
    redis_cpu_seconds = redis.cpu_seconds() - before
    return Run({**json.loads(said), "warm_up": warm_up}, redis_cpu_seconds)


def words(server, build, step):
    """The command by which the store performs a step, whose script it loads into the server; see
    tools/redis_words.cpp."""
    result = subprocess.run([build / "bench/bench_redis_words", step],
                            stdout=subprocess.PIPE, check=True).stdout  # fmt: skip
    script, *command = (word.encode("latin-1") for word in json.loads(result))
    server.command("SCRIPT", "LOAD", script)
    return command


def repeat(redis, command, count):
    """Runs redis-benchmark with a command: 50 connections, 16 commands in each write; `count` must
    be a multiple of 16. It draws the same random numbers each time."""
    shape = ["redis-benchmark", "-p", redis.port(), "-c", "50", "-P", "16", "-r", str(2**31 - 1),
             "--csv", "-n", str(count)]  # fmt: skip
    redis_before, before = redis.cpu_seconds(), resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run([*shape, *command], stdout=subprocess.PIPE, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    redis_cpu_seconds = redis.cpu_seconds() - redis_before
    cpu_seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    # The last line has the command, the operations per second, and six latencies.
    rate = float(said.splitlines()[-1].rsplit(b'","', 7)[1])
    result = {"count": count, "seconds": count / rate, "cpu_seconds": cpu_seconds}
    return Run(result, redis_cpu_seconds)


def middle(runs, field):
    """The median of one field."""
    return statistics.median(getattr(run, field) for run in runs)


def processor_times(runs, prefix="", suffix=""):
    """The fields with the cost of an operation."""
    return {
        f"{prefix}cpu_us_per_op{suffix}": middle(runs, "cpu_us"),
        f"{prefix}redis_cpu_us_per_op{suffix}": middle(runs, "redis_cpu_us"),
    }


def compared(baselines, runs):
    """The rates of both, round by round."""
    measured = rounds.Rounds()
    for baseline, run in zip(baselines, runs):
        measured.add(baseline.rate, run.rate)
    return measured
