# Cross-compiles for 64-bit ARM on another Debian (preset `aarch64`): crossbuild-essential-arm64, the libraries of
# tools/parts.txt for arm64 (dpkg --add-architecture arm64), and qemu-user-static, which runs the tests. Tests of the command are
# scripts, so the kernel must know qemu as the interpreter of such programs (binfmt_misc; the package registers it).
# tools/fresh-roots arm64 does all of it in a root of its own.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
set(PL_PKG_CONFIG aarch64-linux-gnu-pkg-config)
