"""Templates: the mean of several images in shape and intensity."""

from dataclasses import dataclass

import numpy as np

from . import _core
from ._devices import open_device
from ._files._open import is_file, opened
from ._images import as_image, as_volume, mask_of, read
from ._options import documented, options_of
from ._progress import progress_bar
from ._transform import Transform
from ._volumes import volume_options_of

_MOTIONS = ("rigid", "similarity", "affine", "deformable")


@dataclass(frozen=True, eq=False)
class Template:
    """The mean of several images; :func:`build_template` makes it.

    Attributes
    ----------
    image : ndarray of float32
        The template, on the grid of the image that it began with. NaN where no image lies, or all
        that do are missing or masked.
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


def _pixels(image, mask, nodata, prepare, what):
    """An image as the library takes it, and the mask of the pixels that count, or None."""
    image, mask, _ = read(image, mask, prepare, what)
    pixels = prepare(image, what)
    mask, _ = mask_of(image, pixels.shape, mask, nodata, what,
                      "image" if pixels.ndim == 2 else "volume")
    return pixels, mask


def _initial_pixels(image, nodata, prepare):
    """The initial image, with NaN in its missing pixels."""
    pixels, mask = _pixels(image, None, nodata, prepare, "the initial image")
    return pixels if mask is None else np.where(mask != 0, pixels, np.nan).astype(np.float32)


class _Images:
    """Reads images one by one, with the masks of the pixels that count."""

    def __init__(self, images, masks, nodata):
        self._images = images
        self._masks = [None] * len(images) if masks is None else masks
        self._nodata = nodata
        if len(self._masks) != len(images):
            raise ValueError(f"masks must have a mask or None for each of the {len(images)} "
                             f"images, not {len(self._masks)}")
        first = images[0]
        self.ndim = 3 if (opened(first).ndim if is_file(first) else np.ndim(first)) == 3 else 2

    def __len__(self):
        return len(self._images)

    def __call__(self, index):
        what = f"image {index}"
        image = self._images[index]
        if is_file(image):
            image = opened(image)
            ndim = image.ndim
        else:
            ndim = np.ndim(image)
        pixels, mask = _pixels(image, self._masks[index], self._nodata,
                               as_volume if ndim == 3 else as_image, what)
        if pixels.ndim != self.ndim:
            raise ValueError(f"{what} has {pixels.ndim} dimensions, but image 0 {self.ndim}")
        return pixels, mask


def _registration(ndim, motion, spacing, options):
    """The library's options of a registration."""
    if ndim == 3:
        return volume_options_of(motion=motion, spacing=spacing, **options)
    if spacing is not None:
        raise ValueError("spacing is for volumes")
    return options_of({"motion": motion, **options})


@documented
def build_template(images, *, masks=None, nodata=None, motion="deformable", rounds=4, initial=None,
                   spacing=None, device=None, progress=None, **options) -> Template:
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
    masks : sequence of array_like, of paths or of None, optional
        For each image, a mask of its shape that is 0 where pixels are ignored, or None. Such pixels
        count neither for the mean and the deviation of the image's intensities, nor for its
        registration, nor for the template.
    %(nodata)s
    motion : {'rigid', 'similarity', 'affine', 'deformable'}, optional
        The transforms. The default is ``'deformable'``.
    rounds : int, optional
        How often the images are registered, from 1 to 100. The default is 4.
    initial : array_like, optional
        The image that the first round registers to, whose grid the template has. By default, the
        first of `images`. It has no mask: its pixels that do not count are NaN or `nodata`.
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
        Also: there are fewer than 2 images, or fewer than 2 of them register reliably in a round;
        the number of masks or the shape of one is wrong; or no pixel can have the value `nodata`.

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
    images = _Images(images, masks, nodata)
    prepare, build = ((as_volume, _core.build_volume_template) if images.ndim == 3
                      else (as_image, _core.build_template))
    registration = _registration(images.ndim, motion, spacing, options)
    if initial is not None:
        initial = _initial_pixels(initial, nodata, prepare)
    with progress_bar(progress, rounds * len(images), "image") as bar:
        found = build(device, len(images), images, registration, rounds, initial, bar.update)
    shape = found["image"].shape
    transforms = [None if one is None else Transform._of(one, shape=shape)
                  for one in found["transforms"]]
    return Template(found["image"], transforms, np.array(found["confidences"]),
                    np.array(found["changes"]))
