"""Starts and stops the servers that benchmarks need, on free ports of the loopback interface."""

import base64
import contextlib
import glob
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request


class Process:
    """A running process."""

    def __init__(self, process):
        self.process = process

    def stop(self):
        """Stops it with SIGTERM, or after ten seconds by force."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def pids(self):
        """Its process and that process's children."""
        pid = self.process.pid
        pids = [pid]
        for children in glob.glob(f"/proc/{pid}/task/*/children"):
            pids += [int(child) for child in pathlib.Path(children).read_text().split()]
        return pids

    def cpu_seconds(self):
        """Processor time of all its threads, to the nanosecond."""
        total = 0
        for pid in self.pids():
            for schedstat in glob.glob(f"/proc/{pid}/task/*/schedstat"):
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    total += int(pathlib.Path(schedstat).read_text().split()[0])
        return total / 1e9

    def rss_mb(self):
        """Resident memory of all its processes."""
        total = 0
        for pid in self.pids():
            for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith("VmRSS:"):
                    total += int(line.split()[1])
        return total / 1024


class Server(Process):
    """A running process that serves at `url`, by HTTP unless stated otherwise."""

    def __init__(self, process, url):
        super().__init__(process)
        self.url = url
        self.address = tuple(url.split("://")[1].rsplit(":", 1))

    def connect(self):
        """A new connection to it."""
        host, port = self.address
        connection = socket.create_connection((host, int(port)))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def call(self, method, path, payload=None, token=None):
        """One request; returns the JSON response, or nothing when it is empty."""
        request = urllib.request.Request(self.url + path, method=method)
        body = b""
        if payload is not None:
            body = json.dumps(payload).encode()
            request.add_header("Content-Type", "application/json")
        if token is not None:
            request.add_header("Authorization", basic(token))
        with urllib.request.urlopen(request, body or None) as answer:
            text = answer.read()
        return json.loads(text) if text else None


def basic(token):
    """The `Authorization` header for a token."""
    return "Basic " + base64.b64encode(f"{token}:x".encode()).decode()


def start_announced(command):
    """Starts a server that prints its address on standard output."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    if "listening on " not in line:
        process.kill()
        process.wait()
        raise RuntimeError(f"{command[0]} did not start: it said {line!r}")
    return Server(process, line.split("listening on ")[1].strip())


@contextlib.contextmanager
def running(process):
    """Stops `process` at the end."""
    try:
        yield process
    finally:
        process.stop()


@contextlib.contextmanager
def folder(build):
    """A temporary folder on the disk of the build: an fsync there is a real one."""
    path = tempfile.mkdtemp(prefix="bench-", dir=build)
    try:
        yield pathlib.Path(path)
    finally:
        shutil.rmtree(path)


def receiver(build, *arguments, launcher=()):
    """A receiver of batches; see tools/receiver.cpp. `launcher`: a command to start it
    with, such as `elsewhere()`."""
    program = build / "bench/bench_receiver"
    return running(start_announced([*launcher, program, *arguments]))


def here():
    """The command to start what is measured where `elsewhere` is another machine: on all processors
    but one."""
    processors = sorted(os.sched_getaffinity(0))
    return ["taskset", "--cpu-list", ",".join(map(str, processors[:-1] or processors))]


def elsewhere():
    """The command to start what stands for another machine: on a processor of its own."""
    return ["taskset", "--cpu-list", str(max(os.sched_getaffinity(0)))]


ROOT_KEY = "bench-root-key"


def on(store):
    """The flags of every process of the service on the store of this URL."""
    return ["--store", store, "--allow-http-callbacks", "--log-level", "warn"]


LISTENING = ["--listen", "127.0.0.1:0", "--root-key", ROOT_KEY]


def bus(build, store):
    """The service on the store of this URL."""
    program = build / "services/routemaster/routemaster"
    return running(start_announced([program, "serve", *LISTENING, *on(store)]))


def web(build, store):
    """A routemaster-web process on the Redis server of this URL."""
    program = build / "services/web/routemaster-web"
    return running(start_announced([program, *LISTENING, *on(store)]))


def worker(build, store):
    """A routemaster-worker process on the Redis server of this URL."""
    program = build / "services/worker/routemaster-worker"
    return running(Process(subprocess.Popen([program, *on(store)])))


def add_token(server, token):
    """Creates a client's token on the bus."""
    server.call("POST", "/api_tokens", {"name": token, "token": token}, ROOT_KEY)


def free_port():
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


NGINX = """
daemon off;
worker_processes auto;
pid {folder}/nginx.pid;
error_log stderr error;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_requests 1000000000;
    server {{
        listen 127.0.0.1:{port};
        return 204;
    }}
}}
"""


@contextlib.contextmanager
def nginx(build):
    """nginx that responds to everything with 204."""
    with folder(build) as path:
        port = free_port()
        config = path / "nginx.conf"
        config.write_text(NGINX.format(folder=path, port=port))
        command = ["nginx", "-p", path, "-c", config, "-e", "stderr"]
        path_with_sbin = os.environ["PATH"] + ":/usr/sbin"
        process = subprocess.Popen(command, env={**os.environ, "PATH": path_with_sbin})
        server = Server(process, f"http://127.0.0.1:{port}")
        with running(server):
            await_connection(server)
            yield server


def await_connection(server):
    """Waits until the server accepts connections."""
    for _ in range(500):
        with contextlib.suppress(ConnectionRefusedError):
            server.connect().close()
            return
        if server.process.poll() is not None:
            break
        time.sleep(0.01)
    raise RuntimeError(f"nothing listens at {server.url}")
