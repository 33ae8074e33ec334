#!/usr/bin/env bash
# The built command and libraries are hardened as cmake/flags.cmake says: reads the files themselves. A program built without
# any of it is read too and must be found wanting in every respect, so that no check can pass by mistake.
# usage: test_hardening.sh FILE...
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# defects FILE: one word per property that is missing
defects() {
    local headers dynamic symbols
    headers=$(readelf -hlW "$1") dynamic=$(readelf -dW "$1") symbols=$(readelf --dyn-syms -W "$1")
    grep -q 'Type: *DYN' <<<"$headers" || echo position_independent
    grep -q GNU_RELRO <<<"$headers" || echo relro
    grep -qE 'BIND_NOW|FLAGS_1.*NOW' <<<"$dynamic" || echo bind_now
    grep -qE 'GNU_STACK.* RW +0x' <<<"$headers" || echo stack_not_executable
    grep -q __stack_chk_fail <<<"$symbols" || echo stack_protector
    grep -qE '__(snprintf|fprintf|printf|memcpy|vsnprintf)_chk' <<<"$symbols" || echo fortify
    # the linker's own mark is lost where the C library's start files lack it, so the landing pads are counted
    [ "$(uname -m)" != x86_64 ] || [ "$(objdump -d --no-show-raw-insn "$1" | grep -c endbr64)" -gt 100 ] || echo control_flow
    if grep -qE 'R(UN)?PATH' <<<"$dynamic" && ! grep -qE 'R(UN)?PATH.*\[(\$ORIGIN|/)' <<<"$dynamic"; then
        echo library_path
    fi
}

failed=0
for file in "$@"; do
    found=$(defects "$file" | tr '\n' ' ')
    echo "$(basename "$file"): ${found:-hardened}"
    [ -z "$found" ] || failed=1
done

printf '#include <stdio.h>\n#include <string.h>\nint main(int n, char **v) { char b[8]; strcpy(b, v[0]); return printf(b, n); }\n' >"$work/weak.c"
${CC:-cc} -w -O0 -U_FORTIFY_SOURCE -fno-stack-protector -fcf-protection=none -no-pie -z norelro -z lazy -z execstack \
    "$work/weak.c" -o "$work/weak" 2>"$work/log" || ${CC:-cc} -w -O0 -U_FORTIFY_SOURCE -fno-stack-protector -no-pie -z norelro -z lazy \
    -z execstack "$work/weak.c" -o "$work/weak"
weak=$(defects "$work/weak" | tr '\n' ' ')
echo "a program without: $weak"
wanted="position_independent relro bind_now stack_not_executable stack_protector fortify "
[ "$(uname -m)" != x86_64 ] || wanted+="control_flow "
[ "$weak" = "$wanted" ] || { echo "the checks themselves are wrong: expected $wanted"; failed=1; }
exit $failed
