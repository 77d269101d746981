# Finds libdeflate, which ships a CMake package only in releases later than Debian's.
#
# Defines the target libdeflate::libdeflate and the variables libdeflate_FOUND, libdeflate_VERSION,
# libdeflate_INCLUDE_DIR and libdeflate_LIBRARY.

find_path(libdeflate_INCLUDE_DIR NAMES libdeflate.h)
find_library(libdeflate_LIBRARY NAMES deflate)
mark_as_advanced(libdeflate_INCLUDE_DIR libdeflate_LIBRARY)

if(libdeflate_INCLUDE_DIR AND EXISTS "${libdeflate_INCLUDE_DIR}/libdeflate.h")
    file(STRINGS "${libdeflate_INCLUDE_DIR}/libdeflate.h" _libdeflate_version
        REGEX "^#define LIBDEFLATE_VERSION_STRING")
    string(REGEX REPLACE ".*\"([0-9.]+)\".*" "\\1" libdeflate_VERSION "${_libdeflate_version}")
    unset(_libdeflate_version)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libdeflate
    REQUIRED_VARS libdeflate_LIBRARY libdeflate_INCLUDE_DIR
    VERSION_VAR libdeflate_VERSION)

if(libdeflate_FOUND AND NOT TARGET libdeflate::libdeflate)
    add_library(libdeflate::libdeflate UNKNOWN IMPORTED)
    set_target_properties(libdeflate::libdeflate PROPERTIES
        IMPORTED_LOCATION "${libdeflate_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${libdeflate_INCLUDE_DIR}")
    # Unlike find_package, a hand-made imported target is not promoted by its caller's settings.
    if(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)
        set_property(TARGET libdeflate::libdeflate PROPERTY IMPORTED_GLOBAL TRUE)
    endif()
endif()
