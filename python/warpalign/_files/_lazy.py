"""Arrays whose pixels are read when they are needed."""

import operator

import numpy as np


class LazyArray:
    """An array that calls `read(index)`, with an int or a slice for each axis, for its pixels.

    `chunks`: the lengths of the pieces along each axis that are fast to read.
    """

    def __init__(self, shape, dtype, read, chunks=None):
        self.shape = tuple(int(length) for length in shape)
        self.dtype = np.dtype(dtype)
        self.chunks = chunks
        self._read = read

    @classmethod
    def of_whole(cls, shape, dtype, read):
        """Of a function that reads the whole array, which is kept after the first use."""
        kept = []

        def part(index):
            if not kept:
                array = read()
                if tuple(array.shape) != new.shape:
                    raise ValueError(f"its pixels have the shape {array.shape}, and not "
                                     f"{new.shape}, which its header tells")
                kept.append(array)
            return kept[0][index]

        new = cls(shape, dtype, part)
        return new

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return int(np.prod(self.shape, dtype=np.int64))

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        if Ellipsis in index:
            at = index.index(Ellipsis)
            more = (slice(None),) * (self.ndim - len(index) + 1)
            index = index[:at] + more + index[at + 1:]
        if len(index) > self.ndim:
            raise IndexError(f"there are {self.ndim} axes, but {len(index)} indices")
        index += (slice(None),) * (self.ndim - len(index))
        return np.asarray(self._read(tuple(
            one if isinstance(one, slice) else self._inside(one, axis)
            for axis, one in enumerate(index))))

    def _inside(self, number, axis):
        number = operator.index(number)
        if not -self.shape[axis] <= number < self.shape[axis]:
            raise IndexError(f"index {number} is outside of axis {axis}, which has "
                             f"{self.shape[axis]}")
        return number % self.shape[axis]

    def __array__(self, dtype=None, copy=None):
        array = self[...]
        return array if dtype is None else array.astype(dtype, copy=False)

    def __repr__(self):
        return f"<LazyArray: {self.shape}, {self.dtype}>"
