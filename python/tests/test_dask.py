"""warpalign.dask against SciPy, and against the functions for whole arrays."""

import logging
import os
import pathlib
import runpy
import signal
import threading
import time

import numpy as np
import pytest
import scipy.ndimage
from dask_tolerances import TOLERANCE, tolerance_for

import warpalign
from warpalign import ndimage

dask = pytest.importorskip("dask")
import dask.array as da  # noqa: E402

import warpalign.dask as wd  # noqa: E402

MODES = ["constant", "grid-constant", "nearest", "mirror", "reflect", "grid-mirror", "wrap",
         "grid-wrap"]

EXAMPLE = pathlib.Path(__file__).parents[2] / "examples" / "dask" / "align_frames.py"


@pytest.fixture
def image(random):
    return random.random((131, 117))


@pytest.fixture
def chunked(image):
    return da.from_array(image, chunks=((40, 40, 51), (50, 67)))


def near(result, expected, tolerance=TOLERANCE):
    assert isinstance(result, da.Array)
    assert result.dtype == expected.dtype
    computed = result.compute(scheduler="threads", num_workers=2)
    assert computed.shape == result.shape == expected.shape
    np.testing.assert_allclose(computed, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", range(6))
def test_affine_transforms_agree(image, chunked, order, mode):
    # No point lies on a tie of order 0 or on an edge, where rounding would decide.
    arguments = ([[0.93, 0.21], [-0.26, 1.11]], (-17.4137, 22.2291), (90, 80))
    keywords = {"order": order, "mode": mode, "cval": 0.25}
    near(wd.affine_transform(chunked, *arguments, output_chunks=(33, 30), **keywords),
         scipy.ndimage.affine_transform(image, *arguments, **keywords), tolerance_for(order, mode))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", range(6))
def test_zooms_agree(image, chunked, order, mode):
    keywords = {"order": order, "mode": mode, "grid_mode": mode.startswith("grid")}
    near(wd.zoom(chunked, (1.31, 0.77), **keywords),
         scipy.ndimage.zoom(image, (1.31, 0.77), **keywords), tolerance_for(order, mode))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", range(6))
def test_points_agree(image, chunked, order, mode):
    rows, columns = np.mgrid[:80, :90]
    points = np.stack([1.27 * rows + 3 * np.sin(columns / 7) - 3.137, 1.3 * columns - 7.221])
    keywords = {"order": order, "mode": mode, "cval": 0.25}
    expected = scipy.ndimage.map_coordinates(image, points, **keywords)
    tolerance = tolerance_for(order, mode) + 2e-5  # coordinates are rounded to float32
    # No point is so close to a jump of the value that rounding to float32 would cross it.
    near(wd.map_coordinates(chunked, da.from_array(points, chunks=(1, 30, 40)), **keywords),
         expected, tolerance)
    near(wd.map_coordinates(chunked, points, **keywords), expected, tolerance)


REDUCING = np.array([[2.2, -0.7], [0.9, 2.8]])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [1, 3])
def test_reductions_without_aliasing_agree(image, chunked, order, mode):
    options = {"order": order, "mode": mode, "antialias": True}
    shape = (45, 38)
    near(wd.affine_transform(chunked, REDUCING, (5, -9), output_shape=shape, output_chunks=(20, 19),
                             **options),
         ndimage.affine_transform(image, REDUCING, (5, -9), output_shape=shape, **options))
    # Means over footprints read the padding that these modes have; zoom's filter does not.
    edges = 5e-3 if order > 1 and mode in ("nearest", "grid-constant") else TOLERANCE
    near(wd.zoom(chunked, (0.4, 0.3), output_chunks=(20, 19), **options),
         ndimage.zoom(image, (0.4, 0.3), **options), edges)


@pytest.mark.parametrize("order", [0, 1, 3])
def test_labels_agree(random, order):
    labels = np.kron(random.integers(0, 5, (14, 12)), np.ones((9, 9), int))[:120, :101] * 1000
    chunked = da.from_array(labels, chunks=(50, 60))
    result = wd.affine_transform(chunked, [[0.9, 0.2], [-0.1, 1.1]], (2, -3), order=order,
                                 labels=True).compute()
    expected = ndimage.affine_transform(labels, [[0.9, 0.2], [-0.1, 1.1]], (2, -3), order=order,
                                        labels=True)
    # Coverages that differ by less than 1e-4 are ties, and chunks have other halos.
    assert set(np.unique(result)) <= set(np.unique(labels)) | {0}
    assert (result != expected).mean() < 1e-3
    zoomed = wd.zoom(chunked, 1.7, order=order, labels=True).compute()
    assert (zoomed != ndimage.zoom(labels, 1.7, order=order, labels=True)).mean() < 1e-3


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", range(2, 6))
def test_coefficients_agree(image, chunked, order, mode):
    near(wd.spline_filter(chunked, order, mode=mode),
         scipy.ndimage.spline_filter(image, order, mode=mode), TOLERANCE)


def test_other_ranks_dtypes_and_chunks(random):
    for shape, chunks in [((400,), 90), ((40, 38, 44), (20, 19, 44)), ((5, 60, 50), (2, 30, 50)),
                          ((3, 4, 50, 60), (1, 2, 50, 31))]:
        array = random.random(shape)
        matrix, offset = np.eye(len(shape)), np.zeros(len(shape))
        for axis in range(max(0, len(shape) - 2), len(shape)):
            matrix[axis, axis], offset[axis] = 0.9, 1.37
        expected = scipy.ndimage.affine_transform(array, matrix, offset, mode="mirror")
        chunked = da.from_array(array, chunks=chunks)
        near(wd.affine_transform(chunked, matrix, offset, mode="mirror"), expected, 2 * TOLERANCE)
    bytes_ = (random.random((90, 80)) * 255).astype(np.uint8)
    for output in (None, np.float32):
        keywords = {"output": output, "order": 1}
        near(wd.affine_transform(bytes_, [1, 1], (0.25, 0.5), **keywords),
             ndimage.affine_transform(bytes_, [1, 1], (0.25, 0.5), **keywords), 0)
    waves = random.random((90, 80)) + 1j * random.random((90, 80))
    near(wd.zoom(da.from_array(waves, chunks=50), 1.3), scipy.ndimage.zoom(waves, 1.3))


def test_nan_and_distant_points(random):
    line = random.random(300)
    points = np.array([[np.nan, 3.5, -1e9, np.inf, 250.25, 1e6]])
    chunked = da.from_array(line, chunks=64)
    for mode in ("constant", "nearest"):
        near(wd.map_coordinates(chunked, da.from_array(points, chunks=(1, 2)), mode=mode, cval=-1),
             ndimage.map_coordinates(line, points, mode=mode, cval=-1))


def test_graphs_have_a_task_for_each_chunk_and_read_what_they_need(random):
    array = da.from_array(random.random((1000, 1000)), chunks=100)
    shifted = wd.affine_transform(array, [1, 1], (0.5, 0.5))
    own = [key for key in shifted.dask if str(key[0]).startswith("warpalign")]
    assert len(own) == 100
    # A chunk in the middle needs itself and its neighbours.
    needed = shifted.blocks[5, 5].__dask_optimize__(
        shifted.dask, [(shifted.name, 5, 5)])
    assert sum(str(key[0]).startswith("array") for key in needed if isinstance(key, tuple)) <= 9


def test_wrong_options_are_refused_before_anything_runs(chunked):
    with pytest.raises(TypeError, match="labels=True needs an input of integers"):
        wd.zoom(chunked, 2, labels=True)
    with pytest.raises(ValueError, match="order 1 or above"):
        wd.zoom(chunked, 0.5, order=0, antialias=True)
    with pytest.raises(ValueError, match="choose from: False, True"):
        wd.zoom(chunked, 0.5, antialias="least-squares")


def test_wrong_arguments_are_refused_before_anything_runs(chunked):
    with pytest.raises(RuntimeError, match="spline order"):
        wd.affine_transform(chunked, np.eye(2), order=6)
    with pytest.raises(RuntimeError, match="boundary mode"):
        wd.zoom(chunked, 2, mode="around")
    with pytest.raises(ValueError, match="a matrix for 2 axes"):
        wd.affine_transform(chunked, np.eye(5))
    with pytest.raises(TypeError, match="dtype"):
        wd.affine_transform(chunked, np.eye(2), output=np.zeros((3, 3)))
    with pytest.raises(NotImplementedError, match="3 axes"):
        wd.zoom(da.zeros((4, 4, 4, 4)), 2)
    with pytest.raises(RuntimeError, match="coordinate array"):
        wd.map_coordinates(chunked, np.zeros((3, 5)))
    with pytest.raises(ValueError, match="3 axes"):
        wd.register_stack(chunked)
    with pytest.raises(ValueError, match="independent tasks"):
        wd.register_stack(da.zeros((3, 64, 64)), to="previous")
    with pytest.raises(TypeError, match="no option 'speed'"):
        wd.register_stack(da.zeros((3, 64, 64)), speed=9)
    with pytest.raises(ValueError, match="is for pairs"):
        wd.register_stack(da.zeros((3, 64, 64)), motion="affine")


@pytest.fixture(scope="module")
def drifting():
    """Frames cut out of a scene, and the shift of each."""
    random = np.random.default_rng(3)
    scene = scipy.ndimage.gaussian_filter(random.standard_normal((200, 220)), 2)
    shifts = [(0, 0), (1, 2), (3, -2), (-4, 1), (2, 5), (0, -3), (5, 4)]
    frames = np.stack([scene[30 - r:158 - r, 30 - c:174 - c] for r, c in shifts])
    return frames, np.array(shifts)


def test_a_stack_gives_the_results_of_one_array(drifting):
    frames, shifts = drifting
    frames = frames.copy()
    frames[3] = 7  # constant
    lazy = wd.register_stack(da.from_array(frames, chunks=(2, 64, 80)), motion="translation")
    table = lazy.drift.compute(scheduler="threads", num_workers=2)
    whole = warpalign.register_stack(frames, motion="translation")
    for name in whole.drift.dtype.names:
        assert np.array_equal(table[name], whole.drift[name], equal_nan=name != "reliable"), name
    np.testing.assert_array_equal(table["matrix"], whole.matrices)
    assert not table["reliable"][3] and "constant" in table["error"][3]
    used = [0, 1, 2, 4, 5, 6]
    found = np.stack([table["shift_row"], table["shift_column"]], 1)[used]
    np.testing.assert_allclose(found, shifts[used], atol=0.02)
    aligned = lazy.warp(da.from_array(frames, chunks=(3, 128, 144)), fill=-1).compute()
    assert (aligned[3] == -1).all()
    for frame, expected in zip(aligned, whole.warp(frames)):
        if expected is not None:
            np.testing.assert_array_equal(frame, expected)


def test_a_stack_that_persists_is_registered_once(drifting, monkeypatch):
    frames, _ = drifting
    calls = []
    align = wd._stacks._Follower.align
    monkeypatch.setattr(wd._stacks._Follower, "align",
                        lambda self, numbers, some: calls.append(len(some)) or align(self, numbers, some))
    stack = wd.register_stack(frames, motion="translation").persist(scheduler="synchronous")
    registered = sum(calls)
    assert registered == len(frames) - 1
    assert stack.drift.compute(scheduler="synchronous")["reliable"].all()
    aligned = stack.warp(frames).compute(scheduler="synchronous")
    assert sum(calls) == registered
    again = wd.register_stack(frames, motion="translation").warp(frames)
    np.testing.assert_array_equal(aligned, again.compute(scheduler="synchronous"))


def test_a_stack_that_bends_gives_the_results_of_one_array(drifting, monkeypatch):
    frames, _ = drifting
    random = np.random.default_rng(4)
    points = np.indices(frames.shape[1:], np.float64)
    bent = [frames[0]]
    for _ in range(3):
        noise = random.standard_normal(points.shape)
        field = np.stack([scipy.ndimage.gaussian_filter(part, 16) for part in noise])
        bent.append(scipy.ndimage.map_coordinates(frames[0], points + 3 * field / field.max(),
                                                  mode="mirror"))
    bent = np.stack([*bent, np.full_like(frames[0], 5)])
    lazy = wd.register_stack(da.from_array(bent, chunks=(2, 64, 80)), motion="deformable")
    stack = lazy.persist(scheduler="synchronous")
    whole = warpalign.register_stack(bent, motion="deformable")
    monkeypatch.delattr(wd._stacks._Follower, "align")  # nothing is registered again
    table, transforms = dask.compute(stack.drift, stack.transforms, scheduler="synchronous")
    np.testing.assert_array_equal(table["matrix"], whole.matrices)
    assert table["reliable"].tolist() == [True] * 4 + [False]
    assert transforms[4] is None and "constant" in table["error"][4]
    assert [one.kind for one in transforms[1:4]] == ["chain"] * 3
    # Frames that are registered together or alone are sums in another order.
    for found, expected in zip(transforms[:4], whole.transforms):
        np.testing.assert_allclose(found.points(points.reshape(2, -1).T),
                                   expected.points(points.reshape(2, -1).T), atol=1e-3)
    aligned, weights = dask.compute(*stack.warp(bent, fill=-1, weights=True),
                                    scheduler="synchronous")
    assert (aligned[4] == -1).all() and (weights[4] == 0).all()
    before = np.abs(bent[1:4] - bent[0])[:, 16:-16, 16:-16].mean()
    assert np.abs(aligned[1:4] - bent[0])[:, 16:-16, 16:-16].mean() < 0.2 * before
    for frame, transform, given in zip(aligned[:4], transforms, bent):
        np.testing.assert_array_equal(frame, transform.warp(given))


def test_a_stack_warps_frames_of_its_shape(drifting):
    frames, _ = drifting
    stack = wd.register_stack(frames, motion="translation")
    with pytest.raises(ValueError, match="frames of the shape .* were registered"):
        stack.warp(frames[:, 1:])


def test_a_stack_is_registered_to_an_image(drifting):
    frames, shifts = drifting
    table = wd.register_stack(frames, to=frames[2], motion="translation").drift.compute()
    found = np.stack([table["shift_row"], table["shift_column"]], 1)
    np.testing.assert_allclose(found, shifts - shifts[2], atol=0.02)
    with pytest.raises(ValueError, match="the reference has the shape"):
        wd.register_stack(frames, to=frames[2, 1:])


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True,
                                  dashboard_address=None) as local:
        with distributed.Client(local) as client:
            yield client


def test_a_worker_computes_on_the_device_that_its_environment_names(cluster):
    def message():  # local, so that workers need not import this file
        os.environ["WARPALIGN_DEVICE"] = "opencl:7777"
        try:
            warpalign.ndimage.shift(np.zeros((8, 8)), 0.5)
        except warpalign.Error as error:
            return str(error)
        finally:
            del os.environ["WARPALIGN_DEVICE"]

    found = cluster.run(message)
    assert len(found) == 2
    assert all("opencl:7777" in text for text in found.values())


def test_workers_receive_a_transform_once(cluster, random):
    def count():  # local, as above
        import warpalign._transform as module

        restored, module.calls = module._restored, []

        def counted(*arguments):
            module.calls.append(1)
            return restored(*arguments)

        counted.__module__, counted.__qualname__ = "warpalign._transform", "_restored"
        module._restored, module.not_counted = counted, restored

    def counts():
        import warpalign._transform as module

        module._restored = module.not_counted
        return len(module.calls)

    cluster.run(count)
    image = random.random((300, 300))
    bend = warpalign.Transform.displacement(np.full((2, 300, 300), 1.5))
    result = wd.warp(da.from_array(image, chunks=50), bend).compute()  # 36 chunks
    np.testing.assert_allclose(result, bend.warp(image), rtol=0, atol=TOLERANCE)
    restored = cluster.run(counts)
    assert len(restored) == 2 and max(restored.values()) == 1


def test_a_killed_worker_does_not_change_results(cluster, tmp_path, drifting):
    zarr = pytest.importorskip("zarr")
    frames = np.concatenate([drifting[0]] * 6)
    source = da.from_array(frames, chunks=(2, 128, 144))
    stack = wd.register_stack(source, motion="translation")
    expected = stack.warp(source).compute(scheduler="threads")
    target = zarr.create_array(store=str(tmp_path / "aligned.zarr"), shape=frames.shape,
                               chunks=(2, 128, 144), dtype=frames.dtype)
    pids = cluster.run(os.getpid)
    done = threading.Event()

    def kill_one_in_the_middle():
        # Once a chunk is written, the workers are running.
        while not done.is_set() and not any((tmp_path / "aligned.zarr" / "c").glob("*/*/*")):
            time.sleep(0.01)
        os.kill(next(iter(pids.values())), signal.SIGKILL)

    killer = threading.Thread(target=kill_one_in_the_middle)
    killer.start()
    da.store(stack.warp(source), target, lock=False)
    done.set()
    killer.join()
    np.testing.assert_array_equal(target[:], expected)
    drift = stack.drift.compute()
    assert drift["reliable"].all() and drift["frame"].tolist() == list(range(len(frames)))


@pytest.fixture
def scheduler_warnings(cluster):
    """What the scheduler and the workers warn of, such as a key that has two definitions."""
    found = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: found.append(record.getMessage())
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.scheduler")]
    for logger in loggers:
        logger.addHandler(handler)
    yield found
    for logger in loggers:
        logger.removeHandler(handler)


def test_the_example_aligns_a_folder_and_a_zarr_array(cluster, scheduler_warnings, tmp_path,
                                                      drifting):
    zarr = pytest.importorskip("zarr")
    image = pytest.importorskip("PIL.Image")
    frames, shifts = drifting
    levels = (255 * (frames - frames.min()) / np.ptp(frames)).astype(np.uint8)
    (tmp_path / "frames").mkdir()
    for number, frame in enumerate(levels):
        image.fromarray(frame).save(tmp_path / "frames" / f"{number:03}.png")
    stored = zarr.create_array(store=str(tmp_path / "frames.zarr"), shape=levels.shape,
                               chunks=(3, 128, 144), dtype=levels.dtype)
    stored[:] = levels
    program = runpy.run_path(str(EXAMPLE))
    for source in ("frames", "frames.zarr"):
        target = str(tmp_path / f"{source}-aligned.zarr")
        lines = program["align"](str(tmp_path / source), target, str(tmp_path / "drift.csv"), 3)
        found = np.stack([lines["shift_row"], lines["shift_column"]], 1)
        np.testing.assert_allclose(found, shifts, atol=0.05)  # 8 bits
        aligned = zarr.open_array(target)[:].astype(float)
        inside = (slice(None), slice(12, -12), slice(12, -12))
        assert np.abs(aligned - aligned[0])[inside].max() < 3  # of 255
        rows = (tmp_path / "drift.csv").read_text().splitlines()
        assert len(rows) == len(frames) + 1 and rows[0].startswith("frame,shift_row")
    assert scheduler_warnings == []
