"""``python -m warpalign`` runs the command line program and returns its exit status."""

import os
import pathlib
import shutil
import sys

# The shell's exit status for a command that is not found.
_NOT_FOUND = 127


def program() -> str | None:
    """The path of the program: the package's own, or else the first one on the search path."""
    shipped = pathlib.Path(__file__).parent / "bin" / "warpalign"
    if shipped.is_file():
        return str(shipped)
    return shutil.which("warpalign")


def main() -> int:
    path = program()
    if path is None:
        print("warpalign: this installation has no command line program, and there is none on the "
              "search path. Install the Debian package warpalign, or build a wheel with `pip wheel "
              ". -C cmake.define.WARPALIGN_BUILD_PROGRAM=ON`.", file=sys.stderr)
        return _NOT_FOUND
    sys.stdout.flush()
    os.execv(path, ["warpalign", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
