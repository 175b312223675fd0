# %% [markdown]
# # Still a volume that breathes
# Tissue that breathes or beats bends from one volume of a recording to the next. `register_series`
# with `motion="deformable"` finds an affine transform for each volume, and then a smooth field. The
# brain is real; its breath is made here, so that it is known.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import warpalign
from warpalign import ndimage

still = np.load(Path(__file__).parents[1] / "data" / "brain.npz")["t1"].astype(np.float32)
planes, rows, columns = np.indices(still.shape, np.float32)
middle = (rows.max() / 2, columns.max() / 2)


def breath(phase):
    """Displacements in voxels: outwards and down, as much as the phase says."""
    amount = 1.5 * (1 - np.cos(2 * np.pi * phase))
    return amount * np.stack([0.8 * np.sin(rows / 11), 0.05 * (rows - middle[0]),
                              0.05 * (columns - middle[1]) + 0.5 * np.sin(planes / 9)])


grid = np.stack([planes, rows, columns])
series = np.stack([ndimage.map_coordinates(still, grid + breath(i / 5), mode="mirror")
                   for i in range(6)])

# %% [markdown]
# Each volume is registered to the first one. `transforms` lead from its voxels to those of each
# volume, `deformations` tell how well they agree, and `output` receives the aligned volumes.

# %%
aligned = np.empty_like(series)
found = warpalign.register_series(series, motion="deformable", output=aligned)
for number, deformation in enumerate(found.deformations):
    print(f"volume {number}: local correlation {deformation.correlation_before:.3f} before, "
          f"{deformation.correlation:.3f} after; volumes change by {deformation.min_jacobian:.2f} "
          f"to {deformation.max_jacobian:.2f}")

# %% [markdown]
# A transform warps whatever else was recorded at the same time, such as another channel.

# %%
channel = series[2] ** 2
same = found.transforms[2].warp(channel)
print(same.shape)

# %% [markdown]
# The first volume, and how much the voxels vary over time, before and after.

# %%
def shown(volumes):
    return volumes.std(0)[still.shape[0] // 2]


tissue = still > still.mean()
before, after = (volumes.std(0)[tissue].mean() for volumes in (series, aligned))
print(f"mean deviation over time: {before:.3g} before, {after:.3g} after")
panels = {"the first volume": series[0][still.shape[0] // 2],
          "deviation over time, before": shown(series), "and after": shown(aligned)}
most = shown(series).max()
figure, axes = plt.subplots(1, 3, figsize=(12, 4.4), layout="constrained")
for axis, (title, picture) in zip(axes, panels.items()):
    axis.imshow(picture, cmap="gray", vmin=0, vmax=None if title == "the first volume" else most)
    axis.set_title(title)
    axis.set_axis_off()
