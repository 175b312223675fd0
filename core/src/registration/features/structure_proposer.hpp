// Proposes the shift of one small structure on an even background.
#pragma once

#include "registration/pair/candidate.hpp"
#include "registration/pair/context.hpp"
#include "registration/points/compact_structure.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace warpalign::detail {

/// Finds the translation at which two images match that show one small structure each, the same
/// one, on an even background. Such images have too few independent pixels for a search of all
/// rotations and scales. Reuses its memory for images that show anything else.
class StructureProposer {
 public:
  /// The translation, refined. Its significance is the z-score of a null test. Nothing if the
  /// images show anything else. Waits for the device.
  [[nodiscard]] std::optional<Candidate> propose(const PairContext& context);

 private:
  [[nodiscard]] bool may_show_small_structure(const std::vector<float>& values,
                                              double max_deviation);
  [[nodiscard]] std::optional<CompactStructure> structure_of(const PairContext& context,
                                                             ImagePyramid& image);

  std::vector<std::byte> pixels_;
  std::vector<double> numbers_;
  std::vector<float> values_, smaller_, sample_;
};

}  // namespace warpalign::detail
