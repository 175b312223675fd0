"""The widget that registers two layers."""

import numpy as np
from magicgui.widgets import CheckBox, ComboBox, Container, FileEdit, Label, PushButton, \
    create_widget
from napari.layers import Image, Points

from . import _jobs
from ._placing import affine_for, data_of, embedded, index_of_slice, points_in, world_matrix
from ._work import Work

_MOTIONS = ["translation", "rigid", "similarity", "affine", "homography", "auto", "deformable"]
_STARTS = {"anywhere (search)": "search", "where the layers lie": "layers",
           "from points": "points"}
_RESULTS = {"move the layer": "affine", "new layer": "layer"}


class RegisterWidget(Container):
    """Registers an image's layer, or a volume's, to another one."""

    def __init__(self, viewer: "napari.viewer.Viewer"):  # noqa: F821 (napari passes the viewer)
        self._viewer = viewer
        self.reference = create_widget(label="reference", annotation=Image)
        self.moving = create_widget(label="moving", annotation=Image)
        self.axes = ComboBox(label="of", choices=["images (y, x)", "volumes (z, y, x)"])
        self.motion = ComboBox(label="motion", choices=_MOTIONS, value="similarity")
        self.modality = ComboBox(label="modality", choices=["same", "other", "auto"])
        self.start = ComboBox(label="start", choices=list(_STARTS))
        self.reference_points = create_widget(label="points of reference", annotation=Points | None)
        self.moving_points = create_widget(label="points of moving", annotation=Points | None)
        self.result = ComboBox(label="result", choices=list(_RESULTS))
        self.overlay = CheckBox(text="overlay in green and magenta", value=True)
        self.residuals = CheckBox(text="layer of residuals")
        self.work = Work("Register", self._begin)
        self.report = Label(value="")
        self.path = FileEdit(label="save as", mode="w", filter="*.json *.npz *.tfm *.txt *.mat",
                             value="transform.json")
        self.save_button = PushButton(text="Save the transform", enabled=False)
        super().__init__(widgets=[
            self.reference, self.moving, self.axes, self.motion, self.modality, self.start,
            self.reference_points, self.moving_points, self.result, self.overlay, self.residuals,
            self.work, self.report, self.path, self.save_button])
        self.registered = None
        self.start.changed.connect(self._show_points)
        self.save_button.changed.connect(self.save)
        self._show_points()

    def _show_points(self):
        wanted = _STARTS[self.start.value] == "points"
        self.reference_points.visible = self.moving_points.visible = wanted

    def _picture(self, layer, ndim):
        """The shown slice of a layer."""
        index = index_of_slice(layer, self._viewer.dims.point, ndim)
        return _jobs.Picture(data_of(layer)[index], world_matrix(layer, ndim), layer.rgb)

    def _points(self, ndim):
        layers = (self.reference_points.value, self.moving_points.value)
        if None in layers:
            raise ValueError("choose a layer of points for both images")
        return tuple(points_in(points, image, ndim) for points, image in
                     zip(layers, (self.reference.value, self.moving.value)))

    def _begin(self):
        reference, moving = self.reference.value, self.moving.value
        if reference is None or moving is None or reference is moving:
            raise ValueError("choose two layers of images")
        ndim = 3 if self.axes.value.startswith("volumes") else 2
        if ndim == 3 and self.motion.value in ("homography", "auto"):
            raise ValueError(f"volumes have no motion {self.motion.value!r}")
        start = _STARTS[self.start.value]
        pair = _jobs.Pair(self._picture(reference, ndim), self._picture(moving, ndim),
                          self.motion.value, self.modality.value, start,
                          self._points(ndim) if start == "points" else ())
        options = {"aligned": _RESULTS[self.result.value] == "layer",
                   "residuals": self.residuals.value}
        self.report.value = ""
        self.save_button.enabled = False
        self.registered = None

        def run(progress, cancelled):
            return _jobs.register(pair, cancelled=cancelled, **options)

        return run, 0, lambda registered: self._take(registered, reference, moving, pair)

    def _take(self, registered, reference, moving, pair):
        found = registered.found
        self.registered = registered
        self.report.value = report_of(registered)
        self.save_button.enabled = True
        if not found.reliable:
            return "not reliable: the layers stay as they are"
        shown = moving
        if registered.aligned is not None:
            shown = self._add(registered.aligned, reference, f"{moving.name} (registered)",
                              rgb=moving.rgb, contrast_limits=None if moving.rgb
                              else moving.contrast_limits)
        else:
            moving.affine = affine_for(
                moving, pair.reference.world @ np.linalg.inv(registered.matrix))
        if registered.residuals is not None:
            limit = float(np.nanpercentile(np.abs(registered.residuals), 99)) or 1.0
            self._add(registered.residuals, reference, f"{moving.name} (residuals)",
                      colormap="RdBu", contrast_limits=(-limit, limit))
        if self.overlay.value:
            self._lay_over(reference, shown)
        return "registered"

    def _add(self, data, reference, name, **options):
        """A layer where the reference lies."""
        count = data.ndim - bool(options.get("rgb"))
        place = embedded(world_matrix(reference, count), count)
        return self._viewer.add_image(data, name=name, affine=place, **options)

    def _lay_over(self, reference, shown):
        for layer, colormap in ((reference, "green"), (shown, "magenta")):
            layer.visible = True
            if not layer.rgb:
                layer.colormap = colormap
        shown.blending = "additive"

    def save(self):
        """Write the transform to the file that is chosen, in the format of its ending."""
        try:
            self.registered.transform.save(self.path.value)
        except (ValueError, OSError, ImportError) as error:
            self.work.state.value = f"not saved: {error}"
        else:
            self.work.state.value = f"saved {self.path.value}"


def report_of(registered):
    """What a result says, in lines."""
    found = registered.found
    lines = [f"confidence {found.confidence:.3f}" + ("" if found.reliable else ", NOT RELIABLE"),
             f"correlation {found.correlation:.3f}, overlap {100 * found.overlap:.0f} %",
             f"rotation {found.rotation_deg:.3f}°, scale {found.scale:.4f}",
             "shift " + ", ".join(f"{shift:.2f}" for shift in registered.shift) + " pixels"]
    if getattr(found, "ambiguous", False):
        lines.append("ambiguous: other shifts match as well")
    return "\n".join(lines)
