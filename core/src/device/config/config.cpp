// Reading the configuration file.
#include <warpalign/config.hpp>

#include "device/cache/folders.hpp"
#include "device/config/config_text.hpp"
#include "device/config/toml.hpp"

#include <warpalign/error.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace warpalign {

namespace {

[[noreturn]] void complain(const std::filesystem::path& file, const toml::source_region& where,
                           const std::string& message) {
  throw Error(ErrorKind::configuration,
              file.string() + ":" + std::to_string(where.begin.line) + ": " + message);
}

std::string text_value(const std::filesystem::path& file, const std::string& key,
                       const toml::node& node) {
  const auto value = node.value_exact<std::string>();
  if (!value || value->empty()) {
    complain(file, node.source(), "'" + key + "' must be a non-empty string");
  }
  return *value;
}

// The library loads code from these folders, so they must not depend on the current directory.
std::string folder_value(const std::filesystem::path& file, const std::string& key,
                         const toml::node& node) {
  std::string folder = text_value(file, key, node);
  if (std::filesystem::path(folder).is_absolute()) return folder;
  complain(file, node.source(),
           "'" + key + "' is \"" + folder + "\", but must be an absolute path");
}

// Names become parts of file names, so no other characters are allowed.
bool is_backend_name(const std::string& name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

std::vector<std::string> backend_names(const std::filesystem::path& file, const toml::node& node) {
  const toml::array* array = node.as_array();
  std::vector<std::string> names;
  if (array != nullptr) {
    for (const toml::node& entry : *array) names.push_back(entry.value_or<std::string>(""));
  }
  if (names.empty() || !std::all_of(names.begin(), names.end(), is_backend_name)) {
    complain(file, node.source(),
             "'backends' must be a list of names of lower-case letters, digits and underscores, "
             "such as [\"cuda\", \"opencl\"]");
  }
  return names;
}

std::string fft_value(const std::filesystem::path& file, const toml::node& node) {
  const std::string value = text_value(file, "opencl.fft", node);
  if (value != "auto" && value != "vkfft" && value != "clfft") {
    complain(file, node.source(),
             "'opencl.fft' is \"" + value + "\", but must be \"auto\", \"vkfft\" or \"clfft\"");
  }
  return value;
}

void read_opencl(const std::filesystem::path& file, const toml::node& node, Config& config) {
  const toml::table* table = node.as_table();
  if (table == nullptr) complain(file, node.source(), "'opencl' must be a table, [opencl]");
  for (const auto& [key, value] : *table) {
    if (key.str() == "fft") {
      config.opencl_fft = fft_value(file, value);
    } else {
      complain(file, value.source(),
               "unknown key 'opencl." + std::string(key.str()) + "'; known: opencl.fft");
    }
  }
}

Config interpret(const std::filesystem::path& file, const toml::table& root) {
  Config config;
  config.origin = file;
  for (const auto& [key, value] : root) {
    const std::string name(key.str());
    if (name == "device") {
      config.device = text_value(file, name, value);
    } else if (name == "modules") {
      config.module_folder = folder_value(file, name, value);
    } else if (name == "backends") {
      config.backends = backend_names(file, value);
    } else if (name == "cache") {
      config.cache_folder = folder_value(file, name, value);
    } else if (name == "opencl") {
      read_opencl(file, value, config);
    } else {
      complain(file, value.source(),
               "unknown key '" + name + "'; known: device, modules, backends, cache, opencl.fft");
    }
  }
  return config;
}

}  // namespace

Config read_config(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored) || !stream || !(text << stream.rdbuf())) {
    if (!std::filesystem::is_regular_file(file, ignored) ||
        std::filesystem::file_size(file, ignored) != 0) {
      throw Error(ErrorKind::configuration,
                  "the configuration file " + file.string() + " cannot be read");
    }
  }
  const auto ascii = detail::ascii_toml(text.str());
  if (const auto* refused = std::get_if<detail::RefusedCharacter>(&ascii)) {
    throw Error(
        ErrorKind::configuration,
        file.string() + ":" + std::to_string(refused->line) +
            ": characters beyond ASCII are allowed only in comments and, as UTF-8, in double "
            "quotes on one line");
  }
  try {
    return interpret(file, toml::parse(std::get<std::string>(ascii)));
  } catch (const toml::parse_error& error) {
    complain(file, error.source(), std::string(error.description()));
  } catch (const detail::UnexpectedToml&) {
    throw Error(ErrorKind::configuration,
                file.string() + ": this is not TOML; the parser does not report the line");
  }
}

Config default_config() {
  const std::filesystem::path folder = detail::config_folder();
  if (folder.empty()) return {};
  const std::filesystem::path file = folder / "warpalign.toml";
  std::error_code ignored;
  return std::filesystem::exists(file, ignored) ? read_config(file) : Config{};
}

}  // namespace warpalign
