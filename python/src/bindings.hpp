// The functions by which each source adds its bindings to the extension module.
#pragma once

#include <nanobind/nanobind.h>

namespace warpalign::python {

void bind_errors(nanobind::module_& module);
void bind_devices(nanobind::module_& module);
void bind_device_arrays(nanobind::module_& module);
void bind_dlpack(nanobind::module_& module);
void bind_splines(nanobind::module_& module);
void bind_device_splines(nanobind::module_& module);
void bind_double_splines(nanobind::module_& module);
void bind_zoom(nanobind::module_& module);
void bind_registration(nanobind::module_& module);
void bind_batch(nanobind::module_& module);
void bind_frames(nanobind::module_& module);
void bind_volumes(nanobind::module_& module);
void bind_local_agreement(nanobind::module_& module);
void bind_local_motion(nanobind::module_& module);
void bind_flat_field(nanobind::module_& module);
void bind_mosaic(nanobind::module_& module);
void bind_template(nanobind::module_& module);
void bind_tiles(nanobind::module_& module);
void bind_phase_correlation(nanobind::module_& module);
void bind_missing(nanobind::module_& module);
void bind_transforms(nanobind::module_& module);
void bind_device_transforms(nanobind::module_& module);
void bind_transform_files(nanobind::module_& module);

}  // namespace warpalign::python
