#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# An engine that means harm: whatever it answers, hands over or keeps back, slurmctld stays,
# answers its users, starts their jobs, and neither holds its locks for it nor grows.
. "${0%/*}/live.sh"
needs_plugin

built=$SL_BUILD/t/plugin/fake_engine
[ -x "$built" ] || skip_all "t/plugin/fake_engine is not built"
FAKE=${LIVE_DIR:-$TOP/.work/cluster-${0##*/}}/bin/fake_engine
live_begin 8 "SchedulerParameters=defer,sched_interval=-1,lua_interval=1,lua_budget=0.5,lua_engine=$FAKE"
CTLD=$(cluster_ctld_pid)

mkdir -p "${FAKE%/*}" && cp "$built" "$FAKE.new" && mv "$FAKE.new" "$FAKE"

# The engine in a mode, from its next step on; it is started and told to load anew.
engine() { # MODE
	local pid
	echo "$1" > "$FAKE.mode"
	pid=$(engine_pid || true)
	[ -z "$pid" ] || kill -9 "$pid" 2> /dev/null || true	# the status may be a second old
	scontrol reconfigure
}

answers() { timeout 60 squeue -h > /dev/null && timeout 60 scontrol ping > /dev/null; }

# The longest that the locks were held to carry a plan out, microseconds.
longest_hold() { sed -nE 's/^  "commit_hold_us": .*"max": ([0-9]+).*/\1/p' "$C/state/schedlua/status.json"; }

# How long the plug-in's thread has waited for a processor until now, in microseconds: the second field of schedstat.
waited() {
	local task
	for task in /proc/"$(cluster_ctld_pid)"/task/*; do
		[ "$(cat "$task/comm" 2> /dev/null)" != sched_lua ] || awk '{ print int($2 / 1000) }' "$task/schedstat"
	done
}

# True if no hold of the locks since then was longer than a second, which is far more than a batch may take.  Time for which the thread
# had no processor is not counted.
holds_briefly() { # LONGEST WAITED : before
	local longest
	longest=$(longest_hold)
	[ "$longest" -lt 1000000 ] || [ "$longest" = "$1" ] || {
		echo "locks were held for $longest us; it waited for a processor for $(($(waited) - $2)) us"
		[ $((longest - 1000000)) -lt $(($(waited) - $2)) ]
	}
}

descriptors() { find "/proc/$(cluster_ctld_pid)/fd" -mindepth 1 | wc -l; }
resident() { sed -nE 's/^VmRSS:\s*([0-9]+) kB/\1/p' "/proc/$(cluster_ctld_pid)/status"; }	# KiB

# Jobs start while the engine is so, which users of slurmctld do not notice.
endures() { # MODE
	local a b longest waited
	longest=$(longest_hold) waited=$(waited)
	engine "$1"
	a=$(timeout 60 sbatch --parsable --output=/dev/null -N1 --wrap "exec sleep 600")
	starts "$a" 20
	answers
	b=$(submit -N2)
	starts "$b" 20
	answers
	same_slurmctld
	holds_briefly "$longest" "$waited"
}

well_again() {
	engine ok
	wait_for 60 status_is source site
	starts "$(submit -N1)" 15
}

engine ok
it "to begin with, the engine is well" well_again
FDS=$(descriptors)
RSS=$(resident)

MODES="frame-short frame-long frame-magic frame-type frame-length frame-twice frame-flood frame-half
	fd-none fd-unsealed fd-shrunk fd-hole fd-pipe fd-directory fd-zero fd-many
	plan-flood plan-actions plan-texts plan-range forge figures kept-garbage kept-giant kept-zero
	exit-hello exit-load exit-keep exit-decide hang-hello hang-load hang-keep hang-decide
	stop-hello stop-load stop-keep stop-decide"
for m in ${HOSTILE_MODES:-$MODES}; do
	it "jobs start and users are answered with an engine in mode $m" endures "$m"
done

not_forged() {
	fails grep -q "^slurmctld: error: forged" "$C/log/slurmctld.log"
	! LC_ALL=C grep -q "$(printf '\033')" "$C/log/slurmctld.log"
}
it "nothing it said made a line of its own in the log" not_forged

it "it is used again once it is well" well_again

few_descriptors() { [ "$(descriptors)" -le $((FDS + 4)) ]; }
not_grown() { # some is the allocator's; each mode was tried for several cycles
	well_again
	wait_for 20 few_descriptors
	echo "# resident: $RSS KiB before, $(resident) KiB after"
	[ "$(resident)" -lt $((RSS + 131072)) ]
}
it "slurmctld has as many descriptors as before, and not much more memory" not_grown

live_end
