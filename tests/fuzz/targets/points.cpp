// Files of coordinates and displacements. The first byte selects the option and the extents of the
// image to resample.
#include "io/image_file.hpp"
#include "io/usage_error.hpp"
#include "options/sampling_points.hpp"
#include "reader.hpp"
#include "scratch_file.hpp"

namespace warpalign::fuzz {
namespace {

using namespace program;

std::vector<std::int64_t> extents_of(std::uint8_t choice) {
  switch (choice % 4) {
    case 0:
      return {4, 5};
    case 1:
      return {7};
    case 2:
      return {2, 3, 4};
    default:
      return {1, 1};
  }
}

void check(const SamplingPoints& points, std::size_t dimensions, bool in_double) {
  std::int64_t count = 1;
  for (const std::int64_t extent : points.extents) count *= extent;
  const Shape& shape = points.stage_shape;
  require(shape.width * shape.height * shape.depth == count, "the stage writes all of the output");
  const PixelType type = in_double ? PixelType::f64 : PixelType::f32;
  require(points.coordinates.has_value() && points.coordinates->type == type,
          "coordinates are in the precision that was asked for");
  require(points.coordinates->bytes.size() ==
              static_cast<std::size_t>(count) * dimensions * size_of(type),
          "each point has all of its coordinates");
}

void run(Input input) {
  Reader reader(input);
  const std::uint8_t choice = reader.byte();
  const std::vector<std::int64_t> extents = extents_of(choice / 2);
  PointOptions options;
  (choice % 2 == 0 ? options.coordinates : options.field) = as_file(reader.rest()).string();
  try {
    const bool in_double = choice >= 128;
    check(points_of(options, extents, in_double), extents.size(), in_double);
  } catch (const FileError&) {
  } catch (const UsageError&) {
  }
}

const Registration registration("points", run);

}  // namespace
}  // namespace warpalign::fuzz
