#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_looked_at.sh - in live tests, somebody looks at whether commands fail (t/live/looked_at.awk).
. "${srcdir:-.}/t/tool/tool.sh"

looks() { awk -f "$srcdir/t/live/looked_at.awk" "$@"; }

# The body of a function is good, or bad.
is() { # good|bad BODY
	printf 'f() {\n%b\n}\n' "$2" >"$T/body"
	if looks "$T/body" >"$T/out"; then [ "$1" = good ]; else [ "$1" = bad ]; fi
}

ok "in each live test, each failure ends the test" looks "$srcdir"/t/live/*.t \
	"$srcdir"/t/live/preempt.sh "$srcdir"/t/live/meanwhile.sh "$srcdir"/t/live/beside.sh
ok "a list in the middle of a function is found" is bad '\ta && b\n\tc'
ok "... on two lines" is bad '\ta &&\n\t\tb\n\tc'
ok "... in a loop" is bad '\tfor i in 1 2; do a && b; done\n\tc'
ok "... the last of a loop" is bad '\tfor i in 1 2; do\n\t\ta && b\n\tdone'
ok "... behind a comment with an apostrophe" is bad "\t# Slurm's\n\ta && b\n\tc"
ok "the last of a function is looked at by who calls it" is good '\tc\n\ta && b'
ok "so is a condition" is good '\tif a && b; then c; fi\n\td'
ok "... and what says where to go on" is good '\ta && return 0\n\tb'
ok "... and a list in quotes" is good "\twait_for 10 eval 'a && b'\n\tc"
ok "... and one with an alternative" is good '\ta && b || c\n\td'
ok "what is looked for in a log at once is found" is bad '\ta\n\tlog_said b'
ok "... or in what the status and explain say" is bad '\tstatus_says a b\n\texplains c d'
ok "... or in what these commands print" is bad '\tX=1 schedlua status --json | grep b'
ok "... and not when the decision was waited for" is good '\twait_for 60 was_explained "$a"\n\tschedlua explain "$a" | grep b'
ok "... where it decides where to go on, too" is bad "\tlog_has 'a' || return\n\tb"
ok "... and not where it is waited for, or must not be there" is good '\twait_for 20 log_said a\n\tfails log_said b'
ok "the pid of an engine that may not live yet is found" is bad '\tpid=$(engine_pid)'
ok "... or one that is killed" is bad '\twait_for 20 engine_lives\n\ta\n\tkill -9 "$(engine_pid)"'
ok "... by what the status says" is bad '\ta\n\tkill "$(status engine_pid)"'
ok "... and not where somebody has waited for it" is good '\twait_for 20 engine_lives\n\t# so\n\tpid=$(engine_pid)'
ok "... or where it is tried until there is one" is good "\twait_for 20 eval 'kill \"\$(engine_pid)\"'"
echo "1..$n"
