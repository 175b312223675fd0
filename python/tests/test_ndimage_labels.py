"""labels=True: the label with the largest coverage wins, and no other label appears."""

import numpy as np
import pytest
import scipy.ndimage

import warpalign
from warpalign import ndimage

CALLS = {
    "zoom": lambda m, a, **k: m.zoom(a, 1.7, **k),
    "shift": lambda m, a, **k: m.shift(a, (3.3, -2.6), **k),
    "rotate": lambda m, a, **k: m.rotate(a, 33, **k),
    "affine": lambda m, a, **k: m.affine_transform(a, [[0.5, 0.25], [-0.25, 1.5]], (1, 2), **k),
    "points": lambda m, a, **k: m.map_coordinates(a, np.indices((20, 30)) * 1.6 - 4, **k),
}


def cells(random, shape, labels):
    """An image of the nearest of random seeds, each with one of the labels."""
    seeds = random.uniform(0, shape, (len(labels), len(shape)))
    far = np.square(np.indices(shape)[:, None] - seeds.T.reshape(seeds.T.shape + (1,) * len(shape)))
    return labels[np.argmin(far.sum(axis=0), axis=0)]


def check(call, image, *, precision, cval=0, **keywords):
    """Compare with SciPy's interpolation of one indicator image after the other."""
    result = call(ndimage, image, labels=True, precision=precision, cval=cval, **keywords)
    assert result.dtype == image.dtype
    labels = np.unique(image)
    if keywords["mode"] in ("constant", "grid-constant"):
        labels = np.union1d(labels, np.array([cval], image.dtype))
    coverage = np.stack([
        call(scipy.ndimage, (image == label).astype(np.float64), cval=float(label == cval),
             **keywords) for label in labels])
    assert np.isin(result, labels).all()
    chosen = np.take_along_axis(coverage, np.searchsorted(labels, result)[None], axis=0)
    # Coverages count as equal if they differ by 1e-4 in single precision, or by 1e-9.
    assert (chosen >= coverage.max(axis=0) - (2e-4 if precision == "single" else 2e-9)).all()


def has_doubles():
    return warpalign.open_device().info.double_precision


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
@pytest.mark.parametrize("order, mode", [(1, "constant"), (3, "mirror")])
def test_the_largest_coverage_wins(random, call, order, mode):
    image = cells(random, (50, 60), np.arange(20) + 2**62)
    check(call, image, order=order, mode=mode, precision="single", cval=5)


@pytest.mark.skipif("not has_doubles()", reason="the device has no double precision")
@pytest.mark.parametrize("mode", ["constant", "grid-constant", "nearest", "reflect", "wrap",
                                  "grid-wrap"])
def test_every_mode_and_order_in_double_precision(random, mode):
    image = cells(random, (50, 40), random.integers(-2**31, 2**31, 12).astype(np.int32))
    for order, call in [(1, "shift"), (2, "rotate"), (3, "zoom"), (5, "shift")]:
        check(CALLS[call], image, order=order, mode=mode, precision="double",
              cval=int(image[0, 0]) if order == 3 else 7)


@pytest.mark.parametrize("mode", ["constant", "mirror", "grid-wrap"])
def test_labels_that_are_far_apart_are_interpolated_together(random, mode, monkeypatch):
    from warpalign.ndimage import _labels

    counts = []
    numbered = _labels._groups

    def counted(*arguments):
        result = numbered(*arguments)
        counts.append(result[0].max() + 1)
        return result

    monkeypatch.setattr(_labels, "_groups", counted)
    image = cells(random, (90, 80), np.arange(1, 91))
    for order, prefilter in [(1, True), (3, False)]:
        check(CALLS["rotate"], image, order=order, mode=mode, prefilter=prefilter,
              precision="double" if has_doubles() else "single")
    assert max(counts) < 45


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32",
                                   "int64", "uint64", ">i4"])
def test_every_type_stays_exact(random, dtype):
    if dtype == "bool":
        labels = np.array([False, True])
    else:
        limits = np.iinfo(dtype)
        labels = np.array([limits.min, limits.min + 1, 5, limits.max - 1, limits.max], dtype)
    image = cells(random, (25, 30), labels)
    result = ndimage.zoom(image, 2.3, order=1, mode="nearest", labels=True)
    assert result.dtype == image.dtype.newbyteorder("=")
    assert set(np.unique(result)) == set(labels.tolist())
    output = np.zeros(result.shape, image.dtype)  # of the input's byte order
    ndimage.zoom(image, 2.3, output=output, order=1, mode="nearest", labels=True)
    np.testing.assert_array_equal(output, result)
    # The interpolated integers themselves are other labels.
    if dtype != "bool":
        assert not np.isin(ndimage.zoom(image, 2.3, order=1, mode="nearest"), labels).all()


def test_many_scattered_labels(random):
    # Every label has samples everywhere, so that each is interpolated on its own.
    image = random.integers(0, 20, (24, 20), dtype=np.uint16) * 3000
    check(CALLS["rotate"], image, order=1, mode="constant", precision="single")


def test_volumes_and_lines(random):
    volume = cells(random, (20, 24, 28), np.arange(12, dtype=np.uint64) + 2**63)
    for call in [lambda m, a, **k: m.zoom(a, (1.4, 0.7, 1), **k),
                 lambda m, a, **k: m.rotate(a, 20, axes=(0, 2), **k)]:
        check(call, volume, order=1, mode="constant", precision="single")
    line = np.array([4, 4, 9, 9, 9, 1, 4], np.int8)
    check(lambda m, a, **k: m.shift(a, 0.7, **k), line, order=1, mode="constant",
          precision="single", cval=-3)


@pytest.mark.parametrize("order", [1, 3])
def test_the_smallest_label_wins_a_tie(order):
    image = np.repeat([[9, 2, 7, 7, 3]], 30, axis=1).repeat(4, axis=0)
    between = ndimage.shift(image, (0, 0.5), order=order, mode="nearest", labels=True)
    edges = np.arange(30, 150, 30)
    np.testing.assert_array_equal(between[:, edges], np.minimum(image[:, edges - 1],
                                                                image[:, edges]))


def test_points_without_a_value_get_cval():
    image = np.array([[3, 3], [8, 8]])
    points = np.array([[0, np.nan, 5, 0.9], [0, 0, 0, 1]])
    for mode in ("constant", "nearest"):
        values = ndimage.map_coordinates(image, points, order=1, mode=mode, cval=6, labels=True)
        assert values.tolist() == [3, 6, 6 if mode == "constant" else 8, 8]


@pytest.mark.parametrize("order", [0, 1])
def test_arrays_on_a_device_give_the_same_labels(random, order):
    image = cells(random, (30, 40), random.integers(0, 2**32, 9, np.uint32))
    keywords = {"order": order, "mode": "constant", "cval": 7, "labels": True}
    for call in CALLS.values():
        result = call(ndimage, warpalign.to_device(image), **keywords)
        assert isinstance(result, warpalign.DeviceArray)
        np.testing.assert_array_equal(result.numpy(), call(ndimage, image, **keywords))
    output = warpalign.to_device(np.zeros_like(image))
    ndimage.shift(warpalign.to_device(image), 1.3, output=output, **keywords)
    np.testing.assert_array_equal(output.numpy(), ndimage.shift(image, 1.3, **keywords))


def test_order_0_copies(random):
    image = random.integers(0, 2**60, (12, 12))
    for call in CALLS.values():
        np.testing.assert_array_equal(call(ndimage, image, order=0, labels=True),
                                      call(ndimage, image, order=0))


def test_bad_input_is_refused():
    labels, numbers = np.array([1, 2, 3], np.uint8), np.array([1.0, 2, 3])
    with pytest.raises(TypeError, match="input of integers or bool, not float64; convert"):
        ndimage.zoom(numbers, 1, labels=True)
    with pytest.raises(TypeError, match="output of the input's type uint8, not float32"):
        ndimage.shift(labels, 1, output=np.float32, labels=True)
    for cval in (256, -1, 0.5, np.nan):
        with pytest.raises(ValueError, match="cval must be an integer from 0 to 255"):
            ndimage.shift(labels, 1, cval=cval, labels=True)
    assert ndimage.zoom(labels[:0], 2, labels=True).shape == (0,)
