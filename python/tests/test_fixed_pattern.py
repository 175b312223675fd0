"""Stacks under a pattern that is fixed to the sensor."""

import numpy as np
import pytest
import scipy.ndimage

import warpalign


def _frames_under_columns(scene, columns):
    """Frames of a texture that jumps by known whole pixels, under offsets of columns."""
    random = np.random.default_rng(4)
    texture = np.cumsum(np.cumsum(random.normal(size=(220, 240)), axis=0), axis=1)
    texture = texture - scipy.ndimage.uniform_filter(texture, 25)
    texture *= scene / texture.std()
    offsets = columns * random.normal(size=160)
    shifts = [(0, 0)] + [tuple(int(n) for n in random.integers(-9, 10, 2)) for _ in range(13)]
    frames = [100 + texture[30 - r:158 - r, 40 - c:200 - c] + offsets
              + random.normal(0, 2, (128, 160)) for r, c in shifts]
    return [np.clip(np.rint(frame), 0, 255).astype(np.uint8) for frame in frames], shifts, offsets


def test_stack_leaves_out_the_pattern_of_the_sensor():
    frames, shifts, offsets = _frames_under_columns(14, 14)
    stack = warpalign.register_stack(frames, motion="translation")
    found = stack.fixed_pattern
    assert found.scene and found.clear and found.offsets.shape == frames[0].shape
    # Long waves along the row are those of the scene as well.
    assert np.corrcoef(found.offsets.mean(axis=0), offsets)[0, 1] > 0.95
    assert stack.drift["reliable"].all()
    moved = np.stack([stack.drift["shift_row"], stack.drift["shift_column"]], axis=1)
    assert np.abs(moved - shifts).max() < 0.1
    # The frames are as they were, and an iterator gives the same.
    again = warpalign.register_stack(iter(frames), motion="translation")
    assert np.abs(again.matrices - stack.matrices).max() < 0.05
    off = warpalign.register_stack(frames, motion="translation", fixed_pattern="off")
    assert off.fixed_pattern is None
    pulled = np.abs(off.matrices[:, :2, 2] - shifts).max(axis=1)
    assert (~off.drift["reliable"] | (pulled > 0.1)).any()


def test_stack_without_a_pattern_is_the_same():
    frames, _, _ = _frames_under_columns(20, 0)
    found = [warpalign.register_stack(frames, motion="translation", fixed_pattern=choice)
             for choice in ("auto", "off", None)]
    for other in found[1:]:
        assert (other.drift == found[0].drift).all() and other.fixed_pattern is None


def test_stack_that_shows_only_the_sensor_is_refused():
    frames, _, _ = _frames_under_columns(0, 10)
    stack = warpalign.register_stack(frames, motion="translation")
    assert not stack.fixed_pattern.scene and stack.reference is None
    assert len(stack.errors) == len(frames) and not stack.drift["reliable"].any()
    with pytest.raises(ValueError, match="'auto' or 'off'"):
        warpalign.register_stack(frames, fixed_pattern="on")
    with pytest.raises(ValueError, match="fast=True does not support it"):
        warpalign.register_stack(frames, fixed_pattern="auto", fast=True)


def _dask_stack(frames, **options):
    array = pytest.importorskip("dask.array")
    import warpalign.dask
    chunks = array.from_array(np.stack(frames), chunks=(3, 64, 160))
    return warpalign.dask.register_stack(chunks, motion="translation", **options)


def test_stack_of_dask_leaves_out_the_pattern_of_the_sensor():
    frames, shifts, offsets = _frames_under_columns(14, 14)
    whole = warpalign.register_stack(frames, motion="translation")
    lazy = _dask_stack(frames)
    # Both look at the first 12 of 14 frames.
    assert np.array_equal(lazy.fixed_pattern.compute(scheduler="synchronous").offsets,
                          whole.fixed_pattern.offsets)
    stack = lazy.persist(scheduler="synchronous")
    assert stack.fixed_pattern.compute().clear
    table = stack.drift.compute(scheduler="synchronous")
    np.testing.assert_array_equal(table["matrix"], whole.matrices)
    assert table["reliable"].all()
    np.testing.assert_array_equal(table["shift_row"], whole.drift["shift_row"])
    # Warped frames are as they were given.
    warped = stack.warp(np.stack(frames)).compute(scheduler="synchronous")
    for frame, expected in zip(warped, whole.warp(frames)):
        np.testing.assert_array_equal(frame, expected)
    # A frame that is named as the reference is cleaned as well.
    named = _dask_stack(frames, to=5).drift.compute(scheduler="synchronous")
    again = warpalign.register_stack(frames, motion="translation", to=5)
    np.testing.assert_array_equal(named["matrix"], again.matrices)
    off = _dask_stack(frames, fixed_pattern="off")
    assert off.fixed_pattern is None
    without = warpalign.register_stack(frames, motion="translation", fixed_pattern="off")
    np.testing.assert_array_equal(off.drift.compute(scheduler="synchronous")["matrix"],
                                  without.matrices)


def test_stack_of_dask_that_shows_only_the_sensor_is_refused():
    frames, _, _ = _frames_under_columns(0, 10)
    stack = _dask_stack(frames)
    table = stack.drift.compute(scheduler="synchronous")
    assert not stack.fixed_pattern.compute(scheduler="synchronous").scene
    assert not table["reliable"].any() and np.isnan(table["matrix"]).all()
    assert all("fixed to the sensor" in line for line in table["error"])
    with pytest.raises(ValueError, match="'auto' or 'off'"):
        _dask_stack(frames, fixed_pattern="on")
    with pytest.raises(ValueError, match="fast=True does not support it"):
        _dask_stack(frames, fixed_pattern="auto", fast=True)


def test_stack_of_dask_without_a_pattern():
    frames, _, _ = _frames_under_columns(20, 0)
    assert _dask_stack(frames).fixed_pattern.compute(scheduler="synchronous") is None
    assert _dask_stack(frames, fast=True).fixed_pattern is None


def test_stack_of_dask_trusts_no_frame_under_a_pattern_that_is_not_clear(monkeypatch):
    frames, _, _ = _frames_under_columns(20, 0)
    stack = _dask_stack(frames)
    found = warpalign._fixed_pattern.FixedPattern(np.zeros((128, 160), np.float32), 0.0, 12, True,
                                                  False)
    monkeypatch.setattr(warpalign.dask._stacks, "pattern_of", lambda *_: found)
    table = stack.drift.compute(scheduler="synchronous")
    # As in NumPy, only the reference keeps its place.
    assert table["reliable"].tolist() == [True] + [False] * 13
    assert np.isfinite(table["matrix"]).all()


def _one_frame(scene, columns, seed=4):
    """A frame of the same camera at another view, from (row, column) = (7, -11)."""
    frames, _, offsets = _frames_under_columns(scene, 0)
    random = np.random.default_rng(4)
    texture = np.cumsum(np.cumsum(random.normal(size=(220, 240)), axis=0), axis=1)
    texture = texture - scipy.ndimage.uniform_filter(texture, 25)
    texture *= scene / texture.std()
    view = 100 + texture[37:165, 29:189] + columns
    return np.clip(np.rint(view + np.random.default_rng(9).normal(0, 2, view.shape)), 0, 255)


def test_an_image_of_the_same_camera_loses_the_pattern():
    frames, shifts, offsets = _frames_under_columns(14, 14)
    expected = np.array(shifts) + (7, -11)  # of the reference's view relative to frame 0
    for dtype, factor in ((np.uint8, 1), (np.float32, 0.25)):
        image = (_one_frame(14, offsets) * factor).astype(dtype)
        stack = warpalign.register_stack(frames, to=image, motion="translation")
        assert stack.fixed_pattern.reference_gain == pytest.approx(factor, rel=0.1)
        assert stack.drift["reliable"].all()
        moved = np.stack([stack.drift["shift_row"], stack.drift["shift_column"]], axis=1)
        assert np.abs(moved - expected).max() < 0.1
        # On Dask, too. It registers each frame by itself.
        table = _dask_stack(frames, to=image).drift.compute(scheduler="synchronous")
        moved = np.stack([table["shift_row"], table["shift_column"]], axis=1)
        assert table["reliable"].all() and np.abs(moved - expected).max() < 0.1


def test_the_image_of_another_camera_stays_as_it_is():
    frames, shifts, _ = _frames_under_columns(14, 14)
    others = 14 * np.random.default_rng(77).normal(size=160)
    for columns in (np.zeros(160), others):
        image = _one_frame(14, columns).astype(np.uint8)
        stack = warpalign.register_stack(frames, to=image, motion="translation")
        assert stack.fixed_pattern.reference_gain == 0
        off = stack.fixed_pattern.subtracted_if_shown(image, None)
        assert off[0] is image
    assert warpalign.register_stack(frames, to=3).fixed_pattern.reference_gain is None
