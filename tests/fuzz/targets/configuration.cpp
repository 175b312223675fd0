// Configuration files (TOML).
#include "scratch_file.hpp"

#include <warpalign/config.hpp>
#include <warpalign/error.hpp>

namespace warpalign::fuzz {
namespace {

/// Names become parts of the names of files that are loaded as code.
void check_backend(const std::string& name) {
  const char* allowed = "abcdefghijklmnopqrstuvwxyz0123456789_";
  require(!name.empty() && name.find_first_not_of(allowed) == std::string::npos,
          "a backend's name is no path");
}

void run(Input input) {
  try {
    const Config config = read_config(as_file(input));
    for (const std::string& name : config.backends) check_backend(name);
    require(!config.device || !config.device->empty(), "a device's name is not empty");
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::configuration, "an error of the configuration says so");
  }
}

const Registration registration("configuration", run);

}  // namespace
}  // namespace warpalign::fuzz
