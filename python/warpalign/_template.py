"""Templates: the mean of several images in shape and intensity."""

from dataclasses import dataclass

import numpy as np

from ._devices import open_device
from ._files._open import is_file, opened
from ._images import as_image, as_volume
from ._options import documented
from ._progress import progress_bar
from ._register import Registrar
from ._transform import Transform
from ._volumes import VolumeRegistrar

_MOTIONS = ("rigid", "similarity", "affine", "deformable")


@dataclass(frozen=True, eq=False)
class Template:
    """The mean of several images; :func:`build_template` makes it.

    Attributes
    ----------
    image : ndarray of float32
        The template, on the grid of the image that it began with. NaN where no image lies.
    transforms : list of Transform or None
        For each image, the transform from pixels of the template to those of the image: its
        ``warp`` lays the image on the template. The mean of those that are used is the identity,
        but for what sampling changes. None for images that the last round did not use.
    confidences : ndarray, shape (n,)
        The confidence of each image's registration in the last round, 0 to 1.
    changes : ndarray, shape (rounds,)
        The root mean square displacement in pixels by which each round moved the template towards
        the mean shape. It falls in the first rounds.
    """

    image: np.ndarray
    transforms: list
    confidences: np.ndarray
    changes: np.ndarray

    @property
    def used(self):
        """Whether each image is part of the template: a list of bool."""
        return [transform is not None for transform in self.transforms]

    def __repr__(self):
        return (f"<Template: {self.image.shape}, of {sum(self.used)} of {len(self.transforms)} "
                f"images, last change {self.changes[-1]:.3g} pixels>")


class _Images:
    """Reads images one by one, and gives them a common mean and standard deviation."""

    def __init__(self, images):
        self._images = images
        first = self._read(0)
        self.ndim = first.ndim
        moments = np.array([self._moments(first if i == 0 else self._read(i), i)
                            for i in range(len(images))])
        self._moments_of = moments
        self._mean, self._deviation = moments.mean(0)

    def _read(self, index):
        what = f"image {index}"
        image = self._images[index]
        if is_file(image):
            file = opened(image)
            return (as_volume if file.ndim == 3 else as_image)(file, what)
        return (as_volume if np.ndim(image) == 3 else as_image)(image, what)

    def _moments(self, image, index):
        if image.ndim != self.ndim:
            raise ValueError(f"image {index} has {image.ndim} dimensions, but image 0 {self.ndim}")
        known = image[np.isfinite(image)]
        if not known.size or known.min() == known.max():
            raise ValueError(f"image {index} is constant, or has no finite samples")
        return known.mean(dtype=np.float64), known.std(dtype=np.float64)

    def __len__(self):
        return len(self._images)

    def __getitem__(self, index):
        mean, deviation = self._moments_of[index]
        image = self._read(index).astype(np.float64)
        return ((image - mean) * (self._deviation / deviation) + self._mean).astype(np.float32)


def _registrar_for(images, device, motion, spacing, options):
    if images.ndim == 2:
        if spacing is not None:
            raise ValueError("spacing is for volumes")
        return Registrar(device, motion=motion, **options)
    return VolumeRegistrar(device, motion=motion, spacing=spacing, **options)


def _towards_the_mean(mean):
    """The inverse of p -> p + mean(p) as a field, and the root mean square of `mean` in pixels."""
    try:
        inverse = Transform.displacement(mean).inverse()
    except ValueError as error:
        raise ValueError(f"the mean of the transforms has no inverse: {error}; give another "
                         f"initial image or a larger bending_weight") from None
    return Transform.displacement(inverse.field()), np.sqrt((mean ** 2).sum(0).mean())


def _mean_image(images, transforms, shape, device):
    """The mean of the warped images at each pixel, over those that are known there."""
    total, count = np.zeros(shape), np.zeros(shape, np.uint32)
    for index, transform in enumerate(transforms):
        if transform is None:
            continue
        warped = transform.warp(images[index], output_shape=shape, cval=np.nan, device=device)
        known = np.isfinite(warped)
        total[known] += warped[known]
        count += known
    with np.errstate(invalid="ignore"):
        return (total / count).astype(np.float32)


@documented
def build_template(images, *, motion="deformable", rounds=4, initial=None, spacing=None,
                   device=None, progress=None, **options) -> Template:
    """Build the template of several images or volumes: their mean shape and mean intensities.

    Each round registers all images to the template and makes the next one from them. The transforms
    map pixels of the template to those of the images. With their mean m, the next template is the
    mean of the images, each warped by its transform after the inverse of m. The mean of these
    transforms is the identity, so the template does not keep the shape of the image that it began
    with [1]_ [2]_. Each image is interpolated once in each round.

    Parameters
    ----------
    images : sequence of array_like, or of paths
        At least 2 images, or 2 volumes, with one channel. Shapes may differ. One of them is in
        memory at a time, if the sequence reads it when it is indexed.
    motion : {'rigid', 'similarity', 'affine', 'deformable'}, optional
        The transforms. The default is ``'deformable'``. Volumes have no ``'similarity'``.
    rounds : int, optional
        How often the images are registered, from 1 to 100. The default is 4.
    initial : array_like, optional
        The image that the first round registers to, whose grid the template has. By default, the
        first of `images`.
    spacing : float or sequence of floats, optional
        Of volumes: the distances of voxels along each axis, as :func:`register_volume` takes them.
        It must be the same for all.
    %(device)s
    progress : bool, optional
        Whether to show a progress bar, for which tqdm must be installed. By default, it is shown in
        a terminal or a notebook if tqdm is installed.
    **options
        Further options of :func:`register`, or of :func:`register_volume`, such as ``modality``,
        ``grid_spacing`` and ``bending_weight``.

    Returns
    -------
    Template
        The template and the transforms to the images. An image whose registration is not reliable
        in a round is left out of that round.

    %(raises)s
        Also: there are fewer than 2 images, or fewer than 2 of them register reliably in a round.

    References
    ----------
    .. [1] A. Guimond, J. Meunier and J.-P. Thirion, "Average brain models: a convergence study",
       Computer Vision and Image Understanding 77, 2000.
    .. [2] B. Avants and J. C. Gee, "Geodesic estimation for large deformation anatomical shape
       averaging and interpolation", NeuroImage 23, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> import warpalign
    >>> scene = warpalign.ndimage.zoom(np.random.default_rng(0).random((48, 64)), 4)
    >>> shifted = [np.roll(scene, shift, axis=1) for shift in (-4, 0, 4)]
    >>> template = warpalign.build_template(shifted, motion="rigid", rounds=2)
    >>> all(template.used)
    True
    >>> [round(transform.points([[60, 80]])[0, 1] - 80) for transform in template.transforms]
    [-4, 0, 4]
    """
    if motion not in _MOTIONS:
        raise ValueError(f"motion must be one of {', '.join(map(repr, _MOTIONS))}, not {motion!r}")
    if not 1 <= rounds <= 100:
        raise ValueError(f"rounds must be from 1 to 100, not {rounds!r}")
    if len(images) < 2:
        raise ValueError(f"a template needs at least 2 images, not {len(images)}")
    device = open_device(device)
    images = _Images(images)
    template = images[0] if initial is None else _initial_image(initial, images.ndim)
    shape, changes = template.shape, []
    registrar = _registrar_for(images, device, motion, spacing, options)
    with progress_bar(progress, rounds * len(images), "image") as bar:
        for number in range(rounds):
            registrar.set_reference(template)
            found = []
            for index in range(len(images)):
                found.append(registrar.align(images[index]))
                bar.update()
            used = [one.transform if one.reliable else None for one in found]
            count = sum(one is not None for one in used)
            if count < 2:
                raise ValueError(f"only {count} of {len(images)} images register reliably to the "
                                 f"template in round {number + 1}; give another initial image")
            mean = sum(one.field(shape) for one in used if one is not None) / count
            towards, change = _towards_the_mean(mean)
            used = [None if one is None else one @ towards for one in used]
            template = _mean_image(images, used, shape, device)
            changes.append(change)
    return Template(template, used, np.array([one.confidence for one in found]), np.array(changes))


def _initial_image(initial, ndim):
    prepare = as_volume if ndim == 3 else as_image
    return prepare(initial, "the initial image").astype(np.float32)
