// Stage: the sums for one Gauss-Newton step of the affine transform between two volumes.
#include <warpalign/backend/stages/volume/affine_volume_sums.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/group_sums.hpp"
#include "stages/results.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace warpalign {

namespace {

constexpr const char* affine_volume_sums_stage = "affine_volume_sums";
constexpr std::int64_t max_states = 1024;

AffineVolumeSumsSpec checked(const AffineVolumeSumsSpec& spec) {
  detail::check_shape(affine_volume_sums_stage, "the reference", spec.reference, detail::max_side);
  detail::check_shape(affine_volume_sums_stage, "the moving volume", spec.moving, detail::max_side);
  if (spec.margin < 1) detail::refuse(affine_volume_sums_stage, "the margin must be at least 1");
  if (spec.max_states < 1 || spec.max_states > max_states) {
    detail::refuse(affine_volume_sums_stage,
                   "max_states must be 1 to " + std::to_string(max_states));
  }
  return spec;
}

void check_state(const AffineVolumeState& state) {
  for (const float number : state.rows) {
    if (!std::isfinite(number))
      detail::refuse(affine_volume_sums_stage, "a transform contains NaN or infinity");
  }
}

// The device computes only the upper triangles of S and of q q'.
void set_matrix(std::span<const double, 60> entries, std::array<double, 144>& matrix) {
  std::size_t gradients = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = i; k < 3; ++k, ++gradients) {
      std::size_t positions = 0;
      for (std::size_t j = 0; j < 4; ++j) {
        for (std::size_t l = j; l < 4; ++l, ++positions) {
          const double value = entries[10 * gradients + positions];
          for (const auto& [p, q] : {std::pair(j, l), std::pair(l, j)}) {
            matrix[(4 * i + p) * 12 + 4 * k + q] = value;
            matrix[(4 * k + p) * 12 + 4 * i + q] = value;
          }
        }
      }
    }
  }
}

AffineVolumeSums sums_of(std::span<const double, backend::affine_volume_sum_count> total) {
  AffineVolumeSums sums;
  set_matrix(total.first<60>(), sums.matrix);
  std::copy_n(total.begin() + 60, 12, sums.vector.begin());
  std::size_t next = 72;
  for (double* sum : {&sums.weight, &sums.r, &sums.m, &sums.rr, &sums.mm, &sums.rm, &sums.voxels,
                      &sums.absolute}) {
    *sum = total[next++];
  }
  return sums;
}

}  // namespace

AffineVolumeSumsPlan::AffineVolumeSumsPlan(const Device& device, const AffineVolumeSumsSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      states_(std::make_shared<Buffer>(device_.make_buffer(
          static_cast<std::size_t>(spec.max_states) * sizeof(AffineVolumeState)))),
      partials_(std::make_shared<detail::Results<float>>(
          device, static_cast<std::size_t>(spec.max_states) *
                      static_cast<std::size_t>(kernel_->parts()) *
                      backend::affine_volume_sum_count)) {}

void AffineVolumeSumsPlan::execute(Stream& stream, const Image& reference, const Image& moving,
                                   std::span<const AffineVolumeState> states,
                                   std::span<AffineVolumeSums> sums) const {
  detail::check_stream(affine_volume_sums_stage, device_, stream);
  detail::check_image(affine_volume_sums_stage, "the reference", device_, reference, PixelType::f32,
                      spec_.reference);
  detail::check_image(affine_volume_sums_stage, "the moving volume", device_, moving,
                      PixelType::f32, spec_.moving);
  if (states.size() > static_cast<std::size_t>(spec_.max_states) || sums.size() != states.size()) {
    detail::refuse(affine_volume_sums_stage, "there must be at most " +
                                                 std::to_string(spec_.max_states) +
                                                 " states, and a sum for each");
  }
  if (states.empty()) return;
  for (const AffineVolumeState& state : states) check_state(state);
  stream.upload(states.data(), states.size_bytes(), *states_);
  kernel_->enqueue(detail::Access::queue(stream),
                   {detail::Access::memory(reference), detail::Access::memory(moving),
                    detail::Access::memory(std::as_const(*states_))},
                   static_cast<std::int64_t>(states.size()), partials_->memory());
  constexpr std::size_t count = backend::affine_volume_sum_count;
  const auto parts = static_cast<std::size_t>(kernel_->parts());
  const auto partials = partials_->fetch(stream, states.size() * count * parts);
  for (std::size_t state = 0; state < states.size(); ++state) {
    if (states[state].active == 0) continue;
    std::array<double, count> total{};
    for (std::size_t i = 0; i < count; ++i) {
      total[i] = detail::total_of_groups(partials, parts, state * count + i);
    }
    sums[state] = sums_of(total);
  }
}

}  // namespace warpalign
