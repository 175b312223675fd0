"""Missing pixels of a mosaic's tiles: NaN, infinities, and those that equal `nodata`."""

import math

import numpy as np

from ._nodata import check_can_hold, known_samples


def check_flat_field(nodata, flat_field):
    """Raise ValueError if both are given."""
    if nodata is not None and flat_field is not None:
        raise ValueError("nodata: flat_field would change the value of missing pixels; omit one")


class FusedNodata:
    """The value of missing pixels in tiles that are fused to a picture of a type, and in it.

    `value` is what the library takes. Tiles of other types are fused as float32, to which two
    numbers may be rounded: in float32, therefore, NaN stands for `nodata`.
    """

    def __init__(self, nodata, dtype):
        self._nodata = nodata
        self._is_float = dtype.kind == "f"
        self.value = nodata
        if nodata is not None and self._is_float:
            with np.errstate(over="ignore"):
                if math.isfinite(nodata) and not np.isfinite(dtype.type(nodata)):
                    raise ValueError(f"nodata is {nodata!r}, which no pixel of the picture can "
                                     f"have; its type is {dtype}")
            self.value = math.nan

    def check(self, tile, what):
        """Raise ValueError if no pixel of the tile can have the value."""
        if self._nodata is not None:
            check_can_hold(self._nodata, tile.dtype, what)

    def in_tile(self, tile, dtype):
        """The tile, contiguous and of the picture's type."""
        known = None
        if self._is_float and self._nodata is not None:
            known = known_samples(tile, self._nodata)
        tile = np.array(tile, dtype, order="C") if known is not None else np.ascontiguousarray(
            tile, dtype)
        if known is not None:
            tile[~known] = np.nan
        return tile

    def in_picture(self, picture):
        """Write the value where the picture has none."""
        if self._is_float and self._nodata is not None and not math.isnan(self._nodata):
            picture[np.isnan(picture)] = self._nodata
