"""Random, often invalid arguments: each call must return, or raise an expected exception.

A crash ends the test process, and a hang exceeds its time limit. A failed test prints its seed;
WARPALIGN_FUZZ_SEED and WARPALIGN_FUZZ_CALLS select the seed and the number of calls.
"""

import os
import random
import warnings

import numpy as np
import pytest

import warpalign
from warpalign import ndimage

SEED = int(os.environ.get("WARPALIGN_FUZZ_SEED", "1"))
CALLS = int(os.environ.get("WARPALIGN_FUZZ_CALLS", "240"))

# The exceptions that SciPy's functions raise for invalid arguments. warpalign.Error is a
# RuntimeError.
# A string is the name of a file, which does not exist.
EXPECTED = (ValueError, TypeError, RuntimeError, OverflowError, MemoryError, FileNotFoundError)

EXTENTS = (0, 1, 2, 3, 5, 16, 17)
TYPES = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8", "c16", "b1",
         "O", "S3", "U2", "M8[s]", ">f4", ">i2", [("a", "f4"), ("b", "u1")])
NUMBERS = (0, 1, -1, 2, 3, 6, 0.5, -2.5, 1e30, -1e-30, float("nan"), float("inf"), 2**31, 2**63,
           2**70, 1j, True, None, "a", b"a", (), (1, 2), [1, 2, 3], {}, object(), np.float32(2),
           np.int64(-3), np.array(1.5), np.array([1, 2]))
MODES = ("mirror", "reflect", "nearest", "constant", "grid-constant", "wrap", "grid-wrap",
         "grid-mirror", "", "Mirror", "mirror\0", None, 3, ("wrap", "mirror"), b"wrap")
DEVICES = ("", "cuda:99", "opencl:-1", "\0", "x" * 9999, 3, None, "opencl:\udcff")


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def one(self, choices):
        return self.random.choice(choices)

    def array(self):
        """An array of any rank, type, order, alignment and size, writable or not; or no array."""
        if self.random.random() < 0.08:
            return self.one(NUMBERS)
        shape = tuple(self.one(EXTENTS) for _ in range(self.random.randrange(5)))
        dtype = np.dtype(self.one(TYPES))
        try:
            array = np.arange(int(np.prod(shape)), dtype="i4").reshape(shape).astype(dtype)
        except (TypeError, ValueError):
            array = np.zeros(shape, dtype)
        change = self.random.randrange(8)
        if change == 0 and array.ndim:
            array = array[::-1]
        elif change == 1:
            array = array.T
        elif change == 2 and array.ndim:
            array = array[..., ::2]
        elif change == 3:
            array = np.broadcast_to(array, (2, *array.shape))
        elif change == 4:
            bytes_of_it = np.zeros(array.nbytes + 1, "u1")[1:]
            if not dtype.hasobject:
                array = bytes_of_it[:array.nbytes].view(dtype).reshape(array.shape)
        elif change == 5:
            array.flags.writeable = False
        return array

    def image(self):
        """An image that registration mostly accepts."""
        if self.random.random() < 0.5:
            return self.array()
        shape = (self.one((16, 17, 24)), self.one((16, 20)))
        return np.frombuffer(self.random.randbytes(shape[0] * shape[1]), "u1").reshape(shape)

    def number(self, *usual):
        return self.one(usual) if usual and self.random.random() < 0.6 else self.one(NUMBERS)

    def some(self, **arguments):
        return {name: value for name, value in arguments.items() if self.random.random() < 0.4}

    def interpolation(self):
        return self.some(order=self.number(0, 1, 3), mode=self.one(MODES), cval=self.number(0.0),
                         prefilter=self.number(True, False),
                         output=self.one((None, "f4", "x", np.float32, self.array())),
                         precision=self.number("single", "double"),
                         labels=self.number(True, False))

    def call(self):
        array = self.array()
        calls = [
            lambda: ndimage.spline_filter1d(array, self.number(3), self.number(0, -1),
                                            mode=self.one(MODES)),
            lambda: ndimage.spline_filter(array, self.number(2, 3)),
            lambda: ndimage.map_coordinates(array, self.array(), **self.interpolation()),
            lambda: ndimage.affine_transform(array, self.array(), self.number(0.0),
                                             **self.interpolation()),
            lambda: ndimage.shift(array, self.number(1.5), **self.interpolation()),
            lambda: ndimage.zoom(array, self.number(2, 0.5), **self.interpolation()),
            lambda: ndimage.rotate(array, self.number(30), self.one(((0, 1), (1, 0), (0, 0), 5)),
                                   self.number(True), **self.interpolation()),
            lambda: ndimage.geometric_transform(array, self.one((lambda p: p, None, max)),
                                                **self.interpolation()),
            lambda: warpalign.register(self.image(), self.image(), **self.registration()),
            lambda: warpalign.to_device(array),
            lambda: warpalign.open_device(self.one(DEVICES)),
        ]
        return self.one(calls)

    def registration(self):
        return self.some(fast=self.number(True), refine=self.number(False),
                         motion=self.one(("rigid", "translation", "x", 3, None)),
                         reference_mask=self.image(), moving_mask=self.image(),
                         max_shift=self.number(4))


@pytest.mark.parametrize("part", range(8))
def test_odd_arguments_give_a_result_or_an_expected_exception(part):
    returned = 0
    for number in range(CALLS // 8):
        seed = SEED * 1_000_003 + part * 100_003 + number
        call = Generator(seed).call()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                call()
            returned += 1
        except EXPECTED:
            pass
        except Exception as error:
            pytest.fail(f"Generator({seed}).call()() raises {type(error).__name__}: {error}")
    assert returned > 0, "no call was accepted: the generator is of no use"
