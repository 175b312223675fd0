// Stage: sums that say how much of the power of two volumes' spectra is at the same frequencies.
#pragma once

#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace warpalign {

namespace backend {
class SpectrumSums;
}
namespace detail {
template <class Record>
class LaterResults;
}

struct SpectrumSumsSpec {
  Shape volume;              ///< of the real volumes (or images) whose half spectra (c32) are given
  std::int64_t results = 1;  ///< the sums of how many pairs are kept
  std::int64_t at_once = 1;  ///< how many pairs an execution takes, stacked along the depth
};

/// Sums over the whole spectra of N = width height depth frequencies, without the zero frequency.
struct SpectrumSums {
  double a = 0;        ///< sum of |A|^2 / N
  double b = 0;        ///< sum of |B|^2 / N
  double product = 0;  ///< sum of |A|^2 |B|^2 / N^2
};

/// One pass over both spectra: products are computed in single precision and summed by each work
/// group; the host adds up the sums of the groups in double precision.
class WARPALIGN_API SpectrumSumsPlan {
 public:
  SpectrumSumsPlan(const Device& device, const SpectrumSumsSpec& spec);
  /// Waits for the result, of the first pair.
  [[nodiscard]] SpectrumSums execute(Stream& stream, const Image& a, const Image& b) const;

  /// The parts of execute(): the work on the device, whose sums become result number `result` and
  /// those after it; a copy of all results to the host, once for all executions before; and the
  /// wait for that copy.
  void enqueue(Stream& stream, const Image& a, const Image& b, std::int64_t result) const;
  void enqueue_copy(Stream& stream) const;
  [[nodiscard]] SpectrumSums wait(std::int64_t result) const;

 private:
  Device device_;
  SpectrumSumsSpec spec_;
  std::shared_ptr<backend::SpectrumSums> kernel_;
  std::shared_ptr<detail::LaterResults<float>> partials_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// The number of sums of one work group: the members of warpalign::SpectrumSums.
inline constexpr std::size_t spectrum_sum_count = 3;

class SpectrumSums : public Stage {
 public:
  using Setup = SpectrumSumsSpec;

  /// The number of work groups of a pair, each of which writes its own sums: sum i of group g of
  /// pair p of an execution is stored at ((result + p) spectrum_sum_count + i) groups() + g.
  [[nodiscard]] virtual std::size_t groups() const noexcept = 0;
  virtual void enqueue(Queue& queue, const Memory& a, const Memory& b, std::int64_t result,
                       Memory& partials) = 0;
};

}  // namespace warpalign::backend
