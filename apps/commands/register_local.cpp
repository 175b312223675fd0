// `warpalign register --motion local`.
#include "commands/register_local.hpp"

#include "commands/field_map.hpp"
#include "commands/finite_samples.hpp"
#include "commands/motion_finder.hpp"
#include "io/atomic_file.hpp"
#include "io/messages.hpp"
#include "io/nodata_mask.hpp"
#include "io/npy.hpp"
#include "io/registrable_image.hpp"
#include "io/status_line.hpp"
#include "io/usage_error.hpp"
#include "options/file_names.hpp"
#include "reports/local_report.hpp"
#include "reports/overlay.hpp"

#include <warpalign/missing.hpp>
#include <warpalign/open_device.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <span>
#include <vector>

namespace warpalign::program {
namespace {

std::vector<NamedOutput> single_outputs(const LocalRegistration& options) {
  return {{"--output", options.output},
          {"--overlay", options.overlay},
          {"--field", options.field},
          {"--report", options.page}};
}

void check_names(const LocalRegistration& options) {
  if (options.output) (void)format_of_name(*options.output);
  const auto check = [](const char* option, const std::optional<std::string>& name,
                        const char* extension) {
    if (!name || std::filesystem::path(*name).extension() == extension) return;
    throw UsageError(fmt::format("{} {}: use a name that ends in {}", option, *name, extension));
  };
  check("--overlay", options.overlay, ".png");
  check("--field", options.field, ".npy");
  check("--report", options.page, ".html");
  check_outputs(single_outputs(options), {options.reference, options.moving});
}

std::vector<std::string> names_of_outputs(const LocalRegistration& options) {
  std::vector<std::string> names;
  for (const NamedOutput& output : single_outputs(options)) {
    if (output.name) names.push_back(*output.name);
  }
  return names;
}

void check_images(const LocalRegistration& options, const LoadedImage& reference,
                  const LoadedImage& moving) {
  if (moving.shape() != reference.shape()) {
    throw UsageError(fmt::format(
        "{}: is {} pixels, but {} is {}; --motion local requires images of the same size",
        options.moving, to_string(moving.shape()), options.reference,
        to_string(reference.shape())));
  }
  check_windows_fit(options.settings, moving.shape(), options.moving);
}

/// The image to register: with `nodata`, its gray levels with NaN in missing pixels. Counts the
/// missing pixels; throws UsageError if all are.
LoadedImage with_missing(const LoadedImage& image, std::optional<double> nodata,
                         const std::string& name, std::int64_t& missing) {
  LoadedImage result = nodata ? with_nan(image, *nodata) : image;
  if (is_integer(result.type) || result.channels != 1) return result;
  missing = known_samples(view_of(result)).missing;
  if (missing < result.shape().pixels()) return result;
  throw UsageError(name + ": there is nothing in it to register; all of it is missing");
}

/// The output files: opened before the registration, filled after it, and renamed together.
class Outputs {
 public:
  Outputs(const LocalRegistration& options, const LoadedImage& moving) : options_(options) {
    if (options.output) {
      check_storable(*options.output, format_of_name(*options.output), moving.channels,
                     moving.type);
    }
    for (const auto* name : {&options.output, &options.overlay, &options.field, &options.page}) {
      files_.push_back(*name ? std::make_unique<AtomicFile>(**name) : nullptr);
    }
  }

  void write(LocalReport& report, const Device& device, const LoadedImage& reference,
             const LoadedImage& moving) {
    FieldFrameWarper warper(device, moving.shape());
    FieldMap map(*report.motion.field, warper, options_.nodata);
    LoadedImage aligned;
    LoadedImage overlay;
    if (options_.output || options_.overlay || options_.page) aligned = map.warp_stored(moving);
    if (options_.overlay || options_.page) {
      const auto place = [&](std::int64_t x, std::int64_t y) { return map.at(x, y); };
      overlay = draw_mapped_overlay(reference, aligned, place, moving.shape());
    }
    if (options_.output) {
      files_[0]->write(encode_image(aligned, format_of_name(*options_.output)));
      report.files.push_back({"aligned", *options_.output, describe(aligned)});
    }
    if (options_.overlay) {
      files_[1]->write(encode_image(overlay, FileFormat::png));
      report.files.push_back({"overlay", *options_.overlay, describe(overlay)});
    }
    if (options_.field) write_field(report);
    if (options_.page) {
      const std::string page = html_text(report, reference, overlay);
      files_[3]->write(std::as_bytes(std::span(page)));
      report.files.push_back({"report", *options_.page, "HTML"});
    }
    for (const auto& file : files_) {
      if (file) file->commit();
    }
  }

 private:
  void write_field(LocalReport& report) {
    const DisplacementField& field = *report.motion.field;
    Array array = make_array({2, field.frame().height, field.frame().width}, PixelType::f32);
    std::ranges::copy(field.samples(), array.samples<float>().begin());
    files_[2]->write(write_npy(array));
    report.files.push_back({"field", *options_.field, describe(array)});
  }

  const LocalRegistration& options_;
  std::vector<std::unique_ptr<AtomicFile>> files_;  ///< aligned, overlay, field, page
};

}  // namespace

ExitStatus register_local(const LocalRegistration& options) {
  const auto start = std::chrono::steady_clock::now();
  check_names(options);
  const Config config = config_of(options.device.config);
  Activity activity("reading the images");
  const LoadedImage reference = load_registrable(options.reference, options.reference_page);
  const LoadedImage moving = load_registrable(options.moving, options.moving_page);
  check_images(options, reference, moving);
  LocalReport report;
  if (options.nodata) {
    check_nodata(*options.nodata, reference.type);
    check_nodata(*options.nodata, moving.type);
  }
  const LoadedImage fixed =
      with_missing(reference, options.nodata, options.reference, report.missing.reference);
  const LoadedImage moved =
      with_missing(moving, options.nodata, options.moving, report.missing.moving);
  Outputs outputs(options, moving);

  activity.next("opening the device");
  const Device device = open_for_one_job(options.device, config);
  activity.next("registering");
  naming(options.moving, [&] {
    MotionFinder finder(device, moved.type, moved.shape(), options.settings);
    finder.set_reference(fixed);
    report.motion = finder.find(moved);
  });
  activity.next("writing the results");
  report.reference = options.reference;
  report.moving = options.moving;
  report.reference_description = describe(reference);
  report.moving_description = describe(moving);
  report.reference_orientation = reference.orientation;
  report.moving_orientation = moving.orientation;
  report.device = device.info();
  if (report.motion.field) {
    outputs.write(report, device, reference, moving);
  } else {
    report.unwritten = names_of_outputs(options);
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.json) {
    fmt::print("{}", json_text(report));
  } else {
    program::report(human_text(report));
  }
  return report.motion.reliable() ? ExitStatus::ok : ExitStatus::unreliable;
}

}  // namespace warpalign::program
