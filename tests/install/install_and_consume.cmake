# Run by CTest: installs a library of KIND from TREE, or from a build of its own when TREE is of the
# other kind; then moves the prefix and consumes it with each of COMPILERS.
cmake_policy(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK}/first ${WORK}/moved)
string(COMPARE EQUAL ${KIND} shared shared)
if(TREE_IS_SHARED)
  set(tree_kind shared)
else()
  set(tree_kind static)
endif()
load_cache(${TREE} READ_WITH_PREFIX TREE_
  CMAKE_BUILD_TYPE CMAKE_CXX_FLAGS CMAKE_CXX_FLAGS_RELWITHDEBINFO CMAKE_GENERATOR
  HEDDLE_PRECOMPILE HEDDLE_VERIFY_PASSES HEDDLE_WARNINGS_AS_ERRORS)
if(NOT KIND STREQUAL tree_kind)
  # The same flags, so that ccache serves what both kinds have in common.
  list(GET COMPILERS 0 compiler)
  run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${TREE_CMAKE_GENERATOR}
    -DCMAKE_CXX_COMPILER=${compiler} -DCMAKE_BUILD_TYPE=${TREE_CMAKE_BUILD_TYPE}
    -DCMAKE_CXX_FLAGS=${TREE_CMAKE_CXX_FLAGS}
    -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=${TREE_CMAKE_CXX_FLAGS_RELWITHDEBINFO}
    -DHEDDLE_PRECOMPILE=${TREE_HEDDLE_PRECOMPILE}
    -DHEDDLE_VERIFY_PASSES=${TREE_HEDDLE_VERIFY_PASSES}
    -DHEDDLE_WARNINGS_AS_ERRORS=${TREE_HEDDLE_WARNINGS_AS_ERRORS} -DBUILD_SHARED_LIBS=${shared}
    -DHEDDLE_TESTS=OFF -DHEDDLE_BENCH=OFF -DHEDDLE_EXAMPLES=OFF)
  run(${CMAKE_COMMAND} --build ${WORK}/build --parallel)
  set(TREE ${WORK}/build)
endif()

run(${CMAKE_COMMAND} --install ${TREE} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/moved)
foreach(compiler IN LISTS COMPILERS)
  cmake_path(GET compiler FILENAME name)
  set(build ${WORK}/consumer-${name})
  file(REMOVE_RECURSE ${build})
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${build} -G ${TREE_CMAKE_GENERATOR}
    -DCMAKE_CXX_COMPILER=${compiler} -DCMAKE_PREFIX_PATH=${WORK}/moved)
  run(${CMAKE_COMMAND} --build ${build})
  run(${build}/consumer)
endforeach()
run(${WORK}/moved/bin/heddle --version)
