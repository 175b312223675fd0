// Estimates the local motion of a stack's frames relative to the first frame or a running mean.
#pragma once

#include "commands/early_results.hpp"
#include "commands/field_map.hpp"
#include "commands/frame_warper.hpp"
#include "commands/motion_finder.hpp"
#include "commands/running_mean.hpp"
#include "commands/stack_aligner.hpp"

#include <mutex>
#include <optional>
#include <span>

namespace warpalign::program {

class LocalStack : public StackAligner {
 public:
  /// `to`: not previous. `frame`: one of the frames. `nodata`: the value of missing samples of
  /// their planes. `warper` is used for the drift's origin only. Call set_origin() before the other
  /// functions. Throws warpalign::Error.
  LocalStack(const Device& device, const LocalSettings& settings, StackReference to,
             const LoadedImage& frame, std::optional<double> nodata, FrameWarper& warper);

  void set_origin(const LoadedImage& image, std::optional<std::size_t> index) override;
  [[nodiscard]] std::vector<Trial> try_frames(std::span<const UpcomingFrame> frames) override;
  [[nodiscard]] FrameAlignment place(const LoadedImage& frame, std::size_t index) override;
  [[nodiscard]] std::size_t frames_at_once() const override { return frames_at_once_; }
  void register_early(std::span<const UpcomingFrame> frames) override;
  void add_finished(const LoadedImage& frame, const FrameAlignment& place,
                    std::size_t index) override;
  [[nodiscard]] bool needs_finished(std::size_t index, std::size_t last) const override;
  [[nodiscard]] std::unique_ptr<GridMap> map_of(const LoadedImage& frame,
                                                const FrameAlignment& place,
                                                std::size_t index) override;
  [[nodiscard]] const FrameMotion* motion() const override { return &motion_; }

 private:
  void find(const LoadedImage& frame, std::size_t index);

  std::mutex finder_mutex_;
  MotionFinder finder_;
  std::size_t frames_at_once_ = 1;
  EarlyResults<FrameMotion> ahead_;
  FieldFrameWarper warper_;
  FrameWarper& plain_warper_;
  std::optional<double> nodata_;
  StackReference to_;
  std::optional<std::size_t> origin_;  ///< the index of the drift's origin
  std::optional<RunningMean> mean_;
  bool mean_is_newer_ = false;  ///< than the reference computed from it
  FrameMotion motion_;          ///< of the frame with this index
  std::size_t index_ = 0;
};

}  // namespace warpalign::program
