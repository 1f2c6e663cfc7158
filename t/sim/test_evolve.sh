#!/bin/sh
# SPDX-License-Identifier: MIT
#
# schedlua evolve: the search, its proposer, and what it does with odd logs and programs that misbehave.

# shellcheck source=t/tool/tool.sh
. "$(dirname "$0")/../tool/tool.sh"

SMALL="--quiet --procs=64 --window=40 --windows=4 --population=8 --generations=2 --workers=2 --seed=3"
JOBS=synthetic:jobs=400,load=0.95,users=9
# evolve STATUS OPTION... : a search of seconds
evolve() {
	status=$1
	shift
	# $SMALL is a list
	# shellcheck disable=SC2086
	run "$status" evolve $SMALL "$@" "$JOBS"
}

whole() {
	evolve 0 --output="$T/found" --name=mine && quiet err && out 'mine.lua, its spec' && sed -e '/its spec/d' "$T/out" | sed '$d' >"$T/whole" &&
		out '^| workload | windows | easy | predictive | mine |' && out '^| 1 | ' && out '^[0-9]* programs were tried' &&
		run 0 check --quiet "$T/found/mine.lua" && grep -q '^function M.rank(job, cluster)$' "$T/found/mine.lua" &&
		run 0 sim --policy="$T/found/mine.lua" --procs=64 synthetic:jobs=50 && [ -s "$T/found/mine_spec.lua" ] && [ -s "$T/found/mine.md" ]
}
ok "evolve writes a policy, its spec and its evidence" whole

again() { evolve 0 --name=mine --workers=1 && diff "$T/out" "$T/whole"; }
ok "the same seed finds the same, whatever the number of workers" again

spec() {
	command -v busted >/dev/null && [ -n "${LUA_CPATH-}" ] || return 0
	(cd "$T/found" && busted --lua=lua5.4 mine_spec.lua)
}
ok "the spec that it writes passes" spec

cut_off() {
	evolve 0 --name=mine --state="$T/st" && diff "$T/out" "$T/whole" || return 1
	for keep in 1 7 30 60; do
		rm -rf "$T/cut" && mkdir "$T/cut" && head -n "$keep" "$T/st/all.evolve" >"$T/cut/all.evolve" &&
			sed -n "$((keep + 1))p" "$T/st/all.evolve" | cut -c 1-45 | tr -d '\n' >>"$T/cut/all.evolve" &&
			evolve 0 --name=mine --state="$T/cut" && diff "$T/out" "$T/whole" || return 1
	done
}
ok "a search goes on from its journal, whose last line may be cut off, to the same bytes" cut_off

# Killed as soon as its journal has so many lines.
killed() {
	for lines in 3 25; do
		rm -rf "$T/dead"
		# shellcheck disable=SC2086
		"$SCHEDLUA" evolve $SMALL --name=mine --state="$T/dead" "$JOBS" >"$T/out" 2>"$T/err" &
		pid=$!
		until [ "$( (cat "$T/dead/all.evolve" 2>/dev/null || :) | wc -l)" -ge $lines ] || ! kill -0 $pid 2>/dev/null; do :; done
		kill -9 $pid 2>/dev/null
		wait $pid 2>/dev/null
		evolve 0 --name=mine --state="$T/dead" && diff "$T/out" "$T/whole" || return 1
	done
}
ok "a search that was killed goes on to the same bytes" killed

parts() {
	: >"$T/out"
	while ! grep -q '^| workload' "$T/out"; do	# a step is missing until all parts are done
		for part in 1 0 2; do
			evolve 0 --name=mine --state="$T/parts" --part=$part/3 || return 1
		done
	done
	diff "$T/out" "$T/whole" && [ "$(find "$T/parts" -name '[012].evolve' | wc -l)" = 3 ]
}
ok "parts of a job array meet in a directory and come to the same" parts

hours() {
	evolve 1 --state="$T/hours" --hours=0.00001 && run 1 evolve --procs=64 --window=40 --windows=4 --hours=0.00001 "$JOBS" &&
		err 'stopped after [0-9]* simulations; with --state they would not be lost'
}
ok "a search ends after its hours, and says so" hours

# ---------------------------------------------------------------------- the proposer

# proposes TEXT OPTION... : a search whose proposer is the shell command TEXT
proposes() {
	command=$1
	shift
	evolve 0 --generations=1 --proposals=2 --proposer="$command" "$@"
}

# One program more than without a proposer was tried, and none lost.
one_more() {
	tried=$(sed -n 's/^\([0-9]*\) programs were tried; 0 lost.*/\1/p' "$T/out")
	[ "$tried" = $((known + 1)) ] || { echo "${tried:-none} were tried, expected one more than $known"; return 1; }
}

proposed() {
	evolve 0 --generations=1 && known=$(sed -n 's/^\([0-9]*\) programs were tried.*/\1/p' "$T/out") &&
		printf '%s\n' 'cat >"$1"' 'echo "Here it is:"' 'echo "\`\`\`lua"' 'echo "-cpus * limit * (1 + idle * 0.001)"' 'echo "\`\`\`"' >"$T/propose" &&
		proposes "sh $T/propose $T/asked" && out 'The proposer was asked 2 times, 0 of them in vain.' &&
		one_more && grep -q '"expression": "-cpus \* limit"\|"programs": \[\]' "$T/asked" &&
		grep -q '"name": "waited"' "$T/asked"
}
ok "a program that the proposer prints takes part, with a fence around it or not" proposed

failing() {
	proposes 'exit 3' && out 'asked 2 times, 2 of them in vain: exit status 3 (2)' && proposes 'true' && out 'vain: printed nothing (2)' &&
		proposes 'kill -9 $$' && out 'was ended by signal 9 (2)' && proposes 'no-such-program' && out 'exit status 127 (2)' &&
		proposes 'yes' && out 'printed more than 65536 bytes (2)' &&
		proposes 'sleep 600' --patience=0.1 && out 'took too long (2)' &&
		proposes 'exec >&-; sleep 600' --patience=0.1 && out 'took too long (2)' &&
		proposes 'sleep 600 & echo waited' --patience=0.3
}
ok "a proposer that fails, hangs, says nothing or too much is counted, and the search goes on" failing

tired() { evolve 0 --generations=1 --proposals=50 --proposer='exit 3' && out 'asked 5 times, 5 of them in vain'; }
ok "a proposer that only fails is asked no more" tired

nonsense() {
	proposes 'echo "I would say: shortest first"' && out 'asked 2 times, 0 of them in vain' && out 'lost before .*syntax error' &&
		proposes 'head -c 5000 /dev/urandom' && out 'tried; [1-9][0-9]* lost before' &&
		proposes 'printf "((((%.0s" $(seq 3000)' && out 'tried; [1-9][0-9]* lost before'
}
ok "nonsense of a proposer loses" nonsense

POLICY='return { api = 1, name = "x", doc = "x", rank = function(job) return'
hostile() {
	proposes "echo '$POLICY 0 / 0 end }'" && out 'lost before .*rank returned not-a-number' && proposes "echo '$POLICY math.huge end }'" &&
		out 'lost before .*rank returned not-a-number' && proposes "echo '$POLICY os.exit(0) end }'" && out "lost before .*there is no 'os' here" &&
		proposes "echo '$POLICY {} end }'" && out 'lost before .*arithmetic' &&
		proposes "echo '$POLICY (function() while true do end end)() end }'" --cpu=1 && out 'lost before .*CPU time' &&
		proposes "echo 'return { api = 1, name = \"x\", doc = \"x\", decide = function() end }'" && out 'lost before' &&
		proposes "echo '$POLICY -job.cpus end }'" && one_more
}
ok "policies of a proposer that divide by zero, hang or reach out of the sandbox lose; others are judged" hostile

unbounded() {
	proposes "echo '1 / (waited - waited) + -limit'" && out 'in vain' && ! out 'nan' >/dev/null &&
		proposes "echo '(waited + 2) ^ 300 ^ 2'" && out 'lost before .*rank returned not-a-number' &&
		proposes "echo '1e300 * 1e300 * cpus'" && out 'printed a program that is too long (2)'
}
ok "an expression that divides by zero is guarded, and one that grows without bound loses" unbounded

kept_answers() {
	printf '%s\n' 'cat >/dev/null; echo x >>"$1"; echo "-cpus * limit - waited"' >"$T/count" &&
		proposes "sh $T/count $T/asked.count" --state="$T/answers" && cp "$T/out" "$T/first" && proposes "sh $T/count $T/asked.count" --state="$T/answers" &&
		diff "$T/out" "$T/first" && [ "$(wc -l <"$T/asked.count")" = 2 ]
}
ok "answers of the proposer are kept, and it is not asked again" kept_answers

# ---------------------------------------------------------------------- odd logs

# A log of COUNT jobs of USERS users; of each EVERY jobs one ran for no time.
log() { # COUNT USERS EVERY
	awk -v count="$1" -v users="$2" -v every="$3" 'BEGIN { print "; UnixStartTime: 1000\n; MaxProcs: 16"
		for (i = 1; i <= count; i++) { t += i * 37 % 40; n = 1 + i * i * 7 % 13; r = i % every ? 20 + i * 61 % 400 : 0
			print i, t, -1, r, n, -1, -1, n, r + 1 + i * 13 % 90, -1, 1, users ? i % users + 1 : -1, 1, -1, 1, 1, -1, -1 } }'
}
odd() { # STATUS LOG OPTION...
	want=$1
	file=$2
	shift 2
	run "$want" evolve --quiet --window=20 --windows=4 --population=6 --generations=1 "$@" "$T/$file.swf"
}
odd_logs() {
	log 80 0 999 >"$T/no-users.swf" && log 80 1 999 >"$T/one-user.swf" && log 160 5 2 >"$T/no-runtimes.swf" && log 10 3 99 >"$T/ten.swf" &&
		log 30 5 1 >"$T/zeros.swf" && odd 0 no-users && odd 0 one-user && odd 0 no-runtimes && odd 0 ten --window=5 &&
		odd 1 ten && err 'ten.swf: 10 jobs make 0 windows of 20 jobs; needed are 2, one to learn from and one to judge (--window)' &&
		odd 1 zeros && err 'no job in 32 lines' && odd 0 no-users --judge="$T/ten.swf $T/one-user.swf" && out '^| ten.swf | 1 |' &&
		odd 1 no-users --judge="$T/none.swf" && err 'none.swf'
}
ok "logs without users, with one, with jobs that ran for no time and of ten jobs are searched, or refused with a reason" odd_logs

usage() {
	evolve 1 --search=jobs && err 'expected rank or score' && evolve 1 --objective=x && err 'expected bsld, wait' &&
		evolve 1 --name=a/b && err 'expected the name of a Lua module' && evolve 2 --part=0/2 && err 'expected --state' &&
		evolve 1 --state="$T/p" --part=2/2 && err 'expected I/N' && evolve 1 --baseline=nosuch && err 'nosuch' &&
		evolve 2 --first=10 && err 'expected --window' && run 2 evolve && evolve 1 --state="$T/whole" && err 'whole'
}
ok "what is wrong with the options is said" usage

scores() {
	run 0 evolve --quiet --search=score --objective=wait --machine=16x8c2g --window=30 --windows=2 --population=12 --generations=1 \
		--output="$T/found" --name=placed esp-gpu && grep -q '^function M.score(job, class)$' "$T/found/placed.lua" &&
		run 0 check --quiet "$T/found/placed.lua"
}
ok "placement scores are searched, too" scores

# A figure by a command: the length of the policy, and so the shortest one wins.
own_trial() {
	echo 'return { api = 1, name = "base", doc = "x", rank = function(job) return job.cpus end }' >"$T/base.lua" &&
		trial() { run "$1" evolve --quiet --population=6 --generations=1 --windows=4 --baseline="$T/base.lua" --trial="$2" word "it's"; } &&
		trial 0 'f() { [ "$1" = word ] || [ "$1" = "it'"'"'s" ] || exit 1; n=$(wc -c); echo $((n + $2)); }; f' &&
		out "^| it's | 2 |" && out '^What --trial printed' && out '^| 1 | .*| 1 | known, number 1 | `waited` |' && ! out largest, &&
		trial 1 'echo x; true' && err 'base.lua: printed no number' && trial 1 'exit 4;' && err 'exit status 4' &&
		run 1 evolve --quiet --trial='echo 1' word && err 'predictive: expected the file of a policy'
}
ok "a command of the user's judges in the place of simulations" own_trial

echo 1..$n
