# The parts Pliant is built from, as part::NAME, from the list in tools/parts.txt. tools/install-deps compiles and links a
# program with the very flags used here, so what is tested is what the build uses. Nothing found is kept in the cache: a
# library installed, replaced or removed between two runs of CMake is seen.
if(NOT PL_PKG_CONFIG)
    set(PL_PKG_CONFIG pkg-config) # that of a toolchain file knows the libraries of its machine
endif()
set(PL_PARTS_TOOL ${CMAKE_CURRENT_SOURCE_DIR}/tools/install-deps)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PL_PARTS_TOOL}
    ${CMAKE_CURRENT_SOURCE_DIR}/tools/parts.txt)

function(pl_parts_ask result output)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env CC=${CMAKE_C_COMPILER} PKG_CONFIG=${PL_PKG_CONFIG} bash ${PL_PARTS_TOOL} ${ARGN}
        RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(${result} ${status} PARENT_SCOPE)
    set(${output} "${text}" PARENT_SCOPE)
endfunction()

# pl_parts(REQUIRED|OPTIONAL GROUP...) defines part::NAME for each library of the groups and sets PL_PARTS_FOUND. For an
# installed copy, PL_LINKS_<group> has the link flags of all libraries, PL_PLAIN_<group> those without a pkg-config file,
# and PL_CONFIG_<group> the pkg-config names of the others.
macro(pl_parts need)
    pl_parts_ask(status text --check ${ARGN})
    set(PL_PARTS_FOUND FALSE)
    if(status EQUAL 0)
        set(PL_PARTS_FOUND TRUE)
        pl_parts_ask(status text --flags ${ARGN})
        pl_parts_define("${text}")
    elseif("${need}" STREQUAL REQUIRED)
        message(FATAL_ERROR "Pliant cannot be built yet. Missing, by package:\n${text}\nTo install all of them: tools/install-deps")
    endif()
endmacro()

macro(pl_parts_define lines)
    string(REPLACE "\n" ";" rows "${lines}")
    foreach(row IN LISTS rows)
        string(REGEX MATCH "^([^|]*)\\|([^|]*)\\|([^|]*)\\|([^|]*)\\|([^|]*)$" row_match "${row}")
        set(part ${CMAKE_MATCH_1})
        set(group ${CMAKE_MATCH_2})
        set(config "${CMAKE_MATCH_3}")
        separate_arguments(cflags UNIX_COMMAND "${CMAKE_MATCH_4}")
        separate_arguments(libs UNIX_COMMAND "${CMAKE_MATCH_5}")
        if(NOT TARGET part::${part})
            add_library(part::${part} INTERFACE IMPORTED)
            set(folders ${cflags})
            list(FILTER folders INCLUDE REGEX "^-I")
            list(FILTER cflags EXCLUDE REGEX "^-I")
            list(TRANSFORM folders REPLACE "^-I" "")
            set_target_properties(part::${part} PROPERTIES INTERFACE_COMPILE_OPTIONS "${cflags}"
                INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${folders}" INTERFACE_INCLUDE_DIRECTORIES "${folders}"
                INTERFACE_LINK_LIBRARIES "${libs}")
            list(APPEND PL_LINKS_${group} ${libs})
            if(config)
                list(APPEND PL_CONFIG_${group} ${config})
            else()
                list(APPEND PL_PLAIN_${group} ${libs})
            endif()
        endif()
    endforeach()
endmacro()
