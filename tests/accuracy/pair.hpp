// Pairs of pictures with exactly known truth, both drawn once from one scene.
#pragma once

#include "accuracy/originals.hpp"
#include "accuracy/recipe.hpp"

#include <warpalign/geometry.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace accuracy {

struct Picture {
  warpalign::Shape shape;
  std::vector<std::uint8_t> pixels;
};

struct Pair {
  std::string original;  ///< "a.jpg", or "a.jpg | b.jpg"
  bool related = true;   ///< otherwise `similarity` and `truth` mean nothing
  Recipe recipe;
  warpalign::Similarity similarity;  ///< of the truth, after its corners have moved
  warpalign::Homography truth;       ///< reference pixels -> moving pixels
  double common = 0;                 ///< common part of the picture that shows less
  Picture reference;
  Picture moving;
};

/// What identifies a pair: the same values give the same pixels.
struct PairId {
  std::uint64_t seed = 1;
  std::size_t group = 0;  ///< in all_groups()
  std::size_t index = 0;
};

/// Points of the scene that a pixel covers at least.
inline constexpr double min_pixel = 1.5;

/// Sides of the pictures are at most `side` pixels; less where the original is too small to show
/// the pair at least `min_pixel_points` points a pixel.
[[nodiscard]] Pair make_pair(const Originals& originals, const PairId& id, std::int64_t side);

/// Where the two pictures of a pair lie in a scene, before exposure.
struct Placement {
  warpalign::Homography reference_to_scene;
  warpalign::Homography moving_to_scene;
};

/// Places the picture that shows more at `middle`, turned by `turn_deg`; the finer one's pixels
/// cover `min_pixel_points` points. `distortion` maps the reference to itself before `similarity`.
[[nodiscard]] Placement place(const Scene& scene, const warpalign::Shape& reference,
                              const warpalign::Shape& moving,
                              const warpalign::Similarity& similarity, warpalign::Point middle,
                              double turn_deg, const warpalign::Homography& distortion = {});

}  // namespace accuracy
