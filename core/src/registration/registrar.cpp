// The registrar: checks its arguments and passes them to one of the two pipelines.
#include <warpalign/registrar.hpp>

#include "device/check.hpp"
#include "registration/checked_options.hpp"
#include "registration/deformation/deformable_fit.hpp"
#include "registration/deformation/deformation_source.hpp"
#include "registration/deformation/judgement/deformation_confidence.hpp"
#include "registration/fourier_mellin/gradient_source.hpp"
#include "registration/fourier_mellin/pipeline.hpp"
#include "registration/numerics/confidence.hpp"
#include "registration/pair/initial_pose.hpp"
#include "registration/pair/registration_result.hpp"
#include "registration/resources/converted_pixels.hpp"
#include "registration/resources/unowned_memory_guard.hpp"
#include "registration/search/pair_search.hpp"
#include "registration/warm_up.hpp"

#include <warpalign/error.hpp>
#include <warpalign/interop.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

namespace warpalign {

namespace {

constexpr const char* registrar_stage = "register";

// Alignments that an ambiguous result lists, itself included.
constexpr int listed_if_ambiguous = 3;

PixelType type_of(const HostImage& image) { return image.type; }
PixelType type_of(const Image& image) { return image.type(); }

template <class Pixels>
void check_mask(const char* what, const Pixels& mask, const Shape& image) {
  if (type_of(mask) != PixelType::u8) {
    detail::refuse(registrar_stage,
                   std::string(what) + " must be u8, with 0 where a pixel is ignored");
  }
  if (mask.shape() != image) {
    detail::refuse(registrar_stage, std::string(what) + " is " + to_string(mask.shape()) +
                                        ", but its image is " + to_string(image));
  }
}

/// Images, plans and memory of Motion::deformable.
struct DeformableStep {
  DeformableStep(const Device& device, const RegistrationOptions& options)
      : settings{.bending_weight = options.bending_weight}, reference(device), moving(device) {
    if (options.grid_spacing != RegistrationOptions::automatic_grid_spacing) {
      settings.grid_spacing = options.grid_spacing;
    }
  }

  /// Throws Error(invalid_argument) for a reference that has no room for the grid.
  void check_reference(const Shape& shape) const {
    const std::int64_t longest = std::max(shape.width, shape.height);
    if (settings.grid_spacing.value_or(0) <= static_cast<double>(longest)) return;
    detail::refuse(registrar_stage,
                   "grid_spacing must be at most the longest side of the reference, " +
                       std::to_string(longest) + " pixels");
  }

  detail::DeformableSettings settings;
  detail::DeformationSource reference, moving;
  std::optional<detail::DeformableFit> fit;
};

/// The search before a deformation finds an affine transform.
RegistrationOptions searched(RegistrationOptions options) {
  if (options.motion == Motion::deformable) options.motion = Motion::affine;
  return options;
}

}  // namespace

struct Registrar::State {
  State(const Device& device_, const RegistrationOptions& chosen)
      : device(device_),
        options(searched(chosen)),
        stream(device.make_stream(options.collect_timings)),
        clock(stream),
        converted_reference(device),
        converted_moving(device) {
    if (chosen.motion == Motion::deformable) deformable.emplace(device, chosen);
    if (options.fast) {
      fast.emplace(device, options);
    } else {
      detail::warm_up_similarity(device, options);
      // To time the stages, a search runs on one thread.
      search.emplace(device, options,
                     options.collect_timings ? 0 : detail::workers_of(device, options));
      if (deformable) search->expect_deformation();
    }
  }

  template <class Pixels>
  void set_reference(const Pixels& pixels, const Pixels* mask);
  template <class Pixels>
  RegistrationResult align(const Pixels& pixels, const Pixels* mask);

  template <class Pixels, class Mask>
  void take_reference(const Pixels& pixels, const Mask* mask);
  template <class Pixels, class Mask>
  RegistrationResult align_grey(const Pixels& pixels, const Mask* mask);
  template <class Pixels, class Mask>
  void take(std::optional<detail::ImagePyramid>& image, const Pixels& pixels, const Mask* mask,
            const char* what);
  template <class Pixels>
  void check(const char* what, const Pixels& pixels, const char* mask_name,
             const Pixels* mask) const;
  /// Whether the option `motion` has more parameters than a similarity.
  [[nodiscard]] bool has_extended_model() const {
    return options.motion == Motion::affine || options.motion == Motion::homography;
  }
  [[nodiscard]] Alignment describe(const detail::Candidate& candidate) const;
  void describe_ambiguity(RegistrationResult& result) const;
  template <class Mask>
  void deform(const Mask* mask, RegistrationResult& result, bool judged);
  template <class Mask>
  RegistrationResult deform_initial(const Mask* mask);

  Device device;
  RegistrationOptions options;
  Stream stream;
  detail::StageClock clock;
  detail::ConvertedPixels converted_reference;
  detail::ConvertedPixels converted_moving;
  std::optional<detail::FourierMellinPipeline> fast;
  std::optional<detail::PairSearch> search;
  std::optional<detail::ImagePyramid> reference;
  std::optional<detail::ImagePyramid> moving;
  std::optional<Homography> initial;
  std::optional<DeformableStep> deformable;
  bool has_reference = false;  // `reference` may hold memory without a valid image
};

template <class Pixels>
void Registrar::State::check(const char* what, const Pixels& pixels, const char* mask_name,
                             const Pixels* mask) const {
  detail::check_registrable(what, type_of(pixels), pixels.shape());
  if (mask == nullptr) return;
  if (fast) detail::refuse(registrar_stage, "the fast pipeline does not support masks");
  check_mask(mask_name, *mask, pixels.shape());
}

template <class Pixels, class Mask>
void Registrar::State::take(std::optional<detail::ImagePyramid>& image, const Pixels& pixels,
                            const Mask* mask, const char* what) {
  const PixelType type = type_of(pixels);
  if (!image || !image->matches(type, pixels.shape())) {
    detail::warm_up_images(device, type);
    image.reset();  // release the old memory before allocating the new
    image.emplace(device, type, pixels.shape());
  }
  try {
    if (mask != nullptr) detail::warm_up_masks(device, type);
    image->take(stream, clock, pixels, mask, what);
    // ImagePyramid also masks constant borders and missing pixels.
    if (image->mask() != nullptr) detail::warm_up_masks(device, type);
  } catch (...) {
    image.reset();
    throw;
  }
}

template <class Pixels>
void Registrar::State::set_reference(const Pixels& pixels, const Pixels* mask) {
  has_reference = false;
  const detail::StageClock::Call call(clock);
  check("the reference", pixels, "the reference's mask", mask);
  if (deformable) deformable->check_reference(pixels.shape());
  if (detail::is_grey(type_of(pixels))) {
    take_reference(pixels, mask);
  } else {
    take_reference(converted_reference.convert(stream, clock, pixels), mask);
  }
  has_reference = true;
}

template <class Pixels, class Mask>
void Registrar::State::take_reference(const Pixels& pixels, const Mask* mask) {
  if (fast) {
    fast->set_reference(stream, clock, pixels, type_of(pixels));
  } else {
    take(reference, pixels, mask, "the reference image");
    if (deformable) {
      deformable->reference.take(stream, clock, reference->input(), mask, reference->missing() > 0);
    }
  }
}

template <class Pixels>
RegistrationResult Registrar::State::align(const Pixels& pixels, const Pixels* mask) {
  if (!has_reference) detail::refuse(registrar_stage, "set_reference must be called before align");
  const detail::StageClock::Call call(clock);
  check("the moving image", pixels, "the moving image's mask", mask);
  if (detail::is_grey(type_of(pixels))) return align_grey(pixels, mask);
  return align_grey(converted_moving.convert(stream, clock, pixels), mask);
}

template <class Pixels, class Mask>
RegistrationResult Registrar::State::align_grey(const Pixels& pixels, const Mask* mask) {
  RegistrationResult result;
  if (fast) {
    result = fast->align(stream, clock, pixels, type_of(pixels));
    result.tried.add(SearchMethod::log_polar);
  } else {
    std::optional<detail::InitialPose> start;
    if (initial) {
      start = detail::initial_pose(*initial, options, reference->shape(), pixels.shape());
    }
    take(moving, pixels, mask, "the moving image");
    // The correlation that a deformation reaches tells of the same modality only.
    const bool same_modality = options.modality == Modality::same;
    if (deformable && initial && same_modality) return deform_initial(mask);
    const auto found = search->run(stream, clock, *reference, *moving, start ? &*start : nullptr);
    if (!found.empty()) static_cast<Alignment&>(result) = describe(found.front());
    // A candidate that cannot be refined is probably wrong.
    const bool has_other_motion = has_extended_model() && result.motion != options.motion;
    if ((options.refine && !result.refined) || has_other_motion) {
      result.confidence = std::min(result.confidence, detail::max_unrefined_confidence);
    }
    result.reliable = result.confidence >= 0.5;
    if (!found.empty() && found.front().is_ambiguous()) describe_ambiguity(result);
    const auto listed = static_cast<std::size_t>(
        result.ambiguous ? std::max(options.candidates, listed_if_ambiguous) : options.candidates);
    for (std::size_t i = 1; i < std::min(listed, found.size()); ++i) {
      result.runners_up.push_back(describe(found[i]));
    }
    result.missing = {reference->missing(), moving->missing()};
    result.tried = search->tried();
    result.num_trials = search->trials();
    if (deformable && result.reliable) {
      deform(mask, result, false);
    } else if (deformable && !result.ambiguous && result.modality == Modality::same &&
               detail::is_nearly_aligned(
                   result.similarity.rotation_deg, result.similarity.scale,
                   {result.similarity.translation.x, result.similarity.translation.y, 0},
                   reference->shape())) {
      deform(mask, result, true);
      detail::judge_by_deformation(result, deformable->fit->structure(), reference->shape());
    }
  }
  result.timings = clock.take();
  return result;
}

template <class Mask>
void Registrar::State::deform(const Mask* mask, RegistrationResult& result, bool judged) {
  constexpr Point3 spacing{1, 1, 1};
  auto& fit = detail::DeformableFit::of(deformable->fit, device, reference->shape(), spacing,
                                        moving->shape(), spacing, deformable->settings,
                                        detail::relation_of(result.modality));
  auto& from = deformable->reference;
  auto& to = deformable->moving;
  to.take(stream, clock, moving->input(), mask, moving->missing() > 0);
  result.deformation = fit.run(stream, clock, {from.values(), from.known()},
                               {to.values(), to.known()}, result.matrix, judged);
}

template <class Mask>
RegistrationResult Registrar::State::deform_initial(const Mask* mask) {
  RegistrationResult result;
  result.missing = {reference->missing(), moving->missing()};
  static_cast<Alignment&>(result) =
      detail::alignment_of(Motion::affine, *initial, reference->shape(), moving->shape());
  deform(mask, result, true);
  result.proposed_by = SearchMethod::initial;
  result.tried.add(SearchMethod::initial);
  result.correlation = result.deformation->correlation;
  detail::judge_by_deformation(result, deformable->fit->structure(), reference->shape());
  result.timings = clock.take();
  return result;
}

void Registrar::State::describe_ambiguity(RegistrationResult& result) const {
  result.ambiguous = true;
  if (const auto& ambiguity = search->ambiguity()) {
    result.period = ambiguity->period;
    result.undetermined_direction = ambiguity->along;
  }
}

Alignment Registrar::State::describe(const detail::Candidate& candidate) const {
  const bool richer = candidate.motion != Motion::similarity;
  Alignment result =
      richer ? detail::alignment_of(candidate.motion, candidate.richer, reference->shape(),
                                    moving->shape())
             : detail::alignment_of(candidate.matrix, reference->shape(), moving->shape());
  if (!richer && options.motion != Motion::automatic && !has_extended_model()) {
    result.motion = options.motion;
  }
  result.correlation = candidate.correlation;
  result.significance = candidate.significance;
  result.overlap = candidate.overlap;
  result.refined = candidate.refined;
  result.confidence = candidate.confidence();
  result.modality = candidate.by_orientation ? Modality::other : Modality::same;
  result.proposed_by = candidate.proposed_by;
  if (candidate.null_test && !candidate.beyond_doubt()) {
    result.null_test = {candidate.null_test->z_score, candidate.null_test->max_null_z,
                        candidate.null_test->second_best_ratio};
  }
  return result;
}

Registrar::Registrar(const Device& device, const RegistrationOptions& options)
    : state_(std::make_unique<State>(device, detail::checked(options))) {}
Registrar::Registrar(Registrar&&) noexcept = default;
Registrar& Registrar::operator=(Registrar&&) noexcept = default;
Registrar::~Registrar() = default;

void Registrar::set_reference(const HostImage& image) {
  state_->set_reference<HostImage>(image, nullptr);
}
void Registrar::set_reference(const HostImage& image, const HostImage& mask) {
  state_->set_reference(image, &mask);
}
void Registrar::set_reference(const Image& image) {
  const detail::UnownedMemoryGuard use(state_->stream, image);
  state_->set_reference<Image>(image, nullptr);
}
void Registrar::set_reference(const Image& image, const Image& mask) {
  const detail::UnownedMemoryGuard use(state_->stream, image);
  const detail::UnownedMemoryGuard use_of_mask(state_->stream, mask);
  state_->set_reference(image, &mask);
}
RegistrationResult Registrar::align(const HostImage& image) {
  return state_->align<HostImage>(image, nullptr);
}
RegistrationResult Registrar::align(const HostImage& image, const HostImage& mask) {
  return state_->align(image, &mask);
}
RegistrationResult Registrar::align(const Image& image) {
  const detail::UnownedMemoryGuard use(state_->stream, image);
  return state_->align<Image>(image, nullptr);
}
RegistrationResult Registrar::align(const Image& image, const Image& mask) {
  const detail::UnownedMemoryGuard use(state_->stream, image);
  const detail::UnownedMemoryGuard use_of_mask(state_->stream, mask);
  return state_->align(image, &mask);
}

void Registrar::set_initial(const Homography& initial) {
  RegistrationOptions options = state_->options;
  if (state_->deformable) options.motion = Motion::deformable;
  detail::check_initial(initial, options);
  state_->initial = initial;
}
void Registrar::clear_initial() noexcept { state_->initial.reset(); }

void Registrar::set_prior(const std::optional<MotionPrior>& prior) {
  if (prior) {
    const Affine& m = prior->matrix;
    for (const double number : {m.a, m.b, m.c, m.d, m.e, m.f}) {
      if (!std::isfinite(number))
        detail::refuse(registrar_stage, "the prior's matrix must be finite");
    }
    if (prior->frames < 1)
      detail::refuse(registrar_stage, "the prior must be 1 or more frames earlier");
  }
  if (state_->search) state_->search->set_prior(prior);
}

void Registrar::wait_for(const Event& event) { event.wait(state_->stream); }

RegistrationResult register_images(const Device& device, const HostImage& reference,
                                   const HostImage& moving, const RegistrationOptions& options) {
  Registrar registrar(device, options);
  registrar.set_reference(reference);
  return registrar.align(moving);
}

}  // namespace warpalign
