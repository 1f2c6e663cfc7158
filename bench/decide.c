/* SPDX-License-Identifier: MIT */
/*
 * decide.c - what a cycle costs in the engine that slurmctld would start.
 *
 *	bench/decide NODES PENDING POLICY[,OPTION=VALUE...] [ROUNDS [PROGRAM]]
 *
 * A snapshot of a busy machine (busy.h) goes to `PROGRAM engine` over the wire, as
 * from the plug-in, ROUNDS times (5) after one that warms up.  One JSON object:
 * what came of it and, in microseconds, median, least and most over the rounds.
 *	encode_us	the image laid out
 *	send_us		written to a memfd, sealed, sent
 *	validate_us	mapped and validated, as the engine does it (measured here, on the
 *			same image; a part of engine_us)
 *	handover_us	these three
 *	policy_us	in the policy: the plan's decide_us
 *	engine_us	from the snapshot's arrival to the plan: validated, cluster model and a
 *			fresh Lua state made, policy run
 *	answer_us	from sending the frame to the answer: engine_us, and the plan encoded,
 *			checked and sent
 *	cycle_us	all from the rows to the answer
 *	handover_cpu_us, engine_cpu_us	CPU time of handover_us here, and of the engine in the
 *			cycle: what others on a busy machine take does not count
 *	peak_kib	the most memory the engine has had, with what it shares (the snapshot)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/busy.h"
#include "base/order.h"
#include "bench/engine_client.h"
#include "base/clock.h"
#include "image/json_out.h"
#include "image/plan_image.h"

#define BUDGET_US INT64_C(600000000)	/* a budget that ends the policy would spoil what is measured */
#define MAX_ROUNDS 101

enum { ENCODE, SEND, VALIDATE, HANDOVER, POLICY, ENGINE, ANSWER, CYCLE, HANDOVER_CPU, ENGINE_CPU, STEPS };

static const char *const step_name[STEPS] = {
	"encode_us", "send_us", "validate_us", "handover_us", "policy_us", "engine_us", "answer_us", "cycle_us",
	"handover_cpu_us", "engine_cpu_us",
};

struct run {
	struct busy machine;
	const char *policy, *options;
	struct engine_client engine;
	struct sl_builder *b;
	int rounds;
	int64_t us[STEPS][MAX_ROUNDS];
	size_t bytes;
	uint32_t examined, started, reserved;
	long peak_kib;
};

/* What the engine does first; the image is one that was sent before. */
static int validate(const void *bytes, size_t size, int64_t us[STEPS], struct sl_error *err)
{
	int fd = sl_wire_memfd("snapshot", bytes, size, err), rc = -1;
	struct sl_snapshot snap;
	const void *mapped;
	size_t mapped_size;
	int64_t from, cpu;

	if (fd < 0)
		return -1;
	from = sl_clock_us();
	cpu = clock();
	if (!sl_wire_map(fd, &mapped, &mapped_size, err)) {
		rc = sl_snapshot_open(&snap, mapped, mapped_size, err);
		us[VALIDATE] = sl_clock_us() - from;
		us[HANDOVER_CPU] += clock() - cpu;
		sl_wire_unmap(mapped, mapped_size);
	}
	close(fd);
	return rc;
}

static int read_plan(struct run *r, const struct engine_times *t, int64_t us[STEPS], struct sl_error *err)
{
	struct sl_plan_image plan;

	if (sl_plan_image_open(&plan, t->plan, t->plan_size, err))
		return -1;
	if (plan.meta.truncated[0])
		return sl_fail(err, SL_ETIME, "the budget ended the policy");
	us[POLICY] = plan.meta.decide_us[0];
	us[ENGINE] = plan.meta.total_us[0];
	r->examined = plan.meta.examined[0];
	r->started = plan.start.rows;
	r->reserved = plan.reserve.rows;
	return 0;
}

static int pass(struct run *r, int64_t us[STEPS], struct sl_error *err)
{
	int64_t from = sl_clock_us(), cpu = clock();
	struct engine_times t = { 0 };
	const void *bytes;
	int rc;

	if (sl_builder_finish(r->b, &bytes, &r->bytes, err))
		return -1;
	us[ENCODE] = sl_clock_us() - from;
	us[ENGINE_CPU] = -engine_cpu_us(&r->engine);
	if (engine_decide(&r->engine, bytes, r->bytes, 1, BUDGET_US, &t, err))
		return -1;
	us[HANDOVER_CPU] = clock() - cpu;	/* waiting takes none */
	us[ENGINE_CPU] += engine_cpu_us(&r->engine);
	us[SEND] = t.memfd + t.send;
	us[ANSWER] = t.trip;
	us[CYCLE] = us[ENCODE] + t.memfd + t.trip;
	rc = read_plan(r, &t, us, err);
	sl_wire_unmap(t.plan, t.plan_size);
	if (rc || validate(bytes, r->bytes, us, err))
		return -1;
	us[HANDOVER] = us[ENCODE] + us[SEND] + us[VALIDATE];
	return 0;
}

static int measure(struct run *r, struct sl_error *err)
{
	int64_t us[STEPS];

	if (busy_snapshot(r->b, &r->machine, err))
		return -1;
	for (int i = -1; i < r->rounds; i++) {	/* the first warms up */
		if (pass(r, us, err))
			return -1;
		for (int s = 0; s < STEPS && i >= 0; s++)
			r->us[s][i] = us[s];
	}
	r->peak_kib = engine_peak_kib(&r->engine);
	for (int s = 0; s < STEPS; s++)
		qsort(r->us[s], (size_t) r->rounds, sizeof(int64_t), sl_order_i64);
	return 0;
}

static void print(struct run *r)
{
	struct sl_json *j = sl_json_create(stdout, NULL);

	sl_json_begin_object(j);
	sl_json_put_int(j, "nodes", r->machine.nodes);
	sl_json_put_int(j, "running", r->machine.running);
	sl_json_put_int(j, "pending", r->machine.pending);
	sl_json_put_real(j, "busy", r->machine.busy);
	sl_json_put_str(j, "policy", r->policy);
	sl_json_put_str(j, "options", r->options);
	sl_json_put_int(j, "rounds", r->rounds);
	sl_json_put_int(j, "bytes", (int64_t) r->bytes);
	sl_json_put_int(j, "examined", r->examined);
	sl_json_put_int(j, "started", r->started);
	sl_json_put_int(j, "reserved", r->reserved);
	for (int s = 0; s < STEPS; s++) {
		sl_json_open_object(j, step_name[s]);
		sl_json_put_int(j, "p50", r->us[s][r->rounds / 2]);
		sl_json_put_int(j, "min", r->us[s][0]);
		sl_json_put_int(j, "max", r->us[s][r->rounds - 1]);
		sl_json_end_object(j);
	}
	sl_json_put_int(j, "peak_kib", r->peak_kib);
	sl_json_end_object(j);
	sl_json_end_line(j);
	sl_json_finish(j, NULL, NULL, NULL);
	sl_json_destroy(j);
}

static int read_arguments(struct run *r, int argc, char **argv)
{
	char *comma;

	if (argc < 4)
		return -1;
	r->machine = (struct busy) { .nodes = (uint32_t) strtoul(argv[1], NULL, 0),
				     .pending = (uint32_t) strtoul(argv[2], NULL, 0), .seed = 1 };
	r->policy = argv[3];
	r->options = "";
	comma = strchr(argv[3], ',');
	if (comma) {
		*comma = '\0';
		r->options = comma + 1;
	}
	r->rounds = argc > 4 ? atoi(argv[4]) : 5;
	return r->machine.nodes && r->rounds >= 1 && r->rounds <= MAX_ROUNDS ? 0 : -1;
}

int main(int argc, char **argv)
{
	static struct run r;
	struct sl_error err = { .text = "no memory" };
	int rc = 1;

	if (read_arguments(&r, argc, argv)) {
		fprintf(stderr, "usage: bench/decide NODES PENDING POLICY[,OPTION=VALUE...] [ROUNDS [PROGRAM]]\n");
		return 2;
	}
	r.b = sl_builder_create(&sl_snapshot_schema, &err);
	if (r.b && !engine_start(&r.engine, argc > 5 ? argv[5] : "./schedlua", r.policy, r.options, &err) &&
	    !measure(&r, &err))
		rc = 0;
	engine_stop(&r.engine);
	if (rc)
		fprintf(stderr, "bench/decide: %s\n", err.text);
	else
		print(&r);
	sl_builder_destroy(r.b);
	return rc;
}
