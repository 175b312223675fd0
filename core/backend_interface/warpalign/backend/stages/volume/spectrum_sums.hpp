// Stage: sums that tell how far the power of two spectra lies at the same frequencies.
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
class AsyncResults;
}

struct SpectrumSumsSpec {
  Shape volume;              ///< of the real volumes or images of the half spectra (c32)
  std::int64_t results = 1;  ///< number of pairs whose sums the plan keeps
  std::int64_t at_once = 1;  ///< number of pairs per execution, stacked along the depth
};

/// Sums over the whole spectra of N = width height depth frequencies, without the zero frequency.
struct SpectrumSums {
  double a = 0;        ///< sum of |A|^2 / N
  double b = 0;        ///< sum of |B|^2 / N
  double product = 0;  ///< sum of |A|^2 |B|^2 / N^2
};

/// Computes the sums in one pass over both spectra. Work groups sum in single precision; the host
/// adds their sums in double precision.
class WARPALIGN_API SpectrumSumsPlan {
 public:
  SpectrumSumsPlan(const Device& device, const SpectrumSumsSpec& spec);
  /// Computes the sums, and waits for those of the first pair.
  [[nodiscard]] SpectrumSums execute(Stream& stream, const Image& a, const Image& b) const;

  /// execute() in three steps. enqueue() starts the work; `result` is the index of the first pair's
  /// sums. enqueue_copy() starts a copy of all results to the host, after the last execution.
  /// wait() waits for this copy.
  void enqueue(Stream& stream, const Image& a, const Image& b, std::int64_t result) const;
  void enqueue_copy(Stream& stream) const;
  [[nodiscard]] SpectrumSums wait(std::int64_t result) const;

 private:
  Device device_;
  SpectrumSumsSpec spec_;
  std::shared_ptr<backend::SpectrumSums> kernel_;
  std::shared_ptr<detail::AsyncResults<float>> partials_;
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
