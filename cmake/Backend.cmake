# What every backend's folder does: decide whether it is built, and add its module.

# warpalign_decide_backend(NAME FOUND MISSING): sets WARPALIGN_BUILD_<NAME> from the option
# WARPALIGN_<NAME> and from whether what the backend needs was found, and says so.
function(warpalign_decide_backend name found missing)
  string(TOUPPER ${name} upper)
  set(build OFF)
  if(WARPALIGN_${upper} STREQUAL "ON" AND NOT found)
    message(FATAL_ERROR "The ${upper} backend was asked for, but ${missing} was not found.")
  elseif(WARPALIGN_${upper} STREQUAL "OFF")
    message(STATUS "${upper} backend: switched off")
  elseif(found)
    set(build ON)
    message(STATUS "${upper} backend: will be built")
  else()
    message(STATUS "${upper} backend: not built, ${missing} was not found")
  endif()
  set(WARPALIGN_BUILD_${upper} ${build} PARENT_SCOPE)
endfunction()

# warpalign_add_backend(NAME): the module warpalign_<name> from every source below this folder, as
# libwarpalign loads it: beside the library, with one exported symbol.
function(warpalign_add_backend name)
  set(target warpalign_${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp"
       "${CMAKE_CURRENT_SOURCE_DIR}/*.cu")
  add_library(${target} MODULE ${sources})
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE
    warpalign::warpalign warpalign_backend_interface warpalign_warnings warpalign_host_code)
  set(exports "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/module_exports.map")
  target_link_options(${target} PRIVATE "LINKER:--version-script=${exports}")
  if(NOT WARPALIGN_SANITIZE)  # clang's sanitizers are in the program that loads the module
    target_link_options(${target} PRIVATE LINKER:--no-undefined)
  endif()
  set_target_properties(${target} PROPERTIES
    PREFIX "" LINK_DEPENDS "${exports}" INSTALL_RPATH "$ORIGIN")
  if(name IN_LIST WARPALIGN_BACKENDS)  # not a test's
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${name})
  endif()
endfunction()
