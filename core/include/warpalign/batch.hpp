// Registration of many pairs in one call, on several streams of several devices.
#pragma once

#include <warpalign/device.hpp>
#include <warpalign/error.hpp>
#include <warpalign/registrar.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace warpalign {

/// Two images to register, and their masks where they have any (as Registrar takes them).
struct HostPair {
  HostImage reference;
  HostImage moving;
  std::optional<HostImage> reference_mask{};
  std::optional<HostImage> moving_mask{};
  /// Whatever owns the pixels, kept until the pair is done; null where the caller keeps them.
  std::shared_ptr<const void> owner{};
};

/// What came of one pair: either `result` or `error`.
struct BatchResult {
  std::optional<RegistrationResult> result;
  std::optional<Error> error;
  std::size_t device = 0;  ///< which of the devices given had the pair
};

struct BatchOptions {
  /// 1 to 64 workers a device, each a thread with a Registrar of its own: with two, one pair is
  /// read and uploaded while another is computed. Each takes the device memory of a Registrar.
  int streams_a_device = 2;
};

/// Gives pair 0, 1, 2, ... when a worker is ready for it. Called by several workers at a time.
using PairSource = std::function<HostPair(std::size_t pair)>;

/// Takes what came of a pair, one call at a time, pairs in the order in which they are done (not
/// that of their numbers), on the workers' threads. False ends the batch: pairs that others are at
/// are dropped.
using PairSink = std::function<bool(std::size_t pair, BatchResult result)>;

/// Registers `pairs` pairs. Devices may be of several backends, and the same one may stand there
/// twice; each takes the next pair when it is ready, so that faster ones do more. What workers of
/// one device can share they do: compiled kernels and FFT plans. Device memory grows neither with
/// the number of pairs nor with that of their sizes. A pair's result is that of set_reference and
/// align, whatever came before it.
///
/// An Error over one pair (wrong types or sizes, a constant image, too little memory, ...) is that
/// pair's result, and the others go on; a HostPair without pixels is such a pair. A worker whose
/// device fails reports its pair and takes no more. Throws, when all workers have ended: what
/// `source` or `sink` threw; Error(invalid_argument) for wrong options; the device's Error when it
/// cannot hold a Registrar, or when pairs are left and no worker is.
WARPALIGN_API void align_batch(std::span<const Device> devices, std::size_t pairs,
                               const PairSource& source, const PairSink& sink,
                               const RegistrationOptions& options = {},
                               const BatchOptions& batch = {});

/// The same for pairs at hand: their results in the order of the pairs.
[[nodiscard]] WARPALIGN_API std::vector<BatchResult> align_batch(
    std::span<const Device> devices, std::span<const HostPair> pairs,
    const RegistrationOptions& options = {}, const BatchOptions& batch = {});

}  // namespace warpalign
