// Status codes and the message of the last error.
#include "c_interface/call.hpp"

#include <warpalign/version.hpp>

#include <array>

namespace warpalign::c_interface {

namespace {

/// The message of the thread's last error. If there is no memory for `text`, `fixed` replaces it.
struct LastError {
  std::string text;
  const char* fixed = nullptr;
};

LastError& last_error() noexcept {
  thread_local LastError error;
  return error;
}

constexpr std::array status_names{
    "WARPALIGN_OK",
    "WARPALIGN_INVALID_HANDLE",
    "WARPALIGN_INVALID_ARGUMENT",
    "WARPALIGN_INVALID_IMAGE",
    "WARPALIGN_CONFIGURATION",
    "WARPALIGN_DEVICE_UNAVAILABLE",
    "WARPALIGN_OUT_OF_MEMORY",
    "WARPALIGN_BUILD_FAILED",
    "WARPALIGN_DEVICE_FAILURE",
    "WARPALIGN_INTERNAL_ERROR",
};
static_assert(status_names.size() == WARPALIGN_INTERNAL_ERROR + 1);

}  // namespace

void set_last_error(const char* text) noexcept {
  LastError& error = last_error();
  try {
    error.text = text;
    error.fixed = nullptr;
  } catch (...) {
    error.fixed = "the host has too little memory for an error message";
  }
}

warpalign_status status_of(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return WARPALIGN_INVALID_ARGUMENT;
    case ErrorKind::invalid_image:
      return WARPALIGN_INVALID_IMAGE;
    case ErrorKind::configuration:
      return WARPALIGN_CONFIGURATION;
    case ErrorKind::device_unavailable:
      return WARPALIGN_DEVICE_UNAVAILABLE;
    case ErrorKind::out_of_memory:
      return WARPALIGN_OUT_OF_MEMORY;
    case ErrorKind::build_failed:
      return WARPALIGN_BUILD_FAILED;
    case ErrorKind::device_failure:
      return WARPALIGN_DEVICE_FAILURE;
  }
  return WARPALIGN_INTERNAL_ERROR;
}

warpalign_status report_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    set_last_error(error.what());
    return status_of(error.kind());
  } catch (const InvalidHandle& handle) {
    set_last_error(handle.what);
    return WARPALIGN_INVALID_HANDLE;
  } catch (const std::bad_alloc&) {
    set_last_error("the host has too little memory");
    return WARPALIGN_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    set_last_error(error.what());
  } catch (...) {
    set_last_error("unknown exception; please report it");
  }
  return WARPALIGN_INTERNAL_ERROR;
}

void refuse(const std::string& message) { throw Error(ErrorKind::invalid_argument, message); }

}  // namespace warpalign::c_interface

const char* warpalign_last_error(void) {
  const auto& error = warpalign::c_interface::last_error();
  return error.fixed != nullptr ? error.fixed : error.text.c_str();
}

const char* warpalign_status_name(warpalign_status status) {
  const auto& names = warpalign::c_interface::status_names;
  if (status < 0 || static_cast<std::size_t>(status) >= names.size()) return "unknown status";
  return names[static_cast<std::size_t>(status)];
}

const char* warpalign_version(void) { return warpalign::version(); }
