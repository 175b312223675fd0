# %% [markdown]
# # Add two exposures of the sky
# An astronomer has two exposures of a star field in FITS. Between them the camera was turned, and
# only the first one has a world coordinate system. `warpalign.register` takes the paths, finds the
# transform by the stars, and the sum is saved with the world coordinates of the first exposure. The
# sky is simulated here, so that the truth is known. It needs `pip install "warpalign[fits]"`.

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from astropy.io import fits
from astropy.wcs import WCS

import warpalign

random = np.random.default_rng(5)
stars, fluxes = random.uniform(-40, 340, (150, 2)), random.pareto(1.3, 150) * 400 + 200
rows, columns = np.mgrid[:300, :300]
turn = np.radians(9.0)
rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
centre = np.array([149.5, 149.5])


def exposure(places):
    """Stars on a bright sky, with photon noise, cosmic rays and a dead column."""
    image = 300 + 0.2 * rows
    for (row, column), flux in zip(places, fluxes):
        image += flux * np.exp(-((rows - row)**2 + (columns - column)**2) / (2 * 1.4**2))
    image = random.poisson(image).astype(np.float32)
    image[tuple(random.integers(0, 300, (2, 60)))] += 5000
    image[:, 77] = np.nan
    return image


folder = Path(tempfile.mkdtemp())
wcs = WCS(naxis=2)
wcs.wcs.ctype, wcs.wcs.crval, wcs.wcs.crpix = ["RA---TAN", "DEC--TAN"], [83.63, 22.01], [150, 150]
wcs.wcs.cdelt = [-0.5 / 3600, 0.5 / 3600]
fits.PrimaryHDU(exposure(stars), wcs.to_header()).writeto(folder / "first.fits")
turned = (stars - centre) @ rotation.T + centre + (11.3, -6.8)
fits.PrimaryHDU(exposure(turned)).writeto(folder / "second.fits")

# %% [markdown]
# The header tells the size of a pixel. NaN pixels, such as the dead column, are ignored.

# %%
first = warpalign.open(folder / "first.fits")
print(first.format, first.axes, first.shape)
print(f"{first.spacing[0]:.2f} {first.units[0]}s a pixel")
found = warpalign.register(first, folder / "second.fits", motion="rigid")
print(f"rotated by {found.rotation_deg:.3f} degrees, shifted by "
      f"{found.translation[0]:.2f}, {found.translation[1]:.2f} pixels; reliable: {found.reliable}")

# %% [markdown]
# `warp` reads the second exposure, and leaves missing what it does not know: there the mean is the
# first exposure, and the reverse. A cosmic ray is in one exposure only: where the two differ by far
# more than their noise, the fainter one is right.

# %%
second = found.warp(folder / "second.fits", cval=np.nan)
skies = [image - np.nanmedian(image) for image in (np.asarray(first), second)]
noise = 1.4826 * np.nanmedian(np.abs(skies[0] - skies[1]))
faint, bright = np.fmin(*skies), np.fmax(*skies)  # the other one, where one is NaN
mean = np.where(bright - faint > 0.5 * bright + 8 * noise, faint, (faint + bright) / 2)
first.save(folder / "mean.fits", mean.astype(np.float32))

# %% [markdown]
# The saved mean has the header and the world coordinates of the first exposure.

# %%
with fits.open(folder / "mean.fits") as saved:
    after = WCS(saved[0].header)
star = stars[np.argmax(fluxes * ((stars > 20) & (stars < 280)).all(axis=1))]
sky = after.pixel_to_world(*star[::-1])
truth = wcs.pixel_to_world(*star[::-1])
print(f"the brightest star is at {sky.ra.deg:.5f}, {sky.dec.deg:+.5f}; "
      f"off by {sky.separation(truth).arcsec:.4f} arcseconds")

figure, axes = plt.subplots(1, 3, figsize=(12, 4.3), layout="constrained")
panels = {"first": np.asarray(first), "second": np.asarray(warpalign.open(folder / "second.fits")),
          "mean, on the first one's grid": mean}
for axis, (title, image) in zip(axes, panels.items()):
    low, high = np.nanpercentile(image, (5, 99.6))
    axis.imshow(image, cmap="gray", vmin=low, vmax=high, origin="lower")
    axis.set_title(title)
    axis.set_axis_off()
