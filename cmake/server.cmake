# The browser view: app/server on libwebsockets, the page in web/. Without libwebsockets the command is built all the
# same and `pliant serve` says what is missing; without three.js (tools/install-web) the page is.
pl_parts(OPTIONAL server)
if(NOT PL_PARTS_FOUND)
    message(STATUS "libwebsockets is not there: `pliant serve` will only say so")
    return()
endif()

file(GLOB PL_SERVER CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/app/server/*.c)
add_library(pl_server STATIC ${PL_SERVER})
target_link_libraries(pl_server PRIVATE pl_flags part::lws part::jansson part::libc)
target_link_libraries(pl_server PUBLIC pliant_meshing_static)
target_include_directories(pl_server PUBLIC app/server)
target_compile_definitions(pl_server PRIVATE PLIANT_WEB_SOURCE="${CMAKE_CURRENT_SOURCE_DIR}/web")
target_link_libraries(pliant_command PRIVATE pl_server)
target_compile_definitions(pliant_command PRIVATE PLIANT_SERVER)

# the page and the part of three.js it uses
set(PL_WEB_TO ${CMAKE_INSTALL_DATADIR}/pliant/web)
install(DIRECTORY web/ DESTINATION ${PL_WEB_TO} FILES_MATCHING PATTERN "*.html" PATTERN "*.css" PATTERN "*.js"
    PATTERN "*.svg" PATTERN "*.png" PATTERN node_modules EXCLUDE)
foreach(file build/three.module.js build/three.core.js examples/jsm/controls/OrbitControls.js
    examples/jsm/exporters/GLTFExporter.js LICENSE)
    get_filename_component(folder ${file} DIRECTORY)
    install(FILES web/node_modules/three/${file} DESTINATION ${PL_WEB_TO}/three/${folder} OPTIONAL)
endforeach()

if(PLIANT_TESTS)
    file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/tests/web/test_*.c)
    foreach(test ${tests})
        get_filename_component(name ${test} NAME_WE)
        add_executable(${name} ${test})
        target_include_directories(${name} PRIVATE tests)
        target_link_libraries(${name} PRIVATE pl_flags pl_server part::jansson part::cmocka part::libc)
        add_test(NAME web.${name} COMMAND ${name} $<TARGET_FILE:pliant_command>)
        set_tests_properties(web.${name} PROPERTIES LABELS threads)
    endforeach()
    # the page in a browser; skipped, saying so, where node, Chromium or the npm packages are not there
    foreach(script browser hand)
        add_test(NAME web.test_${script} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/tests/web/test_browser.sh
            $<TARGET_FILE:pliant_command> ${CMAKE_BINARY_DIR}/web-screens ${script}.mjs)
        set_tests_properties(web.test_${script} PROPERTIES SKIP_RETURN_CODE 77 COST 100)
    endforeach()
endif()
