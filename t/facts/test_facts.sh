#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The table of facts is in order, doc/parity.md has it, and check-facts sees what a release adds and takes away.

# shellcheck source=t/tool/tool.sh
. "${0%/*}/../tool/tool.sh"
HERE=$(cd "${0%/*}" && pwd)
TOP=$(cd "$HERE/../.." && pwd)

in_order() { "$HERE/check-facts" --table-only; }
ok "each line says where its fact is in the plan, who decides it, or why it does not matter" in_order

none_unknown() { ! grep -n 'unknown\|	?$' "$HERE/facts.tsv"; }
ok "no line says that it does not know" none_unknown

printed() {
	cp "$TOP/doc/parity.md" "$T/parity.md" && chmod u+w "$T/parity.md" &&
		"$HERE/check-facts" --doc-into "$T/parity.md" && diff "$TOP/doc/parity.md" "$T/parity.md"
}
ok "doc/parity.md has the table as it is (else: make facts-doc)" printed

narrow() { "$HERE/check-facts" --doc | awk -F ' [|] ' 'length($1) > 205 || length($3) > 205 { print; bad = 1 } END { exit bad }'; }
ok "no cell of it is too wide to be read" narrow

# -- a release of three facts --------------------------------------------------------

SL_FACTS_LEAST=1
export SL_FACTS_LEAST

release() { # VERSION : of Slurm, in $T/slurm
	rm -rf "$T/slurm"
	mkdir -p "$T/slurm/slurm" "$T/slurm/src/slurmctld" "$T/slurm/src/common" "$T/slurm/src/plugins/sched/backfill"
	printf '  Version:\t%s\n' "$1" >"$T/slurm/META"
	cat >"$T/slurm/slurm/slurm.h" <<-'EOC'
	#ifdef __cplusplus
	extern "C" {
	#endif
	#define KILL_INV_DEP	SLURM_BIT(0)
	#define SPREAD_JOB	SLURM_BIT(8) /* a comment
					      * of two lines */
	#define X11_FORWARD_ALL	1
	typedef struct {
		char *sched_params;	/* not_this; */
		uint16_t kill_wait, over_time_limit;
	} slurm_conf_t;
	EOC
	cat >"$T/slurm/src/slurmctld/slurmctld.h" <<-'EOC'
	struct job_record {
		struct job_details *details;
		union { int inner; } both;
		bitstr_t *masks[2];
		uint32_t unused_here;
	};
	EOC
	cat >"$T/slurm/src/plugins/sched/backfill/backfill.c" <<-'EOC'
	static void f(job_record_t *job)
	{
		/* job->unused_here */
		path = "/etc/*/slurm \"//", c = '"';
		if (job->details && job->masks[0])
			debug("see slurm.conf, job->unused_here");
		if (slurm_conf.kill_wait && other.over_time_limit)
			g(job->bit_flags & SPREAD_JOB, IS_NODE_DOWN(n) || NODE_STATE_FAIL, QOS_FLAG_NO_RESERVE);
			g(slurm_conf.kill_wait & PREEMPT_MODE_GANG, 0, 0);
		if ((p = xstrcasestr(slurm_conf.sched_params,
				     "bf_window=")))
			n = 1;
	}
	EOC
}

line() { printf '%s\t%s\t%s\t%s\t%s\n' "$@"; }
table() {
	line slurm_conf sched_params 22.05 - 'irrelevant: words'
	line slurm_conf kill_wait 22.05 - 'missing: ends'
	line job details 22.05 - 'snapshot: job.min_nodes'
	line job masks 22.05 - 'slurm: g() always'
	line 'job flag' SPREAD_JOB 22.05 - 'snapshot: job.flags SL_JOBF_SPREAD'
	line 'node state' NODE_STATE_DOWN 22.05 - 'snapshot: node.state'
	line 'node state' NODE_STATE_FAIL 22.05 - 'snapshot: node.state'
	line 'preempt mode' PREEMPT_MODE_GANG 22.05 - 'snapshot: job.preempts'
	line 'qos flag' QOS_FLAG_NO_RESERVE 22.05 - 'snapshot: job.flags'
	line SchedulerParameters bf_window 22.05 - 'plug-in: plugin/due.c'
}
checks() { # STATUS
	"$HERE/check-facts" --table "$T/table" "$T/slurm" >"$T/out" 2>"$T/err"
	[ $? = "$1" ]
}
says() { checks 1 && out "$1" && out 'wrong: 1$'; }

whole() { release 24.11.7 && table >"$T/table" && checks 0 && out '^10 lines, 10 facts of Slurm 24.11.7: .*missing 1; wrong: 0'; }
ok "members, flags and words are found, and what stands in comments and texts is none" whole

new() { whole && echo 'void h(job_record_t *j) { j->unused_here = 1; }' >>"$T/slurm/src/plugins/sched/backfill/backfill.c" &&
	says '^new in Slurm 24.11.7: job	unused_here	24.11	-	?$'; }
ok "a fact without a line is printed as the line that it needs" new

dead() { whole && line job both 22.05 - 'irrelevant: nothing' >>"$T/table" && says 'job both: Slurm 24.11.7 does not look at it any more'; }
ok "so is a line whose fact is gone" dead

gone_before() { whole && line job both 22.05 24.05 'irrelevant: nothing' >>"$T/table" && checks 0; }
ok "but not one of earlier series" gone_before

too_late() { whole && sed -i 's/\(kill_wait	\)22.05/\125.05/' "$T/table" && says 'kill_wait: Slurm 24.11.7 looks at it, which is not in 25.05 to -'; }
ok "a series in which a fact is not yet to be there is wrong" too_late

columnless() { whole && sed -i 's/job.min_nodes/job.least_nodes/' "$T/table" && says 'there is no column job.least_nodes in image/snapshot.h'; }
ok "a column has to be in the snapshot" columnless

flagless() { whole && sed -i 's/SL_JOBF_SPREAD/SL_JOBF_SPRED/' "$T/table" && says 'there is no SL_JOBF_SPRED in'; }
ok "and a flag" flagless

functionless() { whole && sed -i 's/slurm: g()/slurm: gone()/' "$T/table" && says 'there is no gone() in Slurm 24.11.7'; }
ok "a function has to be in the release" functionless

fileless() { whole && sed -i 's/plugin.due.c/plugin\/undue.c/' "$T/table" && says 'there is no file plugin/undue.c'; }
ok "a file of the plug-in has to be there" fileless

treatless() { whole && sed -i 's/irrelevant: words/unknown: words/' "$T/table" && says "got 'unknown: words'"; }
ok "a treatment is one of five" treatless

twice() { whole && line job details 22.05 - 'irrelevant: again' >>"$T/table" && says 'job details: has a line before'; }
ok "no fact has two lines" twice

nothing() { whole && SL_FACTS_LEAST=300 checks 2 && err 'is extract.awk still right'; }
ok "a source of which it finds next to nothing is not believed" nothing

# -- the release at hand --------------------------------------------------------------

unset SL_FACTS_LEAST
if [ -n "${SL_FACTS_SRC-}" ] && [ -f "$SL_FACTS_SRC/META" ]; then
	at_hand() { "$HERE/check-facts" "$SL_FACTS_SRC"; }
	ok "all that the Slurm at hand looks at has its line" at_hand
else
	n=$((n + 1))
	echo "ok $n - all that the Slurm at hand looks at has its line # SKIP no source of Slurm (--with-slurm-src)"
	echo "SKIPPED: ${0##*/}: no source of Slurm to check the facts of" >&2
fi

echo "1..$n"
