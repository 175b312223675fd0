// The programs that a registration needs, in pieces that can be compiled ahead.
//
// Plans are made here for images of ordinary sizes, in the order in which a registration needs
// them. A program rarely depends on the sizes; where it does, it is compiled when it is first used.
#include "registration/announce.hpp"

#include "device/access.hpp"
#include "device/check.hpp"
#include "registration/fitting/resident_fits.hpp"
#include "registration/fitting/similarity_fit.hpp"
#include "stages/results.hpp"

#include <warpalign/backend/stages/filter/common_frames.hpp>
#include <warpalign/backend/stages/filter/cut_windows.hpp>
#include <warpalign/backend/stages/filter/impulse_filter.hpp>
#include <warpalign/backend/stages/filter/local_normalization.hpp>
#include <warpalign/backend/stages/filter/smooth.hpp>
#include <warpalign/backend/stages/refinement/fit_step.hpp>
#include <warpalign/backend/stages/refinement/illumination.hpp>
#include <warpalign/backend/stages/refinement/similarity_sums.hpp>
#include <warpalign/backend/stages/spectrum/cross_power.hpp>
#include <warpalign/backend/stages/spectrum/log_polar_spectra.hpp>
#include <warpalign/backend/stages/spectrum/overlap_correlation.hpp>
#include <warpalign/backend/stages/spectrum/overlap_counts.hpp>
#include <warpalign/backend/stages/spectrum/peak.hpp>
#include <warpalign/backend/stages/spline/warp.hpp>
#include <warpalign/backend/stages/volume/spectrum_sums.hpp>
#include <warpalign/compilation.hpp>
#include <warpalign/stages/fft.hpp>
#include <warpalign/stages/prefilter.hpp>

#include <array>
#include <vector>

namespace warpalign::detail {

namespace {

constexpr Shape full_size{512, 512, 1};
constexpr Shape level{128, 128, 1};

/// Makes plans and, if `runs`, runs each once on blank images, because some drivers only compile a
/// kernel when it is launched.
class Trial {
 public:
  Trial(const Device& device, bool runs) : device_(device) {
    if (runs) stream_.emplace(device.make_stream());
  }

  [[nodiscard]] const Device& device() const { return device_; }

  template <class Work>
  void run(const Work& work) {
    if (!stream_) return;
    work(*stream_);
    stream_->finish();
  }

  [[nodiscard]] Image blank(const Shape& shape, PixelType type = PixelType::f32) {
    Image image = device_.make_image(type, shape);
    const std::vector<char> zeros(image.buffer().size_bytes());
    stream_->upload(zeros.data(), zeros.size(), image.buffer());
    return image;
  }
  [[nodiscard]] Image blank_spectrum(const Shape& shape) {
    return blank(RealFftPlan::half_spectrum(shape), PixelType::c32);
  }
  [[nodiscard]] Buffer blank_records(std::size_t bytes) { return device_.make_buffer(bytes); }

 private:
  Device device_;
  std::optional<Stream> stream_;
};

struct Needs {
  RegistrationOptions options;
  PixelType type = PixelType::f32;
  bool masked = false;
};
using Piece = void (*)(Trial&, const Needs&);

/// The weights of a pair of levels, where they have any.
struct Weights {
  Weights(Trial& trial, const Needs& needs) {
    if (needs.masked) image.emplace(trial.blank(level));
  }
  [[nodiscard]] const Image* get() const { return image ? &*image : nullptr; }
  std::optional<Image> image;
};

void transform(Trial& trial, const RealFftSpec& spec) {
  const RealFftPlan plan(trial.device(), spec);
  trial.run([&](Stream& stream) {
    Image image = trial.blank(spec.shape);
    Image spectrum = trial.blank_spectrum(spec.shape);
    if (spec.goes_forward()) plan.forward(stream, image, spectrum);
    if (spec.goes_back()) plan.inverse(stream, spectrum, image);
  });
}

void forward_of_levels(Trial& trial, const Needs&) {
  transform(trial, {level, 2, FftDirections::forward});
}

void inverse_of_levels(Trial& trial, const Needs&) {
  transform(trial, {level, 2, FftDirections::inverse});
}

void log_polar_spectra(Trial& trial, const Needs& needs) {
  const LogPolarSpectraPlan log_polar(trial.device(),
                                      {level, level, 1, needs.options.spectrum_exponent});
  const CrossPowerPlan power(trial.device(), {level, needs.options.log_polar_sigma, false});
  trial.run([&](Stream& stream) {
    Image spectrum = trial.blank_spectrum(level);
    const Image other = trial.blank_spectrum(level);
    Image grid = trial.blank(level);
    log_polar.execute(stream, other, grid);
    power.execute(stream, other, other, spectrum);
  });
}

void transforms_of_images(Trial& trial, const Needs&) {
  transform(trial, {full_size, 2, FftDirections::forward});
}

void transforms_of_two(Trial& trial, const Needs&) {
  transform(trial, {{full_size.width, full_size.height, 2}, 2, FftDirections::inverse});
}

// Processors take none.
void overlap_of_outlines(Trial& trial) {
  if (trial.device().info().kind == DeviceKind::cpu) return;
  const OverlapPeaksPlan peaks(trial.device(), {full_size, 1, false, true});
  trial.run([&](Stream& stream) {
    Buffer records = trial.blank_records(2 * sizeof(PeakRecord));
    constexpr OverlapOutline outline{256, 256, 256, 0, 0, 256};
    constexpr OverlapLimits limits;
    peaks.execute_outlines(stream, trial.blank({full_size.width, full_size.height, 2}),
                           {&outline, 1}, {&limits, 1}, records);
  });
}

void overlap(Trial& trial, const Needs&) {
  constexpr Shape two{full_size.width, full_size.height, 2};
  const OverlapProductsPlan products(trial.device(), {full_size});
  const OverlapCountsPlan counts(trial.device(), {full_size});
  const OverlapPeaksPlan peaks(trial.device(), {full_size});
  trial.run([&](Stream& stream) {
    const Image spectrum = trial.blank_spectrum(full_size);
    Image product = trial.blank_spectrum(two);
    Image overlaps = trial.blank(two);
    Buffer records = trial.blank_records(2 * sizeof(PeakRecord));
    products.execute(stream, spectrum, spectrum, product);
    counts.execute(stream, trial.blank(full_size), full_size, overlaps);
    peaks.execute(stream, trial.blank(two), overlaps, {}, records);
  });
  overlap_of_outlines(trial);
}

void coarse_levels(Trial& trial, const Needs& needs) {
  const SmoothPlan smooth(trial.device(), {.input = needs.type,
                                           .shape = full_size,
                                           .output = level,
                                           .origin = {},
                                           .spacing = 4,
                                           .sigma = 2,
                                           .masked = needs.masked});
  trial.run([&](Stream& stream) {
    Image output = trial.blank(level);
    const Image input = trial.blank(full_size, needs.type);
    if (!needs.masked) return smooth.execute(stream, input, output);
    Image weight = trial.blank(level);
    smooth.execute(stream, input, trial.blank(full_size, PixelType::u8), output, weight);
  });
}

void impulses(Trial& trial, const Needs& needs) {
  const ImpulseFilterPlan impulse_filter(trial.device(), {needs.type, full_size});
  trial.run([&](Stream& stream) {
    static_cast<void>(
        impulse_filter.impulse_statistics(stream, trial.blank(full_size, needs.type)));
  });
}

void windows(Trial& trial, const Needs& needs) {
  const Signal signal =
      needs.options.spectrum == SpectrumOf::gradient ? Signal::gradient : Signal::pixels;
  const CutWindowsPlan cut(
      trial.device(), {level, 1, {WindowOrigin{}}, level, level, needs.options.window, signal});
  trial.run([&](Stream& stream) {
    const Image image = trial.blank(level);
    Image output = trial.blank(level);
    Buffer mean = trial.blank_records(sizeof(float));
    cut.execute(stream, image, mean, output);
  });
}

void normalized_levels(Trial& trial, const Needs& needs) {
  const LocalNormalizationPlan normalization(trial.device(),
                                             {.shape = level, .masked = needs.masked});
  trial.run([&](Stream& stream) {
    Image output = trial.blank(level);
    const Image input = trial.blank(level);
    if (!needs.masked) return normalization.execute(stream, input, 0, 1, output);
    normalization.execute(stream, input, trial.blank(level), 0, 1, output);
  });
}

void warps(Trial& trial, const Needs&) {
  const WarpPlan of_pixels(trial.device(), {level, full_size});
  const WarpPlan of_weights(trial.device(), {.input = level, .output = full_size, .of_ones = true});
  trial.run([&](Stream& stream) {
    Image output = trial.blank(full_size);
    of_pixels.execute(stream, trial.blank(level), Affine{}, output);
    of_weights.execute(stream, trial.blank(level), Affine{}, output);
  });
}

void coefficients(Trial& trial, const Needs&) {
  const PrefilterPlan prefilter(trial.device(), {.images = {.shape = full_size}});
  trial.run([&](Stream& stream) {
    Image output = trial.blank(full_size);
    prefilter.execute(stream, trial.blank(full_size), output);
  });
}

void coarse_fit(Trial& trial, const Needs& needs) {
  const SimilaritySumsPlan sums(trial.device(), {level, level, 0, 1, needs.masked});
  trial.run([&](Stream& stream) {
    const Image image = trial.blank(level);
    const Weights weights(trial, needs);
    static_cast<void>(sums.execute(stream, {image, image, weights.get(), weights.get()}, {}));
  });
}

// Fits that stay on the device, where it is one for them.
void resident_fit(Trial& trial, const Needs& needs, bool projective) {
  if (!prefers_resident_fits(trial.device())) return;
  SimilaritySumsSpec spec{level, level, 0, 1, needs.masked};
  spec.projective = projective;
  spec.resident = true;
  const SimilaritySumsPlan sums(trial.device(), spec);
  const FitStepPlan steps(trial.device(), {projective, 1});
  trial.run([&](Stream& stream) {
    const Image image = trial.blank(level);
    const Weights weights(trial, needs);
    FitRecord fit;
    fit.groups = static_cast<std::int32_t>(sums.groups());
    Results<float> partials(trial.device(), sums.partial_count());
    steps.begin(stream, {&fit, 1});
    sums.enqueue_resident(stream, {image, image, weights.get(), weights.get()}, steps.states(), 0,
                          1, partials, 0);
  });
}

void resident_coarse_fit(Trial& trial, const Needs& needs) { resident_fit(trial, needs, false); }

void local_illumination(Trial& trial, const Needs& needs) {
  const IlluminationPlan illumination(
      trial.device(),
      {level, level, 0, 1, needs.masked, min_illumination_cell, 1.5 * min_illumination_cell});
  trial.run([&](Stream& stream) {
    const Image image = trial.blank(level);
    Image field =
        trial.blank(IlluminationPlan::field_shape(level, min_illumination_cell), PixelType::c32);
    const Weights weights(trial, needs);
    illumination.execute(stream, {image, image, weights.get(), weights.get()}, {}, {1, 0, 0, 1},
                         field);
  });
}

void refinement(Trial& trial, const Needs& needs) {
  const SimilaritySumsPlan sums(trial.device(),
                                {level, level, 0, 1, needs.masked, min_illumination_cell});
  trial.run([&](Stream& stream) {
    const Image image = trial.blank(level);
    const Image field =
        trial.blank(IlluminationPlan::field_shape(level, min_illumination_cell), PixelType::c32);
    const Weights weights(trial, needs);
    static_cast<void>(
        sums.execute(stream, {image, image, weights.get(), weights.get(), &field}, {}));
  });
}

void chance(Trial& trial, const Needs&) {
  const CommonFramesPlan frames(trial.device(), {full_size});
  const SpectrumSumsPlan sums(trial.device(), {full_size});
  trial.run([&](Stream& stream) {
    const Image image = trial.blank(level);
    const std::array<const Image*, 1> channel{&image};
    Image reference = trial.blank(full_size);
    Image moving = trial.blank(full_size);
    frames.enqueue(stream, {channel, channel, nullptr, image}, {level}, 0, reference, moving);
    const Image spectrum = trial.blank_spectrum(full_size);
    sums.enqueue(stream, spectrum, spectrum, 0);
  });
}

// What six or eight parameters need beside these. It is not among the pieces that are compiled for
// every registration.
void richer_models(Trial& trial, const Needs&) {
  const SimilaritySumsPlan coarse(trial.device(), {level, level, 0, 1, false, 0, true});
  resident_fit(trial, {}, true);
  const IlluminationPlan illumination(
      trial.device(),
      {level, level, 0, 1, false, min_illumination_cell, 1.5 * min_illumination_cell, true});
  const SimilaritySumsPlan fine(trial.device(),
                                {level, level, 0, 1, false, min_illumination_cell, true});
}

// In the order in which they are needed.
constexpr std::array<Piece, 3> pieces_of_search{forward_of_levels, inverse_of_levels,
                                                log_polar_spectra};
constexpr std::array<Piece, 2> pieces_of_correlation{transforms_of_images, transforms_of_two};
constexpr std::array<Piece, 2> pieces_of_images{impulses, coarse_levels};
constexpr std::array<Piece, 10> pieces_of_fit{
    overlap,      windows,    normalized_levels,   warps,
    coefficients, coarse_fit, resident_coarse_fit, local_illumination,
    refinement,   chance};

// What is needed in addition where a mask says which pixels count.
constexpr std::array<Piece, 6> pieces_with_masks{coarse_levels,      normalized_levels,
                                                 coarse_fit,         resident_coarse_fit,
                                                 local_illumination, refinement};

// The same pieces for processes that help, which begin with the last one. The process that they
// help begins with its search, and compiles the transforms first.
//
// On a GPU each size of a transform has programs of its own. The order gives five processes that
// take pieces in turn about as much work each, the most of it first.
constexpr std::array<Piece, 17> pieces_for_gpu_helpers{forward_of_levels,
                                                       inverse_of_levels,
                                                       log_polar_spectra,
                                                       windows,
                                                       normalized_levels,
                                                       warps,
                                                       coarse_levels,
                                                       coarse_fit,
                                                       resident_coarse_fit,
                                                       local_illumination,
                                                       impulses,
                                                       overlap,
                                                       chance,
                                                       coefficients,
                                                       refinement,
                                                       transforms_of_images,
                                                       transforms_of_two};
// On a processor one program has the transforms of all sizes. So the order is the reverse of that
// in which a registration needs the programs; most do without the chance test.
constexpr std::array<Piece, 17> pieces_for_cpu_helpers{transforms_of_two,
                                                       transforms_of_images,
                                                       inverse_of_levels,
                                                       forward_of_levels,
                                                       chance,
                                                       resident_coarse_fit,
                                                       impulses,
                                                       coarse_levels,
                                                       windows,
                                                       log_polar_spectra,
                                                       normalized_levels,
                                                       warps,
                                                       overlap,
                                                       coefficients,
                                                       coarse_fit,
                                                       local_illumination,
                                                       refinement};
static_assert(pieces_for_gpu_helpers.size() == pieces_of_search.size() +
                                                   pieces_of_correlation.size() +
                                                   pieces_of_images.size() + pieces_of_fit.size());

struct CompilablePiece {
  Piece make;
  bool masked;
};

constexpr std::size_t all_piece_count = pieces_with_masks.size() + pieces_for_gpu_helpers.size();

// Few pairs have masks.
std::vector<CompilablePiece> all_pieces(const Device& device) {
  std::vector<CompilablePiece> all;
  const auto add = [&](const auto& pieces, bool masked) {
    for (const Piece piece : pieces) all.push_back({piece, masked});
  };
  add(pieces_with_masks, true);
  const bool is_cpu = device.info().kind == DeviceKind::cpu;
  add(is_cpu ? pieces_for_cpu_helpers : pieces_for_gpu_helpers, false);
  return all;
}

}  // namespace

void announce_similarity(const Device& device, const RegistrationOptions& options) {
  const bool gradients = options.spectrum == SpectrumOf::gradient;
  Access::announce(device, gradients ? "similarity by gradients" : "similarity", [&] {
    Trial trial(device, false);
    for (const Piece piece : pieces_of_search) piece(trial, {options});
    for (const Piece piece : pieces_of_correlation) piece(trial, {options});
    for (const Piece piece : pieces_of_fit) piece(trial, {options});
  });
  if (options.motion != Motion::affine && options.motion != Motion::homography &&
      options.motion != Motion::automatic) {
    return;
  }
  Access::announce(device, "richer models", [&] {
    Trial trial(device, false);
    richer_models(trial, {options});
  });
}

void announce_images(const Device& device, PixelType type) {
  Access::announce(device, "images " + std::to_string(static_cast<int>(type)), [&] {
    Trial trial(device, false);
    for (const Piece piece : pieces_of_images) piece(trial, {{}, type});
  });
}

void announce_masks(const Device& device, PixelType type) {
  Access::announce(device, "masks " + std::to_string(static_cast<int>(type)), [&] {
    Trial trial(device, false);
    for (const Piece piece : pieces_with_masks) piece(trial, {{}, type, true});
  });
}

}  // namespace warpalign::detail

namespace warpalign {

std::size_t registration_pieces() { return detail::all_piece_count; }

void compile_registration_piece(const Device& device, std::size_t piece, PixelType type) {
  if (piece >= registration_pieces()) {
    detail::refuse("compile", "piece " + std::to_string(piece) + " does not exist");
  }
  detail::check_grey("compile", "an image to be registered", type);
  detail::Trial trial(device, true);
  const auto [make, masked] = detail::all_pieces(device)[piece];
  make(trial, {{}, type, masked});
}

void keep_compiled(const Device& device) { detail::Access::driver(device).keep_compiled(); }

}  // namespace warpalign
