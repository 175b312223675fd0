# %% [markdown]
# # Arrays that stay on the device
# What is done step by step need not come back to the host in between. `to_device` puts an array
# there; every function takes it and returns another. On NVIDIA's GPUs CuPy's, PyTorch's and JAX's
# arrays are taken in the same way, and pyopencl's by OpenCL.

# %%
import numpy as np
from PIL import Image

import warpalign
from warpalign import ndimage

random = np.random.default_rng(11)
scene = ndimage.zoom(random.random((24, 32)), 10, mode="reflect").astype(np.float32)
image = warpalign.to_device(scene)
print(image.shape, image.dtype)

# %% [markdown]
# A copy that is turned by 12 degrees, and registered to the original. Nothing but the result's few
# numbers is copied to the host.

# %%
moving = ndimage.rotate(image, 12, reshape=False, mode="mirror")
found = warpalign.register(image, moving)
print(f"rotated by {found.rotation_deg:.2f} degrees, reliable: {found.reliable}")
aligned = found.warp(moving, mode="mirror")
print(type(aligned).__name__)

# %% [markdown]
# Axes before those that are transformed are a batch, which one call does:

# %%
frames = warpalign.to_device(np.stack([scene + noise for noise in random.normal(0, 0.1, (5, 1, 1))])
                             .astype(np.float32))
turned = ndimage.rotate(frames, 12, axes=(1, 2), reshape=False, mode="mirror")
print(turned.shape)

# %% [markdown]
# `numpy()` copies to the host. The original, the moving image, and the moving image on the
# original's grid:

# %%
shown = np.hstack([array.numpy() for array in (image, moving, aligned)])
Image.fromarray(np.clip(shown * 255, 0, 255).astype(np.uint8)).save("on_a_device.png")
inner = (slice(40, -40), slice(40, -40))  # what the rotation did not move out of the picture
difference = np.abs(aligned.numpy() - scene)[inner].max()
print(f"largest difference from the original: {difference:.3f} of values up to 1")
