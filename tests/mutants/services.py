"""Builds the programs of the service with a planted bug, for the integration tests to detect.

The release build supplies the programs and the tests. For a mutant, a copy of one source, with the
bug, is compiled again with the command of the build, together with the other sources of its unity
build unit. The three programs are linked with the result into a folder. Then the tests that the
mutant names run on the programs of this folder (see tests/support/programs.hpp).
"""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
PARTS = "services/components/libroutemaster_parts.a"
PROGRAMS = {
    "routemaster": "services/routemaster/routemaster",
    "routemaster-web": "services/web/routemaster-web",
    "routemaster-worker": "services/worker/routemaster-worker",
}
SECONDS_MAX = 120  # For the tests of one mutant.
ALL_SECONDS_MAX = 900  # For those of all of them.


def shell(command):
    """(whether it went well, what it complains of)"""
    done = subprocess.run(command, shell=True, cwd=BUILD, capture_output=True, text=True)
    return done.returncode == 0, done.stderr


def command_for(target):
    """How the build makes a file; but warnings are no errors: a bug may leave something unused."""
    done = subprocess.run(["ninja", "-t", "commands", "-s", target], cwd=BUILD, check=True,
                          capture_output=True, text=True)
    return done.stdout.strip().replace(" -Werror", "")


def build_all():
    """Builds the programs and the tests as they are. Returns a complaint, or None."""
    done = subprocess.run([ROOT / "scripts/lib/build", "release", *PROGRAMS, "failing_disk",
                           "integration_tests"], capture_output=True, text=True)
    return None if done.returncode == 0 else done.stdout + done.stderr


def unit_of(source, target):
    """What the build compiles a source as, alone or among others, and the object it makes."""
    folder, name = source.rsplit("/", 1)
    objects = f"{folder}/CMakeFiles/{target}.dir"
    for unit in sorted((BUILD / objects / "Unity").glob("unity_*_cxx.cxx")):
        if f'"{ROOT / source}"' in unit.read_text(encoding="utf-8"):
            return unit, f"{objects}/Unity/{unit.name}.o"
    return ROOT / source, f"{objects}/{name}.o"


class Programs:
    """A folder of programs, of which one source may be another."""

    def __init__(self, folder):
        self.folder = folder / "programs"
        self.folder.mkdir()

    def build(self, source, copy):
        """Compiles `copy` in place of `source`, and links. Returns a complaint, or None."""
        folder = source.rsplit("/", 1)[0]
        if not folder.startswith("services/"):
            return f"{source} is not in services/: only what is there can be planted here"
        target = {"components": "routemaster_parts", "routemaster": "routemaster",
                  "web": "routemaster-web", "worker": "routemaster-worker"}[folder.split("/")[1]]
        unit, built = unit_of(source, target)
        mutant, planted = self.folder / "mutant.o", copy
        if unit != ROOT / source:
            planted = self.folder / "mutant.cxx"
            text = unit.read_text(encoding="utf-8")
            planted.write_text(text.replace(str(ROOT / source), str(copy)), encoding="utf-8")
        command = command_for(built).replace(str(unit), str(planted))
        command = re.sub(r"-MD -MT \S+ -MF \S+", f"-iquote {ROOT / folder}", command)
        # The last of contradictory flags counts. Without optimization, compiling is twice as fast.
        good, complaint = shell(command.replace(f"-o {built}", f"-O0 -g0 -o {mutant}"))
        if not good:
            return complaint
        for name, program in PROGRAMS.items():
            # The mutant comes before the library, so the linker ignores the library's copy.
            link = command_for(program).replace(built, str(mutant))
            if target == "routemaster_parts":
                link = link.replace(PARTS, f"{mutant} {PARTS}")
            good, complaint = shell(link.replace(f"-o {program}", f"-o {self.folder / name}"))
            if not good:
                return complaint
        return None

    def killers(self, tests, built=False):
        """The names of the cases among `tests` that fail on these programs, or on those of the
        build; how else the run ends badly, if it does; empty: all is well."""
        environment = dict(os.environ)
        limit = ALL_SECONDS_MAX if built else SECONDS_MAX
        if not built:
            environment["ROUTEMASTER_PROGRAMS"] = str(self.folder)
        try:
            done = subprocess.run([BUILD / "tests/integration_tests", f"-tc={tests}"],
                                  capture_output=True, text=True, errors="replace",
                                  timeout=limit, env=environment)
        except subprocess.TimeoutExpired:
            return [f"(did not end within {limit} s)"]
        if "test cases: 0 |" in re.sub(r" +", " ", done.stdout):
            return [] if not built else ["(there is no such test)"]
        names = re.findall(r"^TEST CASE:  (.*)$", done.stdout, re.MULTILINE)
        if done.returncode != 0 and not names:
            return [f"(exit status {done.returncode})"]
        return list(dict.fromkeys(names))
