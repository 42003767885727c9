# `cpack` makes a Debian package of what is installed: the library, its headers and CMake package, and
# the command. It is for the release that it is built on: it depends on that release's fmt and spdlog.
# What is loaded when it is first needed is only recommended.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME heddle)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_CONTACT "The authors of Heddle <heddle@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
string(CONCAT CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++, libopenblas0-pthread, "
  "libssl3 | libssl3t64, libhwy1 | libhwy1t64, libzip4 | libzip4t64 | libzip5")
if(NOT BUILD_SHARED_LIBS)  # a program that links the static library links these as well
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libfmt-dev, libspdlog-dev")
endif()
include(CPack)
