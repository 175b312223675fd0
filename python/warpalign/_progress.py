"""Progress bars for terminals and notebooks."""

import sys


def _is_interactive():
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


class _Silent:
    """A progress bar that shows nothing."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def update(self, count=1):
        pass


def progress_bar(wanted, total, what):
    """A tqdm progress bar. `wanted` is True, False, or None: only in a terminal or a notebook."""
    if wanted is None and not _is_interactive():
        return _Silent()
    if wanted is False:
        return _Silent()
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if wanted:
            raise ImportError("progress=True needs tqdm: pip install tqdm") from None
        return _Silent()
    return tqdm(total=total, unit=what)
