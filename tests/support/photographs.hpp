// Pairs of images with exactly known truth, both drawn from one photograph.
#pragma once

#include "reference/plane.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace test {

/// A photograph of tests/data as grey levels 0 to 255.
reference::Plane photograph(const std::string& name);

struct Pair {
  reference::Plane reference;
  reference::Plane moving;
  warpalign::Affine truth;  ///< reference pixels -> moving pixels
};

/// How a pair is cut out of a photograph.
struct Cut {
  warpalign::Shape reference;        ///< of the reference image
  warpalign::Shape moving;           ///< of the moving image
  warpalign::Similarity similarity;  ///< between them
  double pixel = 1.5;                ///< photograph pixels a reference pixel covers
};

/// Draws both images once from the photograph, each pixel the mean over its own area (16 bilinear
/// samples). The reference lies in the photograph's middle; beyond the photograph's
/// edges the nearest pixel is repeated.
Pair cut(const reference::Plane& photograph, const Cut& cut);

/// The same for any homography between the images, which have one shape; `truth` is what agrees
/// with it at the reference's centre.
Pair cut_by(const reference::Plane& photograph, const warpalign::Shape& shape,
            const warpalign::Homography& reference_to_moving, double pixel = 1.5);

template <class Pixel>
std::vector<Pixel> rounded(const reference::Plane& plane, double gain = 1) {
  std::vector<Pixel> pixels;
  pixels.reserve(plane.values.size());
  for (const double value : plane.values) {
    pixels.push_back(static_cast<Pixel>(gain * value + 0.5));
  }
  return pixels;
}

}  // namespace test
