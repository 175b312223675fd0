// Registers many pairs at once, each with a reference of its own.
#pragma once

#include "registration/frames/similarity_batch.hpp"
#include "registration/patterns/sensor_signs.hpp"
#include "registration/tasks/host_loop.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::detail {

/// Registers pairs whose images have one type and one shape, as a Registrar does that finds them at
/// once. All others are left to a Registrar: not only what is uncertain, but also what a Registrar
/// would look at again, such as repetitive scenes and patterns of the sensor.
class PairBatch {
 public:
  /// `pairs`: the maximum number of pairs in one run. `threads`: for work on the host, at least 1;
  /// results do not depend on them.
  PairBatch(const Device& device, const RegistrationOptions& options, PixelType type,
            const Shape& image, std::size_t pairs, std::size_t threads);

  [[nodiscard]] bool matches(PixelType type, const Shape& image) const {
    return type_ == type && image_ == image;
  }
  [[nodiscard]] std::size_t pairs() const { return pairs_; }

  /// Registers at most pairs() pairs. A result is empty if the pair needs a Registrar. The results
  /// stay valid until the next call. Waits for the device.
  std::span<const std::optional<RegistrationResult>> run(StageClock& clock,
                                                         std::span<const HostImage> references,
                                                         std::span<const HostImage> moving);

 private:
  /// What tells whether a Registrar would look at a result again.
  struct Look {
    std::size_t pair;
    SensorImages level;
    SensorAnswer answer;
    const IntensityStatistics *reference, *moving;
  };
  void look_again(std::span<const HostImage> references, std::span<const HostImage> moving);
  [[nodiscard]] static bool are_sparse(const Look& look);
  [[nodiscard]] bool shows_pattern(const Look& look, SensorSigns& signs) const;
  void leave_still_rivals(StageClock& clock);

  PixelType type_;
  Shape image_;
  std::size_t pairs_;
  HostLoop host_;
  std::vector<SensorSigns> signs_;  // of each thread
  StackUpload references_, moving_;
  SimilarityMatcher matcher_;
  std::vector<Look> looks_;
  std::vector<std::optional<RegistrationResult>> results_;
};

/// Whether a PairBatch supports these options.
[[nodiscard]] bool can_pairs_be_batched(const RegistrationOptions& options);
/// The number of pairs that a batch takes at once on a device; 1 if it does not support them.
[[nodiscard]] std::size_t pairs_at_once(const Device& device, PixelType type, const Shape& image);

}  // namespace warpalign::detail
