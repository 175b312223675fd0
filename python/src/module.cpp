// The extension module warpalign._core, on which the package's Python code is built.
#include "bindings.hpp"

#include <warpalign/version.hpp>

namespace {

constexpr const char* text =
    "The compiled part of warpalign. It takes C-contiguous arrays of few types, and checks only "
    "what memory safety needs; the package's functions prepare its arguments.";

}  // namespace

NB_MODULE(_core, module) {
  using namespace warpalign::python;
  module.doc() = text;
  module.def("version", &warpalign::version, "Version of the library.");
  bind_errors(module);
  bind_devices(module);
  bind_device_arrays(module);
  bind_dlpack(module);
  bind_splines(module);
  bind_device_splines(module);
  bind_double_splines(module);
  bind_zoom(module);
  bind_registration(module);
  bind_batch(module);
  bind_frames(module);
  bind_volumes(module);
  bind_local_agreement(module);
  bind_local_motion(module);
  bind_flat_field(module);
  bind_mosaic(module);
  bind_template(module);
  bind_tiles(module);
  bind_phase_correlation(module);
  bind_missing(module);
  bind_transforms(module);
  bind_device_transforms(module);
  bind_transform_files(module);
}
