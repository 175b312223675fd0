// The positions of a mosaic's tiles: CSV files.
#include "io/mosaic/tile_positions.hpp"
#include "io/image_file.hpp"
#include "scratch_file.hpp"

#include <cmath>
#include <set>
#include <string>

namespace warpalign::fuzz {
namespace {

using namespace program;

void read_volumes(Input input) {
  try {
    const auto tiles = read_volume_positions(as_file(input));
    require(has_column_z(as_file(input)), "volumes have a column z");
    for (const VolumeTilePosition& tile : tiles) {
      require(!tile.file.empty(), "every volume has a file");
      require(std::isfinite(tile.position.z), "the planes' positions are finite");
    }
  } catch (const FileError&) {
  }
}

void run(Input input) {
  read_volumes(input);
  try {
    std::set<std::string> files;
    for (const TilePosition& tile : read_tile_positions(as_file(input))) {
      require(!tile.file.empty(), "every tile has a file");
      require(files.insert(tile.file).second, "no file is named twice");
      require(std::isfinite(tile.position.x) && std::isfinite(tile.position.y),
              "positions are finite");
    }
  } catch (const FileError&) {
  }
}

const Registration registration("tile_positions", run);

}  // namespace
}  // namespace warpalign::fuzz
