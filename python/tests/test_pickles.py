"""Copies and pickles of registration results."""

import copy
import multiprocessing
import pickle

import numpy as np
import pytest

import warpalign


def same_words(result):
    return pickle.loads(pickle.dumps(result))


COPIES = [copy.copy, copy.deepcopy, same_words]


@pytest.fixture(scope="module")
def image(scene):
    return scene.astype(np.float32)


def results(image, volume):
    """A result of each kind, with an array that it can warp."""
    moving, voxels = np.roll(image, 3, axis=1), np.roll(volume, 2, axis=0)
    yield warpalign.register(image, moving), moving
    yield warpalign.register_stack([image, moving], motion="translation"), [image, moving]
    yield warpalign.register_volume(volume, voxels), voxels
    yield warpalign.register_local(image, moving, window=64), moving


@pytest.mark.parametrize("copied", COPIES)
def test_copies_warp_like_the_original(image, volume, copied):
    for found, moving in results(image, volume):
        again = copied(found)
        assert type(again) is type(found)
        assert repr(again) == repr(found)
        np.testing.assert_array_equal(list(again.warp(moving)), list(found.warp(moving)))


def test_copies_share_the_device_and_the_pictures_images(image):
    found = warpalign.register(image, np.roll(image, 3, axis=1))
    for again in (copy.copy(found), copy.deepcopy(found)):
        assert again._device is found._device
        assert again._images is found._images
    assert copy.deepcopy(found).matrix is not found.matrix


def test_a_pickle_has_the_devices_id_and_no_image(image):
    found = warpalign.register(image, np.roll(image, 3, axis=1))
    data = pickle.dumps(found)
    assert len(data) < image.nbytes / 10
    again = pickle.loads(data)
    assert again._device == found._device.id
    assert again._repr_png_() is None
    # It uses the device that is already open, so that it accepts arrays on that device.
    on_device = warpalign.to_device(image, found._device)
    assert again.warp(on_device).device is found._device
    assert pickle.loads(pickle.dumps(again))._device == found._device.id


def test_a_missing_device_raises_at_first_use(image):
    found = warpalign.register(image, np.roll(image, 3, axis=1))
    state = found.__getstate__()
    state["_device"] = "opencl:99"
    elsewhere = object.__new__(warpalign.Registration)
    vars(elsewhere).update(state)
    again = pickle.loads(pickle.dumps(elsewhere))
    assert again.translation == found.translation
    with pytest.raises(warpalign.Error):
        again.warp(image)


def test_errors_of_a_stack_are_pickled(image):
    stack = warpalign.register_stack([image, np.ones_like(image)], motion="translation")
    again = pickle.loads(pickle.dumps(stack))
    assert isinstance(again.errors[1], warpalign.InvalidImageError)
    assert str(again.errors[1]) == str(stack.errors[1])
    assert again.errors[1].kind == "invalid_image"


def test_a_process_returns_results(image):
    moving = np.roll(image, 3, axis=1)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(warpalign.register, (image, moving), {"motion": "translation"})
    assert found.translation == pytest.approx((0, 3), abs=0.1)
    assert found.warp(moving).shape == image.shape
