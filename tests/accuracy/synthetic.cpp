// Synthetic scenes.
#include "accuracy/synthetic.hpp"

#include "accuracy/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

namespace accuracy {

namespace {

constexpr double pi = std::numbers::pi;

struct Place {
  double x = 0;
  double y = 0;
};

Place any_place(Random& random, const Scene& scene) {
  return {random.between(0, static_cast<double>(scene.width())),
          random.between(0, static_cast<double>(scene.height()))};
}

/// Calls work(value, dx, dy) for the raster's points with |dx| <= half_width, |dy| <= half_height
/// from `middle`, across the torus' seams.
template <class Work>
void around(Scene& scene, Place middle, double half_width, double half_height, Work&& work) {
  const auto wrapped = [](std::int64_t i, std::int64_t n) { return ((i % n) + n) % n; };
  const auto first_x = static_cast<std::int64_t>(std::ceil(middle.x - half_width));
  const auto last_x = static_cast<std::int64_t>(std::floor(middle.x + half_width));
  const auto first_y = static_cast<std::int64_t>(std::ceil(middle.y - half_height));
  const auto last_y = static_cast<std::int64_t>(std::floor(middle.y + half_height));
  for (std::int64_t y = first_y; y <= last_y; ++y) {
    const std::int64_t row = wrapped(y, scene.height());
    for (std::int64_t x = first_x; x <= last_x; ++x) {
      work(scene.at(wrapped(x, scene.width()), row), static_cast<double>(x) - middle.x,
           static_cast<double>(y) - middle.y);
    }
  }
}

/// Blends `grey` over `value` by `inside`, the distance in points from an edge two points wide.
void cover(float& value, double grey, double inside) {
  const double opacity = std::clamp(0.5 + inside / 2, 0.0, 1.0);
  value = static_cast<float>(value + opacity * (grey - value));
}

std::array<double, 4> cubic_weights(double t) {
  const double s = 1 - t;
  return {s * s * s / 6, 2.0 / 3 - t * t * (2 - t) / 2, 2.0 / 3 - s * s * (2 - s) / 2,
          t * t * t / 6};
}

/// Adds one octave: a periodic random lattice with one node per `cell` points.
void add_octave(Scene& scene, Random& random, std::int64_t cell, double amplitude) {
  const std::int64_t nodes = scene.width() / cell;
  std::vector<float> lattice(static_cast<std::size_t>(nodes * nodes));
  for (float& node : lattice) node = static_cast<float>(amplitude * random.normal());

  std::vector<std::array<float, 4>> weights;
  for (std::int64_t i = 0; i < cell; ++i) {
    const auto w = cubic_weights(static_cast<double>(i) / static_cast<double>(cell));
    weights.push_back({static_cast<float>(w[0]), static_cast<float>(w[1]), static_cast<float>(w[2]),
                       static_cast<float>(w[3])});
  }
  const auto node = [&](std::int64_t i) { return (i + nodes) % nodes; };
  std::vector<float> column(static_cast<std::size_t>(nodes));
  for (std::int64_t y = 0; y < scene.height(); ++y) {
    const auto& down = weights[static_cast<std::size_t>(y % cell)];
    for (std::int64_t i = 0; i < nodes; ++i) {
      float sum = 0;
      for (std::int64_t k = 0; k < 4; ++k) {
        sum += down[static_cast<std::size_t>(k)] *
               lattice[static_cast<std::size_t>(node(y / cell + k - 1) * nodes + i)];
      }
      column[static_cast<std::size_t>(i)] = sum;
    }
    for (std::int64_t c = 0; c < nodes; ++c) {
      std::array<float, 4> four{};
      for (std::int64_t k = 0; k < 4; ++k) {
        four[static_cast<std::size_t>(k)] = column[static_cast<std::size_t>(node(c + k - 1))];
      }
      for (std::int64_t i = 0; i < cell; ++i) {
        const auto& across = weights[static_cast<std::size_t>(i)];
        scene.at(c * cell + i, y) +=
            across[0] * four[0] + across[1] * four[1] + across[2] * four[2] + across[3] * four[3];
      }
    }
  }
}

void scale_to(Scene& scene, double mean, double deviation) {
  double sum = 0;
  double squares = 0;
  for (std::int64_t y = 0; y < scene.height(); ++y) {
    for (std::int64_t x = 0; x < scene.width(); ++x) {
      const double value = scene.at(x, y);
      sum += value;
      squares += value * value;
    }
  }
  const auto count = static_cast<double>(scene.width() * scene.height());
  const double gain = deviation / std::sqrt(squares / count - (sum / count) * (sum / count));
  for (std::int64_t y = 0; y < scene.height(); ++y) {
    for (std::int64_t x = 0; x < scene.width(); ++x) {
      scene.at(x, y) = static_cast<float>(mean + gain * (scene.at(x, y) - sum / count));
    }
  }
}

void add_spot(Scene& scene, Place middle, double sigma, double amplitude) {
  const double reach = 4 * sigma;
  around(scene, middle, reach, reach, [&](float& value, double dx, double dy) {
    value += static_cast<float>(amplitude * std::exp(-(dx * dx + dy * dy) / (2 * sigma * sigma)));
  });
}

void add_leaf(Scene& scene, Random& random, double radius, double stripes) {
  const double other = radius * random.between(0.4, 1);
  const double angle = random.between(0, pi);
  const double grey = random.between(20, 235);
  const double shade = random.between(-20, 20) / radius;
  const double contrast = stripes * random.between(0, 1);
  const double wave = 2 * pi / random.log_between(6, 40);
  const double phase = random.between(0, 2 * pi);
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  const double reach = radius + 1;
  around(scene, any_place(random, scene), reach, reach, [&](float& value, double dx, double dy) {
    const double u = c * dx + s * dy;
    const double v = c * dy - s * dx;
    // The distance to an ellipse's edge, to first order.
    const double level = std::hypot(u / radius, v / other);
    const double slope = std::hypot(u / (radius * radius), v / (other * other));
    const double inside = level > 0 ? (1 - level) * level / slope : other;
    if (inside <= -1) return;
    cover(value, grey + shade * u + contrast * std::sin(wave * u + phase), inside);
  });
}

}  // namespace

Scene clouds(std::int64_t side, std::uint64_t seed, std::int64_t coarsest, std::int64_t finest,
             double roughness, double contrast) {
  Scene scene(side, side, Outside::repeat);
  Random random({seed, 1});
  for (std::int64_t cell = coarsest; cell >= finest; cell /= 2) {
    add_octave(scene, random, cell, std::pow(static_cast<double>(cell), roughness));
  }
  scale_to(scene, 128, contrast);
  return scene;
}

Scene leaves(std::int64_t side, std::uint64_t seed, double min_radius, double stripes) {
  Scene scene = clouds(side, seed, 64, 16, 1, 30);
  Random random({seed, 2});
  const double max_radius = 200;
  const double area = 6 * static_cast<double>(side) * static_cast<double>(side);
  for (double covered = 0; covered < area;) {
    // Density proportional to radius^-3.
    const double low = 1 / (max_radius * max_radius);
    const double high = 1 / (min_radius * min_radius);
    const double radius = 1 / std::sqrt(random.between(low, high));
    add_leaf(scene, random, radius, stripes);
    covered += pi * radius * radius * 0.7;
  }
  return scene;
}

Scene spots(std::int64_t side, std::uint64_t seed, double min_sigma, double max_sigma,
            double one_per_area) {
  Scene scene = clouds(side, seed, 128, 16, 1, 15);
  Random random({seed, 3});
  const auto count =
      static_cast<int>(static_cast<double>(side) * static_cast<double>(side) / one_per_area);
  for (int i = 0; i < count; ++i) {
    const double sigma = random.log_between(min_sigma, max_sigma);
    const double amplitude = random.sign() * random.between(15, 60);
    add_spot(scene, any_place(random, scene), sigma, amplitude);
  }
  return scene;
}

Scene sparse_spots(std::int64_t side, std::uint64_t seed) {
  Scene scene(side, side, Outside::repeat);
  for (std::int64_t y = 0; y < side; ++y) {
    for (std::int64_t x = 0; x < side; ++x) scene.at(x, y) = 40;
  }
  Random random({seed, 4});
  const auto count =
      static_cast<int>(static_cast<double>(side) * static_cast<double>(side) / 22500);
  for (int i = 0; i < count; ++i) {
    add_spot(scene, any_place(random, scene), random.log_between(3, 8), random.between(30, 120));
  }
  return scene;
}

Scene strokes(std::int64_t side, std::uint64_t seed) {
  Scene scene = clouds(side, seed, 256, 64, 1, 8);
  Random random({seed, 5});
  const auto count = static_cast<int>(static_cast<double>(side) * static_cast<double>(side) / 2500);
  for (int i = 0; i < count; ++i) {
    const double half = random.log_between(6, 80);
    const double thickness = random.log_between(1.5, 5);
    const double angle = random.between(0, pi);
    const double grey = random.between(10, 90);
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    const double margin = thickness + 1;
    around(scene, any_place(random, scene), std::abs(c) * half + margin,
           std::abs(s) * half + margin, [&](float& value, double dx, double dy) {
             const double along = std::clamp(c * dx + s * dy, -half, half);
             const double distance = std::hypot(dx - c * along, dy - s * along);
             if (distance < thickness + 1) cover(value, grey, thickness - distance);
           });
  }
  return scene;
}

}  // namespace accuracy
