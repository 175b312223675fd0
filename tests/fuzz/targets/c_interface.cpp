// The C interface: the bytes are a sequence of calls, with handles that were closed or never
// existed, and with unusual sizes, types, numbers and pointers. Only what C cannot check is always
// right: the given memory has the number of bytes that the arguments state.
#include "reader.hpp"

#include <warpalign/warpalign.h>

#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

namespace warpalign::fuzz {
namespace {

constexpr std::size_t room = std::size_t{1} << 20;
constexpr std::int64_t largest_extent = std::int64_t{1} << 30;

std::vector<std::byte>& pixels() {
  static std::vector<std::byte> bytes(room, std::byte{0x3c});
  return bytes;
}

class Calls {
 public:
  explicit Calls(Input input) : reader_(input) {}

  void run() {
    for (int calls = 0; calls < 40 && !reader_.empty(); ++calls) call();
    for (const warpalign_registrar registrar : registrars_) warpalign_destroy_registrar(registrar);
    for (const warpalign_volume_registrar registrar : volume_registrars_) {
      warpalign_destroy_volume_registrar(registrar);
    }
    for (const warpalign_device device : devices_) warpalign_close_device(device);
  }

 private:
  void call() {
    switch (reader_.byte() % 21) {
      case 0:
        return list_devices();
      case 1:
        return open_device();
      case 2:
        return describe_device();
      case 3:
        return expect(warpalign_close_device(device()));
      case 4:
        return default_options();
      case 5:
        return register_pair();
      case 6:
        return make_registrar();
      case 7:
        return set_reference();
      case 8:
        return align();
      case 9:
        return expect(warpalign_destroy_registrar(registrar()));
      case 10:
        return resample();
      case 11:
        return prefilter();
      case 12:
        return transforms();
      case 13:
        return register_volumes();
      case 14:
        return make_volume_registrar();
      case 15:
        return set_reference_volume();
      case 16:
        return set_initial_matrix();
      case 17:
        return align_volume();
      case 18:
        return expect(warpalign_destroy_volume_registrar(volume_registrar()));
      case 19:
        return build_template();
      default:
        require(warpalign_status_name(reader_.number<std::int32_t>()) != nullptr,
                "every status has a name");
    }
  }

  /// A mistake of the caller must give its status and a message.
  static void expect(warpalign_status status) {
    require(status >= WARPALIGN_OK && status < WARPALIGN_INTERNAL_ERROR,
            "a status says what is wrong");
    const bool explained = std::strlen(warpalign_last_error()) > 0;
    require(explained == (status != WARPALIGN_OK), "an error has words, and a success has none");
  }

  template <class Struct>
  std::size_t size_of_struct() {
    const std::uint8_t choice = reader_.byte();
    return choice < 240 ? sizeof(Struct) : choice % 3 == 0 ? 0 : sizeof(Struct) + choice - 248;
  }
  bool rarely() { return reader_.byte() > 250; }

  std::uint64_t handle(std::size_t count, const auto& at) {
    const std::uint8_t choice = reader_.byte();
    if (choice > 250 || count == 0) return reader_.number<std::uint64_t>();
    return at(choice % count).id;
  }
  warpalign_device device() {
    return {handle(devices_.size(), [&](std::size_t i) { return devices_[i]; })};
  }
  warpalign_registrar registrar() {
    return {handle(registrars_.size(), [&](std::size_t i) { return registrars_[i]; })};
  }

  warpalign_volume_registrar volume_registrar() {
    return {
        handle(volume_registrars_.size(), [&](std::size_t i) { return volume_registrars_[i]; })};
  }

  std::int64_t extent() {
    constexpr std::array<std::int64_t, 16> odd{0,
                                               -1,
                                               1,
                                               2,
                                               3,
                                               15,
                                               16,
                                               17,
                                               31,
                                               32,
                                               64,
                                               largest_extent,
                                               largest_extent + 1,
                                               std::int64_t{1} << 32,
                                               std::numeric_limits<std::int64_t>::max(),
                                               std::numeric_limits<std::int64_t>::min()};
    return reader_.one_of(odd);
  }
  double real() {
    constexpr std::array odd{0.0,
                             1.0,
                             -1.0,
                             0.5,
                             8.0,
                             0.125,
                             1e300,
                             -1e-300,
                             360.0,
                             std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity()};
    return reader_.byte() < 128 ? reader_.one_of(odd) : reader_.number<double>();
  }
  std::int32_t enumerator(std::int32_t count) {
    const std::uint8_t choice = reader_.byte();
    return choice < 240 ? choice % count : reader_.number<std::int32_t>();
  }

  /// The number of bytes that an image of this kind spans. Empty if no image can have these
  /// extents; then the library must refuse it before it reads a pixel.
  static std::optional<std::size_t> span_of(std::int32_t type, std::int64_t width,
                                            std::int64_t height, std::int64_t depth,
                                            std::int64_t row_bytes) {
    constexpr std::array<std::size_t, 10> sizes{1, 1, 2, 2, 4, 4, 2, 4, 8, 8};
    const auto outside = [](std::int64_t n) { return n < 1 || n > largest_extent; };
    const std::int64_t planes = depth == 0 ? 1 : depth;
    if (type < 0 || static_cast<std::size_t>(type) >= sizes.size()) return {};
    if (outside(width) || outside(height) || outside(planes)) return {};
    const auto size = static_cast<double>(sizes[static_cast<std::size_t>(type)]);
    const double row = static_cast<double>(width) * size;
    const double pitch = row_bytes == 0 ? row : static_cast<double>(row_bytes);
    if (pitch < row) return {};
    const double span = pitch * static_cast<double>(height) * static_cast<double>(planes);
    return span <= static_cast<double>(room) ? static_cast<std::size_t>(span) : room + 1;
  }

  /// Null if this process has too little memory.
  void* data_for(std::optional<std::size_t> span) {
    if (rarely() || (span && *span > room)) return nullptr;
    return pixels().data();
  }

  warpalign_image image() {
    warpalign_image image{};
    image.type = enumerator(10);
    image.width = extent();
    image.height = reader_.byte() < 128 ? image.width : extent();
    image.depth = reader_.byte() < 128 ? 1 : extent();
    if (reader_.byte() > 200) {
      const auto bytes = extent();
      const auto more = reader_.byte();
      const bool fits = bytes <= std::numeric_limits<decltype(bytes)>::max() - more;
      image.row_bytes = fits ? bytes + more : bytes;
    }
    image.data =
        data_for(span_of(image.type, image.width, image.height, image.depth, image.row_bytes));
    return image;
  }
  warpalign_output output() {
    warpalign_output output{};
    output.type = enumerator(10);
    output.width = extent();
    output.height = reader_.byte() < 128 ? output.width : extent();
    output.depth = reader_.byte() < 128 ? 1 : extent();
    output.data = data_for(span_of(output.type, output.width, output.height, output.depth, 0));
    return output;
  }

  void list_devices() {
    std::array<warpalign_device_info, 4> infos{};
    for (auto& info : infos) info.struct_size = size_of_struct<warpalign_device_info>();
    std::size_t count = 0;
    const std::size_t capacity = reader_.byte() % (infos.size() + 1);
    expect(warpalign_list_devices(rarely() ? nullptr : infos.data(), capacity,
                                  rarely() ? nullptr : &count));
  }

  void open_device() {
    constexpr std::array names{"",        "plain:0", "plain", "plain:99999999999999999999",
                               "opencl:", "cuda:0",  ":::",   "\xff\xfe%s%n"};
    warpalign_device opened{};
    const std::uint8_t choice = reader_.byte();
    const char* name = choice < 200 ? names[0] : names[choice % names.size()];
    expect(warpalign_open_device(rarely() ? nullptr : name, rarely() ? nullptr : &opened));
    if (opened.id != 0) devices_.push_back(opened);
  }

  void describe_device() {
    warpalign_device_info info{};
    info.struct_size = size_of_struct<warpalign_device_info>();
    expect(warpalign_describe_device(device(), rarely() ? nullptr : &info));
    const auto ends = [](const auto& text) { return std::memchr(text, 0, sizeof text) != nullptr; };
    require(ends(info.id) && ends(info.backend) && ends(info.name) && ends(info.platform) &&
                ends(info.driver),
            "texts end");
  }

  void default_options() {
    warpalign_register_options options{};
    expect(warpalign_default_register_options(rarely() ? nullptr : &options,
                                              size_of_struct<warpalign_register_options>()));
    warpalign_volume_options volumes{};
    expect(warpalign_default_volume_options(rarely() ? nullptr : &volumes,
                                            size_of_struct<warpalign_volume_options>()));
    warpalign_template_options of_template{};
    expect(warpalign_default_template_options(rarely() ? nullptr : &of_template,
                                              size_of_struct<warpalign_template_options>()));
    warpalign_spline_options spline{};
    expect(warpalign_default_spline_options(rarely() ? nullptr : &spline,
                                            size_of_struct<warpalign_spline_options>()));
  }

  warpalign_register_options register_options() {
    warpalign_register_options options{};
    warpalign_default_register_options(&options, sizeof options);
    options.struct_size = size_of_struct<warpalign_register_options>();
    const std::uint8_t changes = reader_.byte();
    if ((changes & 1U) != 0) options.fast = enumerator(2);
    if ((changes & 2U) != 0) options.refine = enumerator(2);
    if ((changes & 4U) != 0) options.motion = enumerator(7);
    if ((changes & 8U) != 0) options.min_scale = real();
    if ((changes & 16U) != 0) options.max_scale = real();
    if ((changes & 32U) != 0) options.min_angle = real();
    if ((changes & 64U) != 0) options.max_angle = real();
    if ((changes & 128U) != 0) options.max_shift = options.max_shift_y = real();
    return options;
  }

  warpalign_spline_options spline_options() {
    warpalign_spline_options options{};
    warpalign_default_spline_options(&options, sizeof options);
    options.struct_size = size_of_struct<warpalign_spline_options>();
    const std::uint8_t changes = reader_.byte();
    if ((changes & 1U) != 0) options.dimensions = enumerator(4);
    if ((changes & 2U) != 0) options.degree = enumerator(7);
    if ((changes & 4U) != 0) options.prefilter = enumerator(3);
    if ((changes & 8U) != 0) options.taps = enumerator(64);
    if ((changes & 16U) != 0) options.boundary = enumerator(7);
    if ((changes & 32U) != 0) options.cval = real();
    return options;
  }

  void register_pair() {
    const warpalign_image reference = image();
    const warpalign_image moving = image();
    const warpalign_register_options options = register_options();
    warpalign_registration result{};
    result.struct_size = size_of_struct<warpalign_registration>();
    expect(warpalign_register(device(), rarely() ? nullptr : &reference,
                              rarely() ? nullptr : &moving, rarely() ? nullptr : &options,
                              rarely() ? nullptr : &result));
  }

  void build_template() {
    const std::array images{image(), image()};
    const std::array masks{image(), image()};
    const warpalign_image initial = image();
    const warpalign_register_options registration = register_options();
    const warpalign_volume_options of_volumes = volume_options();
    warpalign_template_options options{size_of_struct<warpalign_template_options>(), enumerator(4)};
    std::array<warpalign_transform, 2> transforms{};
    std::array<double, 2> confidences{};
    std::array<double, 100> changes{};
    warpalign_template result{};
    result.struct_size = size_of_struct<warpalign_template>();
    result.pixels = output();
    result.transforms = rarely() ? nullptr : transforms.data();
    result.confidences = rarely() ? nullptr : confidences.data();
    result.changes = rarely() ? nullptr : changes.data();
    const warpalign_image* const first = rarely() ? nullptr : images.data();
    const warpalign_image* const hidden = reader_.byte() < 128 ? nullptr : masks.data();
    const warpalign_image* const start = reader_.byte() < 128 ? nullptr : &initial;
    const std::size_t count = reader_.byte() % (images.size() + 1);
    const warpalign_status status =
        reader_.byte() < 128
            ? warpalign_build_template(device(), first, hidden, count, start, &registration,
                                       &options, rarely() ? nullptr : &result)
            : warpalign_build_volume_template(device(), first, hidden, count, start, &of_volumes,
                                              &options, rarely() ? nullptr : &result);
    for (const warpalign_transform transform : transforms) {
      expect_transform(status, transform);
      if (transform.id != 0) warpalign_destroy_transform(transform);
    }
  }

  void make_registrar() {
    const warpalign_register_options options = register_options();
    warpalign_registrar made{};
    expect(warpalign_make_registrar(device(), rarely() ? nullptr : &options,
                                    rarely() ? nullptr : &made));
    if (made.id != 0) registrars_.push_back(made);
  }

  void set_reference() {
    const warpalign_image reference = image();
    const warpalign_image mask = image();
    expect(warpalign_set_reference(registrar(), rarely() ? nullptr : &reference,
                                   reader_.byte() < 128 ? nullptr : &mask));
  }

  void align() {
    const warpalign_image moving = image();
    const warpalign_image mask = image();
    warpalign_registration result{};
    result.struct_size = size_of_struct<warpalign_registration>();
    expect(warpalign_align(registrar(), rarely() ? nullptr : &moving,
                           reader_.byte() < 128 ? nullptr : &mask, rarely() ? nullptr : &result));
  }

  warpalign_volume_options volume_options() {
    warpalign_volume_options options{};
    warpalign_default_volume_options(&options, sizeof options);
    options.struct_size = size_of_struct<warpalign_volume_options>();
    const std::uint8_t changes = reader_.byte();
    if ((changes & 1U) != 0) options.motion = enumerator(8);
    if ((changes & 2U) != 0) options.modality = enumerator(3);
    if ((changes & 4U) != 0) options.refine = enumerator(2);
    if ((changes & 8U) != 0) options.max_rotation = real();
    if ((changes & 16U) != 0) options.reference_spacing[reader_.byte() % 3] = real();
    if ((changes & 32U) != 0) options.moving_spacing[reader_.byte() % 3] = real();
    if ((changes & 64U) != 0) options.max_shift[reader_.byte() % 3] = real();
    if ((changes & 128U) != 0) options.grid_spacing = options.bending_weight = real();
    return options;
  }

  /// A status other than WARPALIGN_OK leaves no transform.
  static void expect_transform(warpalign_status status, warpalign_transform transform) {
    expect(status);
    require(status == WARPALIGN_OK || transform.id == 0, "an error gives no transform");
    if (transform.id != 0) expect(warpalign_destroy_transform(transform));
  }

  void register_volumes() {
    const warpalign_image reference = image();
    const warpalign_image moving = image();
    const warpalign_volume_options options = volume_options();
    warpalign_volume_registration result{};
    result.struct_size = size_of_struct<warpalign_volume_registration>();
    warpalign_transform transform{};
    const warpalign_status status =
        warpalign_register_volumes(device(), rarely() ? nullptr : &reference,
                                   rarely() ? nullptr : &moving, rarely() ? nullptr : &options,
                                   rarely() ? nullptr : &result, rarely() ? nullptr : &transform);
    expect_transform(status, transform);
  }

  void make_volume_registrar() {
    const warpalign_volume_options options = volume_options();
    warpalign_volume_registrar made{};
    expect(warpalign_make_volume_registrar(device(), rarely() ? nullptr : &options,
                                           rarely() ? nullptr : &made));
    if (made.id != 0) volume_registrars_.push_back(made);
  }

  void set_reference_volume() {
    const warpalign_image reference = image();
    const warpalign_image mask = image();
    expect(warpalign_set_reference_volume(volume_registrar(), rarely() ? nullptr : &reference,
                                          reader_.byte() < 128 ? nullptr : &mask));
  }

  void set_initial_matrix() {
    std::array<double, 16> matrix{};
    for (double& number : matrix) number = real();
    expect(warpalign_set_initial_matrix(volume_registrar(), rarely() ? nullptr : matrix.data()));
  }

  void align_volume() {
    const warpalign_image moving = image();
    const warpalign_image mask = image();
    warpalign_volume_registration result{};
    result.struct_size = size_of_struct<warpalign_volume_registration>();
    warpalign_transform transform{};
    const warpalign_status status = warpalign_align_volume(
        volume_registrar(), rarely() ? nullptr : &moving, reader_.byte() < 128 ? nullptr : &mask,
        rarely() ? nullptr : &result, rarely() ? nullptr : &transform);
    expect_transform(status, transform);
  }

  void resample() {
    const warpalign_image input = image();
    const warpalign_output result = output();
    const warpalign_spline_options options = spline_options();
    std::array<double, 16> transform{};
    for (double& number : transform) number = real();
    expect(warpalign_resample(device(), rarely() ? nullptr : &input,
                              rarely() ? nullptr : transform.data(), rarely() ? nullptr : &options,
                              rarely() ? nullptr : &result));
  }

  void prefilter() {
    const warpalign_image samples = image();
    const warpalign_spline_options options = spline_options();
    warpalign_output coefficients = output();
    expect(warpalign_describe_coefficients(rarely() ? nullptr : &samples,
                                           rarely() ? nullptr : &options,
                                           rarely() ? nullptr : &coefficients));
    coefficients.data = data_for(
        span_of(coefficients.type, coefficients.width, coefficients.height, coefficients.depth, 0));
    expect(warpalign_prefilter(device(), rarely() ? nullptr : &samples,
                               rarely() ? nullptr : &options, rarely() ? nullptr : &coefficients));
  }

  void transforms() {
    std::array<double, 9> matrix{};
    for (double& number : matrix) number = real();
    std::array<double, 16> transform{};
    double* target = rarely() ? nullptr : transform.data();
    expect(warpalign_transform_from_affine(rarely() ? nullptr : matrix.data(), target));
    expect(warpalign_transform_from_homography(rarely() ? nullptr : matrix.data(), target));
  }

  Reader reader_;
  std::vector<warpalign_device> devices_;
  std::vector<warpalign_registrar> registrars_;
  std::vector<warpalign_volume_registrar> volume_registrars_;
};

void run(Input input) { Calls(input).run(); }

const Registration registration("c_interface", run);

}  // namespace
}  // namespace warpalign::fuzz
