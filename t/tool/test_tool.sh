#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What every verb does, and the verbs that have no file of their own, as their users meet them.

# shellcheck source=t/tool/tool.sh
. "$(dirname "$0")/tool.sh"
small_cluster

# ------------------------------------------------------------------------ usage

engine_alone() { run 1 engine </dev/null && err 'descriptor 3 is no packet socket'; }
ok "the engine refuses to be started by hand" engine_alone

no_command() { run 2 && err "a command is missing" && quiet out; }
ok "without a command it says so and ends with 2" no_command

unknown_command() { run 2 frobnicate && err '^schedlua: no command "frobnicate"$'; }
ok "an unknown command ends with 2" unknown_command

of_lab() { run 0 sim --quiet --policy=fcfs esp && out '^policy  *fcfs$' && quiet err && run 2 sim && err '^schedlua: a workload is missing'; }
ok "a command of the lab is run by schedlab, which speaks as schedlua" of_lab

alone() {
	mkdir "$T/alone" && cp "$SCHEDLUA" "$T/alone/schedlua" || return 1
	PATH=/nowhere "$T/alone/schedlua" sim esp >"$T/out" 2>"$T/err"
	[ $? = 2 ] && err '^schedlua: schedlab, which has more commands: schedlab: No such file' && err '^schedlua: no command "sim"$' &&
		SCHEDLUA=$T/alone/schedlua run 0 version && out '^schedlua [0-9]'
}
ok "without schedlab schedlua has its own commands, and says what is missing" alone

all_help() {
	run 0 --help && out "^  version " && quiet err || return 1
	verbs=$(sed -n 's/^  \([a-z-]*\) .*/\1/p' "$T/out")
	for verb in $verbs; do
		run 0 "$verb" --help && out "^Usage: schedlua $verb" && quiet err || return 1
		run 2 "$verb" --no-such-option && err "unknown option --no-such-option" || return 1
		run 0 --man "${srcdir:-.}/doc/man/schedlua-$verb.txt" && quiet err || return 1
		sed -n '/^\.SH OPTIONS$/,/^\.SH /p' "$T/out" | grep -q 'help$' || return 1
	done
}
ok "every command has help, a man page, and refuses unknown options" all_help

man_of_nothing() {
	echo text >"$T/schedlua-chek.txt"
	run 2 --man && run 1 --man "$T/none.txt" && err 'none.txt: No such file' &&
		run 1 --man "$T/schedlua-chek.txt" && err 'schedlua-chek.txt: expected schedlua.txt, schedlua-COMMAND.txt'
}
ok "a man page is that of a command" man_of_nothing

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
		offers --uid= && completes help st && offers status && completes completion f && offers fish figures && completes completion p && offers policies &&
		completes check x && offers '' && completes status --ch && offers --check
}
ok "bash completes commands and the options of each" completion_bash

# Slurm's commands are stand-ins that print a name a line; what they print is never evaluated.
completion_values() {
	command -v bash >/dev/null || return 0
	mkdir -p "$T/fake" && ln -sf "$(cd "$(dirname "$SCHEDLUA")" && pwd)/$(basename "$SCHEDLUA")" "$T/fake/schedlua" &&
		printf '#!/bin/sh\nprintf "debug\\nlong\\nlong\\n\\$(touch %s/bang)\\n"\n' "$T" >"$T/fake/sinfo" &&
		printf '#!/bin/sh\ncase $2 in %%A) echo 17; echo 18; echo 205 ;; %%u) echo anna; echo bob ;; esac\n' >"$T/fake/squeue" &&
		chmod +x "$T/fake/sinfo" "$T/fake/squeue" || return 1
	PATH=$T/fake:$PATH
	# as bash divides words, and as it does where COMP_WORDBREAKS has no "="
	completes plan --policy = ea && offers easy && completes plan --policy=ea && offers --policy=easy &&
		completes plan --policy ea && offers easy && completes compare --policies = '"easy fc' && offers 'easy fcfs' &&
		completes compare --policies = '"fcfs conser' && offers 'fcfs conservative' &&
		completes willrun --partition = lo && offers long && completes willrun --partition=debug,l && offers --partition=debug,long &&
		completes willrun --partition = '' && ! [ -e "$T/bang" ] && completes top --user = b && offers bob &&
		completes tune --objective=f && offers --objective=fairness && completes tune --objective = b && offers bsld &&
		completes explain 1 && offers 17 18 && completes forecast 2 && offers 205 && completes explain --partition x && offers '' &&
		completes ledger i && offers import && completes ledger '' && offers show import export adjust create verify &&
		completes ledger import i && offers '' && completes shadow r && offers report && completes predict r && offers report &&
		completes sim --jobs = x && offers '' && completes sim --workload = "$T/fak" && offers ''
}
ok "bash completes policies, partitions, users, job ids and words of commands" completion_values

completion_zsh() { # the real completion in a terminal of zsh's own
	command -v zsh >/dev/null || return 0
	run 0 completion zsh && mkdir -p "$T/zfunc" && cp "$T/out" "$T/zfunc/_schedlua" && cat >"$T/complete.zsh" <<-'EOF'
		zmodload zsh/zpty
		zpty shell zsh -f -i
		zpty -w shell "PS1=; fpath=($IN/zfunc \$fpath); autoload -Uz compinit; compinit -u -d $IN/zdump; PATH=$IN/fake:\$PATH; LISTMAX=0"
		for line in 'schedlua plan --policy=conser' 'schedlua willrun --partition=debug,lo' 'schedlua explain 20' 'schedlua ledger ver'; do
			zpty -w -n shell "$line"$'\t\x01echo \x05 = done\n'
		done
		zpty -w shell exit
		while zpty -r shell text; do print -rn -- "$text"; done
	EOF
	IN=$T zsh -f "$T/complete.zsh" 2>&1 </dev/null | tr -d '\r' >"$T/out"
	grep -q '^schedlua plan --policy=conservative *= done' "$T/out" && grep -q '^schedlua willrun --partition=debug,long *= done' "$T/out" &&
		grep -q '^schedlua explain 205 *= done' "$T/out" && grep -q '^schedlua ledger verify *= done' "$T/out"
}
ok "zsh completes them, too" completion_zsh

completion_policies() {
	run 0 completion policies && out '^easy$' && out '^predictive$' && quiet err &&
		run 0 completion figures && [ "$(sort "$T/out" | tr '\n' ' ')" = 'bsld fairness longest utilization wait ' ]
}
ok "completion policies lists the policies by name" completion_policies

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
warns_of_requests() { # TEXT of the file
	printf '%b' "$1" > "$T/state/requests"
	run 0 version "--dir=$T/state" && err 'requests was written by a version with which users could change' &&
		run 0 version --json "--dir=$T/state" && out '"unsafe_files": \["[^"]*/requests"\]'
}
version_warns() {
	mkdir -p "$T/state"
	run 0 version "--dir=$T/state" && quiet err && warns_of_requests 'schedlua requests 1\n' &&
		warns_of_requests 'schedlua requests 1\n17\t1000\t1\t1' || return 1
	printf 'schedlua requests 2\n' > "$T/state/requests"
	run 0 version "--dir=$T/state" && quiet err && run 0 version --json "--dir=$T/state" && out '"unsafe_files": \[\]' || return 1
	rm "$T/state/requests" && mkfifo "$T/state/requests"
	run 0 version "--dir=$T/state" && quiet err
}
ok "version warns of requests that a version without escapes wrote, and waits for no pipe" version_warns
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
		out '{ "conservative", window = 100, reserved = 77, max_job_user = 3, min_age_reserve = 600 }' && run 0 check "$T/imported.lua"
}
ok "import-conf prints a site file that does what slurm.conf did, and what it cannot do" import_conf

import_builtin() {
	echo 'SchedulerType=sched/builtin' >"$T/slurm.conf" && run 0 import-conf "$T/slurm.conf" && out '"fcfs"' &&
		cp "$T/out" "$T/imported.lua" && run 0 check "$T/imported.lua" &&
		echo 'SchedulerType=sched/lua' >"$T/slurm.conf" && run 1 import-conf "$T/slurm.conf" && err 'sched/lua already' &&
		echo "Include $T/slurm.conf" >"$T/slurm.conf" && run 1 import-conf "$T/slurm.conf" && err 'more than 8 deep' &&
		run 1 import-conf "$T/nowhere.conf" && run 2 import-conf
}
ok "import-conf knows sched/builtin, and says what it cannot read" import_builtin

import_words() {
	cat >"$T/slurm.conf" <<'EOC'
SchedulerParameters = default_queue_depth=2000,bf_max_job_test=100,\
bf_max_job_user=5,bf_max_job_assoc=7,max_prc_cnt=150,qqq
SchedulerTyp=sched/backfill
EOC
	run 0 import-conf "$T/slurm.conf" && out 'window = 2000, reserved = 100, max_job_assoc = 7 }' &&
		out 'bf_max_job_user=5: does not count beside bf_max_job_assoc' &&
		out 'max_prc_cnt=150: no word of SchedulerParameters, and left out; did you mean max_rpc_cnt?$' &&
		out 'qqq: no word of SchedulerParameters, and left out$' && out '^--   SchedulerParameters=defer,sched_interval=-1$' &&
		err 'slurm.conf:3: no option of slurm.conf is called SchedulerTyp (the nearest is SchedulerType)'
}
ok "import-conf names words that Slurm does not know, and takes limits as Slurm does" import_words

import_day() {
	cat >"$T/slurm.conf" <<'EOC'
SlurmctldHost=a
NodeName=n1
PartitionName=p Nodes=n1
EOC
	run 0 import-conf "$T/slurm.conf" && quiet err && out 'Heterogeneous jobs are refused' && ! out 'preempts' && ! out 'OverTimeLimit' &&
		! out 'share cores' && ! out 'controllers' && ! out 'sleep' && ! out 'Fair share' || return 1
	cat >>"$T/slurm.conf" <<'EOC'
SlurmctldHost=b
PreemptType=preempt/qos
PreemptMode=GANG,SUSPEND
OverTimeLimit=10
SuspendProgram=/bin/true
SuspendTime=600
PriorityType=priority/basic
PartitionName=q Nodes=n1 OverSubscribe=FORCE:2
EOC
	run 0 import-conf "$T/slurm.conf" && out 'PreemptType=preempt/qos$' && out 'PreemptMode=GANG,SUSPEND$' && out 'OverTimeLimit=10$' &&
		out 'as if it had to wait for their ends' && out 'over its time limit to run on for so long' &&
		out 'counts the time of their boot (ResumeTimeout)' &&
		out 'share cores' && out 'Several controllers' && out 'SuspendTime=600$' && out 'PriorityType=priority/basic$' &&
		cp "$T/out" "$T/imported.lua" && run 0 check "$T/imported.lua" || return 1
	sed -i 's/Nodes=n1/Nodes=n2/' "$T/slurm.conf" && run 0 import-conf "$T/slurm.conf" && err 'no node n2' && err 'not looked at'
}
ok "import-conf tells what else changes on the day of the switch" import_day

# ------------------------------------------------------------------------- sacct

sacct_table() {
	run 0 workload --sacct-columns && quiet err && sed -n '/^## Columns of sacct/,$p' "$(dirname "$0")/../../doc/workloads.md" | grep '^|' >"$T/table" &&
		cmp "$T/out" "$T/table" && ! grep -qE '[|] [^|]{201,} [|]' "$T/table"
}
ok "doc/workloads.md has the table of sacct's columns" sacct_table

sacct_command() {
	run 2 workload && err 'expected a workload' && run 0 workload --sacct-command && quiet err &&
		out '^TZ=UTC sacct -aXPD .*--format=JobIDRaw,' && ! out JobName || return 1
	{
		sed 's/.*--format=//; s/,/|/g' "$T/out"
		echo '7|a|1|b|c|d|2024-01-01T00:00:00|x|x|60|UNLIMITED|COMPLETED|4|4|1|1|cpu=4|cpu=4'
	} >"$T/dump.txt"
	run 0 workload --machine=2x8c --unlimited=2d "$T/dump.txt" && err '1 jobs without a time limit' &&
		out 'walltime  *mean 2-00:00:00'
}
ok "workload prints the command whose output it reads best" sacct_command

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

# Snapshots that were real, those that readers are tried on, and what is no snapshot.
show_schema() {
	run 0 show --schema && quiet err && cp "$T/out" "$T/snapshot.schema" && run 0 show --schema snapshot && cmp "$T/out" "$T/snapshot.schema" &&
		run 0 show --schema plan && cp "$T/out" "$T/plan.schema" && out '"const": "plan"' && run 2 show --schema picture &&
		err 'expected snapshot or plan' && run 2 show || return 1
	command -v python3 >/dev/null || return 0
	valid=0
	for file in "${srcdir:-.}"/examples/cluster.json "${srcdir:-.}"/t/fuzz/corpus/json/*; do
		"$SCHEDLUA" show --json "$file" >"$T/valid.json" 2>/dev/null || continue
		python3 "${srcdir:-.}/t/json_schema.py" "$T/snapshot.schema" "$T/valid.json" "$file" >"$T/out" 2>&1 || return 1
		valid=$((valid + 1))
	done
	[ "$valid" -ge 4 ] && run 0 show --json "${srcdir:-.}/examples/cluster.json" && cp "$T/out" "$T/valid.json" || return 1
	for edit in 's/"nodes": \[/"nods": [/' 's/"version": [0-9]*/"version": 0/' 's/"cores": \([0-9]*\)/"cores": "\1"/' \
		's/"cores": [0-9]*/"cores": -1/' 's/"name": "[^"]*", //' 's/"format": "snapshot"/"format": "plan"/'; do
		sed "$edit" "$T/valid.json" >"$T/invalid.json"
		cmp -s "$T/valid.json" "$T/invalid.json" && return 1
		! python3 "${srcdir:-.}/t/json_schema.py" "$T/snapshot.schema" "$T/invalid.json" >"$T/out" 2>&1 || { echo "$edit"; return 1; }
	done
}
ok "show --schema prints the JSON Schema of snapshots, which is right" show_schema


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

show_other() { run 1 show "$T/mine.lua" && err "mine.lua: neither a snapshot as it was captured nor its JSON form$"; }
ok "show says when a file is no snapshot at all" show_other

# ------------------------------------------------------------------------- plan

plan() {
	run 0 plan "$T/busy.json" && out "^policy easy: 3 jobs examined" && out "^ *7  ada   p  *2  *2  n\[1-2\]$" &&
		out "^ *8  bob  .*00:10:00  2026-11-02T12:10:00  n\[1-2\]$" && out "^ *9  bob   priority" &&
		out "the plan is feasible" && quiet err
}
ok "plan prints starts, reservations and reasons" plan

plan_json() {
	run 0 plan --json --policy=conservative "$T/busy.json" && out '"started": ' && out '{"job": 7, "user": "ada"' &&
		out '"start_time": 1793621400, "in_s": 600' && out '"check": {"ok": true, "text": "", "refused": \[\]}'
}
ok "plan --json" plan_json

full_cluster
plan_stops() {
	run 0 plan --site="$T/preempt.lua" "$T/full.json" && out "^ *1  eve *7  8.133  cancel$" &&
		out "^ *7  ada *2026-11-02T12:10:01  stops 1 of 2 jobs that might be, .*: the cheapest of 1 set compared" &&
		out "^ *8  bob *with all 2 jobs that may be stopped gone, 2 nodes of the 3 that it needs would have 8 cores$" &&
		run 0 plan --json --site="$T/preempt.lua" "$T/full.json" && out '{"job": 1, "preemptor": 7, .*"mode": "cancel"' &&
		out '{"job": 7, "release": false, "until": 1793621401, "verdict": "optimal"' &&
		out '{"job": 8, "what": "nodes", "needs": 3, "has": 2, "spared": 0, "text": "with all 2 jobs' &&
		run 0 plan "$T/busy.json" && ! grep -e "stopped" -e "held" "$T/out"
}
ok "plan prints who is stopped for whom, whose place is held, and why nobody is stopped for a job" plan_stops

# Job 7 is planned where it cannot be (t/tool/faulty_engine.c).
plan_refused() {
	[ -x "${FAULTY_ENGINE-}" ] || return 0
	SCHEDLUA=$FAULTY_ENGINE run 1 plan --policy=conservative "$T/busy.json" && out "^check: REFUSED 1 row, without which" &&
		out "^ *7  ada   check  *the checker refused its place: " && err "the checker refused 1 row of the plan; job 7: start: " &&
		SCHEDLUA=$FAULTY_ENGINE run 1 plan --policy=conservative --json "$T/busy.json" && out '"check": {"ok": false' &&
		out '"refused": \[{"job": 7, "was": "start"'
}
ok "plan names what the checker refuses, and fails" plan_refused

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
	printf 'print("a \\27[2Jb \\u{202e}c")\nif cluster.name == "tiny" then error("x\\27]0;y\\7 \\u{202e}\\u{2066}z\\u{9b}1m") end\nend\nreturn M\n' >>"$T/rude.lua"
	sed 's/"ada"/"a\\u001b[31m\\u202eda"/' "$T/busy.json" >"$T/rude.json"
	run 1 plan --policy="$T/rude.lua" "$T/rude.json" && err "rude.lua:4: x" && out "a .*2Jb" && plain_bytes &&
		run 0 plan "$T/rude.json" && plain_bytes && run 0 show "$T/rude.json" && plain_bytes &&
		run 0 show --json "$T/rude.json" && plain_bytes && out '\\u001b.31m\\u202eda' &&
		printf 'error("x\\27[1m\\u{202e}")\n' >"$T/shout.lua" && run 1 check "$T/shout.lua" && plain_bytes &&
		run 1 plan "$T/$(printf 'no\033[1m')" && plain_bytes
}
ok "what a policy or a name says is printed without what a terminal obeys" plan_plain

# -------------------------------------------------------------------- forecast

forecast() {
	run 0 forecast --policy=fcfs --snapshot "$T/busy.json" 8 && out "^ *8  2026-11-02T" && ! out "^ *9 " >/dev/null &&
		run 0 forecast --policy=fcfs --snapshot "$T/busy.json" && out "^ *9  " && out "^not calibrated: how many jobs start within is not known yet (--calibration)" &&
		run 0 forecast --json --policy=fcfs --snapshot "$T/busy.json" 7 &&
		out '"calibrated": false, "draws": 40, "known": 0, "jobs": .{"job": 7, "not_before": 1793620800, "likely": 1793620800, "not_after": 1793620800}' &&
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

forecast_submission() {
	run 0 forecast --submission --workload=synthetic:jobs=400,load=0.95,users=9 --procs=64 --policy=easy --quiet &&
		out "^of [0-9]* jobs that had to wait, [0-9]* forecasts$" && out "^of the plan, by walltimes [0-9]* s$" &&
		run 2 forecast --submission --policy=easy && err "^schedlua: --submission goes with --workload"
}
ok "forecast --submission makes forecasts of jobs when they are submitted" forecast_submission

# The service sees 7 and 8 wait; ten minutes later 8 runs, and 7 was cancelled; then nothing is left to be learnt.
forecast_learn() {
	mkdir -p "$T/learn/forecasts" && echo "return require('sched').site { default = { 'fcfs' } }" >"$T/learn/sched.lua" &&
		sed 's/"now": 1793620800/"now": 1793620900/; s/"id": 8,/"id": 8, "state": "RUNNING", "start_time": 1793620860, "end_time": 1793629000, "alloc": [ { "node": "n2", "cores": 1 } ],/
			s/"id": 7,/"id": 71,/; s/{ "job": 7, "partition": "p" }, { "job": 8, "partition": "p" },//' "$T/busy.json" >"$T/learn/later.json" &&
		run 0 forecast --learn --site="$T/learn/sched.lua" --snapshot="$T/busy.json" --output="$T/learn/starts.txt" || return 1
	awaited=$T/learn/forecasts/calibration.json.awaited
	[ "$(stat -c %a "$awaited")" = 600 ] && grep -q '"job":8,' "$awaited" && cp "$awaited" "$T/learn/first" || return 1
	run 0 forecast --learn --site="$T/learn/sched.lua" --snapshot="$T/busy.json" && cmp "$awaited" "$T/learn/first" || return 1
	for again in 1 2; do
		run 0 forecast --learn --site="$T/learn/sched.lua" --snapshot="$T/learn/later.json" || return 1
		[ "$(grep -oE '"scores":.-?[0-9]' "$T/learn/forecasts/calibration.json" | wc -l)" = 1 ] &&
			! grep -q '"job":8,' "$awaited" || { echo "learnt $again times"; return 1; }
	done
	echo "{" >"$awaited" && run 1 forecast --learn --site="$T/learn/sched.lua" --snapshot="$T/busy.json" && err "calibration.json.awaited:" &&
		run 2 forecast --learn --workload=esp && err "^schedlua: --learn goes with neither" && run 2 forecast --learn --policy=easy 7 &&
		run 1 forecast --learn --policy=fcfs --snapshot="$T/busy.json" && err "^schedlua: --learn: expected --calibration"
}
ok "forecast --learn learns once of each job what became of its forecast" forecast_learn

# On a terminal, where it takes more than a second.
forecast_progress() {
	log=synthetic:jobs=2500,load=0.95,users=9
	command -v script >/dev/null || return 0
	script -qec "$SCHEDLUA forecast --workload=$log --procs=64 --policy=easy" /dev/null </dev/null >"$T/out" 2>&1 &&
		out "of [0-9]* reservations, " && out " of 2500 jobs, [0-9]* a second, " &&
		script -qec "$SCHEDLUA forecast --quiet --every=9 --workload=$log --procs=64 --policy=easy" /dev/null </dev/null >"$T/out" 2>&1 &&
		out "of [0-9]* reservations, " && ! out "a second" >/dev/null && predict_log >"$T/odd.txt" && echo "5|odd" >>"$T/odd.txt" &&
		run 0 forecast --workload="$T/odd.txt" --procs=4 --policy=easy && err "odd.txt" &&
		run 0 forecast --quiet --workload="$T/odd.txt" --procs=4 --policy=easy && quiet err
}

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
ok "forecast shows how far it is, and nothing with --quiet" forecast_progress

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
		out "^5 rows: 3 added, 0 known, 1 unfinished, 1 never ran, 1 unreadable$" && err "sacct.txt:8: left out: another number" && err "users whom this machine does not know, which count: 3, such as of anna" &&
		TZ=Europe/Berlin run 0 ledger import "$L" "$T/sacct.txt" && out " 0 added, 3 known" &&
		run 0 ledger show "$L" && out "^anna  *8.00  *4.00  *2.00$" && out "^bob  *3.00  *0.00  *1.50$" &&
		run 0 ledger verify "$L" && out "3 runs .* all totals are right"
}
ok "ledger import reads what sacct printed, local times too, and counts nothing twice" ledger_import

# A column in which users write: what looks like a row may be a user's. Nothing is read.
ledger_words() {
	mkdir "$T/freetext"
	for c in JobName Comment WorkDir SubmitLine WCKey Constraints Licenses Extra StdOut NewInSlurm99; do
		printf 'JobIDRaw|User|Start|End|ElapsedRaw|AllocCPUS|State|%s\n1|root|1774737000|1774740600|1800|2|COMPLETED|x\n' "$c" >"$T/freetext.txt"
		run 1 ledger import --dir="$T/freetext" "$T/freetext.txt" && err "freetext.txt:1: users may write line ends.* column $c; expected what this prints: SLURM_TIME_FORMAT=%s sacct -aXDP .*--format=JobIDRaw,User" &&
			! grep -q "format=.*JobName" "$T/err" && ! "$SCHEDLUA" ledger show --dir="$T/freetext" --runs 2>&1 | grep COMPLETED || return 1
	done
	# what it says is to be printed is taken
	grep -o 'JobIDRaw,User,[A-Za-z,]*' "$T/err" | tr , '|' >"$T/freetext.txt"
	echo '1|root|chem|p|1774737000|1774740600|1800|2|1|cpu=2,node=1|COMPLETED|1:00:00' >>"$T/freetext.txt"
	run 0 ledger import --dir="$T/freetext" "$T/freetext.txt" && out ' 1 added' && quiet err
}
ok "ledger import refuses columns in which users write, and says what to print" ledger_words

ledger_impossible() { # each row by itself, with its line and why
	line=1
	mkdir "$T/impossible"
	{
		echo 'JobIDRaw|User|Account|Partition|Start|End|ElapsedRaw|AllocCPUS|NNodes|AllocTRES|State'
		echo '1|root|chem|p|1774737000|1774740600|3601|2|1|cpu=2,node=1|COMPLETED'
		echo '2|root|chem|p|1774737000|4000000000|60|2|1|cpu=2,node=1|COMPLETED'
		echo '3|root|chem|p|1774737000|1774740600|60|100000000|1||COMPLETED'
		echo '4|root|chem|p|1774737000|1774740600|60|64|1|cpu=2,node=1|COMPLETED'
		echo '5|root|chem|p|1774737000|1774740600|60|2|3|cpu=2,node=3|COMPLETED'
		echo '6||chem|p|1774737000|1774740600|60|2|1|cpu=2,node=1|COMPLETED'
		printf '7|ro\033ot|chem|p|1774737000|1774740600|60|2|1|cpu=2,node=1|COMPLETED\n'
		echo '8|root|chem|p|1774740600|1774737000|60|2|1|cpu=2,node=1|COMPLETED'
		echo '9|root|chem|p|1774737000|1774740600|60|-2|1|cpu=2,node=1|COMPLETED'
		echo '10|root|chem|p|1774737000|1774740600|60|2|1|cpu=2,node=1|COMPLETED|x'
		echo '11|root|chem|p|1774737000|1774740600|60|2|1|ADJUSTMENT'
		echo '12|root|chem|p|1774737000|1774740600|3600|2|1|cpu=2,node=1|COMPLETED'
	} >"$T/impossible.txt"
	run 0 ledger import --dir="$T/impossible" "$T/impossible.txt" && out ' 1 added, 0 known, .* 11 unreadable$' || return 1
	for why in 'longer than from its start' 'end in the future' 'more CPUs than there can be' 'another number of CPUs' 'fewer than nodes' \
		'no user' 'name cannot be one' 'before its start' 'more CPUs' 'number of fields' 'number of fields'; do
		line=$((line + 1))
		err "impossible.txt:$line: left out: .*$why" || return 1
	done
}
ok "ledger import names the rows that cannot be true" ledger_impossible

predict_ledger() {
	mkdir "$T/predict" && run 0 ledger create --dir="$T/predict" && cut -d'|' -f 1-4,6- "$T/predict.sacct" >"$T/nameless.sacct" &&
		run 0 ledger import --quiet --dir="$T/predict" "$T/nameless.sacct" &&
		run 0 predict --predictors=limit,last_two --dir="$T/predict" report &&
		out "^anna  limit  *4  *250  *770  *+770 " && out "^ *last_two  *4  *250  *330  *+130 " && out "^eve " &&
		run 0 predict --predictors=limit --last=1m --ledger="$T/predict/ledger.db" report && out "^limit  *5 "
}
ok "predict report reads the ledger" predict_ledger

# Nothing is no figure: zeros would be the best that there is.
predict_nothing() {
	mkdir "$T/unjudged" && run 0 ledger create --dir="$T/unjudged" && run 0 predict --predictors=limit --dir="$T/unjudged" report &&
		err "nothing to judge: of 0 users no run with a walltime" && out "^limit  *0  *-  *-  *-  *-  *-$" &&
		cut -d'|' -f 1-4,6-9,11- "$T/predict.sacct" >"$T/unlimited.sacct" &&
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
