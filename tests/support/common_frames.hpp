// The stage common_frames on devices and in the oracle, for its test and its property.
#pragma once

#include "reference/filter/common_frames.hpp"
#include "reference/plane.hpp"
#include "support/random_images.hpp"

#include <warpalign/backend/stages/filter/common_frames.hpp>
#include <warpalign/device.hpp>

#include <cstdint>
#include <vector>

namespace test {

/// The stage's input. Without `reference_weight` all pixels of the reference count.
struct CommonInput {
  std::vector<reference::Plane> reference, moving;  ///< one for each channel
  reference::Plane moving_weight;
  std::vector<reference::Plane> reference_weight;  ///< empty, or one plane
};

struct CommonSizes {
  Size images, part, frame;
};

struct FoundCommon {
  std::vector<reference::Plane> reference, moving;
  warpalign::CommonSums sums;
};

/// The input on a device.
class CommonOnDevice {
 public:
  CommonOnDevice(const warpalign::Device& device, warpalign::Stream& stream,
                 const CommonInput& input);
  [[nodiscard]] warpalign::CommonImages images() const;

 private:
  warpalign::Image weight_;
  std::vector<warpalign::Image> reference_, moving_, reference_weight_;
  std::vector<const warpalign::Image*> references_, movings_;
};

/// Values are uniform from -2 to 2, and their means are far from 0. At least half of the pixels of
/// each weight count.
CommonInput random_common_input(const Size& size, int channels, bool masked, std::uint32_t seed);

FoundCommon found_common(const warpalign::Device& device, const CommonInput& input,
                         const CommonSizes& sizes, double turned = 0);
reference::CommonFrames expected_common(const CommonInput& input, const CommonSizes& sizes,
                                        double turned = 0);

/// The largest error divided by the tolerance. `largest` is the largest absolute value of the
/// images. The number of pixels must be exact.
double common_error(const FoundCommon& found, const reference::CommonFrames& expected,
                    const CommonSizes& sizes, double largest);

}  // namespace test
