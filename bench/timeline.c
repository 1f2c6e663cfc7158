/* SPDX-License-Identifier: MIT */
/*
 * timeline.c - what free resources over time and placement cost, without any
 * policy around them.
 *
 *	bench/timeline [NODES [PENDING [ROUNDS [METHOD]]]]
 *
 * Without arguments: 1,000, 10,000 and 100,000 nodes with 10,000 pending jobs, one
 * JSON object a line.  Nodes have 8 cores; half of them are busy with NODES / 10
 * running jobs.  Medians over the rounds:
 *	build_ms	timeline made, running jobs booked
 *	easy_ms		one EASY cycle over all pending jobs: start while it fits, reserve
 *			the first that does not, backfill the rest beside it
 *	conservative_ms	earliest start and booking of the first 1,000 pending jobs
 *	rollback_ms	taking that back
 *	refuse_ns	asking for a node with free cores when there is none
 *	start_ns	best fit, booking and undo of 4 nodes
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/measure.h"
#include "timeline/place.h"
#include "t/random.h"

enum { BUILD, EASY, CONSERVATIVE, ROLLBACK, REFUSE, START, STEPS };

static const char *const step_name[STEPS] = {
	"build_ms", "easy_ms", "conservative_ms", "rollback_ms", "refuse_ns", "start_ns",
};

struct scene {
	uint32_t nodes, pending;
	struct sl_how how;
	struct sl_timeline *tl;
	struct sl_request *queue;
	struct sl_layout layout;
	uint32_t started, classes, classes_after, reserved;
	uint64_t steps_after;
	size_t bytes;
};

static int fail(const struct sl_error *err)
{
	fprintf(stderr, "bench/timeline: %s\n", err->text);
	return -1;
}

static void random_request(struct sl_request *r, uint32_t nodes)
{
	uint32_t kind = below(10), most = nodes / 20 > 2 ? nodes / 20 : 2;

	*r = (struct sl_request) { .min_nodes = 1, .memory_per_core = 1000 };
	r->duration = 60 * between(1, one_in(3) ? 1440 : 240);
	if (kind < 5) {		/* part of a node */
		r->tasks = 1 + below(8);
		r->max_nodes = 1;
	} else if (kind < 9) {	/* some nodes */
		r->min_nodes = r->max_nodes = 1 + below(most < 32 ? most : 32);
		r->cores = 8 * r->min_nodes;
	} else {
		r->min_nodes = r->max_nodes = 1 + below(most);
		r->cores = 8 * r->min_nodes;
	}
}

/* Half of the nodes, in jobs of 5 nodes on the average. */
static int run_jobs(struct scene *s, struct sl_error *err)
{
	uint32_t n = 0;

	while (n < s->nodes) {
		struct sl_nodeset set = SL_NODESET_EMPTY;
		struct sl_resources each = { .cores = one_in(3) ? (int32_t) between(1, 8) : 8, .memory = 4000 };
		uint32_t want = 1 + below(9), gap = 1 + below(9), last = n + want - 1;
		int rc;

		if (last >= s->nodes)
			last = s->nodes - 1;
		rc = sl_nodeset_add(&set, n, last, err) ||
		     sl_timeline_book(s->tl, &set, &each, 0, 60 * between(1, 1440), err);
		sl_nodeset_free(&set);
		if (rc)
			return -1;
		n = last + 1 + gap;
	}
	return 0;
}

static int build(struct scene *s, struct sl_error *err)
{
	const struct sl_node_kind kind = { .capacity = { .cores = 8, .memory = 64000 }, .weight = 1 };
	uint32_t *kind_of = calloc(s->nodes, sizeof(*kind_of));

	random_state = 1;
	if (!kind_of)
		return sl_fail(err, SL_ENOMEM, "out of memory");
	s->tl = sl_timeline_create(s->nodes, kind_of, &kind, 1, 0, err);
	free(kind_of);
	return s->tl ? run_jobs(s, err) : -1;
}

static int start(struct scene *s, const struct sl_request *r, struct sl_error *err)
{
	int rc = sl_fit_at(s->tl, r, &s->how, 0, &s->layout, NULL, err);

	if (rc == 1 && sl_layout_book(s->tl, &s->layout, 0, r->duration, err))
		return -1;
	s->started += rc == 1;
	return rc;
}

static int easy(struct scene *s, struct sl_error *err)
{
	bool head = false;

	s->started = 0;
	for (uint32_t i = 0; i < s->pending; i++) {
		const struct sl_request *r = &s->queue[i];
		int rc = start(s, r, err);
		int64_t t;

		if (rc < 0)
			return -1;
		if (rc || head)
			continue;
		head = true;
		rc = sl_fit_earliest(s->tl, r, &s->how, 0, SL_FOREVER, &t, &s->layout, NULL, err);
		if (rc < 0 || (rc == 1 && sl_layout_book(s->tl, &s->layout, t, t + r->duration, err)))
			return -1;
	}
	return 0;
}

static int conservative(struct scene *s, struct sl_error *err)
{
	struct sl_timeline_figures f;

	s->reserved = 0;
	for (uint32_t i = 0; i < s->pending && i < 1000; i++) {
		const struct sl_request *r = &s->queue[i];
		int64_t t;
		int rc = sl_fit_earliest(s->tl, r, &s->how, 0, SL_FOREVER, &t, &s->layout, NULL, err);

		if (rc < 0 || (rc == 1 && sl_layout_book(s->tl, &s->layout, t, t + r->duration, err)))
			return -1;
		s->reserved += rc == 1 && t > 0;
	}
	sl_timeline_figures(s->tl, &f);
	s->classes_after = f.classes;
	s->steps_after = f.steps;
	s->bytes = f.bytes;
	return 0;
}

/* Everything busy: how long does a no take? */
static int refuse(struct scene *s, double *ns, struct sl_error *err)
{
	struct sl_nodeset all = SL_NODESET_EMPTY;
	const struct sl_request r = { .min_nodes = 1, .tasks = 2, .duration = 600 };
	uint32_t mark = sl_timeline_mark(s->tl);
	double t;

	if (sl_nodeset_add(&all, 0, s->nodes - 1, err))
		return -1;
	if (sl_timeline_block(s->tl, &all, 0, SL_FOREVER, err))
		return -1;
	sl_nodeset_free(&all);
	t = wall_ms();
	for (int i = 0; i < 1000; i++) {
		if (sl_fit_at(s->tl, &r, &s->how, 0, &s->layout, NULL, err))
			return sl_fail(err, SL_EINVAL, "a full machine took a job");
	}
	*ns = (wall_ms() - t) * 1e3;
	sl_timeline_rollback(s->tl, mark);
	return 0;
}

static int start_and_undo(struct scene *s, double *ns, struct sl_error *err)
{
	const struct sl_request r = { .min_nodes = 4, .cores = 32, .duration = 600 };
	double t = wall_ms();

	for (int i = 0; i < 100; i++) {
		uint32_t mark = sl_timeline_mark(s->tl);

		if (start(s, &r, err) < 0)
			return -1;
		sl_timeline_rollback(s->tl, mark);
	}
	*ns = (wall_ms() - t) * 1e4;
	return 0;
}

static int pass(struct scene *s, double figure[STEPS], struct sl_error *err)
{
	struct sl_timeline_figures f;
	double t[6];
	uint32_t mark;

	t[0] = wall_ms();
	if (build(s, err))
		return -1;
	t[1] = wall_ms();
	sl_timeline_figures(s->tl, &f);
	s->classes = f.classes;
	if (refuse(s, &figure[REFUSE], err) || start_and_undo(s, &figure[START], err))
		return -1;
	mark = sl_timeline_mark(s->tl);
	t[2] = wall_ms();
	if (easy(s, err))
		return -1;
	t[3] = wall_ms();
	sl_timeline_rollback(s->tl, mark);
	mark = sl_timeline_mark(s->tl);
	t[4] = wall_ms();
	if (conservative(s, err))
		return -1;
	t[5] = wall_ms();
	sl_timeline_rollback(s->tl, mark);
	figure[ROLLBACK] = wall_ms() - t[5];
	figure[BUILD] = t[1] - t[0];
	figure[EASY] = t[3] - t[2];
	figure[CONSERVATIVE] = t[5] - t[4];
	sl_timeline_destroy(s->tl);
	s->tl = NULL;
	return 0;
}

static int measure(uint32_t nodes, uint32_t pending, int rounds, const char *method)
{
	struct scene s = { .nodes = nodes, .pending = pending, .how = { .method = sl_place_method(method, NULL) },
			   .layout = SL_LAYOUT_EMPTY };
	static double figure[MAX_ROUNDS][STEPS];
	struct sl_error err = { .code = SL_OK };
	int rc = 0;

	s.queue = calloc(pending, sizeof(*s.queue));
	random_state = 2;
	for (uint32_t i = 0; s.queue && i < pending; i++)
		random_request(&s.queue[i], nodes);
	for (int i = 0; i < rounds && !rc; i++)
		rc = s.queue ? pass(&s, figure[i], &err) : sl_fail(&err, SL_ENOMEM, "out of memory");
	if (!rc) {
		printf("{\"nodes\": %u, \"pending\": %u, \"rounds\": %d, \"place\": \"%s\"", nodes, pending, rounds,
		       method);
		print_medians(step_name, STEPS, figure[0], rounds, 3);
		printf(", \"classes\": %u, \"started\": %u, \"reserved\": %u, \"classes_after\": %u, "
		       "\"steps_after\": %llu, \"bytes\": %zu}\n", s.classes, s.started, s.reserved, s.classes_after,
		       (unsigned long long) s.steps_after, s.bytes);
		fflush(stdout);
	}
	free(s.queue);
	sl_layout_free(&s.layout);
	sl_timeline_destroy(s.tl);
	return rc ? fail(&err) : 0;
}

int main(int argc, char **argv)
{
	uint32_t nodes = argc > 1 ? (uint32_t) atoi(argv[1]) : 0, pending = argc > 2 ? (uint32_t) atoi(argv[2]) : 10000;
	const char *method = argc > 4 ? argv[4] : "bestfit";
	int rounds = argc > 3 ? atoi(argv[3]) : 5;

	if (argc > 5 || rounds < 1 || rounds > MAX_ROUNDS || sl_place_method(method, NULL) < 0 || (argc > 1 && !nodes)) {
		fprintf(stderr, "usage: bench/timeline [NODES [PENDING [ROUNDS [METHOD]]]]\n");
		return 2;
	}
	if (nodes)
		return measure(nodes, pending, rounds, method) ? 1 : 0;
	for (nodes = 1000; nodes <= 100000; nodes *= 10) {
		if (measure(nodes, pending, rounds, method))
			return 1;
	}
	return 0;
}
