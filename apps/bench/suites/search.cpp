// Suite: registration of hard pairs of 8-bit images, for which log-polar spectra are not
// conclusive, up to pairs on which every proposer fails.
#include "bench/registration_check.hpp"
#include "bench/stage_times.hpp"
#include "bench/stage_work.hpp"
#include "bench/suites.hpp"

#include <warpalign/registrar.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>

namespace warpalign::program::bench {
namespace {

/// Two views of the same scene or of different scenes, and the options to register them.
struct HardPair {
  Pixels reference, moving;
  std::optional<Homography> truth;  ///< reference to moving pixels; empty if the pair is unrelated
  RegistrationOptions options;
};

HardPair unrelated(std::int64_t side) {
  return {view_of_scene(side, 1, Affine{}), view_of_scene(side, 2, Affine{}), std::nullopt, {}};
}

/// All models and all modalities.
HardPair unrelated_in_any_way(std::int64_t side) {
  HardPair pair = unrelated(side);
  pair.options.motion = Motion::automatic;
  pair.options.modality = Modality::automatic;
  return pair;
}

/// The moving image shows a sixth of the reference's width, too little for log-polar spectra.
HardPair zoomed(std::int64_t side) {
  const Shape shape{side, side, 1};
  const double shift = static_cast<double>(side) / 8;
  const Homography truth = Similarity{25, 6, {shift, -shift / 2}}.matrix(shape, shape);
  return {view_of_scene(side, 3, Affine{}), view_of_scene(side, 3, truth.inverse()), truth, {}};
}

/// The moving image is a negative.
HardPair of_reversed_contrast(std::int64_t side) {
  const Shape shape{side, side, 1};
  const double shift = static_cast<double>(side) / 32;
  const Homography truth = Similarity{20, 1.1, {shift, -shift / 2}}.matrix(shape, shape);
  const Pixels positive = view_of_scene(side, 4, truth.inverse());
  auto negative = std::make_shared<std::vector<std::byte>>(*positive);
  for (std::byte& pixel : *negative) pixel = static_cast<std::byte>(255) ^ pixel;
  HardPair pair{view_of_scene(side, 4, Affine{}), negative, truth, {}};
  pair.options.modality = Modality::automatic;
  return pair;
}

/// The image of a plane that is rotated by `degrees` about its vertical axis and seen from a
/// distance equal to its width. Coordinates are from the centre, in units of the side.
Homography turned_plane(double degrees) {
  const double angle = degrees * std::numbers::pi / 180;
  return Homography({std::cos(angle), 0, 0, 0, 1, 0, std::sin(angle), 0, 1});
}

/// The moving image is an oblique view of the plane.
HardPair in_perspective(std::int64_t side) {
  const auto n = static_cast<double>(side);
  const double centre = (n - 1) / 2;
  const Homography from_units{Affine{n, 0, centre, 0, n, centre}};
  const Homography truth = from_units * turned_plane(55) * from_units.inverse();
  HardPair pair{
      view_of_scene(side, 5, Affine{}), view_of_scene(side, 5, truth.inverse()), truth, {}};
  pair.options.motion = Motion::homography;
  return pair;
}

using Draw = std::function<HardPair(std::int64_t side)>;

/// Registers pairs of new images that are on the device.
class SearchWork final : public StageWork {
 public:
  SearchWork(const Device& device, std::int64_t side, const HardPair& pair)
      : StageWork(device,
                  {{PixelType::u8, {side, side, 1}, pair.reference},
                   {PixelType::u8, {side, side, 1}, pair.moving}},
                  {}),
        side_(side),
        truth_(pair.truth),
        options_(pair.options) {}

  void make_plans() override {
    registrar_.reset();  // frees its memory before the new one allocates
    registrar_.emplace(device(), options_);
  }

  [[nodiscard]] bool waits() const override { return true; }

  Verdict verify(Stream& /*stream*/) override {
    const RegistrationResult found = align(*registrar_, first_set());
    if (truth_) return checked(found, *truth_, side_);
    return {found.confidence, 0.5, "two scenes with nothing in common: the confidence"};
  }

  std::vector<Part> parts(std::size_t runs) override {
    RegistrationOptions options = options_;
    options.collect_timings = true;
    Registrar timed(device(), options);
    static_cast<void>(align(timed, first_set()));
    return median_parts(runs, [&] { return align(timed, first_set()).timings; });
  }

 private:
  void run_on(Stream& /*stream*/, Set& set) override { static_cast<void>(align(*registrar_, set)); }

  static RegistrationResult align(Registrar& registrar, const Set& set) {
    registrar.set_reference(set.inputs[0]);
    return registrar.align(set.inputs[1]);
  }

  std::int64_t side_;
  std::optional<Homography> truth_;
  RegistrationOptions options_;
  std::optional<Registrar> registrar_;
};

Case case_of(std::int64_t side, const char* name, const Draw& draw) {
  const Shape shape{side, side, 1};
  const auto pixels = static_cast<std::size_t>(shape.pixels());
  constexpr std::size_t frames = 400'000'000;  // memory of the searches, for any size of images
  Case made;
  made.suite = "search";
  made.name = name;
  made.size = shape;
  made.unit = "pairs";
  made.operations = 1;
  made.bytes = 2.0 * static_cast<double>(pixels);
  made.max_allocation = std::max<std::size_t>(2 * pixels * sizeof(float), 100'000'000);
  made.memory_bytes = frames + 22 * pixels * sizeof(float);
  made.on_device = [=](const Device& device) {
    return std::make_unique<SearchWork>(device, side, draw(side));
  };
  return made;
}

}  // namespace

std::vector<Case> search_cases(const Sizes& sizes) {
  std::vector<Case> cases;
  constexpr std::int64_t min_side = 256;  // smaller images are too small for a significant result
  for (const std::int64_t side : sizes.sides_or({512})) {
    if (side < min_side) continue;
    cases.push_back(case_of(side, "unrelated, refused", unrelated));
    cases.push_back(
        case_of(side, "unrelated, any model and modality, refused", unrelated_in_any_way));
    cases.push_back(case_of(side, "zoomed by 6, by the grid", zoomed));
    cases.push_back(case_of(side, "a negative, by directions of edges", of_reversed_contrast));
    cases.push_back(case_of(side, "perspective, as a homography", in_perspective));
  }
  return cases;
}

}  // namespace warpalign::program::bench
