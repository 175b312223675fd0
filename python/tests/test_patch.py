"""ndimage.patch(), which replaces functions of scipy.ndimage."""

import numpy as np
import pytest
import scipy.ndimage

from warpalign import ndimage


def test_the_eight_functions_are_replaced_in_the_context():
    names = [name for name in ndimage.__all__ if name != "patch"]
    assert len(names) == 8
    before = {name: getattr(scipy.ndimage, name) for name in names}
    with ndimage.patch():
        for name in names:
            assert getattr(scipy.ndimage, name) is not before[name]
            assert getattr(scipy.ndimage, name).__wrapped__ is getattr(ndimage, name)
    for name in names:
        assert getattr(scipy.ndimage, name) is before[name]


def test_functions_are_restored_after_an_error():
    before = scipy.ndimage.zoom
    with pytest.raises(ZeroDivisionError), ndimage.patch():
        raise ZeroDivisionError
    assert scipy.ndimage.zoom is before


def test_code_written_for_scipy_runs_on_warpalign(scene):
    def theirs(image):
        from scipy import ndimage as ndi

        return ndi.rotate(image, 12, reshape=False)

    expected = theirs(scene)
    with ndimage.patch():
        result = theirs(scene)
    assert not np.array_equal(result, expected)  # single precision, so not SciPy's
    np.testing.assert_allclose(result, expected, atol=1e-3)
