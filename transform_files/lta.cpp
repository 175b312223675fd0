// FreeSurfer's .lta: a matrix that maps the source (the moving image) to the destination (the
// reference), in voxels or in RAS millimetres, and both images' geometries.
#include "formats.hpp"
#include "freesurfer.hpp"
#include "matrices.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <map>

namespace warpalign::transform_files {
namespace {

constexpr int voxels_to_voxels = 0;
constexpr int ras_to_ras = 1;

/// "key = value", of which a comment may follow.
using Values = std::map<std::string, std::string, std::less<>>;

bool add_value(Values& values, std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view value = line.substr(equals + 1);
  values[std::string(trimmed(line.substr(0, equals)))] = trimmed(value.substr(0, value.find('#')));
  return true;
}

std::vector<double> numbers(const Values& values, const std::string& key, std::size_t count) {
  const auto found = values.find(key);
  if (found == values.end()) refuse("'" + key + "' is missing; the file may be cut short");
  std::vector<double> all = numbers_of(found->second, key);
  expect_count(all, count, key);
  return all;
}

/// The geometry of a "volume info", which tells the RAS coordinates of the middle of the volume.
std::optional<PointGrid> grid_of_info(const Values& info) {
  if (numbers(info, "valid", 1)[0] == 0) return std::nullopt;
  FreeSurferVolume volume;
  const auto read = [&](std::array<double, 3>& target, const char* key) {
    const std::vector<double> three = numbers(info, key, 3);
    std::copy(three.begin(), three.end(), target.begin());
  };
  read(volume.size, "volume");
  read(volume.spacing, "voxelsize");
  read(volume.direction[0], "xras");
  read(volume.direction[1], "yras");
  read(volume.direction[2], "zras");
  read(volume.centre, "cras");
  return grid_of(volume);
}

std::string info_of(const std::optional<PointGrid>& grid) {
  if (!grid) return "valid = 0  # volume info invalid\n";
  const FreeSurferVolume volume = freesurfer_volume_of(*grid);
  return "valid = 1  # volume info valid\nfilename = volume.mgz\nvolume = " + text_of(volume.size) +
         "\nvoxelsize = " + text_of(volume.spacing) + "\nxras   = " + text_of(volume.direction[0]) +
         "\nyras   = " + text_of(volume.direction[1]) +
         "\nzras   = " + text_of(volume.direction[2]) + "\ncras   = " + text_of(volume.centre) +
         "\n";
}

}  // namespace

TransformFile read_lta(std::string_view text) {
  Values header, source, destination;
  Values* values = &header;
  std::vector<double> elements;
  Lines lines(text);
  while (const auto line = lines.next()) {
    if (line->starts_with('#')) continue;
    if (line->starts_with("src volume info")) {
      values = &source;
    } else if (line->starts_with("dst volume info")) {
      values = &destination;
    } else if (*line == "1 4 4" && elements.empty()) {
      for (int row = 0; row < 4; ++row) {
        const std::vector<double> four = numbers_of(lines.expect("the matrix' end"), "the matrix");
        expect_count(four, 4, "a row of the matrix");
        elements.insert(elements.end(), four.begin(), four.end());
      }
    } else {
      add_value(*values, *line);  // Other lines are of no concern here: "subject", "fscale".
    }
  }
  const double type = numbers(header, "type", 1)[0];
  if (numbers(header, "nxforms", 1)[0] != 1) refuse("it does not hold one transform");
  expect_count(elements, 16, "the matrix");
  HomogeneousMatrix matrix;
  std::copy(elements.begin(), elements.end(), matrix.m.begin());
  if (!matrix.is_affine()) refuse("the last row of the matrix is not 0 0 0 1");
  TransformFile file;
  file.geometry = {grid_of_info(destination), grid_of_info(source)};
  const HomogeneousMatrix pull = inverse_of(matrix);
  if (type == voxels_to_voxels) {
    file.transforms = {affine(3, pull, Coordinates::pixels)};
  } else if (type == ras_to_ras) {
    file.transforms = {affine(3, product(lps_ras(), product(pull, lps_ras())), Coordinates::world)};
  } else {
    refuse("its type is " + text_of(type) + "; 0 (voxels) and 1 (RAS) are supported: convert it " +
           "with lta_convert");
  }
  return file;
}

std::string write_lta(const Transform& transform, const Geometry& geometry) {
  if (transform.dimensions() != 3) refuse("an .lta file holds a transform of volumes");
  const HomogeneousMatrix world = affine_part(transform, "an .lta file");
  const HomogeneousMatrix push = inverse_of(product(lps_ras(), product(world, lps_ras())));
  std::string text =
      "# transform file written by warpalign\n"
      "type      = 1 # LINEAR_RAS_TO_RAS\n"
      "nxforms   = 1\nmean      = 0 0 0\nsigma     = 1\n1 4 4\n";
  for (std::size_t row = 0; row < 4; ++row) {
    text += text_of(std::span(push.m).subspan(4 * row, 4)) + "\n";
  }
  return text + "src volume info\n" + info_of(geometry.moving) + "dst volume info\n" +
         info_of(geometry.reference);
}

}  // namespace warpalign::transform_files
