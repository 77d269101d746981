# Functions that declare, export and install the libraries.
#
# Each library is a component: one target `routemaster::<name>`, one export set, and one file that
# loads the component's dependencies. A consumer of `core` never needs SQLite.

set(ROUTEMASTER_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/routemaster")

# Sets <result> to the targets of the named components that this build has, for example
# routemaster_available(libraries core http).
function(routemaster_available result)
    set(targets "")
    foreach(name IN LISTS ARGN)
        if(TARGET routemaster_${name})
            list(APPEND targets routemaster::${name})
        endif()
    endforeach()
    set(${result} "${targets}" PARENT_SCOPE)
endfunction()

# Sets <result> to the targets of all components of this build.
function(routemaster_everything result)
    get_property(names GLOBAL PROPERTY ROUTEMASTER_COMPONENTS)
    routemaster_available(targets ${names})
    set(${result} "${targets}" PARENT_SCOPE)
endfunction()

# Registers the target routemaster_NAME as the component NAME. The component needs PACKAGES, which
# find_package must find, and COMPONENTS of this project.
function(routemaster_component name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PACKAGES;COMPONENTS")
    add_library(routemaster::${name} ALIAS routemaster_${name})
    set_target_properties(routemaster_${name} PROPERTIES EXPORT_NAME ${name})
    set_property(GLOBAL APPEND PROPERTY ROUTEMASTER_COMPONENTS ${name})
    if(NOT ROUTEMASTER_INSTALL)
        return()
    endif()

    install(TARGETS routemaster_${name}
        EXPORT routemaster-${name}-targets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
    install(EXPORT routemaster-${name}-targets
        NAMESPACE routemaster::
        DESTINATION "${ROUTEMASTER_PACKAGE_DIR}")

    set(loader "")
    foreach(component IN LISTS arg_COMPONENTS)
        string(APPEND loader
            "include(\"\${CMAKE_CURRENT_LIST_DIR}/routemaster-${component}.cmake\")\n")
    endforeach()
    foreach(package IN LISTS arg_PACKAGES)
        string(APPEND loader "find_dependency(${package})\n")
    endforeach()
    string(APPEND loader
        "include(\"\${CMAKE_CURRENT_LIST_DIR}/routemaster-${name}-targets.cmake\")\n")
    set(loader_file "${PROJECT_BINARY_DIR}/package/routemaster-${name}.cmake")
    file(CONFIGURE OUTPUT "${loader_file}" CONTENT "${loader}" @ONLY)
    install(FILES "${loader_file}" DESTINATION "${ROUTEMASTER_PACKAGE_DIR}")
endfunction()

# Declares the library of the current folder from all .cpp files below it. The library wraps one
# third-party library.
#
#   routemaster_driver(<name>
#       HEADERS <pattern>...    # its public headers, relative to include/routemaster
#       FOLDERS <folder>...     # further folders with its sources
#       DEPENDS <package>...    # packages that find_package must find
#       LINK <target>...        # targets of those packages; consumers never see them
#       DRIVERS <name>...       # drivers of this project that it uses if they are built
#       REQUIRES <name>...)     # drivers of this project that it needs
#
# A driver with DEPENDS has an option ROUTEMASTER_<NAME>, which is on if all packages were found.
function(routemaster_driver name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;FOLDERS;DEPENDS;LINK;DRIVERS;REQUIRES")
    list(TRANSFORM arg_HEADERS PREPEND "${PROJECT_SOURCE_DIR}/include/routemaster/")
    file(GLOB headers CONFIGURE_DEPENDS ${arg_HEADERS})
    list(TRANSFORM arg_FOLDERS APPEND "/*.cpp")
    list(TRANSFORM arg_FOLDERS PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS
        "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp" ${arg_FOLDERS})
    set_property(GLOBAL APPEND PROPERTY ROUTEMASTER_DRIVER_HEADERS ${headers})

    if(arg_DEPENDS)
        set(missing "")
        foreach(package IN LISTS arg_DEPENDS)
            find_package(${package} QUIET)
            if(NOT ${package}_FOUND)
                list(APPEND missing ${package})
            endif()
        endforeach()
        set(found ON)
        if(missing)
            set(found OFF)
        endif()
        string(TOUPPER "ROUTEMASTER_${name}" switch)
        option(${switch} "Build the ${name} driver" ${found})
        if(NOT ${switch})
            return()
        endif()
        if(missing)
            message(FATAL_ERROR "${switch} is ON, but these packages were not found: ${missing}")
        endif()
    endif()
    if(NOT sources)
        message(STATUS "routemaster: ${name} has no sources")
        return()
    endif()
    foreach(driver IN LISTS arg_REQUIRES)
        if(NOT TARGET routemaster_${driver})
            return()
        endif()
    endforeach()

    set(target routemaster_${name})
    add_library(${target} STATIC ${sources})
    target_sources(${target} PUBLIC
        FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${headers})
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/lib")
    target_link_libraries(${target} PUBLIC routemaster::core PRIVATE ${arg_LINK})

    set(components core)
    foreach(driver IN LISTS arg_REQUIRES)
        list(APPEND components ${driver})
        target_link_libraries(${target} PRIVATE routemaster::${driver})
    endforeach()
    foreach(driver IN LISTS arg_DRIVERS)
        string(TOUPPER "ROUTEMASTER_HAS_${driver}" has)
        if(TARGET routemaster_${driver})
            list(APPEND components ${driver})
            target_link_libraries(${target} PRIVATE routemaster::${driver})
            target_compile_definitions(${target} PRIVATE ${has}=1)
        else()
            target_compile_definitions(${target} PRIVATE ${has}=0)
        endif()
    endforeach()
    routemaster_component(${name} PACKAGES ${arg_DEPENDS} COMPONENTS ${components})
endfunction()

# Declares routemaster::core: all public headers that belong to no driver, and their implementation
# in lib/core. Call it after the drivers.
function(routemaster_core)
    # Debian's msgpack-cxx package is called `msgpack`, and its target `msgpackc-cxx`. The target
    # also adds the Boost headers that it includes.
    foreach(package IN ITEMS Threads nlohmann_json msgpack uriparser)
        find_package(${package} REQUIRED)
    endforeach()

    file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/routemaster/*.hpp")
    get_property(driver_headers GLOBAL PROPERTY ROUTEMASTER_DRIVER_HEADERS)
    list(REMOVE_ITEM headers ${driver_headers})
    # Adaptors for libraries that this build does not need. They are only installed.
    set(adaptors "${PROJECT_SOURCE_DIR}/include/routemaster/asio.hpp")
    list(REMOVE_ITEM headers ${adaptors})

    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/lib/core/*.cpp")
    add_library(routemaster_core STATIC ${sources})
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
        # Clang would omit the complete-object constructors, which other files call.
        set_source_files_properties("${PROJECT_SOURCE_DIR}/lib/core/store/step.cpp" PROPERTIES
            SKIP_UNITY_BUILD_INCLUSION ON COMPILE_OPTIONS "-Xclang;-mno-constructor-aliases")
    endif()
    target_sources(routemaster_core PUBLIC
        FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${headers})
    target_include_directories(routemaster_core PRIVATE "${PROJECT_SOURCE_DIR}/lib")
    target_compile_features(routemaster_core PUBLIC cxx_std_20)
    # Header-only packages. No public header includes them, so users of the library do not need
    # them.
    target_link_libraries(routemaster_core
        PUBLIC Threads::Threads
        PRIVATE uriparser::uriparser
            $<BUILD_INTERFACE:msgpackc-cxx> $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
    routemaster_component(core PACKAGES Threads uriparser)
    if(ROUTEMASTER_INSTALL)
        install(FILES ${adaptors} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/routemaster")
    endif()
endfunction()

# Installs the file that `find_package(routemaster)` reads first.
function(routemaster_install_package)
    include(CMakePackageConfigHelpers)
    configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/routemasterConfig.cmake.in"
        "${PROJECT_BINARY_DIR}/package/routemasterConfig.cmake"
        INSTALL_DESTINATION "${ROUTEMASTER_PACKAGE_DIR}")
    write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/routemasterConfigVersion.cmake"
        COMPATIBILITY SameMinorVersion)
    install(FILES
        "${PROJECT_BINARY_DIR}/package/routemasterConfig.cmake"
        "${PROJECT_BINARY_DIR}/package/routemasterConfigVersion.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/Findhiredis.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/Findlibdeflate.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/RoutemasterFind.cmake"
        DESTINATION "${ROUTEMASTER_PACKAGE_DIR}")
    install(FILES "${PROJECT_SOURCE_DIR}/LICENSE"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/routemaster")
endfunction()
