# Finds hiredis. Debian's package has a CMake package of another spelling that defines no target;
# this works with it as well as with those of later releases.
#
# Defines the target hiredis::hiredis and the variables hiredis_FOUND, hiredis_VERSION,
# hiredis_INCLUDE_DIR and hiredis_LIBRARY.

find_path(hiredis_INCLUDE_DIR NAMES hiredis/hiredis.h)
find_library(hiredis_LIBRARY NAMES hiredis)
mark_as_advanced(hiredis_INCLUDE_DIR hiredis_LIBRARY)

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

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(hiredis
    REQUIRED_VARS hiredis_LIBRARY hiredis_INCLUDE_DIR
    VERSION_VAR hiredis_VERSION)

if(hiredis_FOUND AND NOT TARGET hiredis::hiredis)
    add_library(hiredis::hiredis UNKNOWN IMPORTED)
    set_target_properties(hiredis::hiredis PROPERTIES
        IMPORTED_LOCATION "${hiredis_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${hiredis_INCLUDE_DIR}")
    # Unlike find_package, a hand-made imported target is not promoted by its caller's settings.
    if(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)
        set_property(TARGET hiredis::hiredis PROPERTY IMPORTED_GLOBAL TRUE)
    endif()
endif()
