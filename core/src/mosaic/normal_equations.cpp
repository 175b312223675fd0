// Sparse linear least squares.
#include "mosaic/normal_equations.hpp"

#include "device/check.hpp"
#include "mosaic/stage_name.hpp"

#include <Eigen/SparseCholesky>

namespace warpalign::detail {
namespace {

using Matrix = Eigen::SparseMatrix<double>;
using Index = Eigen::Index;

}  // namespace

struct NormalEquations::State {
  std::vector<Eigen::Triplet<double>> entries;
  Eigen::VectorXd right;
  Eigen::SimplicialLDLT<Matrix> factors;
};

NormalEquations::NormalEquations(std::size_t unknowns) : state_(std::make_unique<State>()) {
  state_->right = Eigen::VectorXd::Zero(static_cast<Index>(unknowns));
}

NormalEquations::~NormalEquations() = default;

void NormalEquations::add(std::span<const Term> terms, double value, double weight) {
  for (const Term& row : terms) {
    const auto i = static_cast<int>(row.unknown);
    state_->right[i] += weight * row.factor * value;
    for (const Term& column : terms) {
      const auto j = static_cast<int>(column.unknown);
      if (j <= i) state_->entries.emplace_back(i, j, weight * row.factor * column.factor);
    }
  }
}

std::vector<double> NormalEquations::solve() {
  const Index size = state_->right.size();
  Matrix matrix(size, size);
  matrix.setFromTriplets(state_->entries.begin(), state_->entries.end());
  state_->factors.compute(matrix);
  const Eigen::VectorXd solution = state_->factors.info() == Eigen::Success
                                       ? Eigen::VectorXd(state_->factors.solve(state_->right))
                                       : Eigen::VectorXd();
  if (solution.size() != size || !solution.allFinite()) {
    refuse(mosaic_stage,
           "the positions are not determined; check that they are finite and that "
           "their unit is pixels");
  }
  return {solution.data(), solution.data() + size};
}

double NormalEquations::variance(std::size_t unknown) const {
  Eigen::VectorXd unit = Eigen::VectorXd::Zero(state_->right.size());
  unit[static_cast<Index>(unknown)] = 1;
  return state_->factors.solve(unit)[static_cast<Index>(unknown)];
}

}  // namespace warpalign::detail
