// The groups of pairs, and what is chosen at random for one pair of a group.
#pragma once

#include "accuracy/exposure.hpp"
#include "accuracy/random.hpp"

#include <warpalign/geometry.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace accuracy {

enum class From {
  textured,        ///< one original with texture
  faint,           ///< one with hardly any
  two_originals,   ///< the images show different originals
  disjoint_parts,  ///< the images show different parts of one synthetic original
};

/// The specification of a pair; its shapes, position and translation follow from it and the
/// original.
struct Recipe {
  From from = From::textured;
  double rotation_deg = 0;
  double scale = 1;
  double min_shift = 0;     ///< of the centre, relative to the image's side
  double max_shift = 0.15;  ///< likewise, for the image that shows more
  double min_common = 0;    ///< overlap, relative to the image that shows less
  double min_of_large = 0;  ///< overlap, relative to the image that shows more
  double reduced = 1;       ///< side of the image that shows more, relative to the other's
  bool odd_sizes = false;   ///< four different sides, odd or prime
  /// How far the reference's corners move before the similarity, relative to its side: top left,
  /// top right, bottom right, bottom left.
  std::array<warpalign::Point, 4> corners{};
  Exposure reference;
  Exposure moving;
};

struct Group {
  const char* name;
  const char* content;
  Recipe (*recipe)(Random& random, std::size_t index);
};

/// In the order in which they are reported.
[[nodiscard]] const std::vector<Group>& all_groups();

}  // namespace accuracy
