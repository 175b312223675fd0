// The transforms of ITK: their classes' parameters (itk*Transform.hxx of ITK 5).
#include "itk.hpp"

#include "fields.hpp"
#include "matrices.hpp"
#include "rotations.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace warpalign::transform_files {
namespace {

// A composite of more members is a mistake, or malice: each costs time for every point.
constexpr std::size_t max_members = 1000;

using Numbers = std::span<const double>;

struct Type {
  std::string name;
  int dimensions;
  [[nodiscard]] std::size_t axes() const { return static_cast<std::size_t>(dimensions); }
};

/// Takes "AffineTransform_double_3_3" apart.
Type type_of(const std::string& text) {
  for (const char* const number : {"_double_", "_float_"}) {
    const std::size_t at = text.find(number);
    if (at == std::string::npos) continue;
    const std::string sizes = text.substr(text.find('_', at + 1) + 1);
    if (sizes == "2_2") return {text.substr(0, at), 2};
    if (sizes == "3_3") return {text.substr(0, at), 3};
    refuse("the transform " + text + " does not map 2 to 2 or 3 to 3 dimensions");
  }
  refuse("'" + text.substr(0, 60) +
         "' is no type of a transform, such as "
         "AffineTransform_double_3_3");
}

HomogeneousMatrix about(const Type& type, Numbers linear, Numbers fixed, Numbers translation) {
  return affine_about(type.dimensions, linear, fixed.first(type.axes()), translation);
}

HomogeneousMatrix scale_versor(Numbers p, Numbers fixed) {
  std::vector<double> linear = versor3(p.first(3));
  for (std::size_t i = 0; i < 3; ++i) linear[4 * i] += p[6 + i] - 1;
  if (p.size() == 15) {
    constexpr std::array<std::size_t, 6> skewed{1, 2, 3, 5, 6, 7};
    for (std::size_t i = 0; i < 6; ++i) linear[skewed[i]] += p[9 + i];
  }
  return affine_about(3, linear, fixed.first(3), p.subspan(3, 3));
}

HomogeneousMatrix scale_about(const Type& type, Numbers scales, Numbers fixed) {
  const std::size_t d = type.axes();
  std::vector<double> linear(d * d);
  for (std::size_t i = 0; i < d; ++i) linear[i * d + i] = scales[i];
  return about(type, linear, fixed, std::vector<double>(d));
}

/// The matrix of a type, from counts of numbers that fit; nothing for other types.
class MatrixType {
 public:
  MatrixType(const Type& type, Numbers parameters, Numbers fixed)
      : type_(type), p_(parameters), fixed_(fixed) {}

  [[nodiscard]] std::optional<HomogeneousMatrix> matrix() const {
    return type_.dimensions == 2 ? matrix2() : matrix3();
  }

 private:
  void expect(std::size_t parameters, std::size_t fixed) const {
    expect_count(p_, parameters, type_.name + ", parameters");
    expect_count(fixed_, fixed, type_.name + ", fixed parameters");
  }

  [[nodiscard]] std::optional<HomogeneousMatrix> any_dimensions() const {
    const std::size_t d = type_.axes();
    const std::string& name = type_.name;
    if (name == "IdentityTransform") return HomogeneousMatrix{};
    if (name == "TranslationTransform") {
      expect(d, fixed_.empty() ? 0 : d);  // nothing, or zeros that no program uses
      std::vector<double> linear(d * d);
      for (std::size_t i = 0; i < d; ++i) linear[i * d + i] = 1;
      return affine_matrix(type_.dimensions, linear, p_);
    }
    if (name == "AffineTransform" || name == "MatrixOffsetTransformBase") {
      expect(d * (d + 1), d);
      return about(type_, p_.first(d * d), fixed_, p_.subspan(d * d));
    }
    if (name == "ScaleTransform") {
      expect(d, d);
      return scale_about(type_, p_, fixed_);
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<HomogeneousMatrix> matrix2() const {
    const std::string& name = type_.name;
    if (name == "Euler2DTransform" || name == "Rigid2DTransform") {
      expect(3, 2);
      return about(type_, rotation2(p_[0]), fixed_, p_.subspan(1));
    }
    if (name == "Similarity2DTransform") {
      expect(4, 2);
      return about(type_, rotation2(p_[1], p_[0]), fixed_, p_.subspan(2));
    }
    return any_dimensions();
  }

  [[nodiscard]] std::optional<HomogeneousMatrix> matrix3() const {
    const std::string& name = type_.name;
    if (name == "Euler3DTransform") {
      const bool has_order = fixed_.size() == 4;  // older files lack it
      expect(6, has_order ? 4 : 3);
      return about(type_, euler3(p_, has_order && fixed_[3] != 0), fixed_, p_.subspan(3));
    }
    if (name == "VersorRigid3DTransform") {
      expect(6, 3);
      return about(type_, versor3(p_), fixed_, p_.subspan(3));
    }
    if (name == "QuaternionRigidTransform") {
      expect(7, 3);
      return about(type_, quaternion3(p_), fixed_, p_.subspan(4));
    }
    if (name == "Similarity3DTransform") {
      expect(7, 3);
      std::vector<double> linear = versor3(p_);
      for (double& value : linear) value *= p_[6];
      return about(type_, linear, fixed_, p_.subspan(3, 3));
    }
    if (name == "ScaleVersor3DTransform" || name == "ScaleSkewVersor3DTransform") {
      expect(name == "ScaleVersor3DTransform" ? 9 : 15, 3);
      return scale_versor(p_, fixed_);
    }
    return any_dimensions();
  }

  const Type& type_;
  Numbers p_, fixed_;
};

Transform single(const ItkTransform& itk) {
  const Type type = type_of(itk.type);
  if (const auto matrix = MatrixType(type, itk.parameters, itk.fixed).matrix()) {
    return affine(type.dimensions, *matrix, Coordinates::world);
  }
  if (type.name == "BSplineTransform" || type.name == "BSplineDeformableTransform") {
    return bspline_of(grid_of_itk(type.dimensions, itk.fixed), type.dimensions, itk.parameters);
  }
  if (type.name == "DisplacementFieldTransform") {
    return displacement_of(grid_of_itk(type.dimensions, itk.fixed), type.dimensions,
                           itk.parameters);
  }
  refuse("transforms of the type " + type.name +
         " are not supported; convert it to an affine, "
         "B-spline or displacement field transform");
}

std::string type_name(const std::string& name, int dimensions) {
  const std::string d = std::to_string(dimensions);
  return name + "_double_" + d + "_" + d;
}

ItkTransform itk_of(const Transform& member) {
  const int d = member.dimensions();
  switch (member.kind()) {
    case TransformKind::displacement:
      if (member.interpolation() != FieldInterpolation::linear) {
        refuse("ITK interpolates displacements linearly: sample this cubic field first");
      }
      return {type_name("DisplacementFieldTransform", d), interleaved_samples(member),
              itk_of_grid(d, *member.grid())};
    case TransformKind::bspline:
      return {type_name("BSplineTransform", d), planar_samples(member),
              itk_of_grid(d, *member.grid())};
    case TransformKind::inverse:
      refuse("ITK has no inverse of a field: sample it on a grid first");
    default:
      break;
  }
  const HomogeneousMatrix matrix = affine_part(member, "a transform of ITK");
  if (member.kind() == TransformKind::translation) {
    return {type_name("TranslationTransform", d), translation_of(matrix, d), {}};
  }
  ItkTransform itk{type_name("AffineTransform", d), linear_of(matrix, d),
                   std::vector<double>(static_cast<std::size_t>(d))};
  for (const double t : translation_of(matrix, d)) itk.parameters.push_back(t);
  return itk;
}

}  // namespace

Transform transform_of(std::span<const ItkTransform> list) {
  if (list.empty()) refuse("the file has no transform");
  const bool composite = list.front().type.starts_with("CompositeTransform_");
  if (!composite && list.size() > 1) {
    refuse("the file has " + std::to_string(list.size()) +
           " transforms that are not one composite; give them one by one");
  }
  if (!composite) return single(list.front());
  if (list.size() == 1) refuse("the file's composite transform has no members");
  if (list.size() > max_members + 1) {
    refuse("the file is a composite of " + std::to_string(list.size() - 1) + " transforms; up to " +
           std::to_string(max_members) + " are allowed");
  }
  // A composite applies its last member first.
  Transform whole = single(list.back());
  for (std::size_t i = list.size() - 2; i > 0; --i) whole = single(list[i]) * whole;
  return whole;
}

std::vector<ItkTransform> itk_transforms_of(const Transform& transform) {
  if (transform.coordinates() != Coordinates::world) {
    refuse("ITK's transforms map world coordinates, and this one maps pixels: convert it");
  }
  const std::vector<Transform> members = transform.members();
  std::vector<ItkTransform> list;
  if (members.size() > 1) {
    list.push_back({type_name("CompositeTransform", transform.dimensions()), {}, {}});
  }
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    list.push_back(itk_of(*member));
  }
  return list;
}

}  // namespace warpalign::transform_files
