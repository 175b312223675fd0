// The C interface: templates of images and volumes.
#include "c_interface/call.hpp"
#include "c_interface/images.hpp"
#include "c_interface/options.hpp"

#include <warpalign/template.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::c_interface {

namespace {

/// Templates of images, for build().
struct ImageTemplates {
  using Source = TemplatePixels;
  using View = HostImage;

  static View view(const warpalign_image* image, const std::string& what) {
    return host_image(image, what.c_str());
  }
  static Source source(const View& image, const std::optional<View>& mask) {
    return {image, {}, mask};
  }
  static Template build(const Device& device, const std::vector<Source>& sources,
                        const warpalign_register_options* registration,
                        const TemplateOptions& options, const std::optional<View>& initial) {
    return build_template(
        device, sources.size(), [&](std::size_t i) { return sources[i]; },
        registration == nullptr ? template_registration() : options_of(registration), options,
        initial);
  }
};

/// Templates of volumes, for build().
struct VolumeTemplates {
  using Source = TemplateVoxels;
  using View = HostVolume;

  static View view(const warpalign_image* volume, const std::string& what) {
    return host_volume(volume, what.c_str());
  }
  static Source source(const View& volume, const std::optional<View>& mask) {
    return {volume, {}, mask};
  }
  static Template build(const Device& device, const std::vector<Source>& sources,
                        const warpalign_volume_options* registration,
                        const TemplateOptions& options, const std::optional<View>& initial) {
    return build_volume_template(
        device, sources.size(), [&](std::size_t i) { return sources[i]; },
        registration == nullptr ? volume_template_registration() : options_of(registration),
        options, initial);
  }
};

template <class Kind>
std::vector<typename Kind::Source> sources_of(const warpalign_image* images,
                                              const warpalign_image* masks, std::size_t count) {
  if (count < 2) refuse("a template needs at least 2 images, not " + std::to_string(count));
  required(images, "images");
  std::vector<typename Kind::Source> sources;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = "image " + std::to_string(i);
    const auto image = Kind::view(images + i, name);
    std::optional<typename Kind::View> mask;
    if (masks != nullptr && masks[i].data != nullptr) {
      mask = Kind::view(masks + i, name + "'s mask");
    }
    sources.push_back(Kind::source(image, mask));
  }
  return sources;
}

TemplateOptions rounds_of(const warpalign_template_options* given) {
  TemplateOptions options;
  if (given == nullptr) return options;
  check_size(*given, "options");
  options.rounds = given->rounds;
  return options;
}

/// `grid`: the image whose pixels the template has.
void check_template_output(const warpalign_output& pixels, const warpalign_image& grid) {
  check_output(pixels, "pixels");
  if (pixels.type != WARPALIGN_F32) refuse("pixels must be WARPALIGN_F32");
  if (shape_of(pixels) == shape_of(grid)) return;
  refuse("pixels is " + to_string(shape_of(pixels)) + ", but the template is " +
         to_string(shape_of(grid)));
}

void clear_transforms(warpalign_transform* transforms, std::size_t count) {
  if (transforms == nullptr) return;
  std::fill_n(transforms, count, warpalign_transform{0});
}

/// Gives handles to all transforms, or to none if it throws.
void give_transforms(const Template& found, warpalign_transform* transforms) {
  if (transforms == nullptr) return;
  try {
    for (std::size_t i = 0; i < found.transforms.size(); ++i) {
      if (!found.transforms[i]) continue;
      transforms[i].id =
          handles<Transform>().insert(std::make_shared<Transform>(*found.transforms[i]));
    }
  } catch (...) {
    for (std::size_t i = 0; i < found.transforms.size(); ++i) {
      static_cast<void>(handles<Transform>().remove(transforms[i].id));
      transforms[i].id = 0;
    }
    throw;
  }
}

void give_template(const Template& found, warpalign_template& result) {
  give_transforms(found, result.transforms);
  std::ranges::copy(found.pixels, static_cast<float*>(result.pixels.data));
  if (result.confidences != nullptr) std::ranges::copy(found.confidences, result.confidences);
  if (result.changes != nullptr) std::ranges::copy(found.changes, result.changes);
  result.used = static_cast<std::size_t>(
      std::ranges::count_if(found.transforms, [](const auto& one) { return one.has_value(); }));
}

template <class Kind, class Registration>
warpalign_status build(warpalign_device device, const warpalign_image* images,
                       const warpalign_image* masks, std::size_t count,
                       const warpalign_image* initial, const Registration* registration,
                       const warpalign_template_options* options,
                       warpalign_template* result) noexcept {
  return call([&] {
    check_result(result);
    result->used = 0;
    clear_transforms(result->transforms, count);
    const auto opened = object_of<Device>(device.id, no_device);
    const auto sources = sources_of<Kind>(images, masks, count);
    std::optional<typename Kind::View> first;
    if (initial != nullptr) first = Kind::view(initial, "the initial image");
    check_template_output(result->pixels, initial != nullptr ? *initial : images[0]);
    const Template found = Kind::build(*opened, sources, registration, rounds_of(options), first);
    give_template(found, *result);
  });
}

}  // namespace

}  // namespace warpalign::c_interface

using namespace warpalign::c_interface;

warpalign_status warpalign_default_template_options(warpalign_template_options* options,
                                                    size_t struct_size) {
  return call([&] {
    check_size<warpalign_template_options>(struct_size, "options");
    warpalign_template_options& target = required(options, "options");
    target = {};
    target.struct_size = sizeof target;
    target.rounds = warpalign::TemplateOptions{}.rounds;
  });
}

warpalign_status warpalign_build_template(warpalign_device device, const warpalign_image* images,
                                          const warpalign_image* masks, size_t count,
                                          const warpalign_image* initial,
                                          const warpalign_register_options* registration,
                                          const warpalign_template_options* options,
                                          warpalign_template* result) {
  return build<ImageTemplates>(device, images, masks, count, initial, registration, options,
                               result);
}

warpalign_status warpalign_build_volume_template(
    warpalign_device device, const warpalign_image* volumes, const warpalign_image* masks,
    size_t count, const warpalign_image* initial, const warpalign_volume_options* registration,
    const warpalign_template_options* options, warpalign_template* result) {
  return build<VolumeTemplates>(device, volumes, masks, count, initial, registration, options,
                                result);
}
