// Stage: missing samples of arrays on a device are found and filled.
//
// Chebyshev's iteration: G. H. Golub and R. S. Varga, "Chebyshev semi-iterative methods, successive
// overrelaxation iterative methods, and second order Richardson iterative methods", Numerische
// Mathematik 3, 1961. Biharmonic inpainting: see missing/fill_missing.cpp.
#include <warpalign/backend/stages/filter/fill_missing.hpp>

#include <warpalign/missing.hpp>
#include "device/access.hpp"
#include "device/check.hpp"
#include "missing/shares.hpp"
#include "stages/uploaded.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace warpalign {

namespace {

constexpr const char* fill_missing_stage = "fill_missing";
constexpr int smoothed_layers = 16;
constexpr int max_iterations = 200;
/// The change of the values that may remain, relative to the first one. Values in holes are off by
/// much more.
constexpr double remaining_change = 1e-3;

FillMissingSpec checked_fill(const FillMissingSpec& spec) {
  std::int64_t most = std::numeric_limits<std::int32_t>::max();
  for (const std::int64_t n : {spec.shape.width, spec.shape.height, spec.shape.depth, spec.count}) {
    if (n < 1 || n > most) {
      detail::refuse(fill_missing_stage, "the arrays must have 1 to 2^31 - 1 samples together");
    }
    most /= n;
  }
  return spec;
}

std::size_t floats(const FillMissingSpec& spec) noexcept {
  return static_cast<std::size_t>(spec.samples()) * sizeof(float);
}

std::vector<float> downloaded(Stream& stream, const Buffer& parts) {
  std::vector<float> values(parts.size_bytes() / sizeof(float));
  stream.download(parts, values.data(), parts.size_bytes());
  return values;
}

/// Where the parts of a plan begin in its lists.
struct Offsets {
  std::vector<std::uint32_t> begins;  ///< of the smoothed samples, then of the equations
  std::int64_t num_smoothed = 0;
  std::int64_t num_equations = 0;
};

Offsets offsets_of(const std::vector<float>& counts) {
  Offsets offsets;
  const std::size_t parts = counts.size() / 2;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    std::int64_t& before = i < parts ? offsets.num_smoothed : offsets.num_equations;
    offsets.begins.push_back(static_cast<std::uint32_t>(before));
    before += static_cast<std::int64_t>(counts[i]);
  }
  return offsets;
}

/// The greatest eigenvalue of the squared Laplacian: 4 squared for each axis that has one.
double greatest_eigenvalue(const Shape& shape) {
  int axes = 0;
  for (const std::int64_t n : {shape.width, shape.height, shape.depth}) axes += n > 2 ? 1 : 0;
  return 16.0 * axes * axes;
}

/// About the least eigenvalue of interest in holes of so many layers: that of a plate or beam that
/// is fixed along its edge falls with the fourth power of its width (500 / width^4 for a beam).
/// Holes of several sizes are in one image, and smaller values take more iterations.
double least_eigenvalue(int depth) {
  constexpr double of_beam = 400, at_most = 8, at_least = 0.02;
  return std::clamp(of_beam / std::pow(2 * depth + 1, 4), at_least, at_most);
}

}  // namespace

FillMissingPlan::FillMissingPlan(const Device& device, const FillMissingSpec& spec)
    : device_(device),
      spec_(checked_fill(spec)),
      kernels_(detail::Access::driver(device).make(spec)),
      parts_(device.make_buffer(static_cast<std::size_t>(kernels_->parts()) * sizeof(float))),
      counts_(device.make_buffer(2 * parts_.size_bytes())),
      states_(device.make_buffer(static_cast<std::size_t>(spec.samples()))),
      roles_(device.make_buffer(static_cast<std::size_t>(spec.samples()))),
      links_(device.make_buffer(static_cast<std::size_t>(spec.samples()) * sizeof(std::uint16_t))),
      residual_(device.make_buffer(floats(spec))),
      direction_(device.make_buffer(floats(spec))) {}

std::size_t FillMissingPlan::scratch_bytes(const FillMissingSpec& spec) noexcept {
  return 2 * floats(spec) + 4 * static_cast<std::size_t>(spec.samples());
}

std::int64_t FillMissingPlan::find(Stream& stream, const Buffer& values,
                                   std::optional<float> nodata, Buffer& known) {
  detail::check_stream(fill_missing_stage, device_, stream);
  detail::check_buffer(fill_missing_stage, "the values", device_, values, floats(spec_));
  detail::check_buffer(fill_missing_stage, "the mask", device_, known, states_.size_bytes());
  kernels_->enqueue_find(detail::Access::queue(stream), detail::Access::memory(values), nodata,
                         detail::Access::memory(known), detail::Access::memory(parts_));
  std::int64_t missing = 0;
  for (const float part : downloaded(stream, parts_)) missing += static_cast<std::int64_t>(part);
  return missing;
}

void FillMissingPlan::fill(Stream& stream, Buffer& values, const Buffer& known) {
  detail::check_stream(fill_missing_stage, device_, stream);
  detail::check_buffer(fill_missing_stage, "the values", device_, values, floats(spec_));
  detail::check_buffer(fill_missing_stage, "the mask", device_, known, states_.size_bytes());
  backend::Queue& queue = detail::Access::queue(stream);
  const std::array<Buffer*, 2> states{&states_, &roles_};
  const Buffer* from = &known;
  for (int layer = 1; layer <= smoothed_layers; ++layer) {
    Buffer& to = *states[static_cast<std::size_t>(layer) % 2];
    kernels_->enqueue_layer(queue, layer, detail::Access::memory(*from), detail::Access::memory(to),
                            detail::Access::memory(values));
    from = &to;
  }
  static_assert(smoothed_layers % 2 == 0, "the last layer's states are in states_");
  kernels_->enqueue_furthest(queue, detail::Access::memory(states_),
                             detail::Access::memory(parts_));
  const std::vector<float> furthest = downloaded(stream, parts_);
  const int last = static_cast<int>(std::ranges::max(furthest));
  const bool has_far = last == backend::FillMissing::far_state;
  if (has_far) fill_far(stream, values);
  const int depth = has_far ? smoothed_layers : last - 1;
  if (depth > 0) smooth(stream, values, depth);
}

void FillMissingPlan::fill_far(Stream& stream, Buffer& values) {
  backend::Queue& queue = detail::Access::queue(stream);
  const std::int64_t side = std::max({spec_.shape.width, spec_.shape.height, spec_.shape.depth});
  Buffer* from = &residual_;
  Buffer* to = &direction_;
  kernels_->enqueue_start_nearest(queue, detail::Access::memory(states_),
                                  detail::Access::memory(*from));
  std::int64_t step = 1;
  while (2 * step < side) step *= 2;
  for (; step > 0; step /= 2) {
    kernels_->enqueue_step_nearest(queue, static_cast<int>(step), detail::Access::memory(*from),
                                   detail::Access::memory(*to));
    std::swap(from, to);
  }
  kernels_->enqueue_copy_nearest(queue, detail::Access::memory(*from),
                                 detail::Access::memory(values), detail::Access::memory(states_));
}

void FillMissingPlan::smooth(Stream& stream, Buffer& values, int depth) {
  const double greatest = greatest_eigenvalue(spec_.shape);
  if (greatest == 0) return;
  backend::Queue& queue = detail::Access::queue(stream);
  kernels_->enqueue_equations(queue, detail::Access::memory(states_),
                              detail::Access::memory(values), detail::Access::memory(roles_),
                              detail::Access::memory(links_), detail::Access::memory(residual_),
                              detail::Access::memory(direction_));
  kernels_->enqueue_counts(queue, detail::Access::memory(links_), detail::Access::memory(counts_));
  const Offsets offsets = offsets_of(downloaded(stream, counts_));
  if (offsets.num_smoothed == 0 || offsets.num_equations == 0) return;
  const Buffer begins = detail::uploaded(device_, offsets.begins);
  const auto bytes = [](std::int64_t entries) {
    return static_cast<std::size_t>(entries) * sizeof(std::uint32_t);
  };
  Buffer smoothed = device_.make_buffer(bytes(offsets.num_smoothed));
  Buffer equations = device_.make_buffer(bytes(offsets.num_equations));
  Buffer steps = device_.make_buffer(bytes(offsets.num_smoothed));
  kernels_->enqueue_lists(queue, detail::Access::memory(links_), detail::Access::memory(begins),
                          detail::Access::memory(smoothed), detail::Access::memory(equations));
  const backend::HoleEquations of{.links = detail::Access::memory(links_),
                                  .smoothed = detail::Access::memory(smoothed),
                                  .equations = detail::Access::memory(equations),
                                  .num_smoothed = offsets.num_smoothed,
                                  .num_equations = offsets.num_equations,
                                  .residual = detail::Access::memory(residual_),
                                  .direction = detail::Access::memory(direction_),
                                  .steps = detail::Access::memory(steps)};
  const double least = std::min(least_eigenvalue(depth), greatest / 8);
  const double centre = (greatest + least) / 2, radius = (greatest - least) / 2;
  const double root = std::sqrt(greatest / least);
  const double needed = std::log(2 / remaining_change) / std::log((root + 1) / (root - 1));
  const int iterations = std::min(static_cast<int>(std::ceil(needed)), max_iterations);
  double ratio = radius / centre;
  kernels_->enqueue_iteration(queue, 0, static_cast<float>(1 / centre), of);
  for (int i = 1; i < iterations; ++i) {
    const double next = 1 / (2 * centre / radius - ratio);
    kernels_->enqueue_iteration(queue, static_cast<float>(next * ratio),
                                static_cast<float>(2 * next / radius), of);
    ratio = next;
  }
  kernels_->enqueue_add(queue, of, detail::Access::memory(values));
}

MarkMissingPlan::MarkMissingPlan(const Device& device, std::int64_t results)
    : device_(device),
      count_(results),
      kernels_(detail::Access::driver(device).make(checked_fill({{results, 1, 1}, 1}))) {}

void MarkMissingPlan::execute(Stream& stream, const MissingResults& how, Buffer& shares,
                              Buffer& results) const {
  const std::size_t bytes = static_cast<std::size_t>(count_) * sizeof(float);
  detail::check_stream(fill_missing_stage, device_, stream);
  detail::check_buffer(fill_missing_stage, "the shares", device_, shares, bytes);
  detail::check_buffer(fill_missing_stage, "the results", device_, results, bytes);
  kernels_->enqueue_mark(detail::Access::queue(stream), how,
                         static_cast<float>(min_known_share - detail::share_rounding),
                         detail::Access::memory(shares), detail::Access::memory(results));
}

}  // namespace warpalign
