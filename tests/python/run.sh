#!/usr/bin/env bash
# Runs a test of the Python module with Debian's python3. Exit 77: skipped, with the reason.
# usage: run.sh TEST.py BUILD/python PLIANT [SANITIZER COMPILER]
set -eu
test=$1 module=$2 pliant=$3 sanitizer=${4:-} compiler=${5:-cc}
skip() {
    echo "skipped: $1"
    exit 77
}
/usr/bin/python3 -c 'import numpy' 2>/dev/null || skip "numpy is not there (tools/install-deps python numpy)"
export PYTHONPATH=$module PLIANT_COMMAND=$pliant PYTHONDONTWRITEBYTECODE=1 PLIANT_SANITIZER=$sanitizer
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$module/cache} TMPDIR=$work
cd "$work"
if [ "$sanitizer" = address ]; then
    # Python itself is not instrumented, so the sanitizer comes first; leaks of the interpreter are not ours
    export LD_PRELOAD
    LD_PRELOAD="$("$compiler" -print-file-name=libasan.so) $("$compiler" -print-file-name=libubsan.so)"
    export ASAN_OPTIONS=detect_leaks=0:halt_on_error=1:abort_on_error=0:allocator_may_return_null=1
fi
/usr/bin/python3 -W error::ResourceWarning "$test" -v
