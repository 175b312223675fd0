// Registration of many frames to one reference.
#pragma once

#include <warpalign/batch.hpp>
#include <warpalign/device.hpp>
#include <warpalign/registrar.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace warpalign {

/// Registers many frames to one reference, as Registrar does, but several times as fast: for
/// Motion::translation, rigid and similarity, each step processes many frames in one launch.
///
/// The batched steps find shifts by phase correlation (Kuglin and Hines 1975), and rotations and
/// scales by log-polar spectra (registration paper, section 2). Gauss-Newton refines the result as
/// WindowRegistrar does, with the whole frame as the window and two or four parameters. The
/// correlation, significance, overlap and confidence are those that Registrar computes for the same
/// transform. `proposed_by` tells whether the log-polar spectrum of a frame proposed the result, or
/// its shift alone.
///
/// A Registrar registers a frame instead if the batched result is not conclusive. This happens if
/// the frame moved by more than half its side, is rotated by more than 90 degrees or scaled by more
/// than a factor of 1.25, has a border or impulse noise, or is less evenly illuminated than the
/// reference, or if the reference resembles itself at another shift almost as much as the frame
/// resembles it: a texture that repeats itself is ambiguous. A Registrar registers all frames if
/// there is a mask, for other motions and modalities, if `fast`, `search`, `candidates` or `refine`
/// differ from their defaults, and, for motions with rotation, if the options of the log-polar
/// spectra do.
///
/// The result of a frame does not depend on the frames that are passed with it. The registrar keeps
/// plans, memory, and a copy of the reference between calls. Only one thread at a time may use it.
///
/// Every call may throw Error(out_of_memory), Error(build_failed) if a kernel does not compile, and
/// Error(device_failure).
class WARPALIGN_API FrameRegistrar {
 public:
  /// `frames_at_once`: how many frames the caller expects to pass to align(), 1 to 4096. It limits
  /// the batch size, and with it the memory; align() accepts any number of frames. Throws as
  /// Registrar does, and Error(invalid_argument) for a number out of range.
  explicit FrameRegistrar(const Device& device, const RegistrationOptions& options = {},
                          std::size_t frames_at_once = 32);
  FrameRegistrar(FrameRegistrar&&) noexcept;
  FrameRegistrar& operator=(FrameRegistrar&&) noexcept;
  ~FrameRegistrar();

  /// The number of frames to pass to align() for the best speed: the number given to the
  /// constructor, or 1 if the options leave all frames to a Registrar.
  [[nodiscard]] std::size_t frames_at_once() const noexcept;

  /// Sets the reference and copies what it needs, so the caller may free the pixels. Throws as
  /// Registrar::set_reference does. After an error the registrar has no reference.
  void set_reference(const HostImage& reference);
  /// `mask`: u8, of the reference's shape, 0 where a pixel is ignored.
  void set_reference(const HostImage& reference, const HostImage& mask);

  /// Registers the frames and returns their results in the same order. If the pixels of a frame
  /// cannot be used, its BatchResult::error says why and the other frames continue.
  /// BatchResult::device is 0. Throws Error(invalid_argument) if no reference is set.
  [[nodiscard]] std::vector<BatchResult> align(std::span<const HostImage> frames);
  /// The same near known transforms, one for each frame (Registrar::set_initial()). A Registrar
  /// registers all frames. Throws Error(invalid_argument), before any frame is registered, if their
  /// numbers differ, or for a transform that set_initial() or align() of Registrar refuses.
  [[nodiscard]] std::vector<BatchResult> align(std::span<const HostImage> frames,
                                               std::span<const Homography> initial);
  /// The device time of each batched stage of the last align(), in order of first use; empty unless
  /// RegistrationOptions::collect_timings is set. If batches overlap, the sum exceeds the
  /// elapsed time. Results of batched frames have no timings of their own.
  [[nodiscard]] const std::vector<StageTiming>& timings() const noexcept;
  /// Registers one frame. Throws as Registrar::align does.
  [[nodiscard]] RegistrationResult align(const HostImage& frame);
  /// `mask`: u8, of the frame's shape, 0 where a pixel is ignored.
  [[nodiscard]] RegistrationResult align(const HostImage& frame, const HostImage& mask);
  /// Registers a frame that follows another one, whose motion decides where the frame matches the
  /// reference at several shifts (Registrar::set_prior()). Throws as both.
  [[nodiscard]] RegistrationResult align(const HostImage& frame, const MotionPrior& prior);
  [[nodiscard]] RegistrationResult align(const HostImage& frame, const HostImage& mask,
                                         const MotionPrior& prior);
  /// Registers a frame near a known transform (Registrar::set_initial()). Throws as both.
  [[nodiscard]] RegistrationResult align(const HostImage& frame, const Homography& initial);
  [[nodiscard]] RegistrationResult align(const HostImage& frame, const HostImage& mask,
                                         const Homography& initial);

 private:
  struct Lane;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpalign
