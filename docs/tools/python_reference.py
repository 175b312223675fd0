"""Makes the pages of the Python package from the docstrings of all public names."""

import importlib
import inspect

import check_docstrings

# The contents of each page. A public name that is on no page is an error.
PAGES = {
    "registration": ("Registration", "warpalign", [
        "register", "Registrar", "Registration", "Alignment", "Deformation", "register_stack",
        "StackRegistration", "register_batch", "register_local", "LocalRegistrar",
        "LocalRegistration", "register_volume", "VolumeRegistrar",
        "VolumeRegistration", "register_series", "SeriesRegistration", "build_template", "Template",
        "mosaic", "Mosaic", "MosaicPair", "StageModel", "TileDistortion", "flat_field",
        "panorama", "Panorama", "PanoramaPair", "PanoramaCamera", "local_agreement"]),
    "devices": ("Devices", "warpalign", [
        "devices", "backends", "open_device", "warm_up", "to_device", "DeviceArray", "Device",
        "DeviceInfo", "Backend"]),
    "errors": ("Exceptions", "warpalign", [
        "Error", "InvalidArgumentError", "InvalidImageError", "ConfigurationError",
        "DeviceUnavailableError", "OutOfMemoryError", "BuildError", "DeviceError"]),
    "ndimage": ("warpalign.ndimage", "warpalign.ndimage", None),
    "transforms": ("Transforms", "warpalign", ["Transform", "Geometry", "PointErrors"]),
    "files": ("Files", "warpalign", ["open", "ImageFile", "open_tiles", "TileFile"]),
    "tiles": ("Tiles", "warpalign", ["tiles", "Tile"]),
    "dask": ("warpalign.dask", "warpalign.dask", None),
    "compat": ("warpalign.compat", "warpalign.compat", None),
}
NOT_SHOWN = {"__version__", "ndimage"}


def _summary(value):
    return (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")


def _page(title, module, names):
    loaded = importlib.import_module(module)
    lines = [title, "=" * len(title), ""]
    if names == loaded.__all__:
        lines += [inspect.getdoc(loaded), ""]
    lines += [f".. py:currentmodule:: {module}", "", ".. list-table::", "   :widths: 30 70", ""]
    for name in names:
        lines += [f"   * - :py:obj:`{name}`", f"     - {_summary(getattr(loaded, name))}"]
    lines.append("")
    for name in names:
        value = getattr(loaded, name)
        lines += [name, "-" * len(name), ""]
        if inspect.isclass(value):
            options = [] if issubclass(value, BaseException) else ["   :members:"]
            kind = "autoexception" if issubclass(value, BaseException) else "autoclass"
            lines += [f".. {kind}:: {module}.{name}", *options, "   :show-inheritance:", ""]
        else:
            lines += [f".. autofunction:: {module}.{name}", ""]
    return "\n".join(lines)


def write(folder):
    """Write the pages; returns the problems of docstrings and names that no page has."""
    found = list(check_docstrings.problems())
    target = folder / "python"
    target.mkdir(parents=True, exist_ok=True)
    shown = set(NOT_SHOWN)
    for page, (title, module, names) in PAGES.items():
        names = names or importlib.import_module(module).__all__
        shown |= {name for name in names if module == "warpalign"}
        (target / f"{page}.rst").write_text(_page(title, module, names))
    public = importlib.import_module("warpalign").__all__
    found += [f"warpalign.{name}: is on no page of docs/tools/python_reference.py"
              for name in sorted(set(public) - shown)]
    title = "Python"
    index = [title, "=" * len(title), "",
             "How the package is installed, and its conventions: :doc:`python-package`.", "",
             ".. toctree::", "   :maxdepth: 2", "", *(f"   python/{page}" for page in PAGES), ""]
    (folder / "python.rst").write_text("\n".join(index))
    return found
