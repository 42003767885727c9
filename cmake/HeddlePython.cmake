# The Python module, where Python's headers and nanobind (a Python package) are found; else nothing.
set(HEDDLE_PYTHON_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python CACHE FILEPATH
  "The Python that the module is built for, with the package nanobind")
if(NOT DEFINED Python_EXECUTABLE AND EXISTS ${HEDDLE_PYTHON_EXECUTABLE})
  set(Python_EXECUTABLE ${HEDDLE_PYTHON_EXECUTABLE})
endif()
find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module)
if(Python_Development.Module_FOUND)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_package(nanobind CONFIG QUIET)
endif()
if(nanobind_FOUND)
  add_subdirectory(frontend/python)
else()
  message(STATUS "No Python module: Python's headers or nanobind are missing (./dev setup)")
endif()
