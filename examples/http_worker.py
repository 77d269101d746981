#!/usr/bin/env python3
"""A worker of jobs over HTTP, in plain Python: `http_worker.py URL QUEUE`.

ROUTEMASTER_ROOT_KEY contains the operator's token. If a handler raises, its job fails and is
retried later. A thread extends the lease of a running job, so a handler may run for any time.
"""

import base64
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request

BUS, QUEUE = sys.argv[1:3]
TOKEN = base64.b64encode((os.environ["ROUTEMASTER_ROOT_KEY"] + ":").encode()).decode()


def post(path, **fields):
    """Sends a request for the queue, and returns its response. Raises unless the status is 2xx."""
    request = urllib.request.Request(f"{BUS}/v1/queues/{QUEUE}/{path}", json.dumps(fields).encode(),
                                     {"Authorization": "Basic " + TOKEN})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or "null")


def resize(picture, size):
    print(f"resized {picture} to {size}", flush=True)


HANDLERS = {"resize": resize}


def extend(job, done):
    """Extends the lease of the job every 10 s, until `done` is set."""
    while not done.wait(10):
        try:
            post(f"jobs/{job['id']}/extend", lease=job["lease"])
        except OSError as error:
            print("cannot extend the lease:", error, file=sys.stderr)


def work(job):
    done = threading.Event()
    threading.Thread(target=extend, args=(job, done), daemon=True).start()
    try:
        HANDLERS[job["name"]](*job["arguments"])
        verdict, more = "ack", {}
    except Exception as error:
        verdict, more = "nack", {"error": repr(error)}
    done.set()
    try:
        post(f"jobs/{job['id']}/{verdict}", lease=job["lease"], **more)
    except urllib.error.HTTPError as error:
        if error.code != 409:  # 409: the lease is lost, and another worker runs the job.
            raise


while True:
    try:
        for leased in post("lease", worker=f"{os.uname().nodename}-{os.getpid()}",
                           wait=30_000)["jobs"]:
            work(leased)
    except OSError as error:  # The lease of a job then expires.
        print("cannot reach the bus:", error, file=sys.stderr)
        time.sleep(1)
