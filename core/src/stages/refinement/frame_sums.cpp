// Stage: the sums for one Gauss-Newton step of the similarity transforms of many frames.
#include <warpalign/backend/stages/refinement/frame_sums.hpp>

#include "device/access.hpp"
#include "device/check.hpp"
#include "stages/results.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

namespace warpalign {

namespace {

constexpr const char* frame_sums_stage = "frame_sums";
// Kernels compute the reference's points in single precision relative to the first point of a cell.
// So the size of a cell is limited, and its points must not overflow an integer.
constexpr float max_step = 16;
constexpr std::int32_t max_coordinate = 1 << 24;
constexpr const char* one_for_each_cell = "there must be one state and one sum for each cell";

/// Calls `use` for every sum, in the order in which a device stores them.
template <class Sums, class Use>
void for_each_sum(Sums& s, Use use) {
  for (auto* one : {&s.weight, &s.r, &s.m, &s.rr, &s.mm, &s.rm}) use(*one);
  for (auto& one : s.zj) use(one);
  for (auto* four : {&s.zr, &s.z, &s.zm, &s.jr, &s.j}) {
    for (auto& one : *four) use(one);
  }
  for (auto* one : {&s.slopes, &s.pixels, &s.absolute}) use(*one);
}

FrameSumsSpec checked(const FrameSumsSpec& spec) {
  detail::check_shape(frame_sums_stage, "the frame", spec.frame);
  if (spec.cells < 1 || spec.frames < 1) {
    detail::refuse(frame_sums_stage, "there must be at least one cell and one frame");
  }
  if (spec.references != 1 && spec.references != spec.frames) {
    detail::refuse(frame_sums_stage, "there must be one reference, or one for each frame");
  }
  return spec;
}

std::size_t count_of(const FrameSumsSpec& spec) {
  return static_cast<std::size_t>(spec.cells * spec.frames);
}

// Kernels do not check bounds.
void check_state(const FrameState& s, const Shape& frame) {
  if (s.active == 0) return;
  const bool inside = s.first_column >= 1 && s.end_column <= frame.width - 1 && s.first_row >= 1 &&
                      s.end_row <= frame.height - 1;
  if (!inside)
    detail::refuse(frame_sums_stage, "the pixels of a cell need neighbours in the frame");
  for (const float step : {s.a, s.b, s.d, s.e}) {
    if (!(std::abs(step) <= max_step))
      detail::refuse(frame_sums_stage, "a step is more than 16 pixels");
  }
  const bool near = std::abs(s.reference_x) <= max_coordinate &&
                    std::abs(s.reference_y) <= max_coordinate && s.fraction_x >= 0 &&
                    s.fraction_x <= 1 && s.fraction_y >= 0 && s.fraction_y <= 1;
  if (!near) detail::refuse(frame_sums_stage, "a cell is too far away from the reference");
}

}  // namespace

FrameSums& FrameSums::operator+=(const FrameSums& other) {
  std::array<double, backend::frame_sum_count> added{};
  std::size_t next = 0;
  for_each_sum(other, [&](double sum) { added[next++] = sum; });
  next = 0;
  for_each_sum(*this, [&](double& sum) { sum += added[next++]; });
  return *this;
}

FrameSumsPlan::FrameSumsPlan(const Device& device, const FrameSumsSpec& spec)
    : device_(device),
      spec_(checked(spec)),
      kernel_(detail::Access::driver(device).make(spec)),
      states_(std::make_shared<Buffer>(device_.make_buffer(count_of(spec) * sizeof(FrameState)))),
      partials_(std::make_shared<detail::Results<float>>(
          device, count_of(spec) * backend::frame_sum_count)) {}

void FrameSumsPlan::execute(Stream& stream, const Image& frames, const Image& reference,
                            std::span<const FrameState> states, std::span<FrameSums> sums) const {
  if (sums.size() != states.size()) detail::refuse(frame_sums_stage, one_for_each_cell);
  enqueue(stream, frames, reference, states);
  fetch(stream, states, sums);
}

void FrameSumsPlan::enqueue(Stream& stream, const Image& frames, const Image& reference,
                            std::span<const FrameState> states) const {
  detail::check_stream(frame_sums_stage, device_, stream);
  const Shape& frame = spec_.frame;
  detail::check_image(frame_sums_stage, "the frames", device_, frames, PixelType::f32,
                      {frame.width, frame.height, spec_.frames});
  detail::check_image(frame_sums_stage, "the reference", device_, reference, PixelType::f32,
                      {frame.width, frame.height, spec_.references});
  if (states.size() != count_of(spec_)) detail::refuse(frame_sums_stage, one_for_each_cell);
  for (const FrameState& state : states) check_state(state, frame);
  stream.upload(states.data(), states.size_bytes(), *states_);
  kernel_->enqueue(detail::Access::queue(stream),
                   {detail::Access::memory(frames), detail::Access::memory(reference),
                    detail::Access::memory(std::as_const(*states_))},
                   partials_->memory());
}

void FrameSumsPlan::fetch(Stream& stream, std::span<const FrameState> states,
                          std::span<FrameSums> sums) const {
  if (states.size() != count_of(spec_) || sums.size() != states.size()) {
    detail::refuse(frame_sums_stage, one_for_each_cell);
  }
  const float* next = partials_->fetch(stream).data();
  for (std::size_t cell = 0; cell < sums.size(); ++cell) {
    if (states[cell].active == 0) {
      next += backend::frame_sum_count;
    } else {
      for_each_sum(sums[cell], [&](double& sum) { sum = static_cast<double>(*next++); });
    }
  }
}

}  // namespace warpalign
