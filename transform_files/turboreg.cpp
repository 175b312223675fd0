// The texts of ImageJ's TurboReg, StackReg and MultiStackReg: pairs of points. The transform maps
// the target's points (the reference's) to those of the source (the moving image), in pixels whose
// centres have whole coordinates.
#include "formats.hpp"
#include "matrices.hpp"
#include "rotations.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

namespace warpalign::transform_files {
namespace {

constexpr std::string_view multistackreg_line = "MultiStackReg Transformation File";
constexpr std::size_t max_frames = 100000;

using Points = std::vector<std::array<double, 2>>;

/// The number of pairs of points that define a transform of this name; 0 for other names.
std::size_t points_of(std::string_view kind) {
  if (kind == "TRANSLATION") return 1;
  if (kind == "SCALED_ROTATION") return 2;
  return kind == "RIGID_BODY" || kind == "AFFINE" ? 3 : 0;
}

std::size_t checked_points_of(std::string_view kind) {
  const std::size_t count = points_of(kind);
  if (count == 0) {
    refuse("the transform '" + std::string(kind.substr(0, 40)) + "' is not supported (choose " +
           "from: TRANSLATION, RIGID_BODY, SCALED_ROTATION, AFFINE)");
  }
  return count;
}

Points read_points(Lines& lines, std::size_t count) {
  Points points;
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<double> pair = numbers_of(lines.expect("the end of its points"), "a point");
    expect_count(pair, 2, "a point");
    points.push_back({pair[0], pair[1]});
  }
  return points;
}

/// The rotation and scale from one arrow to another.
std::vector<double> turned(const std::array<double, 2>& from, const std::array<double, 2>& to,
                           bool scales) {
  const double length = std::hypot(from[0], from[1]);
  if (!(length > 0) || !(std::hypot(to[0], to[1]) > 0)) refuse("two of its points are the same");
  return rotation2(std::atan2(to[1], to[0]) - std::atan2(from[1], from[0]),
                   scales ? std::hypot(to[0], to[1]) / length : 1);
}

std::array<double, 2> arrow(const Points& points, std::size_t from, std::size_t to) {
  return {points[to][0] - points[from][0], points[to][1] - points[from][1]};
}

std::vector<double> affine_linear(const Points& source, const Points& target) {
  const auto columns = [](const Points& points) {
    const auto a = arrow(points, 0, 1);
    const auto b = arrow(points, 0, 2);
    return HomogeneousMatrix::affine3({a[0], b[0], 0, 0, a[1], b[1], 0, 0, 0, 0, 1, 0});
  };
  return linear_of(product(columns(source), inverse_of(columns(target))), 2);
}

Transform transform_of(std::string_view kind, const Points& source, const Points& target) {
  const std::array<double, 2> shift{source[0][0] - target[0][0], source[0][1] - target[0][1]};
  std::vector<double> linear{1, 0, 0, 1};
  if (kind == "RIGID_BODY") {
    // The first pair gives the translation, the others the angle.
    linear = turned(arrow(target, 1, 2), arrow(source, 1, 2), false);
  } else if (kind == "SCALED_ROTATION") {
    linear = turned(arrow(target, 0, 1), arrow(source, 0, 1), true);
  } else if (kind == "AFFINE") {
    linear = affine_linear(source, target);
  }
  return affine(2, affine_about(2, linear, target[0], shift), Coordinates::pixels);
}

std::string text_of_points(const Points& points) {
  std::string text;
  for (const auto& point : points) text += text_of(point, "\t") + "\n";
  return text;
}

/// Three points of the reference, and where an affine transform maps them.
std::pair<Points, Points> point_pairs(const Transform& transform, double width, double height) {
  if (transform.dimensions() != 2) refuse("TurboReg's transforms are of images, not volumes");
  static_cast<void>(affine_part(transform, "TurboReg's text"));
  const Points target{
      {width / 2, height / 4}, {width / 4, height * 3 / 4}, {width * 3 / 4, height * 3 / 4}};
  Points source;
  for (const auto& point : target) {
    const Point mapped = transform(Point{point[0], point[1]});
    source.push_back({mapped.x, mapped.y});
  }
  return {source, target};
}

/// The numbers in "Source img: 2 Target img: 1".
std::pair<std::size_t, std::size_t> frames_of(std::string_view line) {
  constexpr std::string_view first = "Source img:";
  constexpr std::string_view second = "Target img:";
  const std::size_t at = line.find(second);
  if (!line.starts_with(first) || at == std::string_view::npos) {
    refuse("'Source img: ... Target img: ...' is missing; the file may be cut short");
  }
  const auto number = [](std::string_view text) {
    const double value = number_of(trimmed(text), "the number of an image");
    if (!(value >= 1) || !(value <= max_frames)) refuse("the number of an image is invalid");
    return static_cast<std::size_t>(value);
  };
  return {number(line.substr(first.size(), at - first.size())),
          number(line.substr(at + second.size()))};
}

}  // namespace

TransformFile read_turboreg(std::string_view text) {
  Lines lines(text);
  std::string_view kind = lines.expect("the transform's name");
  if (kind.starts_with("Transformation:")) kind = trimmed(kind.substr(15));
  const std::size_t count = checked_points_of(kind);
  const auto heading = [&](std::string_view title) {
    if (lines.expect(title) != title) refuse("'" + std::string(title) + "' is missing");
  };
  for (const char* const size : {"Source size", "Target size"}) {
    heading(size);
    expect_count(numbers_of(lines.expect("the sizes"), size), 2, size);
  }
  heading("Refined source landmarks");
  const Points source = read_points(lines, count);
  heading("Target landmarks");
  const Points target = read_points(lines, count);
  return {.transforms = {transform_of(kind, source, target)}};
}

std::string write_turboreg(const Transform& transform, const Geometry& geometry) {
  if (!geometry.reference || !geometry.moving) {
    refuse("TurboReg's text has the sizes of both images: give the reference and the moving image");
  }
  const auto size_of = [](const PointGrid& grid) {
    return std::array{static_cast<double>(grid.shape.width),
                      static_cast<double>(grid.shape.height)};
  };
  const auto target_size = size_of(*geometry.reference);
  const auto [source, target] = point_pairs(transform, target_size[0], target_size[1]);
  return "Transformation: AFFINE\n\nSource size\n" + text_of(size_of(*geometry.moving), "\t") +
         "\n\nTarget size\n" + text_of(target_size, "\t") + "\n\nRefined source landmarks\n" +
         text_of_points(source) + "\nTarget landmarks\n" + text_of_points(target);
}

TransformFile read_multistackreg(std::string_view text) {
  Lines lines(text);
  if (lines.expect("the first line") != multistackreg_line) {
    refuse("the first line is not '" + std::string(multistackreg_line) + "'");
  }
  if (lines.expect("the version") != "File Version 1.0") refuse("its version is not 1.0");
  const bool two_stacks = number_of(lines.expect("the number of stacks"), "the third line") != 0;
  std::map<std::size_t, Transform> found;  // from the first image to each
  std::size_t last = 0;
  while (const auto kind = lines.next()) {
    static_cast<void>(checked_points_of(*kind));
    const auto [source_frame, target_frame] = frames_of(lines.expect("the images' numbers"));
    const Points source = read_points(lines, 3);
    const Points target = read_points(lines, 3);
    Transform transform = transform_of(*kind, source, target);
    if (two_stacks) {  // The numbers are those of the slices in both stacks.
      found.insert_or_assign(source_frame, transform);
    } else {
      const auto before = found.find(target_frame);
      if (before != found.end()) transform = transform * before->second;
      found.insert_or_assign(source_frame, transform);
      found.try_emplace(target_frame, Transform());
    }
    last = std::max({last, source_frame, target_frame});
  }
  if (found.empty()) refuse("it has no transforms");
  if (found.size() != last) {
    refuse("it has transforms of " + std::to_string(found.size()) + " of " + std::to_string(last) +
           " images");
  }
  TransformFile file;
  for (const auto& [frame, transform] : found) file.transforms.push_back(transform);
  return file;
}

std::string write_multistackreg(std::span<const Transform> transforms) {
  constexpr double extent = 512;  // The points may be anywhere.
  std::string text = std::string(multistackreg_line) + "\nFile Version 1.0\n0\n";
  if (transforms.empty() || transforms.front() != Transform()) {
    refuse("MultiStackReg's first image is the reference: its transform must be the identity");
  }
  for (std::size_t i = 1; i < transforms.size(); ++i) {
    const auto [source, target] = point_pairs(transforms[i], extent, extent);
    text += "AFFINE\nSource img: " + std::to_string(i + 1) + " Target img: 1\n" +
            text_of_points(source) + "\n" + text_of_points(target) + "\n";
  }
  return text;
}

}  // namespace warpalign::transform_files
