"""Registrations that begin at a transform which the caller knows: `initial`."""

import numpy as np
import pytest
import scipy.ndimage

import warpalign
from warpalign._initial import initial_matrix, numbers_xy


@pytest.fixture(scope="module")
def tiles():
    """Two cuts of a texture that repeats itself every 20 pixels; the second one is at (3, 7)."""
    cell = scipy.ndimage.gaussian_filter(np.random.default_rng(5).random((20, 20)), 1, mode="wrap")
    whole = np.tile(cell * 255, (14, 14))
    noise = np.random.default_rng(6).normal(0, 2, (2, 256, 256))
    return whole[:256, :256] + noise[0], whole[3:259, 7:263] + noise[1]


def shifted(rows, columns):
    return np.array([[1, 0, rows], [0, 1, columns], [0, 0, 1.0]])


@pytest.mark.parametrize("motion", ["translation", "similarity"])
def test_of_equal_shifts_the_nearest_is_the_answer(tiles, motion):
    assert not warpalign.register(*tiles, motion=motion).reliable
    for rows, columns in ((-3, -7), (17, -7), (-23, 13)):
        found = warpalign.register(*tiles, motion=motion,
                                   initial=shifted(rows + 2, columns - 3))
        assert found.reliable and not found.ambiguous
        # The noise is a fiftieth of the texture's height, on 65 000 pixels.
        assert found.translation == pytest.approx((rows, columns), abs=0.05)


def test_a_former_result_a_matrix_and_points_lead_to_the_answer(scene, moved):
    moving = moved(scene, 25, 1.2, (10, -14))
    known = warpalign.register(scene, moving)
    assert known.reliable
    reference = np.array([[20.0, 30], [180, 40], [90, 200], [150, 170]])
    points = (reference, (reference @ known.matrix[:2, :2].T + known.matrix[:2, 2]).round())
    for initial in (known, known.matrix, known.matrix[:2], points, (points[0][:2], points[1][:2])):
        found = warpalign.register(scene, moving, initial=initial)
        assert found.reliable
        assert found.proposed_by == "initial"
        assert found.tried == ("initial",)
        np.testing.assert_allclose(found.matrix, known.matrix, atol=0.01)
    registrar = warpalign.Registrar()
    registrar.set_reference(scene)
    assert registrar.align(moving, initial=known).proposed_by == "initial"
    assert registrar.align(moving).proposed_by != "initial"


def test_an_initial_that_leads_nowhere_changes_nothing(scene, moved):
    moving = moved(scene, -30, 0.9, (5, 8))
    found = warpalign.register(scene, moving, initial=shifted(60, -70))
    assert found.reliable
    np.testing.assert_allclose(found.matrix, warpalign.register(scene, moving).matrix, atol=0.01)


def test_a_volume_begins_at_a_transform(volume):
    rotated = scipy.ndimage.rotate(volume, 8, axes=(1, 2), reshape=False, mode="mirror")
    known = warpalign.register_volume(volume, rotated, motion="rigid")
    assert known.reliable
    corners = np.array([[4.0, 5, 6], [25, 5, 8], [6, 30, 7], [8, 6, 35]])
    points = (corners, corners @ known.matrix[:3, :3].T + known.matrix[:3, 3])
    for initial in (known, known.matrix, np.eye(4), points):
        found = warpalign.register_volume(volume, rotated, motion="rigid", initial=initial)
        assert found.reliable
        np.testing.assert_allclose(found.matrix, known.matrix, atol=0.05)
    moving = scipy.ndimage.shift(volume, (2.25, -3, 1.5), mode="mirror")
    found = warpalign.register_volume(volume, moving, initial=([[10, 10, 10]], [[12, 7, 11]]))
    assert found.reliable
    assert found.translation == pytest.approx((2.25, -3, 1.5), abs=0.05)


def test_a_wrong_initial_raises(scene, volume):
    def refused(message, initial, **options):
        with pytest.raises(ValueError, match=message):
            warpalign.register(scene, scene, initial=initial, **options)

    refused("singular", np.diag([1, 0, 1]))
    refused("mirrors", np.diag([1, -1, 1]))
    refused("finite", shifted(np.nan, 0))
    refused("puts the images apart", shifted(400, 0))
    refused("options exclude", shifted(30, 0), max_shift=10)
    refused("fast", np.eye(3), fast=True)
    refused("initial must be", np.eye(4))
    refused("reference points", (np.zeros((3, 3)), np.zeros((3, 3))))
    refused("but 2 moving points", (np.zeros((3, 2)), np.zeros((2, 2))))
    refused("all the same point", (np.zeros((3, 2)), np.zeros((3, 2))))

    def refused_volume(message, initial, **options):
        with pytest.raises(ValueError, match=message):
            warpalign.register_volume(volume, volume, initial=initial, **options)

    far = np.eye(4)
    far[0, 3] = 90
    refused_volume("singular", np.diag([1, 0, 1, 1]), motion="affine")
    refused_volume("mirrors", np.diag([1, -1, 1, 1]), motion="affine")
    refused_volume("puts the volumes apart", far)
    quarter = np.array([[1, 0, 0, 0], [0, 0, -1, 30], [0, 1, 0, 0], [0, 0, 0, 1.0]])
    refused_volume("rotates by 90.00 degrees", quarter)
    refused_volume("max_rotation", quarter, motion="rigid", max_rotation=20)
    near = np.eye(4)
    near[2, 3] = 6
    refused_volume("along x", near, max_shift=(20, 20, 3))
    refused_volume("last row", np.array([*np.eye(4)[:3], [0.01, 0, 0, 1]]))


def test_points_give_the_transform_of_the_motion():
    random = np.random.default_rng(2)
    points = random.random((6, 2)) * 100
    turned = np.array([[0.8, -0.6], [0.6, 0.8]])
    similar = initial_matrix((points, 1.5 * points @ turned.T + (3, -4)), 2, "similarity")
    np.testing.assert_allclose(similar[:2], np.column_stack([1.5 * turned, (3, -4)]), atol=1e-9)
    rigid = initial_matrix((points, 1.5 * points @ turned.T), 2, "rigid")
    np.testing.assert_allclose(rigid[:2, :2], turned, atol=1e-9)
    sheared = np.array([[1.1, 0.3], [-0.1, 0.9]])
    affine = initial_matrix((points, points @ sheared.T), 2, "affine")
    np.testing.assert_allclose(affine[:2, :2], sheared, atol=1e-9)
    shift = initial_matrix((points, points + (5, 6)), 2, "translation")
    np.testing.assert_allclose(shift, shifted(5, 6), atol=1e-9)
    # Of mirrored points the nearest rotation, not a mirror image.
    assert np.linalg.det(initial_matrix((points, points[:, ::-1]), 2, "similarity")) > 0
    # With voxels of another size, the transform is rigid in millimetres.
    space = random.random((5, 3)) * 20
    spaced = initial_matrix((space, space * (1, 2, 2)), 3, "rigid", ((2, 2, 2), (2, 1, 1)))
    np.testing.assert_allclose(spaced, np.diag([1, 2, 2, 1]), atol=1e-9)


def test_numbers_are_those_of_x_y():
    assert numbers_xy(np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]])) == [5, 4, 6, 2, 1, 3, 8, 7, 9]


def test_each_pair_of_a_batch_looks_near_its_own(tiles):
    answers = [(-3, -7), (17, -7), (-23, 13)]
    near = [shifted(rows + 2, columns - 3) for rows, columns in answers]
    results = warpalign.register_batch([tiles] * 4, initial=[*near, None], motion="translation")
    for found, answer in zip(results, answers):
        assert found.reliable
        # The noise is a fiftieth of the texture's height, on 65 000 pixels.
        assert found.translation == pytest.approx(answer, abs=0.05)
    assert results[3].ambiguous
    # One for all, of pairs that are read one by one.
    for initial in (near[1], results[1]):
        for found in warpalign.register_batch(iter([tiles] * 2), initial=initial,
                                              motion="translation"):
            assert found.translation == pytest.approx(answers[1], abs=0.05)


def test_a_wrong_initial_of_a_batch_raises_before_anything_runs(tiles):
    pairs = [tiles] * 3

    def refused(message, *initial, **options):
        with pytest.raises(ValueError, match=message):
            warpalign.register_batch(pairs, initial=initial, motion="translation", **options)

    good = shifted(-3, -7)
    refused("2 transforms, but there are 3 pairs", good, good)
    refused("pair 2: .*singular", good, None, np.diag([1, 0, 1]))
    refused("pair 1: .*mirrors", None, np.diag([1, -1, 1]), good)
    refused("pair 0: .*puts the images apart", shifted(400, 0), good, good)
    refused("pair 0: .*options exclude", shifted(30, 0), good, good, max_shift=(20, 100))
    refused("transform 1 of 3: initial must be", good, np.eye(4), good)

    class Lazy:
        """Pairs that can be read only when their turn comes."""
        def __len__(self):
            return 2

        def __getitem__(self, index):
            return tiles

    found = warpalign.register_batch(Lazy(), initial=[good, np.diag([1, -1, 1])],
                                     motion="translation", on_error="return")
    assert found[0].reliable
    assert isinstance(found[1], ValueError) and "mirrors" in str(found[1])


@pytest.fixture(scope="module")
def drifting():
    """Frames of a texture that repeats itself every 20 pixels, which drifts by (-8, 7) each: too
    far for the frame before to decide."""
    cell = scipy.ndimage.gaussian_filter(np.random.default_rng(5).random((20, 20)), 1, mode="wrap")
    whole = np.tile(cell * 255, (14, 14))
    noise = np.random.default_rng(6).normal(0, 2, (4, 200, 200))
    starts = [(8 * i, 40 - 7 * i) for i in range(4)]
    return [whole[y:y + 200, x:x + 200] + noise[i] for i, (y, x) in enumerate(starts)]


@pytest.mark.parametrize("to", ["first", "previous", "mean", 2])
def test_each_frame_of_a_stack_looks_near_its_own(drifting, to):
    near = [shifted(-8 * i + 2 * (i > 0), 7 * i - 3 * (i > 0)) for i in range(4)]
    near[2] = shifted(-16, 14)
    found = warpalign.register_stack(drifting, to=to, initial=near, motion="translation")
    assert found.drift["reliable"].all()
    origin = to if to == 2 else 0
    for i in range(4):
        # As above, and again for each frame that leads there.
        np.testing.assert_allclose(found.matrices[i][:2, 2],
                                   [-8 * (i - origin), 7 * (i - origin)], atol=0.1)
    again = warpalign.register_stack(drifting, initial=found, motion="translation")
    np.testing.assert_allclose(again.matrices[3][:2, 2], [-24, 21], atol=0.1)


def test_one_initial_is_for_all_frames(drifting):
    frames = [drifting[0], drifting[1], drifting[1]]
    far = shifted(-8 + 20, 7 - 20)
    for given in (frames, iter(frames)):
        found = warpalign.register_stack(given, initial=far, motion="translation")
        assert found.drift["reliable"].all()
        np.testing.assert_allclose(found.matrices[1:, :2, 2], [[12, -13]] * 2, atol=0.05)


def test_a_wrong_initial_of_a_stack_raises_before_anything_runs(drifting):
    def refused(message, initial, frames=drifting, **options):
        with pytest.raises(ValueError, match=message):
            warpalign.register_stack(frames, initial=initial, motion="translation", **options)

    good = [shifted(-8 * i, 7 * i) for i in range(4)]
    refused("3 transforms, but there are 4 frames", good[:3])
    refused("frame 3: .*mirrors", [*good[:3], np.diag([1, -1, 1])])
    refused("frame 1: .*singular", [good[0], np.diag([1, 0, 1]), *good[2:]])
    refused("puts the images apart", shifted(400, 0))
    refused("frame 3: .*options exclude", good, max_shift=(20, 30))
    refused("must be counted", good, iter(drifting))
    warpalign.register_stack(drifting, initial=good, to="previous", motion="translation",
                             max_shift=(10, 10))
