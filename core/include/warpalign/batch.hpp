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

/// Two images to register, with their masks if they have any (as Registrar takes them).
struct HostPair {
  HostImage reference;  ///< any type but c32, each side 16 to 16384 pixels
  HostImage moving;     ///< likewise; it may differ from the reference in size and type
  std::optional<HostImage> reference_mask{};  ///< u8, of the reference's shape; 0: ignored
  std::optional<HostImage> moving_mask{};     ///< u8, of the moving image's shape; 0: ignored
  /// An owner of the pixels, kept until the pair is done; null when the caller keeps them alive.
  std::shared_ptr<const void> owner{};
};

/// The outcome of one pair: either `result` or `error` is set.
struct BatchResult {
  std::optional<RegistrationResult> result;  ///< also where it is not reliable
  std::optional<Error> error;                ///< why the pair could not be registered
  std::size_t device = 0;  ///< index of the device, among those given, that processed the pair
};

/// How a batch is divided among threads.
struct BatchOptions {
  /// The number of workers per device, 1 to 64. Each is a thread with a Registrar of its own and
  /// takes the device memory of one; with two, one pair is read and uploaded while another is
  /// computed.
  int streams_per_device = 2;
};

/// Supplies pair 0, 1, 2, ... when a worker is ready for it. Called by several workers
/// concurrently.
using PairSource = std::function<HostPair(std::size_t pair)>;

/// Receives the outcome of a pair. It is called on the workers' threads, one call at a time, in the
/// order in which pairs are finished (not that of their numbers). Returning false ends the batch:
/// pairs on which other workers are working are dropped.
using PairSink = std::function<bool(std::size_t pair, BatchResult result)>;

/// Registers `pairs` pairs, as Registrar does. The devices may belong to several backends, and the
/// same device may be given twice; each takes the next pair when it is ready, so that faster
/// devices do more. Workers of one device share compiled kernels and FFT plans. Device memory grows
/// neither with the number of pairs nor with the number of different sizes. A pair's result is that
/// of set_reference and align, whatever pairs came before it.
///
/// An Error about one pair (wrong types or sizes, a constant image, too little memory, ...) is that
/// pair's result, and the other pairs continue; a HostPair without pixels is such a pair. A worker
/// whose device fails reports its pair and takes no more. After all workers have ended, throws:
/// whatever `source` or `sink` threw; Error(invalid_argument) for wrong options; the device's Error
/// when the device cannot hold a Registrar, or when pairs are left and no worker is.
WARPALIGN_API void align_batch(std::span<const Device> devices, std::size_t pairs,
                               const PairSource& source, const PairSink& sink,
                               const RegistrationOptions& options = {},
                               const BatchOptions& batch = {});

/// The same for pairs in memory: returns their results in the order of the pairs, and throws as the
/// other form does.
[[nodiscard]] WARPALIGN_API std::vector<BatchResult> align_batch(
    std::span<const Device> devices, std::span<const HostPair> pairs,
    const RegistrationOptions& options = {}, const BatchOptions& batch = {});

}  // namespace warpalign
