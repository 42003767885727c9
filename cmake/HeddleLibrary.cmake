# The one library that is installed, heddle::heddle, and its package for find_package(heddle).
include(CMakePackageConfigHelpers)

add_library(heddle)
add_library(heddle::heddle ALIAS heddle)
foreach(stage IN LISTS HEDDLE_STAGES)
  target_sources(heddle PRIVATE $<TARGET_OBJECTS:heddle_${stage}>)
endforeach()
set_target_properties(heddle PROPERTIES
  LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
target_compile_features(heddle PUBLIC cxx_std_20)
target_include_directories(heddle PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/frontend/include>
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/ir/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(heddle
  PRIVATE fmt::fmt spdlog::spdlog Threads::Threads ${CMAKE_DL_LIBS})
if(BUILD_SHARED_LIBS)
  # Calls within the library need no search by name when it is loaded.
  target_link_options(heddle PRIVATE LINKER:-Bsymbolic-functions)
else()
  target_link_options(heddle INTERFACE LINKER:--gc-sections)
endif()
if(HEDDLE_LINK_OPTIONAL)  # by name, so that the installed package may be moved
  target_link_libraries(heddle
    PRIVATE $<$<BOOL:${libzip_FOUND}>:zip> $<$<TARGET_EXISTS:hwy::hwy_contrib>:hwy_contrib>)
endif()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)
install(TARGETS heddle EXPORT heddle)
install(DIRECTORY frontend/include/heddle ir/include/heddle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT heddle FILE heddleTargets.cmake NAMESPACE heddle:: DESTINATION ${package_folder})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/heddleConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/heddleConfig.cmake INSTALL_DESTINATION ${package_folder}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/heddleConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/heddleConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/heddleConfigVersion.cmake DESTINATION ${package_folder})
