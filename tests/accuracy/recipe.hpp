// The groups of pairs, and what is chosen at random for one pair of a group.
#pragma once

#include "accuracy/exposure.hpp"
#include "accuracy/random.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace accuracy {

enum class From {
  textured,        ///< one original with texture
  faint,           ///< one with hardly any
  two_originals,   ///< the pictures show different originals
  disjoint_parts,  ///< the pictures show different parts of one synthetic original
};

/// What is asked of a pair; shapes, place and translation follow from it and from the original.
struct Recipe {
  From from = From::textured;
  double rotation_deg = 0;
  double scale = 1;
  double min_shift = 0;     ///< of the centre, as a part of the picture's side
  double max_shift = 0.15;   ///< likewise, of the picture that shows more
  double min_common = 0;    ///< common part of the picture that shows less
  double min_of_large = 0;  ///< common part of the picture that shows more
  double reduced = 1;         ///< side of the picture that shows more, against the other's
  bool odd_sizes = false;     ///< four different sides, odd or prime
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
