"""Programs of node/ with the packages that its package-lock.json names."""

import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).parent.parent / "node"


def install(build):
    """Puts the packages into a folder of the build, unless they are there, and the programs beside
    them; returns that folder."""
    folder = build / "bench/node"
    folder.mkdir(parents=True, exist_ok=True)
    lock = "package-lock.json"
    installed = folder / "node_modules" / "installed-lock.json"
    wanted = (SOURCE / lock).read_bytes()
    for file in SOURCE.iterdir():
        shutil.copy(file, folder)
    if not installed.exists() or installed.read_bytes() != wanted:
        # Packages come ready to run. BullMQ could also use a package `redis`, a newer one than the
        # one that rsmq brings, which npm would take for a contradiction.
        command = ["npm", "ci", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund"]
        subprocess.run(command, cwd=folder, stdout=sys.stderr, check=True)
        installed.write_bytes(wanted)
    return folder


def command(folder, program, redis, in_flight):
    """How to run one of the programs."""
    return ["node", folder / program, "--port", redis.port(), "--in-flight", str(in_flight)]
