// The transforms of `stack --initial`, near which the registration of each frame looks first.
#pragma once

#include "commands/stack_aligner.hpp"

#include <warpalign/geometry.hpp>
#include <warpalign/registrar.hpp>
#include <warpalign/transform.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// One transform from the reference to all frames, or the drift of an earlier run, with a transform
/// for each frame, whose origin need not be that of this run.
class InitialDrift {
 public:
  /// Loads the JSON or CSV of `stack`, another file of as many affine transforms as there are
  /// frames, or a transform as load_initial_transform() does. Throws FileError or UsageError.
  InitialDrift(std::string file, const RegistrationOptions& options, const Shape& shape);

  /// The number of frames, or nothing if there is one transform for all of them.
  [[nodiscard]] std::optional<std::size_t> frames() const;
  /// Throws UsageError for a transform that no registration of this run can have.
  void check(StackReference to) const;

  /// `index`: of the frame that is the origin of this run, or nothing for another image.
  void set_origin(std::optional<std::size_t> index);
  /// The initial transform from the image at which `origin_to_reference` ends to a frame. Nothing
  /// if the file has none for the frame, or if the options exclude it.
  [[nodiscard]] std::optional<Affine> of(std::size_t frame,
                                         const Affine& origin_to_reference = {}) const;

 private:
  void check(const Affine& transform, const std::string& what) const;

  std::string file_;
  RegistrationOptions options_;
  Shape shape_;
  std::optional<Affine> same_;                   ///< for all frames
  std::vector<std::optional<Affine>> by_frame_;  ///< nothing for frames that were not reliable
  Affine from_origin_;  ///< from the origin of this run to that of the file
};

}  // namespace warpalign::program
