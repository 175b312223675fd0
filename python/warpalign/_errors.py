"""The exceptions of the package, which also derive from Python's own where these fit."""


class Error(RuntimeError):
    """Base class of all errors that warpalign's library reports.

    Attributes
    ----------
    kind : str
        ``'invalid_argument'``, ``'invalid_image'``, ``'configuration'``,
        ``'device_unavailable'``, ``'out_of_memory'``, ``'build_failed'`` or
        ``'device_failure'``.
    stage : str
        The stage that failed, such as ``'resample'``.
    backend, device : str
        Names of the backend and the device.
    call, code : str
        The driver call that failed and its symbolic error code.
    hint : str
        What to do about the error.

    Notes
    -----
    Any of these attributes may be empty. ``str(error)`` contains all of them in words.
    """

    kind = ""
    stage = ""
    backend = ""
    device = ""
    call = ""
    code = ""
    hint = ""


class InvalidArgumentError(Error, ValueError):
    """An argument is invalid. Nothing was computed."""


class InvalidImageError(Error, ValueError):
    """The image cannot be used: its pixels are constant or not finite, or it is too small."""


class ConfigurationError(Error):
    """The configuration file or an environment variable is invalid."""


class DeviceUnavailableError(Error):
    """The device or its backend cannot be opened."""


class OutOfMemoryError(Error, MemoryError):
    """The device or the host has too little memory."""


class BuildError(Error):
    """A kernel or an FFT plan could not be compiled."""


class DeviceError(Error):
    """A call to the device's driver failed."""


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
    """Make the exception for an error of the library. The extension module calls this."""
    error = _CLASSES.get(kind, Error)(message)
    error.kind = kind
    error.stage = stage
    error.backend = backend
    error.device = device
    error.call = call
    error.code = code
    error.hint = hint
    return error
