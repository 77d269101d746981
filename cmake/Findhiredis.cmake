# Finds hiredis. The CMake package in Debian spells the name differently and defines no target; this
# module works with it and with later releases.
#
# Defines the target hiredis::hiredis and the variables hiredis_FOUND, hiredis_VERSION,
# hiredis_INCLUDE_DIR and hiredis_LIBRARY.

find_path(hiredis_INCLUDE_DIR NAMES hiredis/hiredis.h)
find_library(hiredis_LIBRARY NAMES hiredis)

if(hiredis_INCLUDE_DIR AND EXISTS "${hiredis_INCLUDE_DIR}/hiredis/hiredis.h")
    set(hiredis_VERSION "")
    foreach(_hiredis_part IN ITEMS MAJOR MINOR PATCH)
        file(STRINGS "${hiredis_INCLUDE_DIR}/hiredis/hiredis.h" _hiredis_line
            REGEX "^#define HIREDIS_${_hiredis_part} [0-9]+")
        if(_hiredis_line MATCHES "([0-9]+)$")
            list(APPEND hiredis_VERSION "${CMAKE_MATCH_1}")
        endif()
    endforeach()
    list(JOIN hiredis_VERSION "." hiredis_VERSION)
    unset(_hiredis_part)
    unset(_hiredis_line)
endif()

include("${CMAKE_CURRENT_LIST_DIR}/RoutemasterFind.cmake")
routemaster_found(hiredis)
