# Shared code of the find modules in this folder.

include(FindPackageHandleStandardArgs)

# Checks whether NAME was found, from NAME_INCLUDE_DIR, NAME_LIBRARY and NAME_VERSION, and defines
# the target NAME::NAME.
macro(routemaster_found name)
    mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
    find_package_handle_standard_args(${name}
        REQUIRED_VARS ${name}_LIBRARY ${name}_INCLUDE_DIR
        VERSION_VAR ${name}_VERSION)
    if(${name}_FOUND AND NOT TARGET ${name}::${name})
        add_library(${name}::${name} UNKNOWN IMPORTED)
        set_target_properties(${name}::${name} PROPERTIES
            IMPORTED_LOCATION "${${name}_LIBRARY}"
            INTERFACE_INCLUDE_DIRECTORIES "${${name}_INCLUDE_DIR}")
        # find_package would apply this setting of its caller; for a hand-made imported target the
        # module must do so.
        if(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)
            set_property(TARGET ${name}::${name} PROPERTY IMPORTED_GLOBAL TRUE)
        endif()
    endif()
endmacro()
