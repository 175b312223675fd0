"""Local motion, on images resampled by a known displacement field."""

import threading

import numpy as np
import pytest
import warpalign

SHAPE = (224, 256)

# Windows of 64 pixels measure their mean motion, and the field is extrapolated by half a window
# beyond their centres: the error is a few hundredths of a pixel.
FIELD_OFF = 0.05


def displacement():
    """A third of a wave over the image plus a drift, along rows and along columns."""
    rows, columns = np.indices(SHAPE)
    turn = 2 * np.pi / 700
    return np.stack([np.cos(turn * columns) - 0.5, 1.2 * np.sin(turn * rows) + 0.8])


@pytest.fixture(scope="module")
def pair():
    """reference(x) = moving(x + u(x))."""
    noise = np.random.default_rng(3).random((64, 72))
    moving = warpalign.ndimage.zoom(noise, 4)[8:8 + SHAPE[0], 8:8 + SHAPE[1]].copy()
    places = np.indices(SHAPE) + displacement()
    return warpalign.ndimage.map_coordinates(moving, places, mode="mirror"), moving


def test_the_field_is_found(pair):
    reference, moving = pair
    found = warpalign.register_local(reference, moving, window=64)
    assert found.reliable
    assert found.field.shape == (2, *SHAPE) and found.field.dtype == np.float32
    error = np.sqrt(np.mean(np.sum((found.field - displacement()) ** 2, axis=0)))
    assert error < FIELD_OFF
    assert np.array_equal(found.field_xy[0], found.field[1])
    assert found.shifts.shape == (6, 7)
    assert found.shifts["centre_row"][0, 0] < found.shifts["centre_row"][1, 0]
    assert found.shifts["centre_column"][0, 0] < found.shifts["centre_column"][0, 1]
    assert np.median(found.shifts["uncertainty"]) < 0.1
    assert np.allclose(found.mean, displacement().mean(axis=(1, 2)), atol=FIELD_OFF)
    assert abs(found.spread - np.sqrt(displacement().var(axis=(1, 2)).sum())) < FIELD_OFF
    assert found.rms < FIELD_OFF
    assert "windows used" in repr(found)


def test_warp_lands_on_the_reference(pair):
    reference, moving = pair
    found = warpalign.register_local(reference, moving, window=64)
    inside = (slice(8, -8), slice(8, -8))
    before = np.std((moving - reference)[inside])
    assert np.std((found.warp(moving) - reference)[inside]) < 0.1 * before
    colour = np.stack([moving, 2 * moving], axis=-1)
    warped = found.warp(colour)
    assert warped.shape == colour.shape
    assert np.array_equal(warped[..., 0], found.warp(moving))
    byte = np.round(200 * np.clip(moving, 0, 1)).astype(np.uint8)
    assert found.warp(byte).dtype == np.uint8


@pytest.mark.parametrize("types", [("uint8", "uint8"), ("uint16", "uint16"), ("uint8", "float64"),
                                   ("float32", "uint16")])
def test_types_may_differ(pair, types):
    scaled = [np.clip(image, 0, 1) * 255 for image in pair]
    reference, moving = (image.astype(dtype) for image, dtype in zip(scaled, types))
    found = warpalign.register_local(reference, moving, window=64)
    error = np.sqrt(np.mean(np.sum((found.field - displacement()) ** 2, axis=0)))
    assert error < FIELD_OFF


def test_a_registrar_keeps_its_reference(pair):
    reference, moving = pair
    registrar = warpalign.LocalRegistrar(window=(64, 48), stride=32)
    registrar.set_reference(reference)
    first = registrar.align(moving)
    assert first.shifts.shape == (6, 8)
    assert np.abs(registrar.align(reference).field).max() < 0.01
    assert np.array_equal(registrar.align(moving).field, first.field)


def test_a_buffer_may_be_refilled(pair):
    """The caller may overwrite the reference's buffer, as a camera's loop does."""
    reference, moving = (image.astype(np.float32) for image in pair)
    registrar = warpalign.LocalRegistrar(window=64)
    buffer = reference.copy()
    registrar.set_reference(buffer)
    buffer[:] = moving
    found = registrar.align(buffer)
    np.testing.assert_array_equal(
        found.field, warpalign.register_local(reference, moving, window=64).field)
    # Also for another type later, for which the reference is uploaded again.
    buffer[:] = 0
    scaled = np.clip(255 * moving, 0, 255).astype(np.uint8)
    error = np.sqrt(np.mean((registrar.align(scaled).field - displacement()) ** 2))
    assert error < FIELD_OFF


def test_threads_wait_for_each_other(pair, monkeypatch):
    """A reference that another thread sets during a call applies to later calls."""
    made = warpalign._core.WindowRegistrar
    others = []

    class Interrupted:
        """Lets another thread set a reference during an upload."""

        def __init__(self, *arguments):
            self._own = made(*arguments)

        def __getattr__(self, name):
            return getattr(self._own, name)

        def set_reference(self, image):
            if not others:
                others.append(threading.Thread(target=registrar.set_reference, args=[pair[1]]))
                others[0].start()
                others[0].join(timeout=0.5)  # with the lock, it waits for this thread
            self._own.set_reference(image)

    monkeypatch.setattr(warpalign._core, "WindowRegistrar", Interrupted)
    registrar = warpalign.LocalRegistrar(window=64)
    registrar.set_reference(pair[0])
    registrar.align(pair[1])
    others[0].join()
    assert np.abs(registrar.align(pair[1]).field).max() < 0.01


def test_no_reliable_window(pair):
    found = warpalign.register_local(pair[0], np.zeros(SHAPE), window=64)
    assert found.field is None and found.field_xy is None and not found.reliable
    assert np.isnan(found.spread) and np.isnan(found.rms) and np.isnan(found.mean[0])
    assert "no field" in repr(found)
    with pytest.raises(ValueError, match="no window"):
        found.warp(pair[1])


def test_invalid_images_and_options_raise(pair):
    reference, moving = pair
    with pytest.raises(ValueError, match="smaller than a window"):
        warpalign.register_local(reference, moving, window=240)
    with pytest.raises(ValueError, match="shape"):
        warpalign.register_local(reference, moving[:-1], window=64)
    with pytest.raises(ValueError, match="window"):
        warpalign.register_local(reference, moving, window=(64, 64, 64))
    with pytest.raises(ValueError, match="window"):
        warpalign.register_local(reference, moving, window=0)
    with pytest.raises(ValueError):
        warpalign.register_local(reference, moving, window=8)
    with pytest.raises(ValueError, match="stride"):
        warpalign.register_local(reference, moving, window=64, stride=0)
    with pytest.raises(ValueError, match="smoothness"):
        warpalign.register_local(reference, moving, window=64, smoothness=0)
    with pytest.raises(ValueError, match="max_shift"):
        warpalign.register_local(reference, moving, window=64, max_shift=-1)
    with pytest.raises(ValueError, match="2 dimensions"):
        warpalign.register_local(reference[0], moving, window=64)
    with pytest.raises(ValueError, match="no reference"):
        warpalign.LocalRegistrar(window=64).align(moving)
    found = warpalign.register_local(reference, moving, window=64)
    with pytest.raises(ValueError, match="shape"):
        found.warp(moving[1:])
