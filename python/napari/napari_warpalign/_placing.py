"""Where the pixels of a layer lie in the world, as homogeneous matrices of array axes."""

import numpy as np
from napari.utils.transforms import Affine

_ROUNDING = 1e-6


def world_matrix(layer, ndim):
    """Maps pixels of the last `ndim` axes of a layer to the world. Raises ValueError if the layer
    mixes these axes with others."""
    count = layer.ndim
    corners = np.vstack([np.zeros(count), np.eye(count)])
    mapped = np.array([layer.data_to_world(corner) for corner in corners])
    linear = (mapped[1:] - mapped[0]).T
    first = count - ndim
    if np.abs(linear[first:, :first]).max(initial=0) > _ROUNDING or np.abs(
            linear[:first, first:]).max(initial=0) > _ROUNDING:
        raise ValueError(f"the transform of the layer {layer.name!r} mixes the axes of the image "
                         "with others")
    matrix = np.eye(ndim + 1)
    matrix[:-1, :-1] = linear[first:, first:]
    matrix[:-1, -1] = mapped[0, first:]
    return matrix


def _own_matrix(layer):
    """What scale, rotation, shear and translation of a layer do, without its affine."""
    return Affine(scale=layer.scale, rotate=layer.rotate, shear=layer.shear,
                  translate=layer.translate).affine_matrix


def affine_for(layer, matrix):
    """The affine of a layer that, after its scale, rotation, shear and translation, puts the pixels
    of its last axes to the world by `matrix`."""
    whole = np.eye(layer.ndim + 1)
    ndim = len(matrix) - 1
    axes = [*range(layer.ndim - ndim, layer.ndim), layer.ndim]
    whole[np.ix_(axes, axes)] = matrix
    first = layer.ndim - ndim
    own = _own_matrix(layer)
    if first:  # the other axes stay where they are
        now = layer.affine.affine_matrix @ own
        whole[:first, :first], whole[:first, -1] = now[:first, :first], now[:first, -1]
    return whole @ np.linalg.inv(own)


def pixel_sizes(matrix):
    """The lengths of the pixels of an image along its axes, in the world."""
    return np.linalg.norm(matrix[:-1, :-1], axis=0)


def embedded(matrix, ndim):
    """A matrix of the last axes for `ndim` axes, of which the others stay."""
    whole = np.eye(ndim + 1)
    axes = [*range(ndim + 1 - len(matrix), ndim + 1)]
    whole[np.ix_(axes, axes)] = matrix
    return whole


def data_of(layer):
    """The array of a layer; of several levels of resolution the finest one."""
    return layer.data[0] if layer.multiscale else layer.data


def index_of_slice(layer, point, ndim):
    """The index of the shown slice along all axes of a layer but the last `ndim` ones."""
    count = layer.ndim - ndim
    if count < 0:
        raise ValueError(f"the layer {layer.name!r} has {layer.ndim} axes, not {ndim}")
    at = np.asarray(layer.world_to_data(np.asarray(point, float)[-layer.ndim:]))[:count]
    lengths = np.asarray(data_of(layer).shape[:count])
    return tuple(int(i) for i in np.clip(np.rint(at), 0, lengths - 1))


def points_in(points_layer, layer, ndim):
    """The points of a layer as pixels of the last axes of an image's layer."""
    world = [points_layer.data_to_world(point) for point in points_layer.data]
    count = max(layer.ndim, ndim)
    found = []
    for point in world:
        point = np.asarray(point)[-count:]
        point = np.concatenate([np.zeros(count - len(point)), point])
        found.append(np.asarray(layer.world_to_data(point))[-ndim:])
    return np.array(found).reshape(-1, ndim)
