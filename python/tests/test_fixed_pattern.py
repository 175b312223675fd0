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
