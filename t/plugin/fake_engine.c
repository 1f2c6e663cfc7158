/* SPDX-License-Identifier: MIT */
/*
 * fake_engine.c - an engine that misbehaves on demand, to test the plug-in.
 *
 * Speaks the frames of image/wire.h on descriptor 3, as `schedlua engine` does, and
 * plans first fit in queue order, without a timeline.  What it does wrong is
 * read, at each step, from the file <path of this program>.mode:
 *
 *   ok                      nothing
 *   exit-hello exit-load exit-decide        ends at that step
 *   hang-hello hang-load hang-decide        stops answering at that step
 *   stop-decide             SIGSTOPs itself
 *   garbage                 a plan of random bytes
 *   truncated               a plan image cut in half
 *   wrong-frame             another frame than the one expected
 *   wrong-sequence          the plan of another cycle
 *   version                 HELLO of another version
 *   stale                   plans with stamps that are wrong
 *   impossible              starts on nodes that do not exist, of jobs that do not exist
 *   blind                   places for jobs with constraints, wherever there is room
 *   overbook                every job on node 0 with all its cores
 *   refuse                  LOADED says no
 *   no-plan                 PLAN says no, with a reason
 *   hold                    LOADED says that the partition "small" is held on failure
 *   babble                  megabytes on stderr
 *   frame-* fd-* plan-* kept-* forge figures	what fake_hostile.h says
 *   stops                   what fake_stops.h says
 *   layout                  job names say the layout: "u_4_2_1" is 4, 2 and 1 cores, and tasks, on three nodes
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "t/plugin/fake_hostile.h"
#include "t/plugin/fake_stops.h"
#include "base/order.h"
#include "image/plan_image.h"
#include "image/snapshot.h"
#include "image/wire.h"

#define SOCK 3

static char mode[64], mode_file[4096];

static void read_mode(void)
{
	FILE *f;

	strcpy(mode, "ok");
	if (!(f = fopen(mode_file, "re")))
		return;
	if (fgets(mode, sizeof(mode), f))
		mode[strcspn(mode, "\n")] = '\0';
	fclose(f);
}

static int mode_is(const char *want)
{
	return !strcmp(mode, want);
}

static void misbehave(const char *step)
{
	char what[64];

	read_mode();
	snprintf(what, sizeof(what), "exit-%s", step);
	if (mode_is(what))
		_exit(7);
	snprintf(what, sizeof(what), "hang-%s", step);
	while (mode_is(what))
		pause();
	snprintf(what, sizeof(what), "stop-%s", step);
	if (mode_is(what))
		raise(SIGSTOP);
	if (mode_is("babble")) {
		int i;

		for (i = 0; i < 100000; i++)
			fprintf(stderr, "line %d of very much that nobody wants to read\n", i);
	}
}

static int reply(struct sl_frame *f)
{
	struct sl_error err;

	if (mode_is("wrong-frame"))
		f->type = SL_FRAME_BYE;
	if (!sl_wire_send(SOCK, f, 5000, &err))
		return 0;
	fprintf(stderr, "fake engine: %s\n", err.text);
	return -1;
}

static int hello(void)
{
	struct sl_frame f = { .type = SL_FRAME_HELLO, .fd = -1 };

	misbehave("hello");
	f.body.hello.wire_version = SL_WIRE_VERSION;
	f.body.hello.snapshot_version = sl_snapshot_schema.version + mode_is("version");
	f.body.hello.plan_version = sl_plan_schema.version;
	f.body.hello.pid = getpid();
	strcpy(f.body.hello.version, "fake");
	strcpy(f.body.hello.holds, "what it likes");
	return reply(&f);
}

static int load(void)
{
	struct sl_frame f = { .type = SL_FRAME_LOADED, .fd = -1 };

	misbehave("load");
	f.body.loaded.ok = !mode_is("refuse");
	f.body.loaded.code = f.body.loaded.ok ? SL_OK : SL_ESCRIPT;
	strcpy(f.body.loaded.policy, "fake");
	sl_fence_set(&f.body.loaded.hold, false, mode_is("hold") ? "small" : "");
	if (!f.body.loaded.ok)
		strcpy(f.body.loaded.text, "/etc/fake.lua:3: refused on demand\ntraceback");
	return reply(&f);
}

static int kept(const struct sl_frame *request)
{
	struct sl_frame f = { .type = SL_FRAME_KEPT, .fd = -1 };

	misbehave("keep");
	return hostile_answer(mode, SOCK, request) ? 0 : reply(&f);
}

/* -- planning ------------------------------------------------------------- */

struct plan {
	const struct sl_snapshot *snap;
	struct sl_builder *b;
	uint32_t *free, *gpus;	/* cores and gres (all kinds together) of each node */
	unsigned char *skip;	/* by node: not usable */
};

static void count_free(struct plan *p)
{
	const struct sl_snapshot *s = p->snap;
	uint32_t i, j, k;

	p->free = calloc(s->node.rows + 1, sizeof(*p->free));
	p->gpus = calloc(s->node.rows + 1, sizeof(*p->gpus));
	p->skip = calloc(s->node.rows + 1, 1);
	for (i = 0; i < s->node.rows; i++) {
		p->free[i] = s->node.cores[i];
		p->skip[i] = (s->node.state[i] & SL_NODE_UNUSABLE) != 0 || (mode_is("stops") && stops_holds(s, i));
		for (j = 0; j < s->node.gres[i].count; j++)
			p->gpus[i] += s->node_gres.count[s->node.gres[i].first + j];
	}
	for (i = 0; i < s->job.rows; i++)
		for (j = 0; j < s->job.alloc[i].count; j++) {
			uint32_t a = s->job.alloc[i].first + j, n = s->alloc.node[a];

			p->free[n] -= s->alloc.cores[a] < p->free[n] ? s->alloc.cores[a] : p->free[n];
			for (k = 0; k < s->alloc.gres[a].count; k++)
				p->gpus[n] -= s->alloc_gres.count[s->alloc.gres[a].first + k];
		}
}

static uint32_t gpus_per_node(const struct sl_snapshot *s, uint32_t job)
{
	uint32_t i, n = 0;

	for (i = 0; i < s->job.gres[job].count; i++)
		if (s->job_gres.per[s->job.gres[job].first + i] == SL_PER_NODE)
			n += s->job_gres.count[s->job.gres[job].first + i];
	return n;
}

/* Cores wanted on each node, in order; returns how many nodes. */
static uint32_t shape(const struct sl_snapshot *s, uint32_t job, uint32_t *want, uint32_t max)
{
	const char *name = sl_snapshot_str(s, s->job.name[job]);
	uint32_t nodes = s->job.min_nodes[job], cpus = s->job.min_cpus[job], i, n = 0;
	char *end;

	if (mode_is("layout") && !strncmp(name, "u_", 2)) {
		for (end = (char *) name + 1; *end == '_' && n < max; n++)
			want[n] = (uint32_t) strtoul(end + 1, &end, 10);
		return n;
	}
	if (cpus < nodes)
		cpus = nodes;
	for (i = 0; i < nodes && i < max; i++)
		want[i] = cpus / nodes + (i < cpus % nodes);
	return i;
}

static void refuse(struct plan *p, uint32_t job, const char *text)
{
	struct sl_plan_pending_row row = sl_plan_pending_row();

	row.job = p->snap->job.id[job];
	row.why = SL_WHY_RESOURCES;
	row.text = sl_builder_str(p->b, text);
	row.by = sl_builder_str(p->b, "fake");
	sl_builder_append(p->b, SL_P_PENDING, &row);
}

static void append_start(struct plan *p, uint32_t q, const uint32_t *node, const uint32_t *want, uint32_t n)
{
	const struct sl_snapshot *s = p->snap;
	struct sl_plan_start_row row = sl_plan_start_row();
	struct sl_plan_place_row place = sl_plan_place_row();
	uint32_t i, job = s->queue.job[q];

	row.job = s->job.id[job] + (mode_is("impossible") ? 100000 : 0);
	row.stamp = s->job.stamp[job] + mode_is("stale");
	row.partition = s->queue.partition[q];
	row.native = !mode_is("blind") && (s->job.asks[job] || *sl_snapshot_str(s, s->job.features[job]));
	row.dealt = mode_is("layout");
	row.by = sl_builder_str(p->b, "fake");
	row.places.first = sl_builder_rows(p->b, SL_P_PLACE);
	row.places.count = n;
	for (i = 0; i < n; i++) {
		place.node = node[i] + (mode_is("impossible") ? 1000000 : 0);
		place.cores = want[i];
		place.tasks = row.dealt ? want[i] : 0;
		sl_builder_append(p->b, SL_P_PLACE, &place);
	}
	sl_builder_append(p->b, SL_P_START, &row);
}

static int in_runs(const struct sl_snapshot *s, struct sl_range runs, uint32_t node)
{
	uint32_t i;

	for (i = 0; i < runs.count; i++) {
		uint32_t r = runs.first + i;

		if (node >= s->run.first[r] && node <= s->run.last[r])
			return 1;
	}
	return 0;
}

/* First fit, required nodes first; 1 when it was started. */
static int place_job(struct plan *p, uint32_t q)
{
	const struct sl_snapshot *s = p->snap;
	uint32_t job = s->queue.job[q], gpus = gpus_per_node(s, job), want[4096], node[4096], n, i, j, k = 0;
	int whole = (s->job.flags[job] & SL_JOBF_EXCLUSIVE) != 0;

	n = shape(s, job, want, 4096);
	for (j = 0; j < 2 * s->node.rows && k < n; j++) {
		i = j % s->node.rows;
		if (mode_is("overbook")) {
			node[k++] = i;
			continue;
		}
		if (in_runs(s, s->job.req_nodes[job], i) != (j < s->node.rows) ||
		    in_runs(s, s->job.exc_nodes[job], i) || p->skip[i] ||
		    !in_runs(s, s->partition.nodes[s->queue.partition[q]], i) || p->free[i] < want[k] || p->gpus[i] < gpus ||
		    (whole && p->free[i] < s->node.cores[i]))
			continue;
		if (whole)
			want[k] = s->node.cores[i];
		node[k++] = i;
	}
	if (k < n)
		return 0;
	qsort(node, n, sizeof(node[0]), sl_order_u32);
	append_start(p, q, node, want, n);
	for (i = 0; i < n && !mode_is("overbook"); i++) {
		p->free[node[i]] -= want[i];
		p->gpus[node[i]] -= gpus;
	}
	return 1;
}

static void make_plan(struct plan *p)
{
	const struct sl_snapshot *s = p->snap;
	struct sl_plan_meta_row meta = sl_plan_meta_row();
	unsigned char *done = calloc(s->job.rows + 1, 1);
	uint32_t q, tasks;

	meta.sequence = s->meta.sequence[0] + mode_is("wrong-sequence");
	meta.now = s->meta.now[0];
	meta.policy = sl_builder_str(p->b, "fake");
	meta.examined = s->queue.rows;
	sl_builder_append(p->b, SL_P_META, &meta);
	count_free(p);
	for (q = 0; q < s->queue.rows; q++) {
		uint32_t job = s->queue.job[q];

		if (done[job])
			continue;
		if (mode_is("stops") && stops_place(s, p->b, q, p->free)) {
			done[job] = 1;
			continue;
		}
		tasks = s->job.array_pending[job] ? s->job.array_pending[job] : 1;
		while (tasks && place_job(p, q)) {
			done[job] = 1;
			tasks--;
		}
		if (tasks && !done[job])
			refuse(p, job, "fake: no room");
	}
	free(p->free);
	free(p->gpus);
	free(p->skip);
	free(done);
}

static int send_plan(int64_t sequence, const void *bytes, size_t size)
{
	struct sl_frame f = { .type = SL_FRAME_PLAN, .fd = -1 };
	struct sl_error err;
	int rc;

	f.body.plan.sequence = sequence + mode_is("wrong-sequence");
	f.body.plan.ok = bytes != NULL;
	strcpy(f.body.plan.policy, "fake");
	if (!bytes) {
		f.body.plan.code = SL_ESCRIPT;
		strcpy(f.body.plan.text, "/etc/fake.lua:7: no plan on demand");
	} else if ((f.fd = sl_wire_memfd("plan", bytes, size, &err)) < 0)
		return -1;
	rc = reply(&f);
	if (f.fd >= 0)
		close(f.fd);
	return rc;
}

static int decide(struct sl_frame *f)
{
	struct plan p = { 0 };
	struct sl_snapshot snap;
	struct sl_error err = { SL_OK, "" };
	const void *bytes, *out;
	unsigned char junk[4096];
	size_t size, out_size;
	int rc = -1;

	misbehave("decide");
	if (hostile_answer(mode, SOCK, f))
		return 0;
	if (mode_is("no-plan"))
		return send_plan(f->body.decide.sequence, NULL, 0);
	if (sl_wire_map(f->fd, &bytes, &size, &err) || sl_snapshot_open(&snap, bytes, size, &err) ||
	    !(p.b = sl_builder_create(&sl_plan_schema, &err)))
		goto done;
	p.snap = &snap;
	make_plan(&p);
	if (sl_builder_finish(p.b, &out, &out_size, &err))
		goto done;
	memset(junk, 0xa5, sizeof(junk));
	if (mode_is("garbage"))
		rc = send_plan(f->body.decide.sequence, junk, sizeof(junk));
	else
		rc = send_plan(f->body.decide.sequence, out, mode_is("truncated") ? out_size / 2 : out_size);
done:
	if (rc)
		fprintf(stderr, "fake engine: %s\n", err.text);
	sl_builder_destroy(p.b);
	return rc;
}

int main(int argc, char **argv)
{
	struct sl_frame f;
	struct sl_error err;
	int rc = 0;

	snprintf(mode_file, sizeof(mode_file), "%s.mode", argc ? argv[0] : "");
	while (!rc && (rc = sl_wire_recv(SOCK, &f, -1, &err)) > 0) {
		rc = f.type == SL_FRAME_HELLO ? hello() : f.type == SL_FRAME_LOAD ? load() :
			f.type == SL_FRAME_RESTORE ? load() : f.type == SL_FRAME_KEEP ? kept(&f) :
			f.type == SL_FRAME_DECIDE ? decide(&f) : -1;
		if (f.fd >= 0)
			close(f.fd);
	}
	return rc ? 1 : 0;
}
