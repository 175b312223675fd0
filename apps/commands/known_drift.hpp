// Aligns the frames of a stack by transforms that an earlier run has found.
#pragma once

#include "commands/frame_warper.hpp"
#include "commands/known_aligner.hpp"
#include "io/drift_file.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program {

/// The user's choice of known transforms.
struct KnownDriftChoice {
  std::string file;
  /// The first pixel of the frames, or voxel of the volumes, in those of that run.
  std::optional<Point3> crop{};
};

/// The transforms for frames of this shape. Throws FileError if the file cannot be used, and
/// UsageError if the frames have another size than those of the file, or do not lie within them.
[[nodiscard]] std::vector<FrameAlignment> known_drift(const KnownDriftChoice& choice,
                                                      const DriftFile& drift, const Shape& shape);

class KnownDrift : public KnownAligner {
 public:
  /// `warper` must outlive this object.
  KnownDrift(std::vector<FrameAlignment> frames, FrameWarper& warper)
      : frames_(std::move(frames)), warper_(warper) {}

  [[nodiscard]] FrameAlignment place(const LoadedImage& frame, std::size_t index) override;
  [[nodiscard]] std::unique_ptr<GridMap> map_of(const LoadedImage& frame,
                                                const FrameAlignment& place,
                                                std::size_t index) override;

 private:
  std::vector<FrameAlignment> frames_;
  FrameWarper& warper_;
};

}  // namespace warpalign::program
