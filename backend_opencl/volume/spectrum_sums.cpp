// Stage: how much of the power in the spectra of two volumes falls on the same frequencies.
#include "device/kernel.hpp"
#include "device/queue.hpp"
#include "device/stage.hpp"
#include "embedded_kernels.hpp"

#include <warpalign/backend/stages/volume/spectrum_sums.hpp>

#include <algorithm>

namespace warpalign::opencl {

namespace {

constexpr const char* stage = "spectrum_sums";
constexpr std::size_t max_groups = 1024;

class SpectrumSums final : public backend::SpectrumSums {
 public:
  SpectrumSums(Context& context, const SpectrumSumsSpec& spec)
      : width_(extent(spec.volume.width, context.call_site(stage))),
        columns_(width_ / 2 + 1),
        rows_(extent(spec.volume.height * spec.volume.depth, context.call_site(stage))),
        scale_(static_cast<cl_float>(1 / static_cast<double>(spec.volume.pixels()))),
        group_(short_row_group(context)),
        groups_(std::min(static_cast<std::size_t>(rows_), max_groups)),
        pairs_(static_cast<std::size_t>(spec.at_once)),
        kernel_(context, stage, kernels::spectrum_sums, "spectrum_sums",
                "-D GROUP=" + std::to_string(group_)) {}

  [[nodiscard]] std::size_t groups() const noexcept override { return groups_; }

  void enqueue(backend::Queue& queue, const backend::Memory& a, const backend::Memory& b,
               std::int64_t result, backend::Memory& partials) override {
    const auto first =
        static_cast<cl_int>(result) * static_cast<cl_int>(backend::spectrum_sum_count * groups_);
    kernel_.launch(queue_of(queue), {{groups_ * group_, pairs_}, {group_, 1}}, a, b, width_,
                   columns_, rows_, scale_, first, partials);
  }

 private:
  cl_int width_, columns_, rows_;
  cl_float scale_;
  std::size_t group_, groups_, pairs_;
  Kernel kernel_;
};

}  // namespace

template <>
std::unique_ptr<backend::SpectrumSums> make(Context& context, const SpectrumSumsSpec& spec) {
  return std::make_unique<SpectrumSums>(context, spec);
}

}  // namespace warpalign::opencl
