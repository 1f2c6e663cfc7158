#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# page.t [BUILD] - the report page in headless Chromium.  Speaks TAP; skips,
# loudly, what cannot be had: node, npm's chart library, a browser.

set -u
HERE=$(cd "$(dirname "$0")" && pwd -P)
BUILD=${1:-$HERE/../../.work/build}

skip_all() {
	echo "1..0 # SKIP $*"
	echo "SKIPPED: the report page in a browser: $*" >&2
	exit 0
}

command -v node > /dev/null || skip_all "no node: apt-get install nodejs"
for f in "$HERE"/../../report/*.js "$HERE"/*.js; do
	node --check "$f" || { echo "Bail out! $f: syntax"; exit 1; }
done
make -s -C "$BUILD" t/report/page_sample schedlua > /dev/null || { echo "Bail out! t/report/page_sample or schedlua does not build"; exit 1; }
[ -f "$BUILD/report/uPlot.js" ] || make -s -C "$BUILD" report-library > /dev/null ||
	skip_all "no chart library (make report-library)"
for b in chromium chromium-browser google-chrome; do
	CHROMIUM=$(command -v $b) && break
done
[ -n "$CHROMIUM" ] || skip_all "no browser: apt-get install chromium"
exec node "$HERE/page.js" "$CHROMIUM" "$BUILD"
