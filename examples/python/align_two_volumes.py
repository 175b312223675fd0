# %% [markdown]
# # Align two volumes
# A head never lies in a scanner in the same way twice. `register_volume` finds the rotation and the
# translation between two scans, to a fraction of a voxel. The brain is the mean of 152 heads, with
# voxels of 2.5 mm.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import warpalign
from warpalign import ndimage

brain = np.load(Path(__file__).parents[1] / "data" / "brain.npz")["t1"].astype(np.float32)
print(brain.shape)

# %% [markdown]
# A second scan, with known motion: rotated by 14 degrees about the vertical axis, and moved. It is
# brighter, and has noise.

# %%
angle, moved = np.radians(14), np.array([2.0, -4.5, 6.25])
turn = np.array([[1, 0, 0],
                 [0, np.cos(angle), np.sin(angle)],
                 [0, -np.sin(angle), np.cos(angle)]])
centre = (np.array(brain.shape) - 1) / 2
# The second scan shows at an index what the first one shows at
# turn @ (index - centre - moved) + centre.
second = ndimage.affine_transform(brain, turn, offset=centre - turn @ (centre + moved))
second = 1.3 * second + np.random.default_rng(3).normal(0, 10, brain.shape).astype(np.float32)

found = warpalign.register_volume(brain, second, motion="rigid", spacing=2.5)
print(f"rotated by {found.rotation_deg:.2f} degrees about (x, y, z) = "
      f"{np.round(found.rotation_axis_xyz, 2) + 0.0}")
print(f"moved by (planes, rows, columns) = {np.round(found.translation, 2)}")
print(f"confidence {found.confidence:.2f}")

# %% [markdown]
# `matrix` maps indices of the first scan to indices of the second one, and `warp` brings the second
# one onto the first one's grid.

# %%
aligned = found.warp(second)
inside = brain > 60
correlation = np.corrcoef(brain[inside], aligned[inside])[0, 1]
print(f"correlation within the brain: {correlation:.3f}")

# %% [markdown]
# The first scan in green and the second one in magenta, before and after; gray is where they agree.
# The dashed line is the middle of the second scan's head, as the result has it.

# %%
plane = 38


def overlay(moving):
    first, other = np.clip(brain[plane] / 255, 0, 1), np.clip(moving[plane] / 330, 0, 1)
    return np.dstack([other, first, other])


figure, axes = plt.subplots(1, 2, figsize=(8, 5), layout="constrained")
axes[0].imshow(overlay(second))
axes[0].set_title("before")
axes[1].imshow(overlay(aligned))
axes[1].set_title(f"after: {found.rotation_deg:.1f} degrees were found")
middle = np.array([[plane, row, centre[2], 1] for row in (2, brain.shape[1] - 3)]) @ found.matrix.T
axes[0].plot(middle[:, 2], middle[:, 1], "w--")
axes[1].plot([centre[2], centre[2]], [2, brain.shape[1] - 3], "w--")
for axis in axes:
    axis.set_ylim(brain.shape[1] - 0.5, -0.5)
    axis.set_axis_off()
