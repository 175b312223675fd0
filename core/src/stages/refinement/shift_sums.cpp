// Stage: the sums for one Gauss-Newton step of the shifts of many windows.
#include <warpalign/backend/stages/refinement/shift_sums.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/results.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace warpalign {

namespace {

constexpr const char* shift_sums_stage = "shift_sums";
constexpr int max_parts = 1024;
constexpr const char* one_for_each_window =
    "there must be one state for each window, and one sum for each group";

constexpr auto& all_sums = backend::shift_sum_order;

ShiftSumsSpec checked(const ShiftSumsSpec& spec) {
  detail::check_shape(shift_sums_stage, "the frame", spec.frame);
  if (spec.windows < 1 || spec.frames < 1) {
    detail::refuse(shift_sums_stage, "there must be at least one window and one frame");
  }
  if (spec.parts < 1 || spec.parts > max_parts) {
    detail::refuse(shift_sums_stage,
                   "the number of parts must be 1 to " + std::to_string(max_parts));
  }
  if (spec.together < 1 || spec.windows % spec.together != 0) {
    detail::refuse(shift_sums_stage, "the size of a group must divide the number of windows");
  }
  return spec;
}

std::size_t count_of(const ShiftSumsSpec& spec) {
  return static_cast<std::size_t>(spec.windows * spec.frames);
}

std::size_t totals_of(const ShiftSumsSpec& spec) {
  return count_of(spec) / static_cast<std::size_t>(spec.together);
}

std::size_t partials_of(const ShiftSumsSpec& spec) {
  return count_of(spec) * static_cast<std::size_t>(spec.parts) * backend::shift_sum_count;
}

bool within(std::int64_t first, std::int64_t end, std::int64_t origin, std::int64_t before,
            std::int64_t after, std::int64_t extent) {
  return origin + first >= before && origin + end - 1 + after < extent;
}

// Kernels do not check bounds.
void check_state(const ShiftState& s, const Shape& frame) {
  if (s.active == 0 || s.first_column >= s.end_column || s.first_row >= s.end_row) return;
  const bool inside = within(s.first_column, s.end_column, s.frame_x, 1, 1, frame.width) &&
                      within(s.first_row, s.end_row, s.frame_y, 1, 1, frame.height) &&
                      within(s.first_column, s.end_column, s.reference_x, 1, 2, frame.width) &&
                      within(s.first_row, s.end_row, s.reference_y, 1, 2, frame.height);
  if (!inside)
    detail::refuse(shift_sums_stage, "a window extends beyond the frame or the reference");
}

}  // namespace

ShiftSumsPlan::ShiftSumsPlan(const Device& device, const ShiftSumsSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      states_(std::make_shared<Buffer>(device_.make_buffer(count_of(spec) * sizeof(ShiftState)))),
      partials_(std::make_shared<detail::Results<float>>(device, partials_of(spec))),
      totals_(std::make_shared<detail::Results<float>>(
          device, 2 * totals_of(spec) * backend::shift_sum_count)) {
  // Windows that have never been active need sums, too.
  Stream stream = device_.make_stream();
  partials_->clear(stream);
  totals_->clear(stream);
}

void ShiftSumsPlan::execute(Stream& stream, const Image& frames, const Image& reference,
                            const Buffer& frame_means, const Buffer& reference_means,
                            std::span<const ShiftState> states, std::span<ShiftSums> sums) const {
  if (sums.size() != totals_of(spec_)) detail::refuse(shift_sums_stage, one_for_each_window);
  enqueue(stream, frames, reference, frame_means, reference_means, states);
  fetch(stream, states, sums);
}

void ShiftSumsPlan::enqueue(Stream& stream, const Image& frames, const Image& reference,
                            const Buffer& frame_means, const Buffer& reference_means,
                            std::span<const ShiftState> states) const {
  detail::check_stream(shift_sums_stage, device_, stream);
  const Shape& frame = spec_.frame;
  detail::check_image(shift_sums_stage, "the frames", device_, frames, PixelType::f32,
                      {frame.width, frame.height, spec_.frames});
  detail::check_image(shift_sums_stage, "the reference", device_, reference, PixelType::f32, frame);
  detail::check_buffer(shift_sums_stage, "the frames' means", device_, frame_means,
                       totals_of(spec_) * sizeof(float));
  detail::check_buffer(shift_sums_stage, "the reference's means", device_, reference_means,
                       static_cast<std::size_t>(spec_.windows / spec_.together) * sizeof(float));
  if (states.size() != count_of(spec_)) detail::refuse(shift_sums_stage, one_for_each_window);
  for (const ShiftState& state : states) check_state(state, frame);
  stream.upload(states.data(), states.size_bytes(), *states_);
  kernel_->enqueue(detail::Access::queue(stream),
                   {detail::Access::memory(frames), detail::Access::memory(reference),
                    detail::Access::memory(frame_means), detail::Access::memory(reference_means),
                    detail::Access::memory(std::as_const(*states_))},
                   partials_->memory(), totals_->memory());
}

void ShiftSumsPlan::fetch(Stream& stream, std::span<const ShiftState> states,
                          std::span<ShiftSums> sums) const {
  if (states.size() != count_of(spec_) || sums.size() != totals_of(spec_)) {
    detail::refuse(shift_sums_stage, one_for_each_window);
  }
  const float* next = totals_->fetch(stream).data();
  const auto together = static_cast<std::size_t>(spec_.together);
  for (std::size_t i = 0; i < sums.size(); ++i, next += 2 * all_sums.size()) {
    if (states[i * together].active == 0) continue;
    for (std::size_t k = 0; k < all_sums.size(); ++k) {
      sums[i].*all_sums[k] =
          static_cast<double>(next[2 * k]) + static_cast<double>(next[2 * k + 1]);
    }
  }
}

void ShiftSumsPlan::fetch_windows(Stream& stream, std::span<ShiftSums> sums) const {
  if (sums.size() != count_of(spec_)) detail::refuse(shift_sums_stage, one_for_each_window);
  const float* next = partials_->fetch(stream).data();
  for (ShiftSums& of_window : sums) {
    of_window = {};
    for (int part = 0; part < spec_.parts; ++part) {
      for (double ShiftSums::*const sum : all_sums) of_window.*sum += static_cast<double>(*next++);
    }
  }
}

}  // namespace warpalign
