"""Registers random cuts of photographs: how many are accepted wrongly, or raise.

``random_registrations.py --calls 800 [--seed N] [--device NAME]`` prints the seed, the counts, and
each case that was accepted wrongly or raised; it fails if there is one. Needs warpalign, SciPy and
Pillow. python/tests/test_registration_random.py runs some cases.
"""

import pathlib
import runpy
import sys

support = pathlib.Path(__file__).parent.parent / "python" / "tests" / "support"
if __name__ == "__main__":
    sys.argv[0] = str(support / "random_registrations.py")
    runpy.run_path(sys.argv[0], run_name="__main__")
