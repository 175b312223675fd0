# %% [markdown]
# # Arrays that stay on the device
# Several steps of a computation need no copies to the host in between. `to_device` copies an array
# to a device; all functions take such an array and return another one. Arrays of CuPy, PyTorch and
# JAX on NVIDIA GPUs work the same way, and so do those of pyopencl.

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
# The image is rotated by 12 degrees and registered to the original. Only the few numbers of the
# result are copied to the host.

# %%
moving = ndimage.rotate(image, 12, reshape=False, mode="mirror")
found = warpalign.register(image, moving)
print(f"rotated by {found.rotation_deg:.2f} degrees, reliable: {found.reliable}")
aligned = found.warp(moving, mode="mirror")
print(type(aligned).__name__)

# %% [markdown]
# The axes before the transformed ones form a batch, which one call processes:

# %%
frames = warpalign.to_device(np.stack([scene + noise for noise in random.normal(0, 0.1, (5, 1, 1))])
                             .astype(np.float32))
rotated = ndimage.rotate(frames, 12, axes=(1, 2), reshape=False, mode="mirror")
print(rotated.shape)

# %% [markdown]
# `numpy()` copies an array to the host. The original, the moving image, and the warped moving
# image:

# %%
panels = np.hstack([array.numpy() for array in (image, moving, aligned)])
Image.fromarray(np.clip(panels * 255, 0, 255).astype(np.uint8)).save("on_a_device.png")
inner = (slice(40, -40), slice(40, -40))  # pixels that the rotation did not move out of the image
difference = np.abs(aligned.numpy() - scene)[inner].max()
print(f"largest difference from the original: {difference:.3f} of values up to 1")
