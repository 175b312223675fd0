"""What the samples of a TIFF mean: palettes, inks, white as zero, alpha, orientation."""

import numpy as np

from ._refusal import refuse

# TIFF 6.0, PhotometricInterpretation.
_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB, _PALETTE, _INKS, _YCBCR = 0, 1, 2, 3, 5, 6
_JPEG, _WEBP = (6, 7), (50001,)  # whose decoders return RGB
_ALPHA = (1, 2)  # ExtraSamples
# The orientations in which rows and columns are exchanged, after which they are mirrored as
# (along y, along x).
_EXCHANGED = {5: (False, False), 6: (False, True), 7: (True, True), 8: (True, False)}
_MIRRORED = {2: (False, True), 3: (True, True), 4: (True, False)}


class Meaning:
    """How stored samples become pixels: black as zero, RGB, without the alpha of gray, upright.

    `axes`: tifffile's letters, changed by what is done. `views`: only axes are moved and mirrored,
    so that a memory map stays one.
    """

    def __init__(self, page, axes, shape, dtype, is_imagej=False):
        self.axes, self.shape, self.dtype = axes, tuple(shape), np.dtype(dtype)
        self.views = True
        self._steps = []
        self._colours(page, is_imagej)
        tag = page.tags.get(274)
        self.orientation = tag.value if tag is not None and tag.value in range(2, 9) else 1
        if self.orientation != 1 and "Y" in self.axes and "X" in self.axes:
            self._turn()

    @property
    def is_plain(self):
        return not self._steps

    @property
    def exchanged(self):
        """Whether rows and columns are exchanged."""
        return self.orientation in _EXCHANGED

    def pixels(self, stored):
        """The pixels, of `shape` and `dtype`."""
        for step in self._steps:
            stored = step(stored)
        return stored

    def _colours(self, page, is_imagej):
        kind = int(page.photometric)
        samples = self.shape[self.axes.index("S")] if "S" in self.axes else 1
        if kind == _RGB and samples > 1:
            self._samples_last()
        elif kind == _PALETTE and samples == 1 and not is_imagej and page.colormap is not None:
            self._look_up(page.colormap)
        elif kind == _INKS:
            if samples != 4 or self.dtype.kind != "u":
                refuse(f"it holds {samples} inks of {self.dtype}; convert it to RGB")
            self._samples_last()
            self._convert(_without_inks, self.shape[:-1] + (3,), self.dtype)
        elif kind in (_WHITE_IS_ZERO, _BLACK_IS_ZERO):
            if samples == 2 and tuple(page.extrasamples) and page.extrasamples[0] in _ALPHA:
                self._without_alpha()
            if kind == _WHITE_IS_ZERO and self.dtype.kind in "bu":
                top = (1 << page.bitspersample) - 1
                self._convert(lambda stored: ~stored if stored.dtype == bool
                              else (top - stored).astype(stored.dtype), self.shape, self.dtype)
        elif kind == _YCBCR and int(page.compression) in (*_JPEG, *_WEBP):
            self._samples_last()
        elif kind not in (_RGB, _PALETTE) and samples > 1:
            name = getattr(page.photometric, "name", str(kind))
            refuse(f"its colours are {name}; convert it to gray or RGB")

    def _convert(self, step, shape, dtype):
        self._steps.append(step)
        self.shape, self.dtype, self.views = tuple(shape), np.dtype(dtype), False

    def _samples_last(self):
        at = self.axes.index("S")
        if at == len(self.axes) - 1:
            return
        self._steps.append(lambda stored: np.moveaxis(stored, at, -1))
        self.axes = self.axes.replace("S", "") + "S"
        self.shape = self.shape[:at] + self.shape[at + 1:] + self.shape[at:at + 1]

    def _look_up(self, colormap):
        # A palette has 16 bits for each colour, of which programs use the upper 8.
        colours = np.ascontiguousarray((np.asarray(colormap).T >> 8).astype(np.uint8))
        self._convert(lambda stored: colours[stored.astype(np.intp)], (*self.shape, 3), np.uint8)
        self.axes += "S"

    def _without_alpha(self):
        at = self.axes.index("S")
        self._steps.append(lambda stored: stored.take(0, at))
        self.axes = self.axes.replace("S", "")
        self.shape = self.shape[:at] + self.shape[at + 1:]
        self.views = False

    def _turn(self):
        rows, columns = self.axes.index("Y"), self.axes.index("X")
        down, right = (_EXCHANGED if self.exchanged else _MIRRORED)[self.orientation]

        def turned(stored):
            if self.exchanged:
                stored = stored.swapaxes(rows, columns)
            flipped = [axis for axis, mirrored in ((rows, down), (columns, right)) if mirrored]
            return np.flip(stored, flipped)

        self._steps.append(turned)
        if self.exchanged:
            shape = list(self.shape)
            shape[rows], shape[columns] = shape[columns], shape[rows]
            self.shape = tuple(shape)


def _without_inks(stored):
    """RGB of cyan, magenta, yellow and black, without a colour profile."""
    top = np.iinfo(stored.dtype).max
    light = top - stored.astype(np.float64)
    return np.rint(light[..., :3] * light[..., 3:] / top).astype(stored.dtype)
