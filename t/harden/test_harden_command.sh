#!/bin/sh
# SPDX-License-Identifier: MIT
# The command of the long hostile run: what did not run is never called green.
top=${srcdir:-.}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
n=0
check() { # SENTENCE STATUS REGEX OPTION...
	sentence=$1 want=$2 regex=$3
	shift 3
	n=$((n + 1))
	"$top/t/harden/harden" "$@" > "$dir/out" 2>&1
	status=$?
	if [ $status = "$want" ] && grep -qE -- "$regex" "$dir/out"; then
		echo "ok $n - $sentence"
	else
		sed "s/^/# $status: /" "$dir/out"
		echo "not ok $n - $sentence"
	fi
}
if ! command -v bash > /dev/null || ! command -v flock > /dev/null; then
	echo "1..0 # SKIP no bash or no flock"
	exit
fi
echo 1..7
touch "$dir/config.status" "$dir/Makefile"
all="attack users hostile world shadow"
check "an unknown option is an error" 2 "unknown option --tme" --tme 3
check "so is a directory that nothing was built in" 2 "is no build directory" --build "$dir/nowhere"
check "so is a time that is none" 2 "expected seconds, got 'soon'" --build "$dir" --time soon
check "so is a Slurm that is not there" 2 "is no Slurm that t/releases/root has built" --build "$dir" --slurm "$dir"
check "a run of nothing is red" 1 "^RED: 0 found, nothing ran" --build "$dir" --time 1 --skip "$all fuzz"
CLANG=no-such-compiler
export CLANG
check "a part that could not run is said, and red" 1 "fuzz .*did not run: .*no no-such-compiler" --build "$dir" --time 1 --skip "$all"
check "so are live parts of a build without the plug-in" 1 "world@26.05 .*did not run: this build is without the plug-in" \
	--build "$dir" --time 1 --skip "attack fuzz users hostile shadow @22.05"
