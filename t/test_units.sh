#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_units.sh - the units of systemd: what they run is there, with options that it has, as nobody's root.
. "${srcdir:-.}/t/tool/tool.sh"

UNITS=packaging/systemd

# options VERB WORD... : are these options of that command?
options() {
	verb=$1
	shift
	for word in "$@"; do
		"$SCHEDLUA" "$verb" --help | grep -q -e "${word%%=*}[= ]" || { echo "schedlua $verb has no $word"; return 1; }
	done
}

runs() { # UNIT VERB VARIABLE
	unit=$UNITS/$1
	! grep -n '@' "$unit" | grep -v 'SystemCallFilter=@system-service' || return 1
	grep -q "^ExecStart=/.*/schedlua $2 \$$3\$" "$unit" && grep -q '^User=slurm$' "$unit" &&
		grep -q '^NoNewPrivileges=yes$' "$unit" && grep -q '^ProtectSystem=strict$' "$unit" || return 1
	# shellcheck disable=SC2046 # options are words
	options "$2" $(sed -n "s/^Environment=$3=//p" "$unit")
}
ok "the page is served by a command that there is, with options that it has" runs schedlua-serve.service serve SCHEDLUA_SERVE
ok "so are forecasts made" runs schedlua-forecast.service forecast SCHEDLUA_FORECAST

timer() { grep -q '^OnUnitInactiveSec=5min$' "$UNITS/schedlua-forecast.timer" && [ -f "$UNITS/schedlua-forecast.service" ]; }
ok "the timer has the service of its name" timer

known() {
	command -v systemd-analyze >/dev/null || { echo "no systemd-analyze"; return 0; }
	mkdir "$T/units"
	for unit in schedlua-serve.service schedlua-forecast.service schedlua-forecast.timer; do
		sed 's!^ExecStart=[^ ]*!ExecStart=/bin/true!' "$UNITS/$unit" >"$T/units/$unit"
	done
	systemd-analyze verify "$T/units"/* >"$T/out" 2>&1
	! grep -i 'unknown\|failed to parse\|invalid' "$T/out"
}
ok "systemd knows every line of them" known

echo "1..$n"
