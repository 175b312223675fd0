"""Runs of the command line program, as ``python -m warpalign`` starts it."""

import os
import signal
import subprocess
import sys
import time


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-P", "-m", "warpalign", *map(str, arguments)], text=True,
        env={**os.environ, **environment}, capture_output=True, check=False)


def kill_after_volumes(*arguments, journal):
    """Start the program, and kill it once its journal has some volumes, or after a minute."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "warpalign", *map(str, arguments)],
        env=os.environ, stdout=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        if journal.exists() and journal.read_bytes().count(b"\nvolume") > 3:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
