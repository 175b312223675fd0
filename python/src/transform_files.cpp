// Files of other tools' transforms. What they hold has the coordinates (x, y, z) of C++.
#include "transform_files/transform_files.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "transform_files/fsl.hpp"
#include "transform_files/itk.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

using transform_files::Format;
using transform_files::ItkTransform;
using OptionalGrid = std::optional<PointGrid>;

std::string_view view_of(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

nb::bytes bytes_of(const std::string& text) { return nb::bytes(text.data(), text.size()); }

Format format_named(const std::string& name) {
  const auto format = transform_files::format_named(name);
  if (!format) refuse("unknown format of transforms");
  return *format;
}

std::optional<std::string> name_of(const std::optional<Format>& format) {
  if (!format) return std::nullopt;
  return std::string(transform_files::format_names()[static_cast<std::size_t>(*format)]);
}

auto read_file(const std::string& format, const nb::bytes& bytes, const OptionalGrid& reference,
               const OptionalGrid& moving) {
  auto file = transform_files::read(format_named(format), view_of(bytes), {reference, moving});
  return std::tuple{std::move(file.transforms), file.geometry.reference, file.geometry.moving,
                    std::move(file.initial)};
}

std::vector<double> numbers_of(const InputArray& array) {
  if (array.dtype() != nb::dtype<double>() || array.ndim() != 1) refuse("pass float64 numbers");
  const auto* first = static_cast<const double*>(array.data());
  return {first, first + array.size()};
}

Transform transform_of_itk(
    const std::vector<std::tuple<std::string, InputArray, InputArray>>& all) {
  std::vector<ItkTransform> list;
  for (const auto& [type, parameters, fixed] : all) {
    list.push_back({type, numbers_of(parameters), numbers_of(fixed)});
  }
  const nb::gil_scoped_release released;
  return transform_files::transform_of(list);
}

nb::bytes bytes_of(const std::vector<double>& numbers) {
  return nb::bytes(numbers.data(), numbers.size() * sizeof(double));
}

std::vector<std::tuple<std::string, nb::bytes, nb::bytes>> itk_of(const Transform& transform) {
  std::vector<std::tuple<std::string, nb::bytes, nb::bytes>> list;
  for (const ItkTransform& itk : transform_files::itk_transforms_of(transform)) {
    list.emplace_back(itk.type, bytes_of(itk.parameters), bytes_of(itk.fixed));
  }
  return list;
}

}  // namespace

void bind_transform_files(nb::module_& module) {
  module.def("transform_formats", [] {
    const auto names = transform_files::format_names();
    return std::vector<std::string>(names.begin(), names.end());
  });
  module.def("transform_format", [](const std::string& name, const nb::bytes& bytes) {
    return name_of(transform_files::format_of(name, view_of(bytes)));
  });
  module.def("transform_format_of_name", [](const std::string& name) {
    return name_of(transform_files::format_of_name(name));
  });
  module.def("read_transforms", &read_file, nb::arg("format"), nb::arg("bytes"),
             nb::arg("reference").none(), nb::arg("moving").none());
  module.def(
      "write_transforms",
      [](const std::string& format, const std::vector<Transform>& transforms,
         const OptionalGrid& reference, const OptionalGrid& moving) {
        return bytes_of(
            transform_files::write(format_named(format), transforms, {reference, moving}));
      },
      nb::arg("format"), nb::arg("transforms"), nb::arg("reference").none(),
      nb::arg("moving").none());
  module.def("fsl_millimetres",
             [](const PointGrid& volume) { return transform_files::fsl_millimetres(volume).m; });
  module.def("transform_of_itk", &transform_of_itk);
  module.def("itk_of_transform", &itk_of);
  module.def("read_landmarks", [](const nb::bytes& bytes) {
    auto landmarks = transform_files::read_bigwarp(view_of(bytes));
    return std::tuple{landmarks.dimensions, std::move(landmarks.reference),
                      std::move(landmarks.moving)};
  });
  module.def("write_landmarks", [](int dimensions, const std::vector<double>& reference,
                                   const std::vector<double>& moving) {
    return bytes_of(transform_files::write_bigwarp({dimensions, reference, moving}));
  });
}

}  // namespace warpalign::python
