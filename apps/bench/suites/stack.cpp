// Suite: the drift of the frames of a stack, and their rotations and scales, registered together
// and one by one.
#include "bench/drifting_frames.hpp"
#include "bench/host_frames.hpp"
#include "bench/stage_times.hpp"
#include "bench/stage_work.hpp"
#include "bench/suites.hpp"

#include <warpalign/error.hpp>
#include <warpalign/frame_registrar.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace warpalign::program::bench {
namespace {

constexpr double tolerance = 0.01;  // allowed error, in pixels

constexpr std::size_t distinct_frames = 32;

/// The largest error of a corner of a square frame.
double error_of(const Affine& found, const Affine& expected, std::int64_t side) {
  double error = 0;
  for (const double x : {0.0, static_cast<double>(side - 1)}) {
    for (const double y : {0.0, static_cast<double>(side - 1)}) {
      const Point p = found({x, y});
      const Point q = expected({x, y});
      error = std::max(error, std::hypot(p.x - q.x, p.y - q.y));
    }
  }
  return error;
}

class StackFrames final : public StageWork {
 public:
  /// `at_once`: the number of frames to register together, as `warpalign stack` does.
  StackFrames(const Device& device, Motion motion, std::int64_t side, std::size_t frames,
              HostMemory memory, std::size_t at_once)
      : StageWork(device, {}, {}),
        motion_(motion),
        side_(side),
        at_once_(at_once),
        frames_(device, memory, moving_frames(motion, side), side, frames) {}

  void make_plans() override {
    together_.reset();  // these free their memory before the new ones allocate
    single_.reset();
    if (at_once_ > 1) {
      make(together_, false);
    } else {
      RegistrationOptions options;
      options.motion = motion_;
      single_.emplace(device(), options);
      single_->set_reference(frames_.images().front());
    }
  }

  [[nodiscard]] bool waits() const override { return true; }

  Verdict verify(Stream& /*stream*/) override {
    double worst = 0;
    const std::vector<RegistrationResult> found = register_all(together_);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double error = found[i].reliable ? error_of(found[i].matrix, expected(i), side_)
                                             : std::numeric_limits<double>::infinity();
      if (!(error <= worst)) worst = error;
    }
    return {worst, tolerance, "what the frames were drawn with, in pixels at their corners"};
  }

 private:
  static Pixels moving_frames(Motion motion, std::int64_t side) {
    return motion == Motion::translation ? drifting_frames(side, distinct_frames)
                                         : rotating_frames(side, distinct_frames);
  }

  [[nodiscard]] Affine expected(std::size_t frame) const {
    const std::size_t origin = frames_.origin_of(frame);
    if (motion_ != Motion::translation) return turn_of(side_, origin);
    const Point drift = drift_of(origin);
    return Affine::translation(drift.x, drift.y);
  }

  void make(std::optional<FrameRegistrar>& registrar, bool collect_timings) const {
    RegistrationOptions options;
    options.motion = motion_;
    options.collect_timings = collect_timings;
    registrar.emplace(device(), options, at_once_);
    registrar->set_reference(frames_.images().front());
  }

  void run_on(Stream& /*stream*/, Set& /*set*/) override {
    static_cast<void>(register_all(together_));
  }

  /// `timings`: if not null, receives the times of the stages that process frames together.
  std::vector<RegistrationResult> register_all(std::optional<FrameRegistrar>& together,
                                               std::vector<StageTiming>* timings = nullptr) {
    std::vector<RegistrationResult> results;
    if (single_) {
      for (const HostImage& frame : frames_.images()) results.push_back(single_->align(frame));
      return results;
    }
    for (std::span<const HostImage> rest = frames_.images(); !rest.empty();) {
      const auto some = rest.first(std::min(at_once_, rest.size()));
      for (BatchResult& one : together->align(some)) {
        if (one.error) throw Error(*one.error);
        results.push_back(std::move(*one.result));
      }
      if (timings != nullptr) *timings = together->timings();
      rest = rest.subspan(some.size());
    }
    return results;
  }

  Motion motion_;
  std::int64_t side_;
  std::size_t at_once_;
  HostFrames frames_;
  std::optional<FrameRegistrar> together_;
  std::optional<Registrar> single_;
};

Case case_of(std::int64_t side, Motion motion, std::size_t frames, std::size_t at_once,
             HostMemory memory = HostMemory::pageable) {
  const std::string moved = motion == Motion::translation ? "translation" : "similarity";
  const Shape shape{side, side, 1};
  const auto pixels = static_cast<std::size_t>(shape.pixels());
  Case made;
  made.suite = "stack";
  made.name = moved + (at_once > 1 ? ", " + std::to_string(at_once) + " at once" : ", one by one") +
              (memory == HostMemory::pinned ? ", pinned" : "");
  made.size = shape;
  made.yardstick = moved + ", one by one";
  made.unit = "frames";
  made.operations = static_cast<double>(frames);
  made.bytes = 2.0 * static_cast<double>(frames * pixels);
  made.max_allocation = 4 * at_once * pixels * sizeof(float);
  made.memory_bytes = 60 * at_once * pixels * sizeof(float);
  made.on_device = [=](const Device& device) {
    return std::make_unique<StackFrames>(device, motion, side, frames, memory, at_once);
  };
  return made;
}

}  // namespace

std::vector<Case> stack_cases(const Sizes& sizes) {
  std::vector<Case> cases;
  for (const std::int64_t side : sizes.sides_or({128, 512})) {
    for (const Motion motion : {Motion::translation, Motion::similarity}) {
      for (const std::size_t at_once : {1U, 32U}) {
        cases.push_back(case_of(side, motion, distinct_frames, at_once));
      }
      cases.push_back(case_of(side, motion, 256, 256, HostMemory::pinned));
    }
  }
  return cases;
}

}  // namespace warpalign::program::bench
