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

/// Two images to register, and their optional masks (see Registrar).
struct HostPair {
  HostImage reference;  ///< any type but c32, each side 16 to 16384 pixels
  HostImage moving;     ///< the same limits; may differ from the reference in size and type
  std::optional<HostImage> reference_mask{};  ///< u8, of the reference's shape; 0: ignored
  std::optional<HostImage> moving_mask{};     ///< u8, of the moving image's shape; 0: ignored
  /// An owner of the pixels, kept until the pair is done; null when the caller keeps them alive.
  std::shared_ptr<const void> owner{};
  /// The transform near which the answer is looked for (Registrar::set_initial()).
  std::optional<Homography> initial{};
};

/// The outcome of one pair: either `result` or `error` is set.
struct BatchResult {
  std::optional<RegistrationResult> result;  ///< the result, even if it is not reliable
  std::optional<Error> error;                ///< why the pair could not be registered
  std::size_t device = 0;  ///< index of the device, among those given, that processed the pair
};

/// How align_batch() divides a batch among threads.
struct BatchOptions {
  /// The number of workers per device, 1 to 64. A worker is a thread with its own Registrar, which
  /// takes its own device memory. With two workers, one reads and uploads a pair while the device
  /// computes another. Four are faster for thousands of pairs on a GPU, if the host has 16 cores.
  int streams_per_device = 2;
};

/// Returns the pair with the given number (0, 1, 2, ...). Several workers call it concurrently,
/// when they are ready for a pair.
using PairSource = std::function<HostPair(std::size_t pair)>;

/// Receives the outcome of a pair. The workers call it one at a time, in the order in which pairs
/// finish, not in the order of their numbers. Returning false ends the batch and discards the pairs
/// that other workers are processing.
using PairSink = std::function<bool(std::size_t pair, BatchResult result)>;

/// Registers `pairs` pairs, as Registrar does. The devices may belong to several backends, and the
/// same device may be given twice. A worker takes the next pair when it is ready, so that faster
/// devices process more pairs. Workers of one device share compiled kernels and FFT plans. Device
/// memory grows neither with the number of pairs nor with the number of different sizes.
///
/// The result of a pair is that of set_reference and align, and does not depend on earlier pairs. A
/// call with 128 pairs or more, for Motion::rigid or Motion::similarity, registers neighbouring
/// pairs together that have one shape and one type, up to 32 at a time, several times as fast. Of
/// these, the pairs that are found without doubt differ from set_reference and align by
/// thousandths of a pixel, and all others are passed to a Registrar. Which pairs these are depends
/// on the pairs alone, not on the number of workers.
///
/// If a pair cannot be registered (wrong types or sizes, no pixels, a constant image, an initial
/// transform that set_initial or align refuses, too little memory, ...), its BatchResult contains
/// the Error and the other pairs continue. A worker whose device fails reports its pair and stops;
/// others register what it had taken, or these get its Error if no others are left.
/// After all workers have ended, the function throws what `source` or `sink` threw,
/// Error(invalid_argument) for wrong options, and the device's Error if the device has too little
/// memory for a Registrar, or if all workers stopped before the last pair.
WARPALIGN_API void align_batch(std::span<const Device> devices, std::size_t pairs,
                               const PairSource& source, const PairSink& sink,
                               const RegistrationOptions& options = {},
                               const BatchOptions& batch = {});

/// The same for pairs in memory. Returns the results in the order of the pairs, and throws as the
/// other overload does, and Error(invalid_argument), before any pair is registered, for an initial
/// transform that set_initial or align refuses.
[[nodiscard]] WARPALIGN_API std::vector<BatchResult> align_batch(
    std::span<const Device> devices, std::span<const HostPair> pairs,
    const RegistrationOptions& options = {}, const BatchOptions& batch = {});

/// Throws what Registrar::set_initial() and align() throw for an initial transform between images
/// of these shapes, so that callers with many images can refuse one before they register any.
WARPALIGN_API void check_initial(const Homography& initial, const RegistrationOptions& options,
                                 const Shape& reference, const Shape& moving);

}  // namespace warpalign
