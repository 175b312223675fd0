// Parses and checks the registration options before a device is opened.
#include "options/registration_options.hpp"

#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "options/number_list.hpp"

#include <warpalign/motion_limits.hpp>
#include <warpalign/registration_options.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

namespace warpalign::program {
namespace {

Motion motion_named(const std::string& name) {
  if (name == "similarity") return Motion::similarity;
  if (name == "rigid") return Motion::rigid;
  if (name == "rotation") return Motion::rotation;
  if (name == "translation") return Motion::translation;
  if (name == "affine") return Motion::affine;
  if (name == "homography") return Motion::homography;
  if (name == "auto") return Motion::automatic;
  if (name == "deformable") return Motion::deformable;
  throw UsageError(
      fmt::format("invalid value '{}' for --motion (choose from: similarity, rigid, rotation, "
                  "translation, affine, homography, auto, deformable, local)",
                  name));
}

std::string list_of(std::span<const std::string_view> names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string default_of(const RegistrationOptionInfo& info) {
  const RegistrationOptionValue value = option_value({}, info.name);
  if (const auto* name = std::get_if<std::string>(&value)) return *name;
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  const auto* number = std::get_if<int>(&value);
  return number != nullptr && *number >= 1 ? std::to_string(*number) : "automatic";
}

// In the library 0 selects the default. On the command line, users omit the option instead.
int integer_of(const RegistrationOptionInfo& info, const std::string& text) {
  const int least = std::max(1, static_cast<int>(info.minimum));
  const int most = static_cast<int>(info.maximum);
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [parsed, failed] = std::from_chars(text.data(), end, value);
  const bool is_integer = failed == std::errc() && parsed == end;
  if (is_integer && value >= least && value <= most) return value;
  throw UsageError(fmt::format("invalid value '{}' for {}: choose {}", text, flag_of(info),
                               is_integer && value < least
                                   ? fmt::format("{} or more", least)
                                   : fmt::format("an integer from {} to {}", least, most)));
}

double number_of(const RegistrationOptionInfo& info, const std::string& text) {
  const auto numbers = parse_numbers(flag_of(info), text);
  if (numbers.size() == 1 && numbers[0] >= info.minimum && numbers[0] <= info.maximum) {
    return numbers[0];
  }
  throw UsageError(fmt::format("{} {}: must be a number from {} to {}", flag_of(info), text,
                               info.minimum, info.maximum));
}

void take_by_name(const RegistrationOptionInfo& info, const std::string& text,
                  RegistrationOptions& options) {
  if (info.kind == OptionKind::real) return set_option(options, info.name, number_of(info, text));
  if (info.kind == OptionKind::integer) {
    return set_option(options, info.name, integer_of(info, text));
  }
  if (std::ranges::find(info.choices, text) == info.choices.end()) {
    throw UsageError(fmt::format("invalid value '{}' for {} (choose from: {})", text, flag_of(info),
                                 list_of(info.choices)));
  }
  set_option(options, info.name, text);
}

std::pair<double, double> range_of(const std::string& option, const std::string& text) {
  const auto ends = parse_numbers(option, text);
  if (ends.size() != 2) {
    throw UsageError(fmt::format("{} {}: must be two numbers, separated by a comma", option, text));
  }
  if (ends[0] > ends[1]) {
    throw UsageError(fmt::format("{} {}: must start with the smaller number", option, text));
  }
  return {ends[0], ends[1]};
}

void take_scales(const std::string& text, RegistrationOptions& options) {
  const auto [least, most] = range_of("--scale-range", text);
  if (least < 1 / RegistrationOptions::max_scale_ratio ||
      most > RegistrationOptions::max_scale_ratio) {
    throw UsageError(fmt::format("--scale-range {}: scales must be from {} to {}", text,
                                 1 / RegistrationOptions::max_scale_ratio,
                                 RegistrationOptions::max_scale_ratio));
  }
  options.min_scale = least;
  options.max_scale = most;
}

void take_angles(const std::string& text, RegistrationOptions& options) {
  const auto [least, most] = range_of("--angle-range", text);
  if (most - least > 360) {
    throw UsageError(fmt::format("--angle-range {}: spans more than 360 degrees", text));
  }
  options.min_angle = least;
  options.max_angle = most;
}

// One number limits the length of the translation, two numbers limit it along x and y.
void take_max_shift(const std::string& text, RegistrationOptions& options) {
  const auto numbers = parse_numbers("--max-shift", text);
  const bool positive = std::ranges::all_of(
      numbers, [](double pixels) { return std::isfinite(pixels) && pixels > 0; });
  if (!positive || (numbers.size() != 1 && numbers.size() != 2)) {
    throw UsageError(
        fmt::format("--max-shift {}: must be a number above 0, or two, X,Y; omit it to "
                    "allow any shift",
                    text));
  }
  if (numbers.size() == 1) {
    options.max_shift = numbers[0];
  } else {
    options.max_shift_x = numbers[0];
    options.max_shift_y = numbers[1];
  }
}

int candidates_of(int count) {
  constexpr int most = 10;
  if (count >= 1 && count <= most) return count;
  throw UsageError(fmt::format("--candidates {}: must be 1 to {}", count, most));
}

bool is_given(const RegistrationChoices& choices, std::string_view name) {
  const auto found = choices.by_name.find(std::string(name));
  return found != choices.by_name.end() && found->second;
}

void refuse_with_fast(const RegistrationChoices& choices) {
  const auto refuse = [](bool given, const char* option) {
    if (!given) return;
    throw UsageError(fmt::format(
        "{}: --fast finds one unrestricted similarity from gradients and does not support this "
        "option; omit one of the two",
        option));
  };
  refuse(choices.motion.has_value(), "--motion");
  refuse(choices.scale_range.has_value(), "--scale-range");
  refuse(choices.angle_range.has_value(), "--angle-range");
  refuse(choices.max_shift.has_value(), "--max-shift");
  refuse(choices.candidates.has_value(), "--candidates");
  for (const RegistrationOptionInfo* info : given_by_name(choices)) {
    refuse(!info->with_fast, flag_of(*info).c_str());
  }
}

void refuse_without_deformation(const RegistrationChoices& choices, Motion motion) {
  if (motion == Motion::deformable) return;
  for (const RegistrationOptionInfo* info : given_by_name(choices)) {
    if (!describes_deformation(*info)) continue;
    throw UsageError(fmt::format("{}: is for --motion deformable", flag_of(*info)));
  }
}

/// Refuses options that the search would ignore.
void refuse_unused_by_search(const RegistrationChoices& choices,
                             const RegistrationOptions& options) {
  if (options.modality == Modality::other && options.search == Effort::fast) {
    throw UsageError(
        "--search fast: compares log-polar spectra of the intensities, which images of different "
        "modalities do not share; omit it or --modality other");
  }
  if (options.modality == Modality::other && is_given(choices, "spectrum")) {
    throw UsageError(
        "--spectrum: --modality other compares gradient orientations and uses no spectra; omit one "
        "of the two");
  }
}

/// Refuses limits on parameters that the motion keeps fixed, and --spectrum if no search uses it.
void refuse_without_use(const RegistrationChoices& choices, Motion motion) {
  const auto refuse = [&](bool given, const char* option, const char* why) {
    if (!given) return;
    throw UsageError(
        fmt::format("{}: --motion {} {}; omit one of the two", option, *choices.motion, why));
  };
  if (fixes_scale(motion)) {
    refuse(choices.scale_range.has_value(), "--scale-range", "keeps the scale at 1");
  }
  if (fixes_rotation(motion)) {
    refuse(choices.angle_range.has_value(), "--angle-range", "keeps the angle at 0");
  }
  if (ignores_spectrum(motion)) {
    refuse(is_given(choices, "spectrum"), "--spectrum", "uses no spectra");
  }
  if (fixes_translation(motion)) {
    refuse(choices.max_shift.has_value(), "--max-shift", "keeps the shift at 0");
  }
}

}  // namespace

void add_registration_options(CLI::App& command, RegistrationChoices& choices,
                              MotionsOffered motions) {
  begin_group(command, "Search");
  add_option(command, "--fast", &choices.fast,
             "Use the Fourier-Mellin pipeline: accurate to a fraction of a pixel, not verified");
  add_option(command, "--no-refine", &choices.no_refine,
             "Stop before the refinement at full resolution");
  if (motions == MotionsOffered::all) {
    add_option(command, "--motion NAME", &choices.motion,
               "Transform model: similarity, rigid, rotation, translation, affine, homography, "
               "auto (a similarity, unless an affine transform or a homography fits significantly "
               "better), deformable (an affine transform, then a smooth deformation at full "
               "resolution), or local (smooth motion that varies over the image, by windows) "
               "[similarity]",
               suggesting("similarity rigid rotation translation affine homography auto "
                          "deformable local"));
  } else {
    add_option(
        command, "--motion NAME", &choices.motion,
        "Transform model: similarity, rigid, rotation, translation, local (smooth motion "
        "that varies over the frame, by windows), or deformable (an affine transform, then a "
        "smooth deformation at full resolution) [similarity]",
        suggesting("similarity rigid rotation translation local deformable"));
  }
  const RegistrationOptions defaults;
  add_option(
      command, "--scale-range A,B", &choices.scale_range,
      fmt::format("Smallest and largest scale [{},{}]", defaults.min_scale, defaults.max_scale));
  add_option(command, "--angle-range A,B", &choices.angle_range,
             fmt::format("Smallest and largest rotation, in degrees [{},{}]", defaults.min_angle,
                         defaults.max_angle));
  add_option(command, "--max-shift N|X,Y", &choices.max_shift,
             "Largest translation, or largest along x and y, in pixels of the moving image [any]");
  for (const RegistrationOptionInfo& info : registration_options()) {
    if (!info.program_uses_set_option || describes_deformation(info)) continue;
    const std::string names = fmt::format("{}", fmt::join(info.choices, " "));
    add_option(command, std::string(info.program), &choices.by_name[std::string(info.name)],
               fmt::format("{} [{}]", info.help, default_of(info)), suggesting(names.c_str()));
  }
}

void add_deformation_options(CLI::App& command, RegistrationChoices& choices) {
  begin_group(command, "Deformation");
  for (const RegistrationOptionInfo& info : registration_options()) {
    if (!describes_deformation(info)) continue;
    add_option(command, std::string(info.program), &choices.by_name[std::string(info.name)],
               fmt::format("{} [{}]", info.help, default_of(info)));
  }
}

void add_candidates_option(CLI::App& command, RegistrationChoices& choices) {
  add_option(command, "--candidates N", &choices.candidates,
             "Continue the search and list the N best alignments [1]");
}

void refuse_mask_with_fast(const std::string& option) {
  throw UsageError(fmt::format("{}: --fast does not support masks; omit one of the two", option));
}

void refuse_projective_motion(const RegistrationOptions& options) {
  if (options.motion != Motion::affine && options.motion != Motion::homography &&
      options.motion != Motion::automatic) {
    return;
  }
  throw UsageError(
      "--motion: stacks are aligned by similarities, local or deformable motion; use the register "
      "command for affine, homography and auto");
}

std::string flag_of(const RegistrationOptionInfo& info) {
  return std::string(info.program.substr(0, info.program.find(' ')));
}

bool describes_deformation(const RegistrationOptionInfo& info) {
  return info.name == "grid_spacing" || info.name == "bending_weight";
}

std::vector<const RegistrationOptionInfo*> given_by_name(const RegistrationChoices& choices) {
  std::vector<const RegistrationOptionInfo*> given;
  for (const RegistrationOptionInfo& info : registration_options()) {
    if (is_given(choices, info.name)) given.push_back(&info);
  }
  return given;
}

bool is_local(const RegistrationChoices& choices) { return choices.motion == "local"; }

RegistrationOptions registration_options_of(const RegistrationChoices& choices) {
  RegistrationOptions options;
  if (choices.fast) refuse_with_fast(choices);
  options.fast = choices.fast;
  options.refine = !choices.no_refine;
  if (choices.motion) options.motion = motion_named(*choices.motion);
  for (const RegistrationOptionInfo* info : given_by_name(choices)) {
    take_by_name(*info, *choices.by_name.at(std::string(info->name)), options);
  }
  refuse_unused_by_search(choices, options);
  refuse_without_deformation(choices, options.motion);
  refuse_without_use(choices, options.motion);
  if (choices.scale_range) take_scales(*choices.scale_range, options);
  if (choices.angle_range) take_angles(*choices.angle_range, options);
  if (choices.max_shift) take_max_shift(*choices.max_shift, options);
  if (choices.candidates) options.candidates = candidates_of(*choices.candidates);
  return options;
}

}  // namespace warpalign::program
