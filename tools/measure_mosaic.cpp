// Measures how fast and how exactly the positions of a mosaic's tiles are found. The tiles are
// drawn from a formula into host memory, with the stage's errors as truth. Not a test;
// docs/performance.md shows what it printed.
//
//   measure_mosaic device[,device...] [tiles 1000] [side 2048] [overlap 10] [streams 2] [seed 1]
//   e.g. measure_mosaic cuda:0 tiles 1000 side 2048 overlap 5
#include "measurement.hpp"

#include <warpalign/mosaic.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <random>
#include <thread>
#include <vector>

namespace {

using warpalign::Point;

constexpr double stage_error = 8;        // standard deviation along x and y, in pixels
constexpr double noise = 400;            // standard deviation of a pixel, in gray levels
constexpr double level = 20000;          // the mean gray level
constexpr std::array spacings{5., 37.};  // of the scene's two textures, in pixels
constexpr double contrast = 6000;        // of a texture's coefficients, in gray levels

/// A number in [-1, 1) that depends on all arguments.
double hashed(std::int64_t x, std::int64_t y, std::uint64_t seed) {
  std::uint64_t h = seed * 0x9e3779b97f4a7c15u +
                    static_cast<std::uint64_t>(x) * 0xbf58476d1ce4e5b9u +
                    static_cast<std::uint64_t>(y) * 0x94d049bb133111ebu;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((h ^ (h >> 31)) >> 11) * 0x1p-52 - 1;
}

/// The first of the four coefficients of a cubic B-spline at a point, and their weights.
struct Weights {
  explicit Weights(double at) : first(static_cast<std::int64_t>(std::floor(at)) - 1) {
    const double t = at - std::floor(at);
    value = {(1 - t) * (1 - t) * (1 - t) / 6, (4 - 6 * t * t + 3 * t * t * t) / 6,
             (1 + 3 * t + 3 * t * t - 3 * t * t * t) / 6, t * t * t / 6};
  }
  std::int64_t first;
  std::array<double, 4> value{};
};

/// A tile whose first pixel lies at `position` of an endless random scene.
std::vector<std::uint16_t> draw(std::int64_t side, const Point& position, std::uint64_t seed) {
  const auto n = static_cast<std::size_t>(side);
  std::vector<float> sum(n * n, static_cast<float>(level));
  std::vector<float> row(n);
  for (const double spacing : spacings) {
    std::vector<Weights> across;
    for (std::size_t i = 0; i < n; ++i)
      across.emplace_back((position.x + static_cast<double>(i)) / spacing);
    std::map<std::int64_t, std::vector<float>> rows;  // of coefficients, expanded along x
    const auto expanded = [&](std::int64_t y) -> const std::vector<float>& {
      std::vector<float>& values = rows[y];
      for (std::size_t i = values.size(); i < n; ++i) {
        double value = 0;
        for (std::int64_t k = 0; k < 4; ++k)
          value += across[i].value[static_cast<std::size_t>(k)] *
                   hashed(across[i].first + k, y, seed + static_cast<std::uint64_t>(spacing));
        values.push_back(static_cast<float>(contrast * value));
      }
      return values;
    };
    for (std::size_t j = 0; j < n; ++j) {
      const Weights down((position.y + static_cast<double>(j)) / spacing);
      rows.erase(rows.begin(), rows.lower_bound(down.first));
      for (std::int64_t k = 0; k < 4; ++k) {
        const auto weight = static_cast<float>(down.value[static_cast<std::size_t>(k)]);
        const std::vector<float>& values = expanded(down.first + k);
        for (std::size_t i = 0; i < n; ++i) sum[j * n + i] += weight * values[i];
      }
    }
  }
  // The sum of four uniform numbers is nearly normal, and fast; its deviation is 2 / sqrt(3).
  const auto scale = static_cast<float>(noise / 1.1547 / 32768);
  std::uint64_t state = seed ^ static_cast<std::uint64_t>(position.x * 1e4 + position.y * 1e9);
  std::vector<std::uint16_t> pixels(n * n);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    float random = -2 * 32768;
    for (int shift = 0; shift < 64; shift += 16)
      random += static_cast<float>((state ^ (state >> 33)) >> shift & 0xffffu);
    pixels[i] = static_cast<std::uint16_t>(std::clamp(sum[i] + scale * random, 0.0F, 65535.0F));
  }
  return pixels;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int run(int argc, char** argv) {
  const auto given = tools::read_arguments(argc, argv,
                                           {{"tiles", {1000, 1}},
                                            {"side", {2048, 1}},
                                            {"overlap", {10, 1}},
                                            {"streams", {2, 1}},
                                            {"seed", {1, 1}}});
  if (!given) {
    std::fprintf(stderr,
                 "usage: measure_mosaic DEVICE[,DEVICE...] [tiles N] [side N] "
                 "[overlap PERCENT] [streams N] [seed N]\n");
    return 2;
  }
  const auto& [devices, number] = *given;
  const auto count = static_cast<std::size_t>(number.at("tiles"));
  const auto side = static_cast<std::int64_t>(number.at("side"));
  const auto seed = static_cast<std::uint64_t>(number.at("seed"));
  const auto columns = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  const double step = static_cast<double>(side) * (1 - number.at("overlap") / 100);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> error(0, stage_error);
  std::vector<warpalign::MosaicTile> tiles;
  std::vector<Point> truth;
  for (std::size_t i = 0; i < count; ++i) {
    const Point nominal{step * static_cast<double>(i % columns),
                        step * static_cast<double>(i / columns)};
    tiles.push_back({{side, side, 1}, nominal});
    truth.push_back({nominal.x + error(random), nominal.y + error(random)});
  }
  std::vector<std::vector<std::uint16_t>> pixels(count);
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < count; i = next++) pixels[i] = draw(side, truth[i], seed);
    });
  }
  for (std::thread& thread : threads) thread.join();

  const warpalign::TileSource source = [&](std::size_t i) {
    return warpalign::TilePixels{{pixels[i].data(), warpalign::PixelType::u16, side, side, 0}, {}};
  };
  warpalign::MosaicOptions options;
  options.batch.streams_per_device = static_cast<int>(number.at("streams"));
  for (const char* which : {"first", "second"}) {
    const auto start = std::chrono::steady_clock::now();
    const warpalign::Mosaic found = warpalign::locate_tiles(devices, tiles, source, options);
    const double taken = seconds_since(start);
    // Positions are relative: compare them without their mean.
    Point mean;
    std::size_t lost = 0;
    for (std::size_t i = 0; i < count; ++i) {
      mean.x += (found.tiles[i].position.x - truth[i].x) / static_cast<double>(count);
      mean.y += (found.tiles[i].position.y - truth[i].y) / static_cast<double>(count);
      lost += found.tiles[i].pairs == 0 ? 1 : 0;
    }
    double squares = 0;
    double largest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double distance = std::hypot(found.tiles[i].position.x - truth[i].x - mean.x,
                                         found.tiles[i].position.y - truth[i].y - mean.y);
      squares += distance * distance;
      largest = std::max(largest, distance);
    }
    std::size_t used = 0;
    for (const warpalign::MosaicPair& pair : found.pairs)
      used += pair.outcome == warpalign::PairOutcome::used ? 1 : 0;
    std::printf(
        "%s run: %zu tiles of %lld x %lld u16, %g %% overlap: %.2f s; %zu of %zu pairs used; "
        "%zu tiles lost, %zu components; rms error %.4f px, largest %.4f px\n",
        which, count, static_cast<long long>(side), static_cast<long long>(side),
        number.at("overlap"), taken, used, found.pairs.size(), lost, found.components,
        std::sqrt(squares / static_cast<double>(count)), largest);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return tools::measurement_main(argc, argv, "measure_mosaic", run);
}
