"""Random calls against SciPy. benchmarks/random_calls.py runs any number of them.

The seed is fixed, so that a failure is one of the change and not of the day; WARPALIGN_SEED sets
another, and every failure prints it with the call.
"""

import os

import numpy as np
import pytest
import random_calls
import warpalign
from warpalign import ndimage

SEED = int(os.environ.get("WARPALIGN_SEED", "20261128"))

# What a share of the calls draws from. PoCL compiles a kernel for every order, mode, rank and kind of
# points in single precision, about 3 s each, so that these shares draw two pairs of order and mode;
# order 0 and double precision have one kernel for all.
SHARES = {
    "order 0": (400, {"orders": [0]}),
    "integers beyond 24 bits": (150, {"orders": [1, 2, 3, 4, 5], "types": ["int64", "uint64"],
                                      "bits": (26, 50)}),
    "order 1, constant": (40, {"orders": [1], "modes": ["constant"]}),
    "order 3, mirror": (40, {"orders": [3], "modes": ["mirror"]}),
}


@pytest.mark.parametrize("share", SHARES)
def test_no_random_call_differs_without_a_reason(share):
    if not warpalign.open_device().info.double_precision:
        pytest.skip("the device has no double precision")
    calls, choices = SHARES[share]
    print(f"seed {SEED}")
    reasons, unexplained = random_calls.run(np.random.default_rng(SEED), calls, ndimage, **choices)
    assert not unexplained, "\n".join(unexplained)
    assert sum(reasons.values()) == calls
    if share == "order 0":
        # Samples are copied: nothing is left to rounding.
        assert set(reasons) <= {"no difference", "SciPy's zoom reads the last samples beyond the edge"}


def test_a_difference_is_noticed():
    """The comparison itself: results of a module that is wrong by little are found out."""
    import scipy.ndimage

    class Wrong:
        def __getattr__(self, name):
            def call(array, *arguments, **keywords):
                result = getattr(scipy.ndimage, name)(array, *arguments, **keywords)
                changed = result.astype(np.float64)
                changed.flat[0] += 1e-3 * max(1, np.abs(np.nan_to_num(changed)).max())
                return changed.astype(result.dtype)
            return call

    random = np.random.default_rng(SEED)
    reasons, unexplained = random_calls.run(random, 60, Wrong(), types=["float32"])
    assert len(unexplained) > 30, reasons
