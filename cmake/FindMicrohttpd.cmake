# Finds GNU libmicrohttpd, which ships a pkg-config file but no CMake package.
#
# Defines the target Microhttpd::Microhttpd and the variables Microhttpd_FOUND,
# Microhttpd_VERSION, Microhttpd_INCLUDE_DIR and Microhttpd_LIBRARY.

find_path(Microhttpd_INCLUDE_DIR NAMES microhttpd.h)
find_library(Microhttpd_LIBRARY NAMES microhttpd libmicrohttpd)

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

include("${CMAKE_CURRENT_LIST_DIR}/RoutemasterFind.cmake")
routemaster_found(Microhttpd)
