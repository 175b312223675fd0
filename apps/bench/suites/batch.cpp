// Suite: many pairs in one call, on one to four streams.
#include "bench/registration_check.hpp"
#include "bench/stage_work.hpp"
#include "bench/suites.hpp"

#include <warpalign/batch.hpp>

#include <cmath>
#include <span>

namespace warpalign::program::bench {
namespace {

constexpr std::size_t pairs_per_call = 32;

/// Each call creates its registrars; the device keeps kernels and FFT plans.
class BatchWork final : public StageWork {
 public:
  BatchWork(const Device& device, std::int64_t side, int streams)
      : StageWork(device,
                  {{PixelType::u8, {side, side, 1}, registration_pair(side).reference},
                   {PixelType::u8, {side, side, 1}, registration_pair(side).moving}},
                  {}),
        side_(side),
        streams_(streams),
        truth_(registration_pair(side).truth),
        pairs_(pairs_per_call, HostPair{view(0), view(1)}) {}

  void make_plans() override {}  // align_batch makes them

  [[nodiscard]] bool waits() const override { return true; }

  Verdict verify(Stream& /*stream*/) override {
    Verdict worst;
    for (const BatchResult& each : align_all()) {
      if (each.error) throw Error(*each.error);
      const Verdict verdict = checked(*each.result, truth_, side_);
      if (!(verdict.error <= worst.error)) worst = verdict;
      if (std::isnan(worst.error)) break;
    }
    return worst;
  }

 private:
  void run_on(Stream& /*stream*/, Set& /*set*/) override { static_cast<void>(align_all()); }

  std::vector<BatchResult> align_all() {
    BatchOptions options;
    options.streams_per_device = streams_;
    return align_batch(std::span(&device(), 1), pairs_, {}, options);
  }

  [[nodiscard]] HostImage view(std::size_t i) const {
    return {input(i).pixels->data(), PixelType::u8, side_, side_, 0};
  }

  std::int64_t side_;
  int streams_;
  Affine truth_;
  std::vector<HostPair> pairs_;
};

Case case_of(std::int64_t side, const char* name, int streams) {
  const Shape shape{side, side, 1};
  const auto pixels = static_cast<std::size_t>(shape.pixels());
  Case made;
  made.suite = "batch";
  made.name = name;
  made.size = shape;
  made.yardstick = "1 stream";
  made.unit = "pairs";
  made.operations = static_cast<double>(pairs_per_call);
  made.bytes = 2.0 * static_cast<double>(pairs_per_call * pixels);
  made.max_allocation = 2 * pixels * sizeof(float);
  made.memory_bytes = static_cast<std::size_t>(streams) * 40 * pixels * sizeof(float);
  made.on_device = [side, streams](const Device& device) {
    return std::make_unique<BatchWork>(device, side, streams);
  };
  return made;
}

}  // namespace

std::vector<Case> batch_cases(const Sizes& sizes) {
  std::vector<Case> cases;
  for (const std::int64_t side : sizes.sides_or({512})) {
    cases.push_back(case_of(side, "1 stream", 1));
    cases.push_back(case_of(side, "2 streams", 2));
    cases.push_back(case_of(side, "4 streams", 4));
  }
  return cases;
}

}  // namespace warpalign::program::bench
