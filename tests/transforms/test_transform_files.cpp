// Files of other tools' transforms, by hand-made texts. python/tests/test_transform_files.py has
// the tests against the tools themselves.
#include "transform_files/transform_files.hpp"

#include <warpalign/error.hpp>

#include <doctest/doctest.h>
#include <cmath>
#include <string>
#include <vector>

namespace {

using namespace warpalign;
using transform_files::Format;
using transform_files::format_of;
using transform_files::Geometry;
using transform_files::read;
using transform_files::write;

const std::string head = "#Insight Transform File V1.0\n#Transform 0\n";

std::string trouble(Format format, const std::string& text, const Geometry& geometry = {}) {
  try {
    static_cast<void>(read(format, text, geometry));
  } catch (const Error& error) {
    return error.message();
  }
  return {};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("transform files: a rotation of ITK turns about its centre") {
  const std::string text = head +
                           "Transform: Euler2DTransform_double_2_2\n"
                           "Parameters: 1.5707963267948966 10 20\nFixedParameters: 3 4\n";
  CHECK(format_of("t.tfm", text) == Format::itk);
  const Transform transform = read(Format::itk, text).transforms.front();
  CHECK(transform.coordinates() == Coordinates::world);
  // (5, 4) is 2 to the right of the centre, and 2 further along y after a quarter turn.
  const Point mapped = transform(Point{5, 4});
  CHECK(std::abs(mapped.x - 13) < 1e-12);
  CHECK(std::abs(mapped.y - 26) < 1e-12);
}

TEST_CASE("transform files: a composite of ITK applies its last member first") {
  const auto member = [](const char* type, const char* numbers, const char* fixed) {
    return std::string("Transform: ") + type + "\nParameters: " + numbers +
           "\nFixedParameters: " + fixed + "\n";
  };
  const std::string text = head + "Transform: CompositeTransform_double_2_2\n" +
                           member("AffineTransform_double_2_2", "2 0 0 2 0 0", "0 0") +
                           member("TranslationTransform_double_2_2", "1 1", "");
  CHECK(read(Format::itk, text).transforms.front()(Point{3, 4}).x == 8);
}

TEST_CASE("transform files: what is written is read as the same") {
  const Transform affine = Transform::of_matrix(
      TransformKind::affine, 3,
      HomogeneousMatrix::affine3({1.1, 0.2, -0.1, 1.0 / 3, -0.1, 0.9, 0.3, 4, 0.2, 0, 1.2, 5}));
  const Geometry images{PointGrid{.shape = {8, 7, 6}}, PointGrid{.shape = {5, 6, 7}}};
  for (const std::string_view name : transform_files::format_names()) {
    CAPTURE(name);
    const Format format = *transform_files::format_named(name);
    if (format == Format::turboreg || format == Format::multistackreg) continue;  // of the plane
    if (format == Format::mgz) continue;  // holds samples of it
    const std::string bytes = write(format, {&affine, 1}, images);
    const Transform back =
        read(format, bytes, images)
            .transforms.front()
            .in_coordinates(Coordinates::pixels, *images.reference, *images.moving);
    for (std::size_t i = 0; i < 16; ++i) {
      // FLIRT's, FreeSurfer's and BigDataViewer's matrices are inverted twice.
      CHECK(std::abs(back.matrix()->m[i] - affine.matrix()->m[i]) < 1e-13);
    }
  }
}

TEST_CASE("transform files: a warp of FreeSurfer has the samples and both geometries") {
  const Geometry images{PointGrid{.shape = {8, 7, 6}, .origin = {1, 2, 3}, .spacing = {1.5, 2, 1}},
                        PointGrid{.shape = {5, 6, 7}, .origin = {-4, 0, 2}, .spacing = {1, 2, 3}}};
  std::vector<float> samples(3 * 8 * 7 * 6);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = 0.25F * static_cast<float>(i % 11) - 1;
  }
  const std::size_t points = samples.size() / 3;
  const std::vector<const float*> components{samples.data(), samples.data() + points,
                                             samples.data() + 2 * points};
  const Transform field = Transform::displacement({.shape = images.reference->shape}, components);
  const std::string bytes = write(Format::mgz, {&field, 1}, images);
  CHECK(format_of("t.mgz", bytes) == Format::mgz);
  const auto file = read(Format::mgz, bytes);
  REQUIRE(file.geometry.reference);
  REQUIRE(file.geometry.moving);
  const Transform back = file.transforms.front().in_coordinates(Coordinates::pixels,
                                                                *images.reference, *images.moving);
  for (const Point3 p : {Point3{0, 0, 0}, Point3{3, 2, 1}, Point3{7, 6, 5}}) {
    // All numbers of this case are exact in single precision.
    CHECK(std::abs(back(p).x - field(p).x) < 1e-12);
    CHECK(std::abs(back(p).y - field(p).y) < 1e-12);
    CHECK(std::abs(back(p).z - field(p).z) < 1e-12);
  }
  CHECK(contains(trouble(Format::mgz, bytes.substr(0, bytes.size() / 2)), "cut short"));
  CHECK(contains(trouble(Format::mgz, std::string("\0\0\4\1", 4) + bytes.substr(4)), "inverse"));
  CHECK_THROWS_AS(static_cast<void>(write(Format::mgz, {&field, 1}, {})), Error);
}

TEST_CASE("transform files: an archive has every kind, and the geometry") {
  const std::vector<double> samples(2 * 5 * 4, 0.5);
  const std::vector<const double*> components{samples.data(), samples.data() + 20};
  const PointGrid coarse{.shape = {5, 4}, .origin = {1, 2, 0}, .spacing = {2, 3, 1}};
  const Transform field = Transform::displacement(coarse, components, FieldInterpolation::cubic);
  const std::vector<double> from{0, 0, 9, 1, 2, 8, 7, 7}, to{1, 0, 9, 2, 2, 9, 8, 7};
  const std::vector<Transform> all{
      Transform::homography(Homography{{1, 0.1, 2, 0, 1.2, 3, 0.001, 0, 1}}),
      Transform::bspline(coarse, components), field.inverse(),
      field * Transform::translation(Point{1, 2}) * field, Transform::thin_plate(2, from, to)};
  for (const Transform& transform : all) {
    const transform_files::TransformFile one{
        .transforms = {transform},
        .geometry = {PointGrid{.shape = {9, 8}, .spacing = {0.5, 0.25, 1}}, std::nullopt}};
    const auto back = transform_files::read_npz(transform_files::write_npz(one));
    CHECK(back.transforms == one.transforms);
    CHECK(back.geometry.reference == one.geometry.reference);
    CHECK(!back.geometry.moving);
  }
  const std::string bytes = transform_files::write_npz({.transforms = all});
  CHECK(transform_files::read_npz(bytes).transforms == all);
  for (std::size_t size = 0; size < bytes.size(); size += 97) {
    CHECK_THROWS_AS(static_cast<void>(transform_files::read_npz(bytes.substr(0, size))), Error);
  }
}

TEST_CASE("transform files: without a geometry, ITK's text holds pixels of spacing 1") {
  const Transform affine = Transform::of_matrix(
      TransformKind::affine, 3,
      HomogeneousMatrix::affine3({1.1, 0.2, 0, 1.0 / 3, -0.1, 0.9, 0, 4, 0, 0, 1, 5}));
  const std::string text = write(Format::itk, {&affine, 1});
  CHECK(contains(text, "Parameters: 1.1 0.2 0 -0.1 0.9 0 0 0 1 0.3333333333333333 4 5\n"));
  CHECK(read(Format::itk, text).transforms.front() == affine);
  // Without the comment, it is any file of ITK: of millimetres.
  const std::size_t comment = text.find("# of pixels");
  const std::string plain = text.substr(0, comment) + text.substr(text.find('\n', comment) + 1);
  CHECK(read(Format::itk, plain).transforms.front().coordinates() == Coordinates::world);
  const Geometry one{PointGrid{.shape = {8, 7, 1}}, std::nullopt};
  CHECK_THROWS_AS((void)write(Format::itk, {&affine, 1}, one), Error);
}

TEST_CASE("transform files: numbers do not depend on the locale, and are whole words") {
  CHECK(contains(trouble(Format::itk, head + "Transform: TranslationTransform_double_2_2\n"
                                             "Parameters: 1,5 2\nFixedParameters:\n"),
                 "'1,5' is not a finite number"));
}

TEST_CASE("transform files: wrong files are refused with the reason") {
  CHECK(contains(trouble(Format::flirt, "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1"),
                 "give the reference and the moving image"));
  CHECK(contains(trouble(Format::itk, "#Insight"), "first line"));
  CHECK(contains(trouble(Format::itk_matlab, "abc"), "cut short"));
  CHECK(contains(trouble(Format::lta, "type = 1\n"), "'nxforms' is missing"));
  CHECK(contains(trouble(Format::afni, "1 2 3\n"), "3 numbers instead of 12"));
  CHECK(contains(trouble(Format::elastix, "Transform\n"), "is not of the form"));
  CHECK(contains(trouble(Format::bdv, "<ViewRegistrations><ViewRegistration>"), "cut short"));
  CHECK(contains(trouble(Format::turboreg, "BILINEAR\n"), "not supported"));
  CHECK(contains(trouble(Format::npy, "\x93NUMPY"), "no .npy file"));
  CHECK_FALSE(format_of("t.txt", "hello\n").has_value());
}

TEST_CASE("transform files: a field of 4 x 4 vectors comes back from ITK's text") {
  std::vector<double> x(16), y(16);
  for (std::size_t i = 0; i < 16; ++i) {
    x[i] = std::sin(static_cast<double>(i));
    y[i] = std::cos(static_cast<double>(i));
  }
  const std::array<const double*, 2> components{x.data(), y.data()};
  const PointGrid grid{.shape = {4, 4, 1}, .origin = {1, 2, 0}, .spacing = {2, 3, 1}};
  const Transform field =
      Transform::displacement(grid, components, FieldInterpolation::linear, Coordinates::world);
  const Transform spline = Transform::bspline(grid, components, Coordinates::world);
  for (const Transform& transform : {field, spline, spline * field}) {
    CHECK(read(Format::itk, write(Format::itk, {&transform, 1})).transforms.front() == transform);
  }
}
