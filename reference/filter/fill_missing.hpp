// The oracle of fill_missing: the values of missing samples that minimise the squared Laplacian.
//
// S. B. Damelin and N. S. Hoang, "On surface completion and image inpainting by biharmonic
// functions", International Journal of Mathematics and Mathematical Sciences, 2018. The Laplacian
// counts along each axis on which a sample has two neighbours.
#pragma once

#include "reference/volume.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace reference {

/// The Laplacian of an array, as the sum of the second differences along its axes.
inline VolumeOf<double> laplacian(const VolumeOf<double>& v) {
  VolumeOf<double> result(v.width, v.height, v.depth);
  for (std::int64_t z = 0; z < v.depth; ++z) {
    for (std::int64_t y = 0; y < v.height; ++y) {
      for (std::int64_t x = 0; x < v.width; ++x) {
        double sum = 0;
        if (x > 0 && x + 1 < v.width)
          sum += v.at(x - 1, y, z) - 2 * v.at(x, y, z) + v.at(x + 1, y, z);
        if (y > 0 && y + 1 < v.height)
          sum += v.at(x, y - 1, z) - 2 * v.at(x, y, z) + v.at(x, y + 1, z);
        if (z > 0 && z + 1 < v.depth)
          sum += v.at(x, y, z - 1) - 2 * v.at(x, y, z) + v.at(x, y, z + 1);
        result.at(x, y, z) = sum;
      }
    }
  }
  return result;
}

/// Solves the normal equations of all missing samples by elimination: for a few dozen of them.
/// Values at missing samples are ignored.
inline VolumeOf<double> fill_missing(VolumeOf<double> values,
                                     const std::vector<std::uint8_t>& known) {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i] != 0) continue;
    missing.push_back(i);
    values.values[i] = 0;
  }
  const std::size_t n = missing.size();
  const std::vector<double> target = laplacian(values).values;
  std::vector<std::vector<double>> columns;  // the Laplacian of one sample of value 1
  for (const std::size_t i : missing) {
    VolumeOf<double> unit(values.width, values.height, values.depth);
    unit.values[i] = 1;
    columns.push_back(laplacian(unit).values);
  }
  const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  std::vector<std::vector<double>> rows(n);  // the equations, with the right side last
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) rows[i].push_back(product(columns[i], columns[j]));
    rows[i].push_back(-product(columns[i], target));
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t pivot = i;
    for (std::size_t k = i + 1; k < n; ++k) {
      if (std::abs(rows[k][i]) > std::abs(rows[pivot][i])) pivot = k;
    }
    std::swap(rows[i], rows[pivot]);
    for (std::size_t k = 0; k < n; ++k) {
      if (k == i) continue;
      const double factor = rows[k][i] / rows[i][i];
      for (std::size_t j = i; j <= n; ++j) rows[k][j] -= factor * rows[i][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) values.values[missing[i]] = rows[i][n] / rows[i][i];
  return values;
}

}  // namespace reference
