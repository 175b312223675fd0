// Registers the frames of a stack by smooth deformations, to one frame or a running mean.
#pragma once

#include "commands/deformed.hpp"
#include "commands/early_results.hpp"
#include "commands/frame_warper.hpp"
#include "commands/initial_drift.hpp"
#include "commands/running_mean.hpp"
#include "commands/stack_aligner.hpp"

#include <warpalign/registrar.hpp>

#include <optional>
#include <span>
#include <vector>

namespace warpalign::program {

/// Keeps the deformation of one frame at a time.
class DeformableStack : public StackAligner {
 public:
  /// `to`: not previous. `frame`: one of the frames. `mask`: from load_mask(), the same for every
  /// frame. `initial`: the affine steps, which are not searched for then. `nodata`: of planes that
  /// are warped; frames mark missing pixels by NaN. `warper` is used for the drift's origin only.
  /// Call set_origin() before the other functions. Throws warpalign::Error.
  DeformableStack(const Device& device, const RegistrationOptions& options, StackReference to,
                  const LoadedImage& frame, std::optional<LoadedImage> mask,
                  std::optional<InitialDrift> initial, std::optional<double> nodata,
                  FrameWarper& warper);

  void set_origin(const LoadedImage& image, std::optional<std::size_t> index) override;
  [[nodiscard]] std::vector<Trial> try_frames(std::span<const UpcomingFrame> frames) override;
  [[nodiscard]] FrameAlignment place(const LoadedImage& frame, std::size_t index) override;
  void add_finished(const LoadedImage& frame, const FrameAlignment& place,
                    std::size_t index) override;
  [[nodiscard]] bool needs_finished(std::size_t index, std::size_t last) const override;
  [[nodiscard]] std::unique_ptr<GridMap> map_of(const LoadedImage& frame,
                                                const FrameAlignment& place,
                                                std::size_t index) override;
  [[nodiscard]] bool has_spread() const override { return true; }

 private:
  [[nodiscard]] RegistrationResult registered(const LoadedImage& frame, std::size_t index);
  void find(const LoadedImage& frame, std::size_t index);
  void set_reference(const LoadedImage& image, const std::optional<LoadedImage>& mask);
  [[nodiscard]] const Positions& positions();

  Registrar registrar_;
  PositionSampler sampler_;
  Shape shape_;
  std::optional<LoadedImage> mask_;
  std::optional<InitialDrift> initial_;
  std::optional<double> nodata_;
  FrameWarper& plain_warper_;
  StackReference to_;
  std::optional<std::size_t> origin_;  ///< the index of the drift's origin
  EarlyResults<RegistrationResult> tried_;
  std::optional<RunningMean> mean_;
  bool mean_is_newer_ = false;          ///< than the reference computed from it
  RegistrationResult found_;            ///< of the frame with this index
  std::optional<Positions> positions_;  ///< of the same, if they were needed
  std::optional<std::size_t> index_;
};

}  // namespace warpalign::program
