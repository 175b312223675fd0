"""Progress of long work, where somebody looks."""

import sys


def _somebody_looks():
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


class _Silent:
    """Takes the place of tqdm's bar."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def update(self, count=1):
        pass


def progress_bar(wanted, total, what):
    """A bar of tqdm. `wanted`: True, False, or None for where there is a terminal or a notebook."""
    if wanted is None and not _somebody_looks():
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
