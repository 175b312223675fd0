// `warpalign mosaic --motion` end to end, on tiles that each are rotated in their own way.
#include "program/mosaic_scan.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <vector>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

/// A scan whose tiles are rotated about their middles, and scaled.
struct RotatedScan : Scan {
  std::vector<double> angles;  ///< in degrees
  std::vector<double> scales;

  explicit RotatedScan(double most_scaled = 0) {
    for (int i = 0; i < 6; ++i) {
      const auto at = static_cast<std::size_t>(i);
      angles.push_back(2.5 * std::sin(2.9 * i + 1));
      scales.push_back(1 + most_scaled * std::cos(1.3 * i));
      const double cos = scales[at] * std::cos(angles[at] * std::numbers::pi / 180);
      const double sin = scales[at] * std::sin(angles[at] * std::numbers::pi / 180);
      constexpr double middle = 79.5;
      const Affine about_middle{cos, -sin, middle - cos * middle + sin * middle,
                                sin, cos,  middle - sin * middle - cos * middle};
      save_image(path(i), draw({}, scan_tile, 1, PixelType::u16,
                               Affine::translation(truth[at].x, truth[at].y) * about_middle));
    }
    write_positions();
  }
  /// The angles of the report's matrices from the drawn ones, without their mean.
  [[nodiscard]] double largest_angle_error() const {
    std::vector<double> off;
    double mean = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      const json matrix = report()["tiles"][i]["matrix"];
      const double angle = std::atan2(matrix[1][0].get<double>(), matrix[0][0].get<double>()) *
                           180 / std::numbers::pi;
      off.push_back(angle - angles[i]);
      mean += off.back() / 6;
    }
    double largest = 0;
    for (const double value : off) largest = std::max(largest, std::abs(value - mean));
    return largest;
  }
};

TEST_CASE("mosaic --motion rigid finds how each tile is rotated, and writes all files") {
  require_test_device();
  const RotatedScan scan;
  const Outcome outcome =
      scan.run_positions({"--motion", "rigid", "--output", scan.folder / "m.ome.tif", "--report",
                          scan.folder / "m.html", "--located", scan.folder / "m.xml"});
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.out, "7 of 7 used"));
  CHECK(contains(outcome.out, "rigid: tiles are rotated by up to 2."));
  CHECK(scan.largest_angle_error() < 0.01);  // degrees: 0.02 pixels at a tile's corner
  const json report = scan.report();
  CHECK(report["motion"] == "rigid");
  CHECK(report["distortion"].is_null());
  CHECK(report["rms_residual"].get<double>() < promised_rms);
  CHECK(report["tiles"][0]["matrix"].size() == 2);
  CHECK(report["pairs"][0]["matrix"].size() == 2);
  const LoadedImage picture = load_image(scan.folder / "m.ome.tif");
  CHECK(picture.width == report["width"]);
  CHECK(picture.height == report["height"]);
  // The page draws tiles as rotated quadrilaterals.
  CHECK(contains(read_text(scan.folder / "m.html"), "<polygon points="));
  const std::string xml = read_text(scan.folder / "m.xml");
  const json matrix = report["tiles"][1]["matrix"];
  CHECK(contains(xml, fmt::format("<affine>{:.10f} {:.10f} 0.0 {:.6f}", matrix[0][0].get<double>(),
                                  matrix[0][1].get<double>(), matrix[0][2].get<double>())));
}

TEST_CASE("mosaic writes matrices of three rows for homographies") {
  require_test_device();
  const RotatedScan scan(0.01);
  REQUIRE(scan.run_positions({"--motion", "similarity"}).status == 0);
  const json first = scan.report();
  CHECK(first["tiles"][0]["matrix"].size() == 2);
  const double a = first["tiles"][2]["matrix"][0][0];
  const double d = first["tiles"][2]["matrix"][1][0];
  const double b = first["tiles"][4]["matrix"][0][0];
  const double e = first["tiles"][4]["matrix"][1][0];
  CHECK(std::hypot(a, d) / std::hypot(b, e) ==
        doctest::Approx(scan.scales[2] / scan.scales[4]).epsilon(2e-4));
  REQUIRE(scan.run_positions({"--motion", "homography"}).status == 0);
  const json matrix = scan.report()["tiles"][0]["matrix"];
  REQUIRE(matrix.size() == 3);
  CHECK(matrix[2][2] == 1);
}

TEST_CASE("mosaic refuses what does not go with a motion") {
  const RotatedScan scan;
  const auto refusal = [&](const std::vector<std::string>& options) {
    const Outcome outcome = scan.run_positions(options);
    CHECK(outcome.status == 2);
    return outcome.err;
  };
  CHECK(contains(refusal({"--motion", "affine"}),
                 "choose from: translation, rigid, similarity, homography"));
  CHECK(contains(refusal({"--motion", "rigid", "--no-distortion"}), "omit it"));
  CHECK(contains(refusal({"--motion", "rigid", "--located", scan.folder / "m.csv"}),
                 "positions only"));
  CHECK(contains(refusal({"--motion", "rigid", "--located", scan.folder / "m.ome.xml"}),
                 "positions only"));
  CHECK(contains(refusal({"--motion", "homography", "--located", scan.folder / "m.xml"}),
                 "no format of positions can hold homographies"));
}

}  // namespace
}  // namespace warpalign::test
