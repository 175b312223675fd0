# %% [markdown]
# # Reduce an image without aliasing
# Interpolation reads a few samples around each point. When an image is reduced strongly, fine
# detail between these points turns into false patterns: aliasing. With `antialias`, `zoom` first
# removes the frequencies that the smaller image cannot represent.

# %%
import matplotlib.pyplot as plt
import numpy as np

from warpalign import ndimage

# Rings that become finer towards the outside, to less than three samples a cycle in the corners.
axis = np.linspace(-1, 1, 512)
radius_squared = axis[:, None] ** 2 + axis[None, :] ** 2
rings = 0.5 + 0.5 * np.cos(220 * radius_squared)

# %% [markdown]
# The image is reduced to a quarter: by linear interpolation, by a cubic spline, by the same spline
# after a Gaussian filter, and by the cubic spline that is nearest to that of the larger image in
# the mean square.

# %%
factor = 4
linear = ndimage.zoom(rings, 1 / factor, order=1)
cubic = ndimage.zoom(rings, 1 / factor)
gaussian = ndimage.zoom(rings, 1 / factor, antialias=True)
nearest = ndimage.zoom(rings, 1 / factor, antialias="least-squares")

panels = {"original, 512 x 512": rings, "linear": linear, "cubic": cubic, "Gaussian": gaussian,
          "least squares": nearest}
figure, axes = plt.subplots(1, 5, figsize=(11, 2.6), layout="constrained")
for panel, (title, image) in zip(axes, panels.items()):
    panel.imshow(image, cmap="gray", vmin=0, vmax=1)
    panel.set_title(title)
    panel.set_axis_off()

# %% [markdown]
# The outer rings are too fine for 128 pixels a side. The patterns that appear there in the second
# and third image are not in the original.

# %%
outside = radius_squared[::factor, ::factor] > 0.5
for name, image in [("linear", linear), ("cubic", cubic), ("Gaussian", gaussian),
                    ("least squares", nearest)]:
    print(f"{name}: contrast of false patterns: {image[outside].std():.3f}")
