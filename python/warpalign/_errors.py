"""What goes wrong, as exceptions that SciPy and NumPy users expect."""


class Error(RuntimeError):
    """Whatever the library reports; every error of warpalign's own is one.

    Attributes
    ----------
    kind : str
        ``'invalid_argument'``, ``'invalid_image'``, ``'configuration'``,
        ``'device_unavailable'``, ``'out_of_memory'``, ``'build_failed'`` or
        ``'device_failure'``.
    stage : str
        The part of the library, such as ``'resample'``.
    backend, device : str
        The backend's and the device's name.
    call, code : str
        The failing call of the driver and its symbolic code.
    hint : str
        What to do about it.

    Any of these texts may be empty. ``str(error)`` says all of it in words.
    """

    kind = ""
    stage = ""
    backend = ""
    device = ""
    call = ""
    code = ""
    hint = ""


class InvalidArgumentError(Error, ValueError):
    """An argument is wrong. Nothing was run."""


class InvalidImageError(Error, ValueError):
    """The pixels themselves cannot be used: constant, not finite, too small."""


class ConfigurationError(Error):
    """The configuration file or an environment variable is wrong."""


class DeviceUnavailableError(Error):
    """The device or its backend cannot be opened here."""


class OutOfMemoryError(Error, MemoryError):
    """The device, or the host, has too little memory."""


class BuildError(Error):
    """A kernel or a plan of a Fourier transform could not be compiled."""


class DeviceError(Error):
    """A call of the device's driver failed."""


_CLASSES = {
    "invalid_argument": InvalidArgumentError,
    "invalid_image": InvalidImageError,
    "configuration": ConfigurationError,
    "device_unavailable": DeviceUnavailableError,
    "out_of_memory": OutOfMemoryError,
    "build_failed": BuildError,
    "device_failure": DeviceError,
}


def make_error(kind, message, stage, backend, device, call, code, hint):
    """Make the exception for an error of the library (called by the extension module)."""
    error = _CLASSES.get(kind, Error)(message)
    error.kind = kind
    error.stage = stage
    error.backend = backend
    error.device = device
    error.call = call
    error.code = code
    error.hint = hint
    return error
