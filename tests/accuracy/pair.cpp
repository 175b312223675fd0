// Pairs of images with exactly known truth, both drawn once from one scene.
#include "accuracy/pair.hpp"

#include "accuracy/draw.hpp"
#include "support/corners.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace accuracy {

namespace {

using warpalign::Affine;
using warpalign::Homography;
using warpalign::Point;
using warpalign::Shape;
using warpalign::Similarity;

constexpr double usable = 0.9;  // of a scene's side; the rest leaves room for different positions

double longest(const Shape& shape) {
  return static_cast<double>(std::max(shape.width, shape.height));
}

std::int64_t side_held_by(const Scene& scene, const Recipe& recipe, std::int64_t side) {
  const double ratio = std::max(recipe.scale, 1 / recipe.scale) * recipe.reduced;
  const double room = usable * static_cast<double>(std::min(scene.width(), scene.height()));
  const auto held = static_cast<std::int64_t>(room / (min_pixel * ratio));
  return held >= side ? side : held / 16 * 16;
}

struct Choice {
  std::size_t original = 0;
  std::int64_t side = 0;
};

/// The originals are used in turn; those that are too small for the recipe are skipped.
Choice choose(const Originals& originals, const std::vector<std::size_t>& among, std::size_t turn,
              const Recipe& recipe, std::int64_t side) {
  const std::int64_t least = std::max(std::min<std::int64_t>(side, 192), side / 3);
  for (std::size_t i = 0; i < among.size(); ++i) {
    const std::size_t original = among[(turn + i) % among.size()];
    const std::int64_t held = side_held_by(originals.scene(original), recipe, side);
    if (held >= least) return {original, held};
  }
  throw std::logic_error("no original is large enough for such a pair");
}

bool prime(std::int64_t n) {
  for (std::int64_t k = 2; k * k <= n; ++k) {
    if (n % k == 0) return false;
  }
  return n > 1;
}

std::int64_t odd_side(Random& random, std::int64_t side, bool make_prime) {
  auto n = static_cast<std::int64_t>(random.between(0.65, 1) * static_cast<double>(side));
  n |= 1;
  while (make_prime && !prime(n)) n -= 2;
  return n;
}

std::array<Shape, 2> shapes_of(const Recipe& recipe, Random& random, std::int64_t side) {
  if (recipe.odd_sizes) {
    return {Shape{odd_side(random, side, true), odd_side(random, side, false), 1},
            Shape{odd_side(random, side, false), odd_side(random, side, true), 1}};
  }
  const auto reduced = static_cast<std::int64_t>(recipe.reduced * static_cast<double>(side));
  const Shape full{side, side, 1};
  const Shape less{reduced, reduced, 1};
  return recipe.scale < 1 ? std::array{full, less} : std::array{less, full};
}

/// The overlap relative to the reference's area and to the moving image's.
std::array<double, 2> common_parts(const Homography& truth, const Shape& reference,
                                   const Shape& moving) {
  constexpr int n = 64;
  int inside = 0;
  const auto at = [](int i, std::int64_t size) {
    return (i + 0.5) / n * static_cast<double>(size) - 0.5;
  };
  for (int i = 0; i < n * n; ++i) {
    const Point p = truth({at(i % n, reference.width), at(i / n, reference.height)});
    inside += p.x >= -0.5 && p.x <= static_cast<double>(moving.width) - 0.5 && p.y >= -0.5 &&
                      p.y <= static_cast<double>(moving.height) - 0.5
                  ? 1
                  : 0;
  }
  const double of_reference = static_cast<double>(inside) / (n * n);
  const Affine middle = truth.affine_at(warpalign::centre_of(reference));
  const double area = std::abs(middle.a * middle.e - middle.b * middle.d);
  return {of_reference, of_reference * area * static_cast<double>(reference.plane()) /
                            static_cast<double>(moving.plane())};
}

Point shift_between(Random& random, double least, double most) {
  const double length = std::sqrt(random.between(least * least, most * most));
  const double direction = random.between(0, 2 * std::numbers::pi);
  return {length * std::cos(direction), length * std::sin(direction)};
}

/// What moves the reference's corners as the recipe says.
Homography distortion_of(const Pair& pair) {
  const auto& corners = pair.recipe.corners;
  const bool none =
      std::all_of(corners.begin(), corners.end(), [](Point p) { return p.x == 0 && p.y == 0; });
  if (none) return {};
  const double side = longest(pair.reference.shape);
  std::array<Point, 4> distances{};
  for (std::size_t i = 0; i < distances.size(); ++i) {
    distances[i] = {side * corners[i].x, side * corners[i].y};
  }
  return test::moving_corners(pair.reference.shape, distances);
}

/// A translation that leaves enough overlap; sets `pair.common`.
void find_translation(Pair& pair, Random& random) {
  const Recipe& recipe = pair.recipe;
  const Shape& moving = pair.moving.shape;
  const Homography distortion = distortion_of(pair);
  const double unit = std::max(longest(moving), recipe.scale * longest(pair.reference.shape));
  for (int attempt = 0; attempt < 10000; ++attempt) {
    pair.similarity.translation =
        recipe.max_shift > 0
            ? shift_between(random, recipe.min_shift * unit, recipe.max_shift * unit)
            : Point{random.between(-1, 1), random.between(-1, 1)};
    pair.truth = Homography(pair.similarity.matrix(pair.reference.shape, moving)) * distortion;
    const auto parts = common_parts(pair.truth, pair.reference.shape, moving);
    pair.common = std::max(parts[0], parts[1]);
    if (pair.common >= recipe.min_common && std::min(parts[0], parts[1]) >= recipe.min_of_large) {
      return;
    }
  }
  throw std::logic_error("no translation leaves enough in common");
}

/// The allowed positions of an image that covers `extent` points.
Point any_middle(const Scene& scene, Random& random, double extent) {
  const auto along = [&](std::int64_t side) {
    const auto length = static_cast<double>(side);
    const double slack =
        scene.outside() == Outside::repeat ? length / 2 : std::max(0.0, (length - extent) / 2);
    return (length - 1) / 2 + random.between(-slack, slack);
  };
  const double x = along(scene.width());
  return {x, along(scene.height())};
}

/// Synthetic scenes are seen at any angle; photographs upright, since they have edges.
double any_turn(const Scene& scene, Random& random) {
  const double turn = random.between(-180, 180);
  return scene.outside() == Outside::repeat ? turn : 0;
}

double extent_of(const Pair& pair) {
  const double scale = pair.similarity.scale;
  return min_pixel * std::max(1.0, scale) *
         std::max(longest(pair.reference.shape), longest(pair.moving.shape) / scale);
}

void draw_pair(Pair& pair, const Scene& scene, Random& random) {
  const Point middle = any_middle(scene, random, extent_of(pair));
  const auto placement = place(scene, pair.reference.shape, pair.moving.shape, pair.similarity,
                               middle, any_turn(scene, random), distortion_of(pair));
  pair.reference.pixels = expose(draw(scene, placement.reference_to_scene, pair.reference.shape),
                                 pair.recipe.reference, random);
  pair.moving.pixels =
      expose(draw(scene, placement.moving_to_scene, pair.moving.shape), pair.recipe.moving, random);
}

/// A rotated image centred at `middle` whose pixels cover `pixel` points.
Affine view_of(const Scene& scene, const Shape& shape, Point middle, double turn_deg,
               double pixel) {
  const Shape whole{scene.width(), scene.height(), 1};
  const Point centre = warpalign::centre_of(whole);
  return Similarity{turn_deg, pixel, {middle.x - centre.x, middle.y - centre.y}}.matrix(shape,
                                                                                        whole);
}

/// The moving image shows `other`, or the part of the scene half a torus away.
void draw_unrelated(Pair& pair, const Scene& scene, const Scene& other, Random& random) {
  const Point middle = any_middle(scene, random, min_pixel * longest(pair.reference.shape));
  const Point elsewhere = any_middle(other, random, min_pixel * longest(pair.moving.shape));
  const Point far{middle.x + static_cast<double>(scene.width()) / 2,
                  middle.y + static_cast<double>(scene.height()) / 2};
  const auto reference_view =
      view_of(scene, pair.reference.shape, middle, any_turn(scene, random), min_pixel);
  const auto moving_view = view_of(other, pair.moving.shape, &scene == &other ? far : elsewhere,
                                   any_turn(other, random), min_pixel);
  pair.reference.pixels =
      expose(draw(scene, reference_view, pair.reference.shape), pair.recipe.reference, random);
  pair.moving.pixels =
      expose(draw(other, moving_view, pair.moving.shape), pair.recipe.moving, random);
}

std::vector<std::size_t> synthetic_among(const Originals& originals,
                                         const std::vector<std::size_t>& numbers) {
  std::vector<std::size_t> synthetic;
  for (const std::size_t number : numbers) {
    if (originals.scene(number).outside() == Outside::repeat) synthetic.push_back(number);
  }
  return synthetic;
}

void make_unrelated(Pair& pair, const Originals& originals, std::size_t index, std::int64_t side,
                    Random& random) {
  pair.related = false;
  pair.recipe.scale = 1;
  auto among = originals.textured();
  if (pair.recipe.from == From::disjoint_parts) among = synthetic_among(originals, among);
  const std::size_t turn = random.below(among.size());
  const auto first = choose(originals, among, turn, pair.recipe, side);
  auto second = first;
  for (std::size_t i = 1 + index % (among.size() - 1);
       pair.recipe.from == From::two_originals && second.original == first.original; ++i) {
    second = choose(originals, among, turn + i, pair.recipe, side);
  }
  pair.reference.shape = {first.side, first.side, 1};
  pair.moving.shape = {second.side, second.side, 1};
  pair.original = originals.name(first.original) + " | " + originals.name(second.original);
  draw_unrelated(pair, originals.scene(first.original), originals.scene(second.original), random);
}

}  // namespace

Placement place(const Scene& scene, const Shape& reference, const Shape& moving,
                const Similarity& similarity, Point middle, double turn_deg,
                const Homography& distortion) {
  const double reference_pixel = min_pixel * std::max(1.0, similarity.scale);
  const double moving_pixel = reference_pixel / similarity.scale;
  const Homography truth = Homography(similarity.matrix(reference, moving)) * distortion;
  if (reference_pixel * longest(reference) >= moving_pixel * longest(moving)) {
    const Homography to_scene = view_of(scene, reference, middle, turn_deg, reference_pixel);
    return {to_scene, to_scene * truth.inverse()};
  }
  const Homography to_scene = view_of(scene, moving, middle, turn_deg, moving_pixel);
  return {to_scene * truth, to_scene};
}

Pair make_pair(const Originals& originals, const PairId& id, std::int64_t side) {
  Random random({id.seed, id.group, id.index});
  Pair pair;
  pair.recipe = all_groups().at(id.group).recipe(random, id.index);
  if (pair.recipe.from == From::two_originals || pair.recipe.from == From::disjoint_parts) {
    make_unrelated(pair, originals, id.index, side, random);
    return pair;
  }
  const auto among = pair.recipe.from == From::faint ? originals.faint() : originals.textured();
  // Every original meets every kind of pair that a group cycles through.
  const std::size_t turn = id.index + id.index / among.size();
  const auto choice = choose(originals, among, turn, pair.recipe, side);
  const auto shapes = shapes_of(pair.recipe, random, choice.side);
  pair.original = originals.name(choice.original);
  pair.reference.shape = shapes[0];
  pair.moving.shape = shapes[1];
  pair.similarity = {pair.recipe.rotation_deg, pair.recipe.scale, {}};
  find_translation(pair, random);
  draw_pair(pair, originals.scene(choice.original), random);
  return pair;
}

}  // namespace accuracy
