// Local features of an image: places with descriptors of what surrounds them.
#include "registration/similarity/local_features.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>

namespace warpalign::detail {

namespace {

// The parameters of Lowe (2004).
constexpr double first_sigma = 1.6;
constexpr int scales_per_octave = 3;
constexpr int max_octaves = 5;
constexpr std::int64_t min_side = 16;
constexpr float max_edge_ratio = 10;
constexpr double orientation_radius = 4.5, orientation_sigma = 1.5;
constexpr std::size_t orientation_bins = 36;
constexpr float other_orientation = 0.8F;
constexpr std::size_t max_orientations = 2;
constexpr int cells = 4;
constexpr std::size_t directions = 8;
constexpr double cell_side = 3;
constexpr float max_part = 0.2F;
// Of the image's deviation: weaker extrema are noise.
constexpr double min_contrast = 0.02;

std::vector<float> gaussian(double sigma) {
  const auto radius = static_cast<std::int64_t>(std::ceil(3 * sigma));
  std::vector<float> weights;
  float sum = 0;
  for (std::int64_t i = -radius; i <= radius; ++i) {
    const double x = static_cast<double>(i) / sigma;
    weights.push_back(static_cast<float>(std::exp(-x * x / 2)));
    sum += weights.back();
  }
  for (float& weight : weights) weight /= sum;
  return weights;
}

void add_scaled(const float* from, float factor, std::int64_t n, float* to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] += factor * from[i];
}

GreyPlane blurred_along_rows(const GreyPlane& image, const std::vector<float>& weights) {
  GreyPlane result(image.width, image.height);
  const auto radius = static_cast<std::int64_t>(weights.size() / 2);
  std::vector<float> padded(static_cast<std::size_t>(image.width + 2 * radius));
  for (std::int64_t y = 0; y < image.height; ++y) {
    const float* row = image.row(y);
    std::fill_n(padded.begin(), radius, row[0]);
    std::copy_n(row, image.width, padded.begin() + radius);
    std::fill_n(padded.end() - radius, radius, row[image.width - 1]);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      add_scaled(padded.data() + i, weights[i], image.width, result.row(y));
    }
  }
  return result;
}

GreyPlane blurred_along_columns(const GreyPlane& image, const std::vector<float>& weights) {
  GreyPlane result(image.width, image.height);
  const auto radius = static_cast<std::int64_t>(weights.size() / 2);
  for (std::int64_t y = 0; y < image.height; ++y) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const std::int64_t from =
          std::clamp<std::int64_t>(y + static_cast<std::int64_t>(i) - radius, 0, image.height - 1);
      add_scaled(image.row(from), weights[i], image.width, result.row(y));
    }
  }
  return result;
}

GreyPlane blurred(const GreyPlane& image, double sigma) {
  if (!(sigma > 0.1)) return image;
  const std::vector<float> weights = gaussian(sigma);
  return blurred_along_columns(blurred_along_rows(image, weights), weights);
}

GreyPlane difference(const GreyPlane& a, const GreyPlane& b) {
  GreyPlane result = a;
  for (std::size_t i = 0; i < result.values.size(); ++i) result.values[i] -= b.values[i];
  return result;
}

GreyPlane halved(const GreyPlane& image) {
  GreyPlane result(image.width / 2, image.height / 2);
  for (std::int64_t y = 0; y < result.height; ++y) {
    for (std::int64_t x = 0; x < result.width; ++x) result.row(y)[x] = image.at(2 * x, 2 * y);
  }
  return result;
}

double deviation_of(const GreyPlane& image) {
  double sum = 0;
  double squares = 0;
  for (const float value : image.values) {
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const auto n = static_cast<double>(std::max<std::size_t>(image.values.size(), 1));
  return std::sqrt(std::max(squares / n - sum / n * (sum / n), 0.0));
}

// Images of one size, each smoother than the one before.
using Octave = std::vector<GreyPlane>;

Octave octave_from(GreyPlane first) {
  Octave octave;
  octave.push_back(std::move(first));
  const double step = std::pow(2.0, 1.0 / scales_per_octave);
  double sigma = first_sigma;
  for (int i = 0; i < scales_per_octave + 2; ++i) {
    octave.push_back(blurred(octave.back(), sigma * std::sqrt(step * step - 1)));
    sigma *= step;
  }
  return octave;
}

std::vector<Octave> octaves_of(const GreyPlane& image, double blur) {
  std::vector<Octave> octaves;
  const double missing = std::sqrt(std::max(first_sigma * first_sigma - blur * blur, 0.0));
  GreyPlane first = blurred(image, missing);
  while (std::min(first.width, first.height) >= min_side && octaves.size() < max_octaves) {
    octaves.push_back(octave_from(std::move(first)));
    first = halved(octaves.back()[scales_per_octave]);
  }
  return octaves;
}

// An extremum, in pixels of its octave.
struct Blob {
  std::size_t octave = 0, image = 0;
  double x = 0, y = 0;
  double sigma = 0;
  float strength = 0;
};

// The extremum of the parabola through three values, between -1/2 and 1/2.
double vertex(float before, float here, float after) {
  const float bend = before - 2 * here + after;
  if (bend == 0) return 0;
  return std::clamp(static_cast<double>((before - after) / (2 * bend)), -0.5, 0.5);
}

class BlobSearch {
 public:
  BlobSearch(const Octave& octave, std::size_t number, float least)
      : number_(number), least_(least) {
    for (std::size_t i = 0; i + 1 < octave.size(); ++i) {
      differences_.push_back(difference(octave[i + 1], octave[i]));
    }
  }

  void add_to(std::vector<Blob>& blobs) const {
    constexpr std::int64_t margin = 5;
    const GreyPlane& plane = differences_.front();
    for (std::size_t s = 1; s + 1 < differences_.size(); ++s) {
      for (std::int64_t y = margin; y < plane.height - margin; ++y) {
        const float* row = differences_[s].row(y);
        for (std::int64_t x = margin; x < plane.width - margin; ++x) {
          if (std::abs(row[x]) < least_ || !is_extremum(s, x, y) || is_edge(s, x, y)) continue;
          blobs.push_back(blob_at(s, x, y));
        }
      }
    }
  }

 private:
  [[nodiscard]] bool is_extremum(std::size_t s, std::int64_t x, std::int64_t y) const {
    const float value = differences_[s].at(x, y);
    const float sign = value > 0 ? 1.0F : -1.0F;
    for (std::size_t t = s - 1; t <= s + 1; ++t) {
      for (std::int64_t v = y - 1; v <= y + 1; ++v) {
        const float* row = differences_[t].row(v);
        for (std::int64_t u = x - 1; u <= x + 1; ++u) {
          if (sign * row[u] > sign * value) return false;
        }
      }
    }
    return true;
  }

  [[nodiscard]] bool is_edge(std::size_t s, std::int64_t x, std::int64_t y) const {
    const GreyPlane& d = differences_[s];
    const float here = d.at(x, y);
    const float xx = d.at(x - 1, y) - 2 * here + d.at(x + 1, y);
    const float yy = d.at(x, y - 1) - 2 * here + d.at(x, y + 1);
    const float xy =
        (d.at(x + 1, y + 1) - d.at(x - 1, y + 1) - d.at(x + 1, y - 1) + d.at(x - 1, y - 1)) / 4;
    const float determinant = xx * yy - xy * xy;
    const float trace = xx + yy;
    return determinant <= 0 || trace * trace * max_edge_ratio >=
                                   (max_edge_ratio + 1) * (max_edge_ratio + 1) * determinant;
  }

  [[nodiscard]] Blob blob_at(std::size_t s, std::int64_t x, std::int64_t y) const {
    const GreyPlane& d = differences_[s];
    const float here = d.at(x, y);
    const double scale = static_cast<double>(s) +
                         vertex(differences_[s - 1].at(x, y), here, differences_[s + 1].at(x, y));
    return {number_,
            s,
            static_cast<double>(x) + vertex(d.at(x - 1, y), here, d.at(x + 1, y)),
            static_cast<double>(y) + vertex(d.at(x, y - 1), here, d.at(x, y + 1)),
            first_sigma * std::pow(2.0, scale / scales_per_octave),
            std::abs(here)};
  }

  std::size_t number_;
  float least_;
  std::vector<GreyPlane> differences_;
};

struct Gradient {
  float length, radians;
};

Gradient gradient_at(const GreyPlane& image, std::int64_t x, std::int64_t y) {
  const float dx = image.at(x + 1, y) - image.at(x - 1, y);
  const float dy = image.at(x, y + 1) - image.at(x, y - 1);
  return {std::sqrt(dx * dx + dy * dy), std::atan2(dy, dx)};
}

// Calls visit(offset, gradient) for the pixels within a square about a place that have a gradient.
template <class Visit>
void for_gradients_about(const GreyPlane& image, const Blob& blob, double radius, Visit visit) {
  const auto from = [radius](double at) {
    return std::max<std::int64_t>(1, std::llround(at - radius));
  };
  const auto to = [radius](double at, std::int64_t n) {
    return std::min<std::int64_t>(n - 2, std::llround(at + radius));
  };
  for (std::int64_t y = from(blob.y); y <= to(blob.y, image.height); ++y) {
    for (std::int64_t x = from(blob.x); x <= to(blob.x, image.width); ++x) {
      visit(Point{static_cast<double>(x) - blob.x, static_cast<double>(y) - blob.y},
            gradient_at(image, x, y));
    }
  }
}

using Orientations = std::array<float, orientation_bins>;

Orientations smoothed(const Orientations& histogram) {
  Orientations result{};
  for (std::size_t i = 0; i < orientation_bins; ++i) {
    const float before = histogram[(i + orientation_bins - 1) % orientation_bins];
    const float after = histogram[(i + 1) % orientation_bins];
    result[i] = (before + 2 * histogram[i] + after) / 4;
  }
  return result;
}

Orientations orientations_about(const GreyPlane& image, const Blob& blob) {
  Orientations histogram{};
  const double sigma = orientation_sigma * blob.sigma;
  for_gradients_about(image, blob, orientation_radius * blob.sigma, [&](Point p, Gradient g) {
    const double weight = std::exp(-(p.x * p.x + p.y * p.y) / (2 * sigma * sigma));
    const double turns = static_cast<double>(g.radians) / (2 * std::numbers::pi) + 1;
    const auto bin = static_cast<std::size_t>(std::lround(turns * orientation_bins));
    histogram[bin % orientation_bins] += static_cast<float>(weight) * g.length;
  });
  return smoothed(smoothed(histogram));
}

// The directions, in radians, in which the gradients about a place mostly point.
std::vector<double> main_directions(const GreyPlane& image, const Blob& blob) {
  const Orientations histogram = orientations_about(image, blob);
  const float highest = *std::max_element(histogram.begin(), histogram.end());
  std::vector<double> result;
  for (std::size_t i = 0; i < orientation_bins && result.size() < max_orientations; ++i) {
    const float before = histogram[(i + orientation_bins - 1) % orientation_bins];
    const float after = histogram[(i + 1) % orientation_bins];
    if (histogram[i] < other_orientation * highest || histogram[i] < before ||
        histogram[i] <= after) {
      continue;
    }
    const double bin = static_cast<double>(i) + vertex(before, histogram[i], after);
    result.push_back(bin * 2 * std::numbers::pi / orientation_bins);
  }
  return result;
}

using Descriptor = std::array<float, LocalFeature::dimensions>;

// Shares a value among the cells and directions that it lies between.
void share(double column, double row, double direction, float value, Descriptor& histogram) {
  const auto left = static_cast<int>(std::floor(column));
  const auto top = static_cast<int>(std::floor(row));
  const double whole = std::floor(direction);
  const auto first = static_cast<std::size_t>(whole + directions) % directions;
  const std::array parts_x{left + 1 - column, column - left};
  const std::array parts_y{top + 1 - row, row - top};
  const std::array parts_d{whole + 1 - direction, direction - whole};
  for (int j = 0; j < 2; ++j) {
    for (int i = 0; i < 2; ++i) {
      const int x = left + i;
      const int y = top + j;
      if (x < 0 || x >= cells || y < 0 || y >= cells) continue;
      const auto cell = static_cast<std::size_t>(y * cells + x) * directions;
      const double part =
          parts_x.at(static_cast<std::size_t>(i)) * parts_y.at(static_cast<std::size_t>(j));
      for (std::size_t k = 0; k < 2; ++k) {
        histogram.at(cell + (first + k) % directions) +=
            static_cast<float>(part * parts_d.at(k)) * value;
      }
    }
  }
}

void normalize(Descriptor& descriptor) {
  float squares = 0;
  for (const float value : descriptor) squares += value * value;
  const float factor = 1 / std::max(std::sqrt(squares), 1e-12F);
  for (float& value : descriptor) value *= factor;
}

Descriptor described(const GreyPlane& image, const Blob& blob, double radians) {
  Descriptor result{};
  const double c = std::cos(radians);
  const double s = std::sin(radians);
  const double cell = cell_side * blob.sigma;
  const double radius = cell * std::numbers::sqrt2 * (cells + 1) / 2;
  for_gradients_about(image, blob, radius, [&](Point p, Gradient g) {
    const double u = (c * p.x + s * p.y) / cell;
    const double v = (c * p.y - s * p.x) / cell;
    const double column = u + (cells - 1) / 2.0;
    const double row = v + (cells - 1) / 2.0;
    if (!(column > -1 && column < cells && row > -1 && row < cells)) return;
    const double weight = std::exp(-(u * u + v * v) * 2 / (cells * cells));
    const double turns = (static_cast<double>(g.radians) - radians) / (2 * std::numbers::pi);
    share(column, row, (turns - std::floor(turns)) * directions,
          static_cast<float>(weight) * g.length, result);
  });
  normalize(result);
  for (float& value : result) value = std::min(value, max_part);
  float sum = 0;
  for (const float value : result) sum += value;
  for (float& value : result) value = std::sqrt(value / std::max(sum, 1e-12F));
  return result;
}

}  // namespace

std::vector<LocalFeature> local_features(const GreyPlane& image, double blur, std::size_t maximum) {
  const std::vector<Octave> octaves = octaves_of(image, blur);
  const auto least = static_cast<float>(min_contrast * deviation_of(image));
  std::vector<Blob> blobs;
  for (std::size_t i = 0; i < octaves.size(); ++i) BlobSearch(octaves[i], i, least).add_to(blobs);
  std::stable_sort(blobs.begin(), blobs.end(),
                   [](const Blob& a, const Blob& b) { return a.strength > b.strength; });
  std::vector<LocalFeature> features;
  for (const Blob& blob : blobs) {
    const GreyPlane& around = octaves[blob.octave][blob.image];
    const auto spacing = static_cast<double>(1 << blob.octave);
    for (const double radians : main_directions(around, blob)) {
      if (features.size() == maximum) return features;
      features.push_back({{spacing * blob.x, spacing * blob.y}, described(around, blob, radians)});
    }
  }
  return features;
}

}  // namespace warpalign::detail
