"""The frame of a panorama: its projection, its pixels, and where photographs lie in it."""

from dataclasses import dataclass, replace

import numpy as np

from ._plane_model import MAX_ENLARGEMENT, enlargement
from ._rotation_model import straightened
from ._surfaces import SURFACES, Frame, check_angles, rotated, widest_gap

# With 'auto': what reaches no further from the axis is planar, and what reaches no further from the
# horizon cylindrical. At these angles a plane and a cylinder stretch to 2 and 1.4 times the size.
_PLANAR_ANGLE = 45.0
_CYLINDRICAL_ANGLE = 45.0
_MAX_PIXELS = 1 << 31
# A ring whose photographs leave a gap of less than this, in pixels, is closed.
_CLOSED = 1.0
_ROUNDING = 0.01  # of a pixel
_MARGIN = 2  # pixels around the outline, which is known at some of its points


@dataclass(frozen=True)
class Layout:
    """The pixels of a panorama. Column c shows x = (c + left) / scale of the surface, row r shows
    y = (r + top) / scale.

    Attributes
    ----------
    surface : type
        Spherical, Cylindrical or Planar.
    scale : float
        Pixels for a unit of the surface.
    left, top : float
        See above.
    shape : (rows, columns)
    """

    surface: type
    scale: float
    left: float
    top: float
    shape: tuple

    def x(self, columns):
        return (np.arange(columns.start, columns.stop) + self.left) / self.scale

    def y(self, rows):
        return (np.arange(rows.start, rows.stop) + self.top) / self.scale

    def pixels(self, points):
        """(x, y) of the surface as (row, column). Columns of a whole turn wrap around."""
        columns = points[..., 0] * self.scale - self.left
        if self.surface.period:
            turn = self.surface.period * self.scale
            first = min(0.0, (self.shape[1] - 1 - turn) / 2)
            columns = (columns - first) % turn + first
        return np.stack([points[..., 1] * self.scale - self.top, columns], axis=-1)

    def boxes(self, frame):
        """Where a photograph lies: (rows, columns) as slices. Two, if it crosses the cut of a
        closed ring."""
        low, high = (np.array(edge) * self.scale - (self.left, self.top)
                     for edge in (frame.low, frame.high))
        rows = _clipped(low[1], high[1], self.shape[0])
        shifts = [0.0]
        if self.surface.period:
            turn = self.surface.period * self.scale
            shifts = [-turn, 0.0, turn]
        found = [(rows, _clipped(low[0] + shift, high[0] + shift, self.shape[1]))
                 for shift in shifts]
        return _without_repeats([(rows, columns) for rows, columns in found
                                 if rows.start < rows.stop and columns.start < columns.stop])


def _clipped(low, high, length):
    return slice(max(0, int(np.floor(low)) - _MARGIN),
                 min(length, int(np.ceil(high)) + 1 + _MARGIN))


def _without_repeats(boxes):
    """Boxes that share no columns: their margins may."""
    boxes.sort(key=lambda box: box[1].start)
    kept, reached = [], 0
    for rows, columns in boxes:
        columns = slice(max(columns.start, reached), columns.stop)
        if columns.start < columns.stop:
            kept.append((rows, columns))
            reached = columns.stop
    return kept


def _frames(surface, solution, shapes):
    return [Frame(surface, solution.matrices[member], shapes[member])
            for member in solution.members]


def _with_rotations(solution, rotations):
    focal_lengths = solution.focal_lengths
    matrices = np.stack([np.diag([f, f, 1.0]) for f in focal_lengths]) @ rotations
    outside = np.ones(len(matrices), bool)
    outside[solution.members] = False
    matrices[outside] = np.nan
    return replace(solution, rotations=rotations, matrices=matrices)


def _levelled(solution, straighten):
    """The solution with a level horizon, or with the axes of the reference photograph's camera."""
    rotations = solution.rotations.copy()
    if straighten:
        rotations[solution.members] = straightened(rotations[solution.members])
    else:
        rotations = rotations @ rotations[solution.reference].T
    return _with_rotations(solution, rotations)


def _automatic(solution, shapes):
    """The name of the projection for a field of view."""
    frames = _frames(SURFACES["spherical"], solution, shapes)
    x, y, z = np.concatenate([frame.rays for frame in frames]).T
    poles = any((frame.high - frame.low)[0] >= 2 * np.pi for frame in frames)
    if not poles and np.degrees(np.arctan2(np.hypot(x, y), z)).max() <= _PLANAR_ANGLE:
        return "planar"
    if not poles and np.degrees(np.abs(np.arctan2(y, np.hypot(x, z)))).max() <= _CYLINDRICAL_ANGLE:
        return "cylindrical"
    return "spherical"


def _check_enlargement(solution, shapes, names):
    """Raise ValueError if a photograph of a plane shows the plane's horizon or almost does."""
    for member in solution.members:
        if not enlargement(solution.matrices[[member]], [shapes[member]]) < MAX_ENLARGEMENT:
            raise ValueError(f"{names[member]} shows the plane of the reference photograph at too "
                             "steep an angle; choose model='rotation' if the camera rotated")


def _pixels(low, high, phase):
    """The first pixel, and the number of them, that cover a range, but for what rounding adds.
    Pixels lie at whole numbers plus `phase`."""
    first = float(np.floor(low - phase + _ROUNDING) + phase)
    return first, int(np.ceil(high - first - _ROUNDING)) + 1


def lay_out(solution, photographs, projection, straighten):
    """The layout of a panorama, the solution in its axes, the frames of its members, and its field
    of view in degrees, (vertical, horizontal), or None for a plane."""
    shapes, names = photographs.shapes, photographs.names
    if solution.model == "homography":
        if projection not in ("auto", "planar"):
            raise ValueError(f"the photographs show a plane, of which projection must be 'auto' or "
                             f"'planar', not {projection!r}")
        _check_enlargement(solution, shapes, names)
        surface, scale = SURFACES["planar"], 1.0
    else:
        solution = _levelled(solution, straighten)
        middle, gap = widest_gap(_frames(SURFACES["spherical"], solution, shapes))
        if gap * np.median(solution.focal_lengths[solution.members]) > _CLOSED:
            solution = _with_rotations(solution, rotated(solution.rotations, middle + np.pi))
        name = _automatic(solution, shapes) if projection == "auto" else projection
        surface = SURFACES[name]
        scale = float(np.median(solution.focal_lengths[solution.members]))
    frames = _frames(surface, solution, shapes)
    if solution.model == "rotation":
        check_angles(surface, frames, [names[member] for member in solution.members])
    low = np.min([frame.low for frame in frames], axis=0)
    high = np.max([frame.high for frame in frames], axis=0)
    # Of a plane, the pixels of the reference photograph are pixels of the picture.
    phase = (np.array(shapes[solution.reference]) - 1) / 2 % 1
    closed = surface.period and (high - low)[0] >= surface.period - _CLOSED / scale
    if closed:
        columns = round(surface.period * scale)
        scale = columns / surface.period
        left = (1 - columns) / 2
        low[0], high[0] = -np.pi, np.pi
    else:
        left, columns = _pixels(low[0] * scale, high[0] * scale, phase[1])
    top, rows = _pixels(low[1] * scale, high[1] * scale, phase[0])
    if rows * columns > _MAX_PIXELS:
        raise ValueError(f"the panorama would have {rows} x {columns} pixels; choose "
                         "projection='spherical', or fewer or smaller photographs")
    layout = Layout(surface, scale, left, top, (rows, columns))
    return layout, solution, frames, _field_of_view(surface, solution, low, high)


def _field_of_view(surface, solution, low, high):
    if solution.model == "homography":
        return None

    def angles(name, axis):
        linear = name == "planar" or name == "cylindrical" and axis == 1
        ends = np.array([low[axis], high[axis]])
        return float(np.ptp(np.degrees(np.arctan(ends) if linear else ends)))

    return angles(surface.name, 1), angles(surface.name, 0)
