# %% [markdown]
# # Reduce an image without aliasing
# Interpolation reads a few samples around each point. When an image is reduced strongly, fine
# detail between these points turns into false patterns: aliasing. A Gaussian filter before the zoom
# removes the frequencies that the smaller image cannot represent.

# %%
import matplotlib.pyplot as plt
import numpy as np
import scipy.ndimage

from warpalign import ndimage

# Rings that become finer towards the outside, to less than three samples a cycle in the corners.
axis = np.linspace(-1, 1, 512)
radius_squared = axis[:, None] ** 2 + axis[None, :] ** 2
rings = 0.5 + 0.5 * np.cos(220 * radius_squared)

# %% [markdown]
# The image is reduced to a quarter: by linear interpolation, by a cubic spline, and by the same
# spline after a Gaussian filter with a standard deviation of half the factor, in pixels of the
# larger image.

# %%
factor = 4
linear = ndimage.zoom(rings, 1 / factor, order=1)
cubic = ndimage.zoom(rings, 1 / factor, order=3)
smoothed = scipy.ndimage.gaussian_filter(rings, factor / 2)
antialiased = ndimage.zoom(smoothed, 1 / factor, order=3)

panels = {"original, 512 x 512": rings, "linear": linear, "cubic": cubic,
          "Gaussian, then cubic": antialiased}
figure, axes = plt.subplots(1, 4, figsize=(11, 3.2), layout="constrained")
for panel, (title, image) in zip(axes, panels.items()):
    panel.imshow(image, cmap="gray", vmin=0, vmax=1)
    panel.set_title(title)
    panel.set_axis_off()

# %% [markdown]
# The outer rings are too fine for 128 pixels a side. The patterns that appear there without the
# Gaussian filter are not in the original.

# %%
outside = radius_squared[::factor, ::factor] > 0.5
for name, image in [("linear", linear), ("cubic", cubic), ("antialiased", antialiased)]:
    print(f"{name}: contrast of false patterns: {image[outside].std():.3f}")
