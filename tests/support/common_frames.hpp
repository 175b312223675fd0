// What two images have in common, on devices and by the oracle: shared by the stage's tests.
#pragma once

#include "reference/filter/common_frames.hpp"
#include "reference/plane.hpp"
#include "support/random_images.hpp"

#include <warpalign/backend/stages/filter/common_frames.hpp>
#include <warpalign/device.hpp>

#include <cstdint>
#include <vector>

namespace test {

/// What the stage reads. Without `reference_weight` all pixels of the reference count.
struct CommonInput {
  std::vector<reference::Plane> reference, moving;  ///< one for each channel
  reference::Plane moving_weight;
  std::vector<reference::Plane> reference_weight;  ///< one or none
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

/// Values are uniform from -2 to 2, with means far from 0; half of each weight and more counts.
CommonInput random_common_input(const Size& size, int channels, bool masked, std::uint32_t seed);

FoundCommon found_common(const warpalign::Device& device, const CommonInput& input,
                         const CommonSizes& sizes, double turned = 0);
reference::CommonFrames expected_common(const CommonInput& input, const CommonSizes& sizes,
                                        double turned = 0);

/// The largest error as a multiple of what is allowed; `largest` of the images' values. The number
/// of pixels must be right.
double common_error(const FoundCommon& found, const reference::CommonFrames& expected,
                    const CommonSizes& sizes, double largest);

}  // namespace test
