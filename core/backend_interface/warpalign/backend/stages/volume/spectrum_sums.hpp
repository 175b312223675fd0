// Stage: how much of their power the spectra of two volumes have at the same frequencies.
#pragma once

#include <cstddef>
#include <warpalign/backend/stage.hpp>
#include <warpalign/device.hpp>

namespace warpalign {

namespace backend {
class SpectrumSums;
}
namespace detail {
template <class Record>
class Results;
}

struct SpectrumSumsSpec {
  Shape volume;  ///< of the real volumes (or images) whose half spectra (c32) are given
};

/// Sums over the whole spectra of N = width height depth frequencies, the zero frequency left out.
struct SpectrumSums {
  double a = 0;        ///< sum of |A|^2 / N
  double b = 0;        ///< sum of |B|^2 / N
  double product = 0;  ///< sum of |A|^2 |B|^2 / N^2
};

/// One pass over both spectra: products in single precision, summed by work groups, and added up in
/// double on the host.
class WARPALIGN_API SpectrumSumsPlan {
 public:
  SpectrumSumsPlan(const Device& device, const SpectrumSumsSpec& spec);
  /// Waits.
  [[nodiscard]] SpectrumSums execute(Stream& stream, const Image& a, const Image& b) const;

 private:
  Device device_;
  SpectrumSumsSpec spec_;
  std::shared_ptr<backend::SpectrumSums> kernel_;
  std::shared_ptr<detail::Results<float>> partials_;
};

}  // namespace warpalign

namespace warpalign::backend {

/// Sums of one work group: those of warpalign::SpectrumSums.
inline constexpr std::size_t spectrum_sum_count = 3;

class SpectrumSums : public Stage {
 public:
  using Setup = SpectrumSumsSpec;

  /// Work groups, each of which writes its sums: sum i of group g stands at i groups() + g.
  [[nodiscard]] virtual std::size_t groups() const noexcept = 0;
  virtual void enqueue(Queue& queue, const Memory& a, const Memory& b, Memory& partials) = 0;
};

}  // namespace warpalign::backend
