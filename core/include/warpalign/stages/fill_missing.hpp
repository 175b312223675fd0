// Stage: missing samples of arrays on a device are found and filled, and missing results marked.
#pragma once

#include <warpalign/device.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace warpalign {

namespace backend {
class FillMissing;
}

/// What a FillMissingPlan is made for.
struct FillMissingSpec {
  Shape shape;             ///< of each array
  std::int64_t count = 1;  ///< the number of arrays, one after the other

  /// The samples of all arrays.
  [[nodiscard]] std::int64_t samples() const noexcept { return count * shape.pixels(); }

  friend bool operator==(const FillMissingSpec&, const FillMissingSpec&) = default;
};

/// Finds and fills the missing samples of f32 arrays on a device, as known_samples() and
/// fill_missing() (missing.hpp) do on the host. Arrays of a batch do not mix. Use a plan on one
/// stream, or wait between executions on different streams. Sources: biharmonic inpainting, Damelin
/// & Hoang 2018; the iteration, Golub & Varga 1961.
class WARPALIGN_API FillMissingPlan {
 public:
  /// Takes 12 bytes of device memory a sample, and 12 for each missing one while it fills them.
  /// Throws Error(invalid_argument) unless there are 1 to 2^31 - 1 samples.
  FillMissingPlan(const Device& device, const FillMissingSpec& spec);
  /// The device memory that the plan takes, in bytes. Never throws.
  [[nodiscard]] static std::size_t scratch_bytes(const FillMissingSpec& spec) noexcept;

  /// Sets `known`, a byte for each sample, to 0 where `values` is NaN, infinite or `nodata`, else
  /// to 1. Waits, and returns the number of missing samples. Throws Error(invalid_argument) for
  /// buffers of another device or size.
  std::int64_t find(Stream& stream, const Buffer& values, std::optional<float> nodata,
                    Buffer& known);
  /// Replaces the samples of `values` whose byte in `known` is 0. They continue their nearest known
  /// samples at first. Then Chebyshev's iteration (Golub and Varga 1961) minimises the squared
  /// Laplacian (biharmonic inpainting) over those within 16 samples of a known one, until about
  /// 1e-3 of their first change remains, or for 200 steps. Without any known sample, all become 0.
  /// Waits for the depth of the holes. Throws Error(invalid_argument) for buffers of another device
  /// or size.
  void fill(Stream& stream, Buffer& values, const Buffer& known);

 private:
  void fill_far(Stream& stream, Buffer& values);
  void smooth(Stream& stream, Buffer& values, int depth);

  Device device_;
  FillMissingSpec spec_;
  std::shared_ptr<backend::FillMissing> kernels_;
  Buffer parts_, counts_, states_, roles_, links_, residual_, direction_;
};

/// What results become of which too little is known.
struct MissingResults {
  float missing = 0;  ///< the value of missing results: NaN, or the nodata value
  /// Whether results beyond the edges have a share of 2. They are not missing.
  bool has_outside = false;
  std::optional<float> outside{};  ///< the value of results beyond the edges; empty: as it is
  /// Whether the results will be rounded to integers from `lowest` to `highest`. Those that would
  /// become `missing` are then replaced by `next`.
  bool avoids_missing = false;
  float lowest = 0;   ///< the least value of the type
  float highest = 0;  ///< the greatest value of the type
  float next = 0;     ///< the value of a known result that would become `missing`
};

/// Marks missing results of an interpolation. Source: the known share is the certainty of
/// normalized convolution (Knutsson & Westin 1993).
class WARPALIGN_API MarkMissingPlan {
 public:
  /// `results`: their number. Throws Error(invalid_argument) unless it is 1 to 2^31 - 1.
  MarkMissingPlan(const Device& device, std::int64_t results);
  /// Sets f32 results whose known share is below min_known_share (missing.hpp) to `how.missing`.
  /// `shares`, f32: the mask of the known samples, interpolated like the results. Shares of 1 but
  /// for rounding become 1, those of results beyond the edges 0. Throws Error(invalid_argument) for
  /// buffers of another device or size.
  void execute(Stream& stream, const MissingResults& how, Buffer& shares, Buffer& results) const;

 private:
  Device device_;
  std::int64_t count_;
  std::shared_ptr<backend::FillMissing> kernels_;
};

}  // namespace warpalign
