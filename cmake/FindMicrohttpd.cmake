# Finds GNU libmicrohttpd, which ships a pkg-config file but no CMake package.
#
# Defines the target Microhttpd::Microhttpd and the variables Microhttpd_FOUND,
# Microhttpd_VERSION, Microhttpd_INCLUDE_DIR and Microhttpd_LIBRARY.

find_path(Microhttpd_INCLUDE_DIR NAMES microhttpd.h)
find_library(Microhttpd_LIBRARY NAMES microhttpd libmicrohttpd)
mark_as_advanced(Microhttpd_INCLUDE_DIR Microhttpd_LIBRARY)

if(Microhttpd_INCLUDE_DIR AND EXISTS "${Microhttpd_INCLUDE_DIR}/microhttpd.h")
    # The header spells its version 0xAABBCCDD, one decimal-coded number per byte: 0.9.75 is
    # 0x00097500.
    file(STRINGS "${Microhttpd_INCLUDE_DIR}/microhttpd.h" _microhttpd_version
        REGEX "^#define MHD_VERSION 0x[0-9]+")
    if(_microhttpd_version MATCHES "0x([0-9][0-9])([0-9][0-9])([0-9][0-9])([0-9][0-9])")
        string(REGEX REPLACE "0([0-9])" "\\1" Microhttpd_VERSION
            "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
    endif()
    unset(_microhttpd_version)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Microhttpd
    REQUIRED_VARS Microhttpd_LIBRARY Microhttpd_INCLUDE_DIR
    VERSION_VAR Microhttpd_VERSION)

if(Microhttpd_FOUND AND NOT TARGET Microhttpd::Microhttpd)
    add_library(Microhttpd::Microhttpd UNKNOWN IMPORTED)
    set_target_properties(Microhttpd::Microhttpd PROPERTIES
        IMPORTED_LOCATION "${Microhttpd_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${Microhttpd_INCLUDE_DIR}")
    # Unlike find_package, a hand-made imported target is not promoted by its caller's settings.
    if(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)
        set_property(TARGET Microhttpd::Microhttpd PROPERTY IMPORTED_GLOBAL TRUE)
    endif()
endif()
