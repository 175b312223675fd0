# %% [markdown]
# # Bend one brain onto another
# Two people's brains differ in more than size and position. `motion="deformable"` finds an affine
# transform first, and then a smooth field that has no fold.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import warpalign

data = Path(__file__).parents[1] / "data"
first, second = (np.asarray(Image.open(data / f"slice-{name}.jpg").convert("L")) for name in "ab")
affine = warpalign.register(first, second, motion="affine")
found = warpalign.register(first, second, motion="deformable")
print(f"confidence {found.confidence:.3f}")

# %% [markdown]
# `deformation` says how much the windows of the two images correlate, and by which factors areas
# change: all of them are above 0, so that nothing is folded.

# %%
for name, transform in [("affine", affine), ("deformable", found)]:
    pixels = np.corrcoef(first.ravel(), transform.warp(second).ravel())[0, 1]
    print(f"correlation of the pixels, {name}: {pixels:.3f}")
print(f"areas change by {found.deformation.min_jacobian:.2f} to {found.deformation.max_jacobian:.2f}")

# %% [markdown]
# The transform maps points, and its inverse maps them back.

# %%
tip = [[118.0, 84.0]]  # row and column of a point of the first brain
there = found.transform.points(tip)
print(np.round(there, 2), np.round(found.transform.inverse().points(there), 2))

# %% [markdown]
# The first brain in green and the second one in magenta; gray is where they agree. On the right, the
# pixels of the second brain as lines of a grid, bent onto the first one.

# %%
def overlay(moving):
    return np.dstack([moving, first, moving])


grid = np.zeros(second.shape, np.float32)
grid[::12] = grid[:, ::12] = 1
panels = {"after the affine transform": overlay(affine.warp(second)),
          "after the deformation": overlay(found.warp(second)),
          "the grid of the second brain": found.warp(grid)}
figure, axes = plt.subplots(1, 3, figsize=(12, 4.4), layout="constrained")
for axis, (title, picture) in zip(axes, panels.items()):
    axis.imshow(picture, cmap="gray_r", vmin=0, vmax=1)
    axis.set_title(title)
    axis.set_axis_off()
