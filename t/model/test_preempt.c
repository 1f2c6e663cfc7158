/* SPDX-License-Identifier: MIT */
/*
 * The cheapest running jobs to stop for a job: what the plan chooses is compared with all sets that there are, on random machines,
 * and each rule has a test of its own.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check/check.h"
#include "image/copy.h"
#include "model/preempt.h"
#include "t/model/desk.h"

#define PREEMPTOR 100

/* What each job costs, by id, and who may be stopped. */
struct policy {
	const struct build *b;
	double cost[PREEMPTOR];
	bool spared[PREEMPTOR];
};

static int cost_of(void *arg, uint32_t victim, uint32_t job, double *cost, struct sl_error *err)
{
	const struct policy *p = arg;

	(void) job;
	(void) err;
	*cost = p->cost[p->b->snap.job.id[victim]];
	return 0;
}

static int may(void *arg, uint32_t victim, uint32_t job, struct sl_error *err)
{
	const struct policy *p = arg;

	(void) job;
	(void) err;
	return !p->spared[p->b->snap.job.id[victim]];
}

static struct sl_preempt_terms terms_of(struct policy *p)
{
	return (struct sl_preempt_terms) { .wait_price = -1, .may = may, .cost = cost_of, .arg = p };
}

/* Ask the plan; the answer is to be freed. */
static int preempt_on(struct desk *d, uint32_t id, const struct sl_preempt_terms *terms, struct sl_preempt_answer *answer)
{
	return checked(d, sl_plan_preempt(d->p, entry(d, id), terms, answer, &d->err));
}

/* -- random machines ---------------------------------------------------------------- */

struct machine {
	struct build *b;
	struct policy policy;
	uint32_t victims;		/* jobs 1 to that run */
	uint32_t gang[PREEMPTOR];	/* by id; 0: none */
	bool stoppable[PREEMPTOR];
};

static void add_running(struct machine *m, uint64_t *seed, uint32_t nodes, uint32_t *cores, uint32_t *gpus,
			int64_t *memory)
{
	uint32_t first = build_below(seed, nodes), wide = !build_below(seed, 4) && first + 1 < nodes ? 2 : 1, id = m->victims + 1;
	uint32_t most = cores[first], most_gpus = gpus[first];
	int64_t most_memory = memory[first];
	struct build_job j = { .id = id, .first = first, .nodes = wide, .ends_in = 600 + 600 * (int64_t) build_below(seed, 4) };

	for (uint32_t n = first; n < first + wide; n++) {
		most = cores[n] < most ? cores[n] : most;
		most_gpus = gpus[n] < most_gpus ? gpus[n] : most_gpus;
		most_memory = memory[n] < most_memory ? memory[n] : most_memory;
	}
	if (!most)
		return;
	j.cores = 1 + build_below(seed, most < 3 ? most : 3);
	j.gpus = build_below(seed, 3) ? 0 : build_below(seed, most_gpus + 1);
	j.memory = build_below(seed, 2) ? build_below(seed, (uint32_t) most_memory / 2 + 1) : 0;
	for (uint32_t n = first; n < first + wide; n++) {
		cores[n] -= j.cores;
		gpus[n] -= j.gpus;
		memory[n] -= j.memory;
	}
	build_running(m->b, j);
	m->victims++;
	m->policy.cost[id] = build_below(seed, 12);
	m->policy.spared[id] = !build_below(seed, 8);
	m->stoppable[id] = build_below(seed, 8) != 0;
	if (m->stoppable[id])
		build_stoppable(m->b, id, build_below(seed, 2) ? SL_STOP_CANCEL : SL_STOP_REQUEUE);
	if (!build_below(seed, 4)) {
		char says[16];

		m->gang[id] = 1 + build_below(seed, 2);
		snprintf(says, sizeof(says), "gang=%" PRIu32, m->gang[id]);
		build_change_job(m->b, id, .comment = sl_builder_str(m->b->builder, says));
	}
}

/* The same for the same seed, but for whether job 100 may preempt. */
static struct machine make_machine(uint64_t seed, bool may_preempt)
{
	uint32_t nodes = 1 + build_below(&seed, 4), each = 2 + build_below(&seed, 5), gpu = build_below(&seed, 2) ? 4 : 0;
	int64_t memory[8];
	uint32_t cores[8], gpus[8], most = 3 + build_below(&seed, 10);
	struct machine m = { .victims = 0 };
	struct build_job j = { .id = PREEMPTOR, .limit = 1800 };
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu32 "x%" PRIu32 "c%" PRIu32 "g1000m", nodes, each, gpu);
	m.b = build_create(text);
	for (uint32_t n = 0; n < nodes; n++) {
		cores[n] = each;
		gpus[n] = gpu;
		memory[n] = 1000;
	}
	for (uint32_t i = 0; i < 30 * most && m.victims < most; i++)
		add_running(&m, &seed, nodes, cores, gpus, memory);
	j.nodes = 1 + build_below(&seed, nodes);
	if (build_below(&seed, 3))
		j.tasks = j.nodes * (1 + (each > 1 ? each / 2 : 0) + build_below(&seed, each / 2));
	else
		j.exclusive = build_below(&seed, 2);
	j.max_nodes = build_below(&seed, 2) ? j.nodes : nodes;
	j.gpus = build_below(&seed, gpu + 1);
	j.memory = 1 + build_below(&seed, 600);
	build_pending(m.b, j);
	if (may_preempt)
		build_may_preempt(m.b, PREEMPTOR);
	build_open(m.b);
	m.policy.b = m.b;
	return m;
}

/* Would job 100 start if these jobs (bits by id - 1) had never been? */
static bool fits_without(const struct machine *plain, uint32_t gone)
{
	struct sl_error err;
	struct sl_cluster *c = sl_cluster_create(&plain->b->snap, &err);
	struct sl_plan *p;
	bool fits;

	assert_non_null(c);
	for (uint32_t id = 1; id <= plain->victims; id++)
		if (gone >> (id - 1) & 1)
			assert_int_equal(sl_cluster_finish(c, build_job_row(plain->b, id), &err), 0);
	p = sl_plan_create(c, &err);
	fits = sl_plan_start(p, (struct sl_entry) { .job = build_job_row(plain->b, PREEMPTOR) }, NULL, NULL, &err) > 0;
	sl_plan_destroy(p);
	sl_cluster_destroy(c);
	return fits;
}

/* The jobs that may be stopped, but that of a gang all or none may. */
static uint32_t permitted_of(const struct machine *m)
{
	uint32_t bits = 0;
	bool spared[3] = { false };

	for (uint32_t id = 1; id <= m->victims; id++)
		if (!m->stoppable[id] || m->policy.spared[id])
			spared[m->gang[id]] = true;
	for (uint32_t id = 1; id <= m->victims; id++)
		if (m->stoppable[id] && !m->policy.spared[id] && !(m->gang[id] && spared[m->gang[id]]))
			bits |= 1u << (id - 1);
	return bits;
}

static bool splits_a_gang(const struct machine *m, uint32_t set)
{
	for (uint32_t a = 1; a <= m->victims; a++)
		for (uint32_t b = 1; b < a; b++)
			if (m->gang[a] && m->gang[a] == m->gang[b] && (set >> (a - 1) & 1) != (set >> (b - 1) & 1))
				return true;
	return false;
}

static double cost_of_set(const struct machine *m, uint32_t set)
{
	double sum = 0;

	for (uint32_t id = 1; id <= m->victims; id++)
		sum += set >> (id - 1) & 1 ? m->policy.cost[id] : 0;
	return sum;
}

/* The least that any set costs; INFINITY: none would do. */
static double find_cheapest(const struct machine *m, const struct machine *plain)
{
	uint32_t permitted = permitted_of(m), all = 1u << m->victims;
	double best = INFINITY;

	if (!fits_without(plain, permitted))
		return best;
	for (uint32_t set = 0; set < all; set++) {
		double cost = cost_of_set(m, set);

		if (!(set & ~permitted) && cost < best && !splits_a_gang(m, set) && fits_without(plain, set))
			best = cost;
	}
	return best;
}

static uint32_t bits_of(const struct machine *m, const struct sl_preempt_answer *a)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < a->victims; i++)
		bits |= 1u << (m->b->snap.job.id[a->victim[i]] - 1);
	return bits;
}

/* All of a gang that one of the set is in; else it alone. */
static uint32_t group_of(const struct machine *m, uint32_t id)
{
	uint32_t bits = 1u << (id - 1);

	for (uint32_t other = 1; other <= m->victims; other++)
		if (m->gang[id] && m->gang[other] == m->gang[id])
			bits |= 1u << (other - 1);
	return bits;
}

/* What the checker says of the desk's plan without that stop (SL_NONE: with all), or with one more; NULL: it is accepted. */
static const char *check_with(struct desk *d, uint32_t without, const struct sl_plan_stop_row *more)
{
	static struct sl_error err;
	const uint32_t *map[SL_PLAN_TABLES] = { 0 };
	struct sl_builder *to = sl_builder_create(&sl_plan_schema, &err);
	struct sl_image_copy copy = { .image = &d->plan.image, .view = &d->plan, .to = to, .map = map };
	struct sl_plan_image plan;
	const void *bytes;
	size_t size;
	int rc;

	for (int t = 0; t < SL_PLAN_TABLES; t++)
		if (!sl_plan_schema.table[t].nested && t != SL_P_STOP)
			sl_image_copy_table(&copy, t);
	for (uint32_t i = 0; i < d->plan.stop.rows; i++) {
		struct sl_plan_stop_row row;

		sl_image_copy_row(&copy, SL_P_STOP, i, &row);
		if (i != without)
			sl_builder_append(to, SL_P_STOP, &row);
	}
	if (more)
		sl_builder_append(to, SL_P_STOP, more);
	assert_int_equal(sl_builder_finish(to, &bytes, &size, &err), 0);
	assert_int_equal(sl_plan_image_open(&plan, bytes, size, &err), 0);
	rc = sl_check_plan(&d->b->snap, &plan, &err);
	sl_builder_destroy(to);
	return rc ? err.text : NULL;
}

/* The checker accepts the plan, and not without any of its stops, nor with one that gives nothing. */
static void look_through(struct desk *d, const struct machine *m, uint32_t set)
{
	accepted(d);
	for (uint32_t i = 0; i < d->plan.stop.rows; i++)
		assert_non_null(check_with(d, i, NULL));
	for (uint32_t id = 1; d->plan.stop.rows && id <= m->victims; id++) {
		struct sl_plan_stop_row more = { .job = id, .preemptor = PREEMPTOR, .group = 1000,
			.start_time = d->b->snap.job.start_time[build_job_row(d->b, id)] };

		if (!(set >> (id - 1) & 1))
			assert_non_null(check_with(d, SL_NONE, &more));
	}
}

static void compare_with_all_sets(uint64_t seed, uint32_t tally[SL_VERDICTS])
{
	struct machine m = make_machine(seed, true), plain = make_machine(seed, false);
	struct sl_preempt_terms terms = terms_of(&m.policy);
	struct sl_preempt_answer answer;
	struct desk d = sit(m.b);
	double cheapest = find_cheapest(&m, &plain);
	int rc = preempt_on(&d, PREEMPTOR, &terms, &answer);
	uint32_t set = bits_of(&m, &answer);

	if (isinf(cheapest) != !rc || (rc && fabs(cheapest - answer.cost) > 1e-6))
		fail_msg("seed %" PRIu64 ": the plan says %s at %g (%s), all sets %g", seed, sl_verdict_word(answer.verdict), answer.cost,
			 sl_refusal_text(&answer.why), cheapest);
	assert_int_equal(answer.verdict, rc ? SL_VERDICT_OPTIMAL : SL_VERDICT_IMPOSSIBLE);
	tally[answer.verdict]++;
	tally[SL_VERDICT_NONE] += answer.victims > 2;
	if (!rc) {
		accepted(&d);
		tally[SL_VERDICT_UNPROVEN] += d.plan.shortage.rows;
	}
	if (rc) {
		assert_true(fits_without(&plain, set));
		assert_false(set & ~permitted_of(&m));
		assert_false(splits_a_gang(&m, set));
		for (uint32_t id = 1; id <= m.victims; id++)
			if (set >> (id - 1) & 1)
				assert_false(fits_without(&plain, set & ~group_of(&m, id)));
		look_through(&d, &m, set);
		assert_int_equal(d.plan.stop.rows, answer.victims);
	}
	sl_preempt_answer_free(&answer);
	build_destroy(plain.b);
	leave(&d);
}

static void no_other_set_costs_less_on_any_of_500_machines(void **state)
{
	uint32_t tally[SL_VERDICTS] = { 0 };

	(void) state;
	for (uint64_t seed = 1; seed <= 500; seed++)
		compare_with_all_sets(seed, tally);
	assert_true(tally[SL_VERDICT_OPTIMAL] > 150);
	assert_true(tally[SL_VERDICT_IMPOSSIBLE] > 50);
	assert_true(tally[SL_VERDICT_NONE] > 50);	/* of more than two jobs */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_other_set_costs_less_on_any_of_500_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
