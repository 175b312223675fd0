// Finds how the channels of a recording are shifted against each other.
#include "commands/channel_alignment.hpp"

#include "commands/affine_map.hpp"
#include "commands/running_mean.hpp"
#include "io/drift_file.hpp"
#include "io/luminance.hpp"
#include "io/registrable_image.hpp"
#include "io/usage_error.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

namespace warpalign::program {
namespace {

constexpr std::size_t frames_of_mean = 32;

struct MotionName {
  const char* name;
  Motion motion;
};
constexpr std::array channel_motions{
    MotionName{"translation", Motion::translation}, MotionName{"rigid", Motion::rigid},
    MotionName{"similarity", Motion::similarity}, MotionName{"affine", Motion::affine}};

/// The same choice of planes in z for another channel.
RegisteredBy by_channel(const RegisteredBy& by, std::size_t channel) {
  RegisteredBy other = by;
  other.channel = static_cast<int>(channel);
  other.weights.clear();
  return other;
}

/// The mean of each channel over some frames.
class ChannelMeans {
 public:
  ChannelMeans(const Device& device, const RegistrationOptions& options, const StackInput& input,
               const RegisteredBy& by)
      : shape_(input.first().image.shape()),
        registrar_(device, options),
        warper_(device, shape_, shape_) {
    const RecordingFormat format = input.recording();
    for (std::size_t c = 0; c < format.channels; ++c) {
      images_.emplace_back(by_channel(by, c), &format, input.first().name);
      means_.emplace_back(shape_, std::nullopt);
    }
  }

  /// Aligns a frame to the first one and adds it, if it registers.
  void add(const Frame& frame) {
    const Luminance gray(frame.image);
    Affine first_to_frame;
    try {
      if (std::exchange(has_first_, true)) {
        const RegistrationResult found = registrar_.align(view_of(gray.image()));
        if (!found.reliable) return;
        first_to_frame = found.matrix;
      } else {
        registrar_.set_reference(view_of(gray.image()));
      }
    } catch (const Error& error) {  // a constant frame, for example
      if (error.kind() != ErrorKind::invalid_argument) throw;
      return;
    }
    AffineMap map(first_to_frame, warper_);
    Frame channel{"", "", {}, "", frame.planes};
    for (std::size_t c = 0; c < images_.size(); ++c) {
      images_[c].set_image(channel);
      means_[c].add(channel.image, map);
    }
  }
  [[nodiscard]] LoadedImage mean(std::size_t channel) const { return means_[channel].mean(); }

 private:
  Shape shape_;
  Registrar registrar_;
  FrameWarper warper_;
  std::vector<RegisteredImage> images_;
  std::vector<RunningMean> means_;
  bool has_first_ = false;
};

}  // namespace

std::size_t reference_channel(const RegisteredBy& by) {
  if (by.weights.empty()) return static_cast<std::size_t>(by.channel.value_or(0));
  const auto heaviest = std::ranges::max_element(
      by.weights, [](double a, double b) { return std::abs(a) < std::abs(b); });
  return static_cast<std::size_t>(heaviest - by.weights.begin());
}

ChannelAlignmentChoice channel_alignment_choice(const std::string& text) {
  for (const MotionName& motion : channel_motions) {
    if (text == motion.name) return {motion.motion, ""};
  }
  std::error_code ignored;
  if (std::filesystem::is_regular_file(text, ignored)) return {{}, text};
  throw UsageError(
      fmt::format("invalid value '{}' for --align-channels (choose from: translation, rigid, "
                  "similarity, affine, the name of a file of transforms)",
                  text));
}

std::vector<ChannelTransform> load_channel_transforms(const std::string& file, std::size_t channels,
                                                      std::size_t reference, const Point& crop) {
  ChannelMatrices matrices = load_channel_matrices(file);
  if (matrices.size() + 1 == channels) {
    matrices.insert(matrices.begin() + static_cast<std::ptrdiff_t>(reference), Affine{});
  }
  if (matrices.size() != channels) {
    throw UsageError(fmt::format(
        "--align-channels {}: holds {} transforms, and the frames have {} channels; it needs one "
        "for each channel, or for each but the one that is registered",
        file, matrices.size(), channels));
  }
  // Whichever channel the file leads from, all lead from the one that is registered now.
  Affine from_reference;
  try {
    from_reference = matrices[reference].inverse();
  } catch (const Error&) {
    throw FileError(fmt::format("{}: the transform of channel {} is singular", file, reference));
  }
  std::vector<ChannelTransform> transforms;
  for (const Affine& matrix : matrices) {
    transforms.push_back({Affine::translation(-crop.x, -crop.y) * matrix * from_reference *
                              Affine::translation(crop.x, crop.y),
                          {}});
  }
  transforms[reference].matrix = {};
  return transforms;
}

std::vector<ChannelTransform> find_channel_transforms(const Device& device, Motion motion,
                                                      const RegistrationOptions& frames,
                                                      const StackInput& input,
                                                      const RegisteredBy& by) {
  ChannelMeans means(device, frames, input, by);
  input.read_some(frames_of_mean, [&](const Frame& frame) { means.add(frame); });
  const std::size_t reference = reference_channel(by);
  RegistrationOptions options;
  options.motion = motion;
  options.modality = Modality::automatic;
  Registrar registrar(device, options);
  const LoadedImage fixed = means.mean(reference);
  std::vector<ChannelTransform> transforms(input.recording().channels);
  naming(fmt::format("--align-channels: the mean of channel {}", reference),
         [&] { registrar.set_reference(view_of(fixed)); });
  // Optics shift channels by little.
  registrar.set_initial(Homography());
  for (std::size_t c = 0; c < transforms.size(); ++c) {
    if (c == reference) continue;
    const LoadedImage mean = means.mean(c);
    RegistrationResult found;
    naming(fmt::format("--align-channels: the mean of channel {}", c),
           [&] { found = registrar.align(view_of(mean)); });
    if (!found.reliable) {
      throw UsageError(fmt::format(
          "--align-channels: channel {} does not register to channel {} (confidence {:.2f}); give "
          "the transforms in a file, or omit the option",
          c, reference, found.confidence));
    }
    transforms[c] = {found.matrix, found.confidence};
  }
  return transforms;
}

}  // namespace warpalign::program
