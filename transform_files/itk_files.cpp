// The files of ITK's transforms: text, and MATLAB's version 4.
#include "itk.hpp"

#include "text.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace warpalign::transform_files {
namespace {

constexpr std::string_view first_line = "#Insight Transform File V1.0";
constexpr std::string_view pixels_line = "# of pixels: spacing 1, origin 0";

/// The text behind "key:", if the line begins with it.
std::optional<std::string_view> value_of(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return std::nullopt;
  return trimmed(line.substr(key.size()));
}

/// Matrices of a MATLAB file of version 4, one after the other.
class MatlabReader {
 public:
  explicit MatlabReader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  /// A matrix of numbers, column by column, and its name.
  std::pair<std::string, std::vector<double>> next() {
    std::array<std::int32_t, 5> header{};
    const std::string_view start = take(sizeof header);
    std::memcpy(header.data(), start.data(), sizeof header);
    swapped_ = header[0] < 0 || header[0] > 9999;
    for (std::int32_t& value : header) value = in_order(value);
    const auto [type, rows, columns, imaginary, length] = header;
    const int order = type / 1000;
    const int precision = type % 100 / 10;
    if (type < 0 || type > 1059 || order > 1 || precision > 1 || type % 10 != 0 || imaginary != 0) {
      refuse("it has a matrix that is not of real floating-point numbers");
    }
    if (rows < 0 || columns < 0 || length < 1 || length > 256) refuse("its header is damaged");
    const std::string_view name = take(static_cast<std::size_t>(length));
    const auto count = static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns);
    if (count > rest_.size()) cut_short();
    return {std::string(name.substr(0, name.find('\0'))),
            precision == 0 ? numbers<double, std::uint64_t>(count)
                           : numbers<float, std::uint32_t>(count)};
  }

 private:
  [[noreturn]] static void cut_short() { refuse("the file is cut short; copy or export it again"); }

  std::string_view take(std::size_t size) {
    if (size > rest_.size()) cut_short();
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  template <class Value>
  [[nodiscard]] Value in_order(Value value) const {
    if (!swapped_) return value;
    auto bytes = std::bit_cast<std::array<char, sizeof(Value)>>(value);
    std::reverse(bytes.begin(), bytes.end());
    return std::bit_cast<Value>(bytes);
  }

  template <class Value, class Bits>
  std::vector<double> numbers(std::uint64_t count) {
    const std::string_view bytes = take(count * sizeof(Value));
    std::vector<double> values;
    for (std::uint64_t i = 0; i < count; ++i) {
      Bits bits{};
      std::memcpy(&bits, bytes.data() + i * sizeof bits, sizeof bits);
      values.push_back(static_cast<double>(std::bit_cast<Value>(in_order(bits))));
    }
    return values;
  }

  std::string_view rest_;
  bool swapped_ = false;
};

void append_matlab(std::string& file, const std::string& name, std::span<const double> values) {
  const bool little = std::endian::native == std::endian::little;
  const std::array<std::int32_t, 5> header{little ? 0 : 1000,
                                           static_cast<std::int32_t>(values.size()), 1, 0,
                                           static_cast<std::int32_t>(name.size() + 1)};
  file.append(reinterpret_cast<const char*>(header.data()), sizeof header);
  file.append(name.c_str(), name.size() + 1);
  file.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

}  // namespace

Transform read_itk_text(std::string_view text) {
  Lines lines(text);
  if (lines.expect("the first line") != first_line) {
    refuse("the first line is not '" + std::string(first_line) + "'");
  }
  std::vector<ItkTransform> list;
  bool of_pixels = false;
  while (const auto line = lines.next()) {
    if (*line == pixels_line) of_pixels = true;
    if (line->starts_with('#')) continue;
    const auto type = value_of(*line, "Transform:");
    if (!type)
      refuse("'Transform:' expected instead of '" + std::string(line->substr(0, 40)) + "'");
    ItkTransform itk{.type = std::string(*type), .parameters = {}, .fixed = {}};
    // A composite may have the line of its own parameters or none.
    if (!type->starts_with("CompositeTransform_")) {
      const std::string_view parameters = lines.expect("'Parameters:'");
      if (!parameters.starts_with("Parameters:")) refuse("'Parameters:' is missing");
      const std::string_view fixed = lines.expect("'FixedParameters:'");
      if (!fixed.starts_with("FixedParameters:")) refuse("'FixedParameters:' is missing");
      itk.parameters = numbers_of(*value_of(parameters, "Parameters:"), "Parameters");
      itk.fixed = numbers_of(*value_of(fixed, "FixedParameters:"), "FixedParameters");
    }
    list.push_back(std::move(itk));
    // Skips the composite's own empty parameters.
    Lines ahead = lines;
    while (list.back().type.starts_with("CompositeTransform_")) {
      const auto next = ahead.next();
      if (!next || !(next->starts_with("Parameters:") || next->starts_with("FixedParameters:"))) {
        break;
      }
      lines = ahead;
    }
  }
  const Transform transform = transform_of(list);
  return of_pixels ? transform.in_coordinates(Coordinates::pixels, plain_grid, plain_grid)
                   : transform;
}

std::string write_itk_text(const Transform& transform, bool of_pixels) {
  std::string text = std::string(first_line) + "\n";
  if (of_pixels) text += std::string(pixels_line) + "\n";
  int number = 0;
  for (const ItkTransform& itk : itk_transforms_of(transform)) {
    text += "#Transform " + std::to_string(number++) + "\nTransform: " + itk.type +
            "\nParameters: " + text_of(itk.parameters) +
            "\nFixedParameters: " + text_of(itk.fixed) + "\n";
  }
  return text;
}

Transform read_itk_matlab(std::string_view bytes) {
  MatlabReader reader(bytes);
  std::vector<ItkTransform> list;
  while (!reader.at_end()) {
    auto [type, parameters] = reader.next();
    auto [name, fixed] = reader.next();
    if (name != "fixed") refuse("its matrix '" + name.substr(0, 40) + "' should be 'fixed'");
    list.push_back({std::move(type), std::move(parameters), std::move(fixed)});
  }
  return transform_of(list);
}

std::string write_itk_matlab(const Transform& transform) {
  const std::vector<ItkTransform> list = itk_transforms_of(transform);
  if (list.size() > 1 || !transform.matrix()) {
    refuse("a .mat file of ITK and ANTs holds one affine transform");
  }
  std::string file;
  append_matlab(file, list.front().type, list.front().parameters);
  append_matlab(file, "fixed", list.front().fixed);
  return file;
}

}  // namespace warpalign::transform_files
