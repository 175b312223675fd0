"""A pytest plugin that runs SciPy's own tests on warpalign and writes their outcomes to a file.

``WARPALIGN_OUTCOMES`` names the file. ``WARPALIGN_TOLERANCE`` is the error that comparisons accept,
relative to the largest value. ``WARPALIGN_PRECISION`` is the precision of the functions.
"""

import json
import os

import numpy as np
import pytest

MODULE = "scipy.ndimage.tests.test_interpolation"
_outcomes = {}


def _loosened(compare, tolerance):
    """Loosen a comparison function of SciPy's tests, which takes decimals, or rtol and atol."""

    def compare_loosely(actual, desired, *arguments, **keywords):
        desired_values = np.asarray(desired)
        largest = np.abs(desired_values).max(initial=1) if desired_values.size else 1
        atol = max(keywords.get("atol", 0), tolerance * float(largest))
        # Compare shapes and types without tolerance.
        assert np.asarray(actual).shape == desired_values.shape
        if keywords.get("check_dtype", True) and compare.__name__ == "xp_assert_close":
            assert np.asarray(actual).dtype == desired_values.dtype
        np.testing.assert_allclose(
            actual, desired, rtol=keywords.get("rtol", 1e-7), atol=atol)

    return compare_loosely


def pytest_collection_modifyitems(items):
    tolerance = os.environ.get("WARPALIGN_TOLERANCE")
    if tolerance is None:
        return
    for module in {item.module for item in items}:
        for name in ("assert_array_almost_equal", "xp_assert_close"):
            setattr(module, name, _loosened(getattr(module, name), float(tolerance)))


@pytest.fixture(autouse=True)
def _on_warpalign():
    from warpalign import ndimage

    with ndimage.patch(precision=os.environ.get("WARPALIGN_PRECISION", "single")):
        yield


def pytest_runtest_logreport(report):
    name = report.nodeid.split("::", 1)[1]
    if report.when == "call" or report.outcome != "passed":
        _outcomes[name] = report.outcome


def pytest_sessionfinish():
    with open(os.environ["WARPALIGN_OUTCOMES"], "w", encoding="utf-8") as file:
        json.dump(_outcomes, file)
