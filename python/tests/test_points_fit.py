"""Transform.from_points: SciPy, scikit-image and NumPy are the oracle."""

import numpy as np
import pytest
import scipy.interpolate
import scipy.spatial.transform

from warpalign import Transform

NEEDED = {"translation": (1, 1), "rigid": (2, 3), "similarity": (2, 3), "affine": (3, 4),
          "homography": (4, None), "thin-plate": (3, 4)}


def points_of(ndim, count=40, seed=8):
    return np.random.default_rng(seed).uniform(0, 200, (count, ndim))


def rotation(ndim):
    if ndim == 2:
        return np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])
    return scipy.spatial.transform.Rotation.from_euler("xyz", (0.4, -0.7, 2.9)).as_matrix()


def truth(model, ndim):
    matrix = np.eye(ndim + 1)
    matrix[:-1, -1] = (5, -7, 11)[:ndim]
    if model in ("rigid", "similarity"):
        matrix[:-1, :-1] = rotation(ndim) * (1.3 if model == "similarity" else 1)
    elif model in ("affine", "homography"):
        matrix[:-1, :-1] = rotation(ndim) @ np.diag((1.2, 0.8, 1.1)[:ndim])
        if model == "homography":
            matrix[-1, :-1] = (1e-3, -5e-4)
    return matrix


def mapped(matrix, points):
    result = np.hstack([points, np.ones((len(points), 1))]) @ matrix.T
    return result[:, :-1] / result[:, -1:]


CASES = [(model, ndim) for model in ("translation", "rigid", "similarity", "affine", "homography")
         for ndim in (2, 3) if (model, ndim) != ("homography", 3)]


@pytest.mark.parametrize("world", [False, True])
@pytest.mark.parametrize("model, ndim", CASES)
def test_exact_points_give_the_matrix(model, ndim, world):
    source = points_of(ndim)
    matrix = truth(model, ndim)
    found = Transform.from_points(source, mapped(matrix, source), model, world=world)
    assert found.kind == model
    assert found.coordinates == ("world" if world else "pixels")
    # Coordinates of 200, and a homography's condition: some 1e5 roundings of 1e-16.
    np.testing.assert_allclose(found.matrix, matrix, atol=1e-9)


@pytest.mark.parametrize("model, ndim", CASES)
def test_as_few_points_as_the_model_needs(model, ndim):
    count = NEEDED[model][ndim - 2]
    source = points_of(ndim, count)
    target = mapped(truth(model, ndim), source)
    found = Transform.from_points(source, target, model)
    np.testing.assert_allclose(found.points(source), target, atol=1e-8)
    if count > 1:
        with pytest.raises(ValueError, match=f"needs at least {count} pairs"):
            Transform.from_points(source[1:], target[1:], model)


@pytest.mark.parametrize("model, ndim", CASES)
def test_a_fit_of_noisy_points_is_a_minimum_of_the_squares(model, ndim):
    random = np.random.default_rng(3)
    source = points_of(ndim)
    target = mapped(truth(model, ndim), source) + random.normal(0, 1, source.shape)
    found = Transform.from_points(source, target, model, robust=False)
    best = np.sum((found.points(source) - target) ** 2)
    # No model nearby is better: the oracle changes each parameter of the model.
    steps = [np.eye(ndim + 1) for _ in range(ndim)]
    for axis in range(ndim):
        steps[axis][axis, -1] = 1e-2
    centre = np.eye(ndim + 1)
    centre[:-1, -1] = target.mean(axis=0)
    if model != "translation":
        turn = np.zeros((ndim + 1, ndim + 1))
        turn[0, 1], turn[1, 0] = -1e-4, 1e-4
        steps.append(centre @ (np.eye(ndim + 1) + turn) @ np.linalg.inv(centre))
    if model in ("similarity", "affine", "homography"):
        steps.append(centre @ np.diag([1.0001] * ndim + [1.0]) @ np.linalg.inv(centre))
    if model in ("affine", "homography"):
        shear = np.eye(ndim + 1)
        shear[0, 1] = 1e-4
        steps.append(centre @ shear @ np.linalg.inv(centre))
    if model == "homography":
        bend = np.eye(3)
        bend[2, 0] = 1e-7
        steps.append(centre @ bend @ np.linalg.inv(centre))
    for step in steps:
        for change in (step, np.linalg.inv(step)):
            # A turn by 1e-4 lengthens by 5e-9, which changes the sum of 40 squares by 1e-5.
            assert np.sum((mapped(change @ found.matrix, source) - target) ** 2) > best - 1e-4


def test_an_affine_fit_is_numpys_least_squares():
    random = np.random.default_rng(3)
    source = points_of(3)
    target = mapped(truth("affine", 3), source) + random.normal(0, 1, source.shape)
    rows = np.hstack([source, np.ones((len(source), 1))])
    expected = np.linalg.lstsq(rows, target, rcond=None)[0].T
    found = Transform.from_points(source, target, "affine", robust=False)
    np.testing.assert_allclose(found.matrix[:-1], expected, atol=1e-9)


@pytest.mark.parametrize("model, ndim", CASES)
def test_a_third_of_wrong_pairs_does_no_harm(model, ndim):
    random = np.random.default_rng(9)
    source = points_of(ndim, 60)
    target = mapped(truth(model, ndim), source)
    wrong = random.permutation(60) < 20
    target[wrong] = random.uniform(0, 200, (20, ndim))
    found, used = Transform.from_points(source, target, model, return_inliers=True)
    # One of the wrong pairs may be right by chance: within 1e-7 of 200.
    np.testing.assert_array_equal(used, ~wrong)
    np.testing.assert_allclose(found.matrix, truth(model, ndim), atol=1e-8)
    spoiled = Transform.from_points(source, target, model, robust=False)
    assert np.abs(spoiled.points(source[~wrong]) - target[~wrong]).max() > 1


@pytest.mark.parametrize("ndim, kernel", [(2, "thin_plate_spline"), (3, "linear")])
def test_a_thin_plate_spline_is_scipys(ndim, kernel):
    random = np.random.default_rng(4)
    source = points_of(ndim)
    target = source + random.normal(0, 4, source.shape)
    found = Transform.from_points(source, target, "thin-plate", robust=False)
    oracle = scipy.interpolate.RBFInterpolator(source, target, kernel=kernel, degree=1)
    elsewhere = points_of(ndim, 300, seed=5)
    # Both solve a system of the condition 1e6 in double precision, for coordinates of 200.
    np.testing.assert_allclose(found.points(elsewhere), oracle(elsewhere), atol=1e-7)
    np.testing.assert_allclose(found.points(source), target, atol=1e-8)


def test_a_thin_plate_splines_jacobian_is_that_of_differences():
    source = points_of(2)
    target = source + np.random.default_rng(4).normal(0, 4, source.shape)
    found = Transform.from_points(source, target, "thin-plate", robust=False)
    step = 1e-3
    at = np.array([[10.0, 20], [11, 20], [30, 17]])
    columns = [(found.points(at + one) - found.points(at - one)) / (2 * step)
               for one in step * np.eye(2)]
    expected = np.linalg.det(np.stack(columns, axis=-1))
    determinants = found.jacobian((40, 40))
    # Differences of a step of 1e-3 are exact to the step squared times third derivatives.
    np.testing.assert_allclose([determinants[tuple(p.astype(int))] for p in at], expected,
                               atol=1e-5)


def test_a_robust_thin_plate_spline_leaves_out_wrong_pairs():
    source = points_of(2, 50)
    target = source + 3 * np.sin(source[:, ::-1] / 60)
    wrong = np.arange(50) % 10 == 3
    # Each in another direction: neighbours that are wrong in the same way agree with each other.
    angles = np.arange(50)
    spoiled = target + 40 * wrong[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    found, used = Transform.from_points(source, spoiled, "thin-plate", return_inliers=True)
    assert not used[wrong].any()
    # At the rim, a right pair may bend its neighbours as a wrong one does; a few are left out.
    assert used[~wrong].mean() >= 0.9
    assert np.abs(found.points(source) - target)[~wrong].max() < 1


def test_a_thin_plate_spline_is_kept_and_composed(tmp_path):
    import pickle

    source = points_of(3, 12)
    target = source + np.random.default_rng(4).normal(0, 4, source.shape)
    found = Transform.from_points(source, target, "thin-plate", robust=False)
    both = Transform.translation((1, 2, 3)) @ found
    np.testing.assert_allclose(both.points(source), target + [1, 2, 3], atol=1e-8)
    for transform in (found, both):
        transform.save(tmp_path / "t.npz")
        assert Transform.load(tmp_path / "t.npz") == transform
        assert pickle.loads(pickle.dumps(transform)) == transform


def test_the_registration_error_and_its_quantiles():
    source = points_of(2, 4)
    target = source + np.array([[0, 0], [3, 4], [0, 10], [0, 20]]) + [1, 2]
    errors = Transform.translation((1, 2)).registration_error(source, target,
                                                             quantiles=(0, 0.5, 1))
    np.testing.assert_allclose(errors.distances, [0, 5, 10, 20], atol=1e-12)
    assert errors.quantiles == pytest.approx({0.0: 0, 0.5: 7.5, 1.0: 20}, abs=1e-12)
    assert errors.max == pytest.approx(20)
    assert errors.rms == pytest.approx(np.sqrt(525 / 4))


def test_landmarks_of_bigwarp(tmp_path):
    (tmp_path / "t.csv").write_text('"Pt-0","true","1.5","2.5","10","20"\n'
                                    '"Pt-1","false","0","0","0","0"\n'
                                    '"Pt-2","true","Infinity","Infinity","3","4"\n'
                                    '"Pt-3","true","-1","2e1","5","6"\n')
    source, target = Transform.load_landmarks(tmp_path / "t.csv")
    np.testing.assert_array_equal(source, [[10, 20], [5, 6]])
    np.testing.assert_array_equal(target, [[1.5, 2.5], [-1, 20]])
    Transform.save_landmarks(tmp_path / "ours.csv", source, target)
    for found, expected in zip(Transform.load_landmarks(tmp_path / "ours.csv"), (source, target),
                               strict=True):
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="no landmarks of BigWarp"):
        (tmp_path / "t.csv").write_text("1,2,3\n")
        Transform.load_landmarks(tmp_path / "t.csv")


@pytest.mark.parametrize("source, target, model, message", [
    (np.zeros((3, 2)), np.zeros((4, 2)), "affine", "shape"),
    (np.zeros((3, 4)), np.zeros((3, 4)), "affine", "shape"),
    (np.full((3, 2), np.nan), np.zeros((3, 2)), "affine", "not finite"),
    (np.arange(8.0).reshape(4, 2), np.zeros((4, 2)), "affine", "line"),
    (np.ones((4, 2)), np.ones((4, 2)), "similarity", "the same"),
    (np.arange(8.0).reshape(4, 2), np.zeros((4, 2)), "thin-plate", "line"),
    (np.arange(12.0).reshape(4, 3), np.zeros((4, 3)), "homography", "plane"),
    (np.zeros((3, 2)), np.zeros((3, 2)), "spline", "model must be one of"),
    (np.zeros((501, 2)), np.zeros((501, 2)), "thin-plate", "up to 500"),
])
def test_points_that_determine_nothing_are_refused(source, target, model, message):
    with pytest.raises(ValueError, match=message):
        Transform.from_points(source, target, model)


@pytest.mark.parametrize("ndim", [2, 3])
def test_a_thin_plate_spline_has_an_inverse(tmp_path, ndim):
    random = np.random.default_rng(5)
    source = random.uniform(0, 60, (40, ndim))
    target = source + 3 + 1.5 * np.sin(source[:, ::-1] / 12)
    spline = Transform.from_points(source, target, "thin-plate", robust=False)
    inverse = spline.inverse()
    assert inverse.kind == "inverse" and inverse.residual < 1e-9
    points = random.uniform(-5, 65, (200, ndim))
    np.testing.assert_allclose(inverse.points(spline.points(points)), points, atol=1e-8)
    assert inverse.inverse() == spline
    inverse.save(tmp_path / "t.npz")
    assert Transform.load(tmp_path / "t.npz") == inverse
    target[[3, 9]] = target[[9, 3]]  # two points change places
    with pytest.raises(ValueError, match="thin-plate spline folds.* at x = "):
        Transform.from_points(source, target, "thin-plate", robust=False).inverse()
