# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# tool.sh - for tests of the tool as its users meet it: the real program, its output, its
# exit status.  Sourced; speaks TAP.  $SCHEDLUA is the program (default: ./schedlua), $T a
# directory that goes away at the end; a test file ends with "echo 1..$n".

set -u
SCHEDLUA=${SCHEDLUA:-./schedlua}
T=$(mktemp -d "${TMPDIR:-/tmp}/schedlua-test.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
unset SLURM_CONF
TZ=UTC
export TZ
n=0

# ok NAME COMMAND... : one test; what the command printed is shown when it fails.
ok() {
	n=$((n + 1))
	name=$1
	shift
	if "$@" >"$T/ok" 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		sed 's/^/# /' "$T/ok"
		[ ! -f "$T/out" ] || sed 's/^/# out: /' "$T/out" | head -n 40
		[ ! -f "$T/err" ] || sed 's/^/# err: /' "$T/err" | head -n 40
	fi
}

# run STATUS ARGUMENT... : run the tool, expect that status.
run() {
	want=$1
	shift
	"$SCHEDLUA" "$@" >"$T/out" 2>"$T/err"
	got=$?
	[ $got = "$want" ] || { echo "schedlua $*: status $got, expected $want"; return 1; }
}

out() { grep -q -e "$1" "$T/out" || { echo "no \"$1\" on stdout"; return 1; }; }
err() { grep -q -e "$1" "$T/err" || { echo "no \"$1\" on stderr"; return 1; }; }
quiet() { [ ! -s "$T/$1" ] || { echo "$1 is not empty"; return 1; }; }
