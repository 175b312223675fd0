// Suite: registration of a pair of 8-bit images. Registration paper, table 1 (time), figure 4 (its
// breakdown by stage) and figure 5 (frames a second); and the whole search with its refinement.
#include "bench/registration_check.hpp"
#include "bench/stage_times.hpp"
#include "bench/stage_work.hpp"
#include "bench/suites.hpp"

#include <warpalign/registrar.hpp>

#include <optional>

namespace warpalign::program::bench {
namespace {

enum class ImageSource {
  pair_from_host,   ///< upload both images, as in the paper's times
  pair_on_device,   ///< both images new, but already on the device
  moving_on_device  ///< keep the reference from run to run
};

enum class Pipeline {
  fast,  ///< the paper's pipeline
  full   ///< search, verification and refinement
};

RegistrationOptions options_of(Pipeline pipeline, bool collect_timings) {
  RegistrationOptions options;
  options.fast = pipeline == Pipeline::fast;
  options.collect_timings = collect_timings;
  return options;
}

class RegistrationWork final : public StageWork {
 public:
  RegistrationWork(const Device& device, std::int64_t side, Pipeline pipeline, ImageSource source)
      : StageWork(device,
                  {{PixelType::u8, {side, side, 1}, registration_pair(side).reference},
                   {PixelType::u8, {side, side, 1}, registration_pair(side).moving}},
                  {}),
        side_(side),
        pipeline_(pipeline),
        source_(source),
        truth_(registration_pair(side).truth) {}

  void make_plans() override {
    registrar_.reset();  // frees its memory before the new one allocates
    registrar_.emplace(device(), options_of(pipeline_, false));
    if (source_ == ImageSource::moving_on_device) registrar_->set_reference(first_set().inputs[0]);
  }

  [[nodiscard]] bool waits() const override { return true; }

  Verdict verify(Stream& /*stream*/) override {
    return checked(align(*registrar_, first_set()), truth_, side_);
  }

  std::vector<Part> parts(std::size_t runs) override {
    if (source_ == ImageSource::pair_from_host) return {};
    Registrar timed(device(), options_of(pipeline_, true));
    if (source_ == ImageSource::moving_on_device) timed.set_reference(first_set().inputs[0]);
    static_cast<void>(align(timed, first_set()));
    return median_parts(runs, [&] { return align(timed, first_set()).timings; });
  }

 private:
  void run_on(Stream& /*stream*/, Set& set) override { static_cast<void>(align(*registrar_, set)); }

  RegistrationResult align(Registrar& registrar, const Set& set) {
    if (source_ == ImageSource::pair_from_host) {
      registrar.set_reference(view(0));
      return registrar.align(view(1));
    }
    if (source_ == ImageSource::pair_on_device) registrar.set_reference(set.inputs[0]);
    return registrar.align(set.inputs[1]);
  }

  [[nodiscard]] HostImage view(std::size_t i) const {
    return {input(i).pixels->data(), PixelType::u8, side_, side_, 0};
  }

  std::int64_t side_;
  Pipeline pipeline_;
  ImageSource source_;
  Affine truth_;
  std::optional<Registrar> registrar_;
};

Case case_of(std::int64_t side, const char* name, Pipeline pipeline, ImageSource source) {
  const Shape shape{side, side, 1};
  const auto pixels = static_cast<std::size_t>(shape.pixels());
  Case made;
  made.suite = "registration";
  made.name = name;
  made.size = shape;
  made.unit = "frames";
  made.operations = 1;
  made.bytes = 2.0 * static_cast<double>(pixels);
  made.max_allocation = 2 * pixels * sizeof(float);
  made.memory_bytes =
      2 * pixels + 20 * pixels * sizeof(float);  // the pipeline's padded frames, roughly
  made.on_device = [=](const Device& device) {
    return std::make_unique<RegistrationWork>(device, side, pipeline, source);
  };
  return made;
}

}  // namespace

std::vector<Case> registration_cases(const Sizes& sizes) {
  std::vector<Case> cases;
  for (const std::int64_t side : sizes.sides_or({512, 1024, 2048})) {
    const auto add = [&](const char* name, Pipeline pipeline, ImageSource source) {
      cases.push_back(case_of(side, name, pipeline, source));
    };
    add("pair, from host memory", Pipeline::fast, ImageSource::pair_from_host);
    add("pair, on the device", Pipeline::fast, ImageSource::pair_on_device);
    add("moving image, on the device", Pipeline::fast, ImageSource::moving_on_device);
    add("pair, from host memory, refined", Pipeline::full, ImageSource::pair_from_host);
    add("pair, on the device, refined", Pipeline::full, ImageSource::pair_on_device);
    add("moving image, on the device, refined", Pipeline::full, ImageSource::moving_on_device);
  }
  return cases;
}

}  // namespace warpalign::program::bench
