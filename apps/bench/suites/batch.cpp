// Suite: many pairs in one call, on one to four streams.
#include "bench/registration_check.hpp"
#include "bench/stage_work.hpp"
#include "bench/suites.hpp"

#include <warpalign/batch.hpp>

#include <cmath>
#include <span>

namespace warpalign::program::bench {
namespace {

/// So few pairs are registered one by one, and so many together.
constexpr std::size_t few_pairs = 32;
constexpr std::size_t many_pairs = 512;

/// Each call creates its registrars; the device keeps kernels and FFT plans.
class BatchWork final : public StageWork {
 public:
  BatchWork(const Device& device, std::int64_t side, std::size_t pairs, int streams)
      : StageWork(device,
                  {{PixelType::u8, {side, side, 1}, registration_pair(side).reference},
                   {PixelType::u8, {side, side, 1}, registration_pair(side).moving}},
                  {}),
        side_(side),
        streams_(streams),
        truth_(registration_pair(side).truth),
        pairs_(pairs, HostPair{view(0), view(1)}) {}

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

Case case_of(std::int64_t side, const char* name, std::size_t pairs, int streams) {
  const Shape shape{side, side, 1};
  const auto pixels = static_cast<std::size_t>(shape.pixels());
  Case made;
  made.suite = "batch";
  made.name = name;
  made.size = shape;
  made.yardstick = pairs == few_pairs ? "1 stream" : "";
  made.unit = "pairs";
  made.operations = static_cast<double>(pairs);
  made.bytes = 2.0 * static_cast<double>(pairs * pixels);
  made.max_allocation = 2 * pixels * sizeof(float);
  const std::size_t together = pairs == many_pairs ? 32 : 1;
  made.memory_bytes = static_cast<std::size_t>(streams) * together * 40 * pixels * sizeof(float);
  made.on_device = [side, pairs, streams](const Device& device) {
    return std::make_unique<BatchWork>(device, side, pairs, streams);
  };
  return made;
}

}  // namespace

std::vector<Case> batch_cases(const Sizes& sizes) {
  std::vector<Case> cases;
  for (const std::int64_t side : sizes.sides_or({512})) {
    cases.push_back(case_of(side, "1 stream", few_pairs, 1));
    cases.push_back(case_of(side, "2 streams", few_pairs, 2));
    cases.push_back(case_of(side, "4 streams", few_pairs, 4));
    cases.push_back(case_of(side, "many pairs, 2 streams", many_pairs, 2));
  }
  return cases;
}

}  // namespace warpalign::program::bench
