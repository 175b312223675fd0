// `warpalign experiment rotations`: measures the error of truncated prefilters.
//
// Champagnat & Le Sant, section 5, after Unser: an image is rotated in steps, each a cubic
// interpolation of the previous result, until it is upright again. The difference from the original
// is the interpolation error. Figure 2 shows the RMS error against the length of the FIR prefilter,
// figure 3 the resulting images, figure 4 the residuals.
#include "experiments/experiment_report.hpp"
#include "experiments/experiments.hpp"
#include "io/gray_levels.hpp"
#include "io/messages.hpp"
#include "io/output_folder.hpp"
#include "io/progress.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "options/common_options.hpp"
#include "options/interpolation_options.hpp"
#include "options/rotation.hpp"
#include "reports/contact_sheet.hpp"
#include "reports/svg_plot.hpp"

#include <warpalign/open_device.hpp>
#include <warpalign/stages/resample.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

namespace warpalign::program {
namespace {

using Levels = std::vector<float>;

constexpr double residual_gain = 4;
/// The radius of the central disc, as a fraction of the largest one within the image. Values from
/// beyond the edges never reach the disc.
constexpr double disc_share = 0.8;

struct Options {
  std::string image;
  DeviceOptions device;
  int steps = 36;
  double angle = 10;
  std::string folder = "experiment-rotations";
};

struct Difference {
  double rms_disc = 0;
  double rms_image = 0;
  double max_disc = 0;
};

struct Result {
  SplineModel spline;
  Levels levels;
  Difference to_original;
  Difference to_exact;
};

void check(const Options& options) {
  constexpr int max_steps = 10000;
  if (options.steps < 1 || options.steps > max_steps) {
    throw UsageError(fmt::format("--steps {}: must be 1 to {}", options.steps, max_steps));
  }
  const double turns = options.steps * options.angle / 360;
  if (!std::isfinite(turns) || std::abs(turns - std::round(turns)) > 1e-9 || turns == 0) {
    throw UsageError(
        fmt::format("--steps {} --angle {}: {} degrees in total; must be a multiple of 360 "
                    "degrees, so that the "
                    "result can be compared with the original",
                    options.steps, options.angle, options.steps * options.angle));
  }
}

std::vector<SplineModel> choices() {
  std::vector<SplineModel> all;
  for (const int taps : {3, 5, 7, 9, 11, 13, 15, 21})
    all.push_back({.prefilter = PrefilterMethod::fir, .taps = taps});
  all.push_back({.prefilter = PrefilterMethod::iir_line});
  all.push_back({.prefilter = PrefilterMethod::exact});
  return all;
}

double disc_radius(const Shape& shape) {
  return disc_share * static_cast<double>(std::min(shape.width, shape.height) - 1) / 2;
}

Difference difference(const Levels& a, const Levels& b, const Shape& shape) {
  const Point centre = centre_of(shape);
  const double radius = disc_radius(shape);
  Difference result;
  double squares = 0;
  double squares_disc = 0;
  std::int64_t count_disc = 0;
  for (std::int64_t i = 0; i < shape.plane(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double d = static_cast<double>(a[at]) - static_cast<double>(b[at]);
    squares += d * d;
    const double x = static_cast<double>(i % shape.width) - centre.x;
    const double y = static_cast<double>(i / shape.width) - centre.y;
    if (x * x + y * y > radius * radius) continue;
    squares_disc += d * d;
    result.max_disc = std::max(result.max_disc, std::abs(d));
    ++count_disc;
  }
  result.rms_image = std::sqrt(squares / static_cast<double>(shape.plane()));
  if (count_disc > 0) result.rms_disc = std::sqrt(squares_disc / static_cast<double>(count_disc));
  return result;
}

Levels turn_progressively(const Device& device, const Options& options, const Levels& original,
                          const Shape& shape, const SplineModel& spline) {
  ResamplePlan plan(device, {.spline = spline, .images = {.shape = shape}, .output = shape});
  Stream stream = device.make_stream();
  Image now = device.make_image(PixelType::f32, shape);
  Image next = device.make_image(PixelType::f32, shape);
  Levels levels = original;
  const std::size_t bytes = levels.size() * sizeof(float);
  stream.upload(levels.data(), bytes, now.buffer());
  const HomogeneousMatrix step = rotation_about(centre_of(shape), options.angle);
  for (int i = 0; i < options.steps; ++i) {
    plan.execute(stream, now, step, next);
    std::swap(now, next);
  }
  stream.download(now, levels.data(), bytes);
  return levels;
}

std::vector<Result> measure(const Device& device, const Options& options, const Levels& original,
                            const Shape& shape) {
  std::vector<Result> results;
  const std::vector<SplineModel> all = choices();
  Progress progress(all.size());
  for (const SplineModel& spline : all) {
    progress.next(prefilter_name(spline));
    Result result{spline, turn_progressively(device, options, original, shape, spline), {}, {}};
    result.to_original = difference(result.levels, original, shape);
    results.push_back(std::move(result));
  }
  for (Result& result : results) {  // the last one is exact
    result.to_exact = difference(result.levels, results.back().levels, shape);
  }
  return results;
}

/// Converts a name such as "fir:7" for use in a file name.
std::string file_part(const SplineModel& spline) {
  std::string name = prefilter_name(spline);
  std::replace(name.begin(), name.end(), ':', '-');
  return name;
}

Levels residual(const Levels& result, const Levels& original) {
  Levels levels(result.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    levels[i] = 128 + static_cast<float>(residual_gain) * (result[i] - original[i]);
  }
  return levels;
}

/// Points far above the exact filter's error are listed in the legend and not drawn: filters of 3,
/// 7, 11 ... taps amplify some frequencies at every step, and the result of 3 taps diverges.
Plot plot_of(const std::string& title, const std::vector<Result>& results,
             double Difference::*error) {
  const double exact = results.back().to_original.*error;
  const double max_shown = std::max(12 * exact, 1.0);
  PlotLine fir{"FIR", plot_colour(0), {}, false, true};
  std::string above;
  for (const Result& result : results) {
    if (result.spline.prefilter != PrefilterMethod::fir) continue;
    const double rms = result.to_original.*error;
    if (rms <= max_shown) {
      fir.points.push_back({static_cast<double>(result.spline.taps), rms});
    } else {
      above += fmt::format("{}{}", above.empty() ? "" : ", ", result.spline.taps);
    }
  }
  if (!above.empty()) fir.label += fmt::format(" (above the plot: {} taps)", above);
  const double first = results.front().spline.taps;
  const double last = fir.points.empty() ? first + 1 : fir.points.back().x;
  const PlotLine dashed{"exact", plot_colour(1), {{first, exact}, {last, exact}}, true, false};
  return {title, "taps of the FIR prefilter", "RMS error in gray levels", {fir, dashed}, true};
}

Json difference_json(const Difference& difference) {
  return Json::object({{"rms_disc", difference.rms_disc},
                       {"rms_image", difference.rms_image},
                       {"largest_disc", difference.max_disc}});
}

Json report_json(const Options& options, const Device& device, const Shape& shape,
                 const std::vector<Result>& results) {
  Json report;
  report["experiment"] = "rotations";
  report["image"] = options.image;
  report["width"] = shape.width;
  report["height"] = shape.height;
  report["steps"] = options.steps;
  report["angle_deg"] = options.angle;
  report["degree"] = 3;
  report["boundary"] = "mirror";
  report["device"] = device_json(device.info());
  report["disc_radius"] = disc_radius(shape);
  report["residual_gain"] = residual_gain;
  report["results"] = Json::array();
  for (const Result& result : results) {
    Json entry;
    entry["prefilter"] = prefilter_name(result.spline);
    entry["taps"] =
        result.spline.prefilter == PrefilterMethod::fir ? Json(result.spline.taps) : Json(nullptr);
    entry["to_original"] = difference_json(result.to_original);
    entry["to_exact"] = difference_json(result.to_exact);
    report["results"].push_back(entry);
  }
  return report;
}

void fill_folder(OutputFolder& folder, const Options& options, const Device& device,
                 const Levels& original, const Shape& shape, const std::vector<Result>& results) {
  constexpr std::size_t columns = 4;
  constexpr std::int64_t max_shown = 512;
  std::vector<SheetCell> images{{"original", gray_image(original, shape)}};
  std::vector<SheetCell> residuals;
  folder.add_png("original.png", images.front().picture);
  for (const Result& result : results) {
    images.push_back({prefilter_name(result.spline), gray_image(result.levels, shape)});
    residuals.push_back(
        {fmt::format("{} RMS {:.2f}", prefilter_name(result.spline), result.to_original.rms_disc),
         gray_image(residual(result.levels, original), shape)});
    folder.add_png(fmt::format("image_{}.png", file_part(result.spline)), images.back().picture);
    folder.add_png(fmt::format("residual_{}.png", file_part(result.spline)),
                   residuals.back().picture);
  }
  folder.add_png("images.png", draw_contact_sheet(images, columns, max_shown));
  folder.add_png("residuals.png", draw_contact_sheet(residuals, columns, max_shown));
  const std::string turned =
      fmt::format("{} rotations by {} degrees", options.steps, options.angle);
  folder.add_text("rms.svg",
                  draw_plots({plot_of(turned + ", central disc", results, &Difference::rms_disc),
                              plot_of(turned + ", whole image", results, &Difference::rms_image)}));
  add_report(folder, "rotations.json", report_json(options, device, shape, results));
}

std::string table(const std::vector<Result>& results) {
  std::string text =
      "             RMS error in gray levels     difference to exact, disc\n"
      "  prefilter      disc   whole image            RMS       largest\n";
  for (const Result& result : results) {
    text +=
        fmt::format("  {:<9} {:10.4f} {:12.4f} {:16.4f} {:12.4f}\n", prefilter_name(result.spline),
                    result.to_original.rms_disc, result.to_original.rms_image,
                    result.to_exact.rms_disc, result.to_exact.max_disc);
  }
  return text;
}

ExitStatus run(const Options& options) {
  check(options);
  const Config config = config_of(options.device.config);
  const LoadedImage image = load_image(options.image);
  const Levels original = gray_levels(image);
  const Shape shape = image.shape();
  OutputFolder folder(options.folder);

  const Device device = open_chosen(options.device, config);
  const std::vector<Result> results = measure(device, options, original, shape);
  fill_folder(folder, options, device, original, shape, results);
  folder.commit();
  report(fmt::format("  {} ({}), {} rotations by {} degrees on {} ({})\n\n{}{}", options.image,
                     describe(image), options.steps, options.angle, device.info().name,
                     device.info().id, table(results), files_line(folder)));
  return ExitStatus::ok;
}

constexpr const char* footer =
    "The experiment rotates the image (or its luminance) about its centre in steps until it is\n"
    "upright again, with cubic interpolation in single precision and mirrored edges. Errors are "
    "in\n"
    "8-bit gray levels. One figure is for a central disc of 0.8 times the largest radius within "
    "the\n"
    "image, which nothing from beyond the edges reaches. The other is for the whole image,\n"
    "including the corners, which leave the image during the rotation.\n"
    "\n"
    "Output files: rotations.json, rms.svg, images.png and residuals.png (all of them side by "
    "side;\n"
    "residuals are 128 + 4 x difference), original.png, image_*.png, residual_*.png.\n"
    "\n"
    "FIR filters of 3, 7, 11 and 15 taps amplify some frequencies, by up to 44 %, 2.8 %, 0.2 % "
    "and\n"
    "0.014 % along each axis; those of 5, 9 and 13 taps attenuate them. After 36 steps the result\n"
    "with 3 taps diverges.\n"
    "\n"
    "Examples:\n"
    "  warpalign experiment rotations photograph.png\n"
    "  warpalign experiment rotations photograph.png --steps 72 --angle 5 --device opencl:pocl\n";

}  // namespace

void add_rotations_experiment(CLI::App& experiment, Action& chosen) {
  CLI::App& command =
      add_command(experiment, "rotations",
                  "Measure errors after repeated rotations, for prefilters of each length");
  auto options = std::make_shared<Options>();
  add_option(command, "IMAGE", &options->image, "Any image", required);
  add_option(command, "--steps N", &options->steps, "Number of rotations", with_default);
  add_option(command, "--angle DEG", &options->angle, "Degrees of each, counter-clockwise",
             with_default);
  add_folder_option(command, options->folder);
  add_device_options(command, options->device);
  add_message_options(command);
  set_footer(command, footer);
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program
