#!/usr/bin/env bash
# The page in a browser. Exit 77: skipped, with the reason.
# usage: test_browser.sh PLIANT SCREENS [browser.mjs|hand.mjs [PART ...]]
set -eu
pliant=$1 screens=$2
here=$(cd "$(dirname "$0")" && pwd)
skip() {
    echo "skipped: $1"
    exit 77
}
command -v node >/dev/null 2>&1 || skip "node is not there"
chromium=$(command -v chromium || command -v chromium-browser || true)
[ -n "$chromium" ] || skip "Chromium is not there (tools/install-web --tests installs it)"
[ -e "$here/../../web/node_modules/playwright-core/package.json" ] || skip "playwright-core is not there (tools/install-web --tests)"
[ -e "$here/../../web/node_modules/axe-core/axe.min.js" ] || skip "axe-core is not there (tools/install-web --tests)"
[ -e "$here/../../web/node_modules/three/package.json" ] || skip "three.js is not there (tools/install-web)"
mkdir -p "$screens"
exec node "$here/${3:-browser.mjs}" "$pliant" "$screens" "$chromium" "${@:4}"
