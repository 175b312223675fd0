// Pairs of images with exactly known truth, both drawn from one photograph.
#pragma once

#include "reference/plane.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/pixel.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace test {

/// A photograph of tests/data, as intensities from 0 to 255.
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
  /// the number of photograph pixels that a reference pixel covers, along each axis
  double pixel = 1.5;
};

/// Draws both images from the photograph. Each pixel is the mean over its own area (16 bilinear
/// samples). The reference lies in the middle of the photograph; beyond the photograph's edges the
/// nearest pixel is repeated.
Pair cut(const reference::Plane& photograph, const Cut& cut);

/// The same for a homography between images of one shape. `truth` is the affine approximation of
/// the homography at the reference's centre.
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
