// Registers volumes.
#include "arrays.hpp"
#include "bindings.hpp"
#include "device_array.hpp"
#include "opened_device.hpp"
#include "registration.hpp"

#include <warpalign/interop.hpp>
#include <warpalign/volume_registrar.hpp>
#include <warpalign/volume_series.hpp>

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

using Triple = std::array<double, 3>;
Triple triple_of(const Point3& p) { return {p.x, p.y, p.z}; }
Point3 point_of(const Triple& xyz) { return {xyz[0], xyz[1], xyz[2]}; }

nb::dict dict_of_volume(const VolumeRegistration& found) {
  nb::dict fields;
  fields["motion"] = name_of(found.deformation ? Motion::deformable : found.motion);
  fields["deformation"] = object_of(found.deformation);
  fields["modality"] = name_of(found.modality);
  nb::list rows;
  for (std::size_t row = 0; row < 4; ++row) {
    const double* m = found.matrix.m.data() + 4 * row;
    rows.append(nb::make_tuple(m[0], m[1], m[2], m[3]));
  }
  fields["matrix"] = rows;
  fields["rotation_deg"] = found.rotation_deg;
  fields["rotation_axis_xyz"] =
      nb::make_tuple(found.rotation_axis.x, found.rotation_axis.y, found.rotation_axis.z);
  fields["scale"] = found.scale;
  fields["translation"] =
      nb::make_tuple(found.translation.x, found.translation.y, found.translation.z);
  fields["confidence"] = found.confidence;
  fields["reliable"] = found.reliable;
  fields["correlation"] = found.correlation;
  fields["significance"] = found.significance;
  fields["overlap"] = found.overlap;
  fields["refined"] = found.refined;
  fields["timings"] = list_of(found.timings);
  fields["missing"] = nb::make_tuple(found.missing.reference, found.missing.moving);
  return fields;
}

/// A registrar that several threads may call; calls wait for each other.
class SharedVolumeRegistrar {
 public:
  /// The 16 numbers of a matrix in (x, y, z), or nothing.
  using Initial = std::optional<std::array<double, 16>>;

  SharedVolumeRegistrar(OpenedDevice& opened, const VolumeRegistrationOptions& options)
      : opened_(opened), ready_(opened.device), registrar_(opened.device, options) {}

  void set_reference(const InputArray& volume, const std::optional<InputArray>& mask) {
    const HostVolume view = host_volume(volume);
    const std::optional<HostVolume> mask_view = view_of(mask);
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    if (mask_view) return registrar_.set_reference(view, *mask_view);
    registrar_.set_reference(view);
  }

  nb::dict align(const InputArray& volume, const std::optional<InputArray>& mask,
                 const Initial& initial) {
    return dict_of_volume(find(host_volume(volume), view_of(mask), initial));
  }

  void set_reference_on_device(const DeviceArray& volume,
                               const std::optional<std::uintptr_t>& queue,
                               const std::optional<InputArray>& mask) {
    const std::optional<HostVolume> mask_view = view_of(mask);
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    wait_for(queue);
    const Image& voxels = volume.image(volume.shape(3));
    if (mask_view) return registrar_.set_reference(voxels, image_on(opened_.device, *mask_view));
    registrar_.set_reference(voxels);
  }

  nb::dict align_on_device(const DeviceArray& volume, const std::optional<std::uintptr_t>& queue,
                           const std::optional<InputArray>& mask, const Initial& initial) {
    return dict_of_volume(find_on_device(volume, queue, view_of(mask), initial));
  }

 private:
  void set_initial(const Initial& initial) {
    if (!initial) return registrar_.clear_initial();
    HomogeneousMatrix transform;
    transform.m = *initial;
    registrar_.set_initial(transform);
  }

  /// Makes the registrar wait for the work that is on the queue now, which computes the volume.
  void wait_for(const std::optional<std::uintptr_t>& queue) {
    opened_.with_stream(queue, [&](Stream& stream) { ready_.record(stream); });
    registrar_.wait_for(ready_);
  }

  VolumeRegistration find_on_device(const DeviceArray& volume,
                                    const std::optional<std::uintptr_t>& queue,
                                    const std::optional<HostVolume>& mask, const Initial& initial) {
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    set_initial(initial);
    wait_for(queue);
    const Image& voxels = volume.image(volume.shape(3));
    return mask ? registrar_.align(voxels, image_on(opened_.device, *mask))
                : registrar_.align(voxels);
  }

  static std::optional<HostVolume> view_of(const std::optional<InputArray>& mask) {
    if (!mask) return {};
    return host_volume(*mask);
  }

  VolumeRegistration find(const HostVolume& volume, const std::optional<HostVolume>& mask,
                          const Initial& initial) {
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    set_initial(initial);
    return mask ? registrar_.align(volume, *mask) : registrar_.align(volume);
  }

  OpenedDevice& opened_;
  std::mutex mutex_;
  Event ready_;
  VolumeRegistrar registrar_;
};

/// A registrar of series that several threads may call; calls wait for each other.
class SharedVolumeSeriesRegistrar {
 public:
  SharedVolumeSeriesRegistrar(OpenedDevice& opened, const std::string& motion,
                              const Triple& spacing_xyz, const std::optional<double>& grid_spacing,
                              double bending_weight)
      : registrar_(opened.device,
                   {motion_named(motion), point_of(spacing_xyz), grid_spacing, bending_weight}) {}

  void set_reference(const InputArray& volume) {
    const HostVolume view = host_volume(volume);
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    registrar_.set_reference(view);
  }

  /// `aligned`: of the volume's shape and type.
  nb::dict align(const InputArray& volume, OutputArray aligned) {
    return dict_of_volume(find(host_volume(volume), aligned.data()));
  }

 private:
  VolumeRegistration find(const HostVolume& volume, void* aligned) {
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    return registrar_.align(volume, aligned);
  }

  std::mutex mutex_;
  VolumeSeriesRegistrar registrar_;
};

}  // namespace

void bind_volumes(nb::module_& module) {
  using Options = VolumeRegistrationOptions;
  nb::class_<Options>(module, "VolumeRegistrationOptions",
                      "Options of a registration of volumes; see "
                      ":func:`warpalign.register_volume`.")
      .def(nb::init<>())
      .def_prop_rw(
          "max_shift", [](const Options& self) { return triple_of(self.max_shift); },
          [](Options& self, const Triple& xyz) { self.max_shift = point_of(xyz); },
          "Along x, y and z.")
      .def_prop_rw(
          "reference_spacing",
          [](const Options& self) { return triple_of(self.reference_spacing); },
          [](Options& self, const Triple& xyz) { self.reference_spacing = point_of(xyz); },
          "Along x, y and z.")
      .def_prop_rw(
          "moving_spacing", [](const Options& self) { return triple_of(self.moving_spacing); },
          [](Options& self, const Triple& xyz) { self.moving_spacing = point_of(xyz); },
          "Along x, y and z.")
      .def_prop_rw(
          "motion", [](const Options& self) { return std::string(name_of(self.motion)); },
          [](Options& self, const std::string& name) { self.motion = motion_named(name); })
      .def_prop_rw(
          "modality", [](const Options& self) { return std::string(name_of(self.modality)); },
          [](Options& self, const std::string& name) { self.modality = modality_named(name); })
      .def_rw("max_rotation", &Options::max_rotation)
      .def_rw("refine", &Options::refine)
      .def_rw("collect_timings", &Options::collect_timings)
      .def_rw("grid_spacing", &Options::grid_spacing, nb::arg().none())
      .def_rw("bending_weight", &Options::bending_weight);
  nb::class_<SharedVolumeRegistrar>(
      module, "VolumeRegistrar",
      "Registers volumes to a reference; see :class:`warpalign.VolumeRegistrar`.")
      .def(nb::init<OpenedDevice&, const Options&>(), nb::arg("device"), nb::arg("options"),
           nb::keep_alive<1, 2>(), nb::call_guard<nb::gil_scoped_release>())
      .def("set_reference_on_device", &SharedVolumeRegistrar::set_reference_on_device,
           nb::arg("volume"), nb::arg("queue").none(),
           nb::arg("mask").noconvert().none() = nb::none())
      .def("align_on_device", &SharedVolumeRegistrar::align_on_device, nb::arg("volume"),
           nb::arg("queue").none(), nb::arg("mask").noconvert().none() = nb::none(),
           nb::arg("initial").none() = nb::none())
      .def("set_reference", &SharedVolumeRegistrar::set_reference, nb::arg("volume").noconvert(),
           nb::arg("mask").noconvert().none() = nb::none())
      .def("align", &SharedVolumeRegistrar::align, nb::arg("volume").noconvert(),
           nb::arg("mask").noconvert().none() = nb::none(), nb::arg("initial").none() = nb::none());
  nb::class_<SharedVolumeSeriesRegistrar>(
      module, "VolumeSeriesRegistrar",
      "Registers a series of volumes to a reference; see :func:`warpalign.register_series`.")
      .def(nb::init<OpenedDevice&, const std::string&, const Triple&, const std::optional<double>&,
                    double>(),
           nb::arg("device"), nb::arg("motion"), nb::arg("spacing_xyz"),
           nb::arg("grid_spacing").none(), nb::arg("bending_weight"), nb::keep_alive<1, 2>(),
           nb::call_guard<nb::gil_scoped_release>())
      .def("set_reference", &SharedVolumeSeriesRegistrar::set_reference,
           nb::arg("volume").noconvert())
      .def("align", &SharedVolumeSeriesRegistrar::align, nb::arg("volume").noconvert(),
           nb::arg("aligned").noconvert());
}

}  // namespace warpalign::python
