// Finds how the channels of a recording are shifted against each other.
#pragma once

#include "commands/stack_input.hpp"
#include "io/image_file.hpp"
#include "reports/stack_report.hpp"

#include <warpalign/device.hpp>
#include <warpalign/registrar.hpp>

#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// The channel to which the others are aligned: the one that is registered, or the one with the
/// largest weight.
[[nodiscard]] std::size_t reference_channel(const RegisteredBy& by);

/// What --align-channels names: a motion, or a file of transforms. Throws UsageError for a motion
/// that it does not offer.
struct ChannelAlignmentChoice {
  std::optional<Motion> motion;
  std::string file;  ///< without a motion
};
[[nodiscard]] ChannelAlignmentChoice channel_alignment_choice(const std::string& text);

/// The transforms from a file, one for each channel of the recording, or of all but the reference
/// channel. `crop`: where the frames lie in those for which the transforms were found. Throws
/// FileError, and UsageError for another number of transforms.
[[nodiscard]] std::vector<ChannelTransform> load_channel_transforms(const std::string& file,
                                                                    std::size_t channels,
                                                                    std::size_t reference,
                                                                    const Point& crop);

/// Registers the means of all channels, over up to 32 frames distributed over the recording, which
/// are aligned by `frames`. Throws UsageError if a channel does not register reliably.
[[nodiscard]] std::vector<ChannelTransform> find_channel_transforms(
    const Device& device, Motion motion, const RegistrationOptions& frames, const StackInput& input,
    const RegisteredBy& by);

}  // namespace warpalign::program
