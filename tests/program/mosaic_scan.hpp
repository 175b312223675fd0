// Six tiles drawn from one texture at known positions, and runs of `mosaic` on them.
#pragma once

#include "io/image_file.hpp"
#include "program/picture.hpp"
#include "program/run_program.hpp"

#include <warpalign/geometry.hpp>

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace warpalign::test {

/// Of each tile.
inline constexpr Shape scan_tile{160, 160, 1};
/// What users are promised where every tile has texture, in pixels.
inline constexpr double promised_rms = 0.05;

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
      program::save_image(path(i), draw({}, scan_tile, channels, type,
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
  /// Copies the tiles to a folder, named in this order.
  [[nodiscard]] std::string reordered(const std::string& name,
                                      const std::vector<int>& order) const {
    const std::string copies = folder / name;
    std::filesystem::create_directory(copies);
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::filesystem::copy_file(path(order[i]), copies + fmt::format("/c{}.tif", i));
    }
    return copies;
  }
  [[nodiscard]] nlohmann::json report() const {
    return nlohmann::json::parse(read_text(folder / "m.json"));
  }
  /// The root mean square distance from the truth, without the mean.
  [[nodiscard]] double rms() const {
    const nlohmann::json tiles = report()["tiles"];
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

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace warpalign::test
