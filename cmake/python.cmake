# The Python module: build/python/pliant, the C extension pliant._core on the stable ABI (one build for Python 3.11 and
# later) beside the Python files and the page of the view. Built where Python's headers are there; `make python` installs
# them. PLIANT_PYTHON_INCLUDE names the headers of another Python, PLIANT_PYTHON_SHARED links with libpliant instead of
# containing it (for packages).
set(PLIANT_PYTHON_INCLUDE "" CACHE PATH "folder of Python.h; empty: that of Debian's python3")
option(PLIANT_PYTHON_SHARED "link the Python module with the shared libpliant" OFF)
set(PLIANT_PYTHON_INSTALL "" CACHE STRING "folder to install the Python package into; empty: not installed")
set(PL_PYTHON /usr/bin/python3)

if(NOT TARGET pliant_meshing_static OR PL_ROOMS_LEFT_OUT OR PLIANT_SANITIZE STREQUAL "fuzzer" OR PLIANT_SANITIZE STREQUAL "thread")
    return()
endif()
if(PLIANT_PYTHON_INCLUDE)
    add_library(pl_python_headers INTERFACE)
    target_include_directories(pl_python_headers SYSTEM INTERFACE ${PLIANT_PYTHON_INCLUDE})
else()
    pl_parts(OPTIONAL python)
    if(NOT PL_PARTS_FOUND)
        message(STATUS "Python's headers are not there: the Python module is not built (`make python` installs them)")
        return()
    endif()
    add_library(pl_python_headers ALIAS part::python)
endif()

file(GLOB PL_PYTHON_CORE CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/python/core/*.c)
set(PL_PYTHON_DIR ${CMAKE_BINARY_DIR}/python)
add_library(pliant_python MODULE ${PL_PYTHON_CORE})
set_target_properties(pliant_python PROPERTIES PREFIX "" OUTPUT_NAME _core SUFFIX .abi3.so
    LIBRARY_OUTPUT_DIRECTORY ${PL_PYTHON_DIR}/pliant)
target_compile_definitions(pliant_python PRIVATE _POSIX_C_SOURCE=200809L Py_LIMITED_API=0x030B0000)
# not pedantic: slots of Python's types hold functions as void pointers
target_compile_options(pliant_python PRIVATE -Wall -Wextra -Werror=implicit-function-declaration -Wmissing-prototypes -Wshadow -Wvla)
target_include_directories(pliant_python PRIVATE include)
if(PLIANT_PYTHON_SHARED)
    target_link_libraries(pliant_python PRIVATE pl_hardened pl_python_headers pliant_meshing part::libc)
else()
    # what the module contains of libpliant stays its own
    target_link_libraries(pliant_python PRIVATE pl_hardened pl_python_headers pliant_meshing_static part::libc)
    target_link_options(pliant_python PRIVATE LINKER:--exclude-libs,libpliant.a:libpliant_meshing.a)
endif()

# the Python files and the page beside it, always fresh
add_custom_target(pliant_python_files ALL
    COMMAND ${CMAKE_COMMAND} -DFROM=${CMAKE_CURRENT_SOURCE_DIR} -DTO=${PL_PYTHON_DIR}
        -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/python_files.cmake VERBATIM)
add_custom_target(python_module DEPENDS pliant_python pliant_python_files)

if(PLIANT_PYTHON_INSTALL)
    # through cmake --install, which takes the search path of the build out
    install(TARGETS pliant_python LIBRARY DESTINATION ${PLIANT_PYTHON_INSTALL}/pliant)
    install(DIRECTORY ${PL_PYTHON_DIR}/pliant DESTINATION ${PLIANT_PYTHON_INSTALL} PATTERN __pycache__ EXCLUDE
        PATTERN *.so EXCLUDE)
endif()

if(PLIANT_TESTS AND NOT PLIANT_PYTHON_INCLUDE)
    file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/tests/python/test_*.py)
    foreach(test ${tests})
        get_filename_component(name ${test} NAME_WE)
        # the sanitizer must be there before Python starts; long tests come first, so that no core waits for them at the end
        add_test(NAME python.${name} COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/tests/python/run.sh ${test}
            ${PL_PYTHON_DIR} $<TARGET_FILE:pliant_command> "${PLIANT_SANITIZE}" ${CMAKE_C_COMPILER})
        set_tests_properties(python.${name} PROPERTIES SKIP_RETURN_CODE 77 COST 100)
    endforeach()
endif()
