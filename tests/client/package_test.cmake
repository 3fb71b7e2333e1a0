# Installs the client as others would, builds the example project against it in both ways that are
# promised, and runs it. In: BUILD_DIR, SOURCE_DIR, WORK_DIR, LIB_DIR, GENERATOR, CXX, WITH_FAKE_SERVER.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    string(REPLACE ";" " " command "${ARGN}")
    message(FATAL_ERROR "${command}: ${result}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_answer consumer)
  run(${WITH_FAKE_SERVER} ${consumer})
  if(NOT output STREQUAL "0 0 1.5 2\n")
    message(FATAL_ERROR "${consumer} printed: ${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
set(prefix ${WORK_DIR}/prefix)
set(example ${SOURCE_DIR}/client/examples/consumer)
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix} --component dev)

file(GLOB_RECURSE headers ${prefix}/include/*.h)
foreach(header IN LISTS headers)
  file(STRINGS ${header} found REGEX "#include.*(grpc|google|proto)")
  if(found)
    message(FATAL_ERROR "${header} shows what the client is made of: ${found}")
  endif()
endforeach()
list(LENGTH headers count)
if(NOT count EQUAL 4)
  message(FATAL_ERROR "4 public headers expected, got: ${headers}")
endif()

run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${example} -B ${WORK_DIR}/build -D CMAKE_PREFIX_PATH=${prefix}
    -D CMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
expect_answer(${WORK_DIR}/build/consumer)

# Moved, to see that the package files do not remember where they were installed.
file(RENAME ${prefix} ${WORK_DIR}/moved)
set(ENV{PKG_CONFIG_PATH} ${WORK_DIR}/moved/${LIB_DIR}/pkgconfig)
run(pkg-config --cflags --libs trelu)
separate_arguments(flags UNIX_COMMAND "${output}")
run(${CXX} -std=c++20 -Wall -Wextra -Werror ${example}/main.cc -o ${WORK_DIR}/consumer ${flags})
expect_answer(${WORK_DIR}/consumer)
