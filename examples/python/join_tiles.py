# %% [markdown]
# # Join tiles to a mosaic
# A microscope's stage visits a slide tile by tile, and stops a few pixels from where it should.
# `mosaic` finds where the tiles lie from what neighbours have in common, and joins them. The tissue
# is real; the stops are made here, so that they are known.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import warpalign
from warpalign import ndimage

data = Path(__file__).parents[1] / "data"
slide = np.asarray(Image.open(data / "cells.jpg"), np.float32)
random = np.random.default_rng(5)
side, step = 110, 88  # neighbours overlap by a fifth
planned = np.array([(row, column) for row in (6, 94, 182) for column in (6, 94, 182, 270)])
true = planned + random.uniform(-5, 5, planned.shape)


def tile(position):
    shifted = ndimage.shift(slide, -position, mode="mirror")[:side, :side]
    return (shifted + random.normal(0, 4, shifted.shape)).astype(np.float32)


tiles = [tile(position) for position in true]
tiles[6] = random.normal(200, 4, (side, side)).astype(np.float32)  # one shows nothing
print(f"{len(tiles)} tiles of {side} x {side}")

# %% [markdown]
# The planned positions are enough to begin with. The empty tile has no pair that is accepted: it
# goes where the model of the stage puts it, and is marked.

# %%
found = warpalign.mosaic(tiles, planned)
error = found.positions - true
error -= np.median(error, axis=0)
print("pairs:", sum(pair.outcome == "used" for pair in found.pairs), "of", len(found.pairs), "used")
print("largest error:", np.round(np.abs(np.delete(error, 6, axis=0)).max(), 3), "pixels")
print("the empty tile is off by", np.round(np.abs(error[6]).max(), 1), "pixels")

# %% [markdown]
# The tiles as the stage reported them, and as they were found. Each pair that was used is a line;
# its colour is its confidence.

# %%
def placed(positions):
    corner = positions.min(axis=0)
    picture = np.full(np.ceil(np.ptp(positions, axis=0)).astype(int) + side + 1, np.nan)
    for image, position in zip(tiles, np.round(positions - corner).astype(int)):
        picture[position[0]:position[0] + side, position[1]:position[1] + side] = image
    return picture


figure, axes = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
axes[0].imshow(placed(planned), cmap="gray")
axes[0].set_title("as the stage reported")
axes[1].imshow(found.fuse(tiles), cmap="gray")
axes[1].set_title("as found")
centres = found.positions - found.positions.min(axis=0) + side / 2
for pair in found.pairs:
    if pair.outcome == "used":
        ends = centres[[pair.reference, pair.moving]]
        axes[1].plot(ends[:, 1], ends[:, 0], color=plt.cm.viridis(pair.confidence), linewidth=2)
for axis in axes:
    axis.set_axis_off()
