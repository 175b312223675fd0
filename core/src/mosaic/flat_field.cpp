// Flat fields: their division, and their estimate from the tiles of a mosaic.
#include "device/check.hpp"
#include "device/host_rows.hpp"
#include "mosaic/positive_system.hpp"
#include "values/real_pixels.hpp"

#include <warpalign/flat_field.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>

namespace warpalign {

using namespace detail;

namespace {

constexpr const char* flat_stage = "flat_field";

void check_field(const char* what, const HostImage& image) {
  check_real(flat_stage, what, image.type);
  check_shape(flat_stage, what, image.shape());
  check_rows(flat_stage, what, image);
}

void check_same_shape(const char* what, const Shape& shape, const Shape& wanted) {
  if (shape == wanted) return;
  refuse(flat_stage, std::string(what) + " is " + to_string(shape) + ", but must be " +
                         to_string(wanted) + " as the others");
}

/// What the camera reports without light; empty without a dark image.
std::vector<double> dark_pixels(const std::optional<HostImage>& dark, const Shape& tile) {
  if (!dark) return {};
  check_field("dark", *dark);
  check_same_shape("dark", dark->shape(), tile);
  std::vector<double> pixels = real_pixels(*dark);
  if (!std::all_of(pixels.begin(), pixels.end(), [](double p) { return std::isfinite(p); })) {
    refuse(flat_stage, "dark must be finite everywhere");
  }
  return pixels;
}

double mean_of(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

template <typename Sample>
Sample rounded_sample(float value) {
  if constexpr (std::is_floating_point_v<Sample>) {
    return value;
  } else {
    constexpr auto largest = static_cast<float>(std::numeric_limits<Sample>::max());
    return static_cast<Sample>(std::clamp(std::nearbyint(value), 0.0F, largest));
  }
}

}  // namespace

struct FlatField::State {
  Shape shape;
  std::vector<float> flat;
  std::vector<float> dark;  ///< empty: 0
  float pedestal = 0;       ///< the mean of `dark`

  template <typename Sample>
  void divide(const HostImage& tile, Sample* output) const {
    const std::size_t pitch = pitch_of(tile);
    const auto width = static_cast<std::size_t>(shape.width);
    for (std::size_t y = 0; y < static_cast<std::size_t>(shape.height); ++y) {
      const auto* row =
          reinterpret_cast<const Sample*>(static_cast<const std::byte*>(tile.data) + y * pitch);
      for (std::size_t x = 0; x < width; ++x) {
        const std::size_t i = y * width + x;
        const float below = dark.empty() ? 0.0F : dark[i];
        output[i] =
            rounded_sample<Sample>((static_cast<float>(row[x]) - below) / flat[i] + pedestal);
      }
    }
  }
};

FlatField::FlatField(const HostImage& flat, const std::optional<HostImage>& dark)
    : state_(std::make_unique<State>()) {
  check_field("the flat field", flat);
  state_->shape = flat.shape();
  const std::vector<double> light = real_pixels(flat);
  const auto is_light = [](double p) { return p > 0 && std::isfinite(p); };
  if (!std::all_of(light.begin(), light.end(), is_light)) {
    refuse(flat_stage, "the flat field must be above 0 and finite everywhere");
  }
  const double mean = mean_of(light);
  for (const double p : light) {
    const auto value = static_cast<float>(p / mean);
    if (!(value > 0) || !std::isfinite(value)) {
      refuse(flat_stage, "the flat field varies by more than single precision can hold");
    }
    state_->flat.push_back(value);
  }
  const std::vector<double> pixels = dark_pixels(dark, state_->shape);
  state_->dark.assign(pixels.begin(), pixels.end());
  state_->pedestal = static_cast<float>(mean_of(pixels));
}

FlatField::FlatField(FlatField&&) noexcept = default;
FlatField& FlatField::operator=(FlatField&&) noexcept = default;
FlatField::~FlatField() = default;

Shape FlatField::shape() const noexcept { return state_->shape; }

const std::vector<float>& FlatField::values() const noexcept { return state_->flat; }

void FlatField::apply(const HostImage& tile, void* output) const {
  check_grey(flat_stage, "a tile", tile.type);
  check_same_shape("a tile", tile.shape(), state_->shape);
  check_rows(flat_stage, "a tile", tile);
  switch (tile.type) {
    case PixelType::u8:
      return state_->divide(tile, static_cast<std::uint8_t*>(output));
    case PixelType::u16:
      return state_->divide(tile, static_cast<std::uint16_t*>(output));
    default:
      return state_->divide(tile, static_cast<float*>(output));
  }
}

namespace {

/// The number of cells along a side, at most.
constexpr std::int64_t max_cells = 48;
constexpr std::size_t polynomial_degree = 4;
constexpr std::size_t polynomial_terms = (polynomial_degree + 1) * (polynomial_degree + 2) / 2;
constexpr std::size_t min_tiles = 3;

/// The first pixels of the cells along a side, and the side.
std::vector<std::int64_t> edges_of_cells(std::int64_t side) {
  const std::int64_t cells = std::min(side, max_cells);
  std::vector<std::int64_t> edges;
  for (std::int64_t i = 0; i <= cells; ++i) edges.push_back(i * side / cells);
  return edges;
}

/// The Legendre polynomials of a pixel of a side, which becomes -1 to 1.
std::array<double, polynomial_degree + 1> legendre(double pixel, std::int64_t side) {
  const double last = std::max(1.0, static_cast<double>(side - 1));
  const double t = 2 * pixel / last - 1;
  std::array<double, polynomial_degree + 1> values{1, t};
  for (std::size_t n = 1; n < polynomial_degree; ++n) {
    const auto order = static_cast<double>(n);
    values[n + 1] = ((2 * order + 1) * t * values[n] - order * values[n - 1]) / (order + 1);
  }
  return values;
}

Vector<polynomial_terms> terms_at(const std::array<double, polynomial_degree + 1>& along_x,
                                  const std::array<double, polynomial_degree + 1>& along_y) {
  Vector<polynomial_terms> terms{};
  std::size_t k = 0;
  for (std::size_t i = 0; i <= polynomial_degree; ++i) {
    for (std::size_t j = 0; i + j <= polynomial_degree; ++j) terms[k++] = along_y[i] * along_x[j];
  }
  return terms;
}

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace

struct FlatFieldEstimator::State {
  Shape shape;
  std::vector<std::int64_t> columns;
  std::vector<std::int64_t> rows;
  std::vector<double> dark;                ///< the means of its cells
  std::vector<std::vector<double>> tiles;  ///< the means of their cells, relative to the tile's

  /// The mean of each cell, row by row.
  [[nodiscard]] std::vector<double> cell_means(const HostImage& image) const {
    const RealPixels pixels(image);
    std::vector<double> means;
    for (std::size_t r = 0; r + 1 < rows.size(); ++r) {
      std::vector<double> sums(columns.size() - 1, 0);
      for (std::int64_t y = rows[r]; y < rows[r + 1]; ++y) {
        for (std::size_t c = 0; c + 1 < columns.size(); ++c) {
          for (std::int64_t x = columns[c]; x < columns[c + 1]; ++x) sums[c] += pixels.at(x, y);
        }
      }
      for (std::size_t c = 0; c < sums.size(); ++c) {
        const std::int64_t area = (rows[r + 1] - rows[r]) * (columns[c + 1] - columns[c]);
        means.push_back(sums[c] / static_cast<double>(area));
      }
    }
    return means;
  }

  /// The polynomial whose exponential fits these values of the cells. It is positive.
  [[nodiscard]] Vector<polynomial_terms> fit(const std::vector<double>& values) const {
    SquareMatrix<polynomial_terms> matrix{};
    Vector<polynomial_terms> right{};
    const auto middle = [](const std::vector<std::int64_t>& edges, std::size_t i) {
      return static_cast<double>(edges[i] + edges[i + 1] - 1) / 2;
    };
    std::size_t cell = 0;
    for (std::size_t r = 0; r + 1 < rows.size(); ++r) {
      const auto along_y = legendre(middle(rows, r), shape.height);
      for (std::size_t c = 0; c + 1 < columns.size(); ++c) {
        const auto terms = terms_at(legendre(middle(columns, c), shape.width), along_y);
        const double value = std::log(values[cell++]);
        for (std::size_t i = 0; i < polynomial_terms; ++i) {
          for (std::size_t j = 0; j <= i; ++j) matrix[i][j] += terms[i] * terms[j];
          right[i] += terms[i] * value;
        }
      }
    }
    return PositiveSystem<polynomial_terms>(matrix).solve(right);
  }
};

FlatFieldEstimator::FlatFieldEstimator(const Shape& tile, const std::optional<HostImage>& dark)
    : state_(std::make_unique<State>()) {
  check_shape(flat_stage, "a tile", tile);
  state_->shape = tile;
  state_->columns = edges_of_cells(tile.width);
  state_->rows = edges_of_cells(tile.height);
  (void)dark_pixels(dark, tile);
  if (dark) state_->dark = state_->cell_means(*dark);
}

FlatFieldEstimator::FlatFieldEstimator(FlatFieldEstimator&&) noexcept = default;
FlatFieldEstimator& FlatFieldEstimator::operator=(FlatFieldEstimator&&) noexcept = default;
FlatFieldEstimator::~FlatFieldEstimator() = default;

void FlatFieldEstimator::add(const HostImage& tile) {
  check_field("a tile", tile);
  check_same_shape("a tile", tile.shape(), state_->shape);
  std::vector<double> cells = state_->cell_means(tile);
  for (std::size_t i = 0; i < state_->dark.size(); ++i) cells[i] -= state_->dark[i];
  const double mean = mean_of(cells);
  if (!std::isfinite(mean) || !(mean > 0)) return;
  for (double& cell : cells) cell /= mean;
  state_->tiles.push_back(std::move(cells));
}

std::vector<float> FlatFieldEstimator::estimate() const {
  const State& state = *state_;
  if (state.tiles.size() < min_tiles) {
    refuse(flat_stage, "the illumination needs at least 3 tiles that are brighter than dark, not " +
                           std::to_string(state.tiles.size()));
  }
  constexpr double least = 1e-6;
  std::vector<double> medians(state.tiles.front().size());
  for (std::size_t cell = 0; cell < medians.size(); ++cell) {
    std::vector<double> values;
    for (const std::vector<double>& tile : state.tiles) values.push_back(tile[cell]);
    medians[cell] = std::max(median_of(values), least);
  }
  const Vector<polynomial_terms> factors = state.fit(medians);
  std::vector<std::array<double, polynomial_degree + 1>> along_x;
  for (std::int64_t x = 0; x < state.shape.width; ++x) {
    along_x.push_back(legendre(static_cast<double>(x), state.shape.width));
  }
  std::vector<double> field;
  field.reserve(static_cast<std::size_t>(state.shape.plane()));
  for (std::int64_t y = 0; y < state.shape.height; ++y) {
    const auto along_y = legendre(static_cast<double>(y), state.shape.height);
    for (const auto& values : along_x) {
      const auto terms = terms_at(values, along_y);
      field.push_back(
          std::exp(std::inner_product(terms.begin(), terms.end(), factors.begin(), 0.0)));
    }
  }
  const double mean = mean_of(field);
  std::vector<float> result;
  for (const double value : field) result.push_back(static_cast<float>(value / mean));
  return result;
}

}  // namespace warpalign
