"""Draws the pictures of the documentation: the widgets in napari's window.

    python screenshots.py FOLDER
"""

import pathlib
import sys
import time

import napari
import numpy as np
from PIL import Image
from qtpy.QtWidgets import QApplication

from napari_warpalign import DriftWidget, RegisterWidget
from warpalign import ndimage

CELLS = pathlib.Path(__file__).parents[2] / "examples" / "data" / "cells.jpg"
SIZE = (1280, 800)


def wait(work):
    end = time.monotonic() + 300
    while work.running and time.monotonic() < end:
        QApplication.processEvents()
        time.sleep(0.01)


def shown(viewer, kind, width):
    widget = kind(viewer)
    dock = viewer.window.add_dock_widget(widget, name="warpalign", area="right")
    widget.reset_choices()
    dock.setMinimumWidth(width)
    viewer.window.resize(*SIZE)
    return widget


def save(viewer, path):
    viewer.reset_view()
    for _ in range(20):
        QApplication.processEvents()
        time.sleep(0.02)
    viewer.screenshot(str(path), canvas_only=False, flash=False)
    # Few colours keep the file small.
    Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)
    viewer.close()


def register(folder, cells):
    viewer = napari.Viewer()
    turned = ndimage.rotate(cells, 25, reshape=False, mode="mirror")
    viewer.add_image(cells[20:260, 20:300], name="first", scale=(0.5, 0.5))
    viewer.add_image(ndimage.zoom(turned[30:280, 40:330], 0.8), name="second",
                     scale=(0.625, 0.625), translate=(10, 30))
    widget = shown(viewer, RegisterWidget, 330)
    widget.reference.value, widget.moving.value = viewer.layers
    widget.motion.value = "rigid"
    widget.work.start()
    wait(widget.work)
    save(viewer, folder / "napari-register.png")


def drift(folder, cells):
    random = np.random.default_rng(3)
    path = np.cumsum(random.normal((0.5, -0.7), 1.5, (20, 2)), axis=0)
    frames = np.stack([ndimage.shift(cells, shift, mode="mirror") for shift in path])
    viewer = napari.Viewer()
    viewer.add_image(frames + random.normal(0, 0.05, frames.shape).astype(np.float32),
                     name="cells")
    widget = shown(viewer, DriftWidget, 400)
    widget.work.start()
    wait(widget.work)
    save(viewer, folder / "napari-drift.png")


def main():
    folder = pathlib.Path(sys.argv[1])
    cells = np.asarray(Image.open(CELLS).convert("L"), np.float32) / 255
    register(folder, cells)
    drift(folder, cells)


if __name__ == "__main__":
    main()
