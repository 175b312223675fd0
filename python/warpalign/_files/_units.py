"""Units of length, and their names in files."""

# In millimetres, by the names of OME-Zarr (UDUNITS-2).
MILLIMETRES = {"meter": 1e3, "centimeter": 10.0, "millimeter": 1.0, "micrometer": 1e-3,
               "nanometer": 1e-6, "angstrom": 1e-7, "picometer": 1e-9, "inch": 25.4,
               "foot": 304.8}

# What files call them. OME's XML has the symbols.
_NAMES = {"m": "meter", "cm": "centimeter", "mm": "millimeter", "um": "micrometer",
          "µm": "micrometer", "μm": "micrometer", "\\u00B5m": "micrometer",
          "micron": "micrometer", "microns": "micrometer", "nm": "nanometer", "å": "angstrom",
          "pm": "picometer", "mkm": "micrometer", "in": "inch", "metre": "meter",
          "millimetre": "millimeter", "micrometre": "micrometer", "nanometre": "nanometer",
          "metres": "meter", "s": "second", "sec": "second", "ms": "millisecond"}

# The symbols of OME's XML.
SYMBOLS = {"meter": "m", "centimeter": "cm", "millimeter": "mm", "micrometer": "µm",
           "nanometer": "nm", "angstrom": "Å", "picometer": "pm", "inch": "in", "foot": "ft",
           "second": "s", "millisecond": "ms"}


def unit_named(name):
    """The name of a unit by what a file calls it, or None for no unit of length or time."""
    name = str(name or "").strip()
    known = _NAMES.get(name) or _NAMES.get(name.lower()) or name.lower()
    return known if known in SYMBOLS else None
