#!/usr/bin/env bash
# An installed copy serves programs outside this tree: installs into a new folder, moves it, and builds examples/fk.c
# against it with find_package and with pkg-config, shared and static; all must give the command's own answer.
# usage: test_install.sh BUILD SOURCE LIBDIR
set -euo pipefail
build=$1 source=$2 libdir=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() { printf '%-28s %s\n' "$1" "$2"; }

# installed in one place, used in another: nothing may remember where it was
cmake --install "$build" --prefix "$work/first" >"$work/install.txt"
mv "$work/first" "$work/prefix"
prefix=$work/prefix
pliant=$prefix/bin/pliant
bash -n "$prefix/share/bash-completion/completions/pliant"
test -s "$prefix/share/zsh/site-functions/_pliant"
test -s "$prefix/share/fish/vendor_completions.d/pliant.fish"
test -s "$prefix/share/man/man1/pliant-fk.1"
test -s "$prefix/share/pliant/schema.json"
"$pliant" --version
"$pliant" new segment "$work/robot" >/dev/null
# a coarse mesh is enough
sed -i 's/^  size: .*/  size: 9/' "$work/robot/robot.yaml"
expected=$("$pliant" fk "$work/robot" --set chamber1=10kPa | awk '$1 == "tip" { print $2, $3, $4 }' | sed 's|-0\.000\b|0.000|g')
[ -n "$expected" ] || { echo "the installed command gave no tip"; exit 1; }
say "the command says" "$expected"

cmake -S "$source/examples" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$work/cmake.txt"
cmake --build "$work/cmake" >>"$work/cmake.txt" 2>&1 || { cat "$work/cmake.txt"; exit 1; }

export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig
cflags=$(pkg-config --cflags pliant-meshing)
# shellcheck disable=SC2086
${CC:-cc} -std=c17 $cflags "$source/examples/fk.c" -o "$work/pc_shared" $(pkg-config --libs pliant-meshing) -lm \
    -Wl,-rpath,"$prefix/$libdir"
archives=$(pkg-config --static --libs pliant-meshing | sed 's/-lpliant_meshing/-l:libpliant_meshing.a/; s/-lpliant\b/-l:libpliant.a/')
# shellcheck disable=SC2086
${CC:-cc} -std=c17 $cflags "$source/examples/fk.c" -o "$work/pc_static" $archives

failed=0
check() {
    local got
    got=$("$2" "$work/robot/robot.yaml" chamber1 10kPa | awk '$1 == "tip" { print $4, $5, $6 }' | sed 's|-0\.000\b|0.000|g') || true
    say "$1" "$got"
    [ "$got" = "$expected" ] || failed=1
}
check "find_package, shared" "$work/cmake/fk"
check "find_package, static" "$work/cmake/fk_static"
check "pkg-config, shared" "$work/pc_shared"
check "pkg-config, static" "$work/pc_static"

# the other examples: inverse kinematics at a fixed rate on a reduced robot, and on a model of one's own
"$pliant" new segment_beam "$work/beam" >/dev/null
path=$("$work/cmake/ik_path" "$work/beam/robot.yaml" 100 50) || failed=1
say "ik_path" "$(head -n 1 <<<"$path")"
grep -q '^50 of 50 targets reached' <<<"$path" || failed=1
own=$("$work/cmake/own_model" 80 45 | tail -n 1) || failed=1
say "own_model" "$own"
[[ $own == "tip at 80.000 45.000 mm"* ]] || failed=1

# what only some programs need is opened at its first use
library=$(find "$work" -name 'libpliant.so.*' -type f | head -n 1)
heavy=$(ldd "$library" | grep -oE 'lib(cairo|X11|xcb|sqlite3|dmumps|fontconfig|gmsh)[^ ]*' || true)
say "libpliant.so" "$(ldd "$library" | grep -c '=> /') libraries"
if [ -n "$heavy" ]; then
    echo "libpliant is linked with $heavy"
    failed=1
fi

# the static ones must not fall back on the shared library
for program in "$work/cmake/fk_static" "$work/pc_static"; do
    if readelf -d "$program" | grep -q 'NEEDED.*libpliant'; then
        echo "$program is linked with a shared libpliant"
        failed=1
    fi
done
exit $failed
