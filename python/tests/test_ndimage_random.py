"""Random calls against SciPy. benchmarks/random_calls.py runs any number of them.

The seed is fixed, so that only a change of the code can make a test fail. WARPALIGN_SEED sets
another seed. A failure prints the seed and the call.
"""

import os

import numpy as np
import pytest
import random_calls
import warpalign
from warpalign import ndimage

SEED = int(os.environ.get("WARPALIGN_SEED", "20261128"))

# The number of calls of each share, and the choices they draw from. In single precision, PoCL
# compiles a kernel for every order, mode, rank and kind of points, which takes about 3 s, so the
# last two shares have one order and one mode each. Order 0 and double precision have one kernel for
# all calls.
SHARES = {
    "order 0": (400, {"orders": [0]}),
    "integers beyond 24 bits": (150, {"orders": [1, 2, 3, 4, 5], "types": ["int64", "uint64"],
                                      "bits": (26, 50)}),
    "double": (150, {"orders": [1, 2, 3, 4, 5], "precision": "double"}),
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
        # Copies have no rounding errors.
        assert set(reasons) <= {"no difference", random_calls.BEYOND_EDGE}


def test_a_difference_is_noticed():
    """Tests the comparison: a module with small errors must be detected."""
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
