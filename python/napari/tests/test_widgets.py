"""The widgets in a viewer."""

import time

import numpy as np
import pytest
import warpalign
from qtpy.QtCore import QTimer

from napari_warpalign import DriftWidget, RegisterWidget

# For the slowest machine, whose first registration compiles kernels.
PATIENCE = 300_000  # milliseconds


@pytest.fixture
def viewer(make_napari_viewer):
    return make_napari_viewer()


def docked(viewer, kind):
    widget = kind(viewer)
    viewer.window.add_dock_widget(widget, name=kind.__name__)
    widget.reset_choices()
    return widget


def finish(qtbot, work):
    qtbot.waitUntil(lambda: not work.running, timeout=PATIENCE)


@pytest.fixture
def layers(viewer, scene, sampled, matrices):
    """Two layers whose scale, rotation and affine have nothing to do with what they show, and the
    matrix from pixels of the first one to pixels of the second."""
    images = [sampled(scene, matrix, (120, 140)) for matrix in matrices]
    reference = viewer.add_image(images[0], name="first", scale=(0.5, 0.5), rotate=30,
                                 translate=(7, -3))
    moving = viewer.add_image(images[1], name="second", scale=(0.625, 0.625), rotate=-10,
                              affine=[[0.8, 0.6, 5], [-0.6, 0.8, 9], [0, 0, 1]])
    return reference, moving, np.linalg.inv(matrices[1]) @ matrices[0]


def check_places(reference, moving, matrix, tolerance):
    """That the pixels of both layers which show the same lie at the same point of the world."""
    for pixel in [(0, 0), (100, 20), (60, 130)]:
        same = (matrix @ [*pixel, 1])[:2]
        np.testing.assert_allclose(moving.data_to_world(same), reference.data_to_world(pixel),
                                   atol=tolerance)


@pytest.mark.parametrize("motion", ["rigid", "similarity"])
def test_a_layer_is_moved_onto_another(qtbot, viewer, layers, motion):
    reference, moving, matrix = layers
    widget = docked(viewer, RegisterWidget)
    widget.reference.value, widget.moving.value = reference, moving
    widget.motion.value = motion
    scale, rotate = moving.scale.copy(), moving.rotate.copy()
    # The main thread's events go on while the work runs.
    ticks = [time.monotonic()]
    timer = QTimer()
    timer.timeout.connect(lambda: ticks.append(time.monotonic()))
    timer.start(20)
    widget.work.start()
    assert widget.work.running and not widget.work.run_button.enabled
    finish(qtbot, widget.work)
    timer.stop()
    gaps = np.diff([*ticks, time.monotonic()])
    assert gaps.max() < 2, gaps.max()  # seconds: the machine of a test may be busy
    assert "confidence 1.000" in widget.report.value and widget.work.state.value == "registered"
    check_places(reference, moving, matrix, 0.1)  # of 0.5 a pixel
    np.testing.assert_array_equal(moving.scale, scale)
    np.testing.assert_array_equal(moving.rotate, rotate)
    assert reference.colormap.name == "green" and moving.colormap.name == "magenta"


def test_a_new_layer_lies_on_the_reference(qtbot, viewer, layers, tmp_path):
    reference, moving, matrix = layers
    widget = docked(viewer, RegisterWidget)
    widget.reference.value, widget.moving.value = reference, moving
    widget.result.value = "new layer"
    widget.residuals.value = True
    before = moving.affine.affine_matrix.copy()
    widget.work.start()
    finish(qtbot, widget.work)
    np.testing.assert_array_equal(moving.affine.affine_matrix, before)
    aligned, residuals = viewer.layers[-2:]
    assert aligned.name == "second (registered)" and residuals.name == "second (residuals)"
    for layer in (aligned, residuals):
        np.testing.assert_allclose(layer.data_to_world((10, 20)),
                                   reference.data_to_world((10, 20)), atol=1e-9)
    assert np.abs(aligned.data - reference.data)[20:100, 30:110].max() < 3  # of 200
    widget.path.value = tmp_path / "found.json"
    widget.save()
    saved = warpalign.Transform.load(tmp_path / "found.json")
    np.testing.assert_allclose(saved.matrix, widget.registered.matrix)
    np.testing.assert_allclose(saved.matrix @ [60, 60, 1], matrix @ [60, 60, 1], atol=0.1)
    widget.path.value = tmp_path / "found.what"
    widget.save()
    assert widget.work.state.value.startswith("not saved: cannot tell the format")


def test_points_start_a_registration(qtbot, viewer, layers):
    reference, moving, matrix = layers
    pixels = np.array([[10.0, 20], [100, 30], [60, 120]])
    same = pixels @ matrix[:2, :2].T + matrix[:2, 2]
    # Points that a user clicks on what is shown, in layers with a scale of their own.
    points = [viewer.add_points([np.array(layer.data_to_world(p)) / 2 for p in given],
                                scale=(2, 2), name=f"points of {layer.name}")
              for layer, given in ((reference, pixels), (moving, same))]
    widget = docked(viewer, RegisterWidget)
    widget.reference.value, widget.moving.value = reference, moving
    widget.start.value = "from points"
    widget.reference_points.value, widget.moving_points.value = points
    widget.work.start()
    finish(qtbot, widget.work)
    assert widget.registered.found.proposed_by == "initial"
    check_places(reference, moving, matrix, 0.1)


def test_layers_stay_if_the_result_is_not_reliable(qtbot, viewer):
    random = np.random.default_rng(0)
    layers = [viewer.add_image(random.random((64, 64))) for _ in range(2)]
    widget = docked(viewer, RegisterWidget)
    widget.reference.value, widget.moving.value = layers
    widget.residuals.value = True
    widget.work.start()
    finish(qtbot, widget.work)
    assert "NOT RELIABLE" in widget.report.value
    np.testing.assert_array_equal(layers[1].affine.affine_matrix, np.eye(3))
    assert len(viewer.layers) == 2
    widget.moving.value = layers[0]
    widget.work.start()
    assert widget.work.state.value == "choose two layers of images" and not widget.work.running


def test_the_shown_slice_of_more_axes_and_colours(qtbot, viewer, layers):
    reference, moving, matrix = layers
    stack = np.stack([np.zeros_like(moving.data), moving.data])
    colours = np.stack([reference.data] * 3, axis=-1).astype(np.uint8)
    slices = viewer.add_image(stack, scale=(3, 0.625, 0.625), name="slices")
    colour = viewer.add_image(colours, rgb=True, scale=(0.5, 0.5), name="colours")
    viewer.dims.set_point(0, 3)
    widget = docked(viewer, RegisterWidget)
    widget.reference.value, widget.moving.value = colour, slices
    widget.work.start()
    finish(qtbot, widget.work)
    assert widget.work.state.value == "registered", widget.work.state.value
    for pixel in [(0, 0), (100, 20)]:
        same = (matrix @ [*pixel, 1])[:2]
        np.testing.assert_allclose(slices.data_to_world((1, *same)),
                                   (3, *colour.data_to_world(pixel)), atol=0.1)


@pytest.fixture
def drifting(scene):
    shifts = [(0, 0), (1, 2), (3, -2), (-4, 1)]
    return np.stack([scene[30 - r:158 - r, 30 - c:174 - c] for r, c in shifts]), shifts


@pytest.mark.parametrize("lazy", [False, True])
def test_drift(qtbot, viewer, drifting, tmp_path, lazy):
    frames, shifts = drifting
    if lazy:
        import dask.array

        frames = dask.array.from_array(frames, chunks=(2, 64, 64))
    layer = viewer.add_image(frames, scale=(1, 0.5, 0.5), translate=(0, 3, 4), name="cells")
    widget = docked(viewer, DriftWidget)
    widget.stack.value = layer
    widget.work.start()
    finish(qtbot, widget.work)
    assert widget.work.state.value == "corrected"
    corrected = viewer.layers[-1]
    assert corrected.name == "cells (corrected)" and hasattr(corrected.data, "dask") == lazy
    np.testing.assert_allclose(corrected.data_to_world((1, 2, 3)), layer.data_to_world((1, 2, 3)))
    inside = (slice(None), slice(10, -10), slice(10, -10))
    assert np.abs(np.asarray(corrected.data) - np.asarray(frames)[0])[inside].max() < 1  # of 200
    assert "4 of 4 frames reliable" in widget.report.value
    assert float(widget.table.data[2, 0]) == pytest.approx(3, abs=0.05)
    widget.path.value = tmp_path / "drift.csv"
    widget.save()
    table = np.genfromtxt(tmp_path / "drift.csv", delimiter=",", names=True, dtype=None,
                          encoding="utf-8")
    np.testing.assert_allclose(table["shift_column"], [c for _, c in shifts], atol=0.05)
    widget.path.value = tmp_path / "drift.npz"
    widget.save()
    loaded = warpalign.Transform.load_all(tmp_path / "drift.npz")
    np.testing.assert_allclose(loaded[2].matrix[:2, 2], shifts[2], atol=0.05)


def test_cancelling_adds_nothing(qtbot, viewer, drifting):
    import dask.array

    frames = np.concatenate([drifting[0]] * 20)
    read = []

    def slow(block, block_info):
        read.append(block_info[0]["chunk-location"][0])
        time.sleep(0.05)
        return block

    lazy = dask.array.map_blocks(slow, dask.array.from_array(frames, chunks=(1, 128, 144)),
                                 dtype=frames.dtype, meta=np.empty((0, 0, 0), frames.dtype))
    layer = viewer.add_image(lazy, contrast_limits=(0, 200))
    widget = docked(viewer, DriftWidget)
    widget.stack.value = layer
    widget.work.start()
    qtbot.waitUntil(lambda: widget.work.progress.value >= 3, timeout=PATIENCE)
    widget.work.cancel_button.changed.emit(True)
    assert not widget.work.running and widget.work.state.value == "cancelled"
    assert widget.work.run_button.enabled
    at = len(read)
    qtbot.wait(1500)
    assert len(read) <= at + 2  # the frame that was being read, and the one that is shown
    assert len(viewer.layers) == 1 and widget.found is None


def test_the_manifest_is_valid():
    import pathlib

    import npe2

    path = pathlib.Path(__file__).parents[1] / "napari_warpalign" / "napari.yaml"
    manifest = npe2.PluginManifest.from_file(path)
    assert [widget.display_name for widget in manifest.contributions.widgets] == [
        "Register two layers", "Correct a drifting stack"]
    for command in manifest.contributions.commands:
        module, _, name = command.python_name.partition(":")
        assert getattr(__import__(module), name)
