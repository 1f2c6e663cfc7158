#!/bin/sh
# SPDX-License-Identifier: MIT
#
# bench/logs with a simulator that answers at once, or fails.

# shellcheck source=t/tool/tool.sh
. "$(dirname "$0")/../tool/tool.sh"
LOGS=$(cd "$(dirname "$0")/../.." && pwd)/bench/logs

mkdir "$T/build" "$T/traces"
echo 'schedlua schedlab:' >"$T/build/Makefile"
for log in KTH-SP2-1996-2-raw lublin_256; do : >"$T/traces/$log.swf.gz"; done

# simulator LINE... : what stands for schedlua.
simulator() { printf '%s\n' '#!/bin/sh' "$@" >"$T/build/schedlua" && chmod +x "$T/build/schedlua"; }

logs() { BUILD=$T/build MAKEFLAGS='' bash "$LOGS" --traces "$T/traces" --only "$1" >"$T/out" 2>"$T/err"; }

tables() {
	simulator "echo '{\"bsld_mean\": 12.5, \"bsld_sd\": 1, \"bsld_max\": 300}'"
	logs whole && out '| 49.8 | 12.5 (300) | 12.5 (300) |$' || return 1
	logs sequences && out '^| | ours | 12.50 (300) | .* | | 12.50 (300) | 12.50 (300) |$' && err 'lublin_256_new2.swf.gz is not there'
}
ok "what was simulated stands in both tables" tables

# POLICY that fails, TABLE
fails() {
	simulator "case \$* in *$1*) echo 'schedlua: $1: refused' >&2; exit 1 ;; esac" \
		"echo '{\"bsld_mean\": 12.5, \"bsld_max\": 300}'"
	! logs "$2" && err "schedlua: $1: refused" && ! grep -q -e '0\.0' -e nan -e '()' "$T/out"
}
ok "a simulation that fails ends it with what it said" fails predictive whole
ok "so does one of the sequences" fails order=wfp3 sequences
ok "and the last of them" fails predictor=limit sequences
ok "and one in the middle" fails skip=3316 sequences

nowhere() { # BENCH
	! (unset SCHEDLUA_TRACES; BUILD=$T/build MAKEFLAGS='' bash "$(dirname "$LOGS")/$1") >"$T/out" 2>"$T/err" &&
		err "bench/$1: nothing says where the logs are: expected --traces DIR, or SCHEDLUA_TRACES=DIR" &&
		! BUILD=$T/build MAKEFLAGS='' SCHEDLUA_TRACES=$T/none bash "$(dirname "$LOGS")/$1" >"$T/out" 2>"$T/err" &&
		err "bench/$1: $T/none: expected a directory of logs"
}
ok "nobody guesses where the logs are" nowhere logs
ok "nor for forecasts" nowhere forecast

says_nothing() {
	simulator 'echo "{}"'
	! logs whole && ! grep -q '0\.0' "$T/out"
}
ok "a result without the figures ends it, too" says_nothing

echo "1..$n"
