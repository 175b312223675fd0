// The stages of correlation over the overlap against the oracle. The stages' own tests derive the
// tolerances.
#include "properties/trial.hpp"
#include "reference/fft/fft.hpp"
#include "reference/spectrum/overlap_correlation.hpp"
#include "reference/spectrum/peak.hpp"
#include "support/compare.hpp"
#include "support/transfer.hpp"
#include "support/volumes.hpp"

#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>
#include <warpalign/backend/stages/spectrum/overlap_counts.hpp>
#include <warpalign/stages/fft.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

namespace properties {

namespace {

using namespace warpalign;

Shape some_image(Random& random) {
  return random.one_of<Shape>({{1, 1, 1}, {2, 5, 1}, {8, 6, 1}, {16, 16, 1}, {23, 14, 1}});
}

/// The half spectra of the images of a stack, rounded to floats.
reference::ComplexVolume spectra_of(const reference::Volume& images) {
  reference::ComplexVolume spectra(images.width / 2 + 1, images.height, images.depth);
  auto next = spectra.values.begin();
  for (std::int64_t i = 0; i < images.depth; ++i) {
    const auto spectrum = reference::forward(test::slice_of(images, i));
    next = std::copy(spectrum.values.begin(), spectrum.values.end(), next);
  }
  return test::as_floats(spectra);
}

/// One channel of image a and of the images b.
struct Channel {
  reference::Volume a, b;
};

/// The correlation of a with image number `image`, summed over channels, times the number of
/// pixels, as an unnormalised inverse transform gives it.
reference::Plane correlated(const std::vector<Channel>& channels, std::int64_t image,
                            bool mirrored) {
  reference::Plane sum(channels[0].a.width, channels[0].a.height);
  for (const Channel& channel : channels) {
    const auto surface = reference::correlation(test::slice_of(channel.a, 0),
                                                test::slice_of(channel.b, image), mirrored);
    for (std::size_t i = 0; i < sum.values.size(); ++i) {
      sum.values[i] += surface.values[i] * static_cast<double>(sum.values.size());
    }
  }
  return sum;
}

Image products_of(const Device& device, Stream& stream, const OverlapProductsSpec& spec,
                  const std::vector<Channel>& channels) {
  std::vector<Image> of_a, of_b;
  for (const Channel& channel : channels) {
    of_a.push_back(test::to_device(device, stream, spectra_of(channel.a)));
    of_b.push_back(test::to_device(device, stream, spectra_of(channel.b)));
  }
  const Shape half = RealFftPlan::half_spectrum(spec.image);
  Image products = device.make_image(PixelType::c32, test::stack_of(2 * spec.batch, half));
  test::poison(stream, products);
  const OverlapProductsPlan plan(device, spec);
  if (spec.second_channel) plan.execute(stream, of_a[0], of_a[1], of_b[0], of_b[1], products);
  if (!spec.second_channel) plan.execute(stream, of_a[0], of_b[0], products);
  return products;
}

void check_overlap_products(Trial& trial) {
  Random& random = trial.random;
  const OverlapProductsSpec spec{some_image(random), random.integer(1, 3), random.chance(0.5)};
  trial.describe(spec.batch, " images of ", spec.image,
                 spec.second_channel ? ", two channels" : "");
  std::vector<Channel> channels(spec.second_channel ? 2 : 1);
  for (Channel& channel : channels) {
    channel.a = test::random_volume(spec.image, -1, 1, random.seed());
    channel.b = test::random_volume(test::stack_of(spec.batch, spec.image), -1, 1, random.seed());
  }
  const auto pixels = static_cast<double>(spec.image.plane());
  const double allowed = 1e-6 * pixels * std::sqrt(pixels) * static_cast<double>(channels.size());
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image products = products_of(device, stream, spec, channels);
    test::WorstError worst;
    for (std::int64_t slice = 0; slice < 2 * spec.batch; ++slice) {
      const auto surface =
          reference::inverse(test::spectrum_from_device(stream, products, slice), spec.image.width);
      const auto expected = correlated(channels, slice / 2, slice % 2 == 1);
      worst.add(test::max_difference(surface, expected) / allowed);
    }
    return worst.value();
  });
}

/// Centres may lie up to two periods away.
OverlapLimits some_limits(Random& random, const Shape& surface) {
  const auto number = [&](double low, double high) {
    return static_cast<float>(random.real(low, high));
  };
  const auto along = [&](std::int64_t n) {
    return number(-2 * static_cast<double>(n), 2 * static_cast<double>(n));
  };
  OverlapLimits limits;
  limits.min_overlap = number(0.01, 0.2) * static_cast<float>(surface.plane());
  limits.reach = random.chance(0.3) ? 0 : number(0.5, 20);
  limits.centre_x = along(surface.width), limits.centre_y = along(surface.height);
  limits.mirrored_centre_x = along(surface.width);
  limits.mirrored_centre_y = along(surface.height);
  if (random.chance(0.4)) limits.first_x = number(-0.3, 0.3), limits.first_y = number(-0.3, 0.3);
  if (random.chance(0.4)) limits.second_y = number(0.02, 0.3);
  return limits;
}

reference::ShiftLimits limits_on(bool mirrored, const OverlapLimits& limits) {
  return {static_cast<double>(limits.min_overlap),
          static_cast<double>(limits.reach),
          static_cast<double>(mirrored ? limits.mirrored_centre_x : limits.centre_x),
          static_cast<double>(mirrored ? limits.mirrored_centre_y : limits.centre_y),
          static_cast<double>(limits.first_x),
          static_cast<double>(limits.first_y),
          static_cast<double>(limits.second_x),
          static_cast<double>(limits.second_y)};
}

/// Scores are 0 beyond the limits, and rounding decides where exactly. `wider` moves the limits by
/// more than that: 1e-5 of the overlap, 1e-4 pixels for distances of up to 100, and 1e-4 for bands.
reference::Plane score_of(const reference::Plane& correlation, const reference::Plane& overlap,
                          const OverlapLimits& limits, bool mirrored, double wider,
                          double of_overlap = 1e-5) {
  reference::ShiftLimits shifts = limits_on(mirrored, limits);
  shifts.min_overlap *= 1 - of_overlap * wider;
  if (shifts.reach > 0) shifts.reach += 1e-4 * wider;
  for (double* band : {&shifts.first_x, &shifts.first_y, &shifts.second_x, &shifts.second_y}) {
    *band *= 1 - 1e-4 * wider;
  }
  return reference::overlap_score(correlation, overlap, shifts);
}

/// Two divisions and a square root: a few units of 6e-8 of the largest score.
double allowed_error(const reference::Plane& outer) { return 5e-7 * test::largest(outer) + 1e-30; }

/// The error of a record whose scores are at most `outer` and at least `inner`. The score at its
/// position must be the highest to within rounding, and if no other score is as high, the position
/// must be exact.
double peak_error(const PeakRecord& record, const reference::Plane& inner,
                  const reference::Plane& outer, double allowed) {
  const auto is_inside =
      record.x >= 0 && record.x < inner.width && record.y >= 0 && record.y < inner.height;
  if (!is_inside || record.neighbours[4] != record.value) return 1e9;
  test::WorstError worst;
  // A shift that counts by rounding alone may or may not be the peak.
  const double least = reference::peak(inner).value;
  const auto value = static_cast<double>(record.value);
  worst.add((least - value) / allowed);
  for (std::int64_t k = 0; k < 9; ++k) {
    const std::int64_t x = (record.x + k % 3 - 1 + inner.width) % inner.width;
    const std::int64_t y = (record.y + k / 3 - 1 + inner.height) % inner.height;
    if (inner.at(x, y) != outer.at(x, y)) continue;
    const auto found = static_cast<double>(record.neighbours[static_cast<std::size_t>(k)]);
    worst.add(std::abs(found - outer.at(x, y)) / allowed);
  }
  return worst.value();
}

void check_overlap_peaks(Trial& trial) {
  Random& random = trial.random;
  const OverlapPeaksSpec spec{some_image(random), random.integer(1, 4), random.chance(0.5)};
  const bool each = random.chance(0.5);
  std::vector<OverlapLimits> limits;
  for (std::int64_t i = 0; i < spec.batch; ++i) limits.push_back(some_limits(random, spec.surface));
  if (!each) limits.assign(limits.size(), limits[0]);
  trial.describe(spec.batch, " surfaces of ", spec.surface, ", reach ", limits[0].reach,
                 spec.one_overlap ? ", one overlap" : "", each ? ", limits of their own" : "");
  const auto plane = static_cast<double>(spec.surface.plane());
  const Shape shape = test::stack_of(2 * spec.batch, spec.surface);
  const auto correlations =
      test::random_volume(shape, -plane * plane, plane * plane, random.seed());
  const auto overlaps =
      test::random_volume(test::stack_of(spec.one_overlap ? 2 : shape.depth, spec.surface), -plane,
                          plane * plane / 4, random.seed());
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image surfaces = test::to_device(device, stream, correlations);
    const Image overlap = test::to_device(device, stream, overlaps);
    std::vector<PeakRecord> found(static_cast<std::size_t>(shape.depth), PeakRecord{0, -1, -1});
    Buffer records = device.make_buffer(found.size() * sizeof(PeakRecord));
    stream.upload(found.data(), records.size_bytes(), records);
    const OverlapPeaksPlan plan(device, spec);
    if (each) plan.execute_each(stream, surfaces, overlap, limits, records);
    if (!each) plan.execute(stream, surfaces, overlap, limits[0], records);
    stream.download(records, found.data(), records.size_bytes());
    test::WorstError worst;
    for (std::int64_t slice = 0; slice < shape.depth; ++slice) {
      const auto expected = [&](double wider) {
        return score_of(test::slice_of(correlations, slice),
                        test::slice_of(overlaps, slice % overlaps.depth),
                        limits[static_cast<std::size_t>(slice / 2)], slice % 2 == 1, wider);
      };
      const auto outer = expected(1);
      worst.add(peak_error(found[static_cast<std::size_t>(slice)], expected(-1), outer,
                           allowed_error(outer)));
    }
    return worst.value();
  });
}

/// A rectangle and any parallelogram, possibly without an area, that are no larger than a surface.
OverlapOutline some_outline(Random& random, const Shape& surface) {
  const auto number = [&](double low, double high) {
    return static_cast<float>(random.real(low, high));
  };
  const auto half = static_cast<double>(std::min(surface.width, surface.height)) / 2;
  const auto component = [&] { return random.chance(0.2) ? 0 : number(-half, half); };
  return {number(0, static_cast<double>(surface.width) / 2),
          number(0, static_cast<double>(surface.height) / 2),
          component(),
          component(),
          component(),
          component()};
}

reference::Plane overlap_of(const Shape& surface, const OverlapOutline& outline,
                            const reference::ShiftLimits& limits) {
  const auto number = [](float x) { return static_cast<double>(x); };
  return reference::outline_overlap(
      surface.width, surface.height,
      {number(outline.half_width), number(outline.half_height), number(outline.along_x),
       number(outline.along_y), number(outline.across_x), number(outline.across_y)},
      limits);
}

/// The error of an overlap in pixels: ten roundings of 6e-8 of the surface; edges along an axis
/// are rotated by 2^-20 pixels at their ends.
double outline_error(const Shape& surface) {
  return 1e-6 * static_cast<double>(surface.plane() + surface.width + surface.height);
}

void check_outlined_peaks(Trial& trial) {
  Random& random = trial.random;
  const OverlapPeaksSpec spec{
      random.one_of<Shape>({{1, 1, 1}, {2, 5, 1}, {16, 16, 1}, {23, 14, 1}, {48, 20, 1}}),
      random.integer(1, 4), false, true};
  const bool each = random.chance(0.5);
  std::vector<OverlapOutline> outlines;
  std::vector<OverlapLimits> limits;
  for (std::int64_t i = 0; i < spec.batch; ++i) {
    outlines.push_back(some_outline(random, spec.surface));
    if (each || i == 0) limits.push_back(some_limits(random, spec.surface));
  }
  for (OverlapLimits& of_image : limits) {
    // Both surfaces have the same overlap.
    if (random.chance(0.5)) of_image.mirrored_centre_x = of_image.centre_x;
    if (random.chance(0.7)) of_image.mirrored_centre_y = of_image.centre_y;
  }
  trial.describe(spec.batch, " surfaces of ", spec.surface, ", reach ", limits[0].reach,
                 each ? ", limits of their own" : "");
  const auto plane = static_cast<double>(spec.surface.plane());
  const Shape shape = test::stack_of(2 * spec.batch, spec.surface);
  const auto correlations =
      test::random_volume(shape, -plane * plane, plane * plane, random.seed());
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image surfaces = test::to_device(device, stream, correlations);
    std::vector<PeakRecord> found(static_cast<std::size_t>(shape.depth), PeakRecord{0, -1, -1});
    Buffer records = device.make_buffer(found.size() * sizeof(PeakRecord));
    stream.upload(found.data(), records.size_bytes(), records);
    OverlapPeaksPlan(device, spec).execute_outlines(stream, surfaces, outlines, limits, records);
    stream.download(records, found.data(), records.size_bytes());
    test::WorstError worst;
    for (std::int64_t slice = 0; slice < shape.depth; ++slice) {
      const auto image = static_cast<std::size_t>(slice / 2);
      const bool mirrored = slice % 2 == 1;
      const OverlapLimits& of_image = limits[limits.size() == 1 ? 0 : image];
      const auto overlap = overlap_of(spec.surface, outlines[image], limits_on(mirrored, of_image));
      const double of_overlap =
          outline_error(spec.surface) / static_cast<double>(of_image.min_overlap);
      const auto expected = [&](double wider) {
        return score_of(test::slice_of(correlations, slice), overlap, of_image, mirrored, wider,
                        of_overlap);
      };
      const auto outer = expected(1);
      // Scores are divided by the square root of the overlap.
      const double allowed = allowed_error(outer) + of_overlap / 2 * test::largest(outer);
      worst.add(peak_error(found[static_cast<std::size_t>(slice)], expected(-1), outer, allowed));
    }
    return worst.value();
  });
}

/// Random weights. With `exact` they are multiples of 2^-12, to which the stage rounds weights, so
/// that only the sums are rounded, to floats.
reference::Volume some_weights(Random& random, const Shape& shape, bool exact) {
  auto weights = test::random_volume(shape, 0, 1, random.seed());
  for (double& weight : weights.values) {
    if (exact) weight = std::floor(weight * 0x1p12) * 0x1p-12;
  }
  return weights;
}

void check_overlap_counts(Trial& trial) {
  Random& random = trial.random;
  const OverlapCountsSpec spec{
      random.one_of<Shape>({{1, 1, 1}, {7, 9, 1}, {16, 16, 1}, {31, 17, 1}, {13, 40, 1}}),
      random.integer(1, 3), random.chance(0.5)};
  const Shape rectangle{random.integer(1, spec.image.width), random.integer(1, spec.image.height),
                        1};
  const bool exact = random.chance(0.5);
  trial.describe(spec.batch, " images of ", spec.image, ", rectangle ", rectangle,
                 spec.rectangle_is_first ? ", first" : ", second", exact ? ", exact" : "");
  const auto weights = some_weights(random, test::stack_of(spec.batch, spec.image), exact);
  reference::Volume ones(spec.image.width, spec.image.height);
  reference::for_each_voxel(
      {rectangle.width, rectangle.height, 1},
      [&](std::int64_t x, std::int64_t y, std::int64_t z) { ones.at(x, y, z) = 1; });
  const double allowed = (exact ? 1.2e-7 : 0x1p-13 + 1.2e-7) *
                         static_cast<double>(rectangle.plane() * spec.image.plane());
  trial.on_every_device([&](const Device& device) {
    Stream stream = device.make_stream();
    const Image input = test::to_device(device, stream, weights);
    Image output = device.make_image(PixelType::f32, test::stack_of(2 * spec.batch, spec.image));
    test::poison(stream, output);
    OverlapCountsPlan(device, spec).execute(stream, input, rectangle, output);
    test::WorstError worst;
    for (std::int64_t slice = 0; slice < 2 * spec.batch; ++slice) {
      const auto weight = test::slice_of(weights, slice / 2);
      const auto rect = test::slice_of(ones, 0);
      auto expected = spec.rectangle_is_first
                          ? reference::correlation(rect, weight, slice % 2 == 1)
                          : reference::correlation(weight, rect, slice % 2 == 1);
      for (double& value : expected.values) value *= static_cast<double>(spec.image.plane());
      worst.add(test::max_difference(test::from_device(stream, output, slice), expected) / allowed);
    }
    return worst.value();
  });
}

}  // namespace

std::vector<Property> overlap_properties() {
  return {{"overlap_products", "as the oracle has it", &check_overlap_products},
          {"overlap_peaks", "as the oracle has it", &check_overlap_peaks},
          {"overlap_peaks", "of outlines, as the oracle has it", &check_outlined_peaks},
          {"overlap_counts", "as the oracle has it", &check_overlap_counts}};
}

}  // namespace properties
