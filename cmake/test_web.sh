#!/usr/bin/env bash
# tools/install-web behind a proxy with a certificate of its own: npm gets the certificates of the machine, those that the caller
# names win, and a refused certificate is said with what to do. npm is a stand-in that answers as behind such a proxy.
# usage: test_web.sh SOURCE
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tools" "$work/web" "$work/bin"
cp "$source/tools/install-web" "$source/tools/install-deps" "$source/tools/parts.txt" "$work/tools/"
cat >"$work/bin/npm" <<'END'
#!/bin/sh
echo "${NODE_EXTRA_CA_CERTS:-none}" >"$WORK/asked"
grep -q company "${NODE_EXTRA_CA_CERTS:-/dev/null}" || { echo "npm ERR! code SELF_SIGNED_CERT_IN_CHAIN"; exit 1; }
mkdir -p node_modules/three/build
touch node_modules/.package-lock.json node_modules/three/build/three.module.js
END
chmod +x "$work/bin/npm"
echo "a company's certificate" >"$work/store.crt"
echo "another" >"$work/other.crt"
run() { env -u NODE_EXTRA_CA_CERTS WORK="$work" PATH="$work/bin:$PATH" "$@" >"$work/said" 2>&1; }

run SSL_CERT_FILE="$work/store.crt" "$work/tools/install-web" --need || { cat "$work/said"; echo "the store of the machine was not used"; exit 1; }
[ "$(cat "$work/asked")" = "$work/store.crt" ]
rm -r "$work/web/node_modules"
if run SSL_CERT_FILE="$work/store.crt" NODE_EXTRA_CA_CERTS="$work/other.crt" "$work/tools/install-web" --need; then
    echo "NODE_EXTRA_CA_CERTS of the caller was replaced"
    exit 1
fi
grep -q "not trusted (tried: $work/other.crt)" "$work/said"
grep -q "NODE_EXTRA_CA_CERTS=FILE" "$work/said"
# verification is never switched off
! grep -nE 'strict-ssl|NODE_TLS_REJECT_UNAUTHORIZED|--insecure|no-check-certificate' "$source"/tools/*
