"""Compares random calls of warpalign.ndimage with SciPy: how many differ, and why.

``random_calls.py --calls 100000 [--seed N] [--orders ...] [--modes ...] [--precision double]``
prints the seed, the number of calls for each reason, and every call that differs for an unknown
reason; it fails if there is one. Needs warpalign and SciPy. python/tests/test_ndimage_random.py
runs a few hundred calls.
"""

import pathlib
import runpy
import sys

support = pathlib.Path(__file__).parent.parent / "python" / "tests" / "support"
if __name__ == "__main__":
    sys.argv[0] = str(support / "random_calls.py")
    runpy.run_path(sys.argv[0], run_name="__main__")
