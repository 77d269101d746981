#!/usr/bin/env python3
"""A worker of jobs over HTTP, in plain Python: `http_worker.py URL QUEUE`.

The operator's token is in ROUTEMASTER_ROOT_KEY. A handler that raises fails its job, which runs
again later; a thread extends the lease meanwhile, so a handler may take as long as it likes.
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
    """The answer of the bus to a request about the queue; throws for all but 2xx."""
    request = urllib.request.Request(f"{BUS}/v1/queues/{QUEUE}/{path}", json.dumps(fields).encode(),
                                     {"Authorization": "Basic " + TOKEN})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or "null")


def resize(picture, size):
    print(f"resized {picture} to {size}", flush=True)


HANDLERS = {"resize": resize}


def extend(job, done):
    """Says each 10 s that the job is being done, until it is."""
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
        if error.code != 409:  # The lease is lost: the job runs again elsewhere.
            raise


while True:
    try:
        for leased in post("lease", worker=f"{os.uname().nodename}-{os.getpid()}",
                           wait=30_000)["jobs"]:
            work(leased)
    except OSError as error:  # The bus is away, or refuses; the lease of a job ends by itself.
        print("cannot reach the bus:", error, file=sys.stderr)
        time.sleep(1)
