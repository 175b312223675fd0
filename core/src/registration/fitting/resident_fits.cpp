// Gauss-Newton fits that run on the device from their first step to their last.
#include "registration/fitting/resident_fits.hpp"

#include "stages/results.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace warpalign::detail {

namespace {

// The limit of the larger side of the smaller image: the 256 pixels of a level, plus rounding.
constexpr double max_common_side = 260;
// The limit of either image's larger side: single precision maps its corners to within 3e-5 pixels.
constexpr double max_side = 1024;
constexpr std::size_t max_fits = 512;
constexpr std::size_t max_states_at_once = 64;
constexpr std::size_t min_capacity = 32;

// The host polls first after the first sums and a few steps, because nearly all fits need as many,
// and then every few steps. During a poll the device runs the next steps, which are wasted if all
// fits have ended. Their number is just enough to cover the time of a poll.
constexpr int steps_before_poll = 4;
constexpr int steps_between_polls = 2;

// Smaller pivots are dominated by rounding in single precision.
constexpr float single_min_pivot = 1e-6F;

template <class From, class To, std::size_t count>
void copy_numbers(const From (&from)[count], std::array<To, count>& to) {
  std::transform(from, from + count, to.begin(), [](From x) { return static_cast<To>(x); });
}

template <class From, class To, std::size_t count>
void copy_numbers(const std::array<From, count>& from, To (&to)[count]) {
  std::transform(from.begin(), from.end(), to, [](From x) { return static_cast<To>(x); });
}

// Calls copy(a, b) for each input of a fit.
template <class A, class B, class Copy>
void copy_inputs(A& a, B& b, const Copy& copy) {
  copy(a.reference_x, b.reference_x);
  copy(a.reference_y, b.reference_y);
  copy(a.moving_x, b.moving_x);
  copy(a.moving_y, b.moving_y);
  copy(a.min_pixels, b.min_pixels);
  copy(a.max_drift, b.max_drift);
  copy(a.tolerance, b.tolerance);
  copy(a.scale_of_mean, b.scale_of_mean);
  copy(a.free_parameters, b.free_parameters);
  copy(a.iterations, b.iterations);
  copy(a.fixed_illumination, b.fixed_illumination);
  copy(a.in_progress, b.in_progress);
}

// Calls copy(a, b) for each member that steps change, except for the transforms.
template <class A, class B, class Copy>
void copy_results(A& a, B& b, const Copy& copy) {
  copy(a.in_progress, b.in_progress);
  copy(a.iteration, b.iteration);
  copy(a.gain, b.gain);
  copy(a.offset, b.offset);
  copy(a.second_offset, b.second_offset);
  copy(a.scale, b.scale);
  copy(a.centre_x, b.centre_x);
  copy(a.centre_y, b.centre_y);
  copy(a.unit, b.unit);
  copy(a.found, b.found);
  copy(a.converged, b.converged);
  copy(a.last_move, b.last_move);
  copy(a.correlation, b.correlation);
  copy(a.pixels, b.pixels);
}

constexpr auto convert_number = [](const auto& from, auto& to) {
  to = static_cast<std::remove_reference_t<decltype(to)>>(from);
};

bool are_finite(std::span<const float> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); });
}

// The record of a fit at its start.
FitRecord record_of(const WaFit& fit, const FitPair& pair, const SimilaritySumsPlan& plan) {
  FitRecord record;
  record.channels = pair.second ? 2 : 1;
  record.groups = static_cast<std::int32_t>(plan.groups());
  copy_inputs(fit, record, convert_number);
  record.min_pivot = single_min_pivot;
  copy_numbers(fit.start, record.start);
  // A start that overflows single precision cannot be fitted.
  if (fit.in_progress == 0 || !are_finite(record.start)) {
    record.in_progress = 0;
    record.start = FitRecord{}.start;
  }
  record.matrix = record.start;
  return record;
}

// The state of the fit after its last step.
WaFit final_state(const WaFit& start, const FitRecord& record) {
  WaFit fit = start;
  copy_results(record, fit, convert_number);
  copy_numbers(record.matrix, fit.matrix);
  return fit;
}

bool any_active(std::span<const FitRecord> fits) {
  return std::any_of(fits.begin(), fits.end(),
                     [](const FitRecord& fit) { return fit.in_progress != 0; });
}

}  // namespace

bool prefers_resident_fits(const Device& device) { return device.info().kind == DeviceKind::gpu; }

ResidentFits::ResidentFits(const Device& device) : device_(device) {}
ResidentFits::~ResidentFits() = default;

bool ResidentFits::serve(std::span<const FitGroup> groups) {
  std::size_t fits = 0;
  for (const FitGroup& group : groups) {
    const double reference = larger_side(group.pair->images.reference.shape());
    const double moving = larger_side(group.pair->images.coefficients.shape());
    if (std::min(reference, moving) > max_common_side) return false;
    if (std::max(reference, moving) > max_side) return false;
    fits += group.matrices.size();
  }
  return fits > 0 && fits <= max_fits;
}

const SimilaritySumsPlan& ResidentFits::sums_of(const FitPair& pair, bool projective) {
  SimilaritySumsSpec spec = pair.sums(projective, max_states_at_once);
  spec.resident = true;
  return sums_.get(spec, [&] { return SimilaritySumsPlan(device_, spec); });
}

FitStepPlan& ResidentFits::steps_for(std::size_t fits, bool projective) {
  std::optional<Steps>& steps = projective ? homographies_ : similarities_;
  if (!steps || steps->fits < fits) {
    const std::size_t capacity = std::max(std::bit_ceil(fits), min_capacity);
    steps.reset();  // frees its memory before the new one allocates
    steps.emplace(Steps{FitStepPlan(device_, {projective, capacity}), capacity});
  }
  return steps->plan;
}

// Assigns the records of one group's fits their states of a channel, and memory for its sums.
void ResidentFits::assign_channel(const FitPair& pair, const SimilaritySumsPlan& plan,
                                  std::size_t channel, std::span<FitRecord> records) {
  const SimilarityImages& images = channel == 0 ? pair.images : *pair.second;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (i % max_states_at_once == 0) {
      const std::size_t together = std::min(max_states_at_once, records.size() - i);
      requests_.push_back(plan.resident(images, states_, together, numbers_));
    }
    records[i].states[channel] = static_cast<std::int32_t>(states_++);
    records[i].partials[channel] = static_cast<std::int32_t>(numbers_);
    numbers_ += plan.partial_count();
  }
}

void ResidentFits::prepare_records(std::span<const FitGroup> groups, std::span<const FitSteps> fits,
                                   bool projective) {
  records_.clear();
  requests_.clear();
  states_ = numbers_ = 0;
  records_.reserve(fits.size());
  for (const FitGroup& group : groups) {
    if (group.matrices.empty()) continue;
    const SimilaritySumsPlan& plan = sums_of(*group.pair, projective);
    const std::size_t first = records_.size();
    for (std::size_t i = 0; i < group.matrices.size(); ++i) {
      records_.push_back(record_of(fits[first + i].fit(), *group.pair, plan));
    }
    const auto group_records = std::span(records_).subspan(first);
    assign_channel(*group.pair, plan, 0, group_records);
    if (group.pair->second) assign_channel(*group.pair, plan, 1, group_records);
  }
  make_room(partials_, device_, numbers_);
}

void ResidentFits::enqueue(Stream& stream, StageClock& clock, const FitStepPlan& steps, int count) {
  if (count == 0) return;
  clock.run("gauss_newton", [&] {
    for (int step = 0; step < count; ++step) {
      SimilaritySumsPlan::enqueue_resident(stream, requests_, steps.states(), *partials_);
      steps.enqueue(stream, *partials_);
    }
  });
}

void ResidentFits::run(Stream& stream, StageClock& clock, std::span<const FitGroup> groups,
                       std::span<FitSteps> fits, const FitOptions& options) {
  const bool projective = is_projective(options.motion);
  prepare_records(groups, fits, projective);
  const FitStepPlan& steps = steps_for(fits.size(), projective);
  int left = options.iterations + 1;  // begin() takes the first sums
  if (steps.runs(requests_)) {
    clock.run("gauss_newton", [&] { steps.run(stream, records_, requests_, left); });
    left = 0;
  } else {
    steps.begin(stream, records_);
  }
  const auto enqueue_some = [&](int most) {
    const int count = std::min(most, left);
    enqueue(stream, clock, steps, count);
    left -= count;
  };
  enqueue_some(steps_before_poll);
  for (;;) {
    steps.look(stream);
    enqueue_some(steps_between_polls);  // the device is busy while the host polls
    const std::span<const FitRecord> seen = steps.seen();
    if (any_active(seen)) continue;
    for (std::size_t i = 0; i < fits.size(); ++i) fits[i].take(final_state(fits[i].fit(), seen[i]));
    return;
  }
}

}  // namespace warpalign::detail
