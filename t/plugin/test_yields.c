/* SPDX-License-Identifier: MIT */
/*
 * Whom a snapshot says may be preempted, and by whom, without slurmctld: what yields.c calls of it stands here.
 */
#include "plugin/collect/int.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"	/* what stands in headers differs between releases */

/* -- slurmctld -------------------------------------------------------------------- */

slurm_conf_t slurm_conf;
sl_list_t part_list, assoc_mgr_qos_list;
static slurmdb_qos_rec_t *qos[4];
static part_record_t *part[4];
static char written[256];		/* the last string that went into the snapshot */
static job_record_t *leader, *component[4];	/* of a heterogeneous job */
static uint32_t walks;			/* of a list */

int xstrcmp(const char *a, const char *b)
{
	return !a || !b ? a != b : strcmp(a, b);
}

void slurm_xfree(void **p)
{
	free(*p);
	*p = NULL;
}

void _xstrfmtcat(char **text, const char *format, ...)
{
	char more[64], *all;
	va_list args;

	va_start(args, format);
	vsnprintf(more, sizeof(more), format, args);
	va_end(args);
	assert_true(asprintf(&all, "%s%s", *text ? *text : "", more) > 0);
	free(*text);
	*text = all;
}

void acct_policy_set_qos_order(job_record_t *job, slurmdb_qos_rec_t **first, slurmdb_qos_rec_t **second)
{
	*first = job->qos_ptr;
	*second = NULL;
}

uint32_t acct_policy_get_prio_thresh(job_record_t *job, bool locked)
{
	(void) locked;
	assert_non_null(job->assoc_ptr);	/* or slurmctld logs a line, for each job of each snapshot */
	return 100;
}

/* A bitmap here: its size, then 64 bits. */
int64_t bit_size(bitstr_t *b)
{
	return b[0];
}

int bit_test(bitstr_t *b, bitoff_t bit)
{
	assert_in_range(bit, 0, b[0] - 1);
	return (int) (b[1] >> bit & 1);
}

int list_for_each(sl_list_t list, ListForF f, void *arg)
{
	walks++;
	for (uint32_t i = 0; i < 4; i++)
		if (list == part_list && part[i])
			f(part[i], arg);
		else if (leader && list == leader->het_job_list && component[i])
			f(component[i], arg);
		else if (list == assoc_mgr_qos_list && qos[i])
			f(qos[i], arg);
	return 0;
}

/* The only record that is looked up is the leader of a heterogeneous job. */
job_record_t *find_job_record(uint32_t job_id)
{
	return leader && leader->job_id == job_id ? leader : NULL;
}

/* -- the snapshot --------------------------------------------------------------------- */

uint32_t sl_builder_str(struct sl_builder *b, const char *s)
{
	static uint32_t at;

	(void) b;
	snprintf(written, sizeof(written), "%s", s ? s : "");
	return s ? ++at : 0;
}

uint32_t sl_collect_part(const struct sl_collector *c, const part_record_t *wanted)
{
	(void) c;
	return wanted == part[0] ? 0 : wanted == part[1] ? 1 : SL_NONE;
}

#define NOW 1000000

/* Three QOS: high preempts low and standby.  A job of each, which runs; and who would have their nodes. */
struct world {
	bitstr_t high_preempts[2];
	slurmdb_qos_rec_t high, low, standby;
	part_record_t above, below;
	struct sl_scratch scratch;
	struct sl_collector collector;
	sl_details_t details;
	job_record_t runs, waits;
};

static void begin_world(struct world *w)
{
	memset(w, 0, sizeof(*w));
	memset(&slurm_conf, 0, sizeof(slurm_conf));
	slurm_conf.preempt_type = (char *) "preempt/qos";
	slurm_conf.preempt_mode = PREEMPT_MODE_REQUEUE;
	slurm_conf.preempt_exempt_time = INFINITE;
	w->high = (slurmdb_qos_rec_t) { .id = 1, .name = (char *) "high", .preempt_exempt_time = INFINITE };
	w->low = (slurmdb_qos_rec_t) { .id = 2, .name = (char *) "low", .preempt_exempt_time = INFINITE, .grace_time = 30 };
	w->standby = (slurmdb_qos_rec_t) { .id = 3, .name = (char *) "standby", .preempt_exempt_time = INFINITE,
					   .flags = QOS_FLAG_NO_RESERVE };
	w->high_preempts[0] = 4;
	w->high_preempts[1] = 1 << 2 | 1 << 3;
	w->high.preempt_bitstr = w->high_preempts;
	w->above = (part_record_t) { .name = (char *) "above", .priority_tier = 2, .preempt_mode = NO_VAL16 };
	w->below = (part_record_t) { .name = (char *) "below", .priority_tier = 1, .preempt_mode = NO_VAL16 };
	qos[0] = &w->high;
	qos[1] = &w->low;
	qos[2] = &w->standby;
	part[0] = &w->above;
	part[1] = &w->below;
	assoc_mgr_qos_list = (sl_list_t) &qos;
	part_list = (sl_list_t) &part;
	w->collector.scratch = &w->scratch;
	w->scratch.now = NOW;
	w->scratch.preempts = true;
	sl_collect_preempt_params(&w->scratch, NULL);
	w->runs = (job_record_t) { .job_id = 1, .job_state = JOB_RUNNING, .qos_ptr = &w->low, .part_ptr = &w->below,
				   .priority = 1000, .start_time = NOW - 600 };
	w->waits = (job_record_t) { .job_id = 2, .job_state = JOB_PENDING, .qos_ptr = &w->high, .part_ptr = &w->above,
				    .priority = 2000, .details = &w->details };
	walks = 0;
}

/* -- how a running job is stopped ------------------------------------------------------ */

static struct sl_job_row terms_of(const struct world *w, const job_record_t *job)
{
	struct sl_job_row row = { 0 };

	sl_collect_stop_terms(&w->scratch, job, &row);
	return row;
}

static void a_job_is_stopped_as_slurm_would(void **state)
{
	struct sl_job_row row;
	struct world w;

	(void) state;
	begin_world(&w);
	leader = NULL;
	w.runs.details = &w.details;
	w.low.preempt_exempt_time = 900;
	row = terms_of(&w, &w.runs);
	assert_int_equal(row.preempt_mode, SL_STOP_CANCEL);	/* what cannot be requeued is killed instead */
	assert_int_equal(row.preempt_from, NOW + 300);
	assert_int_equal(row.grace_time, 30);
	w.runs.batch_flag = w.details.requeue = 1;
	w.runs.preempt_time = NOW - 5;
	row = terms_of(&w, &w.runs);
	assert_int_equal(row.preempt_mode, SL_STOP_REQUEUE);
	assert_int_equal(row.preempt_time, NOW - 5);
	w.low.preempt_mode = PREEMPT_MODE_SUSPEND;
	assert_int_equal(terms_of(&w, &w.runs).preempt_mode, SL_STOP_NONE);
	slurm_conf.preempt_mode |= PREEMPT_MODE_GANG;
	assert_int_equal(terms_of(&w, &w.runs).preempt_mode, SL_STOP_SUSPEND);
}

static void a_job_that_nobody_may_preempt_is_never_stopped(void **state)
{
	struct sl_job_row row;
	struct world w;

	(void) state;
	begin_world(&w);
	leader = NULL;
	w.runs.priority = 1000;
	sl_collect_preempt_params(&w.scratch, "min_exempt_priority=999");
	row = terms_of(&w, &w.runs);
	assert_int_equal(row.preempt_mode, SL_STOP_NONE);
	assert_int_equal(row.preempt_from, 0);
	begin_world(&w);
	w.scratch.preempts = false;
	assert_int_equal(terms_of(&w, &w.runs).preempt_mode, SL_STOP_NONE);
	begin_world(&w);
	w.runs.qos_ptr = NULL;
	assert_int_equal(terms_of(&w, &w.runs).preempt_mode, SL_STOP_NONE);
}

static void a_component_is_stopped_as_all_of_its_heterogeneous_job(void **state)
{
	job_record_t other;
	struct sl_job_row row;
	struct world w;

	(void) state;
	begin_world(&w);
	w.runs.het_job_id = 1;
	w.runs.het_job_list = (sl_list_t) &component;
	other = w.runs;
	other.job_id = 2;
	other.qos_ptr = &w.standby;
	other.start_time = NOW - 100;
	other.het_job_list = NULL;
	leader = component[0] = &w.runs;
	component[1] = &other;
	w.low.preempt_mode = PREEMPT_MODE_CANCEL;
	w.details.requeue = other.batch_flag = 1;
	other.details = &w.details;
	row = terms_of(&w, &other);
	assert_int_equal(row.preempt_mode, SL_STOP_REQUEUE);
	assert_int_equal(row.preempt_from, NOW - 100);
	assert_int_equal(row.grace_time, 30);
	assert_int_equal(terms_of(&w, &w.runs).preempt_mode, SL_STOP_REQUEUE);
	other.qos_ptr = NULL;		/* one that nobody may preempt protects the other */
	assert_int_equal(terms_of(&w, &w.runs).preempt_mode, SL_STOP_NONE);
	leader = NULL;
}

/* -- whom a running job yields to --------------------------------------------------- */

static void a_running_job_is_safe_for_its_grace_time(void **state)
{
	struct world w;

	(void) state;
	begin_world(&w);
	assert_int_equal(sl_collect_safe_until(&w.scratch, &w.runs), NOW + 30);
}

static void a_job_that_is_suspended_counts_until_its_end_if_it_keeps_memory_or_gres(void **state)
{
	uint64_t memory[1] = { 100 };
	job_resources_t resources = { .memory_allocated = memory };
	struct world w;

	(void) state;
	begin_world(&w);
	w.low.preempt_mode = PREEMPT_MODE_SUSPEND;
	assert_int_equal(sl_collect_safe_until(&w.scratch, &w.runs), NOW);	/* it is not told before */
	w.runs.job_resrcs = &resources;
	assert_int_equal(sl_collect_safe_until(&w.scratch, &w.runs), NOW);
	w.scratch.memory = true;
	assert_int_equal(sl_collect_safe_until(&w.scratch, &w.runs), 0);
	w.scratch.memory = false;
	w.runs.gres_list_alloc = (sl_list_t) &w;
	assert_int_equal(sl_collect_safe_until(&w.scratch, &w.runs), 0);
}

/* It is preempted with all its components or not at all, and that one of them is no one's to preempt is not seen here. */
static void a_component_of_a_heterogeneous_job_counts_until_its_end(void **state)
{
	struct world w;

	(void) state;
	begin_world(&w);
	w.runs.het_job_id = 1;
	assert_int_equal(sl_collect_safe_until(&w.scratch, &w.runs), 0);
}

static void a_job_above_min_exempt_priority_counts_until_its_end(void **state)
{
	static const struct { const char *params; bool safe; } cases[] = {
		{ NULL, false }, { "", false }, { "youngest_first", false }, { "min_exempt_priority=1000", false },
		{ "min_exempt_priority=999", true }, { "youngest_first,Min_Exempt_Priority=0,reorder_count=5", true },
		{ "min_exempt_priority=UNLIMITED", false }, { "min_exempt_priority=4000000000", false },
		{ "min_exempt_priority=many", true },
	};

	(void) state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct world w;

		begin_world(&w);
		sl_collect_preempt_params(&w.scratch, cases[i].params);
		assert_int_equal(sl_collect_safe_until(&w.scratch, &w.runs), cases[i].safe ? 0 : NOW + 30);
		w.runs.qos_ptr = &w.standby;
		assert_int_equal(sl_collect_yields_after(&w.scratch, &w.runs), cases[i].safe ? 0 : 60);
	}
}

/* -- who preempts ------------------------------------------------------------------- */

static const char *whom(struct world *w)
{
	written[0] = '\0';
	if (!sl_collect_preempts(&w->collector, &w->waits))
		written[0] = '\0';
	sl_map_free(&w->scratch.preemptees);
	return written;
}

static void a_job_preempts_those_of_the_qos_of_its_own(void **state)
{
	struct world w;

	(void) state;
	begin_world(&w);
	assert_string_equal(whom(&w), "QOS=low,standby");
}

static void a_job_preempts_those_of_partitions_of_lower_tiers(void **state)
{
	struct world w;

	(void) state;
	begin_world(&w);
	slurm_conf.preempt_type = (char *) "preempt/partition_prio";
	assert_string_equal(whom(&w), "Partition=below");
}

/* Jobs of one QOS are seldom side by side, and slurmctld waits. */
static void each_qos_is_looked_up_once(void **state)
{
	struct world w;
	uint32_t first;

	(void) state;
	begin_world(&w);
	w.low.preempt_bitstr = w.high_preempts;
	first = sl_collect_preempts(&w.collector, &w.waits);
	w.waits.qos_ptr = &w.low;
	assert_int_not_equal(sl_collect_preempts(&w.collector, &w.waits), first);
	w.waits.qos_ptr = &w.high;
	assert_int_equal(sl_collect_preempts(&w.collector, &w.waits), first);
	assert_int_equal(walks, 2);
	/* meanwhile somebody had the locks: a QOS may be another one */
	sl_collect_forget_preempts(&w.scratch);
	w.low.name = (char *) "lower";
	assert_int_not_equal(sl_collect_preempts(&w.collector, &w.waits), first);
	assert_string_equal(written, "QOS=lower,standby");
	assert_int_equal(walks, 3);
	sl_map_free(&w.scratch.preemptees);
}

static void a_job_without_an_association_has_no_threshold(void **state)
{
	slurmdb_assoc_rec_t assoc = { 0 };
	struct world w;

	(void) state;
	begin_world(&w);
	w.waits.priority = 99;
	assert_true(sl_collect_reserves(&w.waits));
	w.waits.assoc_ptr = &assoc;
	assert_false(sl_collect_reserves(&w.waits));
	w.waits.priority = 100;
	assert_true(sl_collect_reserves(&w.waits));
}

static uint32_t how(struct world *w)
{
	return sl_collect_preempts_how(&w->waits);
}

static void of_its_priority_the_snapshot_says_what_it_decides(void **state)
{
	struct world w;

	(void) state;
	begin_world(&w);
	assert_int_equal(how(&w), 0);
	slurm_conf.preempt_mode |= SL_PREEMPT_PRIORITY;
	assert_string_equal(whom(&w), "QOS=low,standby");
	assert_int_equal(how(&w), SL_JOBF_PREEMPTS_LOWER);
	begin_world(&w);
	w.high.preempt_mode = PREEMPT_MODE_REQUEUE | SL_PREEMPT_PRIORITY;
	assert_int_equal(how(&w), SL_JOBF_PREEMPTS_LOWER);
	begin_world(&w);
	w.low.preempt_mode = PREEMPT_MODE_REQUEUE | SL_PREEMPT_PRIORITY;	/* the preemptor's counts */
	assert_int_equal(how(&w), 0);
	begin_world(&w);
	slurm_conf.preempt_type = (char *) "preempt/partition_prio";
	w.above.preempt_mode = PREEMPT_MODE_REQUEUE | SL_PREEMPT_PRIORITY;
	assert_int_equal(how(&w), SL_JOBF_PREEMPTS_LOWER);
	w.above.preempt_mode = NO_VAL16;	/* the cluster's: all bits are set in it */
	assert_int_equal(how(&w), 0);
}

static void a_job_may_preempt_within_its_qos_where_that_or_the_cluster_says_so(void **state)
{
	struct world w;

	(void) state;
	begin_world(&w);
	assert_false(sl_collect_preempts_within(&w.waits));
	w.high.preempt_mode = PREEMPT_MODE_REQUEUE | PREEMPT_MODE_WITHIN;
	assert_true(sl_collect_preempts_within(&w.waits));
	assert_int_equal(how(&w), SL_JOBF_PREEMPTS_WITHIN);
	begin_world(&w);
	slurm_conf.preempt_mode |= PREEMPT_MODE_WITHIN;
	assert_true(sl_collect_preempts_within(&w.waits));
	slurm_conf.preempt_type = (char *) "preempt/partition_prio";	/* it knows no such thing */
	assert_false(sl_collect_preempts_within(&w.waits));
	assert_int_equal(how(&w), 0);
}

static void a_job_that_expands_another_names_nobody(void **state)
{
	struct world w;

	(void) state;
	begin_world(&w);
	w.details.expanding_jobid = 1;
	assert_string_equal(whom(&w), "");
}

static void a_job_borrows_where_it_can_be_told_to_end_as_early_as_a_reservation_waits(void **state)
{
	slurmctld_resv_t resv = { .max_start_delay = 600 };
	struct world w;

	(void) state;
	begin_world(&w);
	w.waits.warn_flags = KILL_JOB_RESV;
	w.waits.warn_time = 600;
	assert_int_equal(sl_collect_borrows(&w.scratch, &w.waits), 0);
	w.scratch.start_delay = 600;
	assert_int_equal(sl_collect_borrows(&w.scratch, &w.waits), SL_JOBF_BORROWS | SL_JOBF_MAY_PREEMPT);
	w.waits.warn_time = 601;
	assert_int_equal(sl_collect_borrows(&w.scratch, &w.waits), 0);
	w.waits.warn_flags = 0;
	w.waits.warn_time = 0;
	assert_int_equal(sl_collect_borrows(&w.scratch, &w.waits), 0);
	w.waits.resv_name = (char *) "r";
	w.waits.resv_ptr = &resv;
	assert_int_equal(sl_collect_borrows(&w.scratch, &w.waits), SL_JOBF_MAY_PREEMPT);
	resv.max_start_delay = 0;
	assert_int_equal(sl_collect_borrows(&w.scratch, &w.waits), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_is_stopped_as_slurm_would),
		cmocka_unit_test(a_job_that_nobody_may_preempt_is_never_stopped),
		cmocka_unit_test(a_component_is_stopped_as_all_of_its_heterogeneous_job),
		cmocka_unit_test(a_running_job_is_safe_for_its_grace_time),
		cmocka_unit_test(a_job_that_is_suspended_counts_until_its_end_if_it_keeps_memory_or_gres),
		cmocka_unit_test(a_component_of_a_heterogeneous_job_counts_until_its_end),
		cmocka_unit_test(a_job_above_min_exempt_priority_counts_until_its_end),
		cmocka_unit_test(a_job_preempts_those_of_the_qos_of_its_own),
		cmocka_unit_test(a_job_preempts_those_of_partitions_of_lower_tiers),
		cmocka_unit_test(each_qos_is_looked_up_once),
		cmocka_unit_test(a_job_without_an_association_has_no_threshold),
		cmocka_unit_test(of_its_priority_the_snapshot_says_what_it_decides),
		cmocka_unit_test(a_job_may_preempt_within_its_qos_where_that_or_the_cluster_says_so),
		cmocka_unit_test(a_job_that_expands_another_names_nobody),
		cmocka_unit_test(a_job_borrows_where_it_can_be_told_to_end_as_early_as_a_reservation_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
