"""Invalid arguments raise SciPy's exceptions with SciPy's messages."""

import numpy as np
import pytest
import scipy.ndimage

import warpalign
from warpalign import ndimage

image = np.ones((4, 5))
line = np.ones(5)
read_only = np.ones(5)
read_only.flags.writeable = False

BAD_CALLS = {
    "order too high": lambda m: m.shift(line, 1, order=6),
    "order negative": lambda m: m.zoom(line, 2, order=-1),
    "order of a filter": lambda m: m.spline_filter(line, order=1),
    "order no number": lambda m: m.shift(line, 1, order="a"),
    "order no integer": lambda m: m.shift(line, 1, order=2.5),
    "mode": lambda m: m.shift(line, 1, mode="foo"),
    "mode None": lambda m: m.map_coordinates(line, [[1]], mode=None),
    "mode of a filter": lambda m: m.spline_filter1d(line, mode="foo"),
    "no dimensions": lambda m: m.shift(3.0, 1),
    "coordinates' rank": lambda m: m.map_coordinates(image, [[1, 2]]),
    "coordinates complex": lambda m: m.map_coordinates(line, [[1j]]),
    "coordinates no numbers": lambda m: m.map_coordinates(line, [["a"]]),
    "coordinates without points": lambda m: m.map_coordinates(line, [1.0]),
    "shift's length": lambda m: m.shift(image, (1, 2, 3)),
    "shift no number": lambda m: m.shift(line, "a"),
    "shift complex": lambda m: m.shift(line, 1j),
    "zoom negative": lambda m: m.zoom(image, -1),
    "zoom NaN": lambda m: m.zoom(image, np.nan),
    "cval no number": lambda m: m.shift(line, 1, cval="a"),
    "cval complex": lambda m: m.shift(line, 1, cval=1j),
    "output's shape": lambda m: m.shift(line, 1, output=np.empty(4)),
    "output read-only": lambda m: m.shift(line, 1, output=read_only),
    "output not numeric": lambda m: m.shift(line, 1, output="bool"),
    "output not complex": lambda m: m.shift(line + 1j, 1, output=np.empty(5)),
    "matrix of no rank": lambda m: m.affine_transform(image, 3.0),
    "matrix of 3 axes": lambda m: m.affine_transform(image, np.ones((2, 2, 2))),
    "matrix's rows": lambda m: m.affine_transform(image, np.ones((3, 2))),
    "matrix's columns": lambda m: m.affine_transform(image, np.ones((2, 4))),
    "matrix not homogeneous": lambda m: m.affine_transform(image, np.ones((3, 3))),
    "axis": lambda m: m.spline_filter1d(image, axis=2),
    "axes' number": lambda m: m.rotate(image, 1, axes=(0, 1, 2)),
    "axes not integer": lambda m: m.rotate(image, 1, axes=(0, 0.5)),
    "axes out of range": lambda m: m.rotate(image, 1, axes=(0, 2)),
    "a line rotated": lambda m: m.rotate(line, 1),
    "no callable": lambda m: m.geometric_transform(image, 3),
    "objects": lambda m: m.shift(np.array([None, 1, 2]), 1, order=1),
}

# Calls with messages of our own: SciPy says less, or has a message of its C code.
OWN_MESSAGES = {"order no integer", "shift no number", "objects"}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_exceptions_are_those_of_scipy(name):
    with pytest.raises(Exception) as theirs:
        BAD_CALLS[name](scipy.ndimage)
    with pytest.raises(Exception) as ours:
        BAD_CALLS[name](ndimage)
    assert issubclass(ours.type, theirs.type)
    if name not in OWN_MESSAGES:
        assert str(ours.value) == str(theirs.value)


def test_grid_mode_warns_as_scipy_does():
    for mode in ["constant", "wrap"]:
        with pytest.warns(UserWarning) as theirs:
            scipy.ndimage.zoom(image, 2, mode=mode, grid_mode=True)
        with pytest.warns(UserWarning) as ours:
            ndimage.zoom(image, 2, mode=mode, grid_mode=True)
        assert str(ours[0].message) == str(theirs[0].message)
        assert ours[0].filename == __file__


def test_unsupported_calls_raise_errors():
    four = np.ones((2, 3, 4, 5))
    with pytest.raises(NotImplementedError, match="mixes more than 3 axes"):
        ndimage.affine_transform(four, np.ones((4, 4)))
    with pytest.raises(NotImplementedError, match="up to 3 dimensions"):
        ndimage.map_coordinates(four, np.ones((4, 2)))
    with pytest.raises(TypeError, match="LowLevelCallable"):
        from ctypes import CFUNCTYPE, c_int

        from scipy import LowLevelCallable

        ndimage.geometric_transform(line, LowLevelCallable(CFUNCTYPE(c_int)(lambda: 1)))


def test_an_unknown_device_raises():
    words = "device must be a name, a Device or an array on a device, not int"
    with pytest.raises(TypeError, match=words):
        ndimage.shift(line, 1, device=3)
    with pytest.raises(warpalign.DeviceUnavailableError) as error:
        ndimage.shift(line, 1, device="opencl:no such device")
    assert error.value.kind == "device_unavailable"


def test_errors_have_the_message_of_the_library():
    error = warpalign._errors.make_error(
        "out_of_memory", "no memory", "fft", "cuda", "H100", "cudaMalloc",
        "cudaErrorMemoryAllocation", "use smaller images")
    assert isinstance(error, (warpalign.Error, MemoryError))
    assert (error.stage, error.backend, error.device) == ("fft", "cuda", "H100")
    assert (error.call, error.code) == ("cudaMalloc", "cudaErrorMemoryAllocation")
    assert error.hint == "use smaller images"
