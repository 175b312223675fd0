"""Arrays that do not fit into the device's memory, against the same calls that do.

The tests limit the memory that a call may use instead of taking large arrays.
"""

import numpy as np
import pytest
import warpalign
from warpalign import Transform, ndimage
from warpalign.ndimage import _pieces

MODES = ["constant", "grid-constant", "nearest", "mirror", "reflect", "wrap", "grid-wrap"]

pytestmark = pytest.mark.skipif("not warpalign.open_device().info.double_precision",
                                reason="the device has no double precision")


@pytest.fixture
def in_pieces(monkeypatch):
    """A function that calls another one with little memory, and checks that there were pieces."""
    def limited(call, memory="300K"):
        pieces = []
        original = _pieces._part
        monkeypatch.setattr(_pieces, "_part", lambda *given: pieces.append(1) or original(*given))
        monkeypatch.setenv("WARPALIGN_MAX_DEVICE_MEMORY", memory)
        try:
            return call()
        finally:
            monkeypatch.undo()
            assert len(pieces) > 2
    return limited


def noise(shape, seed=1):
    return np.random.default_rng(seed).uniform(-1, 1, shape)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [1, 3, 5])
@pytest.mark.parametrize("antialias", [False, True])
def test_double_precision_in_pieces(in_pieces, order, mode, antialias):
    image = noise((170, 200))
    options = {"order": order, "mode": mode, "cval": 0.3, "precision": "double",
               "antialias": antialias}
    matrix = np.array([[1.3, 0.4], [-0.3, 1.2]])
    points = np.stack(np.meshgrid(np.linspace(-20, 190, 90), np.linspace(-15, 230, 100),
                                  indexing="ij"))
    points[0] += 7 * np.sin(points[1] / 30)
    for call in [
        lambda: ndimage.affine_transform(image, matrix, (-8.3137, 20.4271), (120, 130), **options),
        lambda: ndimage.map_coordinates(image, points, **options),
    ]:
        # Beyond a piece, the prefilter forgets 2^-55 of the largest sample. A footprint's Gaussian
        # ends within the piece. Coordinates up to 300 are rounded again. No point is on an edge,
        # where rounding decides whether it is outside.
        np.testing.assert_allclose(in_pieces(call), call(), rtol=0, atol=5e-13)


@pytest.mark.parametrize("antialias", [False, True])
def test_homographies_and_volumes_in_pieces(in_pieces, antialias):
    from warpalign.ndimage._planes import transform_planes

    image = noise((170, 200, 2))
    matrix = np.array([[1.4, 0.2, -5.3], [0.1, 1.3, 3.2], [1e-3, -5e-4, 1]])
    call = lambda: transform_planes(image, matrix, (110, 120), precision="double",
                                    antialias=antialias, mode="mirror")
    np.testing.assert_allclose(in_pieces(call), call(), rtol=0, atol=5e-13)
    volume = noise((40, 50, 60))
    turned = np.array([[1.5, 0.3, 0], [-0.2, 1.4, 0.1], [0, 0.2, 1.6]])
    call = lambda: ndimage.affine_transform(volume, turned, (1.01, 2.02, -3.03), (25, 24, 23),
                                            precision="double", antialias=antialias)
    np.testing.assert_allclose(in_pieces(call, "1M"), call(), rtol=0, atol=5e-13)


def test_single_precision_without_aliasing_in_pieces(in_pieces):
    image = noise((300, 310)).astype(np.float32)
    matrix = 2.3 * np.array([[0.9, 0.3], [-0.3, 0.9]])
    for mode in ("constant", "reflect"):
        call = lambda: ndimage.affine_transform(image, matrix, (5.2, 30.1), (120, 110), mode=mode,
                                                antialias=True)
        # Two evaluations in single precision.
        np.testing.assert_allclose(in_pieces(call), call(), rtol=0, atol=1e-5)


def test_missing_coordinates_and_infinite_ones(in_pieces):
    image = noise((150, 160))
    points = np.indices((150, 160)) * 0.9
    points[0, 20, 30], points[1, 100, 10] = np.nan, np.inf
    for mode in ("constant", "nearest"):
        for antialias in (False, True):
            call = lambda: ndimage.map_coordinates(image, points, mode=mode, cval=5, order=3,
                                                   precision="double", antialias=antialias)
            result, expected = in_pieces(call), call()
            np.testing.assert_allclose(result, expected, rtol=0, atol=1e-13)
            assert np.isnan(result[20, 30]) if mode == "nearest" else result[20, 30] == 5


def test_results_of_transforms(in_pieces):
    image = noise((160, 170)).astype(np.float32)
    field = np.stack([np.full((150, 160), 2.5), np.linspace(-9, 9, 150 * 160).reshape(150, 160)])
    transform = Transform.displacement(field)
    call = lambda: transform.warp(image, output_shape=(150, 160), precision="double")
    np.testing.assert_allclose(in_pieces(call), call(), rtol=0, atol=1e-7)  # rounded to float32
