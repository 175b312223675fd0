"""The computations, without a window."""

import numpy as np
import pytest
import scipy.ndimage

from napari_warpalign import _jobs
from napari_warpalign._jobs import Cancelled, Pair, Picture


def error_at_corners(matrix, expected, shape):
    """The largest distance of the mapped corners from where they belong, in pixels."""
    corners = np.array([[r, c, 1] for r in (0, shape[0] - 1) for c in (0, shape[1] - 1)]).T
    return np.abs((matrix @ corners - expected @ corners)[:2]).max()


@pytest.fixture
def pair(scene, sampled, matrices):
    """Two images of the scene, and the matrix between their pixels."""
    images = [sampled(scene, matrix, (120, 140)) for matrix in matrices]
    expected = np.linalg.inv(matrices[1]) @ matrices[0]
    return images, expected


@pytest.mark.parametrize("motion", ["similarity", "affine"])
def test_the_search_finds_the_transform_wherever_layers_lie(pair, motion):
    images, expected = pair
    found = _jobs.register(Pair(Picture(images[0], np.eye(3)), Picture(images[1], np.eye(3)),
                                motion))
    assert found.found.reliable
    # Interpolated images are located to hundredths of a pixel.
    assert error_at_corners(found.matrix, expected, (120, 140)) < 0.1


def test_rigid_motions_are_those_of_the_world(pair):
    """Pixels of 1 and 1.25: a rigid transform of pixels could not lay one on the other."""
    images, expected = pair
    placed = [Picture(images[0], np.eye(3)), Picture(images[1], np.diag([1.25, 1.25, 1]))]
    found = _jobs.register(Pair(*placed, "rigid"))
    assert found.found.reliable
    assert error_at_corners(found.matrix, expected, (120, 140)) < 0.2


def test_pixels_that_are_not_square(scene, sampled):
    narrow = np.diag([1.0, 0.5, 1])
    other = np.diag([1.0, 1.0, 1])
    other[:2, 2] = (4, -6)
    narrow[:2, 2] = other[:2, 2] = (30, 40)
    other[:2, 2] += (5, -7)
    images = sampled(scene, narrow, (120, 280)), sampled(scene, other, (120, 140))
    found = _jobs.register(Pair(Picture(images[0], np.diag([1, 0.5, 1])),
                                Picture(images[1], np.eye(3)), "translation"))
    expected = np.linalg.inv(other) @ narrow
    assert error_at_corners(found.matrix, expected, (120, 280)) < 0.2


@pytest.mark.parametrize("start", ["layers", "points"])
def test_a_start_is_in_the_pixels_of_the_layers(pair, matrices, start):
    images, expected = pair
    # The layers lie nearly right in the world.
    near = np.array([[1, 0, 1.5], [0, 1, -1.0], [0, 0, 1]])
    reference = np.array([[10.0, 20], [100, 30], [60, 120]])
    points = (reference, reference @ expected[:2, :2].T + expected[:2, 2])
    found = _jobs.register(Pair(Picture(images[0], matrices[0]),
                                Picture(images[1], near @ matrices[1]), "rigid", start=start,
                                points=points if start == "points" else ()))
    assert found.found.proposed_by == "initial"
    assert error_at_corners(found.matrix, expected, (120, 140)) < 0.2


def test_points_must_be_pairs(pair):
    images, _ = pair
    pictures = [Picture(image, np.eye(3)) for image in images]
    with pytest.raises(ValueError, match="have 2 and 3 points"):
        _jobs.register(Pair(*pictures, start="points", points=(np.zeros((2, 2)), np.zeros((3, 2)))))


def test_resampled_images_and_residuals(pair):
    images, expected = pair
    pictures = [Picture(image, np.eye(3)) for image in images]
    found = _jobs.register(Pair(*pictures), aligned=True, residuals=True)
    inside = (slice(20, 100), slice(30, 110))
    assert np.abs(found.aligned - images[0])[inside].max() < 3  # of 200
    assert np.nanmax(np.abs(found.residuals[inside])) < 3
    assert np.isnan(found.residuals).any()  # where the images do not overlap


def test_a_dask_array_is_read_in_the_job(pair):
    import dask.array

    images, expected = pair
    found = _jobs.register(Pair(Picture(dask.array.from_array(images[0], chunks=50), np.eye(3)),
                                Picture(dask.array.from_array(images[1], chunks=50), np.eye(3))))
    assert error_at_corners(found.matrix, expected, (120, 140)) < 0.1


def test_volumes_in_millimetres(scene):
    random = np.random.default_rng(8)
    volume = scipy.ndimage.gaussian_filter(random.standard_normal((20, 36, 40)), 1.5)
    moving = np.roll(volume, (1, -3, 2), axis=(0, 1, 2))
    place = np.diag([2.0, 1, 1, 1])
    found = _jobs.register(Pair(Picture(volume, place), Picture(moving, place), "rigid"))
    np.testing.assert_allclose(found.matrix[:3, 3], (1, -3, 2), atol=0.1)


@pytest.fixture
def drifting(scene):
    shifts = [(0, 0), (1, 2), (3, -2), (-4, 1)]
    return np.stack([scene[30 - r:158 - r, 30 - c:174 - c] for r, c in shifts]), shifts


@pytest.mark.parametrize("lazy", [False, True])
def test_drift(drifting, lazy):
    frames, shifts = drifting
    if lazy:
        import dask.array

        frames = dask.array.from_array(frames, chunks=(2, 64, 64))
    seen = []
    stack = _jobs.register_stack(frames, progress=seen.append)
    found = np.stack([stack.drift["shift_row"], stack.drift["shift_column"]], 1)
    np.testing.assert_allclose(found, shifts, atol=0.05)
    assert seen == [1, 2, 3, 4]
    corrected = _jobs.corrected(frames, stack)
    assert hasattr(corrected, "dask") == lazy
    inside = (slice(None), slice(10, -10), slice(10, -10))
    assert np.abs(np.asarray(corrected) - np.asarray(frames)[0])[inside].max() < 1  # of 200


def test_cancelling_stops_between_frames(drifting):
    frames, _ = drifting
    seen = []
    with pytest.raises(Cancelled):
        _jobs.register_stack(frames, progress=seen.append, cancelled=lambda: len(seen) >= 2)
    assert seen == [1, 2]
    with pytest.raises(Cancelled):
        _jobs.register(Pair(Picture(frames[0], np.eye(3)), Picture(frames[1], np.eye(3))),
                       cancelled=lambda: True)
