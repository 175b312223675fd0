// `warpalign mosaic --flat-field` and `--dark`, on tiles with uneven illumination.
#include "program/mosaic_scan.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>

namespace warpalign::test {
namespace {

using namespace program;

constexpr double dark_level = 400;

/// The brightness of each pixel of a tile: a vignette, and a gain of its own for each pixel.
std::vector<double> uneven_light(double gain_deviation) {
  std::mt19937 random(11);
  std::normal_distribution<double> gain(1, gain_deviation);
  std::vector<double> light;
  for (int y = 0; y < scan_tile.height; ++y) {
    for (int x = 0; x < scan_tile.width; ++x) {
      const double u = (x - 70.0) / 80;
      const double v = (y - 80.0) / 80;
      light.push_back((0.95 - 0.22 * u * u - 0.2 * v * v) * std::clamp(gain(random), 0.2, 1.8));
    }
  }
  return light;
}

LoadedImage numbers_image(const std::vector<double>& numbers) {
  LoadedImage image = make_image(scan_tile.width, scan_tile.height, 1, PixelType::f32);
  std::copy(numbers.begin(), numbers.end(), image.samples<float>().begin());
  return image;
}

/// Darkens the tiles of a scan, and writes light.tif and dark.tif beside it.
void darken(const Scan& scan, const std::vector<double>& light) {
  for (int i = 0; i < 6; ++i) {
    LoadedImage image = load_image(scan.path(i));
    const std::span<std::uint16_t> pixels = image.samples<std::uint16_t>();
    const std::size_t channels = pixels.size() / light.size();
    for (std::size_t p = 0; p < pixels.size(); ++p) {
      pixels[p] =
          static_cast<std::uint16_t>(std::lround(light[p / channels] * pixels[p] + dark_level));
    }
    save_image(scan.path(i), image);
  }
  // In any unit.
  std::vector<double> doubled = light;
  for (double& value : doubled) value *= 2;
  save_image(scan.folder / "light.tif", numbers_image(doubled));
  save_image(scan.folder / "dark.tif",
             numbers_image(std::vector<double>(light.size(), dark_level)));
}

/// The root mean square difference of two pictures of one size away from their edges, divided by
/// the mean, if `other` is brighter by `factor` and `offset`.
double difference(const LoadedImage& picture, const LoadedImage& other, double factor,
                  double offset) {
  REQUIRE(std::abs(picture.width - other.width) <= 1);
  double squares = 0;
  double sum = 0;
  std::size_t count = 0;
  for (std::int64_t y = 20; y < std::min(picture.height, other.height) - 20; ++y) {
    for (std::int64_t x = 20 * picture.channels; x < (picture.width - 20) * picture.channels; ++x) {
      const auto at = [&](const LoadedImage& image) {
        return static_cast<double>(image.samples<std::uint16_t>()[static_cast<std::size_t>(
            y * image.width * image.channels + x)]);
      };
      squares += std::pow(at(picture) - (at(other) - offset) / factor, 2);
      sum += at(picture);
      ++count;
    }
  }
  return std::sqrt(squares / static_cast<double>(count)) / (sum / static_cast<double>(count));
}

double mean_of_numbers(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number;
  return sum / static_cast<double>(numbers.size());
}

TEST_CASE("mosaic divides tiles by a flat field") {
  require_test_device();
  for (const int channels : {1, 3}) {
    CAPTURE(channels);
    const Scan scan(PixelType::u16, channels);
    scan.write_positions();
    REQUIRE(scan.run_positions({"--output", scan.folder / "even.ome.tif"}).status == 0);
    const LoadedImage even = load_image(scan.folder / "even.ome.tif");
    const std::vector<double> light = uneven_light(0.02);
    darken(scan, light);
    const Outcome outcome =
        scan.run_positions({"--output", scan.folder / "m.ome.tif", "--flat-field",
                            scan.folder / "light.tif", "--dark", scan.folder / "dark.tif"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(contains(outcome.out, "flat field"));
    CHECK(scan.rms() < promised_rms);
    const double mean = mean_of_numbers(light);
    // Positions differ by less than promised_rms; the texture changes by some per cent a pixel.
    CHECK(difference(even, load_image(scan.folder / "m.ome.tif"), mean, dark_level) < 0.01);
    REQUIRE(scan.run_positions({"--output", scan.folder / "m.ome.tif"}).status == 0);
    CHECK(difference(even, load_image(scan.folder / "m.ome.tif"), mean, dark_level) > 0.1);
    const nlohmann::json none = scan.report()["flat_field"];
    CHECK(none.is_null());
  }
}

TEST_CASE("mosaic estimates the flat field from the tiles") {
  require_test_device();
  const Scan scan;
  scan.write_positions();
  REQUIRE(scan.run_positions({"--output", scan.folder / "even.ome.tif"}).status == 0);
  const LoadedImage even = load_image(scan.folder / "even.ome.tif");
  const std::vector<double> light = uneven_light(0);
  darken(scan, light);
  const auto off = [&](const std::vector<std::string>& options) {
    std::vector<std::string> all{"--output", scan.folder / "m.ome.tif"};
    all.insert(all.end(), options.begin(), options.end());
    const Outcome outcome = scan.run_positions(all);
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    return difference(even, load_image(scan.folder / "m.ome.tif"), mean_of_numbers(light),
                      dark_level);
  };
  const double uneven = off({});
  // Six tiles show much of their content to the estimate, yet less than the vignette.
  CHECK(off({"--flat-field", "auto", "--dark", scan.folder / "dark.tif"}) < 0.6 * uneven);
  const nlohmann::json field = scan.report()["flat_field"];
  CHECK(field["source"] == "auto");
  CHECK(field["dark"] == scan.folder / "dark.tif");
  CHECK(field["least"].get<double>() < 0.8);
  CHECK(field["largest"].get<double>() > 1.1);
}

TEST_CASE("mosaic registers tiles without the pattern of the camera") {
  require_test_device();
  const Scan scan;
  scan.write_positions();
  darken(scan, uneven_light(0.35));
  const Outcome with = scan.run_positions({"--flat-field", scan.folder / "light.tif", "--dark",
                                           scan.folder / "dark.tif", "--no-distortion"});
  CAPTURE(with.err);
  REQUIRE(with.status == 0);
  CHECK(scan.rms() < promised_rms);
  // Gains of the pixels that differ by a third hide the texture.
  const Outcome without = scan.run_positions({"--no-distortion"});
  CHECK((without.status != 0 || scan.rms() > promised_rms));
}

TEST_CASE("mosaic refuses wrong flat fields before it registers anything") {
  require_test_device();
  const Scan scan;
  scan.write_positions();
  darken(scan, uneven_light(0.02));
  const std::string flat = scan.folder / "light.tif";
  const auto refused = [&](const std::vector<std::string>& options, const std::string& part) {
    std::vector<std::string> all{"--output", scan.folder / "m.ome.tif"};
    all.insert(all.end(), options.begin(), options.end());
    const Outcome outcome = scan.run_positions(all);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, part));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK_FALSE(std::filesystem::exists(scan.folder / "m.ome.tif"));
    CHECK_FALSE(std::filesystem::exists(scan.folder / "m.json"));
  };
  refused({"--dark", flat}, "--dark: applies to --flat-field only");
  refused({"--nodata", "0", "--flat-field", flat}, "--nodata: --flat-field would change");
  refused({"--flat-field", scan.folder / "none.tif"}, "none.tif: ");
  const std::string bad = scan.folder / "bad.tif";
  for (const float wrong : {0.0F, -1.0F, std::numeric_limits<float>::quiet_NaN()}) {
    LoadedImage image = load_image(flat);
    image.samples<float>()[77] = wrong;
    save_image(bad, image);
    refused({"--flat-field", bad}, "bad.tif: the flat field must be above 0 and finite everywhere");
  }
  refused({"--flat-field", flat, "--dark", bad}, "bad.tif: dark must be finite everywhere");
  save_image(bad, make_image(100, 160, 1, PixelType::u8));
  refused({"--flat-field", bad}, "bad.tif: is 100 x 160, but the tiles are 160 x 160");
  save_image(bad, make_image(160, 160, 3, PixelType::u8));
  refused({"--flat-field", bad}, "bad.tif: has 3 channels, but the tiles have 1");
  refused({"--flat-field", flat, "--report", flat}, "--report");
  for (int i = 0; i < 6; ++i) {
    save_image(scan.path(i), make_image(scan_tile.width, scan_tile.height, 1, PixelType::u16));
  }
  refused({"--flat-field", "auto"}, "--flat-field auto: the illumination needs at least 3 tiles");
}

TEST_CASE("a flat field in the folder of the tiles is no tile") {
  require_test_device();
  const Scan scan;
  darken(scan, uneven_light(0.02));
  std::filesystem::copy_file(scan.folder / "light.tif", scan.folder / "scan/light.tif");
  std::filesystem::copy_file(scan.folder / "dark.tif", scan.folder / "scan/dark.tif");
  const Outcome outcome =
      scan.run({"--grid", "2x3", "--overlap", "22.5", "--flat-field",
                scan.folder / "scan/light.tif", "--dark", scan.folder / "scan/dark.tif"});
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(scan.rms() < promised_rms);
}

}  // namespace
}  // namespace warpalign::test
