"""Runs the shell blocks of the pages, line by line.

A line runs if it calls warpalign, a compiler, or a program built on the page. If it would take
minutes or names a device that this machine lacks, its options are compared with the program's help.
Of other lines, which install or build the project, only the files that they name must exist.
"""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

PROGRAM = re.compile(r"^(?:build/bin/)?warpalign$")
LONG = {"bench", "warm-up"}  # minutes on a CPU
FILE = re.compile(r"^(?:script|benchmarks|tests|tools|docs|examples)/[\w./-]+$")
BUILDS = re.compile(r"^cmake (-B build|--build build$)")


class Shell:
    """The folder in which the lines of one page run."""

    def __init__(self, folder, prefix, repository):
        self.folder, self.repository = folder, repository
        # "lib", or Debian's folder for the architecture.
        self.libraries = next(prefix.glob("lib/**/libwarpalign.so")).parent
        self.exports = []
        home = folder / "home"
        home.mkdir()
        (home / "warpalign").symlink_to(prefix)
        self.environment = {
            **os.environ, "HOME": str(home), "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}",
            "COLUMNS": "100", "NO_COLOR": "1",
        }
        self._devices = None

    def run(self, line):
        line = line.replace("build/bin/warpalign", "warpalign")
        script = "\n".join([*self.exports, line]).replace(
            "$HOME/warpalign/lib", str(self.libraries))
        return subprocess.run(["bash", "-c", script], cwd=self.folder, env=self.environment,
                              capture_output=True, text=True)

    def has_device(self, name):
        if self._devices is None:
            listed = json.loads(self.run("warpalign devices --json").stdout)
            self._devices = [
                {backend["backend"] if "backend" in backend else backend["name"], device["id"],
                 device["name"].lower(), device["platform"].lower()}
                for backend in listed["backends"] for device in backend.get("devices", [])]
        backend, _, part = name.lower().partition(":")
        return any(name in known or backend in known and part and not part.isdigit()
                   and any(part in text for text in known) for known in self._devices)


def _words(line):
    words = shlex.split(line, comments=True)
    while words and re.match(r"^\w+=", words[0]):
        words.pop(0)
    return words


def _devices_of(line, words):
    for option, value in zip(words, words[1:]):
        if option in ("--device", "--devices"):
            yield from value.split(",")
    if found := re.search(r"WARPALIGN_DEVICE=(\S+)", line):
        yield found[1]


def _unknown_options(shell, words):
    """The options of a line that the help of its command lacks."""
    command = words[1:3] if words[1] in ("experiment", "transform") else words[1:2]
    text = shell.run(shlex.join(["warpalign", *command, "--help"])).stdout
    return [word for word in words if word.startswith("--")
            and not re.search(re.escape(word.split("=")[0]) + r"(?![\w-])", text)]


def _check_program(shell, line, words):
    absent = [name for name in _devices_of(line, words)
              if name != "all" and not shell.has_device(name)]
    if unknown := _unknown_options(shell, words):
        return "", f"the command has no {', '.join(unknown)}", ""
    if len(words) > 1 and (words[1] in LONG or absent):
        return "options checked", "", ""
    done = shell.run(line)
    wrong = f"exit status {done.returncode}: {done.stderr}" if done.returncode else ""
    return "run", wrong, done.stdout


def _check_line(shell, line):
    """Check one line; returns (action, problem, output)."""
    words = _words(line)
    if not words:
        return "", "", ""
    if words[0] == "export":
        shell.exports.append(line)
        return "run", "", ""
    if PROGRAM.match(words[0]):
        return _check_program(shell, line, words)
    own = words[0].startswith(("./", "build/")) and (shell.folder / words[0]).exists()
    builds = BUILDS.match(line) and (shell.folder / "CMakeLists.txt").exists()
    if words[0] in ("cc", "c++") or own or builds:
        done = shell.run(line)
        return "run", f"{done.stdout}{done.stderr}" if done.returncode else "", done.stdout
    missing = [word for word in words
               if FILE.match(word) and not (shell.repository / word).exists()]
    return "looked at", f"there is no {missing[0]}" if missing else "", ""


def check(block, shell):
    """Check a block; returns (action for each line, problems, output)."""
    kinds, wrong, printed = [], [], ""
    for line in re.sub(r"\\\n\s*", " ", block.text).split("\n"):
        if re.match(r"\s*#|\s*$", line):
            continue
        kind, problem, output = _check_line(shell, line)
        kinds.append(kind)
        printed += output
        if problem:
            wrong.append(f"{line}\n    {problem}")
    return kinds, wrong, printed
