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

alone_too() {
	PATH=/nowhere "$T/alone/schedlua" serve >"$T/out" 2>"$T/err"
	[ $? = 1 ] && quiet out && err '^schedlua: serve: there is no schedlua-serve beside this program: .*without libmicrohttpd; install' || return 1
	printf '#!/bin/sh\necho "$@"\n' >"$T/alone/schedlua-serve" && chmod +x "$T/alone/schedlua-serve" || return 1
	SCHEDLUA=$T/alone/schedlua run 0 serve --listen=127.0.0.1:1 --dir "a b" && quiet err && out '^--listen=127.0.0.1:1 --dir a b$' &&
		SCHEDLUA=$T/alone/schedlua run 2 serve --listen=127.0.0.1:1 --socket=/s && quiet out && err '^schedlua: --listen and --socket'
}
ok "serve is another program, which gets the options that are right, and without it schedlua says what is missing" alone_too

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
		run 0 completion figures && [ "$(sort "$T/out" | tr '\n' ' ')" = 'bsld fairness longest lost lost-gpus stops urgent utilization wait ' ]
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

echo "1..$n"
