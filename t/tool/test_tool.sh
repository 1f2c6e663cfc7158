#!/bin/sh
# SPDX-License-Identifier: MIT
#
# All verbs of the tool but sim and compare, as their users meet them.

# shellcheck source=t/tool/tool.sh
. "$(dirname "$0")/tool.sh"
SOURCE=$(cd "$(dirname "$0")/../.." && pwd)

# ------------------------------------------------------------------------ usage

engine_alone() { run 1 engine </dev/null && err 'descriptor 3 is no packet socket'; }
ok "the engine refuses to be started by hand" engine_alone

no_command() { run 2 && err "a command is missing" && quiet out; }
ok "without a command it says so and ends with 2" no_command

unknown_command() { run 2 frobnicate && err '^schedlua: no command "frobnicate"$'; }
ok "an unknown command ends with 2" unknown_command

all_help() {
	run 0 --help && out "^  version " && quiet err || return 1
	verbs=$(sed -n 's/^  \([a-z-]*\) .*/\1/p' "$T/out")
	for verb in $verbs; do
		run 0 "$verb" --help && out "^Usage: schedlua $verb" && quiet err || return 1
		run 2 "$verb" --no-such-option && err "unknown option --no-such-option" || return 1
		run 0 --man "$verb" && out "^.SH OPTIONS" || return 1
	done
}
ok "every command has help, a man page, and refuses unknown options" all_help

did_you_mean() {
	run 2 chek x.lua && err '^schedlua: no command "chek"; did you mean "check"?$' &&
		run 2 check --trsut x.lua && err '^schedlua: unknown option --trsut; did you mean --trust?$' &&
		run 2 compare --policy=easy esp && err 'unknown option --policy=easy; did you mean --policies?$' &&
		run 2 check --PTAH=/x x.lua && err 'unknown option --PTAH=/x; did you mean --path?$' &&
		run 2 check --frobnicate x.lua && err 'unknown option --frobnicate$' &&
		run 2 check -trust x.lua && err 'unknown option -trust$'
}
ok "a command or an option that is misspelt is told the nearest" did_you_mean

help_verb() {
	run 0 check --help && cp "$T/out" "$T/help" && run 0 help check && cmp "$T/out" "$T/help" && run 0 --help &&
		cp "$T/out" "$T/help" && run 0 help && cmp "$T/out" "$T/help" && run 2 help chek && err 'did you mean "check"'
}
ok "help and help COMMAND print what --help does" help_verb

# completes WORD... : what bash would offer for the last of them
completes() {
	run 0 completion bash || return 1
	bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _schedlua; printf "%s\n" "${COMPREPLY[@]}"' \
		"$T/out" schedlua "$@" >"$T/words" 2>&1
}
offers() {
	printf '%s\n' "$@" | cmp - "$T/words" && return
	cat "$T/words"
	return 1
}

completion_bash() {
	command -v bash >/dev/null || return 0
	completes co && offers compare completion && completes check --tr && offers --trust && completes check --ui &&
		offers --uid= && completes help st && offers status && completes completion f && offers fish &&
		completes check x && offers '' && completes status --ch && offers --check
}
ok "bash completes commands and the options of each" completion_bash

completion_all() {
	for shell in bash zsh fish; do
		run 0 completion $shell && quiet err || return 1
		cp "$T/out" "$T/script"
		! command -v $shell >/dev/null || $shell -n "$T/script" || return 1
		for verb in $("$SCHEDLUA" --help | sed -n 's/^  \([a-z-]*\) .*/\1/p'); do
			grep -qw -- "$verb" "$T/script" || { echo "$shell: no $verb"; return 1; }
		done
		grep -q -- "trust" "$T/script" || return 1
	done
	run 2 completion tcsh && err "expected bash, zsh or fish"
}
ok "every shell's completion knows every command" completion_all

full_disk() {
	[ -c /dev/full ] || return 0
	"$SCHEDLUA" --help >/dev/full 2>"$T/err"
	[ $? = 1 ] && err "standard output"
}
ok "output that cannot be written is a failure" full_disk

version() {
	run 0 version && out "^schedlua [0-9]" && cp "$T/out" "$T/v" && run 0 --version && cmp "$T/out" "$T/v" &&
		run 0 version --json && out '"snapshot_version": [1-9]'
}
ok "version prints the program's and the formats' versions" version

# -------------------------------------------------------------------- import-conf

import_conf() {
	cat >"$T/slurm.conf" <<'EOC'
ClusterName=c
SchedulerType=sched/backfill # as ever
include more.conf
EOC
	echo 'SchedulerParameters=bf_max_job_test=77,bf_window=2880,batch_sched_delay=9,bf_max_job_user=3,bf_min_age_reserve=600,max_rpc_cnt=150' >"$T/more.conf"
	run 0 import-conf "$T/slurm.conf" && cp "$T/out" "$T/imported.lua" &&
		out '^--   SchedulerParameters=defer,sched_interval=-1,batch_sched_delay=9,max_rpc_cnt=150$' &&
		out '^--   bf_max_job_user=3: the policy.s option of that name$' && out '^--   bf_window=2880: not needed' &&
		out '{ "conservative", window = 77, reserved = 77, max_job_user = 3, min_age_reserve = 600 }' && run 0 check "$T/imported.lua"
}
ok "import-conf prints a site file that does what slurm.conf did, and what it cannot do" import_conf

import_builtin() {
	echo 'SchedulerType=sched/builtin' >"$T/slurm.conf" && run 0 import-conf "$T/slurm.conf" && out '"fcfs"' &&
		cp "$T/out" "$T/imported.lua" && run 0 check "$T/imported.lua" &&
		printf '%s\n' "SchedulerParameters=a,\\" >>"$T/slurm.conf" && run 1 import-conf "$T/slurm.conf" &&
		err 'slurm.conf: Schedul.* goes on in another line' &&
		echo 'SchedulerType=sched/lua' >"$T/slurm.conf" && run 1 import-conf "$T/slurm.conf" && err 'sched/lua already' &&
		echo "Include $T/slurm.conf" >"$T/slurm.conf" && run 1 import-conf "$T/slurm.conf" && err '8 files deep' &&
		run 1 import-conf "$T/nowhere.conf" && run 2 import-conf
}
ok "import-conf knows sched/builtin, and says what it cannot read" import_builtin

# ------------------------------------------------------------------------- show

cat >"$T/now.json" <<'EOF'
{
  "meta": { "now": 1793620800, "cluster": "tiny", "source": "json", "sequence": 1 },
  "nodes": [ { "name": "n1", "cores": 8 }, { "name": "n2", "cores": 8 } ],
  "partitions": [ { "name": "p", "nodes": "n[1-2]" } ],
  "jobs": [ { "id": 7, "user": "ada", "partition": "p", "min_nodes": 2, "time_limit": 600 } ],
  "queue": [ { "job": 7, "partition": "p" } ]
}
EOF

show() {
	run 0 show "$T/now.json" && out "^cluster *tiny, taken by" && out "^cluster *tiny" && out "2026-11-02T12:00:00" && out "^nodes *2 (0 down" &&
		out "^queue *1 " && out "^p *up *1 *2 *UNLIMITED *1$"
}
ok "show summarizes a snapshot" show

both_ways() {
	run 0 show --output="$T/now.snap" "$T/now.json" && run 0 show --json "$T/now.snap" && cp "$T/out" "$T/a.json" &&
		run 0 show --json --output="$T/b.json" "$T/a.json" && cmp "$T/a.json" "$T/b.json"
}
ok "a snapshot goes to an image and back to the same JSON" both_ways

bad_json() {
	sed 's/"n1"/"n1", "colour": 1/' "$T/now.json" >"$T/bad.json"
	run 1 show "$T/bad.json" && err "^schedlua: .*bad.json.*colour" && quiet out
}
ok "a key that is none is refused with its place" bad_json

bad_image() {
	head -c 100 "$T/now.snap" >"$T/cut.snap"
	run 1 show "$T/cut.snap" && err "^schedlua: .*cut.snap" && run 1 show "$T/nothing" && err "No such file"
}
ok "a cut image and a missing file are refused" bad_image

# ------------------------------------------------------------------------- plan

cat >"$T/busy.json" <<'EOF'
{
  "meta": { "now": 1793620800, "cluster": "tiny", "source": "json", "sequence": 1 },
  "nodes": [ { "name": "n1", "cores": 8 }, { "name": "n2", "cores": 8 } ],
  "partitions": [ { "name": "p", "nodes": "n[1-2]" } ],
  "jobs": [
    { "id": 7, "user": "ada", "partition": "p", "min_nodes": 2, "min_cpus": 2, "time_limit": 600 },
    { "id": 8, "user": "bob", "partition": "p", "min_nodes": 2, "min_cpus": 16, "time_limit": 600 },
    { "id": 9, "user": "bob", "partition": "p", "min_nodes": 1, "time_limit": 1200 } ],
  "queue": [ { "job": 7, "partition": "p" }, { "job": 8, "partition": "p" }, { "job": 9, "partition": "p" } ]
}
EOF
cat >"$T/mine.lua" <<'EOF'
local M = { api = 1, name = "mine", doc = "nobody but bob" }
M.options = { user = { default = "bob", doc = "who may" } }
function M.admit(job, cluster, opt)
	return job.user == opt.user, "only " .. opt.user
end
return M
EOF

plan() {
	run 0 plan "$T/busy.json" && out "^policy easy: 3 jobs examined" && out "^ *7  ada   p  *2  *2  n\[1-2\]$" &&
		out "^ *8  bob  .*00:10:00  2026-11-02T12:10:00  n\[1-2\]$" && out "^ *9  bob   priority" &&
		out "the plan is feasible" && quiet err
}
ok "plan prints starts, reservations and reasons" plan

plan_json() {
	run 0 plan --json --policy=conservative "$T/busy.json" && out '"started": ' && out '{"job": 7, "user": "ada"' &&
		out '"start_time": 1793621400, "in_s": 600' && out '"check": {"ok": true, "text": ""}'
}
ok "plan --json" plan_json

plan_file() {
	run 0 plan --policy="$T/mine.lua" "$T/busy.json" && out "^ *7  ada   policy  *only bob$" &&
		run 0 plan --policy="$T/mine.lua,user=ada" "$T/busy.json" && out "^ *8  bob   policy  *only ada$"
}
ok "plan takes a policy from a file, with options" plan_file

plan_actions() {
	printf 'return { api = 1, name = "acts", doc = "d", decide = function(cluster, plan)\nlocal job = cluster:job(7)\n' >"$T/acts.lua"
	printf 'if cluster.name == "tiny" then plan:modify(job, { priority = 9, partition = "p" }) plan:cancel(job, "enough") end\nend }\n' >>"$T/acts.lua"
	run 0 plan --policy="$T/acts.lua" "$T/busy.json" && out "^actions: 3$" && out "^  job 7: priority 9$" &&
		out "^  job 7: partition: p$" && out "^  job 7: cancel: enough$"
}
ok "plan prints what is done with jobs besides" plan_actions

plan_site() {
	printf 'local sched = require "sched"\nreturn sched.site { default = { "mine", user = "ada" } }\n' >"$T/sched.lua"
	run 0 plan --site="$T/sched.lua" "$T/busy.json" && out "^policy .*mine" && out "only ada$" || return 1
	echo 'return (require "sched").site { partitions = { p = "easy", gpuu = "easy" } }' >"$T/stranger.lua"
	run 0 plan --site="$T/stranger.lua" "$T/busy.json" && err "stranger.lua:1: no partition 'gpuu' in this cluster"
}
ok "plan takes a site file and the policies beside it" plan_site

plan_wrong() {
	run 1 plan --policy="$T/nosuch.lua" "$T/busy.json" && err "nosuch.lua: No such file or directory" &&
		run 1 plan --policy=eazy "$T/busy.json" && err "unknown policy 'eazy'; did you mean 'easy'" && quiet out &&
		run 1 plan --policy=easy,windo=3 "$T/busy.json" && err "did you mean 'window'" &&
		run 1 plan "$T/nothing.json" && err "nothing.json: No such file" && run 2 plan && err "SNAPSHOT" &&
		run 2 plan --budget=-1 "$T/busy.json" && err "expected a number from 0"
}
ok "plan refuses unknown policies, options and files" plan_wrong

plan_fails() {
	printf 'local M = { api = 1, name = "late", doc = "fails" }\nfunction M.decide(cluster, plan)\n' >"$T/late.lua"
	printf 'for job in cluster:queue() do plan:start(job) end\n' >>"$T/late.lua"
	printf 'if cluster.name == "tiny" then error("late") end\nend\nreturn M\n' >>"$T/late.lua"
	run 1 plan --policy="$T/late.lua" "$T/busy.json" && err "^schedlua: .*late.lua:4: late" && out "start now: 2" &&
		out "^the policy failed: .*late.lua:4: late"
}
ok "plan shows what a failing policy had booked, and ends with 1" plan_fails

plan_endless() {
	printf 'local M = { api = 1, name = "endless", doc = "never ends" }\nfunction M.decide(cluster, plan)\n' >"$T/endless.lua"
	printf 'while cluster.name == "tiny" do pcall(function() while true do end end) end\nend\nreturn M\n' >>"$T/endless.lua"
	run 1 plan --budget=0.1 --policy="$T/endless.lua" "$T/busy.json" && out "the budget ended the policy" && err "endless.lua:3"
}
ok "plan ends a policy that does not" plan_endless

# What a policy says, and what names are, in the bytes that a terminal obeys or that turn
# the writing round.
plain_bytes() { ! LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]\|\302[\200-\237]\|\342\200[\250-\256]\|\342\201[\246-\251]')" "$T/out" "$T/err"; }
plan_plain() {
	printf 'local M = { api = 1, name = "rude", doc = "shouts" }\nfunction M.decide(cluster, plan)\n' >"$T/rude.lua"
	printf 'cluster:log("a \\27[2Jb \\u{202e}c")\nif cluster.name == "tiny" then error("x\\27]0;y\\7 \\u{202e}\\u{2066}z\\u{9b}1m") end\nend\nreturn M\n' >>"$T/rude.lua"
	sed 's/"ada"/"a\\u001b[31m\\u202eda"/' "$T/busy.json" >"$T/rude.json"
	run 1 plan --policy="$T/rude.lua" "$T/rude.json" && err "rude.lua" && plain_bytes &&
		run 0 plan "$T/rude.json" && plain_bytes && run 0 show "$T/rude.json" && plain_bytes &&
		run 0 show --json "$T/rude.json" && plain_bytes && out '\\u001b.31m\\u202eda' &&
		printf 'error("x\\27[1m\\u{202e}")\n' >"$T/shout.lua" && run 1 check "$T/shout.lua" && plain_bytes &&
		run 1 plan "$T/$(printf 'no\033[1m')" && plain_bytes
}
ok "what a policy or a name says is printed without what a terminal obeys" plan_plain

# ------------------------------------------------------------------------ check

check_fine() {
	run 0 check "$T/mine.lua" "$T/sched.lua" && out "^$T/mine.lua: OK (mine+easy\|.*mine" && out "^$T/sched.lua: OK" &&
		out "^2 of 2 files are fine$" && run 0 check --quiet "$T/mine.lua" && quiet out
}
ok "check loads policies and site files" check_fine

check_wrong() {
	printf 'local M = {}\nfunction M.rank(job)\n  retrun 1\nend\nreturn M\n' >"$T/typo.lua"
	printf 'return 17\n' >"$T/number.lua"
	printf 'local sched = require "sched"\nreturn sched.site {\n  default = { "easy" },\n  budgte = 2,\n}\n' >"$T/key.lua"
	run 1 check "$T/typo.lua" "$T/number.lua" "$T/key.lua" "$T/mine.lua" && out "^$T/typo.lua:3: " &&
		out "^$T/number.lua:1: policy 'number' returned 17, expected a table" && out "^$T/key.lua:4: .*budgte.*did you mean 'budget'" &&
		out "^1 of 4 files are fine$" && printf 'local M = {}\n' >"$T/silent.lua" && run 1 check "$T/silent.lua" &&
		out "^$T/silent.lua:1: returned nothing (is 'return' missing?), expected what sched.site .* returns, or a policy's table$"
}
ok "check says file, line and what was expected" check_wrong

# what a person stumbles over at three in the morning, and is told
check_stumbles() {
	h='local sched = require "sched"\nreturn sched.site {\n'
	stumble "$h"'default = { "easy" }\npartitions = { p = "fcfs" } }\n' "4: '}' expected .* near 'partitions'; is a comma missing before it?" &&
		stumble "$h"'partitions = { gpu-long = "fcfs" } }\n' "3: '}' expected near '='; a name with other signs is written \[\"a-b\"\]" &&
		stumble 'return sched.site { default = "easy" }\n' "1: there is no 'sched' here: local sched = require \"sched\" comes first" &&
		stumble "$h"'default = "easy"\n' "4: .* near <eof>$"
}
stumble() { # TEXT MESSAGE
	printf '%b' "$1" >"$T/night.lua"
	run 1 check "$T/night.lua" && out "^$T/night.lua:$2"
}
ok "check guesses what was forgotten" check_stumbles

check_stranger() {
	printf '%s\n' 'return (require "sched").site {' 'partitions = {' 'p = "easy", ["pp,other"] = "easy",' '} }' >"$T/many.lua"
	run 0 check --snapshot="$T/busy.json" "$T/many.lua" && out "many.lua: OK" &&
		out "^$T/many.lua:3: no partition 'other' in this cluster: what is said of it has no effect$" &&
		out "^$T/many.lua:3: no partition 'pp' in this cluster.*; did you mean 'p'?$" &&
		out '^  *3 | p = "easy", \["pp,other"' && ! out "partition 'p' in" >/dev/null &&
		run 1 check --snapshot="$T/nothing.snap" "$T/many.lua" && out "nothing.snap: No such file" || return 1
	# the last one that the plug-in kept, where there is one
	mkdir -p "$T/spool/schedlua" && cp "$T/busy.json" "$T/spool/schedlua/last.snap" &&
		echo "StateSaveLocation=$T/spool" >"$T/slurm.conf" || return 1
	SLURM_CONF=$T/slurm.conf run 0 check "$T/many.lua" && out "no partition 'pp'" && run 0 check "$T/many.lua" &&
		! out "no partition" >/dev/null
}
ok "check warns of partitions that the cluster does not have" check_stranger

# the settings for editors that are installed beside lua/library
luacheck_settings() {
	command -v luacheck >/dev/null || { echo "no luacheck: apt-get install lua-check"; return 0; }
	printf 'local M = { api = 1 }\nfunction M.rank(job, cluster)\n\tslurm.log_info("x")\n\treturn job.id\nend\n' >"$T/lint.lua"
	cp "$T/lint.lua" "$T/lost.lua" && echo 'return M' >>"$T/lint.lua" && echo 'return os.time(M)' >>"$T/lost.lua" &&
		luacheck --no-color --config "$SOURCE/lua/luacheckrc" "$T/lint.lua" "$SOURCE"/examples/policies/*.lua \
			"$SOURCE"/examples/*/sched.lua >"$T/out" &&
		! luacheck --no-color --config "$SOURCE/lua/luacheckrc" "$T/lost.lua" >"$T/out" && out "undefined variable 'os'"
}
ok "luacheck knows what policies find, by the settings that are installed" luacheck_settings
ok "the language server's settings name the stubs" grep -q '"workspace.library": \[ "/.*/lua/library" \]' lua/luarc.json

check_bytecode() {
	printf '\033Lua' >"$T/byte.lua"
	run 1 check "$T/byte.lua" && out "^$T/byte.lua:1: precompiled Lua, expected source text$"
}
ok "check refuses bytecode" check_bytecode

check_field() {
	printf 'local M = { api = 1, name = "f", doc = "f" }\nlocal function h(job)\n  return job.walltime\nend\n' >"$T/field.lua"
	printf 'function M.rank(job)\n  local x = h(job)\n  return x\nend\nreturn M\n' >>"$T/field.lua"
	run 1 check "$T/field.lua" && out "^$T/field.lua:3: .*walltime" && out "^called from$" && out "field.lua:6: in "
}
ok "check finds a field that is none by trying the policy, and says who called" check_field

show_other() { run 1 show "$T/mine.lua" && err "mine.lua: neither a snapshot as it was captured nor its JSON form$"; }
ok "show says when a file is no snapshot at all" show_other

check_globals() {
	cat >"$T/globals.lua" <<-'EOF2' || return 1
		local M = { api = 1, name = "globals" }
		counter = 0
		local function rare(jobs)
			counter = counter + #jobs
			pirnt(counter, math.flor(1.5), joobs)
			return function() return os.time() end
		end
		function M.rank(job)
			if job.user == "nobody we know" then
				return rare({ job })
			end
			return -job.min_nodes
		end
		return M
	EOF2
	sed 's/^counter = 0/local env = _G/; s/pirnt(.*/env.x = x/; s/os.time()/1/' "$T/globals.lua" >"$T/dynamic.lua" || return 1
	run 1 check "$T/globals.lua" && out "^$T/globals.lua:5: undefined variable 'pirnt'; did you mean 'print'?$" &&
		out "^$T/globals.lua:5: there is no 'math.flor'; did you mean 'math.floor'?$" &&
		out "^$T/globals.lua:5: undefined variable 'joobs'; did you mean 'jobs'?$" &&
		out "^$T/globals.lua:6: there is no 'os' here: " && [ "$(grep -c "^$T" "$T/out")" = 4 ] &&
		run 0 check "$T/dynamic.lua" && out ": OK" && echo '{}' >"$T/no.json" && run 1 check "$T/no.json" &&
		out "^$T/no.json:1: unexpected symbol"
}
ok "check finds variables that are not there in lines that the trial does not come to" check_globals

check_trust() {
	chmod 755 "$T" && chmod 644 "$T/mine.lua" && run 0 check --trust "$T/mine.lua" && chmod 666 "$T/mine.lua" &&
		run 0 check "$T/mine.lua" && run 1 check --trust "$T/mine.lua" && out "mine.lua: writable by everybody" &&
		ln -s "$T/mine.lua" "$T/link.lua" && chmod 644 "$T/mine.lua" && run 1 check --trust "$T/link.lua"
}
ok "check --trust refuses what production refuses" check_trust

# The engine is another user than root, who asks: what it cannot read it cannot load.
check_reader() {
	mkdir "$T/reader" && chmod 755 "$T" "$T/reader" && cp "$T/mine.lua" "$T/reader/mine.lua" &&
		cat >"$T/reader/site.lua" <<-'EOF2' && chmod 644 "$T/reader"/*.lua && run 0 check --trust --user=daemon "$T/reader/site.lua" &&
		local sched = require "sched"
		return sched.site { default = { "mine" } }
	EOF2
		out "^$T/reader/site.lua: OK" && [ "$(wc -l <"$T/out")" = 1 ] && chmod 600 "$T/reader/mine.lua" &&
		run 1 check --trust --user=daemon "$T/reader/site.lua" &&
		out "^$T/reader/site.lua: the engine, as uid 1, could not load it: .*: $T/reader/mine.lua: Permission denied for uid 1," &&
		! out ": OK" && run 0 check --trust "$T/reader/site.lua" && out ": warning: the engine, as uid 65534, could not" &&
		out ": OK" && run 0 check --trust --uid=1 "$T/reader/site.lua" && out ": warning: the engine, as uid 1, could" &&
		run 0 check --trust --user=root "$T/reader/site.lua" && ! out "could not load" &&
		chgrp daemon "$T/reader/mine.lua" && chmod 640 "$T/reader/mine.lua" &&
		run 0 check --trust --user=daemon "$T/reader/site.lua" &&
		run 2 check --trust "--user=no such" "$T/reader/site.lua" && err "there is no user \"no such\""
}
may_become() { # daemon comes to the bundled policies, too
	[ "$(id -u)" = 0 ] && [ "$(id -u daemon)" = 1 ] &&
		setpriv --reuid=1 --regid=1 --clear-groups "$SCHEDLUA" check "$T/mine.lua"
}
if may_become >/dev/null 2>&1; then
	ok "check --trust says what the engine could not read" check_reader
else
	n=$((n + 1))
	echo "ok $n - check --trust says what the engine could not read # SKIP not root, or daemon cannot come here"
fi

user_alone() { run 2 check --user=daemon "$T/mine.lua" && err "--user goes with --trust"; }
ok "check --user without --trust is wrong usage" user_alone
# --------------------------------------------------------------------- excerpts

mkdir "$T/wrong"
printf 'local M = { api = 1, name = "x" }\nfunction M.rank(job)\n\treturn 1 + job.nosuch\nend\nreturn M\n' >"$T/wrong/field.lua"
printf 'local M = {\n  name = "ä", oops here\n}\nreturn M\n' >"$T/wrong/syntax.lua"
printf 'error("/etc/passwd:1: look")\n' >"$T/wrong/liar.lua"

excerpt() {
	run 1 check "$T/wrong/field.lua" && quiet err && sed -n 1p "$T/out" | grep -q "field.lua:3: .*'nosuch'" &&
		[ "$(sed -n 2,3p "$T/out")" = "$(printf '    3 |     return 1 + job.nosuch\n      |                    ^^^^^^')" ] &&
		run 1 plan --policy="$T/wrong/syntax.lua" "$T/busy.json" && quiet out &&
		[ "$(sed -n 2,3p "$T/err")" = "$(printf '    2 |   name = "ä", oops here\n      |                    ^^^^')" ]
}
ok "an error shows the line that it names, and what is meant there" excerpt

excerpt_liar() { run 1 check "$T/wrong/liar.lua" && out "look" && ! out "root:" >/dev/null; }
ok "an error shows lines of Lua alone, whatever it names" excerpt_liar

# on COMMAND... : on a terminal
on() { script -qec "$*" /dev/null </dev/null >"$T/out" 2>&1; }

excerpt_colour() {
	command -v script >/dev/null || return 0
	on env -u NO_COLOR "$SCHEDLUA" check "$T/wrong/field.lua"
	grep -q "$(printf '\033\\[1;31m')" "$T/out" || return 1
	on env NO_COLOR=1 "$SCHEDLUA" check "$T/wrong/field.lua"
	grep -q '\^\^\^\^\^\^' "$T/out" && ! grep -q "$(printf '\033')" "$T/out" && run 1 check "$T/wrong/field.lua" &&
		! grep -q "$(printf '\033')" "$T/out"
}
ok "marks are coloured on a terminal, not where NO_COLOR is set" excerpt_colour

# ----------------------------------------------------------------------- status

mkdir -p "$T/state/schedlua"
cat >"$T/state/schedlua/status.json" <<'EOF'
{ "version": "0.1.0", "source": "site", "policy": "easy", "pid": 2147483646, "cycles": 12, "starts": 3,
  "last_cycle": 1793620800, "refused": 0, "strikes": 2, "brand_new": [1, 2],
  "cycle_us": { "count": 12, "last": 1500, "mean": 1000, "p50": 900, "p99": 2000, "max": 2500 } }
EOF

status() {
	run 0 status --dir "$T/state/schedlua" && out "^slurmctld (pid .*), which wrote this, is not running" &&
		out "runs now does so elsewhere, or without sched.lua" && out "^policy *easy$" && out "^strikes *2$" &&
		out "^last cycle *2026-11-02T12:00:00$" && out "last 1.50 ms, median 0.90" && out "^brand_new *\[1,2\]$" &&
		! out "refused" >/dev/null
}
ok "status prints what it knows in words, what it does not as it is" status

status_json() { run 0 status --json --dir "$T/state/schedlua" && out '"cycles": 12'; }
ok "status --json prints the file" status_json

status_past() {
	mkdir -p "$T/past" && echo '{ "source": "site", "last_error": "x", "last_error_time": 5, "last_cycle": 9 }' \
		>"$T/past/status.json" && run 0 status --dir "$T/past" && out "^last error, past *x$" &&
		echo '{ "source": "bundled", "last_error": "x", "last_error_time": 5, "last_cycle": 9 }' \
		>"$T/past/status.json" && run 0 status --dir "$T/past" && out "^last error *x$"
}
ok "status tells an error that is over from one that is not" status_past

status_conf() {
	printf '# StateSaveLocation=/wrong\nClusterName=x\nstatesavelocation = %s # here\n' "$T/state" >"$T/slurm.conf"
	SLURM_CONF=$T/slurm.conf run 0 status && out "^policy *easy$"
}
ok "status finds the directory through slurm.conf" status_conf

status_none() {
	run 1 status --dir "$T" && err "^schedlua: $T/status.json: No such file.*SchedulerType" &&
		echo '{' >"$T/status.json" && run 1 status --dir "$T" && err "^schedlua: $T/status.json:[0-9]"
}
ok "status says where it looked, and where the file is broken" status_none

# A process that is called slurmctld, and what it would have written just now.
cp "$(command -v sleep)" "$T/slurmctld"
"$T/slurmctld" 1000 &
CTLD=$!
trap 'kill "$CTLD"; rm -rf "$T"' EXIT
mkdir "$T/check"

# judged STATUS LINE KEYS... : --check of a status with these keys, an older one of them replaced
judged() {
	want=$1 line=$2
	shift 2
	printf '{ "pid": %s, "written": %s, "source": "site", "policy": "easy", "queued": 3, "running": 2' \
		"$CTLD" "$(date +%s)" >"$T/check/status.json"
	for key in "$@"; do printf ', %s' "$key"; done >>"$T/check/status.json"
	echo ' }' >>"$T/check/status.json"
	run "$want" status --check --dir "$T/check" && quiet err && [ "$(wc -l <"$T/out")" = 1 ] &&
		out "^schedlua $line"
}

status_check() {
	judged 0 'OK: easy decides, 3 queued, 2 running$' &&
		judged 0 'OK: ' '"truncated": 5' '"truncated_time": 1000' '"last_error": "over and done"' &&
		judged 1 'WARNING: the last good set decides: x.lua:3: no' '"source": "last good"' '"refusal": "x.lua:3: no"' &&
		judged 1 'WARNING: bundled easy decides: it \[raised\] / twice$' '"source": "bundled"' \
			'"last_error": "it [raised]\n| twice"' &&
		judged 1 'WARNING: over budget .* ago' "\"truncated_time\": $(date +%s)" &&
		judged 1 'WARNING: usage is old: no ledger' '"usage_stale": "no ledger"' &&
		judged 1 'WARNING: the engine failed 2 times in a row' '"strikes": 2' &&
		judged 2 'CRITICAL: fallback: the engine does not run: gone' '"source": "fallback"' '"last_error": "gone"' &&
		judged 2 'CRITICAL: idle, nothing is started: no nodes' '"source": "idle"' '"idle_why": "no nodes"' &&
		judged 2 'CRITICAL: bundled easy decides: ; nothing starts in gpu: x' '"source": "bundled"' '"held": "gpu: x"' &&
		judged 2 'CRITICAL: stale: written .* ago' '"written": 1000' &&
		judged 2 'CRITICAL: slurmctld (pid 2147483646) does not run' '"pid": 2147483646' &&
		judged 3 'UNKNOWN: decided by "nobody"' '"source": "nobody"'
}
ok "status --check says in one line and its status how it is" status_check

status_check_none() {
	run 3 status --check --dir "$T/nowhere" && quiet err && out "^schedlua UNKNOWN: $T/nowhere/status.json: No such" &&
		run 2 status --check --json --dir "$T/check" && err "expected one of them" &&
		run 2 status --output=x --dir "$T/check"
}
ok "status --check does not know what cannot be read" status_check_none

status_metrics() {
	judged 0 'OK' '"cycles": 12' '"queue": {"a\"b": 4, "gpu": 0}' '"pending": {"resources": 3}' \
		'"decide_us": {"count": 2, "mean": 1500, "p50": 1000, "p99": 2000, "max": 2000, "last": 1}' || return 1
	echo x >"$T/check/ledger.db"
	run 0 status --openmetrics --dir "$T/check" && quiet err && out '^schedlua_up 1$' && out '^schedlua_cycles_total 12$' &&
		out '^schedlua_source{source="site"} 1$' && out '^schedlua_source{source="last good"} 0$' &&
		out '^schedlua_queue_jobs{partition="a\\"b"} 4$' && out '^schedlua_queue_jobs{partition="gpu"} 0$' &&
		out '^schedlua_pending_jobs{reason="resources"} 3$' && out '^schedlua_decide_seconds_sum 0.003000$' &&
		out '^schedlua_decide_seconds{quantile="0.99"} 0.002000$' && out '^schedlua_held 0$' &&
		out "^schedlua_ledger_written_time_seconds $(stat -c %Y "$T/check/ledger.db")$" &&
		[ "$(tail -n 1 "$T/out")" = '# EOF' ] &&
		! grep -vE '^(# (HELP|TYPE) schedlua_[a-z_]+ .+|# EOF|schedlua_[a-z_]+(\{[a-z]+="[^{}]*"\})? [0-9.e+]+)$' "$T/out"
}
ok "status --openmetrics prints figures, and no line that is none" status_metrics

status_metrics_file() {
	run 0 status --openmetrics --output="$T/check/x.prom" --dir "$T/check" && quiet out &&
		grep -q '^schedlua_up 1$' "$T/check/x.prom" && [ "$(stat -c %a "$T/check/x.prom")" = 644 ] &&
		[ "$(find "$T/check" -name 'x.prom*' | wc -l)" = 1 ] &&
		run 1 status --openmetrics --output="$T/nowhere/x.prom" --dir "$T/check" && err "nowhere/x.prom: No such"
}
ok "status --openmetrics replaces a file as a whole" status_metrics_file

# ---------------------------------------------------------------------- explain

J=$T/journal
mkdir "$J"
cat >"$J/decisions.jsonl.1" <<'EOF'
{"sequence": 1, "now": 1793620800, "policy": "easy", "full": true, "pending": [{"job": 7, "why": "window", "by": "easy"}, {"job": 77, "why": "resources"}]}
{"sequence": 2, "now": 1793620810, "policy": "easy", "pending": [{"job": 7, "why": "resources", "text": "needs 2 nodes, 1 is free", "by": "easy"}]}
EOF
cat >"$J/decisions.jsonl" <<'EOF'
{"sequence": 3, "now": 1793620820, "policy": "easy", "full": true, "reserved": [{"job": 5, "start_time": 1793620900, "nodes": "n1"}, {"job": 4, "start_time": 1793620850, "nodes": "n1"}], "pending": [{"job": 7, "why": "resources", "text": "needs 2 nodes, 1 is free", "by": "easy"}, {"job": 77, "why": "resources"}]}
{"sequence": 4, "now": 1793620830, "policy": "easy", "reserved": [{"job": 6, "start_time": 1793621000, "nodes": "n2"}, {"job": 7, "start_time": 1793621000, "nodes": "n[1-2]", "by": "easy"}, {"job": 8, "start_time": 1793629000}], "pending": [{"job": 7, "why": "resources", "text": "needs 2 nodes, 1 is free", "by": "easy"}]}
{"sequence": 5, "now": 1793620860, "policy": "easy", "started": [{"job": 9, "nodes": "n2", "cores": 8, "done": true}, {"job": 10, "nodes": "n2", "done": false, "text": "cancelled meanwhile"}], "gone": [{"job": 77}]}
{"sequence": 5, "now": 1793620870, "policy": "easy", "actions": [{"job": 11, "verb": "notify", "text": "over by ten", "done": true}, {"job": 11, "verb": "signal", "number": 15, "done": false, "why": "already finished"}, {"job": 11, "verb": "partition", "text": "long", "done": true}, {"job": 11, "verb": "time_limit", "number": 1800, "done": true}, {"job": 11, "verb": "priority", "number": 4242, "done": true}]}
{"sequence": 6, "now": 17936
EOF

explain_wait() {
	run 0 explain --dir "$J" 7 && sed -n 1p "$T/out" | grep -qF \
		"2026-11-02T12:00:30  waits: resources: needs 2 nodes, 1 is free; expected to start at 2026-11-02T12:03:20 on n[1-2]  [easy]" &&
		out "^    ahead of it, with a reservation: job 5 at 2026-11-02T12:01:40, job 6 at 2026-11-02T12:03:20$" &&
		out "^2026-11-02T12:00:10 to 2026-11-02T12:00:30  waits: resources: needs 2 nodes, 1 is free  \[easy\]$" &&
		out "^2026-11-02T12:00:00 to 2026-11-02T12:00:10  waits: window  \[easy\]$" && [ "$(wc -l <"$T/out")" = 4 ]
}
ok "explain tells newest first why a job waits, since when, and who is ahead" explain_wait

explain_ends() {
	run 0 explain --dir "$J" 9 && out "started on n2 (8 cores)" && ! out "ahead" >/dev/null &&
		run 0 explain --dir "$J" 10 && out "was to start on n2: cancelled meanwhile" &&
		run 0 explain --dir "$J" 77 && out "left the queue, .*dependent or over a limit"
}
ok "explain tells how it ended" explain_ends

explain_actions() {
	run 0 explain --dir "$J" 11 && [ "$(sed 's/^.*:[0-9][0-9]  \(.*\)  \[easy\]$/\1/' "$T/out")" = "\
notify: over by ten
signal 15 failed (already finished)
partition: long
time_limit 00:30:00
priority 4242" ] && run 0 explain --json --dir "$J" 11 && out '"event": "action"' && out '"number": 4242'
}
ok "explain tells an action with what it sets" explain_actions

explain_few() { run 0 explain --events=1 --dir "$J" 7_3 && [ "$(grep -c waits "$T/out")" = 1 ]; }
ok "explain goes back as far as it is told, also for a task of an array" explain_few

explain_json() {
	run 0 explain --json --dir "$J" 7 && out '"job": 7' && out '"start_time": 1793621000' && out '"job": 6' &&
		out '"since": 1793620810' && out '"until": 1793620830'
}
ok "explain --json" explain_json

explain_nothing() {
	run 1 explain --dir "$J" 70 && err "does not know job 70" && quiet out &&
		run 1 explain --dir "$T/nowhere" 7 && err "^schedlua: .*nowhere" && run 2 explain x7 && run 2 explain 7 8
}
ok "explain says when there is nothing to tell" explain_nothing

# COMMAND... : until it succeeds, in half a minute
soon() {
	left=300
	until "$@" >/dev/null; do
		left=$((left - 1))
		[ $left -gt 0 ] && sleep 0.1 || return 1
	done
}
ended() { ! kill -0 "$1" 2>/dev/null; }
watched() { [ "$(grep -c "$1" "$T/watched")" = "$2" ]; }

explain_watch() {
	mkdir "$T/watch" && head -n 1 "$J/decisions.jsonl" >"$T/watch/decisions.jsonl" || return 1
	"$SCHEDLUA" explain --watch --dir "$T/watch" 9 >"$T/watched" 2>"$T/err" &
	pid=$!
	soon err "nothing was decided about job 9 yet" || return 1
	w='"policy": "easy", "pending": [{"job": 9, "why": '
	echo '{"sequence": 4, "now": 1793620850, '"$w"'"priority"}]}' >>"$T/watch/decisions.jsonl"
	soon watched "T12:00:50  waits: priority  .easy.$" 1 || return 1
	# a new file repeats it; what was decided meanwhile stands in the other one
	echo '{"sequence": 5, "now": 1793620855, '"$w"'"resources"}]}' >>"$T/watch/decisions.jsonl"
	mv "$T/watch/decisions.jsonl" "$T/watch/decisions.jsonl.1"
	echo '{"sequence": 6, "now": 1793620858, "full": true, '"$w"'"resources"}]}' >"$T/watch/decisions.jsonl"
	soon watched "T12:00:55  waits: resources" 1 || return 1
	grep '"started"' "$J/decisions.jsonl" >>"$T/watch/decisions.jsonl"
	soon ended "$pid" || { kill "$pid"; return 1; }
	wait "$pid" && watched "started on n2 (8 cores)" 1 && watched "waits: " 2 &&
		run 0 explain --watch --dir "$J" 9 && run 2 explain --watch --json --dir "$J" 9
}
ok "explain --watch prints what is decided from now on, until the job starts" explain_watch

# 2 waits in cpu and is without a place; that of 1 is on its nodes, that of 3 on none of them
mkdir "$T/apart"
cat >"$T/apart/decisions.jsonl" <<'EOF'
{"sequence": 1, "now": 1793620800, "policy": "easy", "full": true, "partitions": {"cpu": "n[1-4]", "gpu": "g[1-2]", "all": "n[1-4],g[1-2]"}, "reserved": [{"job": 1, "start_time": 1793620900, "partition": "all", "nodes": "n[4],g1"}, {"job": 3, "start_time": 1793620850, "partition": "gpu", "nodes": "g[1-2]"}], "pending": [{"job": 2, "why": "resources", "by": "easy", "partition": "cpu"}, {"job": 4, "why": "resources", "by": "easy", "partition": "cpu,gpu"}]}
EOF

explain_apart() {
	run 0 explain --dir "$T/apart" 2 && out "ahead of it, with a reservation: job 1 at 2026-11-02T12:01:40$" &&
		run 0 explain --dir "$T/apart" 4 && out "ahead of it.*: job 3 at [^ ]*, job 1 at [^ ]*$"
}
ok "explain has nobody ahead on nodes that the job could not have" explain_apart

mkdir "$T/order"
cat >"$T/order/site.lua" <<'EOF'
local sched = require "sched"
return sched.site { default = { sched.quota { per_user = "1199 cpu-seconds", limits = "limits.conf" },
	sched.weighted { { 1000, sched.layers { file = "layers.conf" } }, { 2, sched.ageing { per = "15m" } } } } }
EOF
printf '# nobody\nuser bob unlimited cpu-hours\n' >"$T/order/limits.conf"
printf 'default 1\nuser bob 5\n' >"$T/order/layers.conf"

# layer 5 and nothing waited beside 1; ada asks for 2 cores x 600 s
explain_order() {
	run 0 explain --site "$T/order/site.lua" --snapshot "$T/busy.json" 7 &&
		out "^order in p, by quota+weighted+easy, among 2 that may start:" && out "no place: it may not start now" &&
		out "user ada holds 0 of 0.3 cpu-hours, asks for 0.3 (the site file); over it: waits" &&
		out "          1000 = 1000 x layers: layer 1: \"default\" in line 1 of " &&
		run 0 explain --json --site "$T/order/site.lua" --snapshot "$T/busy.json" 9 && out '"order": "order in p' &&
		out "place 2: rank 5000" && out "next ahead of it: job 8 of bob (rank 5000" &&
		out "user bob holds 0 of unlimited cpu-hours, asks for 0.3 (.*user bob.* in line 2 of " &&
		run 1 explain --site "$T/order/site.lua" --snapshot "$T/busy.json" 70 && err "job 70 is not queued"
}
ok "explain computes a job's place in the order from a capture" explain_order

# predictive orders by itself: 9 is smaller than 8, which the queue has before it
explain_own_order() {
	echo 'return require("sched").site { default = { "predictive" } }' >"$T/order/own.lua"
	run 0 explain --site "$T/order/own.lua" --snapshot "$T/busy.json" 8 && out "^order in p, by predictive, among 3 that may start:" &&
		! out "no part of the list ranks\|priority" >/dev/null &&
		out "^    place 3 in its own order, the smallest first: .* of 16 CPUs, 600 s expected and [0-9]* s waited$" &&
		out "^    next ahead of it: job 9 of bob (" && out "^    before the order: it has waited for guard_wait$"
}
ok "explain tells the order of a policy that has one of its own" explain_own_order

# 5 holds n1 until 14:00; 6 wants both nodes of p, 7 eight cores for two hours, which would delay it
cat >"$T/full.json" <<'EOF'
{ "meta": { "now": 1793620800, "cluster": "tiny", "source": "json", "sequence": 1 },
  "nodes": [ { "name": "n1", "cores": 8 }, { "name": "n2", "cores": 8 }, { "name": "m1", "cores": 8 } ],
  "partitions": [ { "name": "p", "nodes": "n[1-2]" }, { "name": "q", "nodes": "m1", "max_time": 7200 },
    { "name": "r", "nodes": "m1", "max_time": 3600 } ],
  "jobs": [
    { "id": 5, "user": "ada", "state": "RUNNING", "partition": "p", "start_time": 1793620000, "end_time": 1793627200,
      "time_limit": 7200, "min_cpus": 8, "alloc": [ { "node": "n1", "cores": 8 } ] },
    { "id": 6, "user": "ada", "partition": "p", "min_nodes": 2, "min_cpus": 16, "time_limit": 600 },
    { "id": 7, "user": "ada", "partition": "p", "min_nodes": 1, "min_cpus": 8, "num_tasks": 8, "time_limit": 7200 } ],
  "queue": [ { "job": 6, "partition": "p" }, { "job": 7, "partition": "p" } ] }
EOF
printf 'return require("sched").site { default = { "easy" } }\n' >"$T/plain.lua"
sooner() { run "$1" explain --sooner --site="$T/plain.lua" --snapshot="$T/full.json" "$2"; }

explain_sooner() {
	sooner 0 7 && out "^as it asks  *2026-11-02T13:56:40 *$" && out "^a walltime of 60 min  *2026-11-02T12:00:00  117 min$" &&
		out "^partition q, where it may  *2026-11-02T12:00:00 " && ! out "partition r" >/dev/null &&
		sooner 0 6 && out "^as it asks  *2026-11-02T13:46:40 *$" && out "^1 node, 8 CPUs  *2026-11-02T12:00:00 " &&
		! out "walltime" >/dev/null && sooner 1 5 && err "job 5 is not queued: it has started" &&
		run 2 explain --sooner --watch 7
}
ok "explain --sooner tries changes of the request and prints those that help" explain_sooner

# What is tried is what is printed: of 3 nodes no quarter, and 2 of them with half the CPUs are 2 nodes.
sed -e 's/"id": 6, "user": "ada", "partition": "p", "min_nodes": 2, "min_cpus": 16/"id": 6, "user": "ada", "partition": "p", "min_nodes": 3, "min_cpus": 12/' \
	-e 's/n\[1-2\]/n[1-3]/; s/{ "name": "m1"/{ "name": "n3", "cores": 8 }, &/' \
	-e 's/"id": 7,.*"num_tasks": 8,/"id": 7, "user": "ada", "partition": "p", "ntasks_per_node": 8, "min_cpus": 16, "num_tasks": 16,/' \
	"$T/full.json" >"$T/three.json"
sooner_says() {
	run 0 explain --sooner --site="$T/plain.lua" --snapshot="$T/three.json" 6 && out "^2 nodes, 6 CPUs  *2026-11-02T12:00:00 " &&
		! out "^1 node" >/dev/null && ! out "^3 CPUs" >/dev/null &&
		run 0 explain --sooner --site="$T/plain.lua" --snapshot="$T/three.json" 7 && ! out "no --nodes" >/dev/null
}
ok "explain --sooner prints the change that it tried" sooner_says

# A policy that fails for one of the changes, and one under which nobody knows when the job starts as it is.
cat >"$T/picky.lua" <<'EOF'
return { api = 1, name = "picky", doc = "fails for half an hour, starts what takes 15 minutes at once, promises nothing",
  decide = function(cluster, plan)
    for job in cluster:queue() do
      if job.time_limit == 1800 then error("half an hour") end
      if job.time_limit > 900 then plan:refuse(job, "too long") else plan:start(job) end
    end
  end }
EOF
printf 'return require("sched").site { default = { "picky" } }\n' >"$T/picky_site.lua"
sooner_fails() {
	run 0 explain --sooner --site="$T/picky_site.lua" --path="$T" --snapshot="$T/full.json" 7 &&
		out "^as it asks  *not known" && out "^a walltime of 15 min  *2026-11-02T12:00:00$" &&
		! out "^a walltime of 60 min" >/dev/null && out "^1 of 7 changes could not be tried: .*half an hour"
}
ok "explain --sooner goes on where a change cannot be tried, and prints only what is surely sooner" sooner_fails

# What users are told rests on other runtimes than what is tried.
echo "return require('sched').site { default = { 'picky' }, forecasts = 'told.txt' }" >"$T/told_site.lua"
printf 'made 1793620800 0.8\njob 7 1793630000 1793630000 1793630000\n' >"$T/told.txt"
sooner_told() {
	run 0 explain --sooner --site="$T/told_site.lua" --path="$T" --snapshot="$T/full.json" 7 &&
		out "^as it asks  *not known" && ! out "T14:33:20" >/dev/null
}
ok "explain --sooner does not take what users are told for a start" sooner_told

# Behind a thousand others, of which each has to have its time before; what the engine tells in 20 ms ends long before that.
awk 'BEGIN { print "{ \"meta\": { \"now\": 1793620800, \"cluster\": \"long\", \"source\": \"json\", \"sequence\": 1 },"
	print "\"nodes\": [ { \"name\": \"n1\", \"cores\": 8 } ], \"partitions\": [ { \"name\": \"p\", \"nodes\": \"n1\" } ], \"jobs\": ["
	for (i = 1; i <= 1200; i++) { printf "%s{ \"id\": %d, \"user\": \"ada\", \"partition\": \"p\", \"min_cpus\": 8, \"time_limit\": 3600 }", (i > 1 ? ",\n" : ""), i
		queue = queue (i > 1 ? ", " : "") "{ \"job\": " i ", \"partition\": \"p\" }" }
	print "], \"queue\": [" queue "] }" }' >"$T/long.json"
sooner_behind() {
	run 0 explain --sooner --site="$T/plain.lua" --snapshot="$T/long.json" 1200 && out "^as it asks  *2026-12-22T11:00:00 *$"
}
ok "explain --sooner knows when a job starts that stands far behind" sooner_behind

# The cluster as it is, from a schedlua-capture beside the program, which writes down what it finds.
LUA=$(cd "${srcdir:-.}/lua" && pwd)
mkdir "$T/bin" "$T/live" "$T/tmp" && cp "$SCHEDLUA" "$T/bin/schedlua"
cat >"$T/bin/schedlua-capture" <<EOF
#!/bin/sh
echo "\$*" >"$T/asked"
ls -A "$T/tmp" >>"$T/asked"
cat "$T/full.json"
EOF
chmod +x "$T/bin/schedlua-capture"
cat >"$T/known.lua" <<'EOF'
return { api = 1, name = "known", doc = "nobody without a past", admit = function(job, cluster)
    return cluster.history:runs { user = job.user, last = 1 }[1] ~= nil, "no past"
  end }
EOF
printf 'return require("sched").site { default = { "known", "easy" } }\n' >"$T/known_site.lua"
printf '%s\n' 'JobIDRaw|User|Account|Partition|Start|End|ElapsedRaw|AllocCPUS|NNodes|AllocTRES|State' \
	'4|ada|x|p|2026-11-01T10:00:00|2026-11-01T11:00:00|3600|8|1|cpu=8,node=1|COMPLETED' >"$T/past.sacct"
live() {
	printf '{}' >"$T/live/status.json"
	TMPDIR="$T/tmp" SCHEDLUA_PATH="$LUA" "$T/bin/schedlua" explain "$1" --site="$T/known_site.lua" --path="$T" --dir="$T/live" 7 >"$T/out" 2>"$T/err"
}
without_files() {
	live --sooner && [ "$(cat "$T/asked")" = - ] && out "without the ledger" && out "^as it asks  *not known"
}
ok "a picture of the cluster is never a file that an interrupted command leaves behind" without_files
own_ledger() {
	live --sooner && out "^as it asks  *2026-11-02T13:56:40" && ! out "without the ledger" >/dev/null
}
if "$SCHEDLUA" ledger create --dir="$T/live" >/dev/null 2>&1 &&
	"$SCHEDLUA" ledger import --quiet --dir="$T/live" "$T/past.sacct" >/dev/null; then
	ok "explain --sooner asks the cluster's own ledger, and policies the past" own_ledger
fi

# -------------------------------------------------------------------- forecast

forecast() {
	run 0 forecast --policy=fcfs --snapshot "$T/busy.json" 8 && out "^ *8  2026-11-02T" && ! out "^ *9 " >/dev/null &&
		run 0 forecast --policy=fcfs --snapshot "$T/busy.json" && out "^ *9  " && out "^not calibrated: 80 of 100 draws .*(--calibration)" &&
		run 0 forecast --json --policy=fcfs --snapshot "$T/busy.json" 7 &&
		out '"calibrated": false, "draws": 40, "jobs": .{"job": 7, "not_before": 1793620800, "likely": 1793620800, "not_after": 1793620800}' &&
		run 1 forecast --policy=fcfs --snapshot "$T/busy.json" 70 && err "job 70 is not queued" &&
		run 1 forecast --policy=fcfs --snapshot "$T/busy.json" 8 70 && err "job 70 is not queued" &&
		run 0 forecast --policy="$T/mine.lua,user=eve" --snapshot "$T/busy.json" 7 && out "^ *7  not seen  *not seen  *not seen *$" &&
		run 1 forecast --snapshot "$T/busy.json" && err "expected --site or --policy" &&
		run 2 forecast x && run 2 forecast --workload=esp 7 && run 2 forecast --site="$T/plain.lua" --policy=easy &&
		err "exclude each other" && run 2 forecast --workload=esp --dir="$T" && run 2 forecast --workload=esp --ledger=x &&
		run 2 forecast --arrivals --policy=easy --snapshot "$T/busy.json" && err "--arrivals goes with --workload" &&
		run 2 forecast --workload=esp --output=x
}
ok "forecast says when jobs will start, as an interval" forecast

# Who asks about a job that may not start is told why not.
sed -e 's/"id": 7,/"id": 7, "state_reason": "Dependency",/; s/"id": 8,/"id": 8, "flags": [ "HELD" ], "priority": 0,/' \
	-e 's/{ "job": 7, "partition": "p" }, { "job": 8, "partition": "p" },//' "$T/busy.json" >"$T/waiting.json"
not_queued() {
	for verb in "forecast --policy=fcfs" "explain --sooner --site=$T/plain.lua"; do
		# shellcheck disable=SC2086	# words
		run 1 $verb --snapshot "$T/waiting.json" 7 && err "job 7 is not queued: it may not start yet, Dependency" &&
			run 1 $verb --snapshot "$T/waiting.json" 8 && err "job 8 is not queued: it may not start yet, it is held" || return 1
	done
}
ok "a job that is not queued is told apart from one that may not start" not_queued

# A site reads them again, and tells them.
forecast_file() {
	run 0 forecast --policy=fcfs --snapshot "$T/busy.json" --output="$T/forecasts.txt" && quiet out &&
		grep -q "^made 1793620800 0.8$" "$T/forecasts.txt" && grep -q "^job 7 1793620800 1793620800 1793620800$" "$T/forecasts.txt" &&
		echo "return require 'sched'.site { default = { 'fcfs' }, forecasts = 'forecasts.txt' }" >"$T/telling.lua" &&
		mv "$T/forecasts.txt" "$T/later.txt" && run 0 check "$T/telling.lua" && out "no file 'forecasts.txt'" &&
		mv "$T/later.txt" "$T/forecasts.txt" && run 0 check "$T/telling.lua" && ! out "no file" >/dev/null &&
		run 0 plan --site="$T/telling.lua" --json "$T/busy.json" && cp "$T/out" "$T/told" &&
		at=$(sed -n 's/^job 8 [0-9]* \([0-9]*\) .*/\1/p' "$T/forecasts.txt") && [ -n "$at" ] &&
		grep -q "\"job\": 8, \"start_time\": $at}" "$T/told" &&
		echo "job 8 x 2 3" >"$T/forecasts.txt" && run 1 check "$T/telling.lua" &&
		out "forecasts.txt:1: .x.: expected seconds since the epoch, or -"
}
ok "forecast --output writes what a site tells squeue" forecast_file

# Of a queue whose forecasts are more than a policy may read, those of the jobs that come first; nothing but files.
awk 'BEGIN { print "{ \"meta\": { \"now\": 1793620800, \"cluster\": \"long\", \"source\": \"json\", \"sequence\": 1 },"
	print "\"nodes\": [ { \"name\": \"n1\", \"cores\": 8 } ], \"partitions\": [ { \"name\": \"p\", \"nodes\": \"n1\" } ], \"jobs\": ["
	for (i = 1000000000; i < 1000050000; i++) { printf "%s{ \"id\": %d, \"partition\": \"p\", \"time_limit\": 60 }", (n++ ? ",\n" : ""), i
		queue = queue (n > 1 ? ", " : "") "{ \"job\": " i ", \"partition\": \"p\" }" }
	print "], \"queue\": [" queue "] }" }' >"$T/many.json"
echo 'return { api = 1, name = "idle", doc = "nothing", decide = function() end }' >"$T/idle.lua"
forecast_late() {
	run 1 forecast --policy=easy --snapshot "$T/many.json" --seconds=1 &&
		err "none of 40 draws came to its end within 1 s; expected more --seconds"
}
ok "forecast says when no draw came to its end" forecast_late

forecast_file_long() {
	run 0 forecast --policy="$T/idle.lua" --draws=10 --snapshot "$T/many.json" --output="$T/forecasts.txt" &&
		err "forecasts.txt: the last 69 of 50000 jobs are left out: policies read 1048576 bytes at most" &&
		[ "$(wc -c <"$T/forecasts.txt")" -le 1048576 ] && [ "$(tail -n 1 "$T/forecasts.txt" | wc -w)" = 5 ] &&
		ln -s forecasts.txt "$T/link.txt" &&
		run 1 forecast --policy=fcfs --snapshot "$T/busy.json" --output="$T/link.txt" && err "link.txt: not a regular file" &&
		[ -L "$T/link.txt" ]
}
ok "forecast --output writes no more than policies read, and into files only" forecast_file_long

# As they stand in the page, of files that are not there.
predict_page() {
	program=$(realpath "$SCHEDLUA") && grep '^schedlua ' "${0%/*}/../../doc/predict.md" >"$T/page" || return 1
	while read -r line; do
		(cd "$T" && eval "'$program' ${line#schedlua}") >"$T/out" 2>"$T/err" </dev/null
		[ $? != 2 ] || { echo "$line"; return 1; }
	done <"$T/page"
}
ok "what the page on predictions has administrators type is understood" predict_page

forecast_worth() {
	run 0 forecast --workload=synthetic:jobs=400,load=0.95,users=9 --procs=64 --policy=easy --calibration="$T/worth.json" &&
		out "^intervals that held  .*expected 80 %" && out "^of the reservations" && cp "$T/out" "$T/worth" &&
		run 0 forecast --workload=synthetic:jobs=400,load=0.95,users=9 --procs=64 --policy=easy && cmp "$T/worth" "$T/out" &&
		run 0 forecast --policy=fcfs --snapshot "$T/busy.json" --calibration="$T/worth.json" && out "^80 of 100 jobs start within, as far as past forecasts tell$" &&
		sed 's/"scores":\[[^]]*\]/"scores":[]/g' "$T/worth.json" >"$T/nothing.json" &&
		run 0 forecast --policy=fcfs --snapshot "$T/busy.json" --calibration="$T/nothing.json" && out "^not calibrated: " &&
		run 0 forecast --json --policy=fcfs --snapshot "$T/busy.json" --calibration="$T/nothing.json" 7 && out '"calibrated": false,' &&
		run 1 forecast --policy=fcfs --snapshot "$T/busy.json" --calibration="$T/worth.json" --confidence=0.9 &&
		err "is of a confidence of 0.8, expected 0.9"
}
ok "forecast says what forecasts would have been worth, twice the same, and keeps it" forecast_worth

# Nobody has to wait.
forecast_nothing() {
	run 0 forecast --workload=synthetic:jobs=9,load=0.01,users=2 --procs=640 --policy=easy &&
		out "^of 0 reservations, no forecast .*: there is nothing to compare$" && ! out "median" >/dev/null &&
		run 0 forecast --json --workload=synthetic:jobs=9,load=0.01,users=2 --procs=640 --policy=easy &&
		out '"reservations": 0, "forecasts": 0, "confidence": 0.8}$'
}
ok "forecast says where there is nothing to compare" forecast_nothing

# Four runs of 100 to 400 s that followed each other, of jobs that asked for 1000 s.
predict_log() {
	echo "JobIDRaw|User|Account|Partition|JobName|Submit|Start|End|ElapsedRaw|TimelimitRaw|State|AllocCPUS|NNodes"
	echo "1|anna|a|all|x|2026-11-01T10:00:00|2026-11-01T10:00:00|2026-11-01T10:01:40|100|17|COMPLETED|1|1"
	echo "2|anna|a|all|x|2026-11-01T11:00:00|2026-11-01T11:00:00|2026-11-01T11:03:20|200|17|COMPLETED|1|1"
	echo "3|anna|a|all|x|2026-11-01T12:00:00|2026-11-01T12:00:00|2026-11-01T12:05:00|300|17|COMPLETED|1|1"
	echo "4|anna|a|all|x|2026-11-01T13:00:00|2026-11-01T13:00:00|2026-11-01T13:06:40|400|17|COMPLETED|1|1"
	echo "5|eve|a|all|x|2026-11-01T13:00:00|2026-11-01T13:00:00|2026-11-01T13:06:40|400|17|COMPLETED|1|1"
}

# anna's: the walltime is 920, 820, 720, 620 s too long; 200 s miss by 100, 0, 100, 200; the last two by 920 (nothing
# is known, so the walltime), 100, 150, 150.
predict_report() {
	predict_log >"$T/predict.sacct"
	echo "return { name = 'mine', sample = function() return { 200 } end }" >"$T/mine200.lua"
	echo "return { name = 'not', sample = function() return 0 / 0 end }" >"$T/notanumber.lua"
	run 0 predict --path="$T" --predictors=limit,mine200,last_two --workload="$T/predict.sacct" --machine=1x8c report &&
		out "^mine200 *5  *280  *120  *-80  *60.0 %  *20.0 %$" &&
		out "^anna  limit  *4  *250  *770  *+770  *0.0 %  *0.0 %$" &&
		out "^ *mine200  *4  *250  *100  *-50  *50.0 %  *25.0 %$" &&
		out "^ *last_two  *4  *250  *330  *+130  *75.0 %  *0.0 %$" &&
		run 0 predict --runs=1 --predictors=last_two --workload="$T/predict.sacct" --machine=1x8c --json report &&
		out '"user": "anna", "predictor": "last_two", "runs": 1, "runtime_mean_s": 400, "error_mean_s": 150,' &&
		run 0 predict --path="$T" --predictors=notanumber --users=0 --workload="$T/predict.sacct" --machine=1x8c report &&
		out "^notanumber  *5  *280  *740  *+740 " && err "predictor notanumber: gave .*nan, expected seconds; walltimes are used" &&
		run 1 predict --predictors=none --workload=esp report && err "predictor 'none': " &&
		run 2 predict --predictors='a b' report && run 2 predict && run 2 predict show && run 2 predict --policy=easy report &&
		run 2 predict --workload=esp --ledger=x report && run 1 predict --ledger="$T/none.db" report && err "none.db"
}
ok "predict report says how good predictors have been, by what was known then" predict_report

check_files() {
	printf 'user nosuchuser 5\nuser nosuchuser 6\n' >"$T/order/layers.conf" &&
		run 0 check "$T/order/site.lua" && out "layers.conf:1: there is no user 'nosuchuser' on this machine" &&
		out "layers.conf:2: user nosuchuser again, first in line 1; this line holds" &&
		printf 'user nosuchuser 65537\n' >"$T/order/layers.conf" &&
		run 1 check "$T/order/site.lua" && out "layers.conf:1: user nosuchuser: '65537' is no layer"
}
ok "check warns of users that do not exist and of lines that come again, and refuses bad ones" check_files

# ---------------------------------------------------------------------- workload

cat >"$T/log.swf" <<'EOF'
; MaxProcs: 8
; UnixStartTime: 1700000000
1 0 -1 100 4 -1 -1 4 200 -1 1 1 1 -1 -1 -1 -1 -1
2 10 -1 100 9 -1 -1 9 200 -1 1 1 1 -1 -1 -1 -1 -1
3 20 -1 100
4 30 -1 50 8 -1 -1 8 100 -1 1 2 1 -1 -1 -1 -1 -1
EOF

workload_summary() {
	run 0 workload "$T/log.swf" && out "^jobs  *2 of 2 users$" && out "^machine  *1 nodes, 8 cores" &&
		out "^walltime .*2.00 times" && err "log.swf: 1 jobs larger than the machine, skipped (line 4: job 2 asks for 9 cores)$" &&
		err "log.swf: 1 rows that are no jobs, skipped (line 5: 4 numbers, expected 18)$"
}
ok "workload says what is in a log and what cannot be used of it" workload_summary

workload_strict() {
	run 1 workload --strict "$T/log.swf" && quiet out && err "^schedlua: .*line 5"
}
ok "workload --strict fails on a bad row" workload_strict

workload_convert() {
	run 0 workload --json --output="$T/log.json" "$T/log.swf" && run 0 workload --json "$T/log.json" &&
		cmp "$T/out" "$T/log.json" && run 0 workload --swf "$T/log.json" &&
		out "^4 30 -1 50 8 -1 -1 8 100 -1 1 2 1 -1 -1 -1 -1 -1$" && quiet err
}
ok "workload writes JSON and SWF that it reads again" workload_convert

workload_generated() {
	run 0 workload --json --seed=7 auction:V.2 && cp "$T/out" "$T/v2" && run 0 workload --json --seed=7 auction:V.2 &&
		cmp "$T/out" "$T/v2" && run 0 workload esp-gpu && out "^jobs  *458 of 1 users, 228 with GPUs$" && quiet err
}
ok "workload makes the same workload from the same seed" workload_generated

workload_wrong() {
	run 1 workload nothing && err "none of esp, esp-gpu, esp-gpu-rand, auction:I.1 ... auction:V.3, synthetic$" &&
		run 1 workload --machine=8x esp && err "expected a number of cores" && run 2 workload --json --swf esp &&
		run 2 workload --output="$T/x" esp && run 1 workload --json --output="$T/no/where" esp &&
		err "^schedlua: $T/no/where: No such file" && run 2 workload && run 1 workload --estimate=x0 esp
}
ok "workload says what was expected" workload_wrong

# ----------------------------------------------------------------- sim --report

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
		rm "$T/assets/uPlot.js" && SCHEDLUA_REPORT=$T/assets run 1 sim --report="$T/c.html" esp && quiet out &&
		err "make report-library" && [ ! -e "$T/c.html" ] && [ -z "$(ls "$T"/c.html.* 2>/dev/null)" ]
}
ok "sim --report fails before the run where the page cannot be written or has no library" sim_report_early

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

# ----------------------------------------------------------------------- ledger

mkdir "$T/ledger" "$T/ledger2"
cat >"$T/sacct.txt" <<'EOF'
JobIDRaw|User|Account|Partition|Start|End|ElapsedRaw|AllocCPUS|NNodes|AllocTRES|State
1|anna|chem|p|2026-03-29T00:30:00|2026-03-29T03:30:00|7200|4|1|cpu=4,node=1,gres/gpu=2|COMPLETED
1.batch|||p|2026-03-29T00:30:00|2026-03-29T03:30:00|7200|4|1|cpu=4,node=1|COMPLETED
2|bob|phys|p|1774737000|1774740600|1800|2|1|cpu=2,node=1|CANCELLED by 0
2|bob|phys|p|1774750000|1774753600|3600|2|1|cpu=2,node=1|REQUEUED
3|bob|phys|p|Unknown|Unknown|0|0|0||PENDING
4|bob|phys|p|yesterday|today|x|2|1||FAILED
5|bob|phys|p|1774750000|1774753600|3600|2|1|cpu=2,node=1
EOF
L="--dir=$T/ledger"
if "$SCHEDLUA" ledger create "$L" 2>&1 | grep -q "without SQLite"; then
	without_sqlite() { run 1 ledger show "$L" && err "libsqlite3-dev"; }
	ok "ledger says so where the program was built without SQLite" without_sqlite
else

# 00:30 to 03:30 in a zone whose clocks go on an hour at 02:00 is two hours
ledger_import() {
	rm "$T/ledger/ledger.db"
	TZ=Europe/Berlin run 0 ledger import "$L" "$T/sacct.txt" &&
		out "^5 rows: 3 added, 0 known, 1 unfinished, 1 never ran, 1 unreadable$" && err "sacct.txt:8: another number" &&
		TZ=Europe/Berlin run 0 ledger import "$L" "$T/sacct.txt" && out " 0 added, 3 known" &&
		run 0 ledger show "$L" && out "^anna  *8.00  *4.00  *2.00$" && out "^bob  *3.00  *0.00  *1.50$" &&
		run 0 ledger verify "$L" && out "3 runs .* all totals are right"
}
ok "ledger import reads what sacct printed, local times too, and counts nothing twice" ledger_import

predict_ledger() {
	mkdir "$T/predict" && run 0 ledger create --dir="$T/predict" && run 0 ledger import --quiet --dir="$T/predict" "$T/predict.sacct" &&
		run 0 predict --predictors=limit,last_two --dir="$T/predict" report &&
		out "^anna  limit  *4  *250  *770  *+770 " && out "^ *last_two  *4  *250  *330  *+130 " && out "^eve " &&
		run 0 predict --predictors=limit --last=1m --ledger="$T/predict/ledger.db" report && out "^limit  *5 "
}
ok "predict report reads the ledger" predict_ledger

# Nothing is no figure: zeros would be the best that there is.
predict_nothing() {
	mkdir "$T/unjudged" && run 0 ledger create --dir="$T/unjudged" && run 0 predict --predictors=limit --dir="$T/unjudged" report &&
		err "nothing to judge: of 0 users no run with a walltime" && out "^limit  *0  *-  *-  *-  *-  *-$" &&
		cut -d'|' -f 1-9,11- "$T/predict.sacct" >"$T/unlimited.sacct" &&
		run 0 ledger import --quiet --dir="$T/unjudged" "$T/unlimited.sacct" &&
		run 0 predict --predictors=limit --json --dir="$T/unjudged" report && err "of 2 users no run" &&
		out '"user": "anna", "predictor": "limit", "runs": 0}'
}
ok "predict report says where there is nothing to judge" predict_nothing

ledger_since() {
	TZ=Europe/Berlin run 0 ledger show "$L" --since=2026-03-29T01:00 --until=2026-03-29T03:00 --user=anna --json &&
		out '"user": "anna", "cpu_s": 14400, "gpu_s": 7200, "node_s": 3600' && ! grep -q bob "$T/out" &&
		run 0 ledger show "$L" --without=REQUEUED --by=account && out "^phys  *1.00" && out "^chem  *8.00" &&
		run 0 ledger show "$L" --partition=q --json && out "^\\[\\]$" &&
		run 0 ledger show "$L" --runs --user=bob && out "REQUEUED" && [ "$(wc -l <"$T/out")" = 3 ]
}
ok "ledger show: an hour that the clocks left out does not count" ledger_since

ledger_adjust() {
	run 0 ledger adjust "$L" --user=anna --account=chem --cpu=-1-00:00:00 --gpu=30:00 --reason="a b" --who=me &&
		run 0 ledger show "$L" && out "^anna  *-16.00  *4.50" &&
		run 0 ledger show "$L" --adjustments && out " me .*-24.00  *+0.50 .* a b$" &&
		run 0 ledger export "$L" && cp "$T/out" "$T/saved" && run 0 ledger import --dir="$T/ledger2" "$T/saved" &&
		run 0 ledger import --dir="$T/ledger2" "$T/saved" && out " 0 added, 4 known" &&
		run 0 ledger show --dir="$T/ledger2" && out "^anna  *-16.00  *4.50" &&
		run 0 ledger export --dir="$T/ledger2" && cmp "$T/out" "$T/saved"
}
ok "ledger adjust is journalled; export is what import reads" ledger_adjust

ledger_wrong() {
	run 2 ledger adjust "$L" --user=anna --cpu=1:00:00 && err "why? say --reason" &&
		run 2 ledger adjust "$L" --reason=x --cpu=1:00:00 && err "whose?" &&
		run 2 ledger adjust "$L" --user=x --reason=x && err "how much?" &&
		run 2 ledger adjust "$L" --user=x --reason=x --cpu=much && err "expected a time such as" &&
		run 2 ledger show "$L" --since=soon && err "expected 2026-01-31" &&
		run 2 ledger show "$L" --by=qos && err "expected user or account" && run 2 ledger frob && run 2 ledger import &&
		run 1 ledger import "$L" "$T/nowhere" && run 2 ledger create "$L" && err "there is one already" &&
		run 1 ledger show --dir="$T" && err "there is no ledger"
}
ok "ledger says what it needs" ledger_wrong

ledger_damaged() {
	printf '%s garbage' "$(head -c 600 "$T/sacct.txt")" >"$T/ledger2/ledger.db" && run 1 ledger show --dir="$T/ledger2" &&
		err "ledger.db: .*not a database" &&
		mv "$T/ledger2/ledger.db" "$T/ledger2/ledger.db.damaged-20260101T000000Z" &&
		run 1 ledger show --dir="$T/ledger2" && err "was damaged and set aside; make another with" &&
		run 0 ledger create --dir="$T/ledger2" && run 0 ledger show --dir="$T/ledger2"
}
ok "a damaged ledger is recognized" ledger_damaged

cat >"$T/used.lua" <<'EOF'
return { api = 1, name = "used", admit = function(job, cluster)
	return false, "used " .. (cluster.usage:past { by = "user", unit = "cpu" }.anna or 0)
end }
EOF
plan_ledger() {
	run 0 plan --policy="$T/used.lua" --json "$T/busy.json" && out "used 0" &&
		run 0 plan --policy="$T/used.lua" --ledger="$T/ledger/ledger.db" --json "$T/busy.json" && out "used -57600"
}
ok "plan --ledger decides with what was used" plan_ledger
fi

echo "1..$n"
