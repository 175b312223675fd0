// The steps of fits that stay on the device, compared with the host's steps from the same sums and
// with the oracle's, on every device.
#include "registration/fitting/fit_steps.hpp"
#include "stages/results.hpp"
#include "support/corners.hpp"
#include "support/devices.hpp"
#include "support/fit_step.hpp"
#include "support/transfer.hpp"

#include <warpalign/backend/stages/refinement/fit_step.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>
#include <warpalign/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace {

namespace detail = warpalign::detail;
using detail::FitSteps;
using warpalign::Affine;
using warpalign::Error;
using warpalign::FitRecord;
using warpalign::FitStepPlan;
using warpalign::Homography;
using warpalign::Image;
using warpalign::Motion;
using warpalign::Shape;
using warpalign::Similarity;
using warpalign::SimilarityImages;
using warpalign::SimilarityState;
using warpalign::SimilaritySumsPlan;
using warpalign::SimilaritySumsResult;
using warpalign::SimilaritySumsSpec;

constexpr Shape reference_shape{75, 62, 1};
constexpr Shape moving_shape{83, 70, 1};
const detail::UnmaskedPixels all_pixels{75 * 62, 83 * 70};

double scene(double x, double y) {
  return 3 * std::sin(0.21 * x + 0.1 * y) + 2 * std::cos(0.17 * y - 0.13 * x + 1) +
         std::sin(0.05 * x * (1 + 0.01 * y));
}

double second_scene(double x, double y) { return 4 + std::cos(0.19 * x - 0.08 * y) - 0.03 * x; }

reference::Plane drawn(const Shape& shape, const Homography& to_scene, double gain, double offset,
                       double (*of_place)(double, double)) {
  reference::Plane plane(shape.width, shape.height);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const auto p = to_scene({static_cast<double>(x), static_cast<double>(y)});
      // Rounded to floats, so that device and oracle have the same values.
      plane.at(x, y) = static_cast<double>(static_cast<float>(gain * of_place(p.x, p.y) + offset));
    }
  }
  return plane;
}

// 1, except for a disc of 0.
reference::Plane holed(const Shape& shape, double x, double y, double radius) {
  reference::Plane weight(shape.width, shape.height);
  for (std::int64_t row = 0; row < shape.height; ++row) {
    for (std::int64_t column = 0; column < shape.width; ++column) {
      const double distance =
          std::hypot(static_cast<double>(column) - x, static_cast<double>(row) - y);
      weight.at(column, row) = distance < radius ? 0 : 1;
    }
  }
  return weight;
}

/// The images, options and starts of a test.
struct Case {
  Motion motion = Motion::similarity;
  std::vector<Homography> starts;
  bool masked = false;
  bool two_channels = false;
  detail::FitOptions options{};

  [[nodiscard]] bool projective() const { return detail::is_projective(motion); }
};

Homography truth_of(Motion motion) {
  if (motion == Motion::homography) {
    return test::moving_corners(reference_shape, {{{2, 1}, {9, -2}, {5, 8}, {-1, 6}}});
  }
  if (motion == Motion::affine) return Affine{1.05, 0.06, 2, -0.03, 0.98, 5};
  return Homography(Similarity{4, 1.04, {0.7, -0.4}}.matrix(reference_shape, moving_shape));
}

// Starts close to the truth.
std::vector<Homography> near_starts(Motion motion) {
  std::vector<Homography> starts;
  for (const auto& [x, y, degrees] :
       {std::array{0.4, -0.3, 0.5}, std::array{-0.9, 0.6, -1.0}, std::array{0.1, 1.2, 0.2}}) {
    starts.push_back(
        Homography(Similarity{degrees, 1.003, {x, y}}.matrix(moving_shape, moving_shape)) *
        truth_of(motion));
  }
  return starts;
}

/// The images of a case, in the oracle's arrays and on the device.
class Images {
 public:
  Images(const warpalign::Device& device, warpalign::Stream& stream, const Case& c) {
    const Homography back = truth_of(c.motion).inverse();
    fitted_.masked = c.masked;
    fitted_.reference_weight = holed(reference_shape, 20, 30, 9);
    fitted_.moving_weight = holed(moving_shape, 60, 20, 7);
    for (const auto& of_place : {&scene, &second_scene}) {
      if (of_place == &second_scene && !c.two_channels) break;
      fitted_.reference.push_back(drawn(reference_shape, {}, 1, 0, of_place));
      fitted_.coefficients.push_back(drawn(moving_shape, back, 1.3, 0.4, of_place));
      images_.push_back(test::to_device(device, stream, fitted_.reference.back()));
      images_.push_back(test::to_device(device, stream, fitted_.coefficients.back()));
    }
    weights_.push_back(test::to_device(device, stream, fitted_.reference_weight));
    weights_.push_back(test::to_device(device, stream, fitted_.moving_weight));
  }

  [[nodiscard]] const test::FittedImages& fitted() const { return fitted_; }
  [[nodiscard]] SimilarityImages channel(std::size_t i) const {
    SimilarityImages images{images_[2 * i], images_[2 * i + 1]};
    if (fitted_.masked) images.reference_weight = &weights_[0];
    if (fitted_.masked) images.moving_weight = &weights_[1];
    return images;
  }

 private:
  test::FittedImages fitted_;
  std::vector<Image> images_, weights_;
};

/// The fits of a case on the device, and their counterparts on the host, which use the device's
/// sums.
class Fits {
 public:
  Fits(const warpalign::Device& device, const Case& c)
      : case_(c),
        stream_(device.make_stream()),
        images_(device, stream_, c),
        sums_(device, spec(true)),
        host_sums_(device, spec(false)),
        steps_(device, {c.projective(), c.starts.size()}),
        partials_(device, 2 * c.starts.size() * sums_.partial_count()) {
    partials_.clear(stream_);
    for (const Homography& start : c.starts) {
      hosts_.emplace_back(reference_shape, moving_shape, all_pixels, start, c.options);
      states_.push_back({start});
      begin_.push_back(record_of(hosts_.back().fit(), begin_.size()));
    }
    steps_.begin(stream_, begin_);
  }

  [[nodiscard]] std::size_t count() const { return hosts_.size(); }
  [[nodiscard]] const FitSteps& host(std::size_t i) const { return hosts_[i]; }
  [[nodiscard]] const Images& images() const { return images_; }
  [[nodiscard]] const SimilaritySumsResult& sums(std::size_t channel, std::size_t i) const {
    return found_[channel * count() + i];
  }
  /// The sums at the host's states, computed by the stage similarity_sums.
  [[nodiscard]] SimilaritySumsResult expected_sums(std::size_t i) {
    return host_sums_.execute(stream_, images_.channel(0), states_[i]);
  }

  /// Runs one step of all active fits.
  std::vector<FitRecord> step(bool first) {
    const std::size_t channels = case_.two_channels ? 2 : 1;
    for (std::size_t c = 0; c < channels; ++c) {
      sums_.enqueue_resident(stream_, images_.channel(c), steps_.states(), c * count(), count(),
                             partials_, c * count() * sums_.partial_count());
    }
    steps_.enqueue(stream_, partials_);
    steps_.look(stream_);
    const auto seen = steps_.seen();
    const std::vector<FitRecord> records(seen.begin(), seen.end());
    found_.resize(2 * count());
    sums_.add_up(partials_.fetch(stream_, channels * count() * sums_.partial_count()),
                 std::span(found_).first(channels * count()));
    for (std::size_t i = 0; i < count(); ++i) {
      if (!hosts_[i].in_progress()) continue;
      const SimilaritySumsResult* second = case_.two_channels ? &sums(1, i) : nullptr;
      if (first) hosts_[i].begin(sums(0, i), second);
      if (!first) hosts_[i].advance(sums(0, i), second);
      states_[i] = hosts_[i].state();
    }
    return records;
  }

  /// Runs the fits again from their starts, `turns` steps in one launch. Empty if the device
  /// cannot do that.
  std::optional<std::vector<FitRecord>> run(int turns) {
    std::vector<warpalign::backend::ResidentSums> sums;
    for (std::size_t c = 0; c < (case_.two_channels ? 2 : 1); ++c) {
      sums.push_back(sums_.resident(images_.channel(c), c * count(), count(), 0));
    }
    if (!steps_.runs(sums)) {
      CHECK_THROWS_AS(steps_.run(stream_, begin_, sums, turns), Error);
      return std::nullopt;
    }
    CHECK_THROWS_AS(steps_.run(stream_, begin_, std::span(sums).first(0), turns), Error);
    CHECK_THROWS_AS(steps_.run(stream_, begin_, sums, -1), Error);
    steps_.run(stream_, begin_, sums, turns);
    steps_.look(stream_);
    const auto seen = steps_.seen();
    return std::vector<FitRecord>(seen.begin(), seen.end());
  }

 private:
  [[nodiscard]] SimilaritySumsSpec spec(bool resident) const {
    SimilaritySumsSpec spec{reference_shape, moving_shape, 0, 1, case_.masked};
    spec.projective = case_.projective();
    spec.batch = 32;
    spec.resident = resident;
    return spec;
  }

  [[nodiscard]] FitRecord record_of(const WaFit& fit, std::size_t number) const {
    FitRecord record;
    const auto length = sums_.partial_count();
    record.channels = case_.two_channels ? 2 : 1;
    record.groups = static_cast<std::int32_t>(sums_.groups());
    for (std::size_t channel = 0; channel < 2; ++channel) {
      const std::size_t state = channel * case_.starts.size() + number;
      record.states[channel] = static_cast<std::int32_t>(state);
      record.partials[channel] = static_cast<std::int32_t>(state * length);
    }
    record.reference_x = static_cast<float>(fit.reference_x);
    record.reference_y = static_cast<float>(fit.reference_y);
    record.moving_x = static_cast<float>(fit.moving_x);
    record.moving_y = static_cast<float>(fit.moving_y);
    std::transform(fit.start, fit.start + 9, record.start.begin(),
                   [](double x) { return static_cast<float>(x); });
    record.matrix = record.start;
    record.min_pixels = static_cast<float>(fit.min_pixels);
    record.max_drift = static_cast<float>(fit.max_drift);
    record.tolerance = static_cast<float>(fit.tolerance);
    record.min_pivot = 1e-6F;
    record.scale_of_mean = static_cast<float>(fit.scale_of_mean);
    record.free_parameters = fit.free_parameters;
    record.iterations = fit.iterations;
    record.in_progress = fit.in_progress;
    return record;
  }

  Case case_;
  warpalign::Stream stream_;
  Images images_;
  SimilaritySumsPlan sums_, host_sums_;
  FitStepPlan steps_;
  detail::Results<float> partials_;
  std::vector<FitSteps> hosts_;
  std::vector<FitRecord> begin_;
  std::vector<SimilarityState> states_;
  std::vector<SimilaritySumsResult> found_;
};

void compare_fit(const FitRecord& found, const FitSteps& host) {
  const WaFit& expected = host.fit();
  REQUIRE((found.found != 0) == (expected.found != 0));
  CHECK((found.in_progress != 0) == (expected.in_progress != 0));
  if (expected.found == 0) return;
  CHECK(found.iteration == expected.iteration);
  CHECK((found.converged != 0) == (expected.converged != 0));
  // Single precision places a corner, 60 pixels from the centre, to 4e-6 pixels in each of a dozen
  // operations. The step has a relative error of 1e-6 from the sums' rounding, and of a hundred
  // times that if the normal equations are as badly conditioned as a homography's.
  CHECK(test::max_corner_distance(test::matrix_of(found, reference_shape, moving_shape),
                                  host.state().matrix,
                                  reference_shape) <= 5e-5 + 1e-4 * expected.last_move);
  CHECK(std::abs(static_cast<double>(found.last_move) - expected.last_move) <=
        5e-5 + 1e-4 * expected.last_move);
  CHECK(static_cast<double>(found.pixels) == expected.pixels);
  CHECK(static_cast<double>(found.correlation) ==
        doctest::Approx(expected.correlation).epsilon(2e-6));
  CHECK(static_cast<double>(found.gain) == doctest::Approx(expected.gain).epsilon(2e-6));
  CHECK(std::abs(static_cast<double>(found.offset) - expected.offset) <= 2e-5);
  if (found.channels == 2) {
    CHECK(std::abs(static_cast<double>(found.second_offset) - expected.second_offset) <= 2e-5);
  }
  CHECK(static_cast<double>(found.scale) == doctest::Approx(expected.scale).epsilon(2e-6));
  if (expected.in_progress == 0) return;
  CHECK(static_cast<double>(found.centre_x) == expected.centre_x);
  CHECK(static_cast<double>(found.centre_y) == expected.centre_y);
  CHECK(static_cast<double>(found.unit) == expected.unit);
}

// Compares every step from the starts to the end of all fits.
void compare(const warpalign::Device& device, const Case& c, int min_steps = 2) {
  CAPTURE(static_cast<int>(c.motion));
  CAPTURE(c.masked);
  CAPTURE(c.two_channels);
  Fits fits(device, c);
  int steps = 0;
  for (bool first = true;; first = false) {
    std::vector<SimilaritySumsResult> expected;
    std::vector<bool> went_on;
    for (std::size_t i = 0; i < fits.count(); ++i) {
      went_on.push_back(fits.host(i).in_progress());
      expected.push_back(went_on.back() ? fits.expected_sums(i) : SimilaritySumsResult{});
    }
    if (std::none_of(went_on.begin(), went_on.end(), [](bool on) { return on; })) break;
    REQUIRE(steps++ <= c.options.iterations);
    const std::vector<FitRecord> records = fits.step(first);
    for (std::size_t i = 0; i < fits.count(); ++i) {
      CAPTURE(steps);
      CAPTURE(i);
      if (went_on[i]) {
        // The states of both differ by 1e-5 of a pixel, which may change whether single pixels at
        // the edges count.
        const SimilaritySumsResult& found = fits.sums(0, i);
        CHECK(std::abs(found.pixels - expected[i].pixels) <= 2);
        CHECK(found.absolute == doctest::Approx(expected[i].absolute).epsilon(2e-3));
        CHECK(found.product == doctest::Approx(expected[i].product).epsilon(2e-3));
        CHECK(found.hessian[0] == doctest::Approx(expected[i].hessian[0]).epsilon(2e-3));
      }
      compare_fit(records[i], fits.host(i));
    }
  }
  CHECK(steps > min_steps);
}

detail::FitOptions options_of(Motion motion, double max_drift = 0.5) {
  return {motion, 12, 0.003, max_drift};
}

/// Returns how many fits of a case fail on the device. Checks that the same ones fail on the host.
std::size_t failures(const warpalign::Device& device, const Case& c) {
  Fits fits(device, c);
  std::vector<FitRecord> records = fits.step(true);
  for (int i = 0; i <= c.options.iterations; ++i) {
    for (std::size_t fit = 0; fit < fits.count(); ++fit) {
      CAPTURE(i);
      CAPTURE(fit);
      CHECK((records[fit].found != 0) == (fits.host(fit).fit().found != 0));
      CHECK((records[fit].in_progress != 0) == fits.host(fit).in_progress());
    }
    records = fits.step(false);
  }
  return static_cast<std::size_t>(std::count_if(
      records.begin(), records.end(), [](const FitRecord& fit) { return fit.found == 0; }));
}

Homography shifted(double x, double y, Motion motion) {
  return Homography(Affine::translation(x, y)) * truth_of(motion);
}

/// Compares several steps in one launch with as many launches of one step. Returns how many fits
/// have failed.
std::size_t compare_whole(const warpalign::Device& device, const Case& c, int turns) {
  CAPTURE(static_cast<int>(c.motion));
  CAPTURE(c.masked);
  CAPTURE(c.two_channels);
  CAPTURE(turns);
  Fits fits(device, c);
  std::vector<FitRecord> expected;
  for (int turn = 0; turn < turns; ++turn) expected = fits.step(turn == 0);
  const auto found = fits.run(turns);
  if (!found) return 0;
  std::size_t failed = 0;
  for (std::size_t i = 0; i < fits.count(); ++i) {
    CAPTURE(i);
    const FitRecord& one = (*found)[i];
    REQUIRE(one.found == expected[i].found);
    CHECK(one.in_progress == expected[i].in_progress);
    CHECK(one.converged == expected[i].converged);
    CHECK(one.iteration == expected[i].iteration);
    failed += one.found == 0 ? 1 : 0;
    if (one.found == 0) continue;
    // The blocks divide the pixels differently, so sums over 2000 pixels differ by rounding and by
    // single pixels at the edges. A homography's equations turn that into 1e-4 of a pixel.
    CHECK(test::max_corner_distance(test::matrix_of(one, reference_shape, moving_shape),
                                    test::matrix_of(expected[i], reference_shape, moving_shape),
                                    reference_shape) <= 5e-4);
    CHECK(std::abs(one.pixels - expected[i].pixels) <= 2);
    CHECK(one.correlation == doctest::Approx(expected[i].correlation).epsilon(1e-4));
    CHECK(one.gain == doctest::Approx(expected[i].gain).epsilon(1e-3));
  }
  return failed;
}

}  // namespace

TEST_CASE("fit_step: many steps in one launch equal as many launches") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const Motion motion : {Motion::translation, Motion::rigid, Motion::similarity,
                                Motion::affine, Motion::homography}) {
      for (const bool masked : {false, true}) {
        const bool two_channels = masked != (motion == Motion::affine);
        Case c{motion, near_starts(motion), masked, two_channels, options_of(motion)};
        for (const int turns : {1, 2, 4, c.options.iterations + 1}) {
          CHECK(compare_whole(device, c, turns) == 0);
        }
        // More fits than the device can run in large clusters, some of which fail.
        while (c.starts.size() < 24) c.starts.push_back(c.starts[c.starts.size() - 3]);
        for (std::size_t i = 1; i < c.starts.size(); i += 5) c.starts[i] = shifted(500, 0, motion);
        static_cast<void>(compare_whole(device, c, c.options.iterations + 1));
      }
    }
  });
}

TEST_CASE("fit_step: every motion, masked or not, with one channel or two, as on the host") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const Motion motion : {Motion::translation, Motion::rotation, Motion::rigid,
                                Motion::similarity, Motion::affine, Motion::homography}) {
      for (const bool masked : {false, true}) {
        for (const bool two_channels : {false, true}) {
          compare(device, {motion, near_starts(motion), masked, two_channels, options_of(motion)});
        }
      }
    }
  });
}

TEST_CASE("fit_step: the steps equal the oracle's") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const Motion motion : {Motion::translation, Motion::rotation, Motion::rigid,
                                Motion::similarity, Motion::affine, Motion::homography}) {
      for (const bool masked : {false, true}) {
        const bool two_channels = masked != (motion == Motion::affine);
        const Case c{motion, near_starts(motion), masked, two_channels, options_of(motion)};
        CAPTURE(static_cast<int>(motion));
        CAPTURE(masked);
        Fits fits(device, c);
        std::vector<FitRecord> before = fits.step(true);
        for (int step = 0; step < 3; ++step) {
          const std::vector<FitRecord> after = fits.step(false);
          for (std::size_t i = 0; i < fits.count(); ++i) {
            CAPTURE(step);
            CAPTURE(i);
            if (before[i].in_progress != 0) {
              REQUIRE(after[i].found == 1);
              CHECK(test::fit_step_error(fits.images().fitted(), motion, before[i], after[i]) <= 1);
            }
          }
          before = after;
        }
      }
    }
  });
}

TEST_CASE("fit_step: the same fits fail as on the host, and the others continue") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const Motion motion : {Motion::similarity, Motion::homography}) {
      CAPTURE(static_cast<int>(motion));
      std::vector<Homography> starts = near_starts(motion);
      // Too little overlap: none, or a stripe.
      starts.push_back(shifted(300, 0, motion));
      starts.push_back(shifted(-82, 0, motion));
      CHECK(failures(device, {motion, starts, false, false, options_of(motion)}) == 2);
      CHECK(failures(device, {motion, starts, true, true, options_of(motion)}) == 2);
      // Drift: the truth is beyond the limit.
      starts = {shifted(2, 1, motion), shifted(0.01, 0, motion)};
      CHECK(failures(device, {motion, starts, false, false, options_of(motion, 0.015)}) == 1);
    }
  });
}

TEST_CASE("fit_step: a homography that comes close to infinity fails") {
  test::on_every_device([](const warpalign::Device& device) {
    // The smallest divisor at the corners must be at least 1e-3 of the largest. The first three
    // starts violate this; some of the others violate it after a step.
    std::vector<Homography> starts;
    for (const double ratio : {0.0005, 0.0011, 0.002, 0.004}) {
      const double slope = (1 - ratio) / 74;
      starts.push_back(Homography({1, 0.1, 3, 0.02, 1, 4, -slope, 0, 1}));
      starts.push_back(Homography({0.9, -0.2, 9, 0.1, 0.7, 2, 0, -(1 - ratio) / 61, 1}));
      starts.push_back(Homography({ratio, 0.1 * ratio, 3, 0, ratio, 4, slope, 0, ratio}));
    }
    Case c{Motion::homography, starts, false, false, options_of(Motion::homography, 1e6)};
    CHECK(failures(device, c) >= 5);
  });
}

TEST_CASE("fit_step: a singular system fails") {
  test::on_every_device([](const warpalign::Device& device) {
    // Without texture the step is undefined.
    auto stream = device.make_stream();
    const reference::Plane flat_reference(40, 30);
    const reference::Plane flat_moving(40, 30);
    const Image reference = test::to_device(device, stream, flat_reference);
    const Image moving = test::to_device(device, stream, flat_moving);
    for (const bool projective : {false, true}) {
      SimilaritySumsSpec spec{{40, 30, 1}, {40, 30, 1}};
      spec.projective = projective;
      spec.batch = 2;
      spec.resident = true;
      const SimilaritySumsPlan sums(device, spec);
      const FitStepPlan steps(device, {projective, 1});
      FitRecord fit;
      fit.groups = static_cast<std::int32_t>(sums.groups());
      fit.reference_x = fit.moving_x = 19.5F;
      fit.reference_y = fit.moving_y = 14.5F;
      fit.min_pixels = 10;
      fit.max_drift = 10;
      fit.min_pivot = 1e-6F;
      fit.free_parameters = 0xf;
      fit.iterations = 10;
      fit.in_progress = 1;
      detail::Results<float> partials(device, sums.partial_count());
      steps.begin(stream, {&fit, 1});
      const auto step = [&] {
        sums.enqueue_resident(stream, {reference, moving}, steps.states(), 0, 1, partials, 0);
        steps.enqueue(stream, partials);
        steps.look(stream);
        return steps.seen()[0];
      };
      const FitRecord begun = step();
      CHECK(begun.found == 1);
      CHECK(begun.in_progress == 1);
      CHECK(begun.gain == 1);
      CHECK(begun.correlation == 0);
      const FitRecord failed = step();
      CHECK(failed.found == 0);
      CHECK(failed.in_progress == 0);
    }
  });
}

TEST_CASE("fit_step: fits that have ended stay unchanged, and need no sums") {
  test::on_every_device([](const warpalign::Device& device) {
    for (const Motion motion : {Motion::rigid, Motion::affine}) {
      Case c{motion, near_starts(motion), false, false, {motion, 2, 1e-9, 0.5}};
      Fits fits(device, c);
      for (const bool first : {true, false, false}) fits.step(first);
      const auto ended = fits.step(false);
      const auto sums = fits.sums(0, 0);
      const auto later = fits.step(false);
      for (std::size_t i = 0; i < fits.count(); ++i) {
        CHECK(ended[i].found == 1);
        CHECK(ended[i].iteration == 2);
        CHECK(later[i].iteration == 2);
        CHECK(later[i].matrix == ended[i].matrix);
        CHECK(later[i].last_move == ended[i].last_move);
      }
      CHECK(fits.sums(0, 0).hessian == sums.hessian);
      // With 0 iterations only the start is scored.
      c.options.iterations = 0;
      Fits judged(device, c);
      const auto begun = judged.step(true);
      CHECK(begun[0].found == 1);
      CHECK(begun[0].in_progress == 0);
      CHECK(begun[0].pixels > 0);
      CHECK(judged.step(false)[0].iteration == 0);
    }
  });
}

// More plans than the arguments of one launch have room for.
TEST_CASE("fit_step: sums of several plans at once equal those of single plans") {
  test::on_every_device([](const warpalign::Device& device) {
    constexpr std::size_t plans = 11;
    warpalign::Stream stream = device.make_stream();
    std::vector<SimilaritySumsPlan> sums;
    std::vector<Image> images, weights;
    std::vector<FitRecord> fits;
    std::size_t numbers = 0;
    for (std::size_t i = 0; i < plans; ++i) {
      const auto side = static_cast<std::int64_t>(24 + 9 * i);
      const Shape shape{side, side - 3, 1};
      SimilaritySumsSpec spec{shape, shape, 0, 1, i % 4 == 2};
      spec.batch = 3, spec.resident = true;
      sums.emplace_back(device, spec);
      images.push_back(test::to_device(device, stream, drawn(shape, {}, 1, 0, &scene)));
      images.push_back(test::to_device(device, stream, drawn(shape, {}, 1.2, 1, &second_scene)));
      weights.push_back(test::to_device(device, stream, holed(shape, 8, 9, 4)));
      for (std::size_t state = 0; state <= i % 3; ++state) {
        FitRecord fit;
        fit.groups = static_cast<std::int32_t>(sums.back().groups());
        fit.states[0] = static_cast<std::int32_t>(fits.size());
        fit.partials[0] = static_cast<std::int32_t>(numbers);
        fit.start[2] = fit.matrix[2] = 0.3F + static_cast<float>(state);
        fit.in_progress = 1;
        fits.push_back(fit);
        numbers += sums.back().partial_count();
      }
    }
    FitStepPlan steps(device, {false, fits.size()});
    steps.begin(stream, fits);
    std::vector<warpalign::backend::ResidentSums> requests;
    for (std::size_t i = 0, first = 0; i < plans; ++i) {
      SimilarityImages pair{images[2 * i], images[2 * i + 1]};
      if (i % 4 == 2) pair.reference_weight = pair.moving_weight = &weights[i];
      const std::size_t count = 1 + i % 3;
      requests.push_back(
          sums[i].resident(pair, first, count, static_cast<std::size_t>(fits[first].partials[0])));
      first += count;
    }
    const auto partial_sums = [&](std::size_t at_once) {
      detail::Results<float> partials(device, numbers);
      partials.clear(stream);
      for (std::span left(requests); !left.empty();) {
        const auto now = left.first(std::min(at_once, left.size()));
        SimilaritySumsPlan::enqueue_resident(stream, now, steps.states(), partials);
        left = left.subspan(now.size());
      }
      const auto found = partials.fetch(stream);
      return std::vector<float>(found.begin(), found.end());
    };
    const std::vector<float> alone = partial_sums(1);
    CHECK(std::count(alone.begin(), alone.end(), 0.0F) < static_cast<std::ptrdiff_t>(numbers / 4));
    CHECK(partial_sums(2) == alone);
    CHECK(partial_sums(plans) == alone);
  });
}

TEST_CASE("fit_step: mismatched input is refused before anything runs") {
  test::on_every_device([](const warpalign::Device& device) {
    auto stream = device.make_stream();
    CHECK_THROWS_AS(FitStepPlan(device, {false, 0}), Error);
    CHECK_THROWS_AS(FitStepPlan(device, {false, 4097}), Error);
    const FitStepPlan steps(device, {false, 2});
    const auto refused = [&](auto change) {
      std::array<FitRecord, 2> fits{};
      change(fits[1]);
      CHECK_THROWS_AS(steps.begin(stream, fits), Error);
    };
    refused([](FitRecord& fit) { fit.channels = 3; });
    refused([](FitRecord& fit) { fit.groups = 0; });
    refused([](FitRecord& fit) { fit.states[0] = 4; });
    refused([](FitRecord& fit) { fit.states[0] = -1; });
    refused([](FitRecord& fit) { fit.partials[0] = -1; });
    refused([](FitRecord& fit) { fit.start[4] = std::nanf(""); });
    const std::array<FitRecord, 3> many{};
    CHECK_THROWS_AS(steps.begin(stream, many), Error);
    // No fit has started.
    CHECK(steps.seen().empty());
    std::array<FitRecord, 2> good{};
    good[1].partials[0] = 22;
    steps.begin(stream, good);
    const detail::Results<float> few(device, 43);
    CHECK_THROWS_AS(steps.enqueue(stream, few), Error);

    const Image image = device.make_image(warpalign::PixelType::f32, {8, 8, 1});
    SimilaritySumsSpec spec{{8, 8, 1}, {8, 8, 1}};
    const SimilaritySumsPlan host(device, spec);
    spec.resident = true;
    const SimilaritySumsPlan resident(device, spec);
    detail::Results<float> partials(device, resident.partial_count());
    CHECK_THROWS_AS(
        host.enqueue_resident(stream, {image, image}, steps.states(), 0, 1, partials, 0), Error);
    CHECK_THROWS_AS(static_cast<void>(resident.execute(stream, {image, image}, {})), Error);
    CHECK_THROWS_AS(
        resident.enqueue_resident(stream, {image, image}, steps.states(), 4, 1, partials, 0),
        Error);
    CHECK_THROWS_AS(
        resident.enqueue_resident(stream, {image, image}, steps.states(), 0, 2, partials, 0),
        Error);
    CHECK_THROWS_AS(
        resident.enqueue_resident(stream, {image, image}, steps.states(), 0, 1, partials, 1),
        Error);
    spec.illumination_cell = 8;
    CHECK_THROWS_AS(SimilaritySumsPlan(device, spec), Error);
  });
}
