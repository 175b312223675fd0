// Affine resampling without aliasing against the oracle, on every device.
#include "reference/spline/footprint.hpp"
#include "reference/spline/prefilter.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/volumes.hpp"

#include <warpalign/error.hpp>
#include <warpalign/geometry.hpp>
#include <warpalign/stages/antialiased_resample.hpp>

#include <cmath>

namespace {

using warpalign::Affine;
using warpalign::AntialiasedResamplePlan;
using warpalign::Boundary;
using warpalign::Device;
using warpalign::Error;
using warpalign::HomogeneousMatrix;
using warpalign::PixelType;
using warpalign::ResampleSpec;
using warpalign::Shape;

ResampleSpec footprint_spec(int degree, Boundary boundary) {
  ResampleSpec spec;
  spec.spline.degree = degree;
  if (degree < 2) spec.spline.prefilter.reset();
  spec.spline.boundary = boundary;
  spec.spline.cval = 0.7;
  spec.images.shape = {61, 48, 1};
  spec.output = {25, 21, 1};
  return spec;
}

}  // namespace

TEST_CASE("antialiased_resample: agrees with the oracle") {
  test::on_every_device([](const Device& device) {
    // No point lies on an edge, where rounding decides whether it is outside. A rotation with one
    // step, a shear with two, a stretch along one oblique direction, and a
    // transform that does not shrink.
    const std::vector<reference::PlaneTransform> transforms{{2.5, -1.1, -2.613, 1.1, 2.5, -3.137},
                                                            {2.0, 1.1, -1.317, 0.3, 3.5, -4.223},
                                                            {1.7, 1.2, -5.311, 1.6, 2.4, -9.127},
                                                            {0.8, -0.4, 3.413, 0.4, 0.8, 5.119}};
    for (const Boundary boundary : {Boundary::mirror, Boundary::constant, Boundary::nearest,
                                    Boundary::grid_constant, Boundary::grid_wrap}) {
      CAPTURE(name_of(boundary));
      for (int degree = 1; degree <= 5; ++degree) {
        CAPTURE(degree);
        const ResampleSpec spec = footprint_spec(degree, boundary);
        const reference::PlaneTransform& t = transforms[static_cast<std::size_t>(degree) % 4];
        const reference::Volume image = test::random_volume(spec.images.shape, -1, 1, 71);
        // Only the centre of a footprint decides whether the value is cval.
        const bool rejects = boundary == Boundary::constant;
        const reference::Edge edge = rejects ? reference::Edge::mirror : test::edge_of(boundary);
        const reference::Spline spline = reference::solve(image, 2, degree, edge, 0.7);
        reference::Volume expected(spec.output.width, spec.output.height);
        reference::for_each_voxel(expected.extents(), [&](auto column, auto row, auto) {
          const auto x = static_cast<double>(column), y = static_cast<double>(row);
          const double at_x = t[0] * x + t[1] * y + t[2], at_y = t[3] * x + t[4] * y + t[5];
          const bool outside = at_x < 0 || at_x > 60 || at_y < 0 || at_y > 47;
          expected.at(column, row) =
              rejects && outside ? 0.7 : reference::footprint_mean(spline, t, x, y);
        });
        auto stream = device.make_stream();
        const auto input = test::to_device(device, stream, image);
        auto output = device.make_image(PixelType::f32, spec.output);
        AntialiasedResamplePlan(device, spec, Affine{t[0], t[1], t[2], t[3], t[4], t[5]})
            .execute(stream, input, output);
        // 8e-7 of the largest coefficient, up to 9 at degree 5, for prefilter and evaluation, and
        // the slope times the 1e-6 of a sample to which points are accurate.
        CHECK(test::max_difference(test::volume_from_device(stream, output), expected) <= 1.2e-5);
      }
    }
  });
}

TEST_CASE("antialiased_resample: wrong arguments are refused") {
  test::on_every_device([](const Device& device) {
    const ResampleSpec good = footprint_spec(3, Boundary::mirror);
    const Affine half{2, 0, 0, 0, 2, 0};
    ResampleSpec spec = good;
    spec.spline.degree = 0;
    spec.spline.prefilter.reset();
    CHECK_THROWS_AS(AntialiasedResamplePlan(device, spec, half), Error);
    CHECK_THROWS_AS(AntialiasedResamplePlan(device, good, Affine{NAN, 0, 0, 0, 2, 0}), Error);
    CHECK_THROWS_AS(AntialiasedResamplePlan(device, good, Affine{1e4, 0, 0, 0, 1e4, 0}), Error);
    HomogeneousMatrix projective(half);
    projective.m[12] = 1e-3;
    CHECK_THROWS_AS(AntialiasedResamplePlan(device, good, projective), Error);
    AntialiasedResamplePlan plan(device, good, half);
    auto stream = device.make_stream();
    const auto image = device.make_image(PixelType::f32, good.images.shape);
    auto small = device.make_image(PixelType::f32, {25, 20, 1});
    CHECK_THROWS_AS(plan.execute(stream, image, small), Error);
  });
}
