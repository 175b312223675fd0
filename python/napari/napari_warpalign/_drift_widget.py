"""The widget that takes the drift out of a stack."""

import numpy as np
from magicgui.widgets import ComboBox, Container, FileEdit, Label, PushButton, Table, \
    create_widget
from napari.layers import Image

import warpalign

from . import _jobs
from ._placing import data_of, embedded, world_matrix
from ._work import Work

_REFERENCES = ["first", "previous", "mean", "auto"]
_COLUMNS = {"shift_row": "row", "shift_column": "column", "rotation_deg": "rotation",
            "confidence": "confidence", "reliable": "reliable"}


class DriftWidget(Container):
    """Registers the frames of a stack, and adds a layer without their drift."""

    def __init__(self, viewer: "napari.viewer.Viewer"):  # noqa: F821 (napari passes the viewer)
        self._viewer = viewer
        self.stack = create_widget(label="stack", annotation=Image)
        self.reference = ComboBox(label="reference", choices=_REFERENCES)
        self.motion = ComboBox(label="motion", choices=["translation", "rigid", "similarity"])
        self.work = Work("Correct the drift", self._begin)
        self.report = Label(value="")
        self.table = Table(value={"data": [], "index": [], "columns": list(_COLUMNS.values())})
        self.path = FileEdit(label="save as", mode="w", filter="*.csv *.npz *.xml *.1D",
                             value="drift.csv")
        self.save_button = PushButton(text="Save the drift", enabled=False)
        super().__init__(widgets=[self.stack, self.reference, self.motion, self.work, self.report,
                                  self.table, self.path, self.save_button])
        self.found = None
        self.save_button.changed.connect(self.save)

    def _begin(self):
        layer = self.stack.value
        if layer is None:
            raise ValueError("choose a layer with a stack of images")
        frames = data_of(layer)
        if layer.rgb or frames.ndim != 3:
            raise ValueError(f"the layer {layer.name!r} must have the axes frame, y, x, and no "
                             "colours")
        world_matrix(layer, 2)  # raises for a layer that mixes frames and pixels
        to, motion = self.reference.value, self.motion.value
        self.save_button.enabled = False
        self.found = None

        def run(progress, cancelled):
            stack = _jobs.register_stack(frames, to=to, motion=motion, progress=progress,
                                         cancelled=cancelled)
            count = len(stack)
            return stack, _jobs.corrected(frames, stack, cancelled=cancelled,
                                          progress=lambda number: progress(count + number))

        return run, 2 * len(frames), lambda result: self._take(result, layer)

    def _take(self, result, layer):
        self.found, corrected = result
        drift = self.found.drift
        self.table.value = {
            "data": [[_text(line[name]) for name in _COLUMNS] for line in drift],
            "index": [str(number) for number in drift["frame"]],
            "columns": list(_COLUMNS.values())}
        moved = np.hypot(drift["shift_row"], drift["shift_column"])
        self.report.value = (
            f"{int(drift['reliable'].sum())} of {len(drift)} frames reliable\n"
            f"drift up to {np.nanmax(moved):.2f} pixels\n"
            f"least confidence {drift['confidence'].min():.3f}")
        self._viewer.add_image(corrected, name=f"{layer.name} (corrected)",
                               affine=embedded(world_matrix(layer, 3), 3),
                               colormap=layer.colormap, contrast_limits=layer.contrast_limits)
        layer.visible = False
        self.save_button.enabled = True
        return "corrected"

    def save(self):
        """Write the drift: a table (.csv), or the transforms of all frames (.npz and others)."""
        path = self.path.value
        try:
            if path.suffix == ".csv":
                write_table(path, self.found.drift)
            else:
                warpalign.Transform.save_all(_transforms(self.found), path)
        except (ValueError, OSError, ImportError) as error:
            self.work.state.value = f"not saved: {error}"
        else:
            self.work.state.value = f"saved {path}"


def _text(value):
    return f"{value:.3f}" if isinstance(value, (float, np.floating)) else str(value)


def _transforms(stack):
    unusable = [str(number) for number, one in enumerate(stack.transforms) if one is None]
    if unusable:
        raise ValueError(f"frames {', '.join(unusable)} have no transform; save a table (.csv)")
    return stack.transforms


def write_table(path, drift):
    """Write the drift as CSV."""
    lines = [",".join(drift.dtype.names)]
    lines += [",".join(repr(value) for value in line.item()) for line in drift]
    path.write_text("\n".join(lines) + "\n")
