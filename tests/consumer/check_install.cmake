# Installs to a prefix, moves the tree, and builds and runs the outside project against it, once
# with find_package and once with pkg-config. Uses the build tool and the compiler of this build,
# so that no other needs to be installed.
set(work ${BUILD}/test-install)
file(REMOVE_RECURSE ${work})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGN}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/first)
file(RENAME ${work}/first ${work}/moved)
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE} -B ${work}/build
    -D CMAKE_MAKE_PROGRAM=${MAKE_PROGRAM} -D CMAKE_CXX_COMPILER=${COMPILER}
    -D CMAKE_PREFIX_PATH=${work}/moved)
run(${CMAKE_COMMAND} --build ${work}/build)
run(${work}/build/consumer)
run(${work}/build/consumer_c)

find_program(PKG_CONFIG pkg-config REQUIRED)
set(ENV{PKG_CONFIG_PATH} ${work}/moved/${LIBRARY_FOLDER}/pkgconfig)
execute_process(COMMAND ${PKG_CONFIG} --cflags --libs warpalign OUTPUT_VARIABLE flags
                OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "pkg-config does not find the installed warpalign")
endif()
separate_arguments(flags UNIX_COMMAND "${flags}")
run(${COMPILER} -std=c++20 ${SOURCE}/main.cpp -o ${work}/consumer ${flags})
set(ENV{LD_LIBRARY_PATH} ${work}/moved/${LIBRARY_FOLDER})
run(${work}/consumer)
