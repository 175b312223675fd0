// `warpalign experiment zoom`: enlarges a detail in four ways.
//
// Ruijters et al., figure 2: nearest neighbour, bilinear, cubic without prefilter (the smoothing
// variant) and cubic interpolation.
#include "experiments/experiment_report.hpp"
#include "experiments/experiments.hpp"
#include "io/array_file.hpp"
#include "io/gray_levels.hpp"
#include "io/messages.hpp"
#include "io/output_folder.hpp"
#include "io/progress.hpp"
#include "io/usage_error.hpp"
#include "options/command_line.hpp"
#include "options/common_options.hpp"
#include "options/number_list.hpp"
#include "reports/contact_sheet.hpp"

#include <warpalign/open_device.hpp>
#include <warpalign/stages/resample.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>

namespace warpalign::program {
namespace {

constexpr std::int64_t max_panel_side = 4000;

struct Options {
  std::string image;
  DeviceOptions device;
  double factor = 8;
  std::optional<std::string> region;
  std::string folder = "experiment-zoom";
};

struct Region {
  std::int64_t x, y, width, height;
};

struct Variant {
  const char* file;
  const char* label;
  int degree;
  bool prefiltered;
};

constexpr std::array variants{
    Variant{"nearest", "nearest", 0, false}, Variant{"bilinear", "bilinear", 1, false},
    Variant{"cubic-without-prefilter", "cubic without prefilter", 3, false},
    Variant{"cubic", "cubic", 3, true}};

/// The centre of the image, at most 64 x 64 pixels.
Region usual_region(const Shape& shape) {
  constexpr std::int64_t side = 64;
  const std::int64_t width = std::min(side, shape.width);
  const std::int64_t height = std::min(side, shape.height);
  return {(shape.width - width) / 2, (shape.height - height) / 2, width, height};
}

Region region_of(const Options& options, const Shape& shape) {
  if (!options.region) return usual_region(shape);
  const std::vector<double> n = parse_numbers("--region", *options.region);
  const bool whole =
      std::all_of(n.begin(), n.end(), [](double v) { return v == std::floor(v) && v >= 0; });
  if (n.size() != 4 || !whole || n[2] < 1 || n[3] < 1) {
    throw UsageError(
        fmt::format("--region {}: must be four integers X,Y,W,H, in pixels", *options.region));
  }
  if (n[0] + n[2] > static_cast<double>(shape.width) ||
      n[1] + n[3] > static_cast<double>(shape.height)) {
    throw UsageError(fmt::format("--region {}: reaches beyond the image of {}", *options.region,
                                 to_string(shape)));
  }
  return {static_cast<std::int64_t>(n[0]), static_cast<std::int64_t>(n[1]),
          static_cast<std::int64_t>(n[2]), static_cast<std::int64_t>(n[3])};
}

Shape panel_shape(const Options& options, const Region& region) {
  const auto scaled = [&](std::int64_t side) {
    const double size = std::round(options.factor * static_cast<double>(side));
    if (!(size >= 1) || size > static_cast<double>(max_panel_side)) {
      throw UsageError(
          fmt::format("--factor {}: would produce {} pixels from {}; 1 to {} are allowed",
                      options.factor, size, side, max_panel_side));
    }
    return static_cast<std::int64_t>(size);
  };
  return {scaled(region.width), scaled(region.height), 1};
}

/// The edges of the panel are those of the region: a pixel becomes a square of factor x factor.
HomogeneousMatrix panel_to_image(const Region& region, const Shape& panel) {
  const double a = static_cast<double>(region.width) / static_cast<double>(panel.width);
  const double e = static_cast<double>(region.height) / static_cast<double>(panel.height);
  return Affine{a, 0, static_cast<double>(region.x) + a / 2 - 0.5,
                0, e, static_cast<double>(region.y) + e / 2 - 0.5};
}

LoadedImage enlarge(const Device& device, const Variant& variant,
                    const std::vector<Array>& channels, const Region& region, const Shape& panel) {
  SplineModel spline{.degree = variant.degree};
  if (!variant.prefiltered) spline.prefilter.reset();
  const Shape shape = channels.front().shape();
  ResamplePlan plan(device, {.spline = spline,
                             .images = {.shape = shape},
                             .output = panel,
                             .output_type = PixelType::u8});
  Stream stream = device.make_stream();
  Image input = device.make_image(PixelType::f32, shape);
  Image output = device.make_image(PixelType::u8, panel);
  std::vector<Array> enlarged;
  for (const Array& channel : channels) {
    const Array samples = to_float(channel);
    stream.upload(samples.bytes.data(), samples.bytes.size(), input.buffer());
    plan.execute(stream, input, panel_to_image(region, panel), output);
    enlarged.push_back(make_array({panel.height, panel.width}, PixelType::u8));
    stream.download(output, enlarged.back().bytes.data(), enlarged.back().bytes.size());
  }
  return join_channels(enlarged);
}

Json report_json(const Options& options, const Device& device, const Region& region,
                 const Shape& panel) {
  Json report;
  report["experiment"] = "zoom";
  report["image"] = options.image;
  report["factor"] = options.factor;
  report["region"] = {region.x, region.y, region.width, region.height};
  report["width"] = panel.width;
  report["height"] = panel.height;
  report["boundary"] = "mirror";
  report["device"] = device_json(device.info());
  report["panels"] = Json::array();
  for (const Variant& variant : variants) {
    report["panels"].push_back(
        Json::object({{"file", fmt::format("{}.png", variant.file)},
                      {"degree", variant.degree},
                      {"prefilter", variant.prefiltered ? "exact" : "none"}}));
  }
  return report;
}

ExitStatus run(const Options& options) {
  const Config config = config_of(options.device.config);
  const LoadedImage image = to_8_bit(load_image(options.image));
  const Region region = region_of(options, image.shape());
  const Shape panel = panel_shape(options, region);
  OutputFolder folder(options.folder);

  const Device device = open_chosen(options.device, config);
  const std::vector<Array> channels = split_channels(image);
  std::vector<SheetCell> cells;
  Progress progress(variants.size());
  for (const Variant& variant : variants) {
    progress.next(variant.label);
    cells.push_back({variant.label, enlarge(device, variant, channels, region, panel)});
    folder.add_png(fmt::format("{}.png", variant.file), cells.back().picture);
  }
  folder.add_png("side-by-side.png", draw_contact_sheet(cells, cells.size(), max_panel_side));
  add_report(folder, "zoom.json", report_json(options, device, region, panel));
  folder.commit();
  report(fmt::format("  {} x {} pixels at ({}, {}) of {}, {} times, on {} ({})\n{}", region.width,
                     region.height, region.x, region.y, options.image, options.factor,
                     device.info().name, device.info().id, files_line(folder)));
  return ExitStatus::ok;
}

constexpr const char* footer =
    "Output files: side-by-side.png, the four pictures (nearest.png, bilinear.png,\n"
    "cubic-without-prefilter.png, cubic.png), with 8 bits a sample, and zoom.json. The pictures "
    "show\n"
    "the region edge to edge: a pixel is a square of factor x factor.\n"
    "\n"
    "Examples:\n"
    "  warpalign experiment zoom photograph.png\n"
    "  warpalign experiment zoom photograph.png --factor 12 --region 200,150,40,40\n";

}  // namespace

void add_zoom_experiment(CLI::App& experiment, Action& chosen) {
  CLI::App& command = add_command(experiment, "zoom",
                                  "Show one detail by nearest, bilinear and cubic interpolation");
  auto options = std::make_shared<Options>();
  add_option(command, "IMAGE", &options->image, "Any image", required);
  add_option(command, "--factor N", &options->factor, "Enlargement", with_default);
  add_option(command, "--region X,Y,W,H", &options->region,
             "The detail, in pixels [64 x 64 in the middle]");
  add_folder_option(command, options->folder);
  add_device_options(command, options->device);
  add_message_options(command);
  set_footer(command, footer);
  set_action(command, chosen, [options] { return run(*options); });
}

}  // namespace warpalign::program
