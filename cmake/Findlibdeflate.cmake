# Finds libdeflate. Debian's release has no CMake package; only later releases have one.
#
# Defines the target libdeflate::libdeflate and the variables libdeflate_FOUND, libdeflate_VERSION,
# libdeflate_INCLUDE_DIR and libdeflate_LIBRARY.

find_path(libdeflate_INCLUDE_DIR NAMES libdeflate.h)
find_library(libdeflate_LIBRARY NAMES deflate)

if(libdeflate_INCLUDE_DIR AND EXISTS "${libdeflate_INCLUDE_DIR}/libdeflate.h")
    file(STRINGS "${libdeflate_INCLUDE_DIR}/libdeflate.h" _libdeflate_version
        REGEX "^#define LIBDEFLATE_VERSION_STRING")
    string(REGEX REPLACE ".*\"([0-9.]+)\".*" "\\1" libdeflate_VERSION "${_libdeflate_version}")
    unset(_libdeflate_version)
endif()

include("${CMAKE_CURRENT_LIST_DIR}/RoutemasterFind.cmake")
routemaster_found(libdeflate)
