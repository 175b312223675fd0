// The transform of --initial, for the registration commands.
#include "commands/initial_transform.hpp"

#include "io/initial_file.hpp"
#include "io/usage_error.hpp"

#include "transform_files/matrices.hpp"

#include <warpalign/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

namespace warpalign::program {
namespace {

using Rows = std::vector<std::vector<double>>;

/// Pairs of points relative to their means.
struct CentredPoints {
  CentredPoints(const Rows& points, std::size_t dimensions)
      : relative(points), reference(dimensions), moving(dimensions) {
    const auto count = static_cast<double>(points.size());
    for (const std::vector<double>& pair : points) {
      for (std::size_t i = 0; i < dimensions; ++i) {
        reference[i] += pair[i] / count;
        moving[i] += pair[dimensions + i] / count;
      }
    }
    for (std::vector<double>& pair : relative) {
      for (std::size_t i = 0; i < dimensions; ++i) {
        pair[i] -= reference[i];
        pair[dimensions + i] -= moving[i];
      }
    }
  }
  Rows relative;
  std::vector<double> reference, moving;  ///< the means
};

/// Solves a x = b for each column of b by Gauss-Jordan elimination. Returns false if a is singular.
bool solve(Rows a, Rows& b) {
  const std::size_t n = a.size();
  double largest = 0;
  for (const auto& row : a) {
    for (const double value : row) largest = std::max(largest, std::abs(value));
  }
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column; row < n; ++row) {
      if (std::abs(a[row][column]) > std::abs(a[pivot][column])) pivot = row;
    }
    if (!(std::abs(a[pivot][column]) > 1e-9 * largest)) return false;
    std::swap(a[pivot], a[column]);
    std::swap(b[pivot], b[column]);
    for (std::size_t row = 0; row < n; ++row) {
      if (row == column) continue;
      const double factor = a[row][column] / a[column][column];
      for (std::size_t k = 0; k < n; ++k) a[row][k] -= factor * a[column][k];
      for (std::size_t k = 0; k < n; ++k) b[row][k] -= factor * b[column][k];
    }
  }
  for (std::size_t row = 0; row < n; ++row) {
    for (double& value : b[row]) value /= a[row][row];
  }
  return true;
}

Rows fitted_affine(const CentredPoints& points, std::size_t dimensions, const std::string& file) {
  Rows squares(dimensions, std::vector<double>(dimensions));
  Rows products = squares;
  for (const std::vector<double>& pair : points.relative) {
    for (std::size_t i = 0; i < dimensions; ++i) {
      for (std::size_t j = 0; j < dimensions; ++j) {
        squares[i][j] += pair[i] * pair[j];
        products[i][j] += pair[i] * pair[dimensions + j];
      }
    }
  }
  if (!solve(squares, products)) {
    throw UsageError(
        fmt::format("--initial {}: the points of the reference lie on a {}; add others", file,
                    dimensions == 2 ? "line" : "plane"));
  }
  Rows linear(dimensions, std::vector<double>(dimensions));
  for (std::size_t i = 0; i < dimensions; ++i) {
    for (std::size_t j = 0; j < dimensions; ++j) linear[i][j] = products[j][i];
  }
  return linear;
}

/// Points as complex numbers: a similarity multiplies them by a number.
Rows fitted_similarity(const CentredPoints& points, bool scales, const std::string& file) {
  std::complex<double> product;
  double squares = 0;
  for (const std::vector<double>& pair : points.relative) {
    const std::complex<double> from{pair[0], pair[1]};
    product += std::conj(from) * std::complex<double>{pair[2], pair[3]};
    squares += std::norm(from);
  }
  if (!(squares > 0) || !(std::abs(product) > 0)) {
    throw UsageError(fmt::format(
        "--initial {}: the points are all the same point; add others, or give one", file));
  }
  const std::complex<double> factor = scales ? product / squares : product / std::abs(product);
  return {{factor.real(), -factor.imag()}, {factor.imag(), factor.real()}};
}

/// The rows of the transform with this linear part that maps the mean of the points to their mean.
Rows with_shift(Rows linear, const CentredPoints& points) {
  for (std::size_t i = 0; i < linear.size(); ++i) {
    double shift = points.moving[i];
    for (std::size_t j = 0; j < linear.size(); ++j) shift -= linear[i][j] * points.reference[j];
    linear[i].push_back(shift);
  }
  return linear;
}

// Writes rows to the first columns of a row-major matrix of `columns` columns.
void copy_rows(const Rows& rows, std::ptrdiff_t columns, double* matrix) {
  for (const std::vector<double>& row : rows) {
    std::copy(row.begin(), row.end(), matrix);
    matrix += columns;
  }
}

/// Maps the second point (x, y, z) of a pair.
void map_moving_point(const HomogeneousMatrix& matrix, std::vector<double>& pair) {
  const std::array<double, 3> p{pair[3], pair[4], pair[5]};
  for (std::size_t row = 0; row < 3; ++row) {
    const double* m = matrix.m.data() + 4 * row;
    pair[3 + row] = m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3];
  }
}

}  // namespace

Homography load_initial_transform(const std::string& file, Motion motion) {
  const InitialFile initial = load_initial(file, 2);
  Rows rows = initial.matrix;
  if (rows.empty()) {
    const CentredPoints points(initial.points, 2);
    const std::size_t count = initial.points.size();
    const bool affine =
        motion == Motion::affine || motion == Motion::homography || motion == Motion::deformable;
    const bool scales = motion != Motion::rigid && motion != Motion::rotation;
    Rows linear = identity_rows(2, 2);
    if (affine && count >= 3) {
      linear = fitted_affine(points, 2, file);
    } else if (motion != Motion::translation && count >= 2) {
      linear = fitted_similarity(points, scales, file);
    }
    rows = with_shift(std::move(linear), points);
  }
  Homography transform;
  copy_rows(rows, 3, transform.h.data());
  return transform;
}

HomogeneousMatrix load_initial_volume_transform(const std::string& file, Motion motion,
                                                const HomogeneousMatrix& moving_map) {
  InitialFile initial = load_initial(file, 3);
  for (std::vector<double>& pair : initial.points) map_moving_point(moving_map, pair);
  Rows rows = initial.matrix;
  const bool is_matrix = !rows.empty();
  if (rows.empty()) {
    const CentredPoints points(initial.points, 3);
    const std::size_t count = initial.points.size();
    Rows linear = identity_rows(3, 3);
    if (motion != Motion::translation && count > 1) {
      if (count < 4) {
        throw UsageError(fmt::format(
            "--initial {}: has {} points; volumes need one, or four and more", file, count));
      }
      linear = fitted_affine(points, 3, file);
    }
    rows = with_shift(std::move(linear), points);
  }
  HomogeneousMatrix transform;
  copy_rows(rows, 4, transform.m.data());
  return is_matrix ? transform_files::product(moving_map, transform) : transform;
}

void naming_initial(const std::string& file, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    const bool about_it = error.message().find("initial transform") != std::string::npos;
    if (error.kind() != ErrorKind::invalid_argument || !about_it) throw;
    throw UsageError(fmt::format("--initial {}: {}", file, error.message()));
  }
}

}  // namespace warpalign::program
