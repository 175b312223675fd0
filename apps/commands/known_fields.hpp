// Aligns the frames of a stack by displacement fields that an earlier run has written.
#pragma once

#include "commands/deformed.hpp"
#include "commands/known_aligner.hpp"
#include "io/frames/npy_frames.hpp"

#include <memory>
#include <optional>
#include <string>

namespace warpalign::program {

/// Whether a file of --apply holds fields: an array of four axes. Throws FileError.
[[nodiscard]] bool holds_fields(const std::string& name);

/// Reads the fields of `stack --field`, one at a time.
class FieldFrames {
 public:
  /// Throws FileError if the file does not hold fields of frames of this shape.
  FieldFrames(const std::string& name, const Shape& frame);

  [[nodiscard]] std::size_t count() const { return frames_->count().frames; }
  /// The displacements of a frame along x, then y; empty for a frame that was not aligned. Throws
  /// FileError. Cheap if the index is that of the last call, or the next one.
  [[nodiscard]] const std::vector<float>& at(std::size_t index);

 private:
  std::string name_;
  Shape shape_;
  std::unique_ptr<NpyFrames> frames_;
  std::size_t next_ = 0;              ///< the frame that frames_ reads next
  std::optional<std::size_t> index_;  ///< of `field_`
  std::vector<float> field_;
};

class KnownFields : public KnownAligner {
 public:
  /// `nodata`: the value of missing samples of the frames' planes.
  KnownFields(const Device& device, const std::string& name, const Shape& frame,
              std::optional<double> nodata);

  [[nodiscard]] FrameAlignment place(const LoadedImage& frame, std::size_t index) override;
  [[nodiscard]] std::unique_ptr<GridMap> map_of(const LoadedImage& frame,
                                                const FrameAlignment& place,
                                                std::size_t index) override;
  [[nodiscard]] bool has_spread() const override { return true; }

 private:
  FieldFrames fields_;
  PositionSampler sampler_;
  Shape shape_;
  std::optional<double> nodata_;
};

}  // namespace warpalign::program
