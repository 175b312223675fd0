# %% [markdown]
# # Align two volumes
# Tiles of a light-sheet microscope, or scans of one specimen, differ by a shift in three
# dimensions. `register_volume` finds it to a fraction of a voxel, also where most of the volumes is
# not in common.

# %%
import numpy as np
from PIL import Image

import warpalign
from warpalign import ndimage

random = np.random.default_rng(3)
specimen = ndimage.zoom(random.random((12, 30, 40)), 3).astype(np.float32)

# %% [markdown]
# Two tiles of it that share half of their columns. The second one was recorded brighter, with
# noise, and between the voxels of the first.

# %%
first = specimen[:, :, :72]
second = ndimage.shift(specimen, (0, -0.4, -36.3), mode="mirror")[:, :, :72]
second = 1.3 * second + 0.1 + random.normal(0, 0.02, second.shape).astype(np.float32)
found = warpalign.register_volume(first, second)
print(found)
print(f"they share {found.overlap:.0%}")

# %% [markdown]
# The translation is in array axes: what is at an index of the first volume is at that index plus
# the translation in the second one. `warp` brings the second one onto the first one's grid, and 0
# to where it has no voxels.

# %%
aligned = found.warp(second)
both = aligned != 0
correlation = np.corrcoef(first[both], aligned[both])[0, 1]
print(f"correlation where both are: {correlation:.3f}")

# %% [markdown]
# The middle plane of the first, of the second, and of the second on the first one's grid:

# %%
middle = first.shape[0] // 2
shown = np.hstack([first[middle], second[middle], aligned[middle]])
Image.fromarray(np.clip(shown * 160, 0, 255).astype(np.uint8)).save("tiles.png")
