// Names of images, which may say a page of a file.
#include "io/image_name.hpp"

#include <charconv>
#include <string>
#include <system_error>

namespace warpalign::program {

ImageName image_name(const std::filesystem::path& name) {
  const std::string text = name.string();
  const std::size_t open = text.rfind('[');
  if (!text.ends_with(']') || open == std::string::npos || open == 0) return {name, {}};
  std::size_t page = 0;
  const char* end = text.data() + text.size() - 1;
  const auto [stop, failed] = std::from_chars(text.data() + open + 1, end, page);
  if (failed != std::errc{} || stop != end || stop == text.data() + open + 1) return {name, {}};
  std::error_code ignored;
  if (std::filesystem::exists(name, ignored)) return {name, {}};
  return {text.substr(0, open), page};
}

}  // namespace warpalign::program
