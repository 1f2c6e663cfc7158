#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A plug-in built from source that is not exactly the running slurmctld's: it loads,
# for the release is the same, and a field more in a record makes all behind it wrong.
. "${0%/*}/live.sh"
needs_plugin

made_with() { sed -n "s/^$1 = //p" "$SL_BUILD/Makefile" 2>/dev/null; }
SRC=$(made_with SLURM_SRC) BUILD=$(made_with SLURM_BUILD)
[ -f "$SRC/src/slurmctld/slurmctld.h" ] || skip_all "no source of Slurm"
ODD=${LIVE_DIR:-$TOP/.work/cluster-${0##*/}}/odd

# odd_plugin NAME SCRIPT : built with headers of job records that the sed script has changed
odd_plugin() {
	local dir=$ODD/$1 header changed='' f
	local -a sources=()
	for header in src/slurmctld/slurmctld.h src/common/job_record.h; do
		[ -f "$SRC/$header" ] || continue
		mkdir -p "$dir/${header%/*}"
		sed "$2" "$SRC/$header" > "$dir/$header"
		cmp -s "$SRC/$header" "$dir/$header" || changed=yes
	done
	[ -n "$changed" ] || return 1
	for f in "$TOP"/plugin/*.c "$TOP"/plugin/*/*.c; do
		[[ $f == */capture/* || $f == */loader/* ]] || sources+=("$f")
	done
	gcc -shared -fPIC -O0 -w -std=gnu11 -fvisibility=hidden -DHAVE_CONFIG_H -D_GNU_SOURCE \
		-DSCHEDLUA_VERSION='"odd"' -DSCHEDLUA_ENGINE="\"$SL_PREFIX/bin/schedlua\"" \
		-I"$dir" -I"$TOP/engine" -I"$TOP" -isystem "$BUILD" -isystem "$SRC" -o "$dir/sched_lua.so" \
		"${sources[@]}" "$SL_BUILD"/.libs/lib{slbundle,slimage,slbase}.a -lm
}

live_begin 8
CTLD=$(cluster_ctld_pid)
GOOD=$SL_PLUGINDIR

status_tells() { schedlua status | grep -q 'not laid out as those of Slurm'; }

# With a job that waits when slurmctld starts, or one that comes later.
idles() { # before|after NAME SCRIPT
	local id when=$1
	shift
	odd_plugin "$@"
	[ "$when" = after ] || id=$(submit -N1 --hold --priority=17)
	cluster_conf "PluginDir=$ODD/$1:$SL_SLURM_PLUGINS"
	cluster_ctld_kill
	mark_log
	cluster_ctld_start
	CTLD=$(cluster_ctld_pid)
	if [ "$when" = after ]; then id=$(submit -N1 --priority=17); else scontrol release "$id"; fi
	wait_for 15 log_said 'not laid out as those of Slurm'
	wait_for 5 status_is source idle
	wait_for 5 status_tells
	stays_pending "$id"
	[ "$(log_since | grep -c 'not laid out')" = 1 ]
	[ "$(cluster_ctld_pid)" = "$CTLD" ]
	cluster_conf "PluginDir=$GOOD:$SL_SLURM_PLUGINS"
	cluster_ctld_kill
	cluster_ctld_start
	starts "$id"
}
it "built with a field more at the beginning of records, it starts nothing and says why" \
	idles before beginning 's/^\tuint32_t magic;.*/\tuint64_t odd;\n&/'
it "built with two fields of a job exchanged, it looks at no pointer that is none" \
	idles after exchanged '/^\t[a-z_ ]* \*details;/{N;s/^\t\([a-z_ ]*\) \*details;\([^\n]*\)\n\tuint16_t direct_set_prio;/\tunion { uint16_t direct_set_prio; uint64_t odd; };\2\n\t\1 *details;/}'
it "built with a field more behind the number that tells what they are, it looks at none of their text" \
	idles before behind 's/^\tuint32_t magic;/&\n\tuint64_t odd;/'

live_end
