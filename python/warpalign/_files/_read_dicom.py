"""DICOM: a file, or the folder of a series of slices."""

import numpy as np

from .._geometry import Geometry, need
from ._image_file import ImageFile
from ._lazy import LazyArray
from ._refusal import check_level, number_of_scene, one_line, refuse

_MOST_FILES = 100_000
# By how much the distances between slices may differ, in millimetres and as a fraction.
_TOLERANCE = 0.01


def _is_dicom(path):
    with open(path, "rb") as file:
        return file.read(132)[128:] == b"DICM"


def _files(folder):
    return sorted(path for path in folder.iterdir()
                  if path.is_file() and path.name != "DICOMDIR")


def has_files(folder):
    """Whether the folder has a file of DICOM among its first ones."""
    return any(_is_dicom(path) for path in _files(folder)[:16])


def _header(pydicom, path):
    return pydicom.dcmread(path, stop_before_pixels=True)


def _series(pydicom, path):
    """The headers of the slices of each series, by its name."""
    files = _files(path) if path.is_dir() else [path]
    if len(files) > _MOST_FILES:
        refuse(f"the folder has more than {_MOST_FILES} files")
    found = {}
    for file in files:
        if path.is_dir() and not _is_dicom(file):
            continue
        header = _header(pydicom, file)
        if "Rows" in header:
            found.setdefault(str(header.get("SeriesInstanceUID", "")), []).append((file, header))
    if not found:
        refuse("it has no image")
    names = {}
    for uid, slices in found.items():
        name = str(slices[0][1].get("SeriesDescription", "")) or uid
        names[f"{name} ({uid})" if name in names else name] = slices
    return names


def _vector(header, name):
    value = header.get(name)
    return None if value is None else np.array([float(number) for number in value])


def _shared(header, group, name):
    """An attribute of the functional groups that all frames of an enhanced image share."""
    try:
        return getattr(getattr(header.SharedFunctionalGroupsSequence[0], group)[0], name)
    except (AttributeError, IndexError):
        return None


def _directions(header):
    """The unit vectors of columns (x) and rows (y), and their cross product, in LPS."""
    given = _vector(header, "ImageOrientationPatient")
    if given is None:
        given = _shared(header, "PlaneOrientationSequence", "ImageOrientationPatient")
        given = None if given is None else np.array([float(number) for number in given])
    if given is None:
        return None
    x, y = given[:3], given[3:]
    return np.stack([x, y, np.cross(x, y)], axis=1)


def _pixel_spacing(header):
    given = header.get("PixelSpacing") or header.get("ImagerPixelSpacing") or _shared(
        header, "PixelMeasuresSequence", "PixelSpacing")
    return None if given is None else (float(given[0]), float(given[1]))


def _sorted(slices, direction):
    """The slices along their normal, their distance, and whether it is known."""
    positions = [_vector(header, "ImagePositionPatient") for _, header in slices]
    if direction is None or any(position is None for position in positions):
        order = sorted(range(len(slices)),
                       key=lambda i: int(slices[i][1].get("InstanceNumber") or 0))
        return [slices[i] for i in order], None
    along = np.array([position @ direction[:, 2] for position in positions])
    order = np.argsort(along, kind="stable")
    steps = np.diff(along[order])
    if len(steps):
        step = float(np.median(steps))
        if steps.min() < _TOLERANCE:
            refuse(f"two slices of the series are at the same place, "
                   f"{along[order[int(np.argmin(steps))]]:g} mm: it has several volumes")
        if np.abs(steps - step).max() > max(_TOLERANCE, 0.02 * step):
            worst = int(np.argmax(np.abs(steps - step)))
            refuse(f"the series lacks slices: they are {step:g} mm apart, but {steps[worst]:g} mm "
                   f"after {slices[order[worst]][0].name}")
        return [slices[i] for i in order], step
    return [slices[i] for i in order], None


def _pixels(pydicom, file, path):
    try:
        dataset = pydicom.dcmread(file)
        array = dataset.pixel_array
    except Exception as error:
        raise ValueError(f"{path}: {file.name} is cut short or damaged, or its compression is not "
                         f"supported ({one_line(error)})") from error
    slope, inter = (float(dataset.get(name, default) or default) for name, default in
                    (("RescaleSlope", 1.0), ("RescaleIntercept", 0.0)))
    if slope == 1 and inter == 0:
        return array
    scaled = array * slope + inter
    whole = slope == int(slope) and inter == int(inter)
    return scaled.astype(np.int32 if whole else np.float32)


def _dtype(header):
    if float(header.get("RescaleSlope", 1) or 1) != 1 or float(
            header.get("RescaleIntercept", 0) or 0) != 0:
        values = [float(header.get("RescaleSlope", 1) or 1),
                  float(header.get("RescaleIntercept", 0) or 0)]
        return np.int32 if all(value == int(value) for value in values) else np.float32
    bits = int(header.get("BitsAllocated", 16))
    kind = "i" if header.get("PixelRepresentation", 0) else "u"
    return np.dtype(f"{kind}{max(1, bits // 8)}")


def read(path, scene, level):
    pydicom = need("pydicom", "dicom", f"reading {path}")
    check_level(level, 1)
    series = _series(pydicom, path)
    names = list(series)
    slices = series[names[number_of_scene(scene, names)]]
    header = slices[0][1]
    direction, inplane = _directions(header), _pixel_spacing(header)
    rows, columns = int(header.Rows), int(header.Columns)
    for file, other in slices:
        if (int(other.Rows), int(other.Columns)) != (rows, columns):
            refuse(f"{file.name} has another size than {slices[0][0].name}")
    frames = int(header.get("NumberOfFrames", 1) or 1)
    colours = int(header.get("SamplesPerPixel", 1)) > 1
    step = None
    if frames == 1:
        slices, step = _sorted(slices, direction)
        header = slices[0][1]
    elif len(slices) > 1:
        refuse("it has several files of many frames; open one of them")
    count = frames if frames > 1 else len(slices)
    stacked = count > 1
    axes = (("z" if step is not None or frames > 1 else "i",) if stacked else ()) + ("y", "x")
    shape = ((count,) if stacked else ()) + (rows, columns) + ((3,) if colours else ())
    axes += ("c",) if colours else ()

    def whole():
        if frames > 1 or not stacked:
            return _pixels(pydicom, slices[0][0], path)
        return np.stack([_pixels(pydicom, file, path) for file, _ in slices])

    def one_slice(index):
        if isinstance(index[0], int):
            return _pixels(pydicom, slices[index[0]][0], path)[index[1:]]
        return np.stack([_pixels(pydicom, file, path)[index[1:]]
                         for file, _ in slices[index[0]]])

    if stacked and frames == 1:
        dtype = np.result_type(*{np.dtype(_dtype(other)) for _, other in slices})
        array = LazyArray(shape, dtype, one_slice, (1, *shape[1:]))
    else:
        array = LazyArray.of_whole(shape, _dtype(header), whole)
    geometry = _geometry(header, direction, inplane, step, shape[:len(axes) - colours], axes)
    spacing, units = {}, {}
    if inplane is not None:
        spacing, units = {"y": inplane[0], "x": inplane[1]}, dict.fromkeys("yx", "millimeter")
        if stacked and axes[0] == "z" and (step or _thickness(header)):
            spacing["z"], units["z"] = step or _thickness(header), "millimeter"
    image = ImageFile(path, "DICOM", array, axes, spacing=spacing, units=units, scenes=names,
                      metadata={"dataset": header})
    image.geometry = geometry or image.geometry
    return image


def _thickness(header):
    given = (header.get("SpacingBetweenSlices") or header.get("SliceThickness")
             or _shared(header, "PixelMeasuresSequence", "SpacingBetweenSlices")
             or _shared(header, "PixelMeasuresSequence", "SliceThickness"))
    return None if given is None else float(given)


def _geometry(header, direction, inplane, step, shape, axes):
    origin = _vector(header, "ImagePositionPatient")
    if direction is None or inplane is None or origin is None or axes[0] != "z" or not step:
        return None
    return Geometry(shape, spacing=(inplane[1], inplane[0], step), origin=origin,
                    direction=direction)
