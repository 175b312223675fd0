# %% [markdown]
# # Resample a volume by cubic splines
# Scans often have thick slices: their voxels are longer along one axis. `warpalign.ndimage` has
# SciPy's functions; only the import differs.

# %%
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import scipy.ndimage

from warpalign import ndimage

brain = np.load(Path(__file__).parents[1] / "data" / "brain.npz")["t1"].astype(np.float32)
# A scan with slices of 7.5 mm: each is the mean of three planes.
brain = brain[:75]
thick = brain.reshape(25, 3, *brain.shape[1:]).mean(axis=1)
print(thick.shape)

# %% [markdown]
# To voxels with equal sides: three times as many planes. `grid_mode=True` keeps the volume's outer
# faces where they are. The first call on an OpenCL device compiles its kernels.

# %%
options = {"zoom": (3, 1, 1), "mode": "nearest", "grid_mode": True}
ndimage.zoom(thick, **options)
start = time.perf_counter()
cubic = ndimage.zoom(thick, **options)
seconds = time.perf_counter() - start
start = time.perf_counter()
theirs = scipy.ndimage.zoom(thick, **options)
print(f"{seconds * 1000:.0f} ms, SciPy {1000 * (time.perf_counter() - start):.0f} ms")
print(f"largest difference: {np.abs(cubic - theirs).max():.1e} of values up to 255")

# %% [markdown]
# Within `patch()`, code that calls `scipy.ndimage` uses warpalign:

# %%
with ndimage.patch():
    patched = scipy.ndimage.zoom(thick, **options)
print(np.array_equal(patched, cubic))

# %% [markdown]
# The same cut through the thick slices, the slices resampled, and the scan that they were made of:

# %%
nearest = ndimage.zoom(thick, order=0, **options)
for name, image in [("nearest", nearest), ("cubic", cubic)]:
    error = np.sqrt(np.mean((image - brain)[brain > 60] ** 2))
    print(f"{name}: {error:.1f} grey levels from the original, rms")

panels = {"slices of 7.5 mm": nearest, "resampled to 2.5 mm": cubic, "original, 2.5 mm": brain}
figure, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
for axis, (title, volume) in zip(axes, panels.items()):
    axis.imshow(volume[:, 46], cmap="gray", vmin=0, vmax=255, interpolation="nearest")
    axis.set_title(title)
    axis.set_axis_off()
