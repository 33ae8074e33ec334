# Installed: headers, libraries, CMake package (pliant::pliant, pliant::meshing) and pkg-config files.
install(DIRECTORY include/pliant DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS pliant pliant_static DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET pliant_meshing)
    install(TARGETS pliant_meshing pliant_meshing_static DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
configure_file(cmake/pliant-config.cmake.in pliant-config.cmake @ONLY)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/pliant-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/pliant-config.cmake ${CMAKE_BINARY_DIR}/pliant-config-version.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pliant)
configure_file(cmake/pliant.pc.in pliant.pc @ONLY)
configure_file(cmake/pliant-meshing.pc.in pliant-meshing.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/pliant.pc ${CMAKE_BINARY_DIR}/pliant-meshing.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
