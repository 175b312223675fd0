// Compiles the programs that a registration needs before their use, in pieces.
//
// The pieces make plans for images of typical sizes, in the order in which a registration needs
// them. Few programs depend on the sizes; those are compiled for other sizes on first use.
#include "registration/warm_up.hpp"

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
#include <warpalign/backend/stages/spectrum/shift_maxima.hpp>
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

/// Makes plans and, if `runs`, runs each once on blank images, because some drivers compile a
/// kernel only when it is launched.
class WarmUp {
 public:
  WarmUp(const Device& device, bool runs) : device_(device) {
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
using Piece = void (*)(WarmUp&, const Needs&);

/// The weights of a pair of levels, if there are masks.
struct Weights {
  Weights(WarmUp& warm_up, const Needs& needs) {
    if (needs.masked) image.emplace(warm_up.blank(level));
  }
  [[nodiscard]] const Image* get() const { return image ? &*image : nullptr; }
  std::optional<Image> image;
};

void transform(WarmUp& warm_up, const RealFftSpec& spec) {
  const RealFftPlan plan(warm_up.device(), spec);
  warm_up.run([&](Stream& stream) {
    Image image = warm_up.blank(spec.shape);
    Image spectrum = warm_up.blank_spectrum(spec.shape);
    if (spec.has_forward()) plan.forward(stream, image, spectrum);
    if (spec.has_inverse()) plan.inverse(stream, spectrum, image);
  });
}

void forward_level_fft(WarmUp& warm_up, const Needs&) {
  transform(warm_up, {level, 2, FftDirections::forward});
}

void inverse_level_fft(WarmUp& warm_up, const Needs&) {
  transform(warm_up, {level, 2, FftDirections::inverse});
}

void log_polar_spectra(WarmUp& warm_up, const Needs& needs) {
  const LogPolarSpectraPlan log_polar(warm_up.device(),
                                      {level, level, 1, needs.options.spectrum_exponent});
  const CrossPowerPlan power(warm_up.device(), {level, needs.options.log_polar_sigma, false});
  warm_up.run([&](Stream& stream) {
    Image spectrum = warm_up.blank_spectrum(level);
    const Image other = warm_up.blank_spectrum(level);
    Image grid = warm_up.blank(level);
    log_polar.execute(stream, other, grid);
    power.execute(stream, other, other, spectrum);
  });
}

void forward_image_fft(WarmUp& warm_up, const Needs&) {
  transform(warm_up, {full_size, 2, FftDirections::forward});
}

void inverse_pair_fft(WarmUp& warm_up, const Needs&) {
  transform(warm_up, {{full_size.width, full_size.height, 2}, 2, FftDirections::inverse});
}

// Only GPUs use the overlap of outlines.
void outline_overlap(WarmUp& warm_up) {
  if (warm_up.device().info().kind == DeviceKind::cpu) return;
  const OverlapPeaksPlan peaks(warm_up.device(), {full_size, 1, false, true});
  warm_up.run([&](Stream& stream) {
    Buffer records = warm_up.blank_records(2 * sizeof(PeakRecord));
    constexpr OverlapOutline outline{256, 256, 256, 0, 0, 256};
    constexpr OverlapLimits limits;
    peaks.execute_outlines(stream, warm_up.blank({full_size.width, full_size.height, 2}),
                           {&outline, 1}, {&limits, 1}, records);
  });
}

void overlap(WarmUp& warm_up, const Needs&) {
  constexpr Shape two{full_size.width, full_size.height, 2};
  const OverlapProductsPlan products(warm_up.device(), {full_size});
  const OverlapCountsPlan counts(warm_up.device(), {full_size});
  const OverlapPeaksPlan peaks(warm_up.device(), {full_size});
  const ShiftMaximaPlan maxima(warm_up.device(), {full_size});
  warm_up.run([&](Stream& stream) {
    const Image spectrum = warm_up.blank_spectrum(full_size);
    Image product = warm_up.blank_spectrum(two);
    Image overlaps = warm_up.blank(two);
    Buffer records = warm_up.blank_records(2 * sizeof(PeakRecord));
    products.execute(stream, spectrum, spectrum, product);
    counts.execute(stream, warm_up.blank(full_size), full_size, overlaps);
    peaks.execute(stream, warm_up.blank(two), overlaps, {}, records);
    (void)maxima.execute(stream, warm_up.blank(two), overlaps, {});
  });
  outline_overlap(warm_up);
}

void coarse_levels(WarmUp& warm_up, const Needs& needs) {
  const SmoothPlan smooth(warm_up.device(), {.input = needs.type,
                                             .shape = full_size,
                                             .output = level,
                                             .origin = {},
                                             .spacing = 4,
                                             .sigma = 2,
                                             .masked = needs.masked});
  warm_up.run([&](Stream& stream) {
    Image output = warm_up.blank(level);
    const Image input = warm_up.blank(full_size, needs.type);
    if (!needs.masked) return smooth.execute(stream, input, output);
    Image weight = warm_up.blank(level);
    smooth.execute(stream, input, warm_up.blank(full_size, PixelType::u8), output, weight);
  });
}

void impulses(WarmUp& warm_up, const Needs& needs) {
  const ImpulseFilterPlan impulse_filter(warm_up.device(), {needs.type, full_size});
  warm_up.run([&](Stream& stream) {
    static_cast<void>(
        impulse_filter.impulse_statistics(stream, warm_up.blank(full_size, needs.type)));
  });
}

void windows(WarmUp& warm_up, const Needs& needs) {
  const Signal signal =
      needs.options.spectrum == SpectrumSignal::gradient ? Signal::gradient : Signal::pixels;
  const CutWindowsPlan cut(
      warm_up.device(), {level, 1, {WindowOrigin{}}, level, level, needs.options.window, signal});
  warm_up.run([&](Stream& stream) {
    const Image image = warm_up.blank(level);
    Image output = warm_up.blank(level);
    Buffer mean = warm_up.blank_records(sizeof(float));
    cut.execute(stream, image, mean, output);
  });
}

void normalized_levels(WarmUp& warm_up, const Needs& needs) {
  const LocalNormalizationPlan normalization(warm_up.device(),
                                             {.shape = level, .masked = needs.masked});
  warm_up.run([&](Stream& stream) {
    Image output = warm_up.blank(level);
    const Image input = warm_up.blank(level);
    if (!needs.masked) return normalization.execute(stream, input, {0, 1}, output);
    normalization.execute(stream, input, warm_up.blank(level), {0, 1}, output);
  });
}

void warps(WarmUp& warm_up, const Needs&) {
  const WarpPlan of_pixels(warm_up.device(), {level, full_size});
  const WarpPlan of_weights(warm_up.device(),
                            {.input = level, .output = full_size, .unit_input = true});
  warm_up.run([&](Stream& stream) {
    Image output = warm_up.blank(full_size);
    of_pixels.execute(stream, warm_up.blank(level), Affine{}, output);
    of_weights.execute(stream, warm_up.blank(level), Affine{}, output);
  });
}

void coefficients(WarmUp& warm_up, const Needs&) {
  const PrefilterPlan prefilter(warm_up.device(), {.images = {.shape = full_size}});
  warm_up.run([&](Stream& stream) {
    Image output = warm_up.blank(full_size);
    prefilter.execute(stream, warm_up.blank(full_size), output);
  });
}

void coarse_fit(WarmUp& warm_up, const Needs& needs) {
  const SimilaritySumsPlan sums(warm_up.device(), {level, level, 0, 1, needs.masked});
  warm_up.run([&](Stream& stream) {
    const Image image = warm_up.blank(level);
    const Weights weights(warm_up, needs);
    static_cast<void>(sums.execute(stream, {image, image, weights.get(), weights.get()}, {}));
  });
}

// Resident fits, if the device uses them.
void resident_fit(WarmUp& warm_up, const Needs& needs, bool projective) {
  if (!prefers_resident_fits(warm_up.device())) return;
  SimilaritySumsSpec spec{level, level, 0, 1, needs.masked};
  spec.projective = projective;
  spec.resident = true;
  const SimilaritySumsPlan sums(warm_up.device(), spec);
  const FitStepPlan steps(warm_up.device(), {projective, 1});
  warm_up.run([&](Stream& stream) {
    const Image image = warm_up.blank(level);
    const Weights weights(warm_up, needs);
    FitRecord fit;
    fit.groups = static_cast<std::int32_t>(sums.groups());
    Results<float> partials(warm_up.device(), sums.partial_count());
    steps.begin(stream, {&fit, 1});
    sums.enqueue_resident(stream, {image, image, weights.get(), weights.get()}, steps.states(), 0,
                          1, partials, 0);
  });
}

void resident_coarse_fit(WarmUp& warm_up, const Needs& needs) {
  resident_fit(warm_up, needs, false);
}

void local_illumination(WarmUp& warm_up, const Needs& needs) {
  const IlluminationPlan illumination(
      warm_up.device(),
      {level, level, 0, 1, needs.masked, min_illumination_cell, 1.5 * min_illumination_cell});
  warm_up.run([&](Stream& stream) {
    const Image image = warm_up.blank(level);
    Image field =
        warm_up.blank(IlluminationPlan::field_shape(level, min_illumination_cell), PixelType::c32);
    const Weights weights(warm_up, needs);
    illumination.execute(stream, {image, image, weights.get(), weights.get()}, {}, {1, 0, 0, 1},
                         field);
  });
}

void refinement(WarmUp& warm_up, const Needs& needs) {
  const SimilaritySumsPlan sums(warm_up.device(),
                                {level, level, 0, 1, needs.masked, min_illumination_cell});
  warm_up.run([&](Stream& stream) {
    const Image image = warm_up.blank(level);
    const Image field =
        warm_up.blank(IlluminationPlan::field_shape(level, min_illumination_cell), PixelType::c32);
    const Weights weights(warm_up, needs);
    static_cast<void>(
        sums.execute(stream, {image, image, weights.get(), weights.get(), &field}, {}));
  });
}

void null_test(WarmUp& warm_up, const Needs&) {
  const CommonFramesPlan frames(warm_up.device(), {full_size});
  const SpectrumSumsPlan sums(warm_up.device(), {full_size});
  warm_up.run([&](Stream& stream) {
    const Image image = warm_up.blank(level);
    const std::array<const Image*, 1> channel{&image};
    Image reference = warm_up.blank(full_size);
    Image moving = warm_up.blank(full_size);
    frames.enqueue(stream, {channel, channel, nullptr, image}, {level}, 0, reference, moving);
    const Image spectrum = warm_up.blank_spectrum(full_size);
    sums.enqueue(stream, spectrum, spectrum, 0);
  });
}

// The additional programs for affine transforms and homographies. Not every registration needs
// them, so they are not among the pieces below.
void richer_models(WarmUp& warm_up, const Needs&) {
  const SimilaritySumsPlan coarse(warm_up.device(), {level, level, 0, 1, false, 0, true});
  resident_fit(warm_up, {}, true);
  const IlluminationPlan illumination(
      warm_up.device(),
      {level, level, 0, 1, false, min_illumination_cell, 1.5 * min_illumination_cell, true});
  const SimilaritySumsPlan fine(warm_up.device(),
                                {level, level, 0, 1, false, min_illumination_cell, true});
}

// In the order in which a registration needs them.
constexpr std::array<Piece, 3> pieces_of_search{forward_level_fft, inverse_level_fft,
                                                log_polar_spectra};
constexpr std::array<Piece, 2> pieces_of_correlation{forward_image_fft, inverse_pair_fft};
constexpr std::array<Piece, 2> pieces_of_images{impulses, coarse_levels};
constexpr std::array<Piece, 10> pieces_of_fit{
    overlap,      windows,    normalized_levels,   warps,
    coefficients, coarse_fit, resident_coarse_fit, local_illumination,
    refinement,   null_test};

// The additional pieces for images with masks.
constexpr std::array<Piece, 6> pieces_with_masks{coarse_levels,      normalized_levels,
                                                 coarse_fit,         resident_coarse_fit,
                                                 local_illumination, refinement};

// The same pieces in the order for helper processes, which take them from the end. Meanwhile the
// main process starts its search, for which it compiles the transforms first.
//
// On GPUs, each size of a transform has its own programs. With this order, five helper processes
// that take turns get about the same amount of work, the largest pieces first.
constexpr std::array<Piece, 17> pieces_for_gpu_helpers{forward_level_fft,
                                                       inverse_level_fft,
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
                                                       null_test,
                                                       coefficients,
                                                       refinement,
                                                       forward_image_fft,
                                                       inverse_pair_fft};
// On CPUs, one program has the transforms of all sizes. The order is therefore the reverse of that
// in which a registration needs the programs. Most registrations do not need the null test.
constexpr std::array<Piece, 17> pieces_for_cpu_helpers{
    inverse_pair_fft, forward_image_fft,   inverse_level_fft, forward_level_fft,
    null_test,        resident_coarse_fit, impulses,          coarse_levels,
    windows,          log_polar_spectra,   normalized_levels, warps,
    overlap,          coefficients,        coarse_fit,        local_illumination,
    refinement};
static_assert(pieces_for_gpu_helpers.size() == pieces_of_search.size() +
                                                   pieces_of_correlation.size() +
                                                   pieces_of_images.size() + pieces_of_fit.size());

struct CompilablePiece {
  Piece make;
  bool masked;
};

constexpr std::size_t all_piece_count = pieces_with_masks.size() + pieces_for_gpu_helpers.size();

// Puts the pieces for masks first, which helpers take last, because few pairs have masks.
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

void warm_up_similarity(const Device& device, const RegistrationOptions& options) {
  const bool gradients = options.spectrum == SpectrumSignal::gradient;
  Access::announce(device, gradients ? "similarity by gradients" : "similarity", [&] {
    WarmUp warm_up(device, false);
    for (const Piece piece : pieces_of_search) piece(warm_up, {options});
    for (const Piece piece : pieces_of_correlation) piece(warm_up, {options});
    for (const Piece piece : pieces_of_fit) piece(warm_up, {options});
  });
  if (options.motion != Motion::affine && options.motion != Motion::homography &&
      options.motion != Motion::automatic) {
    return;
  }
  Access::announce(device, "richer models", [&] {
    WarmUp warm_up(device, false);
    richer_models(warm_up, {options});
  });
}

void warm_up_images(const Device& device, PixelType type) {
  Access::announce(device, "images " + std::to_string(static_cast<int>(type)), [&] {
    WarmUp warm_up(device, false);
    for (const Piece piece : pieces_of_images) piece(warm_up, {{}, type});
  });
}

void warm_up_masks(const Device& device, PixelType type) {
  Access::announce(device, "masks " + std::to_string(static_cast<int>(type)), [&] {
    WarmUp warm_up(device, false);
    for (const Piece piece : pieces_with_masks) piece(warm_up, {{}, type, true});
  });
}

}  // namespace warpalign::detail

namespace warpalign {

std::size_t registration_pieces() { return detail::all_piece_count; }

void compile_registration_piece(const Device& device, std::size_t piece, PixelType type) {
  if (piece >= registration_pieces()) {
    detail::refuse("compile", "piece " + std::to_string(piece) + " does not exist; there are " +
                                  std::to_string(registration_pieces()));
  }
  detail::check_grey("compile", "an image to be registered", type);
  detail::WarmUp warm_up(device, true);
  const auto [make, masked] = detail::all_pieces(device)[piece];
  make(warm_up, {{}, type, masked});
}

void store_compiled_kernels(const Device& device) {
  detail::Access::driver(device).store_compiled_kernels();
}

}  // namespace warpalign
