"""`register_stack` of frames with missing pixels."""

import numpy as np
import pytest

import warpalign

NODATA = 7
DRIFT = np.array([[0, 0], [3.25, -2.5], [-1.75, 4.0], [6.5, 1.25]])  # rows, columns
SIDE = 128


@pytest.fixture(scope="module")
def frames():
    """Waves at the places to which they drift. A hole and an edge stay where they are."""
    random = np.random.default_rng(5)
    waves = random.normal(size=(60, 2))
    waves *= random.uniform(0.1, 0.8, (60, 1)) / np.linalg.norm(waves, axis=1, keepdims=True)
    phases = random.uniform(0, 2 * np.pi, 60)
    rows, columns = np.mgrid[:SIDE, :SIDE]
    drawn = []
    for down, right in DRIFT:
        drawn.append(20000 + 900 * sum(
            np.cos(wave[0] * (rows - down) + wave[1] * (columns - right) + phase)
            for wave, phase in zip(waves, phases)))
    stack = np.rint(drawn).astype(np.uint16)
    stack[:, 40:75, 50:90] = NODATA
    stack[:, :, :20] = NODATA
    return stack


@pytest.mark.parametrize("motion", ["translation", "similarity", "deformable"])
@pytest.mark.parametrize("to", ["first", "previous", "mean", "image"])
def test_missing_pixels_do_not_hold_frames_back(frames, motion, to):
    if (motion, to) == ("deformable", "previous"):
        pytest.skip("frames are deformed to one image or to the mean")
    given = frames[0] if to == "image" else to
    found = warpalign.register_stack(frames, motion=motion, nodata=NODATA, to=given)
    assert found.drift["reliable"].all()
    shifts = np.stack([found.drift["shift_row"], found.drift["shift_column"]], 1)
    # As exact as frames without holes; deformations bend, and to='previous' adds up.
    assert np.abs(shifts - DRIFT).max() < (0.05 if motion == "deformable" else 0.02)


def test_nan_is_the_same(frames):
    marked = np.where(frames == NODATA, np.nan, frames).astype(np.float32)
    for to in ("first", "mean"):
        expected = warpalign.register_stack(frames, motion="translation", nodata=NODATA, to=to)
        found = warpalign.register_stack(marked, motion="translation", to=to)
        np.testing.assert_array_equal(found.matrices, expected.matrices)


def test_values_that_no_pixel_has_are_refused(frames):
    with pytest.raises(ValueError, match="nodata is 0.5, which no pixel of frame 0 can have"):
        warpalign.register_stack(frames, motion="translation", nodata=0.5)
