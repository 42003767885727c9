# heddle_stage(NAME): the object library heddle_NAME of all sources under the calling folder.
# Subfolders with a CMakeLists.txt of their own are left to it.
set(HEDDLE_STAGES ir passes codegen runtime frontend)

function(heddle_stage name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  file(GLOB own CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt)
  foreach(list_file IN LISTS own)
    cmake_path(GET list_file PARENT_PATH folder)
    list(FILTER sources EXCLUDE REGEX "^${folder}/")
  endforeach()
  if(NOT sources)
    set(empty ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp)
    file(TOUCH ${empty})
    set(sources ${empty})
  endif()
  add_library(heddle_${name} OBJECT ${sources})
  target_link_libraries(heddle_${name}
    PRIVATE heddle_internal fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json Threads::Threads)
  heddle_precompile(heddle_${name} ${PROJECT_SOURCE_DIR}/ir/graph/graph.h)
endfunction()

# heddle_stages_up_to(NAME VARIABLE): the targets of the pipeline up to and including stage NAME,
# or of all stages when there is none of that name.
function(heddle_stages_up_to name variable)
  set(targets)
  foreach(stage IN LISTS HEDDLE_STAGES)
    list(APPEND targets heddle_${stage})
    if(stage STREQUAL name)
      break()
    endif()
  endforeach()
  set(${variable} ${targets} PARENT_SCOPE)
endfunction()
