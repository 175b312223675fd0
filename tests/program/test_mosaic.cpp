// `warpalign mosaic` end to end, on tiles drawn from one texture at known positions.
#include "io/image_file.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"

#include <warpalign/geometry.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <tiffio.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace warpalign::test {
namespace {

using namespace program;
using nlohmann::json;

const Shape tile{160, 160, 1};
// What users are promised where every tile has texture, in pixels.
constexpr double promised_rms = 0.05;

/// Six tiles, 2 rows of 3, whose stage is wrong by pixels.
struct Scan {
  ScratchFolder folder;
  std::vector<std::string> names;
  std::vector<Point> truth;
  std::vector<Point> nominal;

  explicit Scan(PixelType type = PixelType::u16, int channels = 1) {
    std::filesystem::create_directory(folder / "scan");
    for (int i = 0; i < 6; ++i) {
      const Point stage{124.0 * (i % 3), 124.0 * (i / 3)};
      nominal.push_back(stage);
      truth.push_back({stage.x + 3.3 * std::sin(1.7 * i), stage.y + 2.9 * std::cos(2.3 * i)});
      names.push_back(fmt::format("t{}.tif", i));
      save_image(path(i), draw({}, tile, channels, type,
                               Affine::translation(truth.back().x, truth.back().y)));
    }
  }
  [[nodiscard]] std::string path(int i) const {
    return folder / ("scan/" + names[static_cast<std::size_t>(i)]);
  }
  void write_positions(double factor = 1, bool exchanged = false) const {
    std::ofstream csv(folder / "stage.csv");
    csv << "file,x,y\n";
    for (std::size_t i = 0; i < names.size(); ++i) {
      const double x = factor * nominal[i].x;
      const double y = factor * nominal[i].y;
      csv << names[i] << "," << (exchanged ? y : x) << "," << (exchanged ? x : y) << "\n";
    }
  }
  [[nodiscard]] Outcome run(const std::vector<std::string>& options) const {
    std::vector<std::string> arguments{"mosaic",      folder / "scan", "--device",
                                       test_device(), "--json",        folder / "m.json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_program(arguments);
  }
  [[nodiscard]] Outcome run_positions(std::vector<std::string> options = {}) const {
    options.insert(options.end(), {"--positions", folder / "stage.csv"});
    return run(options);
  }
  [[nodiscard]] json report() const { return json::parse(read_text(folder / "m.json")); }
  /// The root mean square distance from the truth, without the mean.
  [[nodiscard]] double rms() const {
    const json tiles = report()["tiles"];
    Point mean;
    for (std::size_t i = 0; i < 6; ++i) {
      mean.x += (tiles[i]["matrix"][0][2].get<double>() - truth[i].x) / 6;
      mean.y += (tiles[i]["matrix"][1][2].get<double>() - truth[i].y) / 6;
    }
    double sum = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      sum += std::pow(tiles[i]["matrix"][0][2].get<double>() - truth[i].x - mean.x, 2) +
             std::pow(tiles[i]["matrix"][1][2].get<double>() - truth[i].y - mean.y, 2);
    }
    return std::sqrt(sum / 6);
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("mosaic locates tiles from a CSV file, and writes picture and JSON") {
  require_test_device();
  for (const auto& [type, channels] :
       {std::pair{PixelType::u16, 1}, {PixelType::u8, 3}, {PixelType::f32, 1}}) {
    CAPTURE(name_of(type));
    const Scan scan(type, channels);
    scan.write_positions();
    const Outcome outcome = scan.run_positions({"--output", scan.folder / "m.ome.tif"});
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    CHECK(contains(outcome.out, "7 of 7 used"));
    CHECK(scan.rms() < promised_rms);
    const json report = scan.report();
    CHECK(report["tiles"][2]["file"] == "t2.tif");
    CHECK(report["tiles"][2]["placed_by"] == "pairs");
    CHECK(report["tiles"][2]["matrix"][0][0] == 1);
    CHECK(report["tiles"][2]["matrix"][1][0] == 0);
    CHECK(report["components"].size() == 1);
    const LoadedImage picture = load_image(scan.folder / "m.ome.tif");
    CHECK(picture.width == report["width"]);
    CHECK(picture.height == report["height"]);
    CHECK(picture.channels == channels);
    CHECK(picture.type == type);
  }
}

TEST_CASE("mosaic takes a grid, and positions in micrometres") {
  require_test_device();
  const Scan scan;
  CHECK(scan.run({"--grid", "2x3", "--overlap", "22.5"}).status == 0);
  CHECK(scan.rms() < promised_rms);
  scan.write_positions(0.65);
  CHECK(scan.run_positions({"--unit", "um", "--pixel-size", "0.65"}).status == 0);
  CHECK(scan.rms() < promised_rms);
  const Outcome wrong = scan.run({"--grid", "2x4", "--overlap", "20"});
  CHECK(wrong.status == 2);
  CHECK(contains(wrong.err, "has 6 images, but --grid 2x4 needs 8"));
}

TEST_CASE("mosaic explains positions that do not fit") {
  require_test_device();
  const Scan scan;
  scan.write_positions(1, true);
  const Outcome exchanged = scan.run_positions();
  CHECK(exchanged.status == 2);
  CHECK(contains(exchanged.err, "with x and y exchanged"));
  scan.write_positions(0.65);
  const Outcome unit = scan.run_positions();
  CHECK(unit.status == 2);
  CHECK(contains(unit.err, "multiplied by 1.5"));
  CHECK_FALSE(std::filesystem::exists(scan.folder / "m.json"));
}

TEST_CASE("mosaic refuses bad tiles by name, and leaves no output") {
  require_test_device();
  const Scan scan;
  scan.write_positions();
  const std::vector<std::string> output{"--output", scan.folder / "m.ome.tif"};
  const auto refused = [&](const std::string& part) {
    const Outcome outcome = scan.run_positions(output);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, part));
    CHECK_FALSE(std::filesystem::exists(scan.folder / "m.json"));
    CHECK_FALSE(std::filesystem::exists(scan.folder / "m.ome.tif"));
  };
  const LoadedImage kept = load_image(scan.path(4));
  std::filesystem::remove(scan.path(4));
  refused("t4.tif: does not exist");
  save_image(scan.path(4), draw({}, {150, 160, 1}, 1, PixelType::u16, {}));
  refused("t4.tif: is 150 x 160, gray, 16 bit, but");
  save_image(scan.path(4), draw({}, tile, 1, PixelType::u8, {}));
  refused("the tiles of a mosaic must be of one kind");
  save_image(scan.path(4), load_image(scan.path(3)));
  refused("is the same picture as");
  save_image(scan.path(4), kept);
  CHECK(scan.run_positions(output).status == 0);
}

TEST_CASE("mosaic refuses bad CSV files with the line") {
  const Scan scan;
  const auto refused = [&](const std::string& text, const std::string& part) {
    std::ofstream(scan.folder / "stage.csv") << text;
    const Outcome outcome = scan.run_positions();
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, part));
  };
  refused("file,x\nt0.tif,1\n", "no column 'y'");
  refused("file,x,y\nt0.tif,1,2\nt1.tif,one,2\n", "line 3: x is 'one'");
  refused("file,x,y\nt0.tif,1,2\nt0.tif,3,4\n", "line 3: t0.tif is on line 2 already");
  refused("file,x,y\nt0.tif,1\n", "line 2 has 2 fields");
  refused("file,x,y\nt0.tif,1,2\n", "has 1 tiles");
  refused("file,x,y\nt0.tif,1,2\nt1.tif,1,2\n", "t0.tif and t1.tif have the same position");
  refused("file,x,y\nt0.tif,0,0\n\"t1.tif\",nan,2\n", "line 3: x is 'nan'");
}

TEST_CASE("mosaic marks an empty tile, which follows the stage") {
  require_test_device();
  const Scan scan;
  save_image(scan.path(1), make_image(tile.width, tile.height, 1, PixelType::u16));
  scan.write_positions();
  const Outcome outcome = scan.run_positions();
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.out, "1 tiles have no used pair"));
  const json report = scan.report();
  CHECK(report["tiles"][1]["placed_by"] == "stage");
  for (const json& pair : report["pairs"]) {
    const bool empty = pair["reference"] == "t1.tif" || pair["moving"] == "t1.tif";
    CHECK(pair["used"] == !empty);
    CHECK(pair["reason"].is_null() == !empty);
  }
}

TEST_CASE("the levels of a mosaic halve the picture") {
  require_test_device();
  const Scan scan(PixelType::u8);
  scan.write_positions();
  REQUIRE(scan.run_positions().status == 0);
  // Tiles of the scan are too small for levels: a wide pair of tiles is not.
  std::filesystem::create_directory(scan.folder / "wide");
  for (int i = 0; i < 2; ++i) {
    save_image(scan.folder / fmt::format("wide/w{}.png", i),
               draw({}, {900, 200, 1}, 1, PixelType::u8, Affine::translation(800.25 * i, 0)));
  }
  const std::string output = scan.folder / "wide.ome.tif";
  REQUIRE(run_program({"mosaic", scan.folder / "wide", "--device", test_device(), "--grid", "1x2",
                       "--overlap", "11", "--output", output})
              .status == 0);
  TIFF* file = TIFFOpen(output.c_str(), "r");
  REQUIRE(file != nullptr);
  std::uint16_t levels = 0;
  toff_t* offsets = nullptr;
  REQUIRE(TIFFGetField(file, TIFFTAG_SUBIFD, &levels, &offsets) == 1);
  CHECK(levels == 1);
  std::uint32_t width = 0;
  std::uint32_t half = 0;
  TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &width);
  REQUIRE(TIFFSetSubDirectory(file, offsets[0]) == 1);
  TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &half);
  TIFFClose(file);
  CHECK(half == (width + 1) / 2);
}

}  // namespace
}  // namespace warpalign::test
