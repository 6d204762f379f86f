# cmake -D build=.. -D work=.. -D generator=.. -D compiler=.. -D build_type=.. -D flags=.. -P run.cmake
#
# Installs the build folder `build` into a fresh prefix under `work`, then configures, builds and runs the
# consumer against that prefix. `flags` are the sanitizer flags that the library was built with: programs that
# link it need the same.
function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work}/run)
step(${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix)
step(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/build -G ${generator}
     -D CMAKE_PREFIX_PATH=${work}/prefix -D CMAKE_CXX_COMPILER=${compiler}
     -D CMAKE_BUILD_TYPE=${build_type} -D CMAKE_CXX_FLAGS=${flags}
     # Nothing but the installed prefix may be found.
     -D CMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
step(${CMAKE_COMMAND} --build ${work}/build)
step(${work}/build/consumer WORKING_DIRECTORY ${work}/run)
