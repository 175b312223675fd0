// Registrations of images, of batches, of volumes and of windows.
#include "faults/bench.hpp"
#include "faults/scenarios.hpp"
#include "support/blobs.hpp"
#include "support/rotated_volumes.hpp"
#include "support/volume_masks.hpp"
#include "support/volume_pairs.hpp"

#include <array>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace faults {

namespace {

using namespace warpalign;
using test::BlobImage;
using test::draw_blobs;

constexpr Shape frame{96, 80, 1};

struct Pair {
  BlobImage reference = draw_blobs(frame, {});
  BlobImage moving = draw_blobs(frame, Similarity{6, 1.05, {3, -2}}.matrix(frame, frame));
};

const Pair& pair() {
  static const Pair drawn;
  return drawn;
}

void append_deformation(Bytes& bytes, const std::optional<Deformation>& found) {
  if (!found) throw std::runtime_error("the pair has no deformation");
  append(bytes, found->correlation_before, found->correlation, found->min_jacobian,
         found->max_jacobian, found->transform(Point3{10.5, 8.25, 6}));
}

void append_result(Bytes& bytes, const RegistrationResult& result) {
  append(bytes, result.motion, result.confidence, result.homography.h, result.correlation,
         result.significance, result.overlap, result.reliable);
}

Bytes bytes_of(const RegistrationResult& result) {
  Bytes bytes;
  append_result(bytes, result);
  return bytes;
}

/// Sets the reference again each time, so that each failure in it is tested, too.
Scenario registration(const std::string& name, const RegistrationOptions& options) {
  return {"align, " + name, [options](const Device& device) -> Work {
            auto registrar = std::make_shared<Registrar>(device, options);
            return [registrar, options] {
              registrar->set_reference(pair().reference.view());
              const RegistrationResult found = registrar->align(pair().moving.view());
              Bytes bytes = bytes_of(found);
              if (options.motion == Motion::deformable) {
                append_deformation(bytes, found.deformation);
              }
              return bytes;
            };
          }};
}

Scenario registration(const std::string& name, Motion motion) {
  RegistrationOptions options;
  options.motion = motion;
  return registration(name, options);
}

Scenario masked_registration() {
  return {"align, with masks", [](const Device& device) -> Work {
            auto registrar = std::make_shared<Registrar>(device);
            std::vector<std::uint8_t> mask(static_cast<std::size_t>(frame.pixels()), 1);
            for (std::size_t i = 0; i < 5 * 96; ++i) mask[i] = 0;
            return [registrar, mask] {
              const HostImage view{mask.data(), PixelType::u8, frame.width, frame.height, 0};
              registrar->set_reference(pair().reference.view(), view);
              return bytes_of(registrar->align(pair().moving.view(), view));
            };
          }};
}

/// Throws the first Error of a batch, as a single call would.
Scenario batch() {
  return {
      "batch on two streams", [](const Device& device) -> Work {
        return [device] {
          const std::array<HostPair, 3> pairs{{{pair().reference.view(), pair().moving.view()},
                                               {pair().moving.view(), pair().reference.view()},
                                               {pair().reference.view(), pair().reference.view()}}};
          const std::array<Device, 1> devices{device};
          Bytes bytes;
          for (const BatchResult& one : align_batch(devices, pairs)) {
            if (one.error) throw Error(*one.error);
            append_result(bytes, one.result.value());
          }
          return bytes;
        };
      }};
}

Scenario timed_registration() {
  return {"align, timed", [](const Device& device) -> Work {
            RegistrationOptions options;
            options.collect_timings = true;
            auto registrar = std::make_shared<Registrar>(device, options);
            return [registrar] {
              registrar->set_reference(pair().reference.view());
              return bytes_of(registrar->align(pair().moving.view()));
            };
          }};
}

Scenario volumes(const std::string& name, Modality modality) {
  return {name, [modality](const Device& device) -> Work {
            test::VolumePairSpec spec;
            spec.reference = spec.moving = {20, 18, 16};
            spec.shift = {2.25, -1.5, 0.75};
            auto drawn = std::make_shared<test::HostPairOfVolumes>(test::draw_pair(spec));
            VolumeRegistrationOptions options;
            options.modality = modality;
            auto registrar = std::make_shared<VolumeRegistrar>(device, options);
            return [registrar, drawn, spec] {
              registrar->set_reference(test::view_of(drawn->reference, spec.reference));
              const auto found = registrar->align(test::view_of(drawn->moving, spec.moving));
              Bytes bytes;
              append(bytes, found.translation.x, found.translation.y, found.translation.z,
                     found.confidence, found.correlation, found.overlap, found.refined);
              return bytes;
            };
          }};
}

/// Slightly rotated volumes.
Scenario rotated_volumes(const std::string& name, Motion motion) {
  return {"align, volumes, " + name, [motion](const Device& device) -> Work {
            test::RotatedPairSpec spec;
            spec.reference = spec.moving = {20, 18, 16};
            spec.transform = test::turn({1, 2, 3}, 6, {0.5, -0.25, 1});
            auto drawn = std::make_shared<test::HostPairOfVolumes>(test::draw_rotated_pair(spec));
            VolumeRegistrationOptions options;
            options.motion = motion;
            options.max_rotation = 15;  // as above
            auto registrar = std::make_shared<VolumeRegistrar>(device, options);
            return [registrar, drawn, spec, motion] {
              registrar->set_reference(test::view_of(drawn->reference, spec.reference));
              const auto found = registrar->align(test::view_of(drawn->moving, spec.moving));
              Bytes bytes;
              append(bytes, found.matrix.m, found.confidence, found.correlation, found.overlap,
                     found.refined);
              if (motion == Motion::deformable) append_deformation(bytes, found.deformation);
              return bytes;
            };
          }};
}

/// A series: the second volume has another type.
Scenario volume_series() {
  return {
      "align, series of volumes", [](const Device& device) -> Work {
        test::RotatedPairSpec spec;
        spec.reference = spec.moving = {20, 18, 16};
        spec.transform = test::turn({1, 2, 3}, 1, {0.5, -0.25, 0.3});
        spec.blob_sigma = 2;
        auto drawn = std::make_shared<test::HostPairOfVolumes>(test::draw_rotated_pair(spec));
        auto wide =
            std::make_shared<std::vector<double>>(drawn->moving.begin(), drawn->moving.end());
        auto registrar = std::make_shared<VolumeSeriesRegistrar>(device);
        return [registrar, drawn, wide, spec] {
          registrar->set_reference(test::view_of(drawn->reference, spec.reference));
          std::vector<double> aligned(wide->size());
          Bytes bytes;
          for (const HostVolume& volume : {test::view_of(drawn->moving, spec.moving),
                                           HostVolume{wide->data(), PixelType::f64, spec.moving}}) {
            const auto found = registrar->align(volume, aligned.data());
            append(bytes, found.matrix.m, found.confidence, found.correlation, found.overlap,
                   found.refined, aligned[1234]);
            registrar->warp(volume, found.matrix, aligned.data());
            append(bytes, aligned[1235]);
          }
          return bytes;
        };
      }};
}

/// Both volumes masked, at the first and at later levels.
Scenario masked_volumes(const std::string& name, Motion motion) {
  return {"align, masked volumes, " + name, [motion](const Device& device) -> Work {
            test::VolumePairSpec spec;
            spec.reference = spec.moving = {20, 18, 16};
            spec.shift = {2.25, -1.5, 0.75};
            auto drawn = std::make_shared<test::HostPairOfVolumes>(test::draw_pair(spec));
            auto mask = std::make_shared<test::VolumeMask>(
                test::mask_of(spec.reference, {{6, 6, 5}, {11, 10, 9}}));
            VolumeRegistrationOptions options;
            options.motion = motion;
            if (motion != Motion::translation) options.max_rotation = 15;  // as above
            auto registrar = std::make_shared<VolumeRegistrar>(device, options);
            return [registrar, drawn, mask, spec] {
              const HostVolume counts = test::view_of(*mask, spec.reference);
              registrar->set_reference(test::view_of(drawn->reference, spec.reference), counts);
              const auto found =
                  registrar->align(test::view_of(drawn->moving, spec.moving), counts);
              Bytes bytes;
              append(bytes, found.matrix.m, found.confidence, found.correlation, found.overlap,
                     found.refined);
              return bytes;
            };
          }};
}

/// Images in device memory, and an event to wait for.
Scenario images_on_the_device() {
  return {"align, images on the device", [](const Device& device) -> Work {
            auto bench = std::make_shared<Bench>(device);
            auto registrar = std::make_shared<Registrar>(device);
            return [bench, registrar] {
              Image reference = bench->empty(PixelType::u8, frame);
              Image moving = bench->empty(PixelType::u8, frame);
              bench->stream().upload(pair().reference.view(), reference);
              bench->stream().upload(pair().moving.view(), moving);
              Event uploaded(bench->device());
              uploaded.record(bench->stream());
              registrar->wait_for(uploaded);
              registrar->set_reference(reference);
              return bytes_of(registrar->align(moving));
            };
          }};
}

Scenario windows() {
  return {
      "align, windows", [](const Device& device) -> Work {
        WindowOptions options;
        options.width = options.height = 32;
        auto registrar = std::make_shared<WindowRegistrar>(device, PixelType::u8, frame, options);
        auto shifted = std::make_shared<BlobImage>(draw_blobs(frame, Affine::translation(1, 2)));
        return [registrar, shifted] {
          registrar->set_reference(pair().reference.view());
          const std::array<HostImage, 2> frames{shifted->view(), pair().reference.view()};
          Bytes bytes;
          for (const WindowShift& window : registrar->align(frames)) {
            append(bytes, window.shift.x, window.shift.y, window.uncertainty, window.correlation,
                   window.reliable);
          }
          return bytes;
        };
      }};
}

/// A frame that the batch registers, and one that is left to a single registrar.
Scenario frames(const char* name, Motion motion) {
  return {name, [motion](const Device& device) -> Work {
            RegistrationOptions options;
            options.motion = motion;
            auto registrar = std::make_shared<FrameRegistrar>(device, options, 2);
            auto shifted =
                std::make_shared<BlobImage>(draw_blobs(frame, Affine::translation(1, 2)));
            return [registrar, shifted] {
              registrar->set_reference(pair().reference.view());
              const std::array<HostImage, 2> frames{shifted->view(), pair().moving.view()};
              Bytes bytes;
              for (const BatchResult& found : registrar->align(frames)) {
                append_result(bytes, found.result.value());
              }
              return bytes;
            };
          }};
}

/// The mean of two images, of which one has a hole.
Scenario template_of_images() {
  return {"template", [](const Device& device) -> Work {
            RegistrationOptions options;
            options.motion = Motion::affine;
            auto holed = std::make_shared<std::vector<float>>(pair().moving.pixels.begin(),
                                                              pair().moving.pixels.end());
            for (std::size_t i = 3000; i < 3020; ++i) {
              (*holed)[i] = std::numeric_limits<float>::quiet_NaN();
            }
            return [device, options, holed] {
              const auto source = [&](std::size_t i) {
                const HostImage second{holed->data(), PixelType::f32, frame.width, frame.height, 0};
                return TemplatePixels{i == 0 ? pair().reference.view() : second};
              };
              const Template found = build_template(device, 2, source, options, {.rounds = 1});
              Bytes bytes;
              append(bytes, found.confidences[0], found.confidences[1], found.changes[0],
                     found.pixels[1234], (*found.transforms[1])(Point3{30, 20, 0}));
              return bytes;
            };
          }};
}

Scenario field_warp() {
  return {"warp by a field", [](const Device& device) -> Work {
            auto warper = std::make_shared<FieldWarper>(device, PixelType::u8, frame);
            std::vector<float> samples(2 * static_cast<std::size_t>(frame.pixels()), 1.5F);
            const auto field = std::make_shared<DisplacementField>(
                DisplacementField::from_samples(frame, samples, 16));
            return [warper, field] {
              Bytes output(pair().reference.pixels.size());
              warper->warp(pair().reference.view(), *field, output.data());
              return output;
            };
          }};
}

}  // namespace

std::vector<Scenario> registration_scenarios() {
  RegistrationOptions fast;
  fast.fast = true;
  RegistrationOptions narrow;  // a failure at every point of a wider search would take minutes
  narrow.min_scale = 0.9;
  narrow.max_scale = 1.1;
  narrow.min_angle = -10;
  narrow.max_angle = 10;
  RegistrationOptions many = narrow;
  many.candidates = 3;
  many.spectrum = SpectrumSignal::gradient;
  RegistrationOptions other = narrow;
  other.modality = Modality::other;
  RegistrationOptions thorough = narrow;
  thorough.search = Effort::thorough;
  RegistrationOptions quick;
  quick.search = Effort::fast;
  return {
      registration("similarity", Motion::similarity),
      registration("rigid", Motion::rigid),
      registration("rotation", Motion::rotation),
      registration("translation", Motion::translation),
      registration("affine", Motion::affine),
      registration("homography", Motion::homography),
      registration("automatic", Motion::automatic),
      registration("deformable", Motion::deformable),
      registration("the fast pipeline", fast),
      registration("several candidates", many),
      registration("another modality", other),
      registration("thoroughly", thorough),
      registration("with little effort", quick),
      images_on_the_device(),
      masked_registration(),
      timed_registration(),
      batch(),
      volumes("align, volumes", Modality::same),
      volumes("align, volumes of other modality", Modality::other),
      volumes("align, volumes of any modality", Modality::automatic),
      rotated_volumes("rigid", Motion::rigid),
      rotated_volumes("affine", Motion::affine),
      rotated_volumes("deformable", Motion::deformable),
      volume_series(),
      masked_volumes("translation", Motion::translation),
      masked_volumes("rigid", Motion::rigid),
      windows(),
      frames("align, frames", Motion::translation),
      frames("align, frames that turn", Motion::similarity),
      template_of_images(),
      field_warp(),
  };
}

}  // namespace faults
