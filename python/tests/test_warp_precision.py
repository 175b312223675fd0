"""`precision="double"` in the warps of results and transforms: SciPy is the oracle.

It sums in another order: 1e-13 of the largest sample is some hundred roundings.
"""

import numpy as np
import pytest
from scipy import ndimage

import warpalign

pytestmark = pytest.mark.skipif(not warpalign.open_device().info.double_precision,
                                reason="the device has no double precision")


def differs(result, expected):
    return np.abs(result - expected).max() / np.abs(expected).max()


def coordinates_of(matrix, shape):
    grid = np.indices(shape).reshape(len(shape), -1)
    points = matrix @ np.concatenate([grid, np.ones((1, grid.shape[1]))])
    return (points[:-1] / points[-1]).reshape(len(shape), *shape)


@pytest.mark.parametrize("motion", ["rigid", "homography"])
def test_registrations(scene, moved, motion):
    moving = moved(scene, 8, 1, (3, -5)) * 1e5
    found = warpalign.register(scene, moving, motion=motion)
    expected = ndimage.map_coordinates(moving, coordinates_of(found.matrix, scene.shape),
                                       mode="constant")
    result = found.warp(moving, precision="double")
    assert differs(result, expected) < 1e-13
    assert 1e-13 < differs(found.warp(moving), expected) < 1e-5
    with pytest.raises(ValueError, match="precision"):
        found.warp(moving, precision="half")


def test_stacks_and_fields(scene):
    frames = [np.roll(scene, shift, axis=1) for shift in (0, 2)]
    stack = warpalign.register_stack(frames, motion="translation")
    _, result = stack.warp(frames, precision="double")
    expected = ndimage.map_coordinates(
        frames[1], coordinates_of(stack[1].matrix, scene.shape), mode="constant")
    assert differs(result, expected) < 1e-13
    local = warpalign.register_local(*frames, window=64)
    positions = np.indices(scene.shape) + local.field
    expected = ndimage.map_coordinates(frames[1], positions, mode="constant")
    assert differs(local.warp(frames[1], precision="double"), expected) < 1e-13


def test_volumes_and_deformations(volume):
    moving = np.roll(volume, (2, -1, 3), axis=(0, 1, 2))
    found = warpalign.register_volume(volume, moving)
    expected = ndimage.map_coordinates(moving, coordinates_of(found.matrix, volume.shape),
                                       mode="constant")
    assert differs(found.warp(moving, precision="double"), expected) < 1e-13
    bent = warpalign.register_volume(volume, moving, motion="deformable")
    moving[3, 4, 5] = np.nan
    warped, known = bent.warp(moving, missing="ignore", weights=True, precision="double")
    assert known.shape == warped.shape == volume.shape
    assert 0 < np.count_nonzero(known < 1)
    assert np.count_nonzero(np.isnan(warped)) <= 1
