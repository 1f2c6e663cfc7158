#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A schedule does not depend on how busy the machine is, nor on how the program was built: policies
# that solve integer programs, with so little time that it ends many of them, alone and beside
# three processes for each processor that do nothing but compute.  SL_OTHER=PROGRAM: by another build, too.

# shellcheck source=t/tool/tool.sh
. "$(dirname "$0")/../tool/tool.sh"

LOAD=$((3 * $(getconf _NPROCESSORS_ONLN)))
busy=

begin_load() {
	i=0
	while [ $i -lt $LOAD ]; do
		sh -c 'while kill -0 '$$' 2>/dev/null; do i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; done' &
		busy="$busy $!"
		i=$((i + 1))
	done
}

end_load() {
	for pid in $busy; do
		kill "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	busy=
}

# POLICY WORKLOAD FILE [PROGRAM]: its schedule and figures
schedule() {
	"${4:-$SCHEDLUA}" sim --machine=64x8c2g --first=24 --quiet --json --policy="$1" --jobs="$3.csv" "$2" >"$3.out" 2>"$3.err" || return 1
	sed 's/"cycle_us".*//' "$3.out" >>"$3.csv"
	grep -q '"solves_cut": 0' "$3.out" && [ ! -s "$3.err" ]
}

same() {
	schedule "$1" "$2" "$T/idle" || return 1
	begin_load
	schedule "$1" "$2" "$T/busy"
	status=$?
	end_load
	[ $status = 0 ] && cmp "$T/idle.csv" "$T/busy.csv" || return 1
	[ -z "${SL_OTHER-}" ] || { schedule "$1" "$2" "$T/other" "$SL_OTHER" && cmp "$T/idle.csv" "$T/other.csv"; }
}

if ! "$SCHEDLUA" version | grep -qi 'coinmp\|cbc'; then
	echo "1..0 # SKIP no solver in this program"
	exit 0
fi
for policy in ip_window,time_limit=0.02,max_jobs=16 ip_window,time_limit=0.02,max_jobs=16,on_timeout=halve \
	auction,time_limit=0.02,window=40; do
	ok "$policy: the same at load 0 and at load $LOAD" same "$policy" auction:V.1
done
echo "1..$n"
