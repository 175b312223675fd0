"""Registration as a user would write it with an array library: gradient, window, FFT magnitude,
log-polar map, phase correlation, inverse rotation, phase correlation for both half-turns."""

import numpy as np

# Of the corner error, as a fraction of the side: peaks have the resolution of the log-polar grid.
TOLERANCE = 0.02


def pair(side):
    """Two 8-bit images of one scene; matrix and offset from reference to moving (row, column)."""
    from scipy import ndimage

    generator = np.random.default_rng(11)
    scene = np.zeros((2 * side, 2 * side))
    spacing = 6
    while spacing < side / 3:
        layer = ndimage.zoom(generator.standard_normal((2 * side // spacing + 2,) * 2), spacing,
                             order=1)
        scene += layer[: 2 * side, : 2 * side]
        spacing *= 2
    scene = np.clip(127.5 + 40 * scene / scene.std(), 0, 255)
    angle, scale = np.deg2rad(20.0), 1.1
    turn = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    centre = np.full(2, (side - 1) / 2)
    shift = np.array([-side / 128, side / 64])
    forward, offset = turn, centre + shift - turn @ centre  # moving = forward reference + offset
    corner = np.full(2, side / 2)
    reference = ndimage.affine_transform(scene, np.eye(2), corner, (side, side), order=1)
    back = np.linalg.inv(forward)
    moving = ndimage.affine_transform(scene, back, corner - back @ offset, (side, side), order=1)
    return reference.astype(np.uint8), moving.astype(np.uint8), forward, offset


def corner_error(matrix, offset, true_matrix, true_offset, side):
    """The largest distance in pixels between the corners as mapped by two transforms."""
    corners = np.array([[0, 0, side - 1, side - 1], [0, side - 1, 0, side - 1]], float)
    difference = (matrix - true_matrix) @ corners + (offset - true_offset)[:, None]
    return float(np.hypot(*difference).max())


class Registration:
    """The recipe on NumPy or CuPy arrays. `ndimage` and `fft` are the library's own modules."""

    def __init__(self, xp, ndimage, fft, side):
        self.xp, self.ndimage, self.fft, self.side = xp, ndimage, fft, side
        window = xp.hanning(side).astype(xp.float32)
        self.window = window[:, None] * window[None, :]
        angles = (xp.arange(side) / side - 0.5) * np.pi  # the half plane u >= 0
        self.log_base = np.log(side) / side
        radii = xp.exp(xp.arange(side) * self.log_base)
        self.polar = xp.stack([side / 2 + xp.sin(angles)[:, None] * radii[None, :],
                               xp.cos(angles)[:, None] * radii[None, :]]).astype(xp.float32)
        v = self.fft.fftfreq(side)[:, None]
        u = self.fft.rfftfreq(side)[None, :]
        self.weight = xp.exp(-(u * u + v * v) / (2 * (0.3 * 0.5) ** 2)).astype(xp.float32)

    def gradient(self, image):
        image = image.astype(self.xp.float32)
        magnitude = self.xp.hypot(self.ndimage.sobel(image, 0), self.ndimage.sobel(image, 1))
        return (magnitude - magnitude.mean()) * self.window

    def log_polar_spectrum(self, gradient):
        spectrum = self.fft.rfft2(gradient)
        centred = self.fft.fftshift(self.xp.abs(spectrum) ** 0.3, axes=0)
        return self.fft.rfft2(self.ndimage.map_coordinates(centred, self.polar, order=1))

    def correlate(self, a, b, weight=1):
        """The shift at which b matches a: (row, column) of the peak, signed, and its height."""
        cross = self.xp.conj(a) * b
        surface = self.fft.irfft2(weight * cross / (self.xp.abs(cross) + 1e-12), (self.side,) * 2)
        row, column = divmod(int(surface.argmax()), self.side)
        height = float(surface[row, column])
        half = self.side // 2
        signed = [place - self.side if place > half else place for place in (row, column)]
        return np.array(signed, float), height

    def __call__(self, reference, moving):
        """Matrix and offset, rows before columns, from reference to moving pixels."""
        first, second = self.gradient(reference), self.gradient(moving)
        peak, _ = self.correlate(self.log_polar_spectrum(first), self.log_polar_spectrum(second),
                                 self.weight)
        # |M|(rho, phi) = |R|(s rho, phi + r), with the signs of the pipeline's own find_turn.
        angle, scale = -peak[0] * np.pi / self.side, np.exp(-peak[1] * self.log_base)
        best = None
        spectrum = self.fft.rfft2(first)
        centre = np.full(2, (self.side - 1) / 2)
        for half_turn in (0, np.pi):
            c, s = scale * np.cos(angle + half_turn), scale * np.sin(angle + half_turn)
            matrix = np.array([[c, -s], [s, c]])
            offset = centre - matrix @ centre
            rotated = self.ndimage.affine_transform(second, self.xp.asarray(matrix), offset, order=1)
            shift, height = self.correlate(spectrum, self.fft.rfft2(rotated))
            if best is None or height > best[0]:
                best = (height, matrix, offset + matrix @ shift)
        return best[1], best[2]
