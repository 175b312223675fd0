# %% [markdown]
# # Resample a volume by cubic splines
# Voxels of CT and MRI volumes are often longer along one axis. `warpalign.ndimage` has SciPy's
# interpolation functions; only the import differs.

# %%
import time

import numpy as np
import scipy.ndimage
from PIL import Image

from warpalign import ndimage

random = np.random.default_rng(5)
volume = ndimage.zoom(random.random((10, 24, 24)), 4).astype(np.float32)
print(volume.shape)

# %% [markdown]
# Resample to cubic voxels: three times as many planes, and two thirds of the rows and columns. The
# first call on an OpenCL device compiles its kernels.

# %%
factors = (3, 2 / 3, 2 / 3)
ndimage.zoom(volume, factors)
start = time.perf_counter()
ours = ndimage.zoom(volume, factors)
seconds = time.perf_counter() - start
start = time.perf_counter()
theirs = scipy.ndimage.zoom(volume, factors)
print(f"{seconds * 1000:.0f} ms, SciPy {1000 * (time.perf_counter() - start):.0f} ms")
print(f"largest difference: {np.abs(ours - theirs).max():.1e} of values up to 1")

# %% [markdown]
# Within `patch()`, code that calls `scipy.ndimage` uses warpalign:

# %%
with ndimage.patch():
    patched = scipy.ndimage.zoom(volume, factors)
print(np.array_equal(patched, ours))

# %% [markdown]
# The middle plane, seen from the side, before and after:

# %%
before, after = volume[:, 48], ours[:, 32]
side = np.zeros((after.shape[0], before.shape[1] + after.shape[1]), np.float32)
side[:before.shape[0], :before.shape[1]] = before
side[:, before.shape[1]:] = after
Image.fromarray(np.clip(side * 255, 0, 255).astype(np.uint8)).save("side.png")
