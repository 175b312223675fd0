// Builds templates of images and volumes.
#include "arrays.hpp"
#include "bindings.hpp"
#include "interruptible.hpp"
#include "kept_array.hpp"
#include "opened_device.hpp"

#include <warpalign/template.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace warpalign::python {
namespace {

/// What source(i) returns: an array, and its mask or None.
struct KeptSource {
  KeptSource(const nb::callable& source, std::size_t i) : KeptSource(nb::tuple(source(i))) {}

  KeptArray array;
  std::optional<KeptArray> mask;

 private:
  explicit KeptSource(const nb::tuple& pair) : array(nb::cast<InputArray>(pair[0])) {
    if (!pair[1].is_none()) mask.emplace(nb::cast<InputArray>(pair[1]));
  }
};

/// Moves the pixels to a NumPy array of their shape.
nb::object array_of(std::vector<float> pixels, const Shape& shape, int dimensions) {
  auto kept = std::make_unique<std::vector<float>>(std::move(pixels));
  float* const data = kept->data();
  const nb::capsule owner(
      kept.get(), [](void* made) noexcept { delete static_cast<std::vector<float>*>(made); });
  static_cast<void>(kept.release());
  const std::array<std::size_t, 3> extents{static_cast<std::size_t>(shape.depth),
                                           static_cast<std::size_t>(shape.height),
                                           static_cast<std::size_t>(shape.width)};
  const auto axes = static_cast<std::size_t>(dimensions);
  return nb::cast(nb::ndarray<nb::numpy, float>(data, axes, extents.data() + (3 - axes), owner));
}

nb::dict dict_of(Template found, int dimensions) {
  nb::dict fields;
  fields["image"] = array_of(std::move(found.pixels), found.shape, dimensions);
  nb::list transforms;
  for (const auto& transform : found.transforms) transforms.append(transform);
  fields["transforms"] = transforms;
  fields["confidences"] = found.confidences;
  fields["changes"] = found.changes;
  return fields;
}

/// Calls progress() after each registration, unless work is to end.
TemplateOptions options_of(int rounds, const nb::callable& progress,
                           const std::atomic<bool>& go_on) {
  TemplateOptions options;
  options.rounds = rounds;
  options.progress = [&](std::size_t /*done*/, std::size_t /*total*/) {
    if (!go_on) throw Interrupted();
    const nb::gil_scoped_acquire acquired;
    progress();
  };
  return options;
}

/// `source(i)` returns the pixels of image i, and its mask or None.
nb::dict of_images(const OpenedDevice& opened, std::size_t count, const nb::callable& source,
                   const RegistrationOptions& registration, int rounds,
                   const std::optional<InputArray>& initial, const nb::callable& progress) {
  std::optional<HostImage> first;
  if (initial) first = host_image(*initial);
  std::atomic<bool> go_on{true};
  const TemplateOptions options = options_of(rounds, progress, go_on);
  const auto read = [&](std::size_t i) -> TemplatePixels {
    const nb::gil_scoped_acquire acquired;
    auto owner = std::make_shared<KeptSource>(source, i);
    TemplatePixels pixels{host_image(owner->array.array)};
    if (owner->mask) pixels.mask = host_image(owner->mask->array);
    pixels.owner = std::move(owner);
    return pixels;
  };
  Template found;
  run_interruptibly(go_on, [&] {
    found = build_template(opened.device, count, read, registration, options, first);
  });
  return dict_of(std::move(found), 2);
}

/// The same for volumes.
nb::dict of_volumes(const OpenedDevice& opened, std::size_t count, const nb::callable& source,
                    const VolumeRegistrationOptions& registration, int rounds,
                    const std::optional<InputArray>& initial, const nb::callable& progress) {
  std::optional<HostVolume> first;
  if (initial) first = host_volume(*initial);
  std::atomic<bool> go_on{true};
  const TemplateOptions options = options_of(rounds, progress, go_on);
  const auto read = [&](std::size_t i) -> TemplateVoxels {
    const nb::gil_scoped_acquire acquired;
    auto owner = std::make_shared<KeptSource>(source, i);
    TemplateVoxels voxels{host_volume(owner->array.array)};
    if (owner->mask) voxels.mask = host_volume(owner->mask->array);
    voxels.owner = std::move(owner);
    return voxels;
  };
  Template found;
  run_interruptibly(go_on, [&] {
    found = build_volume_template(opened.device, count, read, registration, options, first);
  });
  return dict_of(std::move(found), 3);
}

}  // namespace

void bind_template(nb::module_& module) {
  module.def("build_template", &of_images, nb::arg("device"), nb::arg("count"), nb::arg("source"),
             nb::arg("registration"), nb::arg("rounds"), nb::arg("initial").none(),
             nb::arg("progress"),
             "Build the template of images; see :func:`warpalign.build_template`.");
  module.def("build_volume_template", &of_volumes, nb::arg("device"), nb::arg("count"),
             nb::arg("source"), nb::arg("registration"), nb::arg("rounds"),
             nb::arg("initial").none(), nb::arg("progress"),
             "Build the template of volumes; see :func:`warpalign.build_template`.");
}

}  // namespace warpalign::python
