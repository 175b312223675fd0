"""Run the interpolation tests of the installed SciPy on warpalign, and write a table of outcomes.

Tests that fail as they are written run again with comparisons at a tolerance for single precision.
What still fails must be in EXPECTED with its reason, and fails the run otherwise. With
precision="double", all tests must pass as they are written, except those in EXPECTED_IN_DOUBLE.
"""

import argparse
import collections
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

import numpy
import scipy

import warpalign

MODULE = "scipy.ndimage.tests.test_interpolation"

# Prefilter and evaluation are within 4e-7 of the largest coefficient, which is up to 5 times the
# largest sample for the degrees and the images of these tests.
TOLERANCE = 2e-6

AS_WRITTEN, SINGLE, FAILED, SKIPPED = "as written", "single", "failed", "skipped"

EXPECTED = {
    r"TestBoundaries::test_boundary_spline_accuracy\[numpy-([1-5]-grid-wrap|[2-5]-grid-constant)\]":
        "reads at coordinates up to 47 beside a jump at the edge, whose slope of 6 or 12 a sample "
        "multiplies their rounding to single precision",
    r"TestZoom::test_zoom1\[numpy-[345]\]":
        "asserts that no value exceeds the image's range by 1e-12 itself; by 2e-6 of it, in "
        "single precision",
}

EXPECTED_IN_DOUBLE = {}

# The section of the page about calls that these tests do not make.
DIFFERENCES = """
## Intended differences

| call | SciPy 1.17.1 | warpalign |
| --- | --- | --- |
| order 0, 64-bit integers | converts samples to float64, which changes labels above 2^53 | copies \
samples |
| `zoom` with the modes `constant` and `wrap` | may round the last coordinate up, and then returns \
`cval` or the first row there | returns the last row |
| `reflect`, axes shorter than a dozen samples, orders 2 to 5 | the filter is inexact, by 0.016 of \
the range at length 2 and order 5 | accurate to 2e-7 in single precision, 4e-15 in double |
| `zoom` of complex images with `grid_mode` | ignores `grid_mode` | as for real images |
| infinite coordinates | undefined: the conversion to an integer overflows | `cval`; the edge with \
`nearest` |
| infinite `cval`, `grid-constant`, orders 3 and 5, at a sample | infinity: the last neighbour's \
weight is rounded to 6e-17 | NaN: the weight is 0 |

All other differences are rounding errors. Orders above 0 compute in single precision, unless
`precision="double"`. For integers above 2^24 they compute in double precision, as SciPy does, and a
result may be rounded to the other side of a half.

`python/tests/test_ndimage_random.py` compares a few hundred random calls with SciPy (order, mode,
type, shape, transform, points half-way between samples, NaN), and
`benchmarks/random_calls.py --calls 100000` any number of them, also with `--precision double`. Both
fail if a call differs for a reason that is not listed here.
"""


def run_pytest(arguments, environment):
    """Run pytest, and return the outcome of each test."""
    with tempfile.TemporaryDirectory() as folder:
        outcomes = pathlib.Path(folder) / "outcomes.json"
        subprocess.run(
            [sys.executable, "-P", "-m", "pytest", "-p", "plugin", "-p", "no:cacheprovider", "-q",
             "--tb=no", "-W", "ignore", "--no-header", "--no-summary", *arguments],
            env={**os.environ, **environment, "WARPALIGN_OUTCOMES": str(outcomes),
                 "PYTHONPATH": str(pathlib.Path(__file__).parent)},
            cwd=folder, check=False)
        return json.loads(outcomes.read_text(encoding="utf-8"))


def all_outcomes():
    first = run_pytest(["--pyargs", MODULE], {})
    names = {"passed": AS_WRITTEN, "skipped": SKIPPED, "failed": FAILED}
    outcomes = {name: names[outcome] for name, outcome in first.items()}
    failed = {name for name, outcome in outcomes.items() if outcome == FAILED}
    if failed:
        functions = sorted({re.sub(r".*::|\[.*", "", name) for name in failed})
        again = run_pytest(
            ["--pyargs", MODULE, "-k", " or ".join(functions)],
            {"WARPALIGN_TOLERANCE": str(TOLERANCE)})
        for name in failed:
            if again.get(name) == "passed":
                outcomes[name] = SINGLE
    return outcomes


def outcomes_in_double():
    if not warpalign.open_device().info.double_precision:
        return {}
    outcomes = run_pytest(["--pyargs", MODULE], {"WARPALIGN_PRECISION": "double"})
    names = {"passed": AS_WRITTEN, "skipped": SKIPPED, "failed": FAILED}
    return {name: names[outcome] for name, outcome in outcomes.items()}


def reason_for(name, expected=EXPECTED):
    for pattern, reason in expected.items():
        if re.fullmatch(pattern, name):
            return reason
    return None


def table_of(outcomes, in_double):
    count = collections.Counter(outcomes.values())
    double = collections.Counter(in_double.values())
    device = warpalign.open_device().info
    lines = [
        "# SciPy's interpolation tests on warpalign",
        "",
        f"The tests of `{MODULE}`, as SciPy {scipy.__version__} installs them, with the eight",
        "functions replaced by `warpalign.ndimage.patch()`. `script/python-test --write-table`",
        "runs them and writes this page. Here it ran with",
        f"Python {platform.python_version()} and NumPy {numpy.__version__} on {device.platform} "
        f"({device.name}).",
        "",
        '| outcome | tests | with `precision="double"` |',
        "| --- | --- | --- |",
        f"| passed as written | {count[AS_WRITTEN]} | {double[AS_WRITTEN]} |",
        f"| passed with comparisons at {TOLERANCE:g} of the largest value (single precision) "
        f"| {count[SINGLE]} | |",
        f"| did not pass | {count[FAILED]} | {double[FAILED]} |",
        f"| skipped by SciPy | {count[SKIPPED]} | {double[SKIPPED]} |",
        f"| all | {len(outcomes)} | {len(in_double)} |",
        "",
        "Tests that do not pass as written in single precision, by function. No difference is one",
        "of behaviour.",
        "",
        "| function | as written | single precision | did not pass | why |",
        "| --- | --- | --- | --- | --- |",
    ]
    functions = collections.defaultdict(collections.Counter)
    reasons = collections.defaultdict(set)
    for name, outcome in outcomes.items():
        function = name.split("[")[0]
        functions[function][outcome] += 1
        if outcome == FAILED:
            reasons[function].add(reason_for(name) or "not known")
    for function, counts in sorted(functions.items()):
        if not counts[SINGLE] and not counts[FAILED]:
            continue
        why = ["compares more closely than single precision"] if counts[SINGLE] else []
        why += sorted(reasons[function])
        lines.append(f"| `{function.replace('::', '.')}` | {counts[AS_WRITTEN]} | {counts[SINGLE]} "
                     f"| {counts[FAILED]} | {'; '.join(why)} |")
    for name, outcome in sorted(in_double.items()):
        if outcome == FAILED:
            why = reason_for(name, EXPECTED_IN_DOUBLE) or "not known"
            lines.append(f"| `{name.replace('::', '.')}`, double | | | 1 | {why} |")
    return "\n".join(lines) + "\n" + DIFFERENCES


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--table", type=pathlib.Path, required=True)
    table = parser.parse_args().table
    outcomes, in_double = all_outcomes(), outcomes_in_double()
    table.write_text(table_of(outcomes, in_double), encoding="utf-8")
    print(f"SciPy {scipy.__version__}: {dict(collections.Counter(outcomes.values()))}; in double: "
          f"{dict(collections.Counter(in_double.values()))}; see {table}")
    unknown = sorted(name for name, outcome in outcomes.items()
                     if outcome == FAILED and reason_for(name) is None)
    unknown += sorted(name + " (double)" for name, outcome in in_double.items()
                      if outcome == FAILED and reason_for(name, EXPECTED_IN_DOUBLE) is None)
    better = sorted(name for name, outcome in outcomes.items()
                    if outcome in (AS_WRITTEN, SINGLE) and reason_for(name) is not None)
    for name in unknown:
        print(f"failed, and is not expected to: {name}")
    for name in better:
        print(f"passed, and is expected to fail (see EXPECTED in {__file__}): {name}")
    sys.exit(bool(unknown or len(outcomes) < 900))


if __name__ == "__main__":
    main()
