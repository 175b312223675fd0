#!/usr/bin/env python3
"""Writes the table of docs/reference/image-files.md from the list that the tests use.

    docs/tools/image_kinds.py

Needs numpy, tifffile and Pillow. A test of the Python package checks that the table is up to date.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "image-files.md"

if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "python" / "tests" / "support"))
    from image_kinds import table

    text = PAGE.read_text()
    PAGE.write_text(re.sub(r"(<!-- kinds -->\n).*?(<!-- end -->)",
                           lambda found: found[1] + table() + found[2], text, flags=re.S))
