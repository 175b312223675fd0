// The C interface: registration.
#include "c_interface/call.hpp"
#include "c_interface/deformations.hpp"
#include "c_interface/images.hpp"
#include "c_interface/options.hpp"
#include "c_interface/shared_registrar.hpp"
#include "registration/option_table.hpp"

#include <warpalign/registrar.hpp>
#include <warpalign/sensor_pattern.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace warpalign::c_interface {

namespace {

Effort search_of(warpalign_search search) {
  switch (search) {
    case WARPALIGN_SEARCH_STANDARD:
      return Effort::standard;
    case WARPALIGN_SEARCH_FAST:
      return Effort::fast;
    case WARPALIGN_SEARCH_THOROUGH:
      return Effort::thorough;
    default:
      refuse("invalid value " + std::to_string(search) +
             " for search (use WARPALIGN_SEARCH_STANDARD, ...)");
  }
}

/// Copies a numeric option or a flag from the C structure, if it has the option.
void read_option(const detail::OptionRow& row, const warpalign_register_options& given,
                 RegistrationOptions& options) {
  const std::string name(row.info.name);
  if (const auto* real = std::get_if<double warpalign_register_options::*>(&row.c_member)) {
    return set_option(options, name, given.*(*real));
  }
  const auto* integer = std::get_if<std::int32_t warpalign_register_options::*>(&row.c_member);
  if (integer == nullptr) return;
  const std::int32_t value = given.*(*integer);
  if (row.info.kind == OptionKind::flag) return set_option(options, name, flag(value, name));
  set_option(options, name, static_cast<int>(value));
}

/// Copies a numeric option or a flag to the C structure, if it has the option.
void write_option(const detail::OptionRow& row, const RegistrationOptions& options,
                  warpalign_register_options& target) {
  const RegistrationOptionValue value = option_value(options, row.info.name);
  if (const auto* real = std::get_if<double warpalign_register_options::*>(&row.c_member)) {
    target.*(*real) = std::get<double>(value);
  }
  const auto* integer = std::get_if<std::int32_t warpalign_register_options::*>(&row.c_member);
  if (integer == nullptr) return;
  target.*(*integer) = row.info.kind == OptionKind::flag ? std::int32_t{std::get<bool>(value)}
                                                         : std::int32_t{std::get<int>(value)};
}

}  // namespace

RegistrationOptions options_of(const warpalign_register_options* given) {
  RegistrationOptions options;
  if (given == nullptr) return options;
  check_size(*given, "options");
  for (const detail::OptionRow& row : detail::option_rows()) read_option(row, *given, options);
  options.motion = motion_of(given->motion);
  options.modality = modality_of(given->modality);
  options.search = search_of(given->search);
  return options;
}

namespace {

[[noreturn]] void refuse_deformable() {
  refuse("WARPALIGN_DEFORMABLE needs warpalign_align_deformable(), which returns the deformation");
}

void describe_ambiguity(const RegistrationResult& found, warpalign_registration& result) {
  result.ambiguous = found.ambiguous ? 1 : 0;
  const std::size_t count = std::min(found.period.size(), std::size(result.period));
  result.period_count = static_cast<std::int32_t>(count);
  for (std::size_t i = 0; i < std::size(result.period); ++i) {
    const Point vector = i < count ? found.period[i] : Point{};
    result.period[i][0] = vector.x;
    result.period[i][1] = vector.y;
  }
  const Point direction = found.undetermined_direction.value_or(Point{});
  result.undetermined_direction[0] = direction.x;
  result.undetermined_direction[1] = direction.y;
}

void describe(const RegistrationResult& found, warpalign_registration& result) {
  const Affine& m = found.matrix;
  const double matrix[6] = {m.a, m.b, m.c, m.d, m.e, m.f};
  for (int i = 0; i < 6; ++i) result.matrix[i] = matrix[i];
  result.rotation_deg = found.similarity.rotation_deg;
  result.scale = found.similarity.scale;
  result.translation_x = found.similarity.translation.x;
  result.translation_y = found.similarity.translation.y;
  result.confidence = found.confidence;
  result.correlation = found.correlation;
  result.significance = found.significance;
  result.overlap = found.overlap;
  result.reliable = found.reliable ? 1 : 0;
  result.refined = found.refined ? 1 : 0;
  std::copy(found.homography.h.begin(), found.homography.h.end(), result.homography);
  result.motion = number_of(found.motion);
  result.modality = number_of(found.modality);
  describe_ambiguity(found, result);
  result.missing_reference = found.missing.reference;
  result.missing_moving = found.missing.moving;
}

/// Registrars of images, for SharedRegistrar.
struct ImageKind {
  using Registrar = warpalign::Registrar;
  using Options = RegistrationOptions;
  using View = HostImage;
  using Initial = Homography;
  static constexpr const char* no_registrar = "the registrar is null or was destroyed";
  static constexpr const char* moving_mask = "the moving image's mask";

  static View view(const warpalign_image* image, const char* what) {
    return host_image(image, what);
  }
  static Shape shape_of(const View& image) { return image.shape(); }
  static Options options_of(const warpalign_register_options* options) {
    return c_interface::options_of(options);
  }
  static Initial initial_of(const double* homography) {
    Homography initial;
    std::copy_n(homography, initial.h.size(), initial.h.begin());
    return initial;
  }
};

bool is_deformable(const SharedRegistrar<ImageKind>& registrar) {
  return registrar.options().motion == Motion::deformable;
}

}  // namespace

}  // namespace warpalign::c_interface

using namespace warpalign::c_interface;
using warpalign::Device;
using warpalign::HostImage;
using warpalign::RegistrationOptions;
using warpalign::RegistrationResult;
using warpalign::Shape;

warpalign_status warpalign_default_register_options(warpalign_register_options* options,
                                                    size_t struct_size) {
  return call([&] {
    check_size<warpalign_register_options>(struct_size, "options");
    warpalign_register_options& target = required(options, "options");
    target = {};
    target.struct_size = sizeof target;
    target.motion = WARPALIGN_SIMILARITY;
    target.modality = WARPALIGN_MODALITY_SAME;
    target.search = WARPALIGN_SEARCH_STANDARD;
    for (const auto& row : warpalign::detail::option_rows()) {
      write_option(row, RegistrationOptions{}, target);
    }
  });
}

warpalign_status warpalign_register(warpalign_device device, const warpalign_image* reference,
                                    const warpalign_image* moving,
                                    const warpalign_register_options* options,
                                    warpalign_registration* result) {
  return call([&] {
    const auto opened = object_of<Device>(device.id, no_device);
    check_result(result);
    const HostImage first = host_image(reference, "the reference");
    const HostImage second = host_image(moving, "the moving image");
    const RegistrationOptions chosen = options_of(options);
    if (chosen.motion == warpalign::Motion::deformable) refuse_deformable();
    describe(warpalign::register_images(*opened, first, second, chosen), *result);
  });
}

warpalign_status warpalign_make_registrar(warpalign_device device,
                                          const warpalign_register_options* options,
                                          warpalign_registrar* registrar) {
  return make_registrar<ImageKind>(device, options, registrar);
}

warpalign_status warpalign_set_reference(warpalign_registrar registrar,
                                         const warpalign_image* reference,
                                         const warpalign_image* mask) {
  return set_reference<ImageKind>(registrar, reference, mask);
}

warpalign_status warpalign_set_initial(warpalign_registrar registrar, const double* homography) {
  return set_initial<ImageKind>(registrar, homography);
}

warpalign_status warpalign_align(warpalign_registrar registrar, const warpalign_image* moving,
                                 const warpalign_image* mask, warpalign_registration* result) {
  return call([&] {
    const auto shared = registrar_of<ImageKind>(registrar);
    check_result(result);
    const HostImage image = host_image(moving, "the moving image");
    if (is_deformable(*shared)) refuse_deformable();
    shared->align(image, mask,
                  [&](const RegistrationResult& found, const Shape&) { describe(found, *result); });
  });
}

warpalign_status warpalign_align_deformable(warpalign_registrar registrar,
                                            const warpalign_image* moving,
                                            const warpalign_image* mask,
                                            warpalign_registration* result,
                                            warpalign_deformation* deformation) {
  return call([&] {
    warpalign_deformation& target = required(deformation, "deformation");
    target.id = 0;
    const auto shared = registrar_of<ImageKind>(registrar);
    check_result(result);
    const HostImage image = host_image(moving, "the moving image");
    if (!is_deformable(*shared)) {
      refuse("the registrar must have the motion WARPALIGN_DEFORMABLE; use warpalign_align()");
    }
    shared->align(image, mask, [&](RegistrationResult found, const Shape& reference) {
      describe(found, *result);
      if (!found.deformation) return;
      target.id = handles<FoundDeformation>().insert(std::make_shared<FoundDeformation>(
          FoundDeformation{std::move(*found.deformation), reference}));
    });
  });
}

warpalign_status warpalign_find_sensor_pattern(warpalign_device device,
                                               const warpalign_image* frames, size_t count,
                                               const warpalign_image* mask,
                                               const warpalign_register_options* options,
                                               float* offsets, warpalign_sensor_pattern* pattern) {
  return call([&] {
    const auto opened = object_of<Device>(device.id, no_device);
    warpalign_sensor_pattern& target = required(pattern, "pattern");
    check_size(target, "pattern");
    float& first = required(offsets, "offsets");
    if (count == 0) refuse("count must be at least 1");
    const warpalign_image* images = &required(frames, "frames");
    std::vector<HostImage> views;
    for (std::size_t i = 0; i < count; ++i) views.push_back(host_image(images + i, "a frame"));
    std::optional<HostImage> used;
    if (mask != nullptr) used = host_image(mask, "the mask");
    const auto found = warpalign::find_sensor_pattern(*opened, views, options_of(options),
                                                      used ? &*used : nullptr);
    target = {target.struct_size, 0, 0, 0, 0, 0};
    const auto pixels = static_cast<std::size_t>(views.front().shape().plane());
    std::fill_n(&first, pixels, 0.0F);
    if (!found) return;
    std::copy(found->offsets.begin(), found->offsets.end(), &first);
    target.is_found = 1;
    target.has_scene = found->has_scene ? 1 : 0;
    target.is_clear = found->is_clear ? 1 : 0;
    target.rms = found->rms;
    target.frames = static_cast<std::int64_t>(found->frames);
  });
}

warpalign_status warpalign_destroy_registrar(warpalign_registrar registrar) {
  return destroy_registrar<ImageKind>(registrar);
}
