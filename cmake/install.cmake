# Installed: the command with its completion, headers, libraries, a CMake package (pliant::pliant, pliant::meshing) and
# pkg-config files. Both find their prefix from where they lie, so an installed tree may be moved.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/pliant DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(TARGETS pliant pliant_static DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES docs/reference/schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/pliant)
if(TARGET pliant_meshing)
    # packages go to the system's folder, where no search path is wanted
    if(NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
        set_target_properties(pliant_meshing PROPERTIES INSTALL_RPATH "$ORIGIN")
    endif()
    install(TARGETS pliant_meshing pliant_meshing_static DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

# what a static core needs besides itself, once for CMake and once for pkg-config
set(PL_STATIC_PARTS ${PL_LINKS_core})
set(PL_PC_PRIVATE ${PL_PLAIN_core})
list(JOIN PL_PC_PRIVATE " " PL_PC_PRIVATE)
list(JOIN PL_CONFIG_core " " PL_PC_REQUIRES)
list(JOIN PL_LINKS_meshing " " PL_PC_MESHING)
set(PL_SHARED_FILE ${CMAKE_SHARED_LIBRARY_PREFIX}pliant${CMAKE_SHARED_LIBRARY_SUFFIX})
set(PL_STATIC_FILE ${CMAKE_STATIC_LIBRARY_PREFIX}pliant${CMAKE_STATIC_LIBRARY_SUFFIX})
set(PL_MESHING_SHARED_FILE ${CMAKE_SHARED_LIBRARY_PREFIX}pliant_meshing${CMAKE_SHARED_LIBRARY_SUFFIX})
set(PL_MESHING_STATIC_FILE ${CMAKE_STATIC_LIBRARY_PREFIX}pliant_meshing${CMAKE_STATIC_LIBRARY_SUFFIX})

configure_package_config_file(cmake/pliant-config.cmake.in pliant-config.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pliant
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/pliant-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pliant-config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/pliant-config-version.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pliant)

# from <libdir>/pkgconfig back to the prefix and on to the headers
file(RELATIVE_PATH PL_PC_INCLUDE ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_FULL_INCLUDEDIR})
set(pc_files pliant.pc)
if(TARGET pliant_meshing)
    list(APPEND pc_files pliant-meshing.pc)
endif()
foreach(pc ${pc_files})
    configure_file(cmake/${pc}.in ${pc} @ONLY)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${pc} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# the command prints its own completion scripts and manual pages
if(TARGET pliant_command AND NOT CMAKE_CROSSCOMPILING)
    set(made ${CMAKE_CURRENT_BINARY_DIR}/made)
    install(CODE "execute_process(COMMAND ${CMAKE_COMMAND} -DPLIANT=$<TARGET_FILE:pliant_command> -DOUT=${made}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/made.cmake COMMAND_ERROR_IS_FATAL ANY)")
    install(FILES ${made}/pliant.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME pliant)
    # packages have a folder of their own
    if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
        install(FILES ${made}/_pliant DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
    else()
        install(FILES ${made}/_pliant DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    endif()
    install(FILES ${made}/pliant.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
    install(DIRECTORY ${made}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
endif()

# an installed copy serves programs outside this tree
if(PLIANT_TESTS AND TARGET pliant_command AND NOT PLIANT_SANITIZE)
    add_test(NAME package.test_web COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cmake/test_web.sh ${CMAKE_CURRENT_SOURCE_DIR})
    add_test(NAME package.test_install
        COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cmake/test_install.sh ${CMAKE_BINARY_DIR} ${CMAKE_CURRENT_SOURCE_DIR}
            ${CMAKE_INSTALL_LIBDIR})
    if(CMAKE_BUILD_TYPE STREQUAL Release)
        add_test(NAME package.test_hardening COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/cmake/test_hardening.sh
            $<TARGET_FILE:pliant_command> $<TARGET_FILE:pliant> $<TARGET_FILE:pliant_meshing>)
    endif()
endif()
