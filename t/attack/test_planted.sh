#!/bin/sh
# SPDX-License-Identifier: MIT
# The attack suite finds a hole that is planted: a function that a bid ends the process in, as the
# value of a key that is written down nowhere in the suite.  Without it the same chunks hold.
attack=${ATTACK:-t/attack/attack}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
echo 1..2
ATTACK_PLANT=1 "$attack" -f plan.planted -n 12 -k "$dir" > "$dir/out" 2>&1
if grep -q '^not ok 1' "$dir/out" && grep -q 'at decide: .*Abort' "$dir/out"; then
	echo "ok 1 - a bid in the options of a function that does not expect one there is found"
else
	sed 's/^/# /' "$dir/out"
	echo "not ok 1 - a bid in the options of a function that does not expect one there is found"
fi
if "$attack" -f plan.reserve -n 12 -k "$dir" > "$dir/out" 2>&1; then
	echo "ok 2 - the same chunks hold for a function that checks"
else
	sed 's/^/# /' "$dir/out"
	echo "not ok 2 - the same chunks hold for a function that checks"
fi
