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

/// Registers frames to one reference, as Registrar does. With Motion::translation, rigid and
/// similarity many frames pass through each step in one launch, which is many times as fast: shifts
/// are found and refined as WindowRegistrar finds those of a window, with the whole frame as its
/// window, rotations and scales in the same way with four parameters, and their correlation,
/// significance, overlap and confidence are those that Registrar finds there. A frame whose place
/// is not beyond doubt that way is registered by a Registrar, and so is one that moved by more than
/// half its side, turned by more than 90 degrees, or shows things more than 1.25 times as large or
/// as small, has a border or impulse noise, or is lit more unevenly than its reference; all are
/// with a mask, other motions and modalities, the options `fast`, `search`, `candidates`
/// and no refinement, and with other settings of the log-polar spectra than the
/// usual ones where there are rotations. A result's `proposed_by` says whether a frame's log-polar
/// spectrum or its shift alone led to its place. Shifts are found by phase correlation (Kuglin and
/// Hines 1975), rotations and scales by log-polar spectra (registration paper, section 2).
///
/// Which frames are passed together does not change their results. Keeps plans, memory, and a copy
/// of the reference between calls. An object is used by one thread at a time.
///
/// Every call may throw Error(out_of_memory), Error(build_failed) where a kernel cannot be
/// compiled, and Error(device_failure).
class WARPALIGN_API FrameRegistrar {
 public:
  /// `frames_at_once`: how many frames are going to be passed at once, 1 to 4096. More may be, and
  /// fewer, but memory and time are spent for as many as a device gains by, up to this number.
  /// Throws as Registrar does, and Error(invalid_argument) for another number.
  explicit FrameRegistrar(const Device& device, const RegistrationOptions& options = {},
                          std::size_t frames_at_once = 32);
  FrameRegistrar(FrameRegistrar&&) noexcept;
  FrameRegistrar& operator=(FrameRegistrar&&) noexcept;
  ~FrameRegistrar();

  /// How many frames it gains by seeing at once: the number given, or 1 where the options leave all
  /// frames to a Registrar. Throws no Error.
  [[nodiscard]] std::size_t frames_at_once() const noexcept;

  /// Sets the reference; its pixels are not needed afterwards. Throws as Registrar::set_reference
  /// does; no reference is set then.
  void set_reference(const HostImage& reference);
  /// `mask`: u8, of the reference's shape, 0 where a pixel does not count.
  void set_reference(const HostImage& reference, const HostImage& mask);

  /// The outcome of each frame, in their order. What is wrong with a frame's pixels is its own
  /// error; `device` is 0. Throws Error(invalid_argument) when no reference is set.
  [[nodiscard]] std::vector<BatchResult> align(std::span<const HostImage> frames);
  /// The device time of each stage that frames of the last align() passed through together, in
  /// order of first use; empty unless RegistrationOptions::collect_timings asked for it. Where
  /// batches overlap, so do their times. Results of such frames have no times of their own.
  [[nodiscard]] const std::vector<StageTiming>& timings() const noexcept;
  /// One frame. Throws as Registrar::align does.
  [[nodiscard]] RegistrationResult align(const HostImage& frame);
  /// `mask`: u8, of the frame's shape, 0 where a pixel does not count.
  [[nodiscard]] RegistrationResult align(const HostImage& frame, const HostImage& mask);

 private:
  struct Lane;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpalign
