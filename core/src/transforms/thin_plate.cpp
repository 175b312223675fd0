// The thin-plate spline through pairs of points.
#include "transforms/thin_plate.hpp"

#include "transforms/dense_solver.hpp"
#include "transforms/refuse.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace warpalign::detail {
namespace {

constexpr std::size_t max_landmarks = 2000;

/// U(r), and U'(r) / r, of the squared distance.
struct Kernel {
  double value, slope;
};

Kernel kernel(int dimensions, double squared) {
  if (!(squared > 0)) return {0, 0};
  if (dimensions == 3) return {std::sqrt(squared), 1 / std::sqrt(squared)};
  const double logarithm = std::log(squared);
  return {squared * logarithm / 2, logarithm + 1};
}

}  // namespace

ThinPlate::ThinPlate(int dimensions, std::span<const double> landmarks,
                     std::span<const double> values)
    : dimensions_(dimensions),
      landmarks_(landmarks.begin(), landmarks.end()),
      values_(values.begin(), values.end()) {
  const std::size_t d = axes();
  const std::size_t n = count();
  if (n < d + 1 || n > max_landmarks) {
    refuse_transform("a thin-plate spline goes through " + std::to_string(d + 1) + " to " +
                     std::to_string(max_landmarks) + " points, not " + std::to_string(n));
  }
  for (std::size_t i = 0; i < landmarks_.size(); ++i) {
    centre_[i % d] += landmarks_[i] / static_cast<double>(n);
  }
  double largest = 0;
  for (std::size_t i = 0; i < landmarks_.size(); ++i) {
    largest = std::max(largest, std::abs(landmarks_[i] - centre_[i % d]));
  }
  scale_ = largest > 0 ? 1 / largest : 1;
  for (std::size_t i = 0; i < landmarks_.size(); ++i) {
    centred_.push_back((landmarks_[i] - centre_[i % d]) * scale_);
  }
  const std::size_t size = n + d + 1;
  const DenseSolver solver(system(), size);
  if (solver.is_singular()) {
    refuse_transform(
        "the points do not determine a thin-plate spline: two are the same, or all lie on a " +
        std::string(d == 2 ? "line" : "plane"));
  }
  weights_.assign(size * d, 0);
  std::vector<double> b(size);
  for (std::size_t a = 0; a < d; ++a) {
    std::fill(b.begin(), b.end(), 0.0);
    for (std::size_t i = 0; i < n; ++i) b[i] = values_[d * i + a];
    solver.solve(b);
    for (std::size_t i = 0; i < size; ++i) weights_[d * i + a] = b[i];
  }
}

std::vector<double> ThinPlate::system() const {
  const std::size_t d = axes();
  const std::size_t n = count();
  const std::size_t size = n + d + 1;
  std::vector<double> matrix(size * size);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double squared = 0;
      for (std::size_t a = 0; a < d; ++a) {
        const double difference = centred_[d * i + a] - centred_[d * j + a];
        squared += difference * difference;
      }
      matrix[i * size + j] = kernel(dimensions_, squared).value;
    }
    for (std::size_t a = 0; a <= d; ++a) {
      const double value = a == 0 ? 1 : centred_[d * i + a - 1];
      matrix[i * size + n + a] = matrix[(n + a) * size + i] = value;
    }
  }
  return matrix;
}

void ThinPlate::map(Vector3& point, Matrix3* jacobian) const {
  const std::size_t d = axes();
  const std::size_t n = count();
  Vector3 p{};
  for (std::size_t a = 0; a < d; ++a) p[a] = (point[a] - centre_[a]) * scale_;
  Vector3 mapped{};
  Matrix3 slopes{};
  for (std::size_t i = 0; i < n; ++i) {
    Vector3 difference{};
    double squared = 0;
    for (std::size_t a = 0; a < d; ++a) {
      difference[a] = p[a] - centred_[d * i + a];
      squared += difference[a] * difference[a];
    }
    const auto [value, slope] = kernel(dimensions_, squared);
    for (std::size_t a = 0; a < d; ++a) {
      mapped[a] += weights_[d * i + a] * value;
      if (jacobian == nullptr) continue;
      for (std::size_t b = 0; b < d; ++b) {
        slopes[3 * a + b] += weights_[d * i + a] * slope * difference[b];
      }
    }
  }
  for (std::size_t a = 0; a < d; ++a) {
    mapped[a] += weights_[d * n + a];
    for (std::size_t b = 0; b < d; ++b) {
      mapped[a] += weights_[d * (n + 1 + b) + a] * p[b];
      slopes[3 * a + b] += weights_[d * (n + 1 + b) + a];
    }
  }
  for (std::size_t a = 0; a < d; ++a) point[a] = mapped[a];
  if (jacobian == nullptr) return;
  *jacobian = identity3();
  for (std::size_t a = 0; a < d; ++a) {
    for (std::size_t b = 0; b < d; ++b) (*jacobian)[3 * a + b] = slopes[3 * a + b] * scale_;
  }
}

// Without the landmark i, the spline's error at i is its weight divided by the diagonal element of
// the system's inverse (Rippa 1999).
std::vector<double> ThinPlate::distances_from_others() const {
  const std::size_t d = axes();
  const std::size_t n = count();
  const std::size_t size = n + d + 1;
  const DenseSolver solver(system(), size);
  std::vector<double> distances(n);
  std::vector<double> unit(size);
  for (std::size_t i = 0; i < n; ++i) {
    std::fill(unit.begin(), unit.end(), 0.0);
    unit[i] = 1;
    solver.solve(unit);
    double squared = 0;
    for (std::size_t a = 0; a < d; ++a) {
      const double error = weights_[d * i + a] / unit[i];
      squared += error * error;
    }
    distances[i] = std::sqrt(squared);
  }
  return distances;
}

}  // namespace warpalign::detail
