#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# live_page.t [BUILD] - the page of schedlua serve in headless Chromium.  Speaks TAP; skips, loudly, without node, a
# browser or libmicrohttpd.

set -u
HERE=$(cd "$(dirname "$0")" && pwd -P)
BUILD=${1:-$HERE/../../.work/build}

skip_all() {
	echo "1..0 # SKIP $*"
	echo "SKIPPED: the live page in a browser: $*" >&2
	exit 0
}

command -v node > /dev/null || skip_all "no node: apt-get install nodejs"
for f in "$HERE"/../../engine/web/page.js "$HERE"/*.js; do
	node --check "$f" || { echo "Bail out! $f: syntax"; exit 1; }
done
make -s -C "$BUILD" all > /dev/null || { echo "Bail out! schedlua does not build"; exit 1; }
if "$BUILD/schedlua" serve --dir=/nowhere --socket=/nowhere/at/all 2>&1 | grep -q "built without libmicrohttpd"; then
	! grep -q '^MICROHTTPD_LIBS = *-' "$BUILD/Makefile" || { echo "Bail out! schedlua-serve is missing, and libmicrohttpd is there"; exit 1; }
	skip_all "built without libmicrohttpd"
fi
for b in chromium chromium-browser google-chrome; do
	CHROMIUM=$(command -v $b) && break
done
[ -n "$CHROMIUM" ] || skip_all "no browser: apt-get install chromium"
exec node "$HERE/live_page.js" "$CHROMIUM" "$BUILD"
