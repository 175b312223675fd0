"""Makes pictures of the program's output in a terminal, for pages on the site and elsewhere.

    python docs/tools/stills.py --prefix INSTALLED            checks that the pictures are current
    python docs/tools/stills.py --prefix INSTALLED --write    writes them to docs/stills/

The program runs as if it were installed in /opt/warpalign, for a user with an empty home folder:
both are mounted for the program only, which needs Linux's `unshare`. The comparison ignores
differences between machines and runs: numbers, devices and installed packages.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import terminal

ROOT = Path(__file__).resolve().parents[2]
STILLS = {
    "register": "warpalign register reference.jpg moving.jpg --overlay overlay.png",
    "devices": "warpalign devices",
    "doctor": "warpalign doctor",
}
# Sections that only list the devices and drivers of this machine.
OF_MACHINE = ("OpenCL drivers", "notes", "problems", "cuda")
STATUS = re.compile(r"(ok|note|PROBLEM) +")
MOUNTED = """
set -e
mount -t tmpfs none /opt && mkdir /opt/warpalign && mount --bind "$1" /opt/warpalign
mount -t tmpfs none /home && mkdir -p /home/user/pictures /home/user/.cache
mount --bind "$4" /home/user/.cache
cp "$2"/docs/demo/*.jpg /home/user/pictures
cd /home/user/pictures
exec env -i HOME=/home/user TERM=xterm LANG=C.UTF-8 PATH=/opt/warpalign/bin:/usr/bin:/bin \\
  bash -c "$3"
"""


def obstacle():
    """Why programs cannot have their own mounts on this machine; empty if they can."""
    tried = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/opt"],
                           capture_output=True, text=True)
    return tried.stderr.strip() if tried.returncode else ""


def shown(command, prefix, cache):
    """The screen after the second run of a command, which compiles no kernels."""
    call = ["unshare", "-rm", "bash", "-c", MOUNTED, "still", str(prefix), str(ROOT), command,
            str(cache)]
    for _ in range(2):
        status, written = terminal.run(call)
        if status:
            raise SystemExit(f"stills: {command} ended with {status}:\n{written}")
    return terminal.screen(written)


def skeleton(lines):
    """The text of a screen that is the same on every machine: headings and labels."""
    texts, section = [], ""
    for line in lines:
        text = line.strip()
        if text and not line.startswith(" "):
            section = re.split(r"[:,(]| opencl| cuda", text)[0].strip()
            texts.append("" if section.startswith(OF_MACHINE) else section)
        elif section.startswith(OF_MACHINE):
            continue
        elif section == "opencl":  # a list of devices, with labels in its sentences
            texts += re.findall(r"([A-Za-z]+): ", text)
        elif text and len(line) - len(text) < 15:  # not the continuation of a sentence or a name
            texts.append(re.split(r"  |[:,\[]", STATUS.sub("", text))[0].strip())
    return [re.sub(r"\d[\d.]*", "#", text) for text in texts if text]


def differences(committed, now):
    """The differences between a picture and the program's output."""
    for text in sorted(set(skeleton(committed)) - set(skeleton(now))):
        yield f"the picture has '{text}', but the program does not print it"
    for text in sorted(set(skeleton(now)) - set(skeleton(committed))):
        yield f"the program prints '{text}', which the picture lacks"


def check(prefix, cache):
    """Compare all pictures; returns (problems, the reason if nothing could be compared)."""
    if why := obstacle():
        return [], why
    problems = []
    for name, command in STILLS.items():
        lines = ["".join(c for c, _ in line) for line in shown(command, prefix, cache)]
        path = ROOT / f"docs/stills/{name}.svg"
        committed = terminal.lines_of(path.read_text())
        problems += [f"{path.relative_to(ROOT)}: {text}; docs/tools/stills.py --write renews it"
                     for text in differences(committed, lines)]
    return problems, ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefix", type=Path, required=True, help="an installed warpalign")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    prefix = options.prefix.resolve()
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(os.environ.get("XDG_CACHE_HOME", folder)).resolve()
        cache.mkdir(parents=True, exist_ok=True)
        if options.write:
            (ROOT / "docs/stills").mkdir(exist_ok=True)
            for name, command in STILLS.items():
                picture = terminal.svg(command, shown(command, prefix, cache))
                (ROOT / f"docs/stills/{name}.svg").write_text(picture)
            return 0
        problems, why = check(prefix, cache)
    if why:
        print(f"stills: nothing compared: {why}")
    for problem in problems:
        print(f"stills: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
