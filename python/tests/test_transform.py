"""warpalign.Transform: SciPy's interpolation and NumPy's matrices are the oracle."""

import copy
import json
import pickle

import numpy as np
import pytest
import scipy.ndimage

import warpalign
from warpalign import Transform

AFFINE = np.array([[0.9, 0.2, 3.5], [-0.1, 1.1, -2.0], [0, 0, 1]])
HOMOGRAPHY = np.array([[0.9, 0.2, 3.5], [-0.1, 1.1, -2.0], [1e-3, -2e-3, 1]])


def smooth_field(shape, largest, seed=3, dtype=np.float64):
    random = np.random.default_rng(seed)
    field = np.stack([scipy.ndimage.gaussian_filter(random.standard_normal(shape), 6)
                      for _ in shape])
    return (field * (largest / np.abs(field).max())).astype(dtype)


def inside(shape, count=500, seed=4):
    return np.random.default_rng(seed).uniform(0, np.array(shape) - 1, (count, len(shape)))


def mapped(matrix, points):
    ones = np.ones((len(points), 1))
    result = np.hstack([points, ones]) @ matrix.T
    return result[:, :-1] / result[:, -1:]


@pytest.mark.parametrize("matrix", [AFFINE, HOMOGRAPHY], ids=["affine", "homography"])
def test_matrices_map_points_in_array_axes(matrix):
    transform = (Transform.affine if matrix is AFFINE else Transform.homography)(matrix)
    points = inside((80, 60))
    # Both are in double precision; coordinates are below 100.
    np.testing.assert_allclose(transform.points(points), mapped(matrix, points), atol=1e-11)
    np.testing.assert_array_equal(transform.matrix, matrix)
    np.testing.assert_allclose(transform.inverse().points(transform.points(points)), points,
                               atol=1e-10)


@pytest.mark.parametrize("shape", [(40, 50), (20, 24, 28)])
@pytest.mark.parametrize("interpolation, order", [("linear", 1), ("cubic", 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_displacements_are_interpolated_in_axis_order(shape, interpolation, order, dtype):
    field = smooth_field(shape, 3, dtype=dtype)
    points = inside(shape)
    expected = points + np.stack([
        scipy.ndimage.map_coordinates(u.astype(np.float64), points.T, order=order, mode="mirror")
        for u in field], axis=1)
    transform = Transform.displacement(field, interpolation=interpolation)
    # Coefficients of a cubic field of float32 are rounded to float32, 6e-8 of 5.
    allowed = 1e-6 if (dtype, order) == (np.float32, 3) else 1e-12
    np.testing.assert_allclose(transform.points(points), expected, atol=allowed)
    np.testing.assert_allclose(transform.field(), field, atol=allowed)


def test_a_coarse_grid_lies_where_origin_and_spacing_say():
    field = smooth_field((12, 10), 2)
    transform = Transform.displacement(field, origin=(-3, 5), spacing=(4, 8))
    points = np.array([[-3 + 4 * 5, 5 + 8 * 2], [-3 + 4 * 7.5, 5 + 8 * 3.0]])
    displacements = [field[:, 5, 2], (field[:, 7, 3] + field[:, 8, 3]) / 2]
    np.testing.assert_allclose(transform.points(points) - points, displacements, atol=1e-12)


def test_beyond_the_grid_as_asked():
    field = np.ones((2, 5, 6)) * np.array([2, -1])[:, None, None]
    transform = Transform.displacement(field)
    far = [[-10.0, 3.0]]
    np.testing.assert_array_equal(transform.points(far), [[-8, 2]])
    np.testing.assert_array_equal(transform.points(far, outside="zero"), far)
    assert np.isnan(transform.points(far, outside="nan")).all()


@pytest.mark.parametrize("shape", [(40, 50), (20, 24, 28)])
def test_the_inverse_of_a_field_leads_back(shape):
    transform = Transform.displacement(smooth_field(shape, 2))
    points = inside(shape)
    inverse = transform.inverse()
    # Newton's method ends at a residual of 1e-9 pixels or less.
    np.testing.assert_allclose(transform.points(inverse.points(points)), points, atol=1e-8)
    assert inverse.kind == "inverse" and inverse.residual < 1e-8
    assert inverse.inverse() == transform


def test_a_field_that_folds_has_no_inverse():
    field = np.zeros((2, 20, 20))
    field[0, 10] = 5  # row 10 comes to lie beyond row 11
    folded = Transform.displacement(field)
    assert folded.jacobian().min() < 0
    with pytest.raises(ValueError, match="fold"):
        folded.inverse()


def test_jacobian_of_a_scaling_and_of_a_field():
    assert Transform.affine(np.diag([2, 3, 1.0])).jacobian((4, 5)) == pytest.approx(6)
    rows, columns = np.mgrid[:30, :40]
    field = np.stack([0.1 * rows + 0.2 * columns, -0.3 * rows])
    # The derivatives are constant: (1.1)(1) - (0.2)(-0.3).
    assert Transform.displacement(field).jacobian() == pytest.approx(1.16)


def test_jacobian_without_a_shape():
    affine = Transform.affine(np.diag([2, 3, 1.0]))
    assert affine.jacobian().shape == () and affine.jacobian().min() == pytest.approx(6)
    grid = warpalign.Geometry((4, 5))
    homography = Transform.homography([[1, 0, 0], [0, 1, 0], [1e-3, 0, 1]])
    with pytest.raises(ValueError, match="give a shape"):
        homography.jacobian()
    located = homography.with_geometry(reference=grid, moving=grid)
    np.testing.assert_array_equal(located.jacobian(), homography.jacobian((4, 5)))
    bend = Transform.displacement(np.random.default_rng(0).normal(0, 0.1, (2, 6, 7)))
    assert (affine @ bend).jacobian() == pytest.approx(6 * bend.jacobian())


def test_the_inverse_of_a_field_has_its_grid():
    field = Transform.displacement(smooth_field((30, 40), 2.0))
    inverse = field.inverse()
    there = inverse.positions()
    assert there.shape == (2, 30, 40)
    # The determinant of the inverse is one over that of the field, where it leads.
    expected = [1 / field.jacobian((30, 40))[4, 7]]
    at = field.points([[4.0, 7.0]])
    near = Transform.displacement(inverse.field(), interpolation="cubic").points(at)
    np.testing.assert_allclose(near, [[4, 7]], atol=0.01)  # sampled once a pixel
    assert inverse.jacobian().shape == (30, 40) and (inverse.jacobian() > 0).all()
    assert abs(inverse.jacobian()[tuple(np.rint(at[0]).astype(int))] - expected[0]) < 0.1


def test_points_of_any_number_of_axes():
    affine = Transform.affine(AFFINE)
    points = np.random.default_rng(0).uniform(0, 9, (3, 4, 2))
    found = affine.points(points)
    np.testing.assert_array_equal(found, affine.points(points.reshape(-1, 2)).reshape(3, 4, 2))
    np.testing.assert_array_equal(affine.points(points[1, 2]), found[1, 2])


def test_composition_applies_the_right_one_first():
    first, second = Transform.affine(AFFINE), Transform.displacement(smooth_field((60, 70), 3))
    points = inside((50, 50))
    for chain in (second @ first, first @ second, first @ Transform.homography(HOMOGRAPHY)):
        last, before = chain.members[-1:], chain.members[:-1]
        assert chain.kind in ("chain", "homography") and (last or before)
    np.testing.assert_allclose((second @ first).points(points),
                               second.points(first.points(points)), atol=1e-12)
    np.testing.assert_allclose((first @ second).inverse().points((first @ second).points(points)),
                               points, atol=1e-8)
    np.testing.assert_allclose((first @ first).matrix, AFFINE @ AFFINE, atol=1e-14)


def every_kind():
    yield Transform.translation((1.5, -2))
    yield Transform.affine(AFFINE)
    yield Transform.homography(HOMOGRAPHY)
    yield Transform.affine(np.diag([1, 2, 3, 1.0]))
    yield Transform.displacement(smooth_field((9, 12), 1, dtype=np.float32), spacing=2)
    yield Transform.displacement(smooth_field((9, 8, 7), 1), interpolation="cubic")
    yield Transform.bspline(smooth_field((9, 12), 1), origin=(-2, -1), spacing=(3, 4))
    yield Transform.displacement(smooth_field((9, 12), 1)).inverse()
    yield Transform.displacement(smooth_field((9, 12), 1)) @ Transform.affine(AFFINE)


@pytest.mark.parametrize("number", range(9))
def test_pickles_copies_and_npz_files_are_equal(number, tmp_path):
    transform = list(every_kind())[number]
    transform.save(tmp_path / "t.npz")
    assert [p.name for p in tmp_path.iterdir()] == ["t.npz"]
    for other in (pickle.loads(pickle.dumps(transform)), copy.deepcopy(transform),
                  Transform.load(tmp_path / "t.npz")):
        assert other == transform
        assert repr(other) == repr(transform)
    assert transform != Transform.translation((9, 9))


def test_json_files_are_in_xy_as_the_reports_of_the_program(tmp_path):
    path = tmp_path / "t.json"
    Transform.affine(AFFINE).save(path)
    assert json.loads(path.read_text())["matrix"] == [[1.1, -0.1, -2.0], [0.2, 0.9, 3.5], [0, 0, 1]]
    assert Transform.load(path) == Transform.affine(AFFINE)
    path.write_text(json.dumps({"status": "ok", "motion": "similarity",
                                "matrix": [[1, 0, 7], [0, 1, -3]]}))
    assert Transform.load(path).points([[0.0, 0.0]]).tolist() == [[-3, 7]]


@pytest.mark.parametrize("content, reason", [
    (b"", "not a transform"), (b"{", "not a transform"), (b"[]", "matrix"),
    (b'{"matrix": [[1, 2], [3]]}', "not a transform"), (b'{"matrix": [[1, 2], [3, 4]]}', "shape"),
    (b'{"schema": "warpalign-transform", "version": 9, "matrix": []}', "version 9"),
    (b"PK\x03\x04" + bytes(50), "not a transform"), (b"\xff\xfe\x00", "not a transform"),
])
def test_files_that_are_no_transforms_are_refused(content, reason, tmp_path):
    path = tmp_path / "bad"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=reason):
        Transform.load(path)


def test_files_cut_anywhere_are_refused(tmp_path):
    path = tmp_path / "t.npz"
    (Transform.displacement(smooth_field((9, 12), 1)) @ Transform.affine(AFFINE)).save(path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 101):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="not a transform"):
            Transform.load(path)


def test_bad_arguments_are_refused(tmp_path):
    for make, argument in [(Transform.affine, np.eye(2)), (Transform.affine, HOMOGRAPHY),
                           (Transform.rigid, AFFINE), (Transform.affine, np.full((3, 3), np.nan)),
                           (Transform.translation, [1]),
                           (Transform.displacement, np.ones((3, 4, 4))),
                           (Transform.displacement, np.full((2, 4, 4), np.inf)),
                           (Transform.bspline, np.ones((2, 3, 4)))]:
        with pytest.raises(ValueError):
            make(argument)
    affine = Transform.affine(AFFINE)
    with pytest.raises(ValueError, match="singular"):
        Transform.affine(np.diag([1, 0, 1.0])).inverse()
    with pytest.raises(ValueError, match=r"\(n, 2\)"):
        affine.points([1, 2, 3])
    with pytest.raises(ValueError, match="dimensions"):
        affine @ Transform.affine(np.eye(4))
    with pytest.raises(ValueError, match="give a shape"):
        affine.field()
    with pytest.raises(ValueError, match=".npz"):
        Transform.displacement(np.zeros((2, 4, 4))).save(tmp_path / "t.json")
    with pytest.raises(ValueError, match=".json or .npz"):
        affine.save(tmp_path / "t.xyz")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TypeError):
        affine @ AFFINE
    with pytest.raises(TypeError):
        Transform()


def test_warp_interpolates_once(scene):
    chain = Transform.displacement(smooth_field(scene.shape, 4)) @ Transform.affine(AFFINE)
    image = np.stack([scene, 2 * scene], axis=-1).astype(np.float32)
    points = np.stack(np.mgrid[:100, :90], -1).reshape(-1, 2).astype(np.float64)
    expected = scipy.ndimage.map_coordinates(scene, chain.points(points).T, mode="mirror")
    warped = chain.warp(image, output_shape=(100, 90), mode="mirror")
    assert warped.shape == (100, 90, 2) and warped.dtype == np.float32
    # Coordinates are float32 (8e-6 of a pixel at 200), and the image has slopes up to 50.
    np.testing.assert_allclose(warped[..., 0].ravel(), expected, atol=2e-3)
    np.testing.assert_allclose(warped[..., 1], 2 * warped[..., 0], atol=1e-4)
    affine = Transform.affine(AFFINE)
    np.testing.assert_array_equal(
        affine.warp(scene), warpalign.ndimage.affine_transform(scene, AFFINE, mode="constant"))


def most_covered(labels, positions, order):
    """The label with the largest interpolated coverage, by SciPy; 0 beyond the edges."""
    values = np.unique(labels)
    coverage = [scipy.ndimage.map_coordinates((labels == value).astype(float), positions,
                                              order=order, mode="constant", cval=value == 0)
                for value in values]
    ranked = np.sort(coverage, axis=0)
    clear = ranked[-1] - ranked[-2] > 1e-3  # else rounding decides
    for axis, length in zip(positions, labels.shape):  # as it does on the edges
        clear &= (np.abs(axis) > 1e-3) & (np.abs(axis - (length - 1)) > 1e-3)
    return values[np.argmax(coverage, axis=0)], clear


@pytest.mark.parametrize("kind", ["affine", "homography", "field", "volume"])
def test_labels_are_warped_unmixed(kind):
    random = np.random.default_rng(5)
    shape = (12, 14, 13) if kind == "volume" else (40, 44)
    coarse = random.integers(0, 4, tuple(-(-n // 4) for n in shape)) * 1000
    labels = np.kron(coarse, np.ones((4,) * len(shape), int))[tuple(map(slice, shape))]
    labels = labels.astype(np.int32)
    matrix = np.array([[1.05, 0.1, -2], [-0.08, 0.95, 1.5], [0, 0, 1]])
    transform = {
        "affine": lambda: Transform.affine(matrix),
        "homography": lambda: Transform.homography(matrix + [[0] * 3, [0] * 3, [1e-3, 0, 0]]),
        "field": lambda: Transform.displacement(random.normal(0, 0.3, (2, *shape))),
        "volume": lambda: Transform.displacement(random.normal(0, 0.3, (3, *shape)))}[kind]()
    for order in (1, 3):
        found = transform.warp(labels, order=order, labels=True)
        expected, clear = most_covered(labels, transform.positions(shape), order)
        assert found.dtype == labels.dtype and clear.mean() > 0.9
        np.testing.assert_array_equal(found[clear], expected[clear])
    with pytest.raises(TypeError, match="labels=True needs an input of integers"):
        transform.warp(labels.astype(float), labels=True)


def test_results_warp_labels(scene, moved):
    moving = moved(scene, 5, 1, (3, -4))
    found = warpalign.register(scene, moving)
    labels = (moving > np.median(moving)).astype(np.uint16) * 700 + 5
    expected = found.transform.warp(labels, output_shape=found.reference_shape, order=1,
                                    labels=True)
    warped = found.warp(labels, order=1, labels=True)
    assert set(np.unique(warped)) <= {0, 5, 705}
    np.testing.assert_array_equal(warped, expected)


def test_results_have_transforms(scene, moved):
    found = warpalign.register(scene, moved(scene, 5, 1, (3, -4)))
    points = inside(scene.shape, 5)
    np.testing.assert_allclose(found.transform.points(points), mapped(found.matrix, points),
                               atol=1e-10)
    stack = warpalign.register_stack([scene, scene])
    assert [t.kind for t in stack.transforms] == ["affine", "affine"]


def test_a_transform_of_reduced_and_cropped_images_serves_whole_ones():
    field = smooth_field((30, 40), 2)
    found = Transform.affine(AFFINE) @ Transform.displacement(field)
    whole = found.on_grids(reference=((10, 20), 1), moving=(0.5, (2, 4)))
    points = inside((25, 35)) + [10, 20]
    expected = found.points(points - [10, 20]) * [2, 4] + 0.5
    np.testing.assert_allclose(whole.points(points), expected, atol=1e-11)
    assert whole.coordinates == "pixels"
    np.testing.assert_allclose(Transform.affine(AFFINE).on_grids().matrix, AFFINE, atol=1e-14)
    with pytest.raises(ValueError, match="pair"):
        found.on_grids(reference=3)
    with pytest.raises(ValueError):
        found.on_grids(moving=(0, 0))
