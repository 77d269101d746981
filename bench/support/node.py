"""Programs of node/ with the packages that its package-lock.json names."""

import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).parent.parent / "node"


def install(build):
    """Installs the packages into a folder of the build, unless they are there, and copies the
    programs beside them; returns that folder."""
    folder = build / "bench/node"
    folder.mkdir(parents=True, exist_ok=True)
    lock = "package-lock.json"
    installed = folder / "node_modules" / "installed-lock.json"
    wanted = (SOURCE / lock).read_bytes()
    for file in SOURCE.iterdir():
        shutil.copy(file, folder)
    if not installed.exists() or installed.read_bytes() != wanted:
        # The packages need no build. BullMQ has an optional peer package `redis`, in a newer
        # version than the one that rsmq depends on. Without this flag npm reports a conflict.
        command = ["npm", "ci", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund"]
        subprocess.run(command, cwd=folder, stdout=sys.stderr, check=True)
        installed.write_bytes(wanted)
    return folder


def command(folder, program, redis, in_flight):
    """The command that runs one of the programs."""
    return ["node", folder / program, "--port", redis.port(), "--in-flight", str(in_flight)]
