// The mapping of exceptions to status codes of the C interface.
#include "c_interface/call.hpp"

#include <doctest/doctest.h>
#include <functional>
#include <stdexcept>
#include <string>

using warpalign::Error;
using warpalign::ErrorKind;
namespace c_interface = warpalign::c_interface;

TEST_CASE("c status: every kind of error has its own status") {
  for (const auto& [kind, status] :
       {std::pair{ErrorKind::invalid_argument, WARPALIGN_INVALID_ARGUMENT},
        {ErrorKind::invalid_image, WARPALIGN_INVALID_IMAGE},
        {ErrorKind::configuration, WARPALIGN_CONFIGURATION},
        {ErrorKind::device_unavailable, WARPALIGN_DEVICE_UNAVAILABLE},
        {ErrorKind::out_of_memory, WARPALIGN_OUT_OF_MEMORY},
        {ErrorKind::build_failed, WARPALIGN_BUILD_FAILED},
        {ErrorKind::device_failure, WARPALIGN_DEVICE_FAILURE}}) {
    CAPTURE(status);
    CHECK(c_interface::status_of(kind) == status);
    CHECK(c_interface::call([kind = kind] { throw Error(kind, "what happened"); }) == status);
    CHECK(std::string(warpalign_last_error()).find("what happened") != std::string::npos);
  }
}

TEST_CASE("c status: no other exception leaves the interface") {
  const auto status_and_text = [](const std::function<void()>& work) {
    const warpalign_status status = c_interface::call(work);
    return std::pair<warpalign_status, std::string>(status, warpalign_last_error());
  };
  using Found = std::pair<warpalign_status, std::string>;
  CHECK(status_and_text([] { throw std::bad_alloc(); }) ==
        Found(WARPALIGN_OUT_OF_MEMORY, "the host has too little memory"));
  CHECK(status_and_text([] { throw std::runtime_error("odd"); }) ==
        Found(WARPALIGN_INTERNAL_ERROR, "odd"));
  CHECK(status_and_text([] { throw 7; }) ==
        Found(WARPALIGN_INTERNAL_ERROR, "unknown exception; please report it"));
  CHECK(status_and_text([] { throw c_interface::InvalidHandle{"no device"}; }) ==
        Found(WARPALIGN_INVALID_HANDLE, "no device"));
  CHECK(status_and_text([] {}) == Found(WARPALIGN_OK, ""));
}
