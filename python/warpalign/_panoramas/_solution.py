"""From pairs to cameras: the fit of a model to the accepted pairs."""

from dataclasses import dataclass

import numpy as np

from . import _graph
from ._least_squares import Links, mapped, minimise
from ._plane_model import MAX_ENLARGEMENT, PlaneModel, enlargement
from ._rotation_model import (
    RotationModel, estimate_focal_lengths, is_beyond_search, nearest_rotation, relative_rotations,
    rotation_errors)

_GRID = 12  # points along the longer side of a photograph, of which those in the overlap count
_FEWEST_POINTS = 6
# A pair contradicts the others if its residual exceeds this part of a photograph's longer side,
# and so many times the median. A lens that distorts moves points by some thousandths.
_MAX_RESIDUAL = 0.01
_MAX_MEDIANS = 6.0
# This far from any rotation, in parts of the longer side, a pair does not begin. The first estimate
# of the focal length, to some percent, moves the edges of photographs by up to a fiftieth.
_NO_ROTATION = 0.05
# Cauchy's scale in parts of the longer side, step by step: the first lets a ring close that errors
# of the focal length opened, the last is about what verified pairs reach.
_SCALES = (0.1, 0.02, 0.003)
# Residuals of rotations, in parts of the longer side: below the first, nothing else is tried, and
# above the second they do not hold. Photographs from a free hand reach 0.001 to 0.01.
_CONVINCING = 0.002
_UNCONVINCING = 0.02
_ROUNDS = 5  # of leaving out pairs


def facing(homographies):
    """Homographies with the determinant 1, by which the last component of points is positive in
    front of both cameras, and about 1."""
    return homographies / np.cbrt(np.linalg.det(homographies))[..., None, None]


def overlap_points(homography, reference_shape, moving_shape, per_side=_GRID, least=_FEWEST_POINTS):
    """Points of a regular grid in the reference photograph that lie in the moving one, too, and
    where: (x, y) from the centres. The grid is refined until they are at least `least`."""
    spacing = max(reference_shape) / per_side
    axes = [(np.arange(max(2, round(length / spacing))) + 0.5) for length in reference_shape[::-1]]
    axes = [axis / len(axis) * length - length / 2
            for axis, length in zip(axes, reference_shape[::-1])]
    source = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    target = mapped(facing(homography), source)
    inside = (np.abs(target) <= np.array(moving_shape[::-1]) / 2).all(axis=1)
    if least and inside.sum() < least and per_side < 8 * _GRID:
        return overlap_points(homography, reference_shape, moving_shape, 2 * per_side, least)
    return source[inside], target[inside]


@dataclass
class Solution:
    """A model that was fitted to pairs.

    Attributes
    ----------
    model : {'rotation', 'homography'}
        Its name.
    members : list of int
        The photographs that it places.
    reference : int
        The photograph with the most pairs.
    matrices : ndarray, shape (photographs, 3, 3)
        From directions of the panorama (points of the reference photograph for a homography) to
        points of the photographs. NaN for others.
    rotations : ndarray, shape (photographs, 3, 3), or None
        From directions of the panorama to those of the camera.
    focal_lengths : ndarray, shape (photographs,), or None
        In pixels.
    residuals : ndarray, shape (pairs,)
        The root mean square residual of each pair, in pixels; NaN if a photograph of it is not
        placed.
    contradicted : ndarray of bool, shape (pairs,)
        The pairs that were left out.
    beyond : bool
        Whether the focal length is not determined: it is the longest that is tried.
    """

    model: str
    members: list
    reference: int
    matrices: np.ndarray
    rotations: np.ndarray | None
    focal_lengths: np.ndarray | None
    residuals: np.ndarray
    contradicted: np.ndarray
    beyond: bool

    def typical(self):
        """The median residual of the pairs that are used, in pixels."""
        used = self.residuals[~self.contradicted & np.isfinite(self.residuals)]
        return float(np.median(used)) if len(used) else np.inf


class Fitting:
    """Fits models to pairs.

    Parameters
    ----------
    shapes : list of (rows, columns)
        Of the photographs.
    ends : list of (int, int)
        The reference and the moving photograph of each pair.
    homographies : ndarray, shape (pairs, 3, 3)
        From points of the reference photograph to those of the moving one.
    confidences : sequence of float
        Of the pairs.
    """

    def __init__(self, shapes, ends, homographies, confidences):
        self.shapes, self.ends = shapes, ends
        self.homographies = facing(np.asarray(homographies, float).reshape(-1, 3, 3))
        self.confidences = np.asarray(confidences, float)
        self.side = max(map(max, shapes))
        points = [overlap_points(h, shapes[r], shapes[m])
                  for h, (r, m) in zip(self.homographies, ends)]
        self._points = points
        kinds = sorted({tuple(sorted(shape)) for shape in shapes})
        self.groups = np.array([kinds.index(tuple(sorted(shape))) for shape in shapes])
        self.sides = np.array([kind[1] for kind in kinds], float)

    def _links(self, pairs):
        return Links.of([self.ends[pair] for pair in pairs],
                        *([self._points[pair][end] for pair in pairs] for end in (0, 1)))

    def _tree(self, kept, members, root):
        """The steps from the root over pairs that other pairs confirm, the most confident first."""
        inside = [pair for pair in kept if self.ends[pair][0] in members]
        ends = [self.ends[pair] for pair in inside]
        weights = self.confidences[inside] * self._support(inside)
        tree = _graph.maximum_spanning_tree(len(self.shapes), ends, weights)
        return [(inside[pair], here, there, forward)
                for pair, here, there, forward in _graph.walk(root, ends, tree)]

    def _support(self, pairs):
        """For each pair, how far others confirm it: the share of the triangles of pairs with it
        that close, as if one more did and one more did not."""
        between = {}
        for pair in pairs:
            reference, moving = self.ends[pair]
            between[reference, moving] = self.homographies[pair]
            between[moving, reference] = np.linalg.inv(self.homographies[pair])
        neighbours = {}
        for one, other in between:
            neighbours.setdefault(one, set()).add(other)
        support = []
        for pair in pairs:
            reference, moving = self.ends[pair]
            source, target = self._points[pair]
            closed = 0
            thirds = neighbours[reference] & neighbours[moving]
            for third in thirds:
                around = between[third, moving] @ between[reference, third]
                error = np.median(np.linalg.norm(mapped(facing(around), source) - target, axis=1))
                closed += error < 0.03 * self.side
            support.append((closed + 1) / (len(thirds) + 2))
        return np.array(support)

    def rotation(self):
        """Fit rotations and focal lengths. None if no pairs are left."""
        links = self._links(range(len(self.ends)))
        focal_lengths = estimate_focal_lengths(self.homographies, links, self.groups, self.sides)
        beyond = is_beyond_search(focal_lengths, self.sides)
        per_image = focal_lengths[self.groups]
        errors = rotation_errors(self.homographies, links, per_image[links.reference],
                                 per_image[links.moving])
        wrong = errors > max(_NO_ROTATION * self.side, 10 * np.median(errors))
        model = RotationModel(self.groups)

        def initial(kept, members, root):
            rotations = np.tile(np.eye(3), (len(self.shapes), 1, 1))
            for pair, here, there, forward in self._tree(kept, members, root):
                reference, moving = self.ends[pair]
                step = relative_rotations(self.homographies[pair][None],
                                          per_image[[reference]], per_image[[moving]])[0]
                rotations[there] = (step if forward else step.T) @ rotations[here]
            return rotations, focal_lengths

        found = self._fitted(model, initial, wrong)
        if found is None:
            return None
        (rotations, fitted), members, root, residuals, wrong = found
        rotations = nearest_rotation(rotations)
        per_image = fitted[self.groups]
        matrices = np.stack([np.diag([f, f, 1.0]) for f in per_image]) @ rotations
        return Solution("rotation", members, root, self._of(members, matrices), rotations,
                        per_image, residuals, wrong, beyond)

    def plane(self):
        """Fit homographies to a plane. None if no pairs are left."""
        model = PlaneModel(self.side / 2)
        between = model.in_units(self.homographies)

        def initial(kept, members, root):
            state = np.tile(np.eye(3), (len(self.shapes), 1, 1))
            for pair, here, there, forward in self._tree(kept, members, root):
                step = between[pair] if forward else np.linalg.inv(between[pair])
                state[there] = step @ state[here]
                state[there] /= np.linalg.norm(state[there]) / np.sqrt(3)
            return state

        found = self._fitted(model, initial, np.zeros(len(self.ends), bool))
        if found is None:
            return None
        state, members, root, residuals, wrong = found
        return Solution("homography", members, root, self._of(members, model.in_pixels(state)),
                        None, None, residuals, wrong, False)

    def _of(self, members, matrices):
        outside = np.ones(len(self.shapes), bool)
        outside[members] = False
        matrices[outside] = np.nan
        return matrices

    def _fitted(self, model, initial, wrong):
        """Fit, and leave out pairs that contradict the others, until none does."""
        count = len(self.shapes)
        for round_number in range(_ROUNDS):
            kept = np.flatnonzero(~wrong).tolist()
            if not kept:
                return None
            members = _graph.largest_component(count, [self.ends[pair] for pair in kept])
            kept = [pair for pair in kept if self.ends[pair][0] in members]
            root = _graph.centre_of(members, [self.ends[pair] for pair in kept])
            links = self._links(kept)
            state = initial(kept, members, root)
            for scale in _SCALES:
                state = minimise(model, state, links, count, root, scale * self.side)
            residuals = np.full(len(self.ends), np.nan)
            inside = [pair for pair, (reference, moving) in enumerate(self.ends)
                      if reference in members and moving in members]
            every = self._links(inside)
            residuals[inside] = np.sqrt(every.mean_squares(model.residuals(state, state, every)))
            limit = max(_MAX_RESIDUAL * self.side, _MAX_MEDIANS * np.median(residuals[kept]))
            now = np.zeros_like(wrong)
            now[kept] = residuals[kept] > limit
            # What agrees with the cameras that the others determine belongs to them.
            back = wrong & (residuals <= limit)
            last = round_number == _ROUNDS - 1
            if last or not now.any() and not back.any():
                return state, members, root, residuals, wrong | now
            # The worst only, and others about as bad: their residuals may be due to it.
            wrong = (wrong & ~back) | now & (residuals > 0.5 * residuals[now].max(initial=0))
        return None


def solve(fitting, wanted):
    """The Solution by the model `wanted`: 'rotation', 'homography' or 'auto'. None if no pairs are
    left.

    'auto' takes rotations unless homographies to one plane fit much better, or the focal length is
    not determined, as by a camera that moves in front of a plane.
    """
    rotation = fitting.rotation() if wanted in ("rotation", "auto") else None
    if wanted == "rotation":
        return rotation
    if (wanted == "auto" and rotation is not None and not rotation.beyond
            and not rotation.contradicted.any()
            and rotation.typical() < _CONVINCING * fitting.side):
        return rotation
    plane = fitting.plane()
    if wanted == "homography" or rotation is None or plane is None:
        return plane or rotation
    return plane if _fits_better(plane, rotation, fitting) else rotation


def _fits_better(plane, rotation, fitting):
    """Whether homographies fit so much better than rotations that the scene is a plane.

    A tree of pairs fits homographies exactly, whatever the scene, so that only more pairs speak for
    a plane: at least two. Without them, rotations must fit badly.
    """
    if not enlargement(plane.matrices[plane.members],
                       [fitting.shapes[member] for member in plane.members]) < MAX_ENLARGEMENT:
        return False
    used = np.isfinite(plane.residuals) & ~plane.contradicted
    redundant = used.sum() >= len(plane.members) + 1
    if len(plane.members) < len(rotation.members):
        return False
    if rotation.beyond or redundant and len(plane.members) > len(rotation.members):
        return True
    limit = (_CONVINCING if redundant else _UNCONVINCING) * fitting.side
    return limit < rotation.typical() and 3 * plane.typical() < rotation.typical()
