// Templates by the C interface: they equal those of C++, and wrong calls.
#include "c_interface/c_calls.hpp"
#include "support/devices.hpp"
#include "templates/drawn_subjects.hpp"

#include <warpalign/template.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using test::DrawnSubjects;
using test::Opened;
using warpalign::PixelType;
using warpalign::Shape;

constexpr Shape image_frame{120, 110, 1};
constexpr Shape volume_frame{30, 28, 32};

using Pixels = std::vector<float>;
using Marks = std::vector<std::uint8_t>;

warpalign_image c_image(const Pixels& pixels, const Shape& shape) {
  return {pixels.data(), WARPALIGN_F32, shape.width, shape.height, shape.depth, 0};
}
warpalign_image c_image(const Marks& mask, const Shape& shape) {
  return {mask.data(), WARPALIGN_U8, shape.width, shape.height, shape.depth, 0};
}

/// Memory for a template of images of one shape.
struct Memory {
  Memory(const Shape& shape, std::size_t count, std::size_t rounds)
      : pixels(static_cast<std::size_t>(shape.pixels()), -1.0F),
        transforms(count, warpalign_transform{7}),  // no handle
        confidences(count),
        changes(rounds) {
    result.struct_size = sizeof result;
    result.pixels = {pixels.data(), WARPALIGN_F32, shape.width, shape.height, shape.depth};
    result.transforms = transforms.data();
    result.confidences = confidences.data();
    result.changes = changes.data();
    result.used = 9;
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    for (const warpalign_transform transform : transforms) warpalign_destroy_transform(transform);
  }

  Pixels pixels;
  std::vector<warpalign_transform> transforms;
  std::vector<double> confidences, changes;
  warpalign_template result{};
};

warpalign_template_options template_options(std::int32_t rounds) {
  warpalign_template_options options{};
  REQUIRE(warpalign_default_template_options(&options, sizeof options) == WARPALIGN_OK);
  CHECK(options.rounds == warpalign::TemplateOptions{}.rounds);
  options.rounds = rounds;
  return options;
}

void check_equals(const Memory& found, const warpalign::Template& expected) {
  REQUIRE(found.pixels.size() == expected.pixels.size());
  std::size_t differing = 0;
  for (std::size_t i = 0; i < found.pixels.size(); ++i) {
    const bool same = found.pixels[i] == expected.pixels[i] ||
                      (std::isnan(found.pixels[i]) && std::isnan(expected.pixels[i]));
    if (!same) ++differing;
  }
  CHECK(differing == 0);
  CHECK(found.confidences == expected.confidences);
  CHECK(found.changes == expected.changes);
  std::size_t used = 0;
  for (std::size_t i = 0; i < expected.transforms.size(); ++i) {
    CAPTURE(i);
    CHECK((found.transforms[i].id != 0) == expected.transforms[i].has_value());
    if (!expected.transforms[i]) continue;
    ++used;
    const std::array<double, 3> point{14.5, 12.25, 10};
    std::array<double, 3> mapped{};
    REQUIRE(warpalign_transform_points(found.transforms[i], point.data(), 1, WARPALIGN_OUTSIDE_EDGE,
                                       mapped.data()) == WARPALIGN_OK);
    const warpalign::Point3 q =
        (*expected.transforms[i])(warpalign::Point3{point[0], point[1], point[2]});
    CHECK(mapped[0] == q.x);
    CHECK(mapped[1] == q.y);
  }
  CHECK(found.result.used == used);
}

/// Subjects, of which the second has a bright artefact that a mask hides.
struct MaskedSubjects {
  MaskedSubjects(const Shape& frame, std::uint32_t seed) : shape(frame) {
    const DrawnSubjects drawn(shape, 2, seed);
    for (std::size_t i = 0; i < 2; ++i) images.push_back(drawn.image(i));
    mask.assign(images[1].size(), 1);
    const std::size_t middle = mask.size() / 2;
    for (std::size_t p = middle; p < middle + 500; ++p) {
      mask[p] = 0;
      images[1][p] = 80;
    }
  }
  Shape shape;
  std::vector<Pixels> images;
  Marks mask;
};

/// The arguments of warpalign_build_template().
struct Call {
  std::array<warpalign_image, 2> images, masks;
  std::size_t count;
  warpalign_register_options registration;
  warpalign_template_options options;
  warpalign_template& result;
};

}  // namespace

TEST_CASE("c: a template of images equals that of the C++ interface") {
  test::on_every_device([](const warpalign::Device& device) {
    const Opened opened(device);
    MaskedSubjects subjects(image_frame, 31);
    // Of another scene: left out.
    subjects.images.push_back(DrawnSubjects(image_frame, 0, 99).scene());
    std::vector<warpalign_image> images;
    for (const Pixels& image : subjects.images) images.push_back(c_image(image, image_frame));
    const std::array<warpalign_image, 3> masks{{{}, c_image(subjects.mask, image_frame), {}}};
    const warpalign_template_options options = template_options(2);
    Memory found(image_frame, 3, 2);
    REQUIRE(warpalign_build_template(opened, images.data(), masks.data(), 3, nullptr, nullptr,
                                     &options, &found.result) == WARPALIGN_OK);
    CHECK(found.transforms[0].id != 0);
    CHECK(found.transforms[1].id != 0);
    CHECK(found.transforms[2].id == 0);

    const auto view = [](const auto& pixels, PixelType type) {
      return warpalign::HostImage{pixels.data(), type, image_frame.width, image_frame.height, 0};
    };
    const auto source = [&](std::size_t i) {
      warpalign::TemplatePixels pixels{view(subjects.images[i], PixelType::f32)};
      if (i == 1) pixels.mask = view(subjects.mask, PixelType::u8);
      return pixels;
    };
    warpalign::TemplateOptions rounds;
    rounds.rounds = 2;
    check_equals(found, warpalign::build_template(device, 3, source,
                                                  warpalign::template_registration(), rounds));

    // Other registrations, and an initial image with a hole, whose grid the template has. What is
    // not wanted may be null.
    const Shape wide{130, 104, 1};
    Pixels start = DrawnSubjects(wide, 2, 31).scene();
    start[5000] = std::numeric_limits<float>::quiet_NaN();
    const warpalign_image initial = c_image(start, wide);
    warpalign_register_options affine{};
    REQUIRE(warpalign_default_register_options(&affine, sizeof affine) == WARPALIGN_OK);
    affine.motion = WARPALIGN_AFFINE;
    const warpalign_template_options once = template_options(1);
    Memory other(wide, 2, 1);
    REQUIRE(warpalign_build_template(opened, images.data(), masks.data(), 2, &initial, &affine,
                                     &once, &other.result) == WARPALIGN_OK);
    rounds.rounds = 1;
    warpalign::RegistrationOptions registration;
    registration.motion = warpalign::Motion::affine;
    check_equals(other, warpalign::build_template(
                            device, 2, source, registration, rounds,
                            warpalign::HostImage{start.data(), PixelType::f32, 130, 104, 0}));
    Memory bare(wide, 2, 1);
    bare.result.transforms = nullptr;
    bare.result.confidences = bare.result.changes = nullptr;
    bare.transforms.clear();
    REQUIRE(warpalign_build_template(opened, images.data(), masks.data(), 2, &initial, &affine,
                                     &once, &bare.result) == WARPALIGN_OK);
    CHECK(bare.result.used == 2);
    CHECK(bare.pixels[3000] == other.pixels[3000]);
  });
}

TEST_CASE("c: a template of volumes equals that of the C++ interface") {
  const warpalign::Device& device = test::devices().front();
  const Opened opened(device);
  const MaskedSubjects subjects(volume_frame, 33);
  std::vector<warpalign_image> volumes;
  for (const Pixels& image : subjects.images) volumes.push_back(c_image(image, volume_frame));
  const std::array<warpalign_image, 2> masks{{{}, c_image(subjects.mask, volume_frame)}};
  warpalign_volume_options options{};
  REQUIRE(warpalign_default_volume_options(&options, sizeof options) == WARPALIGN_OK);
  options.motion = WARPALIGN_DEFORMABLE;
  options.max_rotation = 10;
  const warpalign_template_options once = template_options(1);
  Memory found(volume_frame, 2, 1);
  REQUIRE(warpalign_build_volume_template(opened, volumes.data(), masks.data(), 2, nullptr,
                                          &options, &once, &found.result) == WARPALIGN_OK);

  const auto source = [&](std::size_t i) {
    warpalign::TemplateVoxels voxels{{subjects.images[i].data(), PixelType::f32, volume_frame}};
    if (i == 1) voxels.mask = {subjects.mask.data(), PixelType::u8, volume_frame};
    return voxels;
  };
  warpalign::VolumeRegistrationOptions registration = warpalign::volume_template_registration();
  registration.max_rotation = 10;
  warpalign::TemplateOptions rounds;
  rounds.rounds = 1;
  check_equals(found, build_volume_template(device, 2, source, registration, rounds));
}

TEST_CASE("c: wrong calls that build templates give a status, and no transforms") {
  const Opened opened(test::devices().front());
  const MaskedSubjects subjects(image_frame, 35);
  const std::array<warpalign_image, 2> images{c_image(subjects.images[0], image_frame),
                                              c_image(subjects.images[1], image_frame)};
  const Marks none(subjects.mask.size(), 0);
  const auto refused = [&](warpalign_status status, const char* part, const auto& change) {
    CAPTURE(part);
    Memory memory(image_frame, 2, 1);
    Call call{images, {}, 2, {}, template_options(1), memory.result};
    REQUIRE(warpalign_default_register_options(&call.registration, sizeof call.registration) ==
            WARPALIGN_OK);
    call.registration.motion = WARPALIGN_RIGID;
    change(call);
    CHECK_REFUSED(
        status, part,
        warpalign_build_template(opened, call.images.data(), call.masks.data(), call.count, nullptr,
                                 &call.registration, &call.options, &call.result));
    CHECK(memory.pixels[100] == -1.0F);
    if (call.result.struct_size != sizeof call.result) return;
    CHECK(call.result.used == 0);
    for (std::size_t i = 0; i < call.count; ++i) CHECK(memory.transforms[i].id == 0);
  };
  constexpr auto argument = WARPALIGN_INVALID_ARGUMENT;
  refused(argument, "at least 2 images, not 1", [](Call& call) { call.count = 1; });
  refused(argument, "rounds must be from 1 to 100", [](Call& call) { call.options.rounds = 0; });
  refused(argument, "struct_size of options", [](Call& call) { call.options.struct_size = 1; });
  refused(argument, "struct_size of result", [](Call& call) { call.result.struct_size = 1; });
  refused(argument, "struct_size of options",
          [](Call& call) { call.registration.struct_size = 1; });
  refused(argument, "invalid motion for a template",
          [](Call& call) { call.registration.motion = WARPALIGN_HOMOGRAPHY; });
  refused(argument, "pixels has no data", [](Call& call) { call.result.pixels.data = nullptr; });
  refused(argument, "pixels must be WARPALIGN_F32",
          [](Call& call) { call.result.pixels.type = WARPALIGN_F64; });
  refused(argument, "pixels is 120 x 109, but the template is 120 x 110",
          [](Call& call) { call.result.pixels.height = 109; });
  refused(argument, "image 1 has no data", [](Call& call) { call.images[1].data = nullptr; });
  refused(argument, "image 1's mask is 120 x 100, but its image is 120 x 110", [&](Call& call) {
    call.masks[1] = c_image(subjects.mask, {120, 100, 1});
  });
  refused(argument, "image 0's mask must be u8", [&](Call& call) { call.masks[0] = images[0]; });
  refused(WARPALIGN_INVALID_IMAGE, "image 0 has no pixel to register",
          [&](Call& call) { call.masks[0] = c_image(none, image_frame); });
  const Pixels other = DrawnSubjects(image_frame, 0, 77).scene();
  refused(WARPALIGN_INVALID_IMAGE, "only 1 of 2 images register reliably",
          [&](Call& call) { call.images[1] = c_image(other, image_frame); });

  Memory memory(image_frame, 2, 1);
  CHECK_REFUSED(WARPALIGN_INVALID_HANDLE, "the device is null",
                warpalign_build_template({0}, images.data(), nullptr, 2, nullptr, nullptr, nullptr,
                                         &memory.result));
  CHECK(memory.transforms[1].id == 0);
  CHECK_REFUSED(argument, "images is null",
                warpalign_build_template(opened, nullptr, nullptr, 2, nullptr, nullptr, nullptr,
                                         &memory.result));
  CHECK_REFUSED(argument, "result is null",
                warpalign_build_template(opened, images.data(), nullptr, 2, nullptr, nullptr,
                                         nullptr, nullptr));
  CHECK_REFUSED(argument, "each side must be 8",
                warpalign_build_volume_template(opened, images.data(), nullptr, 2, nullptr, nullptr,
                                                nullptr, &memory.result));
  CHECK_REFUSED(argument, "options is null",
                warpalign_default_template_options(nullptr, sizeof(warpalign_template_options)));
  warpalign_template_options options{};
  CHECK_REFUSED(argument, "struct_size of options",
                warpalign_default_template_options(&options, 3));
}
