// The pattern that is fixed to the sensor, over the frames of a stack.
#pragma once

#include "commands/stack_input.hpp"

#include <warpalign/device.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/sensor_pattern.hpp>

#include <optional>

namespace warpalign::program {

/// Finds the pattern in up to 12 frames that are spread over the stack, or, if the input is a pipe,
/// in the first ones. `mask`: null, or 0 where pixels are ignored.
[[nodiscard]] std::optional<SensorPattern> find_pattern(const Device& device,
                                                        const RegistrationOptions& options,
                                                        const LoadedImage* mask, StackInput& input);

/// Subtracts a pattern, multiplied by `gain`, from each channel of an image.
void subtract_pattern_in(LoadedImage& image, const SensorPattern& pattern, double gain = 1);

/// By what factor the luminance of an image that is no frame shows a pattern; 0 if it does not.
/// `mask`: null, or 0 where pixels are ignored.
[[nodiscard]] double pattern_gain_in(const LoadedImage& image, const SensorPattern& pattern,
                                     const LoadedImage* mask);

}  // namespace warpalign::program
