# libwebp, whose Debian package has no CMake files before Debian 13: the target WebP::webpdemux.
find_package(WebP CONFIG QUIET)
if(TARGET WebP::webpdemux)
  return()
endif()
find_path(WEBP_INCLUDE_DIR webp/demux.h)
find_library(WEBP_LIBRARY webp)
find_library(WEBPDEMUX_LIBRARY webpdemux)
mark_as_advanced(WEBP_INCLUDE_DIR WEBP_LIBRARY WEBPDEMUX_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(WebP
  REQUIRED_VARS WEBPDEMUX_LIBRARY WEBP_LIBRARY WEBP_INCLUDE_DIR NAME_MISMATCHED
  REASON_FAILURE_MESSAGE "install libwebp-dev, as script/bootstrap does")
if(NOT WebP_FOUND)
  message(FATAL_ERROR "libwebp is missing")
endif()
add_library(WebP::webpdemux INTERFACE IMPORTED GLOBAL)
target_include_directories(WebP::webpdemux INTERFACE ${WEBP_INCLUDE_DIR})
target_link_libraries(WebP::webpdemux INTERFACE ${WEBPDEMUX_LIBRARY} ${WEBP_LIBRARY})
