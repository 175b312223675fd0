# %% [markdown]
# # Arrays that stay on the device
# Several steps of a computation need no copies to the host in between. `to_device` copies an array
# to a device; all functions take such an array and return another one. Arrays of CuPy, PyTorch and
# JAX on NVIDIA GPUs work the same way, and so do those of pyopencl.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import warpalign
from warpalign import ndimage

tissue = np.asarray(Image.open(Path(__file__).parents[1] / "data" / "cells.jpg"), np.float32) / 255
image = warpalign.to_device(tissue)
print(image.shape, image.dtype)

# %% [markdown]
# A copy that is rotated by 12 degrees, and registered to the original. Nothing but the result's few
# numbers is copied to the host.

# %%
moving = ndimage.rotate(image, 12, reshape=False, mode="mirror")
found = warpalign.register(image, moving)
print(f"rotated by {found.rotation_deg:.2f} degrees, reliable: {found.reliable}")
aligned = found.warp(moving, mode="mirror")
print(type(aligned).__name__)

# %% [markdown]
# The axes before the transformed ones form a batch, which one call processes:

# %%
exposures = np.linspace(0.6, 1.4, 5, dtype=np.float32)[:, None, None]
frames = warpalign.to_device(exposures * tissue)
rotated = ndimage.rotate(frames, 12, axes=(1, 2), reshape=False, mode="mirror")
print(rotated.shape)

# %% [markdown]
# `numpy()` copies to the host. The original, the moving image with the frame that the result gives
# to the original in it, and the moving image on the original's grid:

# %%
back = aligned.numpy()
inner = (slice(50, -50), slice(50, -50))  # what the rotation did not move out of the picture
difference = np.sqrt(np.mean((back - tissue)[inner] ** 2))
print(f"difference from the original: {difference:.3f} rms, of values up to 1")

height, width = tissue.shape
corners = np.array([[0, 0, 1], [width, 0, 1], [width, height, 1], [0, height, 1], [0, 0, 1]])
frame = (corners @ found.matrix_xy.T)[:, :2]
figure, axes = plt.subplots(1, 3, figsize=(12, 3.5), layout="constrained")
panels = {"original": tissue, f"moving: {found.rotation_deg:.2f} degrees": moving.numpy(),
          "moving, aligned": back}
for axis, (title, shown) in zip(axes, panels.items()):
    axis.imshow(shown, cmap="gray", vmin=0, vmax=1)
    axis.set_title(title)
    axis.set_axis_off()
axes[1].plot(*frame.T, color="tab:red")
axes[1].set_xlim(-0.5, width - 0.5)
axes[1].set_ylim(height - 0.5, -0.5);
