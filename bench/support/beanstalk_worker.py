"""A client of beanstalkd, which measures when jobs begin:

    beanstalk_worker.py --port P [--push]               prints "ready", and "begun" for a job
    beanstalk_worker.py --port P --count N --seconds N  measures how late delayed jobs begin

The first form reserves a job and keeps it until the program ends. The second form prints one JSON
line, in milliseconds. Jobs fall due at random times. The delay of a job in beanstalkd is a whole
number of seconds, and is therefore rounded up, so that no job is early.
"""

import argparse
import json
import math
import random
import socket
import time


class Client:
    """One connection, which waits for each reply."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.replies = self.socket.makefile("rb")

    def ask(self, command, expected):
        """Sends a command; returns the words of the reply."""
        self.socket.sendall(command)
        words = self.replies.readline().split()
        if not words or words[0] != expected:
            raise RuntimeError(f"{command!r} was answered {words}")
        return words

    def put(self, body, delay=0):
        """Puts a job, which a worker that has it must end within a minute."""
        self.ask(b"put 0 %d 60 %d\r\n%s\r\n" % (delay, len(body), body), b"INSERTED")

    def reserve(self):
        """Waits for a job; returns its id and its body."""
        _, job, size = self.ask(b"reserve\r\n", b"RESERVED")
        return job, self.replies.read(int(size) + 2)[:-2]

    def delete(self, job):
        """Ends a job."""
        self.ask(b"delete %s\r\n" % job, b"DELETED")


def keep_one(client, push):
    """Has a job until it is killed."""
    if push:
        client.put(b"job")
    print("ready", flush=True)
    client.reserve()
    print("begun", flush=True)
    time.sleep(3600)


def lateness(client, count, seconds):
    """Prints how late each job was."""
    start = time.time() + 1
    for _ in range(count):
        due = start + random.randrange(seconds * 1000) / 1000
        client.put(b"%.3f" % due, math.ceil(due - time.time()))
    late = []
    for _ in range(count):
        job, due = client.reserve()
        late.append((time.time() - float(due)) * 1000)
        client.delete(job)
    late.sort()
    fields = {"p50_ms": 0.5, "p99_ms": 0.99, "max_ms": 1}
    result = {name: late[int(share * (count - 1))] for name, share in fields.items()}
    print(json.dumps({"count": count, **result, "early": sum(ms < 0 for ms in late)}))


def main():
    """Does what the arguments say."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--push", action="store_true")
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=10)
    settings = parser.parse_args()
    client = Client(settings.port)
    if settings.count:
        lateness(client, settings.count, settings.seconds)
    else:
        keep_one(client, settings.push)


main()
