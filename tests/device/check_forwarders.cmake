# Fails if an OpenCL function that the backend uses has no forwarder. A module that does not link
# the ICD loader (that of the Python wheel) needs them all; it would not link otherwise, but few
# builds make it.
cmake_policy(VERSION 3.25)

find_program(NM nm)
if(NOT NM)
  message("skipped: test_forwarders: nm is not installed")
  return()
endif()
execute_process(COMMAND ${NM} -D --undefined-only ${MODULE}
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " cl[A-Z][A-Za-z]+" used "${symbols}")
list(TRANSFORM used STRIP)
list(LENGTH used count)
if(count LESS 30)
  message(FATAL_ERROR "only ${count} OpenCL functions are undefined in ${MODULE}")
endif()
file(READ ${FORWARDERS} text)
set(missing "")
foreach(name IN LISTS used)
  if(NOT text MATCHES "FORWARD_[0-9]+\\(${name}\\)")
    string(APPEND missing " ${name}")
  endif()
endforeach()
if(missing)
  message(FATAL_ERROR "${FORWARDERS} has no forwarder of:${missing}")
endif()
