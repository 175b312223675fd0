// Build options that several kernels share.
#include "device/build_options.hpp"

#include <warpalign/backend/stages/spline/prefilter.hpp>
#include <warpalign/stages/sobel.hpp>

#include <array>
#include <charconv>
#include <cmath>

namespace warpalign::opencl {

// Writes a number in C's hexadecimal form. printf() would use the decimal point of the locale.
std::string float_option(const char* name, double value) {
  const double rounded = static_cast<double>(static_cast<float>(value));
  std::array<char, 40> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), std::fabs(rounded),
                                 std::chars_format::hex);
  return std::string(" -D ") + name + "=(" + (std::signbit(rounded) ? "-0x" : "0x") +
         std::string(digits.data(), end.ptr) + "f)";
}

std::string int_option(const char* name, int value) {
  return std::string(" -D ") + name + "=" + std::to_string(value);
}

std::string pixel_option(PixelType type) {
  switch (type) {
    case PixelType::u8:
      return " -D PIXEL_U8";
    case PixelType::u16:
      return " -D PIXEL_U16";
    case PixelType::f16:
      return " -D PIXEL_F16";
    default:
      return " -D PIXEL_F32";
  }
}

std::string signal_options(PixelType type, Signal signal, std::int64_t width) {
  return pixel_option(type) + (signal == Signal::gradient ? " -D SIGNAL_GRADIENT" : "") +
         (width % 4 == 0 ? " -D WHOLE_WORDS" : "");
}

std::string extension_option(backend::Extension extension) {
  static_assert(static_cast<int>(backend::Extension::mirror) == 0 &&
                    static_cast<int>(backend::Extension::reflect) == 1 &&
                    static_cast<int>(backend::Extension::periodic) == 2 &&
                    static_cast<int>(backend::Extension::clamp) == 3 &&
                    static_cast<int>(backend::Extension::fill) == 4,
                "the numbers of formulas/boundary.h");
  return int_option("EXTENSION", static_cast<int>(extension));
}

std::string points_option(backend::InterpolateDetails::Points points) {
  using Rule = backend::InterpolateDetails::Points;
  switch (points) {
    case Rule::reject_outside:
      return " -D POINTS_REJECT";
    case Rule::clamp_to_margin:
      return " -D POINTS_CLAMP";
    case Rule::period_minus_one:
      return " -D POINTS_WRAP";
    case Rule::free:
      break;
  }
  return " -D POINTS_FREE";
}

std::string output_option(PixelType type) {
  switch (type) {
    case PixelType::u8:
      return " -D OUTPUT_U8";
    case PixelType::u16:
      return " -D OUTPUT_U16";
    case PixelType::f16:
      return " -D OUTPUT_F16";
    default:
      return " -D OUTPUT_F32";
  }
}

std::string spline_options(const InterpolateSpec& spec,
                           const backend::InterpolateDetails& details) {
  return int_option("DEGREE", spec.spline.degree) +
         int_option("DIMENSIONS", spec.images.dimensions) + extension_option(details.extension) +
         points_option(details.points) + output_option(spec.output_type) +
         (spec.coefficients == PixelType::c32 ? " -D COMPLEX" : "");
}

}  // namespace warpalign::opencl
