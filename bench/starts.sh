# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# starts.sh - what bench/live and bench/cloud share: rows "scheduler key value" in the file
# $ROWS, and the starts as slurmctld's log has them.  Sourced, after t/live/cluster.sh.

# shellcheck disable=SC2034	# for those who source this
LUA_PARAMETERS=defer,sched_interval=-1
# Every cycle each second, no limit that the queue reaches.
# shellcheck disable=SC2034
STOCK_PARAMETERS=bf_interval=1,bf_max_job_test=1000000,bf_continue,sched_interval=1,sched_min_interval=0,default_queue_depth=1000000,batch_sched_delay=0

now() { date +%s.%3N; }
row() { echo "$*" >> "$ROWS"; }

# The lines of the log that say that a job was started, since line MARK.
start_lines() {
	tail -n +$((MARK + 1)) "$C/log/slurmctld.log" | grep -E '(sched/lua: started|Allocate|_start_job: Started) JobId='
}

# How many a second, first and last; and how long from one to the next.
start_rows() { # SCHEDULER RELEASED
	start_lines | sed -E 's/^\[([^]]*)\].*/\1/' |
		date -f - +%s.%3N | sort -n | awk -v s="$1" -v from="$2" '
			NR == 1 { first = $1 }
			{ last = $1 }
			END {
				print s, "starts", NR
				if (NR < 2) exit
				printf "%s first_start_s %.3f\n%s last_start_s %.3f\n", s, first - from, s, last - from
				if (last > first) printf "%s starts_per_s %.1f\n", s, (NR - 1) / (last - first)
				printf "%s starts_per_s_from_release %.1f\n", s, NR / (last - from)
			}' >> "$ROWS"
}

# A line of durations in status.json as rows: NAME_p50_us and so on.
status_times() { # NAME KEY
	sed -nE 's/.*"'"$2"'": \{"count": ([0-9]+).*"p50": ([0-9]+), "p99": ([0-9]+), "max": ([0-9]+).*/lua '"$1"'_count \1\nlua '"$1"'_p50_us \2\nlua '"$1"'_p99_us \3\nlua '"$1"'_max_us \4/p' \
		"$C/state/schedlua/status.json" >> "$ROWS"
}
