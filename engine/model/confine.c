/* SPDX-License-Identifier: MIT */
/* confine.c - node sets of a policy: sets to which it confines jobs, and nodes that it keeps free. */
#include "model/plan_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* -- sets to which jobs are confined --------------------------------------------------- */

int sl_cluster_confinement(struct sl_cluster *c, const struct sl_nodeset *nodes, uint32_t *number, struct sl_error *err)
{
	struct sl_nodeset *copy;

	for (*number = 1; *number <= c->confinements; ++*number)
		if (sl_nodeset_equal(&c->confinement[*number - 1], nodes))
			return 0;
	if (sl_grow(&c->confinement, &c->confinement_room, c->confinements + UINT64_C(1), sizeof(*copy), err) < 0)
		return -1;
	copy = &c->confinement[c->confinements];
	memset(copy, 0, sizeof(*copy));
	if (sl_nodeset_copy(copy, nodes, err) < 0)
		return -1;
	*number = ++c->confinements;
	return 0;
}

int sl_cluster_confine(struct sl_cluster *c, uint32_t job, uint32_t number, struct sl_error *err)
{
	if (!c->confined && !number)
		return 0;
	if (!c->confined && !(c->confined = calloc(c->snap->job.rows + (size_t) 1, sizeof(*c->confined))))
		return sl_fail(err, SL_ENOMEM, "cluster: out of memory");
	c->confined[job] = number;
	return 0;
}

uint32_t sl_cluster_confined(const struct sl_cluster *c, uint32_t job)
{
	return c->confined ? c->confined[job] : 0;
}

const struct sl_nodeset *sl_cluster_confined_to(const struct sl_cluster *c, uint32_t number)
{
	return number && number <= c->confinements ? &c->confinement[number - 1] : NULL;
}

void sl_cluster_unconfine(struct sl_cluster *c)
{
	free(c->confined);
	c->confined = NULL;
}

void cluster_confinements_free(struct sl_cluster *c)
{
	sl_cluster_unconfine(c);
	for (uint32_t i = 0; i < c->confinements; i++)
		sl_nodeset_free(&c->confinement[i]);
	free(c->confinement);
}

/* -- nodes that are kept free ------------------------------------------------------ */

int sl_plan_block(struct sl_plan *p, const struct sl_nodeset *nodes, int64_t from, int64_t to, struct sl_error *err)
{
	struct kept_free k = { .from = from > p->c->now ? from : p->c->now, .to = to };

	if (plan_check_idle(p, "block", err) < 0)
		return -1;
	if (to <= k.from || !nodes->count)
		return 0;
	if (p->kept_frees == SL_PLAN_BLOCKS_MAX)
		return sl_fail(err, SL_ELIMIT, "block: more than %d in a cycle", SL_PLAN_BLOCKS_MAX);
	if (sl_grow_list(&p->kept_free, p->kept_frees, sizeof(k), err) || sl_nodeset_copy(&k.nodes, nodes, err) < 0)
		return -1;
	if (plan_keep_free(p, &k, true, err) < 0) {
		sl_nodeset_free(&k.nodes);
		return -1;
	}
	plan_refusals_forget(p);
	p->kept_free[p->kept_frees++] = k;
	return 0;
}

int sl_plan_use_blocked(struct sl_plan *p, uint32_t job, bool may, struct sl_error *err)
{
	if (plan_check_idle(p, "use_blocked", err) < 0)
		return -1;
	if (!p->uses_blocked && !may)
		return 0;
	if (!p->uses_blocked && !(p->uses_blocked = calloc(p->c->snap->job.rows + (size_t) 1, 1)))
		return plan_no_memory(err);
	p->uses_blocked[job] = may;
	return 0;
}

uint32_t plan_blocks_of(const struct sl_plan *p, uint32_t job, const struct want *w)
{
	bool free = (p->uses_blocked && p->uses_blocked[job]) || (w && w->enclave && cluster_is_confined(w->enclave));

	return free ? 0 : p->kept_frees;
}

/* Open or close all nodes that are kept free.  0; or -1 with *err, and nothing has changed. */
static int open_blocked(struct sl_plan *p, bool open, struct sl_error *err)
{
	uint32_t i = 0;

	if (open == p->blocked_open)
		return 0;
	while (i < p->kept_frees && !plan_keep_free(p, &p->kept_free[i], !open, err))
		i++;
	if (i < p->kept_frees) {
		while (i--)
			plan_keep_free(p, &p->kept_free[i], open, NULL);
		return -1;
	}
	p->blocked_open = open;
	plan_refusals_forget(p);	/* what was refused while these nodes were closed may fit now, and vice versa */
	return 0;
}

/* The job whose held place is off the timeline; SL_NONE: none. */
static uint32_t held_open_for(const struct sl_plan *p)
{
	for (uint32_t i = 0; i < p->holds; i++)
		if (!p->hold[i].is_placed && !p->hold[i].released)
			return p->hold[i].job;
	return SL_NONE;
}

int plan_open_for(struct sl_plan *p, uint32_t job, struct opened *was, struct sl_error *err)
{
	*was = (struct opened) { p->blocked_open, held_open_for(p) };
	if (p->kept_frees && open_blocked(p, p->uses_blocked && p->uses_blocked[job], err) < 0)
		return -1;
	if (p->holds)
		plan_hold_open(p, job);
	return 0;
}

void plan_as_before(struct sl_plan *p, struct opened was)
{
	open_blocked(p, was.blocked, NULL);
	if (p->holds)
		plan_hold_open(p, was.job);
}

void plan_free_blocked(struct sl_plan *p)
{
	for (uint32_t i = 0; i < p->kept_frees; i++)
		sl_nodeset_free(&p->kept_free[i].nodes);
	free(p->kept_free);
	free(p->uses_blocked);
}
