"""Panoramas of photographs that are drawn with known cameras."""

import pickle

import numpy as np
import PIL.Image
import pytest
from drawn_views import Sphere, as_pixels, photograph, rotated

import warpalign
from warpalign._panoramas import _opencv_seams, _pairs
from warpalign._panoramas._rotation_model import rotation_of, straightened
from warpalign._panoramas._solution import Fitting, solve

# Largest error of a relative rotation, times the focal length, in pixels. The pairs of these small
# photographs are registered to some hundredths of a pixel where there is texture, and to a few
# tenths at the edges of overlaps; all pairs of a ring together determine a camera better.
ROTATION_PIXELS = 0.4
# Of the focal length. A ring determines it by its closure: half a pixel over a turn of 1400.
FOCAL_OF_RING = 4e-4
# Without a closed ring it follows from the perspective within pairs only.
FOCAL = 5e-3


def rotation_errors(found, truth, focal_length):
    """The largest differences of relative rotations, in pixels at the photographs' centres."""
    errors = []
    for i, (camera, one) in enumerate(zip(found, truth)):
        for other, another in zip(found[i + 1:], truth[i + 1:]):
            difference = camera.rotation @ other.rotation.T @ another @ one.T
            errors.append(np.arccos(np.clip((np.trace(difference) - 1) / 2, -1, 1)))
    return np.array(errors) * focal_length


class Ring:
    """Eight photographs around, held by hand and exposed differently, and one that is unrelated."""

    focal_length, shape, stranger = 225.0, (220, 300), 3

    def __init__(self):
        random = np.random.default_rng(3)
        self.sphere = Sphere(300)
        self.rotations = [rotated(45 * i + random.normal(0, 1), *random.normal(0, 2, 2))
                          for i in range(8)]
        self.exposures = random.uniform(0.7, 1.0, 8)
        views = [as_pixels(self.sphere.view(rotation, self.focal_length, self.shape), exposure)
                 for rotation, exposure in zip(self.rotations, self.exposures)]
        unrelated = as_pixels(photograph("hubble.jpg", self.shape))
        self.images = [*views[:self.stranger], unrelated, *views[self.stranger:]]
        self.found = warpalign.panorama(self.images)
        self.cameras = [camera for camera in self.found.cameras if camera is not None]


@pytest.fixture(scope="module")
def ring():
    return Ring()


def test_a_ring_closes(ring):
    found = ring.found
    assert found.model == "rotation" and found.projection == "cylindrical"
    assert found.field_of_view[1] == pytest.approx(360)
    assert found.shape[1] == pytest.approx(2 * np.pi * ring.focal_length, abs=2)
    assert found.image.shape == found.shape and found.image.dtype == np.uint8
    for camera in ring.cameras:
        assert camera.focal_length == pytest.approx(ring.focal_length, rel=FOCAL_OF_RING)
    errors = rotation_errors(ring.cameras, ring.rotations, ring.focal_length)
    assert errors.max() < ROTATION_PIXELS
    used = {(pair.reference, pair.moving) for pair in found.pairs if pair.outcome == "used"}
    assert (0, 8) in used  # the pair that closes the ring, whose numbers are furthest apart
    for pair in found.pairs:
        if pair.outcome == "used":
            assert pair.confidence >= 0.5 and pair.reason == ""
            assert pair.residual < ROTATION_PIXELS


def test_an_unrelated_photograph_is_left_out_by_name(ring):
    found = ring.found
    assert found.placed.tolist() == [i != ring.stranger for i in range(9)]
    assert found.left_out == ["image 3"] and found.cameras[ring.stranger] is None
    with_it = [pair for pair in found.pairs if ring.stranger in (pair.reference, pair.moving)]
    assert with_it and all(pair.outcome == "unreliable" and "confidence" in pair.reason
                           and np.isnan(pair.residual) for pair in with_it)
    with pytest.raises(ValueError, match="photograph 3 is not placed"):
        found.locate(3, [0, 0])


def test_the_horizon_is_level(ring):
    # The photographs are tilted by 2 degrees each way at random, of which the mean of eight leaves
    # 0.7 degrees; the axis is known to about that.
    for camera, rotation in zip(ring.cameras, ring.rotations):
        up = camera.rotation.T @ rotation @ [0, -1, 0]
        assert np.degrees(np.arccos(-up[1])) < 2


@pytest.mark.parametrize("rolls", [(0, 0, 0, 0, 0), (0, 90, 0, -90, 0), (90, 0, 0, 180, 0)])
def test_photographs_may_be_taken_across(rolls):
    rotations = np.array([rotated(25 * i, 3 * (-1) ** i, roll + (-1) ** i)
                          for i, roll in enumerate(rolls)])
    level = straightened(rotations @ rotated(10, 30, 40))
    vertical = level.transpose(0, 2, 1) @ rotations @ [0, 1, 0]
    # Tilts of 3 degrees and rolls of 1 degree do not cancel for five photographs.
    assert np.degrees(np.arccos(vertical[:, 1])).max() < 2


def test_a_column_of_photographs_stays_upright():
    rotations = np.array([rotated(0, latitude, roll)
                          for latitude, roll in ((-50, 1), (-20, -1), (10, 1), (40, -1))])
    level = straightened(rotations @ rotated(10, 30, 40))
    for one in level:
        assert np.degrees(np.arcsin(abs(one[0, 1]))) < 2  # x axes are level


def test_a_dome_is_level():
    random = np.random.default_rng(6)
    at = [(step * i, latitude) for latitude, step in ((0, 45), (-35, 45), (-70, 90))
          for i in range(360 // step)]
    rotations = np.array([rotated(longitude, latitude, random.normal(0, 1))
                          for longitude, latitude in at])
    level = straightened(rotations @ rotated(10, 30, 40))
    vertical = level.transpose(0, 2, 1) @ rotations @ [0, 1, 0]
    # Rolls of 1 degree, of which the mean of 20 leaves some tenths.
    assert np.degrees(np.arccos(vertical[:, 1])).max() < 1


def test_exposures_are_evened_out(ring):
    even = np.array([camera.gain for camera in ring.cameras]) * ring.exposures
    # The exposures differ by up to 30 %. What remains is due to the prior of the gains, rounding of
    # gray levels, and the noise of the means of overlaps.
    assert np.ptp(even) / even.mean() < 0.02


def test_the_picture_shows_the_scene(ring):
    """The picture, against the scene in the directions that the first camera gives its pixels."""
    found, camera, rotation = ring.found, ring.cameras[0], ring.rotations[0]
    rows, columns = found.shape
    longitude = (np.arange(columns) - (columns - 1) / 2) * 2 * np.pi / columns
    points = np.indices(ring.shape).reshape(2, -1).T[::997]
    at = found.locate(0, points)
    inside = found.image[tuple(np.rint(at).astype(int).T)]
    assert (inside > 0).mean() > 0.9  # the scene has some black
    # Rows of the picture are on a cylinder; the row of the horizon comes from locate().
    horizon = (np.array(ring.shape) - 1) / 2
    centre = camera.rotation.T @ [0, 0, 1]
    top = found.locate(0, horizon)[0] - centre[1] / np.hypot(*centre[[0, 2]]) * columns / 2 / np.pi
    height = (np.arange(rows) - top) * 2 * np.pi / columns
    x, y = np.meshgrid(longitude, height)
    directions = np.stack([np.sin(x), y, np.cos(x)], axis=-1)
    scene = ring.sphere.at(directions @ camera.rotation.T @ rotation)
    even = np.mean([camera.gain for camera in ring.cameras] * ring.exposures)
    known = (found.image > 0) & (found.image < 200) & (scene < 200)
    error = found.image[known] - even * scene[known]
    # Rounding, exposures to 1 %, and shifts of some tenths of a pixel where the scene is fine.
    assert np.median(np.abs(error)) < 1.5
    # 30 % of exposure alone would be tens of gray levels.
    assert np.sqrt((error ** 2).mean()) < 6


def test_other_images_of_the_same_cameras(ring):
    halves = [image // 2 for image in ring.images]
    fused = ring.found.fuse(halves)
    assert fused.shape == ring.found.shape
    # Halves are rounded down: half a level on average, and the result is rounded once more.
    assert np.abs(fused - (ring.found.image / 2)).mean() < 1
    colours = [np.stack([image, image, 255 - image], axis=-1) for image in ring.images]
    fused = ring.found.fuse(colours)
    assert fused.shape == (*ring.found.shape, 3)
    assert np.array_equal(fused[..., 0], ring.found.image)
    with pytest.raises(ValueError, match="9 photographs, not 8"):
        ring.found.fuse(ring.images[:8])
    with pytest.raises(ValueError, match="image 2 has the shape"):
        ring.found.fuse([image if i != 2 else image[:-1] for i, image in enumerate(ring.images)])


def test_seams_by_opencv(ring, monkeypatch):
    cv2 = pytest.importorskip("cv2")
    if not hasattr(cv2, "detail_GraphCutSeamFinder"):
        pytest.skip("this OpenCV has no stitching module")
    # Small photographs would be searched for seams at their whole size.
    monkeypatch.setattr(_opencv_seams, "_SEAM_PIXELS", 1e4)
    cut = ring.found.fuse(ring.images, seams="opencv")
    assert cut.shape == ring.found.shape and cut.dtype == np.uint8
    both = (cut > 0) & (ring.found.image > 0)
    assert both.mean() > 0.95 * (ring.found.image > 0).mean()
    # The same scene; along seams, bands of frequency are blended differently.
    assert np.median(np.abs(cut[both].astype(int) - ring.found.image[both])) <= 2
    with pytest.raises(ValueError, match="uint8"):
        ring.found.fuse([image.astype(np.float32) for image in ring.images], seams="opencv")


def test_results_can_be_pickled(ring):
    again = pickle.loads(pickle.dumps(ring.found))
    assert again.pairs[0] == ring.found.pairs[0] and np.array_equal(again.image, ring.found.image)
    assert np.array_equal(again.fuse(ring.images), ring.found.image)
    assert repr(again).startswith("<Panorama: 8 of 9 photographs")


def test_colour_files_of_two_sizes_in_any_order(tmp_path):
    sphere = Sphere(420, names=("bridge.jpg", "bee.jpg", "citrus.jpg"))
    # The last camera has another lens: the same field of view on fewer pixels.
    views = [(rotated(40, 2), 300.0, (240, 320)), (rotated(90, -3, 4), 300.0, (240, 320)),
             (rotated(65, 0, -2), 300.0, (240, 320)), (rotated(70, 14), 225.0, (180, 240))]
    paths = []
    for number, (rotation, focal_length, shape) in enumerate(views):
        gray = as_pixels(sphere.view(rotation, focal_length, shape))
        image = np.stack([gray, gray // 2, 255 - gray], axis=-1)
        paths.append(tmp_path / f"photograph{number}.png")
        PIL.Image.fromarray(image).save(paths[-1])
    found = warpalign.panorama(paths)
    assert found.placed.all() and found.model == "rotation"
    for camera, (_, focal_length, _) in zip(found.cameras, views):
        assert camera.focal_length == pytest.approx(focal_length, rel=FOCAL)
    # Half of the error of the focal length times half of the panorama's width, in pixels.
    assert rotation_errors(found.cameras, [view[0] for view in views], 300).max() < 2
    assert found.image.shape == (*found.shape, 3)
    known = (found.image[..., 0] > 20) & (found.image[..., 0] < 250)
    red, _, blue = found.image[known].T.astype(int)
    assert np.percentile(np.abs(red + blue - 255), 95) < 25  # gains scale both
    reference = found.cameras[found.reference]
    assert np.allclose(reference.matrix / reference.matrix[2, 2], np.eye(3))


def plane_views(shape=(220, 290)):
    """Photographs of a wall from several places, and the homographies from the wall to them."""
    wall = photograph("bridge.jpg", (460, 760))
    random = np.random.default_rng(8)
    images, homographies = [], []
    for row, column in ((30, 40), (40, 220), (60, 400), (170, 50), (190, 240), (180, 410)):
        homography = np.eye(3)
        homography[:2, :2] += random.normal(0, 0.03, (2, 2))
        homography[:2, 2] = -row, -column
        homography[2, :2] = random.normal(0, 2.5e-4, 2)
        homographies.append(homography)
        images.append(as_pixels(warpalign.Transform.homography(np.linalg.inv(homography)).warp(
            wall, output_shape=shape)))
    return images, homographies


def test_a_plane_by_homographies():
    images, homographies = plane_views()
    found = warpalign.panorama(images)
    assert found.model == "homography" and found.projection == "planar"
    assert found.field_of_view is None and found.placed.all()
    corners = np.array([[0, 0], [0, 289], [219, 0], [219, 289]], float)
    for camera, homography in zip(found.cameras, homographies):
        assert camera.rotation is None and camera.focal_length is None
        truth = homography @ np.linalg.inv(homographies[found.reference])
        ends = [warpalign.Transform.homography(matrix).points(corners)
                for matrix in (np.linalg.inv(truth), np.linalg.inv(camera.matrix))]
        # Pairs are exact to hundredths of a pixel within their overlaps, of half and less, and the
        # corners are extrapolated from these.
        assert np.linalg.norm(ends[0] - ends[1], axis=1).max() < 0.5
    # The picture has the pixels of the reference photograph.
    at = found.locate(found.reference, [[0, 0], [219, 289]])
    assert np.allclose(at, np.rint(at), atol=1e-6) and np.allclose(at[1] - at[0], [219, 289])
    with pytest.raises(ValueError, match="'auto' or 'planar'"):
        warpalign.panorama(images[:2], model="homography", projection="spherical", fuse=False)


def chain_of(count, step, focal_length):
    """Rotations, pairs of neighbours and their homographies, exact."""
    camera = np.diag([focal_length, focal_length, 1])
    rotations = [rotation_of([0.02 * (i % 3), -step * i, 0]) for i in range(count)]
    ends = [(i, j) for i in range(count) for j in range(i + 1, min(i + 3, count))]
    homographies = [camera @ rotations[j] @ rotations[i].T @ np.linalg.inv(camera)
                    for i, j in ends]
    return rotations, ends, homographies


def test_a_pair_that_contradicts_the_others_is_found():
    shapes = [(240, 320)] * 7
    rotations, ends, homographies = chain_of(7, 0.3, 280.0)
    wrong = chain_of(2, 0.25, 280.0)[2][0]  # a rotation, too, but another one
    solution = solve(Fitting(shapes, [*ends, (0, 6)], [*homographies, wrong],
                             [*[0.9] * len(ends), 1.0]), "auto")
    assert solution.model == "rotation" and solution.members == list(range(7))
    assert np.flatnonzero(solution.contradicted).tolist() == [len(ends)]
    assert solution.residuals[-1] > 100
    # Exact homographies leave what the fit's tolerance leaves.
    assert solution.residuals[:-1].max() < 1e-3
    assert solution.focal_lengths[0] == pytest.approx(280, rel=1e-5)


@pytest.fixture(scope="module")
def two():
    sphere = Sphere(300)
    return [as_pixels(sphere.view(rotated(longitude), 225.0, (200, 260)))
            for longitude in (100, 130)]


@pytest.mark.parametrize("projection", ["spherical", "cylindrical", "planar"])
def test_projections(two, projection):
    found = warpalign.panorama(two, projection=projection, fuse=False, straighten=False)
    assert found.projection == projection and found.image is None
    # Both photographs lay the same point at the same pixel, to their residual.
    pixel = np.array([100.0, 200.0])
    mapped = found.cameras[1].matrix @ np.linalg.inv(found.cameras[0].matrix) @ (*pixel, 1)
    both = found.locate(0, pixel), found.locate(1, mapped[:2] / mapped[2])
    assert np.allclose(*both, atol=1e-6)
    assert (0 <= both[0]).all() and (both[0] < found.shape).all()


def test_reduced_pairs_are_refined(two, monkeypatch):
    """As of large photographs: searched at a third of their size, refined at the whole."""
    truth = [rotated(100), rotated(130)]
    errors = []
    for fine in (100, 300):
        monkeypatch.setattr(_pairs, "_COARSE", 100)
        monkeypatch.setattr(_pairs, "_FINE", fine)
        found = warpalign.panorama(two, fuse=False)
        homography = np.linalg.inv(found.cameras[0].matrix) if found.reference == 1 else (
            found.cameras[1].matrix)
        camera = np.array([[0, 225.0, 99.5], [225, 0, 129.5], [0, 0, 1]])
        true = camera @ truth[1] @ truth[0].T @ np.linalg.inv(camera)
        points = np.array([[row, column] for row in (40, 100, 160) for column in (150, 230)])
        ends = [warpalign.Transform.homography(matrix).points(points)
                for matrix in (homography, true)]
        errors.append(np.linalg.norm(ends[0] - ends[1], axis=1).max())
    assert errors[1] < ROTATION_PIXELS
    assert errors[1] < errors[0]


def test_bad_input(two, tmp_path):
    refused = [
        ([two[0]], ValueError, "at least 2 photographs, not 1"),
        ([], ValueError, "at least 2 photographs, not 0"),
        ("folder", TypeError, "a sequence of photographs"),
        ([two[0], two[1][:50]], ValueError, "image 1 is 50 x 260 pixels"),
        ([two[0], np.stack([two[1]] * 3, axis=-1)], ValueError, "same channels: image 1 has 3"),
        ([two[0], np.stack([two[1]] * 4, axis=-1)], ValueError, "image 1 must be a gray image"),
        ([two[0], two[1].astype(np.uint16)], ValueError, "same type of pixels: image 1"),
        ([two[0], two[1] + 1j], TypeError, "image 1 must hold real numbers"),
        ([two[0] * np.float32(1), two[1] * np.float32(np.nan)], ValueError, "image 1 has pixels"),
        ([two[0], tmp_path / "none.png"], FileNotFoundError, "none.png"),
    ]
    for images, error, text in refused:
        with pytest.raises(error, match=text):
            warpalign.panorama(images)
    for options, text in (({"model": "affine"}, "model must be one of 'auto'"),
                          ({"projection": "fisheye"}, "projection must be one of"),
                          ({"seams": "knife"}, "seams must be one of 'feather', 'opencv'"),
                          ({"max_rotation": 0}, "max_rotation must be above 0"),
                          ({"min_confidence": 1.5}, "min_confidence must be above 0")):
        with pytest.raises(ValueError, match=text):
            warpalign.panorama(two, **options)


def test_the_most_that_are_connected_are_placed():
    sphere = Sphere(300)
    images = [as_pixels(sphere.view(rotated(longitude), 225.0, (200, 260)))
              for longitude in (250, 280, 100, 130, 160)]
    found = warpalign.panorama(images, fuse=False)
    assert found.placed.tolist() == [False, False, True, True, True]
    assert found.left_out == ["image 0", "image 1"]
    pairs = {(pair.reference, pair.moving): pair for pair in found.pairs}
    assert pairs[0, 1].outcome == "apart" and "image 0 and image 1" in pairs[0, 1].reason
    assert pairs[2, 3].outcome == pairs[3, 4].outcome == "used"


def test_photographs_that_do_not_match(two):
    other = as_pixels(photograph("hubble.jpg", (200, 260)))
    with pytest.raises(warpalign.Error, match="no two photographs match.*0 and 1"):
        warpalign.panorama([two[0], other])


def test_opencv_is_optional(two, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(ImportError, match=r"warpalign\[opencv\]"):
        warpalign.panorama(two, seams="opencv")
