// A second execution of a stage allocates nothing, on every device. It uses other images than the
// first one, so that no allocation can be left from then.
#include "allocations/check.hpp"
#include "stages/results.hpp"
#include "support/devices.hpp"

#include <warpalign/backend/stage_list.hpp>
#include <warpalign/backend/stages/spectrum/autocorrelation_peaks.hpp>
#include <warpalign/backend/stages/spectrum/radial_whitening.hpp>
#include <warpalign/backend/stages/spectrum/shift_maxima.hpp>
#include <warpalign/warpalign.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace warpalign;

constexpr Shape plane{96, 64, 1};
constexpr Shape odd_plane{61, 43, 1};  // rows that a texture cannot read in place
constexpr Shape volume{24, 20, 16};
constexpr Affine matrix{0.97, -0.1, 3, 0.12, 0.96, 2};

/// A stream of one device, and images for two executions.
class Bench {
 public:
  explicit Bench(const Device& device) : device_(device), stream_(device.make_stream()) {}

  [[nodiscard]] const Device& device() const { return device_; }
  [[nodiscard]] Stream& stream() { return stream_; }

  /// An image of small positive numbers for each execution.
  std::array<Image, 2> images(PixelType type, const Shape& shape) {
    return {image(type, shape), image(type, shape)};
  }
  std::array<Image, 2> planes(PixelType type = PixelType::f32) { return images(type, plane); }
  std::array<Image, 2> spectra(const Shape& shape = plane) {
    return images(PixelType::c32, RealFftPlan::half_spectrum(shape));
  }
  std::array<Buffer, 2> buffers(std::size_t bytes) {
    return {device_.make_buffer(bytes), device_.make_buffer(bytes)};
  }

  /// Runs execute(0) and then execute(1), which must allocate nothing.
  template <class Execute>
  void check(const std::string& name, Execute execute) {
    CAPTURE(name);
    execute(0U);
    test::allocates_nothing(device_, [&] { execute(1U); });
    stream_.finish();
  }

 private:
  Image image(PixelType type, const Shape& shape) {
    Image image = device_.make_image(type, shape);
    std::vector<unsigned char> bytes(image.size_bytes());
    if (type == PixelType::f32 || type == PixelType::c32) {
      std::vector<float> values(bytes.size() / sizeof(float));
      for (float& value : values) value = uniform_(random_);
      std::memcpy(bytes.data(), values.data(), bytes.size());
    } else {
      for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random_() % 50);
    }
    stream_.upload(bytes.data(), bytes.size(), image.buffer());
    return image;
  }

  Device device_;
  Stream stream_;
  std::mt19937 random_{12};
  std::uniform_real_distribution<float> uniform_{0.5F, 1.5F};
};

template <class Body>
void on_every_bench(Body body) {
  test::on_every_device([&](const Device& device) {
    Bench bench(device);
    body(bench);
  });
}

}  // namespace

TEST_CASE("allocations: the counter counts the library's allocations") {
  on_every_bench([](Bench& bench) {
    const auto found = test::allocations_of(bench.device(), [&] {
      static_cast<void>(bench.device().make_image(PixelType::f32, plane));
    });
    CHECK(found.on_host > 0);
    CHECK(found.on_device > 0);
    CHECK(found.where.find("warpalign") != std::string::npos);
    const auto of_test = test::allocations_of(bench.device(), [] {
      const std::vector<int> numbers(100, 1);
      CHECK(numbers.size() == 100);
    });
    CHECK(of_test.on_host == 0);
    CHECK(of_test.by_drivers > 0);
  });
}

TEST_CASE("allocations: copies") {
  on_every_bench([](Bench& bench) {
    auto a = bench.planes();
    auto b = bench.planes();
    std::vector<float> host(static_cast<std::size_t>(plane.pixels()));
    const std::size_t bytes = host.size() * sizeof(float);
    const HostImage padded{host.data(), PixelType::f32, plane.width - 8, plane.height,
                           plane.width * 4};
    auto narrow = bench.images(PixelType::f32, padded.shape());
    bench.check("upload",
                [&](std::size_t i) { bench.stream().upload(host.data(), bytes, a[i].buffer()); });
    bench.check("upload of rows", [&](std::size_t i) { bench.stream().upload(padded, narrow[i]); });
    bench.check("copy", [&](std::size_t i) { bench.stream().copy(a[i].buffer(), b[i].buffer()); });
    bench.check("download",
                [&](std::size_t i) { bench.stream().download(b[i], host.data(), bytes); });
    bench.check("small download",
                [&](std::size_t i) { bench.stream().download(b[i].buffer(), host.data(), 64); });
  });
}

TEST_CASE("allocations: gradient, window and statistics") {
  on_every_bench([](Bench& bench) {
    auto pixels = bench.planes(PixelType::u8);
    auto output = bench.planes();
    auto record = bench.buffers(sizeof(StatisticsRecord));
    const SobelPlan packed(bench.device(), {PixelType::u8, plane});
    const SobelPlan plain(bench.device(), {PixelType::u8, plane, SobelMethod::plain});
    bench.check("sobel",
                [&](std::size_t i) { packed.execute(bench.stream(), pixels[i], output[i]); });
    bench.check("plain sobel",
                [&](std::size_t i) { plain.execute(bench.stream(), pixels[i], output[i]); });
    for (const Signal signal : {Signal::pixels, Signal::gradient}) {
      const StatisticsPlan statistics(bench.device(), {plane, PixelType::u8, signal});
      bench.check("statistics",
                  [&](std::size_t i) { statistics.execute(bench.stream(), pixels[i], record[i]); });
      const ApodizePlan apodize(bench.device(),
                                {plane, plane, Window::hann, PixelType::u8, signal});
      bench.check("apodize", [&](std::size_t i) {
        apodize.execute(bench.stream(), pixels[i], record[i], output[i]);
      });
    }
  });
}

TEST_CASE("allocations: conversion of pixels") {
  on_every_bench([](Bench& bench) {
    auto doubles = bench.images(PixelType::f64, plane);
    auto integers = bench.images(PixelType::i16, plane);
    const ConvertPlan convert(bench.device(), {plane, PixelType::f64, PixelType::i16});
    bench.check("convert",
                [&](std::size_t i) { convert.execute(bench.stream(), doubles[i], integers[i]); });
  });
}

TEST_CASE("allocations: splines in double precision") {
  on_every_bench([](Bench& bench) {
    if (!bench.device().info().double_precision) return;
    auto input = bench.images(PixelType::f64, plane);
    auto output = bench.images(PixelType::f64, plane);
    for (const int degree : {0, 3}) {
      const DoubleSplinePlan spline(
          bench.device(),
          {.degree = degree, .images = {.shape = plane, .dimensions = 2}, .output = plane});
      bench.check("double_spline", [&](std::size_t i) {
        spline.execute(bench.stream(), input[i], HomogeneousMatrix(), 0, output[i]);
      });
    }
  });
}

TEST_CASE("allocations: warps by fields") {
  on_every_bench([](Bench& bench) {
    if (!bench.device().info().double_precision) return;
    auto images = bench.planes();
    auto output = bench.planes();
    const std::vector<float> across(static_cast<std::size_t>(plane.pixels()), 1.5F);
    const std::array<const float*, 2> components{across.data(), across.data()};
    const Transform field = Transform::displacement(PointGrid{.shape = plane}, components);
    const DeviceTransform once(bench.device(), field);
    const DeviceTransform twice(bench.device(), field * field);
    InterpolateSpec evaluation;
    evaluation.images.shape = evaluation.output = plane;
    const WarpByFieldPlan by_field(bench.device(), evaluation);
    bench.check("warp by field", [&](std::size_t i) {
      by_field.execute(bench.stream(), images[i], once, output[i]);
    });
    ResampleSpec spec;
    spec.images.shape = spec.output = plane;
    TransformWarpPlan warp(bench.device(), spec);
    bench.check("a warp by one field",
                [&](std::size_t i) { warp.execute(bench.stream(), images[i], once, output[i]); });
    bench.check("a warp by two fields",
                [&](std::size_t i) { warp.execute(bench.stream(), images[i], twice, output[i]); });
  });
}

TEST_CASE("allocations: resampling without aliasing") {
  on_every_bench([](Bench& bench) {
    const Shape smaller{plane.width / 3, plane.height / 4, 1};
    auto input = bench.images(PixelType::u16, plane);
    auto output = bench.images(PixelType::i16, smaller);
    for (const Antialias antialias : {Antialias::gaussian, Antialias::least_squares}) {
      ZoomPlan zoom(bench.device(), {.images = {.shape = plane},
                                     .output = smaller,
                                     .antialias = antialias,
                                     .input = PixelType::u16,
                                     .output_type = PixelType::i16});
      bench.check("zoom",
                  [&](std::size_t i) { zoom.execute(bench.stream(), input[i], output[i]); });
    }
    AntialiasedResamplePlan resample(bench.device(),
                                     {.images = {.shape = plane},
                                      .output = smaller,
                                      .input = PixelType::u16,
                                      .output_type = PixelType::i16},
                                     HomogeneousMatrix(Affine{2, 1, 0, -1, 2, 20}));
    bench.check("antialiased_resample",
                [&](std::size_t i) { resample.execute(bench.stream(), input[i], output[i]); });
  });
}

TEST_CASE("allocations: Fourier transforms") {
  on_every_bench([](Bench& bench) {
    for (const Shape& shape : {plane, odd_plane, Shape{37, 1, 1}, Shape{48, 32, 3}}) {
      auto real = bench.images(PixelType::f32, shape);
      auto spectrum = bench.spectra(shape);
      const RealFftPlan fft(bench.device(), {shape});
      bench.check("forward",
                  [&](std::size_t i) { fft.forward(bench.stream(), real[i], spectrum[i]); });
      bench.check("inverse",
                  [&](std::size_t i) { fft.inverse(bench.stream(), spectrum[i], real[i]); });
    }
    auto real = bench.images(PixelType::f32, volume);
    auto spectrum = bench.spectra(volume);
    const RealFftPlan fft(bench.device(), {volume, 3});
    bench.check("forward",
                [&](std::size_t i) { fft.forward(bench.stream(), real[i], spectrum[i]); });
    bench.check("inverse",
                [&](std::size_t i) { fft.inverse(bench.stream(), spectrum[i], real[i]); });
  });
}

TEST_CASE("allocations: spectra") {
  on_every_bench([](Bench& bench) {
    auto a = bench.spectra();
    auto b = bench.spectra();
    auto cross = bench.spectra();
    auto magnitudes = bench.images(PixelType::f32, RealFftPlan::half_spectrum(plane));
    auto grid = bench.planes();
    const MagnitudePlan magnitude(bench.device(), {plane, 0.3F});
    const LogPolarPlan log_polar(bench.device(), {plane, plane});
    const RadialWhiteningPlan flatten(bench.device(), {plane});
    const AutocorrelationPeaksPlan resemblance(bench.device(), {{60, 40, 1}, plane});
    auto coefficients = bench.buffers(static_cast<std::size_t>(resemblance.rows()) * sizeof(float));
    const CrossPowerPlan cross_power(bench.device(), {plane, 0.3F, false});
    bench.check("magnitude",
                [&](std::size_t i) { magnitude.execute(bench.stream(), a[i], magnitudes[i]); });
    bench.check("log_polar",
                [&](std::size_t i) { log_polar.execute(bench.stream(), magnitudes[i], grid[i]); });
    bench.check("radial_whitening",
                [&](std::size_t i) { flatten.execute(bench.stream(), grid[i]); });
    bench.check("autocorrelation_peaks", [&](std::size_t i) {
      resemblance.execute(bench.stream(), grid[i], coefficients[i]);
    });
    bench.check("cross_power",
                [&](std::size_t i) { cross_power.execute(bench.stream(), a[i], b[i], cross[i]); });
  });
}

TEST_CASE("allocations: phase correlation") {
  on_every_bench([](Bench& bench) {
    auto a = bench.planes();
    auto b = bench.planes();
    auto surfaces = bench.planes();
    const PhaseCorrelationPlan plan(bench.device(), {plane});
    bench.check("phase_correlation", [&](std::size_t i) {
      plan.execute(bench.stream(), a[i], b[i], surfaces[i]);
      CHECK(plan.find_peak().height <= 1);
    });
  });
}

TEST_CASE("allocations: correlation over the overlap, and peaks") {
  on_every_bench([](Bench& bench) {
    auto a = bench.spectra();
    auto b = bench.spectra();
    const Shape two{plane.width, plane.height, 2};
    auto products_of = bench.spectra(two);
    auto weights = bench.planes();
    auto surfaces = bench.images(PixelType::f32, two);
    auto overlaps = bench.images(PixelType::f32, two);
    auto records = bench.buffers(2 * sizeof(PeakRecord));
    const OverlapProductsPlan products(bench.device(), {plane});
    const OverlapCountsPlan counts(bench.device(), {plane});
    const OverlapPeaksPlan peaks(bench.device(), {plane});
    const PeakPlan peak(bench.device(), {two});
    bench.check("overlap_products", [&](std::size_t i) {
      products.execute(bench.stream(), a[i], b[i], products_of[i]);
    });
    const OverlapProductsPlan two_channels(bench.device(), {plane, 1, true});
    bench.check("overlap_products of two channels", [&](std::size_t i) {
      two_channels.execute(bench.stream(), a[i], b[i], a[i], b[i], products_of[i]);
    });
    bench.check("overlap_counts", [&](std::size_t i) {
      counts.execute(bench.stream(), weights[i], plane, overlaps[i]);
    });
    bench.check("overlap_peaks", [&](std::size_t i) {
      const auto min_overlap = static_cast<float>(1 + i);
      peaks.execute(bench.stream(), surfaces[i], overlaps[i], {min_overlap}, records[i]);
    });
    const OverlapPeaksPlan of_outlines(bench.device(), {plane, 1, false, true});
    bench.check("overlap_peaks of outlines", [&](std::size_t i) {
      const auto half = static_cast<float>(1 + i);
      const OverlapOutline outline{half, half, half, 0, 0, half};
      const OverlapLimits limits{half};
      of_outlines.execute_outlines(bench.stream(), surfaces[i], {&outline, 1}, {&limits, 1},
                                   records[i]);
    });
    const ShiftMaximaPlan maxima(bench.device(), {plane});
    bench.check("shift_maxima", [&](std::size_t i) {
      const ShiftRegion region{0, 0, 0, 2, 2, 1, static_cast<float>(1 + i)};
      (void)maxima.execute(bench.stream(), surfaces[i], overlaps[i], region);
    });
    bench.check("peak",
                [&](std::size_t i) { peak.execute(bench.stream(), surfaces[i], records[i]); });
  });
}

TEST_CASE("allocations: common_frames") {
  on_every_bench([](Bench& bench) {
    auto image = bench.planes();
    auto weight = bench.planes();
    auto reference = bench.planes();
    auto moving = bench.planes();
    const CommonFramesPlan plan(bench.device(), {plane, 2});
    bench.check("common_frames", [&](std::size_t i) {
      const std::array<const Image*, 1> channel{&image[i]};
      plan.enqueue(bench.stream(), {channel, channel, &weight[i], weight[1 - i]}, {plane}, 0,
                   reference[i], moving[i], static_cast<std::int64_t>(i));
      plan.enqueue_copy(bench.stream());
      static_cast<void>(plan.wait(0));
    });
  });
}

TEST_CASE("allocations: gradient orientations") {
  on_every_bench([](Bench& bench) {
    auto input = bench.planes();
    auto weight = bench.planes();
    auto cosines = bench.planes();
    auto sines = bench.planes();
    const DoubleAnglePlan plan(bench.device(), {plane});
    bench.check("double_angle", [&](std::size_t i) {
      plan.execute(bench.stream(), input[i], weight[i], DoubleAngleTerms{}, cosines[i], sines[i]);
    });
    bench.check("double_angle, turned", [&](std::size_t i) {
      plan.turn(bench.stream(), cosines[i], sines[i], 0.5, input[i], weight[i]);
    });
    const DirectionSumsPlan sums(bench.device(), {2});
    bench.check("direction_sums", [&](std::size_t i) {
      sums.enqueue(bench.stream(), cosines[i], sines[i], static_cast<std::int64_t>(i));
      sums.enqueue_copy(bench.stream());
      static_cast<void>(sums.wait(0));
    });
  });
}

TEST_CASE("allocations: smoothing, local contrast, impulses") {
  on_every_bench([](Bench& bench) {
    auto pixels = bench.planes(PixelType::u8);
    auto mask = bench.planes(PixelType::u8);
    auto values = bench.planes();
    auto weights = bench.planes();
    auto output = bench.planes();
    SmoothSpec spec{.input = PixelType::u8, .shape = plane, .output = plane, .origin = {}};
    const SmoothPlan smooth(bench.device(), spec);
    spec.masked = true;
    const SmoothPlan smooth_masked(bench.device(), spec);
    bench.check("smooth",
                [&](std::size_t i) { smooth.execute(bench.stream(), pixels[i], values[i]); });
    bench.check("masked smooth", [&](std::size_t i) {
      smooth_masked.execute(bench.stream(), pixels[i], mask[i], values[i], weights[i]);
    });
    const LocalNormalizationPlan contrast(bench.device(), {plane, 3, false});
    const LocalNormalizationPlan contrast_masked(bench.device(), {plane, 3, true});
    bench.check("local_normalization", [&](std::size_t i) {
      contrast.execute(bench.stream(), values[i], {1, 0.1F}, output[i]);
    });
    bench.check("masked local_normalization", [&](std::size_t i) {
      contrast_masked.execute(bench.stream(), values[i], weights[i], {1, 0.1F}, output[i]);
    });
    const ImpulseFilterPlan impulse_filter(bench.device(), {PixelType::u8, plane});
    ImpulseStatistics impulses;
    bench.check("impulses", [&](std::size_t i) {
      impulses = impulse_filter.impulse_statistics(bench.stream(), pixels[i]);
    });
    bench.check("impulse_filter", [&](std::size_t i) {
      impulse_filter.execute(bench.stream(), pixels[i], impulses, output[i]);
    });
  });
}

TEST_CASE("allocations: prefilters") {
  on_every_bench([](Bench& bench) {
    struct Case {
      Shape shape;
      int dimensions;
      PrefilterMethod method;
      PixelType input;
    };
    using Method = PrefilterMethod;
    for (const Case& c : {Case{plane, 2, Method::exact, PixelType::f32},
                          Case{odd_plane, 2, Method::exact, PixelType::u8},
                          Case{plane, 2, Method::fir, PixelType::f32},
                          Case{plane, 2, Method::iir_line, PixelType::f32},
                          Case{plane, 2, Method::exact, PixelType::c32},
                          Case{plane, 1, Method::exact, PixelType::f32},
                          Case{volume, 3, Method::exact, PixelType::f32},
                          Case{volume, 3, Method::fir, PixelType::f32}}) {
      CAPTURE(static_cast<int>(c.method));
      CAPTURE(c.dimensions);
      PrefilterSpec spec{.images = {.shape = c.shape, .dimensions = c.dimensions},
                         .input = c.input};
      spec.spline.prefilter = c.method;
      auto samples = bench.images(c.input, c.shape);
      auto coefficients = bench.images(PrefilterPlan::coefficient_type(c.input), c.shape);
      const PrefilterPlan prefilter(bench.device(), spec);
      bench.check("prefilter", [&](std::size_t i) {
        prefilter.execute(bench.stream(), samples[i], coefficients[i]);
      });
    }
  });
}

TEST_CASE("allocations: interpolation") {
  on_every_bench([](Bench& bench) {
    struct Case {
      Shape shape;
      int dimensions;
      int degree;
      Precision precision;
    };
    for (const Case& c :
         {Case{plane, 2, 0, Precision::full}, Case{plane, 2, 1, Precision::full},
          Case{plane, 2, 3, Precision::full}, Case{plane, 2, 5, Precision::full},
          Case{plane, 2, 1, Precision::texture}, Case{plane, 2, 3, Precision::texture},
          Case{plane, 2, 3, Precision::texture_lut}, Case{odd_plane, 2, 1, Precision::texture},
          Case{odd_plane, 2, 3, Precision::texture}, Case{volume, 3, 1, Precision::full},
          Case{volume, 3, 3, Precision::full}, Case{volume, 3, 3, Precision::texture}}) {
      CAPTURE(c.dimensions);
      CAPTURE(c.degree);
      CAPTURE(static_cast<int>(c.precision));
      InterpolateSpec spec;
      spec.images.shape = spec.output = c.shape;
      spec.images.dimensions = c.dimensions;
      spec.spline.degree = c.degree;
      spec.spline.precision = c.precision;
      auto coefficients = bench.images(PixelType::f32, c.shape);
      auto output = bench.images(PixelType::f32, c.shape);
      auto field = bench.images(PixelType::f32, InterpolatePlan::coordinates_shape(spec));
      const InterpolatePlan plan(bench.device(), spec);
      const HomogeneousMatrix affine = matrix;
      bench.check("affine", [&](std::size_t i) {
        plan.execute(bench.stream(), coefficients[i], affine, output[i]);
      });
      bench.check("field", [&](std::size_t i) {
        plan.execute(bench.stream(), coefficients[i], field[i], output[i]);
      });
      if (c.dimensions == 2) {
        const HomogeneousMatrix projective =
            HomogeneousMatrix::homography({1, 0.1, 2, -0.1, 1, 3, 1e-4, 2e-4, 1});
        const LogPolarSampling grid{20, 20, 0, 0.03, 0, 0.05};
        bench.check("projective", [&](std::size_t i) {
          plan.execute(bench.stream(), coefficients[i], projective, output[i]);
        });
        bench.check("log-polar", [&](std::size_t i) {
          plan.execute(bench.stream(), coefficients[i], grid, output[i]);
        });
      }
      if (c.degree > 0 && c.precision == Precision::full) {
        auto gradient = bench.images(PixelType::f32, InterpolatePlan::coordinates_shape(spec));
        bench.check("gradient", [&](std::size_t i) {
          plan.execute_with_gradient(bench.stream(), coefficients[i], affine, output[i],
                                     gradient[i]);
        });
      }
    }
  });
}

TEST_CASE("allocations: batches") {
  on_every_bench([](Bench& bench) {
    constexpr std::int64_t arrays = 3;
    const Shape all{plane.width, plane.height, arrays};
    const std::vector<HomogeneousMatrix> each(arrays, HomogeneousMatrix(matrix));
    auto images = bench.images(PixelType::f32, all);
    auto output = bench.images(PixelType::f32, all);
    for (const Precision precision : {Precision::full, Precision::texture}) {
      for (const int degree : {0, 1, 3}) {
        CAPTURE(degree);
        CAPTURE(static_cast<int>(precision));
        if (degree == 0 && precision != Precision::full) continue;
        InterpolateSpec spec;
        spec.images.shape = spec.output = plane;
        spec.spline.degree = degree;
        spec.spline.precision = precision;
        spec.images.count = arrays;
        const InterpolatePlan plan(bench.device(), spec);
        bench.check("interpolate a batch, one transform each", [&](std::size_t i) {
          plan.execute(bench.stream(), images[i], each, output[i]);
        });
      }
    }
    ResampleSpec spec;
    spec.images.shape = spec.output = plane;
    spec.images.count = arrays;
    ResamplePlan resample(bench.device(), spec);
    bench.check("resample a batch, one transform each", [&](std::size_t i) {
      resample.execute(bench.stream(), images[i], each, output[i]);
    });
    bench.check("resample a batch alike", [&](std::size_t i) {
      resample.execute(bench.stream(), images[i], each.front(), output[i]);
    });
  });
}

TEST_CASE("allocations: resampling and warps") {
  on_every_bench([](Bench& bench) {
    auto images = bench.planes();
    auto output = bench.planes();
    ResampleSpec spec;
    spec.images.shape = spec.output = plane;
    InterpolateSpec points;
    points.images.shape = points.output = plane;
    auto field = bench.images(PixelType::f32, InterpolatePlan::coordinates_shape(points));
    const HomogeneousMatrix affine = matrix;
    for (const Boundary boundary : {Boundary::mirror, Boundary::constant, Boundary::nearest}) {
      spec.spline.boundary = boundary;
      ResamplePlan resample(bench.device(), spec);
      bench.check("resample", [&](std::size_t i) {
        resample.execute(bench.stream(), images[i], affine, output[i]);
      });
      bench.check("resample by a field", [&](std::size_t i) {
        resample.execute(bench.stream(), images[i], field[i], output[i]);
      });
    }
    for (const Shape& shape : {plane, odd_plane}) {
      auto input = bench.images(PixelType::f32, shape);
      const WarpPlan warp(bench.device(), {shape, plane});
      bench.check("warp", [&](std::size_t i) {
        warp.execute(bench.stream(), input[i], matrix, output[i]);
      });
    }
    auto x = bench.planes();
    auto y = bench.planes();
    auto result = bench.planes(PixelType::c32);
    for (const BilinearForm form :
         {BilinearForm::global_memory, BilinearForm::texture_fetch, BilinearForm::texture_filter}) {
      for (const Shape& shape : {plane, odd_plane}) {
        auto data = bench.images(PixelType::c32, shape);
        const ComplexBilinearPlan plan(bench.device(), {shape, plane, form});
        bench.check("complex_bilinear", [&](std::size_t i) {
          plan.execute(bench.stream(), data[i], x[i], y[i], result[i]);
        });
      }
    }
  });
}

TEST_CASE("allocations: refinement") {
  on_every_bench([](Bench& bench) {
    auto reference = bench.planes();
    auto moving = bench.planes();
    auto weight = bench.planes();
    constexpr int cell = 8;
    auto fields = bench.images(PixelType::c32, IlluminationPlan::field_shape(plane, cell));
    for (const bool masked : {false, true}) {
      CAPTURE(masked);
      const IlluminationPlan illumination(bench.device(), {plane, plane, 0, 1, masked, cell, 12});
      const SimilaritySumsPlan sums(bench.device(), {plane, plane, 0, 1, masked, 0});
      const SimilaritySumsPlan illuminated_sums(bench.device(), {plane, plane, 0, 1, masked, cell});
      const auto images = [&](std::size_t i, const Image* field) {
        const Image* weights = masked ? &weight[i] : nullptr;
        return SimilarityImages{reference[i], moving[i], weights, weights, field};
      };
      bench.check("similarity_sums", [&](std::size_t i) {
        static_cast<void>(sums.execute(bench.stream(), images(i, nullptr), {.matrix = matrix}));
      });
      SimilaritySumsSpec resident{plane, plane, 0, 1, masked, 0};
      resident.resident = true;
      const SimilaritySumsPlan resident_sums(bench.device(), resident);
      const FitStepPlan steps(bench.device(), {false, 1});
      FitRecord fit;
      fit.groups = static_cast<std::int32_t>(resident_sums.groups());
      fit.in_progress = 1;
      detail::Results<float> partials(bench.device(), resident_sums.partial_count());
      bench.check("fit_step", [&](std::size_t i) {
        steps.begin(bench.stream(), {&fit, 1});
        resident_sums.enqueue_resident(bench.stream(), images(i, nullptr), steps.states(), 0, 1,
                                       partials, 0);
        steps.enqueue(bench.stream(), partials);
        steps.look(bench.stream());
        static_cast<void>(steps.seen());
      });
      bench.check("illumination", [&](std::size_t i) {
        illumination.execute(bench.stream(), images(i, nullptr), matrix, {1, 1, 1, 0.1}, fields[i]);
      });
      bench.check("similarity_sums with illumination", [&](std::size_t i) {
        static_cast<void>(
            illuminated_sums.execute(bench.stream(), images(i, &fields[i]), {.matrix = matrix}));
      });
    }
  });
}

TEST_CASE("allocations: volumes") {
  on_every_bench([](Bench& bench) {
    auto a = bench.images(PixelType::f32, volume);
    auto b = bench.images(PixelType::f32, volume);
    auto voxels = bench.images(PixelType::u8, volume);
    auto spectrum_a = bench.spectra(volume);
    auto spectrum_b = bench.spectra(volume);
    const PadVolumePlan pad(bench.device(), {PixelType::u8, volume, volume, 0.1});
    bench.check("pad_volume", [&](std::size_t i) {
      pad.execute(bench.stream(), voxels[i], {1, 0.1F}, a[i]);
    });
    const MarkVolumePlan mark(bench.device(), {PixelType::u8, volume});
    bench.check("mark_volume",
                [&](std::size_t i) { mark.execute(bench.stream(), voxels[i], voxels[i], a[i]); });
    const SmoothVolumePlan smooth(bench.device(), {volume});
    bench.check("smooth_volume",
                [&](std::size_t i) { smooth.execute(bench.stream(), a[i], b[i]); });
    const HalveVolumePlan halve(bench.device(), {volume, {true, true, true}});
    auto halved =
        bench.images(PixelType::f32, {volume.width / 2, volume.height / 2, volume.depth / 2});
    bench.check("halve_volume",
                [&](std::size_t i) { halve.execute(bench.stream(), a[i], halved[i]); });
    const SpectrumSumsPlan spectra(bench.device(), {volume});
    bench.check("spectrum_sums", [&](std::size_t i) {
      static_cast<void>(spectra.execute(bench.stream(), spectrum_a[i], spectrum_b[i]));
    });
    const VolumeEdgesPlan edges(bench.device(), {volume});
    bench.check("volume_edges",
                [&](std::size_t i) { edges.execute(bench.stream(), a[i], {}, b[i]); });
    const VolumePeaksPlan peaks(bench.device(), {volume});
    bench.check("volume_peaks",
                [&](std::size_t i) { static_cast<void>(peaks.execute(bench.stream(), a[i], {})); });
    for (const bool marked : {false, true}) {
      const VolumeSumsPlan sums(bench.device(), {volume, volume, 1, marked});
      const std::array<VoxelShift, 3> shifts{{{0, 0, 0}, {3, -2, 1}, {100, 0, 0}}};
      bench.check("volume_moments", [&](std::size_t i) {
        static_cast<void>(sums.moments(bench.stream(), a[i], b[i], shifts));
      });
      bench.check("volume_step", [&](std::size_t i) {
        static_cast<void>(sums.step(bench.stream(), a[i], b[i], {0.5, 0.25, -1.5}));
      });
      const AffineVolumeSumsPlan affine(bench.device(), {volume, volume, 1, 2, marked});
      const std::array<AffineVolumeState, 2> states{};
      std::array<AffineVolumeSums, 2> affine_sums;
      bench.check("affine_volume_sums", [&](std::size_t i) {
        affine.execute(bench.stream(), a[i], b[i], states, affine_sums);
      });
    }
    auto cube = bench.images(PixelType::f32, {7, 7, 7});
    const RotationScoresPlan scores(bench.device(), {2, 2, 1});
    const std::array<ScoredPoint, 2> points{ScoredPoint{2, 0, 0, 1}, ScoredPoint{0, 1, 1, 2}};
    const std::array<RotationMatrix, 1> rotations{RotationMatrix{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    bench.check("rotation_scores", [&](std::size_t i) {
      static_cast<void>(scores.execute(bench.stream(), cube[i], points, rotations));
    });
  });
}

TEST_CASE("allocations: stacks of rotated frames") {
  on_every_bench([](Bench& bench) {
    const Shape stack{plane.width, plane.height, 2};
    auto frames = bench.images(PixelType::f32, stack);
    auto reference = bench.planes();
    const FrameSumsPlan sums(bench.device(), {plane, 1, 2});
    std::array<FrameState, 2> states{};
    for (FrameState& state : states) state = {1, 90, 1, 60, 1, 1};
    for (FrameState& state : states) state.active = 1;
    std::array<FrameSums, 2> results;
    bench.check("frame_sums", [&](std::size_t i) {
      sums.execute(bench.stream(), frames[i], reference[i], states, results);
    });
    auto spectra = bench.spectra(stack);
    const LogPolarSpectraPlan log_polar(bench.device(), {plane, plane, 2, 0.3F});
    bench.check("log_polar_spectra",
                [&](std::size_t i) { log_polar.execute(bench.stream(), spectra[i], frames[i]); });
    const CutWindowsPlan cut(bench.device(),
                             {plane, 1, {{0, 0}, {9, 7}, {20, 3}}, {64, 48, 1}, plane});
    auto means = bench.buffers(2 * sizeof(float));
    bench.check("cut_windows", [&](std::size_t i) {
      cut.execute(bench.stream(), reference[i], {1, 2}, means[i], frames[i]);
    });
    auto one = bench.spectra();
    auto products = bench.spectra(stack);
    const CrossPowerPlan cross_power(bench.device(), {plane, 0.3F, false, 1, 2});
    bench.check("cross_power of stacks", [&](std::size_t i) {
      cross_power.execute(bench.stream(), one[i], spectra[i], products[i]);
    });
  });
}

TEST_CASE("allocations: local features") {
  on_every_bench([](Bench& bench) {
    const Device& device = bench.device();
    auto image = bench.planes();
    const SimulatedViewsSpec views_spec{plane, {{odd_plane, matrix}, {{40, 30, 1}, matrix}}};
    auto views = bench.buffers(SimulatedViewsPlan::bytes_of(views_spec));
    const SimulatedViewsPlan simulate(device, views_spec);
    bench.check("simulated_views",
                [&](std::size_t i) { simulate.execute(bench.stream(), image[i], views[i]); });
    const OctaveSpec octave_spec{{odd_plane, {40, 30, 1}}, 1, {1.6, 1.2, 1.5, 1.9, 2.4}};
    auto octaves = bench.buffers(OctavePlan::bytes_of(octave_spec));
    auto between = bench.buffers(OctavePlan::bytes_between(octave_spec));
    const OctavePlan octave(device, octave_spec);
    bench.check("octave", [&](std::size_t i) {
      octave.execute(bench.stream(), views[i], 0, between[i], octaves[i]);
    });
    auto deviations = bench.buffers(2 * sizeof(float));
    auto counts = bench.buffers(sizeof(std::int32_t));
    const std::int32_t none = 0;
    for (Buffer& count : counts) bench.stream().upload(&none, sizeof none, count);
    auto found = bench.buffers(50 * sizeof(Blob));
    const BlobsPlan blobs(device, {octave_spec.planes, 5, 50});
    bench.check("blobs", [&](std::size_t i) {
      blobs.measure(bench.stream(), octaves[i], deviations[i]);
      blobs.execute(bench.stream(), octaves[i], deviations[i], 0, counts[i], found[i]);
    });
    const std::array<Keypoint, 2> list{{{0, 1, 30, 20, 1.6F, 0.3F}, {1, 2, 20.5F, 15.25F, 2, 1}}};
    auto places = bench.buffers(sizeof list);
    for (Buffer& copy : places) bench.stream().upload(list.data(), sizeof list, copy);
    auto radians = bench.buffers(2 * DescriptorsPlan::max_orientations * sizeof(float));
    auto rows = bench.buffers(2 * DescriptorsPlan::dimensions * sizeof(float));
    const DescriptorsPlan describe(device, {octave_spec.planes});
    bench.check("descriptors", [&](std::size_t i) {
      describe.find_orientations(bench.stream(), octaves[i], places[i], {0, 2}, radians[i]);
      describe.describe(bench.stream(), octaves[i], places[i], {0, 2}, rows[i]);
    });
    auto nearest = bench.buffers(2 * sizeof(NearestFeature));
    const FeatureMatchesPlan match(device, {2, 2});
    bench.check("feature_matches", [&](std::size_t i) {
      match.execute(bench.stream(), {rows[i], 2}, {rows[1 - i], 2}, radians[i], 2, nearest[i]);
    });
  });
}

TEST_CASE("allocations: free-form deformations") {
  on_every_bench([](Bench& bench) {
    for (const Shape& shape : {plane, volume}) {
      const bool flat = shape.depth == 1;
      const auto controls = [](std::int64_t side) { return (side + 3) / 5 + 3; };
      DeformationGridSpec spec;
      spec.voxels = spec.moving = shape;
      spec.grid = {controls(shape.width), controls(shape.height), flat ? 1 : controls(shape.depth)};
      const int axes = spec.dimensions();
      const DeformationGridPlan grid(bench.device(), spec);
      auto coefficients = bench.images(PixelType::f32, spec.grids(axes));
      auto field = bench.images(PixelType::f32, spec.volumes(axes));
      auto sums = bench.images(PixelType::f32, spec.grids(axes));
      auto next = bench.images(PixelType::f32, spec.grids(axes));
      auto inverse = bench.images(PixelType::f32, spec.grids(spec.entries()));
      auto samples = bench.images(PixelType::f32, spec.volumes(2));
      auto statistics = bench.images(PixelType::f32, spec.volumes(2));
      auto images = bench.images(PixelType::f32, shape);
      auto determinants = bench.images(PixelType::f32, shape);
      auto pose = bench.images(PixelType::f32, {15, 1, 1});
      bench.check("deformation_grid, field", [&](std::size_t i) {
        grid.execute_field(bench.stream(), coefficients[i], field[i]);
      });
      bench.check("deformation_grid, warp", [&](std::size_t i) {
        grid.execute_warp(bench.stream(), coefficients[i], images[i], pose[i], samples[i]);
      });
      bench.check("deformation_grid, sums", [&](std::size_t i) {
        grid.execute_sums(bench.stream(), axes, field[i], sums[i]);
      });
      bench.check("deformation_grid, determinants", [&](std::size_t i) {
        grid.execute_determinants(bench.stream(), coefficients[i], determinants[i]);
      });
      auto extremes = bench.images(PixelType::f32, spec.extremes());
      auto marks = bench.images(PixelType::f32, spec.grid);
      bench.check("deformation_grid, extremes and marks", [&](std::size_t i) {
        grid.execute_extremes(bench.stream(), determinants[i], 0.3F, 3, extremes[i]);
        grid.execute_marks(bench.stream(), determinants[i], 0.2F, marks[i]);
      });
      const LocalCorrelationPlan correlation(bench.device(), {shape});
      const NoiseSampling sampling(shape);
      auto noise = bench.images(PixelType::f32, sampling.samples());
      bench.check("local_correlation, noise samples", [&](std::size_t i) {
        correlation.execute_noise_samples(bench.stream(), images[i], sampling, noise[i]);
      });
      bench.check("local_correlation, statistics", [&](std::size_t i) {
        correlation.execute_statistics(bench.stream(), images[i], 0.1F, statistics[i]);
      });
      bench.check("local_correlation, forces", [&](std::size_t i) {
        correlation.execute_forces(bench.stream(), images[i], statistics[i], samples[i], 0.1F,
                                   field[i]);
        static_cast<void>(correlation.sum(bench.stream()));
      });
      const DeformationStepPlan step(bench.device(), {spec.grid});
      bench.check("deformation_step", [&](std::size_t i) {
        step.execute(bench.stream(), sums[i], inverse[i], {}, coefficients[i], next[i],
                     next[1 - i]);
      });
    }
  });
}
