"""Runs of the command line program, as ``python -m warpalign`` starts it."""

import os
import subprocess
import sys


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-P", "-m", "warpalign", *map(str, arguments)], text=True,
        env={**os.environ, **environment}, capture_output=True, check=False)
