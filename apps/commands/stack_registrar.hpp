// Registers the frames of a stack and maps each of them to the drift's origin.
#pragma once

#include "commands/affine_map.hpp"
#include "commands/early_results.hpp"
#include "commands/initial_drift.hpp"
#include "commands/running_mean.hpp"
#include "commands/stack_aligner.hpp"
#include "io/image_file.hpp"
#include "reports/stack_frame.hpp"

#include <warpalign/frame_registrar.hpp>
#include <warpalign/registrar.hpp>

#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace warpalign::program {

/// Aligns each frame by a single transform, as opposed to LocalStack.
class StackRegistrar : public StackAligner {
 public:
  /// `devices`: one or more, among which frames that are registered together are shared out.
  /// `frame`: one of the frames. `mask`: from load_mask(), the same for every frame. `initial`: the
  /// transforms near which frames are searched for, if any. `warper` resamples frames for the mean,
  /// and must outlive this object. Call set_origin() before the other functions. Throws
  /// warpalign::Error.
  StackRegistrar(std::span<const Device> devices, const RegistrationOptions& options,
                 StackReference to, const LoadedImage& frame, std::optional<LoadedImage> mask,
                 std::optional<InitialDrift> initial, FrameWarper& warper);

  void set_origin(const LoadedImage& image, std::optional<std::size_t> index) override;
  [[nodiscard]] std::vector<Trial> try_frames(std::span<const UpcomingFrame> frames) override;
  [[nodiscard]] FrameAlignment place(const LoadedImage& frame, std::size_t index) override;
  [[nodiscard]] std::size_t frames_at_once() const override;
  void register_early(std::span<const UpcomingFrame> frames) override;
  void add_finished(const LoadedImage& frame, const FrameAlignment& place,
                    std::size_t index) override;
  void note(const FrameAlignment& place, std::size_t index) override;
  [[nodiscard]] bool needs_finished(std::size_t index, std::size_t last) const override;
  [[nodiscard]] std::unique_ptr<GridMap> map_of(const LoadedImage& frame,
                                                const FrameAlignment& place,
                                                std::size_t index) override;

 private:
  [[nodiscard]] std::vector<BatchResult> registered(std::span<const UpcomingFrame> frames);
  [[nodiscard]] std::vector<BatchResult> shared_out(std::span<const HostImage> views);
  /// Registers a frame by itself, near its initial transform if it has one. `registrar_mutex_` must
  /// be locked.
  [[nodiscard]] RegistrationResult single(const HostImage& view, std::size_t index);
  [[nodiscard]] RegistrationResult find(const LoadedImage& frame, std::size_t index);
  /// What the last reliable frame tells about the motion of frame `index`, unless an ambiguous one
  /// has followed it.
  [[nodiscard]] std::optional<MotionPrior> prior_of(std::size_t index) const;
  void set_reference(const LoadedImage& gray, const std::optional<LoadedImage>& mask);
  void take_reliable(const LoadedImage& frame, const FrameAlignment& place, std::size_t index);

  std::mutex registrar_mutex_;
  std::vector<FrameRegistrar> registrars_;  ///< one for each device
  EarlyResults<BatchResult> ahead_;
  StackReference to_;
  Shape shape_;
  std::optional<LoadedImage> mask_;
  std::optional<InitialDrift> initial_;
  FrameWarper& warper_;
  std::optional<std::size_t> origin_;           ///< the index of the drift's origin
  std::optional<std::size_t> reference_index_;  ///< of the reference, except for `mean`
  Affine origin_to_reference_;                  ///< the identity, except for `previous`
  Affine origin_to_last_;                       ///< the last reliable frame
  std::size_t last_index_ = 0;                  ///< of that frame
  bool is_lost_ = false;                        ///< unknown, or an ambiguous frame has followed it
  std::optional<RunningMean> mean_;
  bool mean_is_newer_ = false;  ///< than the reference computed from it
};

}  // namespace warpalign::program
