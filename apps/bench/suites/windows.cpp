// Suite: the shifts of frames and of windows of frames, all against one reference.
#include "bench/drifting_frames.hpp"
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

constexpr double tolerance = 0.01;  // in pixels: what the suite's frames are to be found to

constexpr double min_reliable = 0.5;  // of the windows: some show little

class WindowsWork final : public StageWork {
 public:
  WindowsWork(const Device& device, std::int64_t side, std::size_t frames, std::int64_t window)
      : StageWork(device,
                  {{PixelType::u16,
                    {side, side, static_cast<std::int64_t>(frames)},
                    drifting_frames(side, frames)}},
                  {}),
        side_(side),
        window_(window) {
    const auto* pixels = values_of<std::uint16_t>(input(0).pixels);
    for (std::size_t i = 0; i < frames; ++i) {
      frames_.push_back(
          {pixels + i * static_cast<std::size_t>(side * side), PixelType::u16, side, side, 0});
    }
  }

  void make_plans() override {
    registrar_.reset();  // frees its memory before the new one allocates
    WindowOptions options;
    options.width = options.height = window_;
    registrar_.emplace(device(), PixelType::u16, Shape{side_, side_, 1}, options);
    registrar_->set_reference(frames_[0]);
  }

  [[nodiscard]] bool waits() const override { return true; }

  Verdict verify(Stream& /*stream*/) override {
    const std::vector<WindowShift> found = registrar_->align(frames_);
    double worst = 0;
    std::size_t reliable = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!found[i].reliable) continue;
      ++reliable;
      const std::size_t frame = i / registrar_->windows();
      const Point drift = drift_of(frame);
      const double error = std::hypot(found[i].shift.x - drift.x, found[i].shift.y - drift.y);
      if (!(error <= worst)) worst = error;
    }
    const bool enough =
        static_cast<double>(reliable) >= min_reliable * static_cast<double>(found.size());
    return {enough ? worst : std::numeric_limits<double>::infinity(), tolerance,
            "the shifts that the frames were drawn with, in pixels"};
  }

 private:
  void run_on(Stream& /*stream*/, Set& /*set*/) override {
    static_cast<void>(registrar_->align(frames_));
  }

  std::int64_t side_, window_;
  std::vector<HostImage> frames_;
  std::optional<WindowRegistrar> registrar_;
};

Case case_of(std::int64_t side, const char* name, std::size_t frames, std::int64_t window) {
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
    return std::make_unique<WindowsWork>(device, side, frames, window);
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
  }
  return cases;
}

}  // namespace warpalign::program::bench
