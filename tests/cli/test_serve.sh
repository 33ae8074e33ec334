#!/usr/bin/env bash
# pliant serve: what it refuses, and that it listens and ends when asked. The rest is in tests/web.
. "$(dirname "$0")/lib.sh"

# a page that stands in for the real one, which needs npm
mkdir page page/three page/three/build
touch page/index.html page/three/build/three.module.js
export PLIANT_WEB=$work/page XDG_CACHE_HOME=$work/cache

expect_status 0 serve --help
expect_words out.txt "--demo" "--token" "--port"
expect_status 2 serve
expect_words err.txt "--demo"
expect_status 3 serve nowhere
expect_words err.txt "no such file"
expect_status 2 serve --demo --host 0.0.0.0
expect_words err.txt "--token"
expect_status 2 serve --demo --token short
expect_words err.txt "8 to 200"
expect_status 2 serve --demo --port 70000
expect_status 2 serve --demo --idle soon

# without its page it says what is missing
status=0
PLIANT_WEB=$work "$pliant" serve --demo >out.txt 2>err.txt || status=$?
[ "$status" -eq 3 ] && pass "exit 3 without the page" || fail "exit $status, expected 3 without the page"
expect_words err.txt "index.html"

# it prints its address, lets a second server know that the port is taken, and ends by itself and when asked
"$pliant" serve --demo --port 0 >serve.txt 2>&1 &
server=$!
await_or_end "$server" grep -q "http://127.0.0.1:" serve.txt
port=$(sed -n 's|.*http://127.0.0.1:\([0-9]*\)/.*|\1|p' serve.txt)
[ -n "$port" ] && pass "prints the address" || fail "no address: $(cat serve.txt)"
expect_status 3 serve --demo --port "$port"
expect_words err.txt "may be in use"
[ -e "$work/cache/pliant/gallery/bending_finger/robot.yaml" ] && pass "the gallery is written" || fail "no gallery"
kill -INT "$server"
status=0
wait "$server" || status=$?
[ "$status" -eq 0 ] && pass "ends with 0 after Ctrl-C" || fail "ended with $status"
expect_status 0 serve --demo --port 0 --idle 1s
finish
