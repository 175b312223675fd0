// `warpalign register --motion local`.
#pragma once

#include "options/common_options.hpp"
#include "options/exit_status.hpp"
#include "options/local_options.hpp"

#include <optional>
#include <string>

namespace warpalign::program {

struct LocalRegistration {
  std::string reference;
  std::string moving;
  std::optional<std::size_t> reference_page;  ///< as for load_image()
  std::optional<std::size_t> moving_page;
  DeviceOptions device;
  LocalSettings settings;
  std::optional<std::string> output;   ///< the aligned image
  std::optional<std::string> overlay;  ///< .png
  std::optional<std::string> field;    ///< .npy
  std::optional<std::string> page;     ///< .html
  std::optional<double> nodata;        ///< the value of missing pixels
  bool json = false;
};

/// Registers the images. If no window has a reliable shift, there is no field and nothing is
/// written. Throws UsageError, FileError and warpalign::Error.
[[nodiscard]] ExitStatus register_local(const LocalRegistration& options);

}  // namespace warpalign::program
