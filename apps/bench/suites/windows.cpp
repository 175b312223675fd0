// Suite: the shifts of frames and of windows of frames, all against one reference.
#include "bench/drifting_frames.hpp"
#include "bench/host_frames.hpp"
#include "bench/stage_times.hpp"
#include "bench/stage_work.hpp"
#include "bench/suites.hpp"

#include <warpalign/local_motion.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace warpalign::program::bench {
namespace {

constexpr double tolerance = 0.01;  // allowed error, in pixels

constexpr std::size_t max_distinct = 64;  // frames; more of them repeat these
constexpr double min_reliable = 0.5;      // fraction of the windows; some have little texture

class WindowsWork final : public StageWork {
 public:
  WindowsWork(const Device& device, std::int64_t side, std::size_t frames, HostMemory memory,
              std::int64_t window, bool within)
      : StageWork(device, {}, {}),
        side_(side),
        window_(window),
        within_(within),
        frames_(device, memory, drifting_frames(side, std::min(frames, max_distinct)), side,
                frames) {}

  void make_plans() override {
    registrar_.reset();  // frees its memory before the new one allocates
    make(registrar_, false);
  }

  [[nodiscard]] bool waits() const override { return true; }

  Verdict verify(Stream& /*stream*/) override {
    const std::vector<WindowShift> found = registrar_->align(frames_.images());
    double worst = 0;
    std::size_t reliable = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!found[i].reliable) continue;
      ++reliable;
      const std::size_t frame = i / registrar_->windows();
      const Point drift = drift_of(frames_.origin_of(frame));
      const double error = std::hypot(found[i].shift.x - drift.x, found[i].shift.y - drift.y);
      if (!(error <= worst)) worst = error;
    }
    const bool enough =
        static_cast<double>(reliable) >= min_reliable * static_cast<double>(found.size());
    return {enough ? worst : std::numeric_limits<double>::infinity(), tolerance,
            "the shifts that the frames were drawn with, in pixels"};
  }

  std::vector<Part> parts(std::size_t runs) override {
    std::optional<WindowRegistrar> timed;
    make(timed, true);
    return median_parts(runs, [&] {
      static_cast<void>(timed->align(frames_.images()));
      return timed->timings();
    });
  }

 private:
  void run_on(Stream& /*stream*/, Set& /*set*/) override {
    static_cast<void>(registrar_->align(frames_.images()));
  }

  void make(std::optional<WindowRegistrar>& registrar, bool collect_timings) const {
    WindowOptions options;
    options.width = options.height = window_;
    options.collect_timings = collect_timings;
    options.correct_varying_motion = within_;
    registrar.emplace(device(), PixelType::u16, Shape{side_, side_, 1}, options);
    registrar->set_reference(frames_.images().front());
  }

  std::int64_t side_, window_;
  bool within_;
  HostFrames frames_;
  std::optional<WindowRegistrar> registrar_;
};

Case case_of(std::int64_t side, const char* name, std::size_t frames, std::int64_t window,
             HostMemory memory = HostMemory::pageable, bool within = false) {
  const Shape shape{side, side, 1};
  const auto pixels = static_cast<std::size_t>(shape.pixels());
  Case made;
  made.suite = "windows";
  made.name = name;
  made.size = shape;
  const std::int64_t across = window == 0 ? 1 : (2 * side - 1) / window;
  made.unit = window == 0 ? "frames" : "windows";
  made.operations = static_cast<double>(frames) * static_cast<double>(across * across);
  made.bytes = 2.0 * static_cast<double>(frames * pixels);
  made.max_allocation = 4 * frames * pixels * sizeof(float);
  made.memory_bytes = 40 * frames * pixels * sizeof(float);
  made.on_device = [=](const Device& device) {
    return std::make_unique<WindowsWork>(device, side, frames, memory, window, within);
  };
  return made;
}

}  // namespace

std::vector<Case> window_cases(const Sizes& sizes) {
  std::vector<Case> cases;
  for (const std::int64_t side : sizes.sides_or({512})) {
    cases.push_back(case_of(side, "64 whole frames", 64, 0));
    cases.push_back(case_of(side, "windows of 256", 16, std::min<std::int64_t>(side, 256)));
    cases.push_back(case_of(side, "windows of 64", 16, 64));
    cases.push_back(case_of(side, "256 whole frames, pinned", 256, 0, HostMemory::pinned));
    cases.push_back(case_of(side, "128 in windows of 256, pinned", 128,
                            std::min<std::int64_t>(side, 256), HostMemory::pinned));
    cases.push_back(case_of(side, "64, and the motion within windows of 128, pinned", 64,
                            std::min<std::int64_t>(side, 128), HostMemory::pinned, true));
  }
  return cases;
}

}  // namespace warpalign::program::bench
