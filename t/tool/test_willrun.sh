#!/bin/sh
# SPDX-License-Identifier: MIT
#
# schedlua willrun: when and where a job that nobody has submitted would start.

# shellcheck source=t/tool/tool.sh
. "$(dirname "$0")/tool.sh"

# 5 holds n1 until 14:00; 6 waits for both nodes of p, and 7, which was submitted before it, behind it
cat >"$T/full.json" <<'EOT'
{ "meta": { "now": 1793620800, "cluster": "tiny", "source": "json", "sequence": 1 },
  "gres_kinds": [ { "key": "gpu:a100", "name": "gpu", "type": "a100" } ],
  "nodes": [ { "name": "n1", "cores": 8 }, { "name": "n2", "cores": 8 },
    { "name": "g1", "cores": 8, "gres": [ { "kind": "gpu:a100", "count": 4 } ] } ],
  "partitions": [ { "name": "p", "nodes": "n[1-2]", "flags": [ "UP", "DEFAULT" ], "max_time": 86400 },
    { "name": "q", "nodes": "g1", "max_time": 7200, "default_time": 600, "allow_accounts": "a,b" } ],
  "jobs": [
    { "id": 5, "user": "ada", "account": "a", "state": "RUNNING", "partition": "p", "start_time": 1793620000,
      "end_time": 1793628000, "time_limit": 8000, "min_cpus": 8, "alloc": [ { "node": "n1", "cores": 8 } ] },
    { "id": 6, "user": "ada", "account": "a", "partition": "p", "min_nodes": 2, "min_cpus": 16, "time_limit": 600,
      "submit_time": 1793620100 },
    { "id": 7, "user": "bob", "account": "b", "partition": "p", "min_nodes": 2, "min_cpus": 16, "time_limit": 600,
      "submit_time": 1793620050 } ],
  "queue": [ { "job": 6, "partition": "p", "priority": 90 }, { "job": 7, "partition": "p", "priority": 80 } ] }
EOT

# STATUS ARGUMENT... : asked of that cluster, under easy
ask() {
	status=$1
	shift
	run "$status" willrun --policy=easy --snapshot="$T/full.json" "$@"
}

willrun_now() {
	ask 0 --user=ada -n4 -t 30 && out "^starts now in partition p on n2$" && out "^  n2  *4 " &&
		ask 0 --user=bob -p q --gres=gpu:2 -n 2 -c2 && out "^starts now in partition q on g1$" &&
		out "^  g1  *4  *0  gpu:a100:2$" && ask 0 --user=bob -p p,q -n8 && out "^starts now in partition q on g1$"
}
ok "willrun says that it starts now, where, and what it gets of each node" willrun_now

# at 14:00 6 starts, ten minutes later 7
willrun_later() {
	ask 0 --user=bob -n8 -t 4:00:00 && out "^may start at 2026-11-02T14:20:00, in [0-9:]*, in partition p on n1$" &&
		out "^not now: priority: would delay job 6$" &&
		ask 0 --user=bob -N2 --priority=100 && out "^gets a reservation: starts at 2026-11-02T14:00:00, in 02:00:00, in partition p on n\[1-2\]$" &&
		run 0 willrun --policy=fcfs --snapshot="$T/full.json" --user=bob -n4 -t 30 && out "^not now: .*waits behind job 6$"
}
ok "willrun says when it starts, and why not now" willrun_later

willrun_never() {
	ask 1 --user=bob -n64 && out "^never starts as things are: never: needs room for 64 tasks" &&
		ask 1 --user=bob -p q --gpus=a100:5 && out "^never starts" &&
		ask 1 --user=bob -p q -t 1-0 && out "^never starts .*asks for 1440 minutes, partition q allows 120$" &&
		ask 1 --user=bob -p q -A z && out "^never starts .*partition q does not admit account \"z\"$" &&
		run 1 willrun --policy="$T/none.lua" --snapshot="$T/full.json" --user=bob && out "^does not start now, and when is not known: policy: only ada$"
}
cat >"$T/none.lua" <<'EOT'
return { api = 1, name = "none", doc = "nobody but ada", admit = function(job) return job.user == "ada", "only ada" end }
EOT
ok "willrun says that it never starts, or that nothing is known" willrun_never

# 7 was overtaken, so bob's next one is like it; nobody came after 6
willrun_priority() {
	ask 0 --user=bob && out "^as a job of user bob, account b, QOS (not known), with the priority of job 7$" &&
		ask 0 --user=ada && out "^as a job of user ada, .*, behind all others" &&
		ask 0 --user=bob -A a && out "behind all others" && ask 0 --user=bob --priority=100 --json && out '"priority": 100, "priority_of": 0'
}
ok "willrun gives it the priority of the user's last job, where there is an order but that of submission" willrun_priority

willrun_memory() {
	sed 's/"sequence": 1 }/"sequence": 1, "select_flags": [ "MEMORY" ] }/; s/"cores": 8,/"cores": 8, "memory": 1000,/; s/"cores": 8 }/"cores": 8, "memory": 1000 }/g' \
		"$T/full.json" >"$T/memory.json"
	run 0 willrun --policy=easy --snapshot="$T/memory.json" --user=bob -t30 -n2 --mem-per-cpu=100 && out "^  n2  *2  *200$" &&
		! out "all memory" >/dev/null && run 0 willrun --policy=easy --snapshot="$T/memory.json" --user=bob -t30 && out "^  n2  *1  *1000$" &&
		out "^with all memory of its nodes: " && run 1 willrun --policy=easy --snapshot="$T/memory.json" --user=bob --mem=1G
}
ok "willrun counts memory, and says so where the job has all of it" willrun_memory

willrun_wrong() {
	ask 2 -Nx && err "^schedlua: --nodes: expected N or N-M, got 'x'$" && ask 2 --user=bob -p no &&
		err "^schedlua: --partition=no: expected names of partitions; there is no \"no\"$" &&
		ask 2 --mem=x && err "^schedlua: --mem=x: expected an amount of memory" && ask 2 -n && err "^schedlua: -n: N is missing$" &&
		ask 2 "--gres=gpu;x" && err "^schedlua: --gres=gpu;x: expected NAME" && ask 2 --gres=gpu:1-2 && err "not a range$" &&
		ask 2 -N4 -n2 && err "^schedlua: --nodes, --ntasks.* do not go together: .* 2 tasks on 4 nodes$" &&
		ask 2 -Z3 && err "^schedlua: unknown option -Z3$" && ask 2 more && err "one argument too many" &&
		run 1 willrun --snapshot="$T/full.json" && err "expected --site or --policy" &&
		run 1 willrun --policy=easy --snapshot="$T/nowhere" && err "nowhere"
}
ok "willrun says which option is wrong, and what was expected" willrun_wrong

# n1 and n2 are below one switch, n3 and n4 below another; a licence is in use; maint begins at 14:00
cat >"$T/wide.json" <<'EOT'
{ "meta": { "now": 1793620800, "cluster": "tiny", "source": "json", "sequence": 1 },
  "gres_kinds": [ { "key": "gpu", "name": "gpu" } ],
  "nodes": [ { "name": "n1", "cores": 8, "sockets": 2, "tmp_disk": 100, "topology": "root.a", "features": "slow" },
    { "name": "n2", "cores": 8, "sockets": 2, "tmp_disk": 5000, "topology": "root.a", "features": "fast" },
    { "name": "n3", "cores": 8, "sockets": 2, "topology": "root.b", "features": "slow" },
    { "name": "n4", "cores": 8, "sockets": 2, "topology": "root.b", "features": "slow",
      "gres": [ { "kind": "gpu", "count": 4 } ] } ],
  "partitions": [ { "name": "p", "nodes": "n[1-4]", "flags": [ "UP", "DEFAULT" ], "max_time": 86400 } ],
  "licenses": [ { "name": "matlab", "total": 3, "used": 1 }, { "name": "lic", "total": 2, "used": 1 } ],
  "reservations": [ { "name": "maint", "start_time": 1793628000, "end_time": 1793635200, "nodes": "n[1-2]" } ] }
EOT

# STATUS LINE ARGUMENT... : a line that comes out of that cluster
wide() {
	status=$1 line=$2
	shift 2
	run "$status" willrun --policy=easy --snapshot="$T/wide.json" --user=ada -t 30 "$@" && out "$line"
}
now_on() {
	nodes=$1
	shift
	wide 0 "^starts now in partition p on $nodes\$" "$@"
}

willrun_which_nodes() {
	now_on n2 --tmp=1G && wide 1 "^never starts" --tmp=1T && now_on n2 -C fast && now_on n2 --prefer=fast &&
		now_on n3 -w n3 && now_on "n\[1-3\]" -w "n[1,3]" -N3 && now_on n3 -x n1,n2 && now_on "n\[1-3\]" --contiguous -N3 &&
		now_on "n\[1-4\]" --spread-job -N1-4 -n4 && now_on n1 -N1-3 --use-min-nodes -n4 && now_on "n\[1-2\]" -N1-3 -n4 &&
		now_on "n\[1,3\]" -m arbitrary -w n3,n1,n3 && out "^  n1  *1 " && out "^  n3  *2 "
}
ok "willrun looks for the nodes that sbatch's options ask for" willrun_which_nodes

willrun_cores() {
	now_on n1 -n2 -S2 && out "^  n1  *6 " && now_on n1 -S0 && out "^  n1  *8 " && now_on n1 --thread-spec=1 && out "^  n1  *7 " &&
		now_on n1 --mincpus=4 && out "^  n1  *4 " && wide 1 "^never starts" --mincpus=9 && now_on n1 -O -N1 -n100 && out "^  n1  *1 " &&
		now_on n1 -N1 --sockets-per-node=2 --cores-per-socket=4 && out "^  n1  *8 " &&
		now_on n1 -N1 -B 2 && out "^  n1  *2 " && now_on n1 --exclusive && out "^  n1  *8 " &&
		now_on "n\[1-2\]" -n4 --ntasks-per-socket=1 -N2 --exclusive && wide 1 "^never" -N1 -n4 --ntasks-per-socket=1 --exclusive &&
		now_on n1 --exclusive=user && now_on n1 --exclusive=mcs --mcs-label=red && now_on n1 -s && now_on n1 -n3 --ntasks-per-core=1 &&
		wide 0 "Slurm's select picks" -m plane=2 -n4 && now_on n1 -n4 --distribution=cyclic:block
}
ok "willrun counts the cores that sbatch's options ask for" willrun_cores

willrun_gpus() {
	wide 0 "^starts now .* on n4" -n3 --ntasks-per-gpu=1 && out "^  n4 .* gpu:3$" &&
		wide 0 "^starts now" -G2 --ntasks-per-gpu=2 && out "^  n4  *4 .* gpu:2$" &&
		wide 0 "^starts now" -G2 --cpus-per-gpu=3 && out "^  n4  *6 " && wide 0 "^starts now" -G2 --mem-per-gpu=2G &&
		wide 0 "or elsewhere" --sockets-per-node=2 --gpus-per-socket=1 && out "^  n4 .* gpu:1$" &&
		wide 0 "or elsewhere" -n2 --gpus-per-task=1 --gres-flags=enforce-binding && wide 1 "^never" -n2 --cpus-per-gpu=5 -G2
}
ok "willrun counts what comes with GPUs" willrun_gpus

willrun_times() {
	now_on n1 -L matlab:2 && wide 1 "^does not start now, .*licenses: needs 3 of license matlab, 2 are free$" -L matlab:3 &&
		now_on n1 "-Lmatlab:3|lic" && wide 1 "needs 3 of license matlab or of another that would do, 2 are free$" "-Lmatlab:3|lic:2" &&
		wide 0 "^gets a reservation: starts at 2026-11-02T14:00:00" --reservation=maint &&
		wide 0 "^gets a reservation: starts at 2026-11-02T12:01:00" -N3 --switches=1@1:00 &&
		wide 0 "^gets a reservation: starts at 2026-11-02T12:05:00" -N3 --switches=1 && now_on "n\[1-2\]" -N2 --switches=1 &&
		wide 0 "^gets a reservation: starts at 2026-11-02T13:00:00" -b now+1hour &&
		wide 0 "^gets a reservation: starts at 2026-11-02T16:30:00" --begin=16:30 &&
		wide 0 "^gets a reservation: starts at 2026-11-03T08:00:00" --begin=2026-11-03T08:00 &&
		wide 1 "^does not start now, .*deadline" --deadline=now+10minutes && now_on n1 --deadline=now+10minutes --time-min=5
}
ok "willrun knows licences, reservations, switches and times" willrun_times

# The same machine with its switches as blocks of two nodes, n3 in use.
willrun_segments() {
	sed 's/"root.a"/"a"/; s/"root.b"/"b"/; s/"max_time": 86400 }/"max_time": 86400, "block_nodes": 2 }/; s/"licenses": /"jobs": [ { "id": 5, "state": "RUNNING", "min_nodes": 1, "start_time": 1793620800, "time_limit": 600, "alloc": [ { "node": "n3", "cores": 8 } ] } ],\n&/' \
		"$T/wide.json" >"$T/blocks.json"
	segments() {
		status=$1 line=$2
		shift 2
		run "$status" willrun --policy=easy --snapshot="$T/blocks.json" --user=ada -t 30 --exclusive "$@" && out "$line"
	}
	segments 0 "^starts now .* on n\[1-2\]" -N2 && segments 0 "^starts now .* on n\[1-2,4\]" -N3 --segment=1 &&
		segments 0 "^gets a reservation: starts at 2026-11-02T12:10:00" -N4 --segment=2 &&
		wrong "--segment=0: " --segment=0 && wrong "--segment=x: " --segment=x
}

# STATUS ERROR ARGUMENT...
wrong() {
	message=$1
	shift
	run 2 willrun --policy=easy --snapshot="$T/wide.json" --user=ada -t 30 "$@" && err "^schedlua: $message"
}
ok "willrun knows segments and blocks" willrun_segments
willrun_wrong_wishes() {
	wrong "--nodelist=n9: expected nodes that there are; there is no \"n9\"$" -w n9 && wrong "--licenses=foo: .*there is no \"foo\"$" -L foo &&
		wrong "--reservation=x: .*there is no \"x\"$" --reservation=x && wrong "--switches=x: expected N\[@TIME\]" --switches=x &&
		wrong "--extra-node-info=2:x: " -B 2:x && wrong "--cpus-per-gpu=2: expected GPUs, too$" --cpus-per-gpu=2 &&
		wrong "--mem-per-gpu=1G: expected neither --mem" -G1 --mem-per-gpu=1G --mem=1G && wrong "--exclusive=foo: expected user, mcs" --exclusive=foo &&
		wrong "--exclusive=mcs: expected --mcs-label" --exclusive=mcs && wrong "--begin=soon: expected now" --begin=soon &&
		wrong "--time-min=40: " --time-min=40 && wrong "unknown option --hint=compute_bound$" --hint=compute_bound &&
		wrong "--contiguous takes no value$" --contiguous=3 && wrong "--core-spec and --thread-spec: " -S1 --thread-spec=1 &&
		wrong "--nodelist=n1,n2: expected no more nodes" -w n1,n2 -n1 && wrong "--tmp=x: expected an amount" --tmp=x &&
		wrong "--ntasks-per-gpu=2: expected as many tasks" -n3 -G2 --ntasks-per-gpu=2 && wrong "--licenses=a|b: .*there is no \"a\"$" "-La|b" &&
		wrong "--licenses=matlab|matlab:x: expected NAME" "-Lmatlab|matlab:x" &&
		wrong "--distribution=arbitrary: expected --nodelist, too" -m arbitrary &&
		wrong "--distribution=plane=x: expected plane=N" -m plane=x && wrong "--distribution=plane=0: expected plane=N" -m plane=0
}
ok "willrun says which of sbatch's options makes no sense" willrun_wrong_wishes

willrun_json() {
	ask 0 --user=bob -p q --gpus-per-node=2 --json &&
		out '"answer": "now", "start_time": 1793620800, "in_s": 0, "partition": "q", "nodelist": "g1", "native": false, "places": \[{"node": "g1", "cores": 1, "memory": 0, "gres": {"gpu:a100": 2}}\]' &&
		ask 1 --user=bob -n64 --json && out '"answer": "never", "why": "never", "text": "needs room' &&
		ask 0 --user=bob -N2 --priority=100 --json && out '"answer": "reserved", "start_time": 1793628000, "in_s": 7200'
}
ok "willrun --json" willrun_json

# What runs of ada and bob took: a tenth of what they asked for.  So 5 may end any moment.
past() { # ID USER SECONDS WALLTIME CPUS
	printf '{ "job": %s, "user": "%s", "start_time": 1793600000, "end_time": %s, "runtime": %s, "time_limit": %s, "cpus": %s }' \
		"$1" "$2" $((1793600000 + $3)) "$3" "$4" "$5"
}
sed "s/\"queue\": \[/\"history\": [ $(past 1 ada 1000 8000 8), $(past 2 ada 1000 8000 8), $(past 3 bob 60 600 16) ], &/" \
	"$T/full.json" >"$T/past.json"
echo "return require('sched').site { default = { 'easy' } }" >"$T/site.lua"

# 5 ends 200 s from now, 6 takes a tenth of its 600 s, and 7 too.
willrun_interval() {
	run 0 willrun --policy=easy --snapshot="$T/past.json" --user=bob -n8 -t 4:00:00 && out "^may start at 2026-11-02T14:20:00" &&
		out "^expected 12:0[3-9] (80 %: 12:0[3-9] to 12:[0-9]*); not calibrated: of trials, not of jobs$" && quiet err &&
		run 0 willrun --site="$T/site.lua" --snapshot="$T/past.json" --user=bob -n8 -t 4:00:00 --json &&
		out '"forecast": {"not_before": 17936[0-9]*, "likely": 17936[0-9]*, "not_after": 17936[0-9]*, "confidence": 0.8[0-9]*, "calibrated": false}' &&
		run 0 willrun --policy=easy --snapshot="$T/past.json" --user=bob -n8 -t 4:00:00 --seconds=0 && ! out "expected" >/dev/null &&
		! out "no interval" >/dev/null && run 0 willrun --policy=easy --snapshot="$T/past.json" --user=ada -n4 -t 30 &&
		out "^starts now" && ! out "expected" >/dev/null
}
ok "willrun says an interval from the same forecast as schedlua forecast, where it does not start at once" willrun_interval

# Of all classes of waits: jobs start about twice as late as the middle of the trials.
willrun_calibrated() {
	mkdir -p "$T/forecasts" && awk 'BEGIN {
		printf "{\"confidence\": 0.8, \"classes\": ["
		for (c = 0; c < 5; c++) {
			printf "%s{\"below\": 0.1, \"above\": 0.1, \"scores\": [", c ? ", " : ""
			for (i = 0; i < 50; i++) printf "%s%.3f", i ? ", " : "", 0.6 + i / 250
			printf "]}"
		}
		print "]}" }' >"$T/forecasts/calibration.json" &&
		run 0 willrun --site="$T/site.lua" --snapshot="$T/past.json" --user=bob -n8 -t 4:00:00 &&
		out "^expected [0-9:]* (80 %: [0-9:]* to [0-9:]*)$" && cp "$T/out" "$T/beside" &&
		run 0 willrun --policy=easy --calibration="$T/forecasts/calibration.json" --snapshot="$T/past.json" --user=bob -n8 -t 4:00:00 &&
		grep "^expected" "$T/beside" >"$T/want" && grep -qxFf "$T/want" "$T/out" &&
		echo "{" >"$T/forecasts/calibration.json" && run 0 willrun --site="$T/site.lua" --snapshot="$T/past.json" --user=bob -n8 -t 4:00:00 &&
		out "^expected .*; not calibrated" && run 0 forecast --site="$T/site.lua" --snapshot="$T/past.json" 7 &&
		err "forecasts/calibration.json:[0-9]*: .*; forecasts are not calibrated$" && rm "$T/forecasts/calibration.json"
}
ok "willrun is calibrated by what the forecast service has learnt" willrun_calibrated

willrun_begin() {
	run 0 willrun --policy=easy --snapshot="$T/past.json" --user=bob -n8 -t 10 -b now+3hours && out "^expected 15:00 (80 %: 15:00 to "
}
ok "willrun foresees no start before the begin time" willrun_begin

# Without a past; without the lab; with a lab that prints nonsense, without end, or fails.
willrun_no_interval() {
	ask 0 --user=bob -n8 -t 4:00:00 && out "^may start at 2026-11-02T14:20:00" &&
		out "^no interval: how long jobs of these users ran is not known" && ! out "^expected" >/dev/null || return 1
	mkdir -p "$T/alone" && cp "$SCHEDLUA" "$T/alone/schedlua" || return 1
	for lab in "" "echo nonsense" "yes" "cat /dev/zero" "echo schedlua: no room on this planet >&2; exit 1" "kill -9 \$\$" "exec sleep 1000"; do
		seconds=600
		case $lab in
		"") want="the simulator (schedlab) is not installed" ;;
		"echo nonsense" | yes | cat*) want="the simulator printed no forecast" ;;
		*planet*) want="no room on this planet" ;;
		*kill*) want="the simulator said nothing" ;;
		*) want="the simulator did not come to an end" seconds=1 ;;
		esac
		rm -f "$T/alone/schedlab"
		[ -z "$lab" ] || { printf '#!/bin/sh\n%s\n' "$lab" >"$T/alone/schedlab" && chmod +x "$T/alone/schedlab"; } || return 1
		(PATH=/usr/bin:/bin SCHEDLUA=$T/alone/schedlua SCHEDLUA_PATH=$(cd "${srcdir:-.}/lua" && pwd); export SCHEDLUA_PATH; ask 0 --user=bob -n8 -t 4:00:00 --seconds=$seconds) && out "^may start at 2026-11-02T14:20:00" &&
			out "^no interval: $want" && quiet err || return 1
	done
}
ok "willrun says in plain words why there is no interval" willrun_no_interval

echo "1..$n"
