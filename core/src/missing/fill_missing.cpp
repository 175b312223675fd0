// Replaces missing samples by those of the smoothest array that has the known samples.
//
// Biharmonic inpainting minimises the squared Laplacian; see S. B. Damelin and N. S. Hoang, "On
// surface completion and image inpainting by biharmonic functions", International Journal of
// Mathematics and Mathematical Sciences, 2018. The steps are those of conjugate gradients for least
// squares (Hestenes and Stiefel 1952).
#include <warpalign/error.hpp>
#include <warpalign/missing.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace warpalign {

namespace {

constexpr int num_steps = 20;
constexpr int depth_limit = 16;  ///< the farthest samples that the steps change

/// The axes of an array: its extent, and the distance between neighbours.
struct Axes {
  std::array<std::int64_t, 3> extent;
  std::array<std::int64_t, 3> stride;

  explicit Axes(const Shape& shape)
      : extent{shape.width, shape.height, shape.depth}, stride{1, shape.width, shape.plane()} {}

  [[nodiscard]] std::int64_t along(std::int64_t position, std::size_t axis) const {
    return position / stride[axis] % extent[axis];
  }

  /// Calls visit(position of the neighbour) for up to six neighbours.
  template <typename Visit>
  void for_neighbours(std::int64_t position, Visit&& visit) const {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (extent[axis] == 1) continue;
      const std::int64_t i = along(position, axis);
      if (i > 0) visit(position - stride[axis]);
      if (i + 1 < extent[axis]) visit(position + stride[axis]);
    }
  }
};

/// The samples that are filled. `Number` can count the samples of the array.
template <typename Number>
class Fill {
 public:
  Fill(std::span<const std::uint8_t> known, const Shape& shape)
      : axes_(shape), number_(known.size(), unvisited) {
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i] != 0) number_[i] = is_known;
    }
  }

  /// Gives each missing sample the mean of its neighbours that are nearer to a known sample.
  template <typename Sample>
  void continue_known(std::span<Sample> values) {
    std::vector<std::int64_t> layer = first_layer();
    std::vector<std::int64_t> next;
    for (int depth = 1; !layer.empty(); ++depth) {
      for (const std::int64_t position : layer) number_[at(position)] = in_layer;
      next.clear();
      for (const std::int64_t position : layer) {
        double sum = 0;
        int count = 0;
        axes_.for_neighbours(position, [&](std::int64_t neighbour) {
          Number& state = number_[at(neighbour)];
          if (state == is_known || state == filled || state == deep) {
            sum += static_cast<double>(values[at(neighbour)]);
            ++count;
          } else if (state == unvisited) {
            state = is_next;
            next.push_back(neighbour);
          }
        });
        values[at(position)] = static_cast<Sample>(sum / count);
      }
      for (const std::int64_t position : layer) {
        number_[at(position)] = depth > depth_limit ? deep : filled;
      }
      layer.swap(next);
    }
  }

  /// Reduces the squared Laplacian of `values`, which continue_known() has filled.
  template <typename Sample>
  void smooth(std::span<Sample> values) {
    number_unknown();
    number_equations();
    std::vector<double> residual = laplacian_of(values);
    double scale = 0;  // so that no square exceeds the range of double
    for (const double r : residual) scale = std::max(scale, std::abs(r));
    if (!(scale > 0) || !std::isfinite(scale)) return;
    for (double& r : residual) r /= -scale;
    std::vector<double> gradient(num_unknown_);
    transposed(residual, gradient);
    std::vector<double> direction = gradient;
    direction.resize(positions_.size() + 1, 0);  // 0 for known samples, and for absent neighbours
    std::vector<double> change(positions_.size() + 1, 0);
    std::vector<double> step(num_unknown_, 0);
    double squared = dot(gradient);
    for (int i = 0; i < num_steps && squared > 0; ++i) {
      laplacian(direction, change);
      const double curvature = dot(change);
      if (!(curvature > 0)) break;
      const double length = squared / curvature;
      for (std::size_t k = 0; k < num_unknown_; ++k) step[k] += length * direction[k];
      for (std::size_t k = 0; k < residual.size(); ++k) residual[k] -= length * change[k];
      transposed(residual, gradient);
      const double previous = squared;
      squared = dot(gradient);
      for (std::size_t k = 0; k < num_unknown_; ++k) {
        direction[k] = gradient[k] + squared / previous * direction[k];
      }
    }
    for (std::size_t k = 0; k < num_unknown_; ++k) {
      Sample& value = values[at(positions_[k])];
      value = static_cast<Sample>(static_cast<double>(value) + scale * step[k]);
    }
  }

 private:
  // States of samples that have no number.
  static constexpr Number is_known = -1, unvisited = -2, is_next = -3, in_layer = -4, filled = -5,
                          deep = -6;

  /// The neighbours of a sample along one axis, by their numbers; that of a sample without a number
  /// is the number of positions.
  struct Neighbours {
    Number lower, upper;
  };

  static std::size_t at(std::int64_t position) { return static_cast<std::size_t>(position); }

  static double dot(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return sum;
  }

  std::vector<std::int64_t> first_layer() {
    std::vector<std::int64_t> layer;
    for (std::size_t i = 0; i < number_.size(); ++i) {
      if (number_[i] != unvisited) continue;
      const auto position = static_cast<std::int64_t>(i);
      bool touches_known = false;
      axes_.for_neighbours(position, [&](std::int64_t neighbour) {
        touches_known = touches_known || number_[at(neighbour)] == is_known;
      });
      if (touches_known) layer.push_back(position);
    }
    return layer;
  }

  void number_unknown() {
    for (std::size_t i = 0; i < number_.size(); ++i) {
      if (number_[i] != filled) continue;
      number_[i] = static_cast<Number>(positions_.size());
      positions_.push_back(static_cast<std::int64_t>(i));
    }
    num_unknown_ = positions_.size();
  }

  /// The Laplacian counts at the missing samples and their neighbours, along each axis on which a
  /// sample has two neighbours, unless it includes a sample that stays as first filled.
  void number_equations() {
    for (std::size_t k = 0; k < num_unknown_; ++k) {
      axes_.for_neighbours(positions_[k], [&](std::int64_t neighbour) {
        Number& number = number_[at(neighbour)];
        if (number != is_known) return;
        number = static_cast<Number>(positions_.size());
        positions_.push_back(neighbour);
      });
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (axes_.extent[axis] > 1) used_axes_.push_back(axis);
    }
    neighbours_.resize(positions_.size() * used_axes_.size());
    // One more for absent neighbours, for which nothing counts.
    counted_.assign((positions_.size() + 1) * used_axes_.size(), 0);
    for (std::size_t k = 0; k < positions_.size(); ++k) number_neighbours(k);
  }

  void number_neighbours(std::size_t k) {
    const std::int64_t position = positions_[k];
    const auto absent = static_cast<Number>(positions_.size());
    bool touches_deep = false;
    const auto number_at = [&](std::int64_t neighbour) {
      const Number number = number_[at(neighbour)];
      touches_deep = touches_deep || number == deep;
      return number >= 0 ? number : absent;
    };
    const std::size_t first = k * used_axes_.size();
    for (std::size_t a = 0; a < used_axes_.size(); ++a) {
      const std::size_t axis = used_axes_[a];
      const std::int64_t i = axes_.along(position, axis);
      const bool has_lower = i > 0, has_upper = i + 1 < axes_.extent[axis];
      neighbours_[first + a] = {has_lower ? number_at(position - axes_.stride[axis]) : absent,
                                has_upper ? number_at(position + axes_.stride[axis]) : absent};
      counted_[first + a] = has_lower && has_upper ? 1 : 0;
    }
    if (touches_deep)
      std::fill_n(counted_.begin() + static_cast<std::ptrdiff_t>(first), used_axes_.size(), 0);
  }

  template <typename Sample>
  std::vector<double> laplacian_of(std::span<Sample> values) const {
    const auto value = [&](std::int64_t i) { return static_cast<double>(values[at(i)]); };
    std::vector<double> result(positions_.size() + 1, 0);
    for (std::size_t k = 0; k < positions_.size(); ++k) {
      for (std::size_t a = 0; a < used_axes_.size(); ++a) {
        if (counted_[k * used_axes_.size() + a] == 0) continue;
        const std::int64_t position = positions_[k], stride = axes_.stride[used_axes_[a]];
        result[k] += value(position - stride) + value(position + stride) - 2 * value(position);
      }
    }
    return result;
  }

  /// The Laplacian of an array that is 0 except at the samples with a number.
  void laplacian(const std::vector<double>& x, std::vector<double>& result) const {
    const std::size_t n = used_axes_.size();
    for (std::size_t k = 0; k < positions_.size(); ++k) {
      double sum = 0;
      for (std::size_t a = k * n; a < k * n + n; ++a) {
        const Neighbours& near = neighbours_[a];
        sum += counted_[a] * (x[at(near.lower)] + x[at(near.upper)] - 2 * x[k]);
      }
      result[k] = sum;
    }
  }

  /// The product of the transposed Laplacian with values of the equations, at the missing samples.
  void transposed(const std::vector<double>& x, std::vector<double>& result) const {
    const std::size_t n = used_axes_.size();
    for (std::size_t k = 0; k < num_unknown_; ++k) {
      double sum = 0;
      for (std::size_t a = 0; a < n; ++a) {
        const Neighbours& near = neighbours_[k * n + a];
        const std::size_t lower = at(near.lower), upper = at(near.upper);
        sum += counted_[lower * n + a] * x[lower] + counted_[upper * n + a] * x[upper] -
               2 * counted_[k * n + a] * x[k];
      }
      result[k] = sum;
    }
  }

  Axes axes_;
  std::vector<std::size_t> used_axes_;
  std::vector<Number> number_;           ///< of each sample of the array, or its state
  std::vector<std::int64_t> positions_;  ///< the unknown samples, then their known neighbours
  std::size_t num_unknown_ = 0;
  std::vector<Neighbours> neighbours_;  ///< of each position, along each used axis
  std::vector<std::uint8_t> counted_;   ///< whether that axis counts in the Laplacian there
};

template <typename Number, typename Sample>
void fill(std::span<Sample> values, std::span<const std::uint8_t> known, const Shape& shape) {
  Fill<Number> missing(known, shape);
  missing.continue_known(values);
  missing.smooth(values);
}

template <typename Sample>
void fill_any(std::span<Sample> values, std::span<const std::uint8_t> known, const Shape& shape) {
  const auto count = static_cast<std::size_t>(shape.pixels());
  if (values.size() != count || known.size() != count) {
    throw Error(ErrorKind::invalid_argument,
                "fill_missing takes one value and one element of `known` for each of the " +
                    std::to_string(count) + " samples of the shape");
  }
  const auto num_known = count - static_cast<std::size_t>(std::ranges::count(known, 0));
  if (num_known == count) return;
  if (num_known == 0) {
    std::ranges::fill(values, Sample{0});
  } else if (count <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    fill<std::int32_t>(values, known, shape);
  } else {
    fill<std::int64_t>(values, known, shape);
  }
}

}  // namespace

void fill_missing(std::span<float> values, std::span<const std::uint8_t> known,
                  const Shape& shape) {
  fill_any(values, known, shape);
}

void fill_missing(std::span<double> values, std::span<const std::uint8_t> known,
                  const Shape& shape) {
  fill_any(values, known, shape);
}

}  // namespace warpalign
