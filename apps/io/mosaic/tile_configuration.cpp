// Fiji's TileConfiguration.txt: where the tiles of a mosaic lie.
#include "io/mosaic/tile_configuration.hpp"

#include "io/image_file.hpp"
#include "io/image_name.hpp"

#include <fmt/format.h>

#include <cmath>
#include <regex>
#include <set>
#include <sstream>

namespace warpalign::program {
namespace {

/// A finite number, or nothing.
std::optional<double> finite_number(const std::string& text) {
  std::istringstream stream(text);
  stream.imbue(std::locale::classic());
  double number = 0;
  if (!(stream >> number) || !(stream >> std::ws).eof() || !std::isfinite(number)) return {};
  return number;
}

}  // namespace

std::vector<TilePosition> read_tile_configuration(const std::filesystem::path& path) {
  static const std::regex tile(R"(\s*([^;]+?)\s*;\s*(\d*)\s*;\s*\(([^,()]+),([^,()]+)\)\s*)");
  static const std::regex dimensions(R"(\s*dim\s*=\s*(\d+)\s*)");
  static const std::regex ignored(R"(\s*(#.*)?)");
  const auto wrong = [&](std::size_t line, const std::string& why) {
    return FileError(fmt::format("{}: line {}: {}", path.string(), line, why));
  };
  std::vector<TilePosition> tiles;
  std::set<std::string> names;
  std::istringstream lines(read_position_text(path));
  std::string text;
  for (std::size_t line = 1; std::getline(lines, text); ++line) {
    std::smatch match;
    if (std::regex_match(text, ignored)) continue;
    if (std::regex_match(text, match, dimensions)) {
      if (match[1] == "2") continue;
      throw wrong(
          line, fmt::format("has {} dimensions; tiles of 2 dimensions are needed", match[1].str()));
    }
    if (!std::regex_match(text, match, tile)) {
      throw wrong(line, "is not of the form 'file; ; (x, y)'");
    }
    const std::string image = match[2].length() > 0
                                  ? fmt::format("{}[{}]", match[1].str(), match[2].str())
                                  : match[1].str();
    if (!names.insert(image).second) throw wrong(line, image + " is named twice");
    const std::optional<double> x = finite_number(match[3]);
    const std::optional<double> y = finite_number(match[4]);
    if (!x || !y) throw wrong(line, "the position is not two finite numbers");
    tiles.push_back({image, {*x, *y}});
  }
  return tiles;
}

std::string tile_configuration(std::span<const TilePosition> tiles) {
  std::string text =
      "# Define the number of dimensions we are working on\ndim = 2\n\n"
      "# Define the image coordinates\n";
  for (const TilePosition& tile : tiles) {
    const ImageName name = image_name(tile.file);
    text +=
        fmt::format("{}; {}; ({:.6f}, {:.6f})\n", name.file.string(),
                    name.page ? std::to_string(*name.page) : "", tile.position.x, tile.position.y);
  }
  return text;
}

}  // namespace warpalign::program
