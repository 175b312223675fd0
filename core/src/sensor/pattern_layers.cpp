// Separates frames into a scene that moves and a pattern that does not.
#include "sensor/pattern_layers.hpp"

#include "registration/numerics/plane_geometry.hpp"
#include "registration/numerics/transform_distance.hpp"
#include "registration/numerics/upper_median.hpp"
#include "sensor/pattern_lines.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace warpalign::detail {

namespace {

// How many frames have to show a pixel.
constexpr float min_shown = 3;
constexpr float min_gain = 0.25F, max_gain = 4;

// Values are compared up to this many deviations, and a pixel is hot from this many standard errors
// on.
constexpr double max_deviations = 4;
// Wavelengths of this many deviations of the motions and more: a part of the scene in the pattern
// explains the frames nearly as well as motions by another factor do.
constexpr double unclear_motions = 6;
constexpr float hot_deviations = 6;
// The part of its offset by which a hot pixel differs from its neighbours. A star that is sampled
// as it should be differs by less than a third.
constexpr float hot_part = 0.5F;
// The correlation of neighbours below which they are unrelated.
constexpr double max_neighbour = 0.3;
constexpr double little_part = 0.03;  // of the variance, which noise may be

constexpr double deviation_of_median = 1.4826;  // of normal values, per median magnitude

/// A line of samples of an image at places that an affine map gives. Bilinear.
class SampledLine {
 public:
  explicit SampledLine(std::size_t columns) : value(columns), weight(columns) {}

  /// `is_known`: of a sample of the image.
  template <typename IsKnown>
  void take(const Plane& image, std::int64_t width, std::int64_t height, const Affine& map,
            std::int64_t y, const IsKnown& is_known) {
    const auto columns = static_cast<std::int64_t>(value.size());
    for (std::int64_t x = 0; x < columns; ++x) {
      const auto i = static_cast<std::size_t>(x);
      weight[i] = 0;
      const Point at = map(Point{static_cast<double>(x), static_cast<double>(y)});
      // A rounding error does not leave the image.
      constexpr double slack = 1e-6;
      if (!(at.x >= -slack && at.y >= -slack)) continue;
      if (!(at.x <= static_cast<double>(width - 1) + slack &&
            at.y <= static_cast<double>(height - 1) + slack)) {
        continue;
      }
      const auto left = std::clamp<std::int64_t>(static_cast<std::int64_t>(at.x), 0, width - 2);
      const auto top = std::clamp<std::int64_t>(static_cast<std::int64_t>(at.y), 0, height - 2);
      const auto k = static_cast<std::size_t>(top * width + left);
      const auto below = k + static_cast<std::size_t>(width);
      if (!is_known(k) || !is_known(k + 1) || !is_known(below) || !is_known(below + 1)) continue;
      const auto u = static_cast<float>(at.x - static_cast<double>(left));
      const auto v = static_cast<float>(at.y - static_cast<double>(top));
      const float upper = image[k] + u * (image[k + 1] - image[k]);
      const float lower = image[below] + u * (image[below + 1] - image[below]);
      value[i] = upper + v * (lower - upper);
      weight[i] = 1;
    }
  }

  std::vector<float> value, weight;
};

/// The mean without a part of the values at either end, which are sorted.
float trimmed_mean(const float* values, std::size_t count, std::size_t dropped) {
  float sum = 0;
  for (std::size_t i = dropped; i < count - dropped; ++i) sum += values[i];
  return sum / static_cast<float>(count - 2 * dropped);
}

Plane clipped(const PatternSamples& samples, Plane image) {
  std::vector<float> magnitudes;
  for (std::size_t i = 0; i < image.size(); ++i) {
    if (samples.known[i] != 0) magnitudes.push_back(std::abs(image[i]));
  }
  if (magnitudes.empty()) return image;
  const auto limit = static_cast<float>(max_deviations * deviation_of_median *
                                        static_cast<double>(upper_median(std::span(magnitudes))));
  for (float& value : image) value = std::clamp(value, -limit, limit);
  return image;
}

/// The mean product of two images at a distance of `along` columns and `down` rows.
double shifted_product(const PatternSamples& samples, const Plane& a, const Plane& b,
                       std::int64_t along, std::int64_t down) {
  double sum = 0, count = 0;
  for (std::int64_t y = 0; y + down < samples.height; ++y) {
    for (std::int64_t x = 0; x + along < samples.width; ++x) {
      const auto i = static_cast<std::size_t>(y * samples.width + x);
      const auto k = i + static_cast<std::size_t>(down * samples.width + along);
      if (samples.known[i] == 0 || samples.known[k] == 0) continue;
      sum += static_cast<double>(a[i]) * static_cast<double>(b[k]) +
             static_cast<double>(b[i]) * static_cast<double>(a[k]);
      ++count;
    }
  }
  return count > 0 ? sum / (2 * count) : 0;
}

/// The root mean square distance of the frames' motions from their mean, over the corners.
double motion_deviation(const std::vector<MovedFrame>& moved, const Shape& shape) {
  const auto right = static_cast<double>(shape.width - 1);
  const auto bottom = static_cast<double>(shape.height - 1);
  const auto count = static_cast<double>(moved.size());
  double sum = 0;
  for (const Point corner :
       {Point{0, 0}, Point{right, 0}, Point{0, bottom}, Point{right, bottom}}) {
    Point mean;
    double squares = 0;
    for (const MovedFrame& frame : moved) {
      const Point at = frame.matrix(corner);
      mean = {mean.x + at.x / count, mean.y + at.y / count};
    }
    for (const MovedFrame& frame : moved) {
      const Point at = frame.matrix(corner);
      squares += square(at.x - mean.x) + square(at.y - mean.y);
    }
    sum += squares / count;
  }
  return std::sqrt(sum / 4);
}

}  // namespace

double spread_of(const std::vector<MovedFrame>& moved, const Shape& shape) {
  double spread = 0;
  for (const MovedFrame& a : moved) {
    for (const MovedFrame& b : moved) {
      spread = std::max(spread, corner_distance(a.matrix, b.matrix, shape));
    }
  }
  return spread;
}

PatternLayers::PatternLayers(const PatternSamples& samples, const std::vector<MovedFrame>& moved)
    : samples_(samples),
      moved_(moved),
      in_first_half_(moved.size()),
      gains_(moved.size(), 1.0F),
      pattern_(samples.pixels()) {
  // The halves lie on either side of the middle between the two frames that are farthest apart.
  const Shape shape = samples.shape();
  std::pair<std::size_t, std::size_t> ends{0, 0};
  double farthest = -1;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const double apart = corner_distance(moved[i].matrix, moved[k].matrix, shape);
      if (apart > farthest) ends = {k, i};
      farthest = std::max(apart, farthest);
    }
  }
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < moved.size(); ++i) {
    const double nearer = corner_distance(moved[i].matrix, moved[ends.first].matrix, shape) -
                          corner_distance(moved[i].matrix, moved[ends.second].matrix, shape);
    order.emplace_back(nearer, i);
  }
  std::sort(order.begin(), order.end());
  unclear_wavelength_ = unclear_motions * motion_deviation(moved, shape);
  for (std::size_t i = 0; i < order.size() / 2; ++i) in_first_half_[order[i].second] = true;
}

void PatternLayers::separate(int times) {
  for (int i = 0; i < times; ++i) {
    find_scene();
    find_pattern();
  }
}

void PatternLayers::take_all_as_pattern() {
  scene_.clear();
  pattern_.assign(samples_.pixels(), 0);
  find_pattern();
}

void PatternLayers::find_scene() {
  const auto columns = static_cast<std::size_t>(samples_.width);
  Plane sum(samples_.pixels()), weight(samples_.pixels());
  SampledLine line(columns);
  Plane frame(samples_.pixels());
  const auto is_known = [&](std::size_t i) { return samples_.known[i] != 0; };
  for (std::size_t k = 0; k < moved_.size(); ++k) {
    const Plane& values = samples_.frames[moved_[k].index];
    for (std::size_t i = 0; i < frame.size(); ++i) frame[i] = values[i] - pattern_[i];
    for (std::int64_t y = 0; y < samples_.height; ++y) {
      line.take(frame, samples_.width, samples_.height, moved_[k].matrix, y, is_known);
      const std::size_t row = static_cast<std::size_t>(y) * columns;
      for (std::size_t x = 0; x < columns; ++x) {
        if (line.weight[x] == 0) continue;
        sum[row + x] += gains_[k] * line.value[x];
        weight[row + x] += gains_[k] * gains_[k];
      }
    }
  }
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = weight[i] > 0 ? sum[i] / weight[i] : 0;
  scene_ = std::move(sum);
  scene_weight_ = std::move(weight);
}

void PatternLayers::find_pattern() {
  const auto columns = static_cast<std::size_t>(samples_.width);
  const std::size_t frames = moved_.size();
  const bool has_scene = !scene_.empty();
  std::vector<Affine> to_scene;
  for (const MovedFrame& frame : moved_) to_scene.push_back(frame.matrix.inverse());
  std::vector<SampledLine> lines(frames, SampledLine(columns));
  std::vector<double> products(frames), squares(frames);
  double all_square = 0, changed_square = 0;
  Plane found(samples_.pixels()), shown(samples_.pixels());
  deviation_.assign(samples_.pixels(), 0);
  first_half_.assign(samples_.pixels(), 0);
  second_half_.assign(samples_.pixels(), 0);
  const auto is_known = [&](std::size_t i) { return scene_weight_[i] >= 0.5F * min_shown; };
  std::vector<float> all(frames), first(frames), second(frames);
  for (std::int64_t y = 0; y < samples_.height; ++y) {
    if (has_scene) {
      for (std::size_t k = 0; k < frames; ++k) {
        lines[k].take(scene_, samples_.width, samples_.height, to_scene[k], y, is_known);
      }
    }
    for (std::size_t x = 0; x < columns; ++x) {
      const std::size_t i = static_cast<std::size_t>(y) * columns + x;
      if (samples_.known[i] == 0) continue;
      std::array<std::size_t, 3> count{};
      for (std::size_t k = 0; k < frames; ++k) {
        if (has_scene && lines[k].weight[x] == 0) continue;
        const float value = samples_.frames[moved_[k].index][i];
        const float of_scene = has_scene ? lines[k].value[x] : 0;
        const float residual = value - gains_[k] * of_scene;
        shown[i] += gains_[k] * of_scene;
        products[k] += static_cast<double>(value - pattern_[i]) * static_cast<double>(of_scene);
        squares[k] += static_cast<double>(of_scene) * static_cast<double>(of_scene);
        all[count[0]++] = residual;
        if (in_first_half_[k]) {
          first[count[1]++] = residual;
        } else {
          second[count[2]++] = residual;
        }
      }
      if (count[0] < static_cast<std::size_t>(min_shown) || count[1] == 0 || count[2] == 0) {
        shown[i] = 0;
        continue;
      }
      shown[i] /= static_cast<float>(count[0]);
      for (std::size_t k = 0; k < frames && has_scene; ++k) {
        if (lines[k].weight[x] == 0) continue;
        const auto of_scene = static_cast<double>(gains_[k] * lines[k].value[x]);
        all_square += of_scene * of_scene;
        changed_square += square(of_scene - static_cast<double>(shown[i]));
      }
      std::sort(all.data(), all.data() + count[0]);
      found[i] = trimmed_mean(all.data(), count[0], count[0] / 4);
      const float quartiles = all[count[0] - 1 - count[0] / 4] - all[count[0] / 4];
      deviation_[i] = quartiles / 1.349F / std::sqrt(static_cast<float>(count[0]));
      const auto mean_of_half = [](std::vector<float>& half, std::size_t n) {
        if (n > 2) std::sort(half.data(), half.data() + n);
        return trimmed_mean(half.data(), n, n > 4 ? 1 : 0);
      };
      first_half_[i] = mean_of_half(first, count[1]);
      second_half_[i] = mean_of_half(second, count[2]);
    }
  }
  pattern_ = std::move(found);
  take_hot_pixels();
  if (has_scene) limit_pattern(shown);
  for (std::size_t i = 0; i < pattern_.size(); ++i) pattern_[i] += hot_[i];
  if (!has_scene) return;
  changed_part_ = all_square > 0 ? changed_square / all_square : 0;
  for (std::size_t k = 0; k < frames; ++k) {
    const double gain = squares[k] > 0 ? products[k] / squares[k] : 1;
    gains_[k] = std::clamp(static_cast<float>(gain), min_gain, max_gain);
  }
}

// A hot pixel differs from its neighbours, as nothing does that a lens shows. Takes its difference
// from their median out of the pattern.
void PatternLayers::take_hot_pixels() {
  hot_.assign(samples_.pixels(), 0);
  const Plane rest = lines_of(samples_, pattern_).rest;
  std::vector<float> errors, magnitudes;
  for (std::size_t i = 0; i < deviation_.size(); ++i) {
    if (samples_.known[i] == 0) continue;
    errors.push_back(deviation_[i]);
    magnitudes.push_back(std::abs(rest[i]));
  }
  if (errors.empty()) return;
  const float usual =
      std::max(upper_median(std::span(errors)),
               static_cast<float>(deviation_of_median) * upper_median(std::span(magnitudes)));
  const std::int64_t width = samples_.width;
  for (std::int64_t y = 0; y < samples_.height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const auto i = static_cast<std::size_t>(y * width + x);
      const float limit = hot_deviations * std::max(deviation_[i], usual);
      if (samples_.known[i] == 0 || !(std::abs(rest[i]) > limit)) continue;
      std::array<float, 8> neighbours{};
      std::size_t count = 0;
      for (const std::int64_t row : {y - 1, y, y + 1}) {
        for (const std::int64_t column : {x - 1, x, x + 1}) {
          if (row == y && column == x) continue;
          if (row < 0 || column < 0 || row >= samples_.height || column >= width) continue;
          neighbours[count++] = rest[static_cast<std::size_t>(row * width + column)];
        }
      }
      const float difference = rest[i] - upper_median(std::span(neighbours.data(), count));
      const float first = first_half_[i] * difference;
      const float second = second_half_[i] * difference;
      const float enough = 0.5F * limit * std::abs(difference);
      if (std::abs(difference) < std::max(limit, hot_part * std::abs(rest[i]))) continue;
      if (first > enough && second > enough) hot_[i] = difference;
    }
  }
  for (Plane* plane : {&pattern_, &first_half_, &second_half_}) {
    for (std::size_t i = 0; i < hot_.size(); ++i) (*plane)[i] -= hot_[i];
  }
}

// `shown`: the mean over the frames of what they show of the scene. Columns and rows are hardly
// like a scene.
void PatternLayers::limit_pattern(const Plane& shown) {
  Lines lines = lines_of(samples_, pattern_);
  if (is_unrelated_) {
    make_orthogonal(samples_, lines.rest, lines_of(samples_, shown).rest, unclear_wavelength_);
  }
  if (is_white_) {
    limit_to_white(samples_, lines.rest);
    limit_line(lines.columns);
    limit_line(lines.rows);
  }
  for (std::int64_t y = 0; y < samples_.height; ++y) {
    for (std::int64_t x = 0; x < samples_.width; ++x) {
      const auto i = static_cast<std::size_t>(y * samples_.width + x);
      if (samples_.known[i] == 0) continue;
      pattern_[i] = lines.columns[static_cast<std::size_t>(x)] +
                    lines.rows[static_cast<std::size_t>(y)] + lines.rest[i];
    }
  }
}

std::optional<Plane> PatternLayers::pattern() {
  Plane without_hot = pattern_;
  for (std::size_t i = 0; i < hot_.size(); ++i) without_hot[i] -= hot_[i];
  const Lines all = lines_of(samples_, without_hot);
  const Lines first = lines_of(samples_, first_half_);
  const Lines second = lines_of(samples_, second_half_);
  const auto columns = static_cast<float>(line_factor(first.columns, second.columns));
  const auto rows = static_cast<float>(line_factor(first.rows, second.rows));
  const double agreement =
      moments_of(clipped(samples_, without_background(samples_, first.rest)),
                 clipped(samples_, without_background(samples_, second.rest)), samples_.known)
          .correlation();
  const auto pixels = static_cast<float>(agreement >= min_agreement ? signal_part(agreement) : 0.0);
  Plane result = hot_;
  bool is_found = columns > 0 || rows > 0 || pixels > 0;
  for (std::int64_t y = 0; y < samples_.height; ++y) {
    for (std::int64_t x = 0; x < samples_.width; ++x) {
      const auto i = static_cast<std::size_t>(y * samples_.width + x);
      if (samples_.known[i] == 0) continue;
      is_found = is_found || hot_[i] != 0;
      result[i] += columns * all.columns[static_cast<std::size_t>(x)] +
                   rows * all.rows[static_cast<std::size_t>(y)] + pixels * all.rest[i];
    }
  }
  if (!is_found) return std::nullopt;
  return result;
}

// The products are those of different halves, whose noise is unrelated.
PatternLayers::Energies PatternLayers::energies() const {
  const auto lines_of_half = [&](Plane half) {
    for (std::size_t i = 0; i < half.size(); ++i) half[i] += hot_[i];
    return lines_of(samples_, without_background(samples_, half));
  };
  const Lines first = lines_of_half(first_half_);
  const Lines second = lines_of_half(second_half_);
  return {{mean_product(first.columns, second.columns),
           neighbour_product(first.columns, second.columns)},
          {mean_product(first.rows, second.rows), neighbour_product(first.rows, second.rows)},
          {moments_of(first.rest, second.rest, samples_.known).product,
           std::max(shifted_product(samples_, first.rest, second.rest, 1, 0),
                    shifted_product(samples_, first.rest, second.rest, 0, 1))}};
}

bool PatternLayers::is_uncorrelated() const {
  const auto [columns, rows, pixels] = energies();
  return columns.neighbours + rows.neighbours + pixels.neighbours <
         max_neighbour * (columns.energy + rows.energy + pixels.energy);
}

bool PatternLayers::is_all_uncorrelated() const {
  const auto [columns, rows, pixels] = energies();
  const double little = little_part * (columns.energy + rows.energy + pixels.energy);
  const auto is_unrelated = [&](const Part& part) {
    return part.neighbours < std::max(max_neighbour * part.energy, little);
  };
  return is_unrelated(columns) && is_unrelated(rows) && is_unrelated(pixels);
}

}  // namespace warpalign::detail
