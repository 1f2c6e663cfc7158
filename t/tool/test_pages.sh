#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The pages that schedlua sim and compare write (--report).

# shellcheck source=t/tool/tool.sh
. "$(dirname "$0")/tool.sh"

# The page's own files with a library of one line, so that npm is not needed.
assets() {
	mkdir -p "$T/assets" && cp "$(dirname "$0")"/../../report/*.html "$(dirname "$0")"/../../report/*.css \
		"$(dirname "$0")"/../../report/*.js "$T/assets" && touch "$T/assets/uPlot.css" "$T/assets/uPlot.licence" || return 1
	echo "var uPlot;" >"$T/assets/uPlot.js"
}

# All of it but for the command line that made it.
same_page() {
	for page in "$1" "$2"; do sed 's/"command": "schedlua [^"]*"//' "$T/$page.html" >"$T/$page.page"; done
	cmp "$T/$1.page" "$T/$2.page"
}
sim_report() {
	assets && SCHEDLUA_REPORT=$T/assets run 0 sim --quiet --policy=fcfs --report="$T/a.html" esp &&
		SCHEDLUA_REPORT=$T/assets run 0 sim --quiet --policy=fcfs --report="$T/b.html" esp &&
		same_page a b && grep -q "<title>fcfs on esp</title>" "$T/a.html" &&
		grep -q '"label": "fcfs"' "$T/a.html" && ! grep -q '<!-- [a-z]* [a-zA-Z.]* -->' "$T/a.html"
}
ok "sim --report writes a page, the same one each time" sim_report

sim_report_early() {
	assets && SCHEDLUA_REPORT=$T/assets run 1 sim --report="$T/no/such.html" esp && quiet out && err "No such file" &&
		rm "$T/assets/words.js" && SCHEDLUA_REPORT=$T/assets run 1 sim --report="$T/c.html" esp && quiet out &&
		err "words.js" && [ ! -e "$T/c.html" ] && [ -z "$(ls "$T"/c.html.* 2>/dev/null)" ]
}
ok "sim --report fails before the run where the page cannot be written or made" sim_report_early

no_library() {
	assets && rm "$T/assets/uPlot.js" && SCHEDLUA_REPORT=$T/assets run 0 sim --quiet --policy=fcfs --report="$T/h.html" esp &&
		[ "$(wc -l <"$T/err")" = 1 ] && err "^schedlua: warning: .*chart library.*make report-library" &&
		grep -q '"label": "fcfs"' "$T/h.html" && ! grep -q '<!-- [a-z]* [a-zA-Z.]* -->' "$T/h.html"
}
ok "without the chart library the page is made, and one line says what it lacks" no_library

# What is fetched with npm, where it has been; npm itself is not run here.
dist_library() {
	mkdir -p "$T/dist/report" && ${MAKE:-make} -s dist-report-library distdir="$T/dist" >"$T/out" 2>"$T/err" &&
		for f in uPlot.js uPlot.css uPlot.licence; do [ -s "$T/dist/report/$f" ] || return 1; done
}
if [ -f report/uPlot.js ] || [ -f "${srcdir:-.}/report/uPlot.js" ]; then
	ok "a tarball has the chart library and its licence" dist_library
fi

compare_report() {
	echo 'return { api = 1, name = "bad", doc = "d", decide = function(c) if c.totals.running > 3 then error "lost" end end }' >"$T/bad.lua"
	assets && SCHEDLUA_REPORT=$T/assets run 0 compare --quiet --seeds=2 --policies="fcfs easy" --report="$T/d.html" esp &&
		SCHEDLUA_REPORT=$T/assets run 0 compare --quiet --policies="fcfs easy" --workers=1 --report="$T/e.html" esp &&
		same_page d e && grep -q "<title>2 policies on esp</title>" "$T/d.html" &&
		grep -q '"label": "fcfs"' "$T/d.html" && grep -q '"label": "easy"' "$T/d.html" &&
		SCHEDLUA_REPORT=$T/assets run 1 compare --quiet --policies="$T/bad.lua easy" --report="$T/f.html" esp &&
		grep -q '"label": "easy"' "$T/f.html" && ! grep -q '"label": "bad' "$T/f.html" &&
		run 1 compare --report="$T/no/such.html" esp && quiet out && err "No such file" &&
		run 2 compare --runs --part=0/2 --report="$T/g.html" esp
}
ok "compare --report writes one page of all policies, those of the first seed" compare_report

echo "1..$n"
