#!/bin/sh
# SPDX-License-Identifier: MIT
#
# compare.awk: what makes the exit status of a run of Slurm's own tests red.
T=$(mktemp -d "${TMPDIR:-/tmp}/schedlua-test.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
printf 'a part 1\nb part 1 other\n' >"$T/tests"
: >"$T/again"
n=0

# STATUS SENTENCE STOCK-OF-b LUA-OF-b
compared() {
	n=$((n + 1))
	printf 'a\tpass\t1\t\nb\t%s\t1\t\n' "$3" >"$T/stock"
	printf 'a\tpass\t1\t\nb\t%s\t1\t\n' "$4" >"$T/lua"
	awk -f "${srcdir:-.}/t/suite/compare.awk" "$T/tests" "$T/stock" "$T/lua" "$T/again" >"$T/out"
	[ $? = "$1" ] && echo "ok $n - $2" || echo "not ok $n - $2"
}
compared 0 "tests that pass under both are green" pass pass
compared 0 "a test that differs by intent is green" pass fail
compared 1 "a test that did not run under sched/lua is red, whatever its mark" pass "not run"
compared 1 "a test that did not run under stock is red" "not run" pass
compared 1 "a test that did not run under sched/lua is red where stock fails, too" fail "not run"
echo "1..$n"
