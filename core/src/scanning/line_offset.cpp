// The offset between the lines of bidirectional scans.
#include <warpalign/error.hpp>

#include <warpalign/line_offset.hpp>
#include "device/host_rows.hpp"
#include "registration/numerics/confidence.hpp"
#include "registration/numerics/host_numbers.hpp"
#include "scanning/line_correlations.hpp"
#include "transforms/bspline_filter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace warpalign {

namespace {

/// Groups of lines, whose scatter gives the standard error (delete-a-group jackknife).
constexpr std::size_t groups = 8;
/// The significance at which the confidence is one half. The best of the lags of unrelated lines
/// reaches about 3.
constexpr double half_significance = 8;
/// A larger standard error, in pixels, is no result.
constexpr double max_standard_error = 0.25;
constexpr double max_unsure_confidence = 0.4;
/// Nearer offsets are rounded to whole pixels, so that the lines stay as they are.
constexpr double whole_pixel_tolerance = 0.01;

void require_frame(bool condition, const std::string& what) {
  if (!condition) throw Error(ErrorKind::invalid_argument, "line offset: " + what);
}

std::size_t checked_pitch(const char* call, const HostImage& image) {
  require_frame(image.type != PixelType::c32, std::string(call) + " takes real pixels, not c32");
  require_frame(image.data != nullptr && detail::has_valid_rows(image),
                std::string(call) + " got no pixels, or rows shorter than the width");
  return detail::pitch_of(image);
}

void replace_nonfinite(std::vector<double>& line) {
  double last = 0;
  for (double& number : line) {
    if (!std::isfinite(number)) number = last;
    last = number;
  }
}

}  // namespace

struct LineOffsetEstimator::State {
  State(const Shape& frame, int max_offset)
      : shape(frame),
        sums(groups, detail::LineCorrelations(max_offset)),
        line(static_cast<std::size_t>(frame.width)) {
    for (auto& values : rows) values.resize(line.size() - 1);
    neighbours.resize(line.size() - 1);
  }

  /// The differences along a line, into rows[y % 3].
  void take_row(const HostImage& frame, std::size_t pitch, std::int64_t y) {
    const auto* start = static_cast<const std::byte*>(frame.data);
    detail::read_line(frame.type, start + static_cast<std::size_t>(y) * pitch, line);
    replace_nonfinite(line);
    std::vector<float>& row = rows[static_cast<std::size_t>(y % 3)];
    for (std::size_t x = 0; x + 1 < line.size(); ++x) {
      row[x] = static_cast<float>(line[x + 1] - line[x]);
    }
  }

  Shape shape;
  std::vector<detail::LineCorrelations> sums;
  std::int64_t frames = 0;
  std::vector<double> line;
  std::array<std::vector<float>, 3> rows;
  std::vector<float> neighbours;
};

LineOffsetEstimator::LineOffsetEstimator(const Shape& frame, std::int64_t max_offset) {
  require_frame(frame.depth == 1 && frame.height >= 3, "frames must be images of 3 lines or more");
  // The lags around an offset must lie within the line.
  require_frame(max_offset >= 1 && max_offset <= frame.width && frame.width > 4 * max_offset &&
                    frame.width > max_offset + 2 * detail::LineCorrelations::lag_window,
                "max_offset must be at least 1, below a quarter of the width and 48 pixels below "
                "the width");
  state_ = std::make_unique<State>(frame, static_cast<int>(max_offset));
}

LineOffsetEstimator::LineOffsetEstimator(LineOffsetEstimator&&) noexcept = default;
LineOffsetEstimator& LineOffsetEstimator::operator=(LineOffsetEstimator&&) noexcept = default;
LineOffsetEstimator::~LineOffsetEstimator() = default;

void LineOffsetEstimator::add(const HostImage& frame) {
  State& state = *state_;
  require_frame(frame.shape() == state.shape, "add() got a frame of " + to_string(frame.shape()) +
                                                  ", not " + to_string(state.shape));
  const std::size_t pitch = checked_pitch("add()", frame);
  const std::int64_t height = frame.height;
  state.take_row(frame, pitch, 0);
  for (std::int64_t y = 1; y + 1 < height; y += 2) {
    state.take_row(frame, pitch, y);
    state.take_row(frame, pitch, y + 1);
    const std::vector<float>& above = state.rows[static_cast<std::size_t>((y + 2) % 3)];
    const std::vector<float>& below = state.rows[static_cast<std::size_t>((y + 1) % 3)];
    for (std::size_t x = 0; x < above.size(); ++x) {
      state.neighbours[x] = 0.5F * (above[x] + below[x]);
    }
    const auto block = static_cast<std::size_t>(y * static_cast<std::int64_t>(groups) / height);
    const std::size_t group = (block + static_cast<std::size_t>(state.frames)) % groups;
    state.sums[group].add(state.neighbours, state.rows[static_cast<std::size_t>(y % 3)]);
  }
  ++state.frames;
}

LineOffset LineOffsetEstimator::estimate() const {
  LineOffset found;
  found.frames = state_->frames;
  detail::LineCorrelations all = state_->sums.front();
  for (std::size_t g = 1; g < groups; ++g) all.add(state_->sums[g]);
  if (!all.has_content()) return found;
  const int lag = all.best_lag();
  found.pixels = all.offset_near(lag);
  std::vector<double> without;
  for (const detail::LineCorrelations& group : state_->sums) {
    if (group.is_empty()) continue;
    detail::LineCorrelations rest = all;
    rest.subtract(group);
    if (rest.has_content()) without.push_back(rest.offset_near(lag));
  }
  const auto n = static_cast<double>(without.size());
  double sum = 0;
  for (const double offset : without) sum += (offset - found.pixels) * (offset - found.pixels);
  found.standard_error = n > 1 ? std::sqrt((n - 1) / n * sum) : 0;
  const double correlation = all.correlation(lag);
  if (correlation <= 0) return found;
  const double significance = detail::significance_of(correlation, all.independent_samples());
  found.confidence = detail::null_test_confidence(significance / half_significance,
                                                  all.second_best(lag) / correlation);
  if (n < 2 || found.standard_error > max_standard_error) {
    found.confidence = std::min(found.confidence, max_unsure_confidence);
  }
  found.reliable = found.confidence >= 0.5;
  return found;
}

namespace {

/// The line at x + `whole` + `part` for each x, which continues at its ends.
class MovedLine {
 public:
  MovedLine(std::int64_t whole, double part) : whole_(whole), part_(part) {}

  /// `samples`: the line. `coefficients`: of its cubic spline, or empty to interpolate linearly.
  void evaluate(std::span<const double> samples, std::span<const double> coefficients,
                std::span<double> moved) const {
    const auto last = static_cast<std::int64_t>(samples.size()) - 1;
    const double t = part_;
    const double u = 1 - t;
    const std::array<double, 4> weights{u * u * u / 6, 2.0 / 3 - t * t * (1 - t / 2),
                                        2.0 / 3 - u * u * (1 - u / 2), t * t * t / 6};
    const auto mirrored = [&](std::int64_t i) {
      i = std::abs(i);
      return coefficients[static_cast<std::size_t>(i > last ? 2 * last - i : i)];
    };
    const auto at = [&](std::int64_t i) {
      const std::int64_t x = i + whole_;
      if (x < 0 || x >= last + (t == 0 ? 1 : 0)) {
        return samples[static_cast<std::size_t>(std::clamp<std::int64_t>(x, 0, last))];
      }
      const auto from = static_cast<std::size_t>(x);
      if (t == 0) return samples[from];
      if (coefficients.empty()) return u * samples[from] + t * samples[from + 1];
      return weights[0] * mirrored(x - 1) + weights[1] * mirrored(x) +
             weights[2] * mirrored(x + 1) + weights[3] * mirrored(x + 2);
    };
    // Away from the ends of the line no coefficient is mirrored.
    const auto pixels = static_cast<std::int64_t>(moved.size());
    const std::int64_t first = std::clamp<std::int64_t>(1 - whole_, 0, pixels);
    std::int64_t end = std::clamp<std::int64_t>(last - 1 - whole_, first, pixels);
    if (coefficients.empty()) end = first;
    for (std::int64_t i = 0; i < first; ++i) moved[static_cast<std::size_t>(i)] = at(i);
    for (std::int64_t i = first; i < end; ++i) {
      const double* c = coefficients.data() + (i + whole_ - 1);
      moved[static_cast<std::size_t>(i)] =
          weights[0] * c[0] + weights[1] * c[1] + weights[2] * c[2] + weights[3] * c[3];
    }
    for (std::int64_t i = end; i < pixels; ++i) moved[static_cast<std::size_t>(i)] = at(i);
  }

 private:
  std::int64_t whole_;
  double part_;
};

}  // namespace

void undo_line_offset(const ScannedFrame& frame, double pixels) {
  const HostImage image{frame.data, frame.type, frame.width, frame.height, frame.row_bytes};
  const std::size_t pitch = checked_pitch("undo_line_offset()", image);
  require_frame(std::isfinite(pixels) && std::abs(pixels) < static_cast<double>(frame.width),
                "the offset must be finite and below the width");
  if (std::abs(pixels - std::round(pixels)) < whole_pixel_tolerance) pixels = std::round(pixels);
  if (pixels == 0 || frame.height < 2) return;
  const double whole = std::floor(pixels);
  const MovedLine move(static_cast<std::int64_t>(whole), pixels - whole);
  const auto width = static_cast<std::size_t>(frame.width);
  const auto lines = static_cast<std::size_t>(frame.height / 2);
  auto* first = static_cast<std::byte*>(frame.data) + pitch;
  std::vector<double> samples(lines * width);
  for (std::size_t i = 0; i < lines; ++i) {
    detail::read_line(frame.type, first + 2 * i * pitch,
                      std::span(samples).subspan(i * width, width));
  }
  std::vector<double> coefficients;
  if (pixels != whole && width > 1) {
    coefficients = samples;
    detail::filter_bspline(coefficients, {width, 1, 1}, 1);
  }
  std::vector<double> moved(width);
  for (std::size_t i = 0; i < lines; ++i) {
    const std::span<const double> line = std::span(samples).subspan(i * width, width);
    std::span<const double> spline;
    const bool is_finite =
        std::ranges::all_of(line, [](double number) { return std::isfinite(number); });
    if (is_finite && !coefficients.empty()) {
      spline = std::span(coefficients).subspan(i * width, width);
    }
    move.evaluate(line, spline, moved);
    detail::write_line(frame.type, moved, first + 2 * i * pitch);
  }
}

}  // namespace warpalign
