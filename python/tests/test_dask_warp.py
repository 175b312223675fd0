"""warpalign.dask.warp against Transform.warp of the whole array."""

import cloudpickle
import numpy as np
import pytest
import scipy.ndimage
from dask_tolerances import TOLERANCE

import warpalign
from warpalign import Transform

dask = pytest.importorskip("dask")
import dask.array as da  # noqa: E402

import warpalign.dask as wd  # noqa: E402
from warpalign.dask._bounds import bounds_of  # noqa: E402
from warpalign.dask._blocks import regions_of  # noqa: E402

MODES = ["constant", "grid-constant", "nearest", "mirror", "reflect", "wrap", "grid-wrap"]
# The library rounds coordinates to float32: by 1e-5 samples at most in these images, with slopes of
# up to 2 per sample.
NEAR = TOLERANCE + 2e-5


def waves(shape, height, wavelength):
    """A smooth field of that height in pixels, which does not fold."""
    indices = np.indices(shape, np.float64)
    return np.stack([height * np.sin(indices[(axis + 1) % len(shape)] / wavelength + axis)
                     for axis in range(len(shape))])


def turn(degrees, ndim, about):
    """A rotation of the last two axes about a point, in array axes."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    matrix = np.eye(ndim + 1)
    matrix[-3:-1, -3:-1] = [[c, -s], [s, c]]
    matrix[:-1, -1] = about - matrix[:-1, :-1] @ about
    return Transform.rigid(matrix)


def kinds(shape):
    """A transform of each kind, for images of about this shape."""
    random = np.random.default_rng(5)
    ndim = len(shape)
    centre = np.array(shape) / 2
    grid = tuple(n // 8 + 5 for n in shape)
    bend = Transform.displacement(waves(shape, 4, 11))
    spline = Transform.bspline(random.normal(0, 1.5, (ndim, *grid)), origin=-12, spacing=8)
    points = random.uniform(0, min(shape), (12, ndim))
    around = turn(25, ndim, centre)
    projective = around.matrix
    projective[-1, :-1] = 1e-3
    direction = np.eye(ndim)
    direction[:2, :2] = [[0.8, -0.6], [0.6, 0.8]]
    world = warpalign.Geometry(shape, spacing=np.arange(1, ndim + 1) / 2, origin=-3,
                               direction=direction)
    coarse = waves(tuple(n // 6 for n in shape), 3, 3)
    found = {
        "translation": Transform.translation(np.arange(ndim) + 0.37),
        "affine": Transform.affine(0.9 * around.matrix + 0.1 * np.eye(ndim + 1)),
        "homography": Transform.homography(projective),
        "linear": bend,
        "linear on a coarse grid": Transform.displacement(coarse, origin=10.3, spacing=3.7),
        "cubic": Transform.displacement(coarse, interpolation="cubic", origin=4, spacing=5.5),
        "B-spline": spline,
        "inverse": bend.inverse(),
        "inverse of a B-spline": spline.inverse(),
        "thin-plate spline": Transform.from_points(
            points, points + random.normal(0, 1.5, points.shape), "thin-plate", robust=False),
        "chain": bend @ around @ spline.inverse() @ around.inverse(),
        "millimetres": bend.with_geometry(world, world).in_world(),
        "of reduced images": spline.on_grids((0.5, 2), (1, 3)),
    }
    found["inverse of a thin-plate spline"] = found["thin-plate spline"].inverse()
    return found


IMAGE_SHAPE, VOLUME_SHAPE = (131, 117), (40, 46, 52)
PLANE, SPACE = kinds(IMAGE_SHAPE), kinds(VOLUME_SHAPE)


@pytest.fixture
def image(random):
    return random.random(IMAGE_SHAPE)


@pytest.fixture
def volume(random):
    return random.random(VOLUME_SHAPE)


def computed(*arrays):
    return dask.compute(*arrays, scheduler="threads", num_workers=2)


def near(result, expected, tolerance=NEAR):
    assert isinstance(result, da.Array) and result.dtype == expected.dtype
    [values] = computed(result)
    assert values.shape == result.shape == expected.shape
    np.testing.assert_allclose(values, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PLANE)
def test_images_agree(image, name, mode):
    options = {"mode": mode, "cval": 0.25, "output_shape": (120, 140)}
    result = wd.warp(da.from_array(image, chunks=40), PLANE[name], output_chunks=(33, 50),
                     **options)
    assert result.chunks == ((33, 33, 33, 21), (50, 50, 40))
    near(result, PLANE[name].warp(image, **options))


def test_a_horizon_within_the_image(image):
    matrix = np.eye(3)
    matrix[-1] = -0.011, -0.007, 1.003  # no pixel is led to infinity, but neighbours to both sides
    beyond = Transform.homography(matrix)
    positions = beyond.positions(IMAGE_SHAPE)
    assert positions.min() < -1000 and positions.max() > 1000
    near(wd.warp(da.from_array(image, chunks=40), beyond), beyond.warp(image))


@pytest.mark.parametrize("order", [0, 1, 2, 5])
@pytest.mark.parametrize("name", ["linear", "chain", "homography"])
def test_orders_agree(image, name, order):
    options = {"order": order, "mode": "mirror"}
    result, = computed(wd.warp(da.from_array(image, chunks=40), PLANE[name], **options))
    expected = PLANE[name].warp(image, **options)
    if order == 0:  # a tie between two samples may fall to either of them
        assert (result != expected).mean() < 1e-3
    else:
        np.testing.assert_allclose(result, expected, rtol=0, atol=NEAR)


@pytest.mark.parametrize("mode", ["constant", "nearest"])
@pytest.mark.parametrize("name", SPACE)
def test_volumes_agree(volume, name, mode):
    result = wd.warp(da.from_array(volume, chunks=(20, 23, 26)), SPACE[name], mode=mode)
    assert result.chunks == ((20, 20), (23, 23), (26, 26))
    near(result, SPACE[name].warp(volume, mode=mode), 2 * NEAR)  # a third axis


@pytest.mark.parametrize("name", ["translation", "homography", "B-spline", "inverse"])
def test_holes_at_edges_of_chunks_and_of_the_image_agree(image, name):
    image[30:50, 36:44] = image[:4, 60:80] = image[100:131, 110:] = np.nan
    options = {"missing": "ignore", "weights": True, "mode": "constant", "cval": -1}
    values, weights = computed(*wd.warp(da.from_array(image, chunks=40), PLANE[name], **options))
    expected, shares = PLANE[name].warp(image, **options)
    assert np.isnan(expected).any() and (expected == -1).any()
    np.testing.assert_array_equal(np.isnan(values), np.isnan(expected))
    np.testing.assert_allclose(values, expected, rtol=0, atol=NEAR)
    np.testing.assert_allclose(weights, shares, rtol=0, atol=5e-5)  # rounded coordinates
    near(wd.warp(da.from_array(image, chunks=40), PLANE[name], mode="constant", cval=-1), expected)


@pytest.mark.parametrize("name", ["translation", "linear"])
def test_channels_stay(random, name):
    colours = random.random((90, 80, 3))
    chunked = da.from_array(colours, chunks=(40, 40, 2))
    result = wd.warp(chunked, PLANE[name])
    assert result.chunks == ((40, 40, 10), (40, 40), (2, 1))
    near(result, PLANE[name].warp(colours))
    colours[20:30, 35:45, 1] = np.nan
    values, weights = computed(*wd.warp(da.from_array(colours, chunks=(40, 40, 2)), PLANE[name],
                                        weights=True))
    expected, shares = PLANE[name].warp(colours, weights=True)
    np.testing.assert_allclose(values, expected, rtol=0, atol=NEAR)
    np.testing.assert_allclose(weights, shares, rtol=0, atol=5e-5)


def test_labels_and_integers_agree(random):
    labels = np.kron(random.integers(0, 5, (14, 12)), np.ones((9, 9), int))[:120, :101] * 1000
    bend = PLANE["linear"]
    [result] = computed(wd.warp(da.from_array(labels, chunks=50), bend, labels=True, order=1))
    assert set(np.unique(result)) <= set(np.unique(labels)) | {0}
    # Coverages that differ by less than 1e-4 are ties, and chunks have other halos.
    assert (result != bend.warp(labels, labels=True, order=1)).mean() < 1e-3
    levels = (random.random(IMAGE_SHAPE) * 250).astype(np.uint8)
    [result] = computed(wd.warp(da.from_array(levels, chunks=50), bend))
    # Errors of 250 * NEAR round a half to the other side.
    assert (result != bend.warp(levels)).mean() < 1e-2
    assert wd.warp(levels, bend, output=np.float32).dtype == np.float32


@pytest.mark.parametrize("shape, transforms", [(IMAGE_SHAPE, PLANE), (VOLUME_SHAPE, SPACE)])
def test_bounds_hold_all_positions(shape, transforms):
    # Chunks inside of the fields' grids, across their edges, and outside.
    chunks = tuple((7, n // 2 - 7, n - n // 2 + 30) for n in shape)
    for name, transform in transforms.items():
        transform = transform.in_pixels()
        box_of = bounds_of(transform)
        positions = transform.positions(tuple(map(sum, chunks)))
        for _, region in regions_of(chunks):
            inside = positions[:, *region].reshape(len(shape), -1)
            low, high = box_of(region)
            assert (low <= inside.min(1)).all() and (inside.max(1) <= high).all(), (name, region)


def test_bounds_of_small_regions_depend_on_the_right_samples():
    # A region that misses one of the samples that a value depends on has a bound of about 0.
    spike = np.zeros((2, 9, 8))
    spike[:, 4, 3] = 1000
    around = np.ones((3, 3)) * np.array([1, 4, 1]) * np.array([[1], [4], [1]]) / 36
    samples = scipy.ndimage.convolve(spike, around[None])  # whose cubic coefficients are the spike
    for transform in (Transform.displacement(spike, origin=2, spacing=5),
                      Transform.displacement(samples, interpolation="cubic", origin=2, spacing=5),
                      Transform.bspline(spike, origin=2, spacing=5)):
        box_of = bounds_of(transform)
        positions = transform.positions((48, 44))
        for _, region in regions_of(((2,) * 24, (2,) * 22)):
            inside = positions[:, *region].reshape(2, -1)
            low, high = box_of(region)
            assert (low <= inside.min(1)).all() and (inside.max(1) <= high).all(), region


def test_bounds_are_not_much_wider_than_necessary():
    # The field of waves changes by 4 / 11 per pixel, so an inverse is bounded to 0.5 + 4 / 11 * 2
    # pixels, a linear field to its samples, and a spline to its control points at 2 cells' distance
    # (0.73 cells of 8 pixels). Rotations to and fro widen a box by 0.8 + 0.6 at each end only for
    # what lies between them.
    shape = (600, 500)
    bend = Transform.displacement(waves(shape, 4, 11))
    spline = Transform.bspline(waves((80, 68), 4, 11 / 2), origin=-12, spacing=8)
    around = turn(37, 2, np.array([300.0, 200.0]))
    region = (slice(200, 300), slice(210, 330))
    for transform, excess in ((bend, 1e-3), (bend.inverse(), 2), (spline, 6),
                              (around.inverse() @ spline @ around, 14)):
        inside = transform.positions(shape)[:, *region].reshape(2, -1)
        low, high = bounds_of(transform)(region)
        assert (inside.min(1) - low).max() < excess and (high - inside.max(1)).max() < excess


def test_a_chunk_reads_only_the_chunks_that_it_needs(random):
    array = random.random((500, 500))
    read = []

    def counted(block, block_info=None):
        read.append(tuple(block_info[0]["chunk-location"]))
        return block

    source = da.from_array(array, chunks=50).map_blocks(counted, dtype=float, meta=np.empty((0, 0)))
    shift = np.zeros((2, 500, 500))
    shift[1] = 100 + 3 * np.sin(np.arange(500) / 40)[:, None]
    bend = Transform.displacement(shift)
    warped = wd.warp(source, bend, missing="spread")
    assert not read  # nothing is read when the graph is made
    warped.blocks[4, 3].compute(scheduler="synchronous")
    # The chunk (4, 5) and, within the halo of 17 samples, its neighbours.
    assert sorted(read) == [(row, column) for row in (3, 4, 5) for column in (4, 5, 6)]
    read.clear()
    warped.blocks[4, 9].compute(scheduler="synchronous")  # leads beyond the right edge
    assert read == [(0, 0)]  # a sample, of which all values are cval


def test_the_transform_is_one_node_of_the_graph(random):
    bend = Transform.displacement(waves((400, 400), 3, 20))
    warped = wd.warp(da.from_array(random.random((400, 400)), chunks=100), bend)
    for graph in (warped.dask, dask.optimize(warped)[0].dask):
        sizes = {key: len(cloudpickle.dumps(node)) for key, node in dict(graph).items()
                 if str(key[0] if isinstance(key, tuple) else key).startswith("warpalign")}
        large = [key for key, size in sizes.items() if size > 20000]
        assert len(large) == 1 and sizes[large[0]] > bend.field().nbytes
    again = wd.warp(da.from_array(np.zeros((400, 400)), chunks=100), bend)
    assert large[0] in again.dask  # computed together, two images share it, too


def test_other_processes_compute_the_same(image):
    result = wd.warp(da.from_array(image, chunks=80), PLANE["chain"], weights=True)
    values, _ = dask.compute(*result, scheduler="processes", num_workers=1)
    np.testing.assert_allclose(values, PLANE["chain"].warp(image), rtol=0, atol=NEAR)


def test_the_shape_of_the_reference_is_the_default(image):
    fixed = warpalign.Geometry((70, 60), spacing=2)
    bend = PLANE["linear"].with_geometry(reference=fixed)
    assert wd.warp(image, bend).shape == (70, 60) == bend.warp(image).shape
    assert wd.warp(image, PLANE["linear"]).shape == IMAGE_SHAPE


def test_wrong_arguments_are_refused_before_anything_runs():
    def read(_block):
        raise AssertionError("a chunk was read")

    image = da.zeros((60, 70), chunks=30).map_blocks(read, dtype=float, meta=np.empty((0, 0)))
    bend = Transform.displacement(waves((60, 70), 2, 9))
    with pytest.raises(TypeError, match="must be a warpalign.Transform, not ndarray"):
        wd.warp(image, np.eye(3))
    with pytest.raises(ValueError, match="at least 3 axes, not 2"):
        wd.warp(image, Transform.translation((1, 2, 3)))
    for shape in ((60,), (60, 0), (60, 70, 3)):
        with pytest.raises(ValueError, match="output_shape must be 2 extents"):
            wd.warp(image, bend, output_shape=shape)
    with pytest.raises(ValueError, match="geometry"):
        wd.warp(image, Transform.from_points([[0, 0]], [[1, 1]], "translation", world=True))
    with pytest.raises(RuntimeError, match="spline order"):
        wd.warp(image, bend, order=6)
    with pytest.raises(RuntimeError, match="boundary mode"):
        wd.warp(image, bend, mode="around")
    with pytest.raises(ValueError, match="needs missing='ignore'"):
        wd.warp(image, bend, missing="spread", nodata=0)
    with pytest.raises(TypeError, match="labels=True needs an input of integers"):
        wd.warp(image, bend, labels=True)
    with pytest.raises(ValueError, match="labels"):
        wd.warp(image.astype(int), bend, labels=True, missing="ignore")


def test_integers_keep_nodata(random):
    levels = (1 + random.random(IMAGE_SHAPE) * 250).astype(np.uint8)
    levels[40:60, 30:50] = 0
    bend = PLANE["B-spline"]
    [values] = computed(wd.warp(da.from_array(levels, chunks=40), bend, nodata=0, mode="mirror"))
    expected = bend.warp(levels, nodata=0, mode="mirror")
    np.testing.assert_array_equal(values == 0, expected == 0)
    assert np.abs(values.astype(int) - expected).max() <= 1


def test_points_that_scipy_evaluates_agree(image):
    # Another oracle: SciPy at the positions, for the transform that warps.
    bend = PLANE["linear"]
    points = np.indices(IMAGE_SHAPE) + waves(IMAGE_SHAPE, 4, 11)
    near(wd.warp(da.from_array(image, chunks=40), bend, mode="mirror"),
         scipy.ndimage.map_coordinates(image, points, mode="mirror"))
