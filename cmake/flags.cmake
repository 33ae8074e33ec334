# Flags of everything Pliant compiles: warnings, hardening (release builds) and sanitizers.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckPIESupported)

set(PLIANT_SANITIZE "" CACHE STRING
    "sanitizers: empty, address (with undefined behaviour), thread, or fuzzer (clang: libFuzzer with address)")
set_property(CACHE PLIANT_SANITIZE PROPERTY STRINGS "" address thread fuzzer)

# pl_flags is for everything in the tree; pl_hardened alone for those who do not want the rooms' include folders
add_library(pl_hardened INTERFACE)
add_library(pl_flags INTERFACE)
target_link_libraries(pl_flags INTERFACE pl_hardened)
target_compile_options(pl_flags INTERFACE -Wall -Wextra -Wpedantic -Werror=implicit-function-declaration -Wmissing-prototypes -Wshadow -Wvla -Wno-psabi
    -fopenmp-simd)
target_compile_definitions(pl_flags INTERFACE _POSIX_C_SOURCE=200809L $<$<BOOL:${PLIANT_CHECKED}>:PL_CHECKED>)
target_include_directories(pl_flags INTERFACE
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/src>)

# Compile and link flags of the sanitizers. `fuzzer-no-link` instruments; only the fuzz targets link libFuzzer's main.
set(sanitizers_address address,undefined)
set(sanitizers_thread thread)
set(sanitizers_fuzzer fuzzer-no-link,address,undefined)
if(PLIANT_SANITIZE)
    if(NOT DEFINED sanitizers_${PLIANT_SANITIZE})
        message(FATAL_ERROR "PLIANT_SANITIZE is `${PLIANT_SANITIZE}`; it may be address, thread or fuzzer")
    endif()
    # optimised little and with line tables only: a third of the time to compile, and the reports name the same lines
    set(sanitize -fsanitize=${sanitizers_${PLIANT_SANITIZE}})
    target_compile_options(pl_hardened INTERFACE ${sanitize} -fno-omit-frame-pointer -g1)
    if(NOT PLIANT_SANITIZE STREQUAL thread)
        target_compile_options(pl_hardened INTERFACE -fno-sanitize-recover=undefined)
    endif()
    target_link_options(pl_hardened INTERFACE ${sanitize})
    return()
endif()

# Release builds: position independent, read-only relocations bound at start, stack canaries, checked string functions and
# control-flow marks. tests: package.test_hardening reads the built files.
check_pie_supported(LANGUAGES C)
target_link_options(pl_hardened INTERFACE LINKER:-z,relro,-z,now,-z,noexecstack)
set(optimized $<NOT:$<CONFIG:Debug>>)
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
    string(MAKE_C_IDENTIFIER "PL_HAS${flag}" known)
    check_c_compiler_flag("${flag} -Werror" ${known})
    if(${known})
        target_compile_options(pl_hardened INTERFACE $<${optimized}:${flag}>)
    endif()
endforeach()
# level 3 where compiler and libc know it, without the warning that it is treated like 2
set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
check_c_source_compiles("#include <stdio.h>
int main(void) { return 0; }" PL_HAS_FORTIFY_3)
unset(CMAKE_REQUIRED_FLAGS)
set(level 2)
if(PL_HAS_FORTIFY_3)
    set(level 3)
endif()
target_compile_options(pl_hardened INTERFACE "$<${optimized}:SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level}>")
