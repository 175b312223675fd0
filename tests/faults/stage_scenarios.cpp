// Copies, and the public stages.
#include "faults/bench.hpp"
#include "faults/scenarios.hpp"

#include <array>
#include <utility>

namespace faults {

namespace {

using namespace warpalign;

constexpr Shape plane{48, 40, 1};
constexpr Shape volume{16, 12, 10};
const Affine matrix{0.97, -0.1, 3, 0.12, 0.96, 2};

/// A scenario of one plan with an input and an output: `run(bench, plan, input, output)` executes
/// it.
template <class Plan, class Spec, class Run>
Scenario filter(const std::string& name, const Spec& spec, std::pair<PixelType, Shape> input,
                std::pair<PixelType, Shape> output, Run run) {
  struct Objects {
    Bench bench;
    Plan plan;
    Image input, output;
  };
  const auto make = [=](const Device& device) -> Work {
    Bench bench(device);
    Plan plan(device, spec);
    Image in = bench.random(input.first, input.second);
    Image out = bench.empty(output.first, output.second);
    auto objects = std::make_shared<Objects>(
        Objects{std::move(bench), std::move(plan), std::move(in), std::move(out)});
    return [objects, run] {
      run(objects->bench, objects->plan, objects->input, objects->output);
      return objects->bench.bytes_of(objects->output);
    };
  };
  return {name, make};
}

/// For plans whose execute() takes a stream, an input and an output.
constexpr auto plainly = [](Bench& bench, auto& plan, const Image& input, Image& output) {
  plan.execute(bench.stream(), input, output);
};
constexpr auto by_a_matrix = [](Bench& bench, auto& plan, const Image& input, Image& output) {
  plan.execute(bench.stream(), input, HomogeneousMatrix(matrix), output);
};

Scenario copies() {
  return {"copies", [](const Device& device) -> Work {
            auto bench = std::make_shared<Bench>(device);
            return [bench] {
              const Image image = bench->random(PixelType::u8, plane);
              Image other = bench->empty(PixelType::u8, plane);
              bench->stream().copy(image.buffer(), other.buffer());
              bench->stream().finish();
              return bench->bytes_of(other);
            };
          }};
}

Scenario prefilter(PrefilterMethod method, PixelType type, int dimensions) {
  const Shape shape = dimensions == 3 ? volume : plane;
  PrefilterSpec spec{.images = {.shape = shape, .dimensions = dimensions}, .input = type};
  spec.spline.prefilter = method;
  return filter<PrefilterPlan>("prefilter " + std::to_string(static_cast<int>(method)) + " of " +
                                   name_of(type) + ", " + std::to_string(dimensions) + "-D",
                               spec, {type, shape},
                               {PixelType::f32, PrefilterPlan::coefficient_shape(spec)}, plainly);
}

InterpolateSpec interpolation(int degree, Precision precision, PixelType output) {
  InterpolateSpec spec;
  spec.images.shape = spec.output = plane;
  spec.spline.degree = degree;
  spec.spline.precision = precision;
  spec.output_type = output;
  return spec;
}

Scenario interpolate_by_a_matrix(int degree, Precision precision, PixelType output) {
  return filter<InterpolatePlan>("interpolate, degree " + std::to_string(degree) + " to " +
                                     name_of(output) +
                                     (precision == Precision::full ? "" : ", by textures"),
                                 interpolation(degree, precision, output), {PixelType::f32, plane},
                                 {output, plane}, by_a_matrix);
}

Scenario interpolate_with_gradient() {
  const InterpolateSpec spec = interpolation(3, Precision::full, PixelType::f32);
  return filter<InterpolatePlan>(
      "interpolate with gradient", spec, {PixelType::f32, plane}, {PixelType::f32, plane},
      [spec](Bench& bench, auto& plan, const Image& input, Image& output) {
        Image gradient = bench.empty(PixelType::f32, InterpolatePlan::gradient_shape(spec));
        plan.execute_with_gradient(bench.stream(), input, HomogeneousMatrix(matrix), output,
                                   gradient);
      });
}

Scenario interpolate_by_a_field() {
  const InterpolateSpec spec = interpolation(3, Precision::full, PixelType::f32);
  return filter<InterpolatePlan>(
      "interpolate by a field", spec, {PixelType::f32, plane}, {PixelType::f32, plane},
      [spec](Bench& bench, auto& plan, const Image& input, Image& output) {
        const Image field = bench.random(PixelType::f32, InterpolatePlan::coordinates_shape(spec));
        plan.execute(bench.stream(), input, field, output);
      });
}

/// Splines in double precision by a field, with their prefilter. Nothing without double precision.
Scenario double_spline() {
  const DoubleSplineSpec spec{
      .degree = 3, .images = {.shape = plane, .dimensions = 2}, .output = plane};
  const Scenario scenario = filter<DoubleSplinePlan>(
      "double spline by a field", spec, {PixelType::f64, plane}, {PixelType::f64, plane},
      [](Bench& bench, auto& plan, const Image& input, Image& output) {
        const Image field =
            bench.random(PixelType::f64, {plane.width, plane.height, 2 * plane.depth});
        Image coefficients = bench.empty(PixelType::f64, plane);
        plan.prefilter(bench.stream(), input, coefficients);
        plan.execute(bench.stream(), input, field, 0, output);
      });
  return {scenario.name, [scenario](const Device& device) -> Work {
            if (device.info().double_precision) return scenario.make(device);
            return [] { return Bytes(); };
          }};
}

/// A chain with a field and the inverse of one, on a grid. Nothing without double precision.
Scenario device_transform() {
  return {
      "a transform on the device", [](const Device& device) -> Work {
        if (!device.info().double_precision) return [] { return Bytes(); };
        const std::vector<float> across(static_cast<std::size_t>(plane.pixels()), 1.5F);
        const std::array<const float*, 2> components{across.data(), across.data()};
        const Transform field = Transform::displacement(PointGrid{.shape = plane}, components);
        struct Objects {
          Bench bench;
          DeviceTransform transform;
          Image positions;
        };
        Bench bench(device);
        DeviceTransform transform(device, field.inverse() * Transform::affine(matrix) * field);
        Image positions = bench.empty(PixelType::f64, {plane.width, plane.height, 2 * plane.depth});
        auto objects = std::make_shared<Objects>(
            Objects{std::move(bench), std::move(transform), std::move(positions)});
        return [objects] {
          objects->transform.field(objects->bench.stream(), PointGrid{.shape = plane},
                                   objects->positions);
          return objects->bench.bytes_of(objects->positions);
        };
      }};
}

/// A warp by a chain of `fields` displacement fields: GPUs sample a single one in the kernel that
/// evaluates the spline. Nothing without double precision.
Scenario warp_by_fields(int fields) {
  const std::string name = "a warp by displacement fields: " + std::to_string(fields);
  return {name, [fields](const Device& device) -> Work {
            if (!device.info().double_precision) return [] { return Bytes(); };
            const std::vector<float> across(static_cast<std::size_t>(plane.pixels()), 1.5F);
            const std::array<const float*, 2> components{across.data(), across.data()};
            const Transform field = Transform::displacement(PointGrid{.shape = plane}, components);
            ResampleSpec spec;
            spec.images.shape = spec.output = plane;
            const Scenario warp = filter<TransformWarpPlan>(
                "", spec, {PixelType::f32, plane}, {PixelType::f32, plane},
                [transform = DeviceTransform(device, fields > 1 ? field * field : field)](
                    Bench& bench, auto& plan, const Image& input, Image& output) {
                  plan.execute(bench.stream(), input, transform, output);
                });
            return warp.make(device);
          }};
}

Scenario resample(PixelType type, int degree, std::int64_t batch) {
  ResampleSpec spec;
  spec.images.shape = spec.output = plane;
  spec.spline.degree = degree;
  spec.input = spec.output_type = type;
  if (degree < 2) spec.spline.prefilter.reset();
  spec.images.count = batch;
  const Shape all = stacked(plane, 2, batch);
  return filter<ResamplePlan>(std::string("resample ") + name_of(type) + ", degree " +
                                  std::to_string(degree) + ", batch " + std::to_string(batch),
                              spec, {type, all}, {type, all},
                              [batch](Bench& bench, auto& plan, const Image& input, Image& output) {
                                const std::vector<HomogeneousMatrix> each(
                                    static_cast<std::size_t>(batch), HomogeneousMatrix(matrix));
                                plan.execute(bench.stream(), input, each, output);
                              });
}

Scenario zoom(Antialias antialias) {
  const Shape smaller{plane.width / 3, plane.height / 4, 1};
  const ZoomSpec spec{.images = {.shape = plane},
                      .output = smaller,
                      .antialias = antialias,
                      .input = PixelType::u16,
                      .output_type = PixelType::i16};
  return filter<ZoomPlan>(std::string("zoom, ") + name_of(antialias), spec, {PixelType::u16, plane},
                          {PixelType::i16, smaller}, plainly);
}

/// Samples that are missing at regular places, and a hole of more layers than are smoothed.
Scenario filled_holes() {
  struct Objects {
    Bench bench;
    FillMissingPlan fill;
    MarkMissingPlan mark;
    Image values, known;
  };
  static constexpr Shape shape{96, 80, 1};
  const auto run = [](Objects& objects) {
    auto& [bench, fill, mark, values, known] = objects;
    std::vector<std::uint8_t> mask(known.size_bytes(), 1);
    for (std::size_t i = 0; i < mask.size(); ++i) {
      const std::size_t x = i % 96;
      mask[i] = (x > 20 && x < 70) || i % 37 == 0 ? 0 : 1;
    }
    bench.stream().upload(mask.data(), mask.size(), known.buffer());
    Image filled = bench.empty(PixelType::f32, shape);
    bench.stream().copy(values.buffer(), filled.buffer());
    fill.fill(bench.stream(), filled.buffer(), known.buffer());
    Image shares = bench.empty(PixelType::f32, shape);
    bench.stream().copy(values.buffer(), shares.buffer());
    mark.execute(bench.stream(), {.missing = -1}, shares.buffer(), filled.buffer());
    Bytes all = bench.bytes_of(filled);
    fill.find(bench.stream(), values.buffer(), -1.0F, known.buffer());
    const Bytes found = bench.bytes_of(known);
    all.insert(all.end(), found.begin(), found.end());
    return all;
  };
  return {"filled holes", [run](const Device& device) -> Work {
            Bench bench(device);
            Image values = bench.random(PixelType::f32, shape);
            Image known = bench.empty(PixelType::u8, shape);
            auto objects = std::make_shared<Objects>(Objects{
                std::move(bench), FillMissingPlan(device, {shape, 1}),
                MarkMissingPlan(device, shape.pixels()), std::move(values), std::move(known)});
            return [objects, run] { return run(*objects); };
          }};
}

Scenario transform(const Shape& shape, int dimensions) {
  const RealFftSpec spec{.shape = shape, .dimensions = dimensions};
  return filter<RealFftPlan>("fft, " + std::to_string(dimensions) + "-D", spec,
                             {PixelType::f32, shape}, {PixelType::f32, shape},
                             [shape](Bench& bench, auto& plan, const Image& input, Image& output) {
                               Image spectrum =
                                   bench.empty(PixelType::c32, RealFftPlan::half_spectrum(shape));
                               plan.forward(bench.stream(), input, spectrum);
                               plan.inverse(bench.stream(), spectrum, output);
                             });
}

Scenario magnitude() {
  const Shape half = RealFftPlan::half_spectrum(plane);
  return filter<MagnitudePlan>("magnitude", MagnitudeSpec{plane, 0.5F}, {PixelType::c32, half},
                               {PixelType::f32, half}, plainly);
}

Scenario log_polar() {
  return filter<LogPolarPlan>("log-polar", LogPolarSpec{plane, plane},
                              {PixelType::f32, RealFftPlan::half_spectrum(plane)},
                              {PixelType::f32, plane}, plainly);
}

Scenario phase_correlation() {
  return filter<PhaseCorrelationPlan>(
      "phase correlation", PhaseCorrelationSpec{plane}, {PixelType::f32, plane},
      {PixelType::f32, plane}, [](Bench& bench, auto& plan, const Image& input, Image& output) {
        plan.execute(bench.stream(), input, input, output);
        static_cast<void>(plan.find_peak());
      });
}

/// Resamples an image in tiles, with a matrix and at points. With less memory it uses smaller
/// tiles. All coordinates are multiples of a quarter, for which the arithmetic of degree 1 is
/// exact, so that tiles of any size give the same bits.
Scenario tiles(const std::string& name, const Shape& shape, std::size_t max_bytes) {
  return {"tiles, " + name, [shape, max_bytes](const Device& device) -> Work {
            const std::vector<std::uint8_t> image = [&] {
              std::vector<std::uint8_t> pixels(static_cast<std::size_t>(shape.pixels()));
              for (std::size_t i = 0; i < pixels.size(); ++i) {
                pixels[i] = static_cast<std::uint8_t>(i * i % 251);
              }
              return pixels;
            }();
            return [device, image, shape, max_bytes] {
              ResampleSpec spec;
              spec.images.shape = spec.output = shape;
              spec.spline.degree = 1;
              spec.input = spec.output_type = PixelType::u8;
              spec.spline.prefilter.reset();
              TiledResampler resampler(device, spec, max_bytes);
              Bytes output(2 * image.size());
              resampler.execute(image.data(), Affine::translation(1.25, -0.75), output.data());
              std::vector<float> points(2 * image.size());
              const auto width = static_cast<std::size_t>(shape.width);
              for (std::size_t i = 0; i < image.size(); ++i) {
                points[i] = 0.25F * static_cast<float>(i % width) + 3;
                points[image.size() + i] = 0.5F * static_cast<float>(i / width) + 1.25F;
              }
              resampler.execute(image.data(), points, output.data() + image.size());
              return output;
            };
          }};
}

/// Memory, a queue and an event of the caller, for which the device's own handles are used.
Scenario memory_of_the_caller() {
  struct Objects {
    Bench bench;
    Image own_input, own_output, input, output;
    SobelPlan plan;
    Stream stream;  // destroyed before the images, which then wait for its work
  };
  return {"memory and queue of the caller", [](const Device& device) -> Work {
            const std::string backend = device.info().backend;
            Bench bench(device);
            Image own_input = bench.random(PixelType::u8, plane);
            Image own_output = bench.empty(PixelType::f32, plane);
            const auto wrapped = [&](const Image& own) {
              interop::UnownedMemory memory;
              memory.handle = interop::handle_of(own.buffer(), backend);
              memory.owner = std::make_shared<int>();
              return interop::wrap_image(device, backend, memory, own.type(), own.shape());
            };
            Image input = wrapped(own_input);
            Image output = wrapped(own_output);
            SobelPlan plan(device, SobelSpec{PixelType::u8, plane});
            Stream stream =
                interop::wrap_stream(device, backend, interop::handle_of(bench.stream(), backend));
            auto objects = std::make_shared<Objects>(
                Objects{std::move(bench), std::move(own_input), std::move(own_output),
                        std::move(input), std::move(output), std::move(plan), std::move(stream)});
            return [objects] {
              objects->plan.execute(objects->stream, objects->input, objects->output);
              Event done(objects->bench.device());
              done.record(objects->stream);
              done.wait(objects->bench.stream());
              Bytes bytes = objects->bench.bytes_of(objects->own_output);
              done.finish();
              return bytes;
            };
          }};
}

}  // namespace

std::vector<Scenario> stage_scenarios() {
  using Method = PrefilterMethod;
  return {
      copies(),
      filter<SobelPlan>("sobel", SobelSpec{PixelType::u8, plane}, {PixelType::u8, plane},
                        {PixelType::f32, plane}, plainly),
      filter<ConvertPlan>("convert", ConvertSpec{plane, PixelType::f32, PixelType::i16},
                          {PixelType::f32, plane}, {PixelType::i16, plane}, plainly),
      prefilter(Method::exact, PixelType::f32, 2),
      prefilter(Method::exact, PixelType::i16, 2),
      prefilter(Method::fir, PixelType::f32, 2),
      prefilter(Method::iir_line, PixelType::f32, 2),
      prefilter(Method::exact, PixelType::f32, 3),
      interpolate_by_a_matrix(3, Precision::full, PixelType::f32),
      interpolate_by_a_matrix(1, Precision::full, PixelType::i16),
      interpolate_by_a_matrix(3, Precision::texture, PixelType::f32),
      interpolate_with_gradient(),
      interpolate_by_a_field(),
      double_spline(),
      device_transform(),
      warp_by_fields(1),
      warp_by_fields(2),
      resample(PixelType::f32, 3, 1),
      resample(PixelType::i16, 3, 1),
      resample(PixelType::u8, 1, 3),
      zoom(Antialias::gaussian),
      zoom(Antialias::least_squares),
      filled_holes(),
      transform(plane, 2),
      transform(volume, 3),
      magnitude(),
      log_polar(),
      phase_correlation(),
      tiles("as small as they can be", plane, std::size_t{1} << 14U),
      tiles("that can be smaller", plane, std::size_t{1} << 15U),
      tiles("in lanes", {160, 160, 1}, std::size_t{1} << 16U),
      memory_of_the_caller(),
  };
}

}  // namespace faults
