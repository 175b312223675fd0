"""The deformation that a registration with motion='deformable' finds."""

from dataclasses import dataclass

from ._transform import Transform


@dataclass(frozen=True, eq=False)
class Deformation:
    """A free-form deformation on a cubic B-spline grid, after an affine transform.

    Attributes
    ----------
    transform : Transform
        Maps points of the reference to the moving image: a chain of the B-spline and the affine
        transform. Without an argument, its :meth:`~Transform.field`, :meth:`~Transform.positions`
        and :meth:`~Transform.jacobian` cover the pixels of the reference.
    correlation_before : float
        The mean correlation of small windows (5 pixels wide) of the reference and the moving image
        after the affine transform alone, -1 to 1. If the affine step compared another modality, the
        root of the mean of its square, which the deformation then maximises [2]_.
    correlation : float
        The same after the deformation.
    min_jacobian, max_jacobian : float
        The least and the greatest factor by which the B-spline changes areas or volumes, over all
        pixels of the reference. The least is above 0: the field does not fold.
    extreme_jacobians : float
        The share of pixels, 0 to 1, with a factor below 0.3 or above 3.

    References
    ----------
    .. [1] D. Rueckert et al., "Nonrigid registration using free-form deformations: application to
       breast MR images", IEEE Trans. Medical Imaging 18, 1999.
    .. [2] B. B. Avants et al., "Symmetric diffeomorphic image registration with cross-correlation",
       Medical Image Analysis 12, 2008.
    """

    transform: Transform
    correlation_before: float
    correlation: float
    min_jacobian: float
    max_jacobian: float
    extreme_jacobians: float


def deformation_of(found, reference_shape):
    """The Deformation of the extension module's dictionary, or None."""
    if found is None:
        return None
    transform = Transform._of(found.pop("transform"), shape=tuple(reference_shape))
    return Deformation(transform, **found)
