// Transforms: how they are made, composed, inverted and compared.
#include <warpalign/transform.hpp>

#include "transforms/field_inverse.hpp"
#include "transforms/matrices.hpp"
#include "transforms/plate_inverse.hpp"
#include "transforms/refuse.hpp"
#include "transforms/state.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace warpalign {

using detail::Field;
using detail::FieldBasis;
using detail::TransformState;

namespace {

/// The samples of all components together, point by point.
template <class Value>
std::vector<Value> interleaved(const Shape& shape, std::span<const Value* const> components) {
  const auto points = static_cast<std::size_t>(shape.pixels());
  const std::size_t axes = components.size();
  std::vector<Value> samples(points * axes);
  for (std::size_t a = 0; a < axes; ++a) {
    for (std::size_t i = 0; i < points; ++i) samples[axes * i + a] = components[a][i];
  }
  return samples;
}

template <class Value>
TransformState field_state(const PointGrid& grid, std::span<const Value* const> components,
                           FieldBasis basis, Coordinates coordinates) {
  const auto dimensions = static_cast<int>(std::min<std::size_t>(components.size(), 4));
  detail::check_grid(dimensions, grid);
  TransformState state;
  state.dimensions = dimensions;
  state.kind =
      basis == FieldBasis::coefficients ? TransformKind::bspline : TransformKind::displacement;
  state.coordinates = coordinates;
  state.field =
      std::make_shared<Field>(dimensions, grid, basis, interleaved(grid.shape, components));
  return state;
}

FieldBasis basis_of(FieldInterpolation interpolation) {
  return interpolation == FieldInterpolation::linear ? FieldBasis::linear
                                                     : FieldBasis::interpolated;
}

bool is_equal(const Field& a, const Field& b) {
  return a.dimensions() == b.dimensions() && a.basis() == b.basis() && a.grid() == b.grid() &&
         a.samples() == b.samples();
}

/// The same numbers for other coordinates. Within a chain of coordinate changes they are right.
Transform relabelled(const Transform& transform, Coordinates coordinates) {
  TransformState state = TransformState::of(transform);
  state.coordinates = coordinates;
  for (Transform& member : state.members) member = relabelled(member, coordinates);
  return TransformState::transform_of(std::move(state));
}

}  // namespace

HomogeneousMatrix PointGrid::index_to_point() const noexcept {
  const auto& d = direction;
  return HomogeneousMatrix::affine3({d[0] * spacing.x, d[1] * spacing.y, d[2] * spacing.z, origin.x,
                                     d[3] * spacing.x, d[4] * spacing.y, d[5] * spacing.z, origin.y,
                                     d[6] * spacing.x, d[7] * spacing.y, d[8] * spacing.z,
                                     origin.z});
}

bool operator==(const PointGrid& a, const PointGrid& b) noexcept {
  const auto same = [](const Point3& p, const Point3& q) {
    return p.x == q.x && p.y == q.y && p.z == q.z;
  };
  return a.shape == b.shape && same(a.origin, b.origin) && same(a.spacing, b.spacing) &&
         a.direction == b.direction;
}

Transform::Transform() : Transform(translation(Point{})) {}
Transform::Transform(const Transform&) = default;
// A transform that was moved from can still be destroyed and assigned to.
Transform::Transform(Transform&&) noexcept = default;
Transform& Transform::operator=(const Transform&) = default;
Transform& Transform::operator=(Transform&&) noexcept = default;
Transform::~Transform() = default;
Transform::Transform(std::shared_ptr<const TransformState> state) noexcept
    : state_(std::move(state)) {}

Transform Transform::of_matrix(TransformKind kind, int dimensions, const HomogeneousMatrix& matrix,
                               Coordinates coordinates) {
  detail::check_matrix(kind, dimensions, matrix);
  TransformState state;
  state.dimensions = dimensions;
  state.kind = kind;
  state.coordinates = coordinates;
  state.matrix = matrix;
  return TransformState::transform_of(std::move(state));
}

Transform Transform::translation(const Point& shift) {
  return of_matrix(TransformKind::translation, 2, Affine::translation(shift.x, shift.y));
}

Transform Transform::translation(const Point3& shift) {
  return of_matrix(
      TransformKind::translation, 3,
      HomogeneousMatrix::affine3({1, 0, 0, shift.x, 0, 1, 0, shift.y, 0, 0, 1, shift.z}));
}

Transform Transform::affine(const Affine& plane) {
  return of_matrix(TransformKind::affine, 2, plane);
}

Transform Transform::homography(const Homography& plane) {
  return of_matrix(TransformKind::homography, 2, plane);
}

Transform Transform::displacement(const PointGrid& grid, std::span<const float* const> components,
                                  FieldInterpolation interpolation, Coordinates coordinates) {
  return TransformState::transform_of(
      field_state(grid, components, basis_of(interpolation), coordinates));
}

Transform Transform::displacement(const PointGrid& grid, std::span<const double* const> components,
                                  FieldInterpolation interpolation, Coordinates coordinates) {
  return TransformState::transform_of(
      field_state(grid, components, basis_of(interpolation), coordinates));
}

Transform Transform::bspline(const PointGrid& grid, std::span<const float* const> coefficients,
                             Coordinates coordinates) {
  return TransformState::transform_of(
      field_state(grid, coefficients, FieldBasis::coefficients, coordinates));
}

Transform Transform::bspline(const PointGrid& grid, std::span<const double* const> coefficients,
                             Coordinates coordinates) {
  return TransformState::transform_of(
      field_state(grid, coefficients, FieldBasis::coefficients, coordinates));
}

Transform Transform::thin_plate(int dimensions, std::span<const double> reference,
                                std::span<const double> moving, Coordinates coordinates) {
  if (dimensions != 2 && dimensions != 3) {
    detail::refuse_transform("a transform has 2 or 3 dimensions, not " +
                             std::to_string(dimensions));
  }
  if (reference.size() != moving.size() ||
      reference.size() % static_cast<std::size_t>(dimensions) != 0) {
    detail::refuse_transform(
        "a thin-plate spline needs as many points of the reference as of the moving image");
  }
  for (const auto& points : {reference, moving}) {
    if (!std::all_of(points.begin(), points.end(), [](double v) { return std::isfinite(v); })) {
      detail::refuse_transform("a point of a thin-plate spline is not finite");
    }
  }
  TransformState state;
  state.dimensions = dimensions;
  state.kind = TransformKind::thin_plate;
  state.coordinates = coordinates;
  state.plate = std::make_shared<detail::ThinPlate>(dimensions, reference, moving);
  return TransformState::transform_of(std::move(state));
}

int Transform::dimensions() const noexcept { return state_->dimensions; }
TransformKind Transform::kind() const noexcept { return state_->kind; }
Coordinates Transform::coordinates() const noexcept { return state_->coordinates; }

std::optional<HomogeneousMatrix> Transform::matrix() const {
  if (!state_->is_matrix()) return std::nullopt;
  return state_->matrix;
}

std::optional<PointGrid> Transform::grid() const {
  if (!state_->is_field()) return std::nullopt;
  return state_->field->grid();
}

std::optional<FieldInterpolation> Transform::interpolation() const noexcept {
  if (!state_->is_field()) return std::nullopt;
  return state_->field->basis() == FieldBasis::linear ? FieldInterpolation::linear
                                                      : FieldInterpolation::cubic;
}

std::optional<PixelType> Transform::sample_type() const noexcept {
  if (!state_->is_field()) return std::nullopt;
  return state_->field->samples().index() == 0 ? PixelType::f32 : PixelType::f64;
}

void Transform::copy_samples(std::span<double* const> components) const {
  if (!state_->is_field())
    detail::refuse_transform("only a displacement or a B-spline has samples");
  const auto axes = static_cast<std::size_t>(state_->dimensions);
  if (components.size() != axes)
    detail::refuse_transform("pass memory for the samples of each axis");
  std::visit(
      [&](const auto& samples) {
        for (std::size_t i = 0; i < samples.size(); ++i) {
          components[i % axes][i / axes] = static_cast<double>(samples[i]);
        }
      },
      state_->field->samples());
}

std::array<std::vector<double>, 2> Transform::landmarks() const {
  if (state_->kind != TransformKind::thin_plate) return {};
  return {state_->plate->landmarks(), state_->plate->values()};
}

std::vector<Transform> Transform::members() const {
  if (state_->kind != TransformKind::chain) return {*this};
  return state_->members;
}

Transform Transform::operator*(const Transform& first) const {
  const TransformState& a = *first.state_;
  const TransformState& b = *state_;
  if (a.dimensions != b.dimensions) {
    detail::refuse_transform("a transform of " + std::to_string(b.dimensions) +
                             " dimensions cannot follow one of " + std::to_string(a.dimensions));
  }
  if (a.coordinates != b.coordinates) {
    detail::refuse_transform(
        "a transform of pixels and one of world coordinates cannot be composed: convert one");
  }
  std::vector<Transform> members = first.members();
  for (const Transform& next : this->members()) {
    const TransformState& last = *members.back().state_;
    const TransformState& added = *next.state_;
    if (last.is_matrix() && added.is_matrix()) {
      TransformState both = last;
      both.kind = std::max(last.kind, added.kind);
      both.matrix = detail::product(added.matrix, last.matrix);
      members.back() = TransformState::transform_of(std::move(both));
    } else {
      members.push_back(next);
    }
  }
  if (members.size() == 1) return members.front();
  TransformState chain;
  chain.dimensions = a.dimensions;
  chain.kind = TransformKind::chain;
  chain.coordinates = a.coordinates;
  for (const Transform& member : members) {
    chain.residual = std::max(chain.residual, member.state_->residual);
  }
  chain.members = std::move(members);
  return TransformState::transform_of(std::move(chain));
}

Transform Transform::inverse() const {
  TransformState result = *state_;
  if (state_->is_matrix()) {
    result.matrix = detail::inverse_of(state_->matrix);
  } else if (state_->is_field()) {
    detail::check_invertible(*state_->field);
    result.kind = TransformKind::inverse;
    result.residual = detail::residual_of_inverse(*state_->field);
  } else if (state_->plate) {
    const bool inverted = state_->kind == TransformKind::inverse;
    if (!inverted) detail::check_invertible(*state_->plate);
    result.kind = inverted ? TransformKind::thin_plate : TransformKind::inverse;
    result.residual = inverted ? 0 : detail::residual_of_inverse(*state_->plate);
  } else if (state_->kind == TransformKind::inverse) {
    result.kind = state_->field->basis() == FieldBasis::coefficients ? TransformKind::bspline
                                                                     : TransformKind::displacement;
    result.residual = 0;
  } else {
    std::reverse(result.members.begin(), result.members.end());
    result.residual = 0;
    for (Transform& member : result.members) {
      member = member.inverse();
      result.residual = std::max(result.residual, member.state_->residual);
    }
  }
  return TransformState::transform_of(std::move(result));
}

Transform Transform::in_coordinates(Coordinates coordinates, const PointGrid& reference,
                                    const PointGrid& moving) const {
  detail::check_grid(state_->dimensions, reference);
  detail::check_grid(state_->dimensions, moving);
  if (state_->coordinates == coordinates) return *this;
  HomogeneousMatrix first = reference.index_to_point();
  HomogeneousMatrix last = moving.index_to_point();
  HomogeneousMatrix& inverted = coordinates == Coordinates::world ? first : last;
  inverted = detail::inverse_of(inverted);
  const auto affine = [&](const HomogeneousMatrix& matrix) {
    return of_matrix(TransformKind::affine, state_->dimensions, matrix, coordinates);
  };
  return affine(last) * relabelled(*this, coordinates) * affine(first);
}

double Transform::inverse_residual() const noexcept { return state_->residual; }

bool operator==(const Transform& a, const Transform& b) {
  const TransformState& s = *a.state_;
  const TransformState& t = *b.state_;
  if (&s == &t) return true;
  if (s.kind != t.kind || s.dimensions != t.dimensions || s.coordinates != t.coordinates) {
    return false;
  }
  if (s.is_matrix()) return s.matrix.m == t.matrix.m;
  if (s.kind == TransformKind::chain) return s.members == t.members;
  if (s.plate || t.plate) {  // thin-plate splines, or inverses of some
    return s.plate && t.plate && s.plate->landmarks() == t.plate->landmarks() &&
           s.plate->values() == t.plate->values();
  }
  return s.field == t.field || is_equal(*s.field, *t.field);
}

}  // namespace warpalign
