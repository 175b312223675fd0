// Sparse linear least squares.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace warpalign::detail {

/// A linear least-squares problem with few unknowns in each equation, solved by the sparse Cholesky
/// factorisation of its normal equations (Eigen's SimplicialLDLT). Only normal_equations.cpp
/// includes Eigen, which adds many seconds to the compilation of a source.
class NormalEquations {
 public:
  /// One unknown of an equation with its factor.
  struct Term {
    std::size_t unknown = 0;
    double factor = 0;
  };

  explicit NormalEquations(std::size_t unknowns);
  NormalEquations(const NormalEquations&) = delete;
  NormalEquations& operator=(const NormalEquations&) = delete;
  ~NormalEquations();

  /// Adds the equation sum(factor * unknown) = value. `weight` is the inverse of its variance.
  void add(std::span<const Term> terms, double value, double weight);
  /// Solves the problem. Every unknown needs an equation that determines it; throws
  /// Error(invalid_argument) if one has none.
  [[nodiscard]] std::vector<double> solve();
  /// The variance of an unknown, after solve().
  [[nodiscard]] double variance(std::size_t unknown) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace warpalign::detail
