"""warpalign in napari: registers two layers, and corrects drifting stacks."""

from ._drift_widget import DriftWidget
from ._register_widget import RegisterWidget

__version__ = "0.1.0"

__all__ = ["DriftWidget", "RegisterWidget", "__version__"]
