// Local motion: the shifts of windows, and the displacement field through them.
#include "arrays.hpp"
#include "bindings.hpp"
#include "opened_device.hpp"

#include <warpalign/local_motion.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

constexpr std::size_t numbers_of_a_shift = 9;

/// The options of windows and field; lengths are along x and y.
struct LocalSettings {
  WindowOptions windows;
  FieldOptions field;
};

/// A registrar that several threads may call; calls wait for each other.
class SharedWindowRegistrar {
 public:
  SharedWindowRegistrar(OpenedDevice& opened, const std::string& dtype, std::int64_t height,
                        std::int64_t width, const LocalSettings& settings)
      : frame_{width, height, 1},
        field_(settings.field),
        registrar_(opened.device, type_of(dtype), frame_, settings.windows) {}

  void set_reference(const InputArray& image) {
    const HostImage view = host_image(image);
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    registrar_.set_reference(view);
  }

  [[nodiscard]] std::int64_t columns() const { return registrar_.windows_x(); }
  [[nodiscard]] std::int64_t rows() const { return registrar_.windows_y(); }

  /// Fills `shifts` with a row of numbers for each window, and `field` with the displacements
  /// along x and y. Returns false, without a field, if no window has a reliable shift.
  bool align(const InputArray& image, OutputArray shifts, OutputArray field) {
    const HostImage view = host_image(image);
    check(shifts, nb::dtype<double>(), registrar_.windows() * numbers_of_a_shift);
    check(field, nb::dtype<float>(), 2 * static_cast<std::size_t>(frame_.plane()));
    auto* numbers = static_cast<double*>(shifts.data());
    auto* samples = static_cast<float*>(field.data());
    const nb::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    return align(view, numbers, samples);
  }

 private:
  static PixelType type_of(const std::string& dtype) {
    if (dtype == "uint8") return PixelType::u8;
    return dtype == "uint16" ? PixelType::u16 : PixelType::f32;
  }

  static void check(const OutputArray& array, nb::dlpack::dtype type, std::size_t count) {
    if (array.dtype() != type || array.size() != count)
      refuse("an output has a wrong size or type");
  }

  bool align(const HostImage& image, double* numbers, float* samples) {
    const std::vector<WindowShift> shifts = registrar_.align({&image, 1});
    const std::vector<bool> outliers = find_outliers(shifts, columns(), rows());
    bool found = false;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      const WindowShift& one = shifts[i];
      for (const double number :
           {one.centre.x, one.centre.y, one.shift.x, one.shift.y, one.uncertainty, one.correlation,
            one.significance, one.reliable ? 1.0 : 0.0, outliers[i] ? 1.0 : 0.0}) {
        *numbers++ = number;
      }
      found = found || (one.reliable && !outliers[i]);
    }
    if (!found) return false;
    const std::vector<float> field =
        DisplacementField::fit_means(frame_, registrar_.window(), shifts, outliers, columns(),
                                     rows(), field_)
            .samples();
    std::copy(field.begin(), field.end(), samples);
    return true;
  }

  std::mutex mutex_;
  Shape frame_;
  FieldOptions field_;
  WindowRegistrar registrar_;
};

}  // namespace

void bind_local_motion(nb::module_& module) {
  nb::class_<LocalSettings>(module, "LocalSettings",
                            "Options of local motion; see :func:`warpalign.register_local`.")
      .def(nb::init<>())
      .def_prop_rw(
          "width", [](const LocalSettings& self) { return self.windows.width; },
          [](LocalSettings& self, std::int64_t pixels) { self.windows.width = pixels; })
      .def_prop_rw(
          "height", [](const LocalSettings& self) { return self.windows.height; },
          [](LocalSettings& self, std::int64_t pixels) { self.windows.height = pixels; })
      .def_prop_rw(
          "stride_x", [](const LocalSettings& self) { return self.windows.stride_x; },
          [](LocalSettings& self, std::int64_t pixels) { self.windows.stride_x = pixels; })
      .def_prop_rw(
          "stride_y", [](const LocalSettings& self) { return self.windows.stride_y; },
          [](LocalSettings& self, std::int64_t pixels) { self.windows.stride_y = pixels; })
      .def_prop_rw(
          "max_shift", [](const LocalSettings& self) { return self.windows.max_shift; },
          [](LocalSettings& self, double pixels) { self.windows.max_shift = pixels; })
      .def_prop_rw(
          "smoothness", [](const LocalSettings& self) { return self.field.smoothness; },
          [](LocalSettings& self, double weight) { self.field.smoothness = weight; });
  nb::class_<SharedWindowRegistrar>(
      module, "WindowRegistrar",
      "Finds the shifts of windows; see :class:`warpalign.LocalRegistrar`.")
      .def(nb::init<OpenedDevice&, const std::string&, std::int64_t, std::int64_t,
                    const LocalSettings&>(),
           nb::arg("device"), nb::arg("dtype"), nb::arg("height"), nb::arg("width"),
           nb::arg("settings"), nb::keep_alive<1, 2>(), nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("columns", &SharedWindowRegistrar::columns, "Number of windows along x.")
      .def_prop_ro("rows", &SharedWindowRegistrar::rows, "Number of windows along y.")
      .def("set_reference", &SharedWindowRegistrar::set_reference, nb::arg("image").noconvert())
      .def("align",
           nb::overload_cast<const InputArray&, OutputArray, OutputArray>(
               &SharedWindowRegistrar::align),
           nb::arg("image").noconvert(), nb::arg("shifts").noconvert(),
           nb::arg("field").noconvert());
}

}  // namespace warpalign::python
