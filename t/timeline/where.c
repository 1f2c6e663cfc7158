/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "t/timeline/where.h"

struct sl_timeline *machine(uint32_t nodes, const uint32_t *weight)
{
	struct sl_node_kind *kind = calloc(nodes, sizeof(*kind));
	uint32_t *kind_of = calloc(nodes, sizeof(*kind_of));
	struct sl_timeline *tl;

	for (uint32_t n = 0; n < nodes; n++) {
		kind[n].capacity = (struct sl_resources) { .cores = 8, .memory = 8000, .gres = { 2 } };
		kind[n].weight = weight ? weight[n] : 1;
		kind_of[n] = n;
	}
	tl = sl_timeline_create(nodes, kind_of, kind, nodes, 0, NULL);
	assert_non_null(tl);
	free(kind);
	free(kind_of);
	return tl;
}

void book(struct sl_timeline *tl, const char *nodes, int32_t cores, int64_t t0, int64_t t1)
{
	const struct sl_resources each = { .cores = cores };
	struct sl_nodeset s = set(nodes);
	struct sl_error err;

	if (sl_timeline_book(tl, &s, &each, t0, t1, &err))
		fail_msg("%s", err.text);
	sl_nodeset_free(&s);
}

char *text_of(const struct sl_layout *l)
{
	static char text[1000];
	struct sl_place *p = calloc(l->nodes + 1, sizeof(*p));
	size_t n = 0;

	if (sl_layout_places(l, p, NULL))
		fail_msg("out of memory");
	text[0] = 0;
	for (uint32_t i = 0, j; i < l->nodes; i = j) {
		for (j = i + 1; j < l->nodes && p[j].node == p[j - 1].node + 1 && p[j].cores == p[i].cores; j++)
			;
		n += snprintf(text + n, sizeof(text) - n, "%s%u", i ? " " : "", p[i].node);
		if (j > i + 1)
			n += snprintf(text + n, sizeof(text) - n, "-%u", p[j - 1].node);
		n += snprintf(text + n, sizeof(text) - n, ":%u", p[i].cores);
	}
	free(p);
	return text;
}

/* "needs 4 nodes, 3 could ever do" */
static void misfit_text(const struct sl_misfit *m, char *buf, size_t size)
{
	const char *had = m->ever ? "could ever be had" : "can be had";

	switch (m->lack) {
	case SL_LACK_NOTHING:
		snprintf(buf, size, "fits");
		break;
	case SL_LACK_NODES:
		snprintf(buf, size, "needs %" PRId64 " nodes, %" PRId64 " %s", m->need, m->have,
			 m->ever ? "could ever do" : "would do");
		break;
	case SL_LACK_CORES:
		snprintf(buf, size, "needs room for %" PRId64 " tasks or cores, %" PRId64 " %s", m->need, m->have, had);
		break;
	case SL_LACK_GRES:
		snprintf(buf, size, "needs %" PRId64 " of a gres in all, %" PRId64 " %s", m->need, m->have, had);
		break;
	case SL_LACK_REQUIRED:
		snprintf(buf, size, "needs %" PRId64 " required nodes, %" PRId64 " %s", m->need, m->have,
			 m->ever ? "could ever do" : "would do");
		break;
	case SL_LACK_MAX_NODES:
		if (m->need == INT64_MAX)
			snprintf(buf, size, "does not fit on %" PRId64 " nodes", m->have);
		else
			snprintf(buf, size, "would take %" PRId64 " nodes, may have %" PRId64, m->need, m->have);
		break;
	case SL_LACK_SEGMENTS:
		snprintf(buf, size, "needs %" PRId64 " nodes in segments of %" PRId64, m->need, m->have);
		break;
	case SL_LACK_LEAVES:
		snprintf(buf, size, "needs %" PRId64 " leaf switches or fewer", m->need);
		break;
	case SL_LACK_BLOCK:
		if (m->have < m->need)
			snprintf(buf, size, "needs a block of %" PRId64 " consecutive nodes, the longest is %" PRId64,
				 m->need, m->have);
		else
			snprintf(buf, size, "no block of consecutive nodes has enough, the longest is %" PRId64, m->have);
		break;
	case SL_LACK_TIME:
		snprintf(buf, size, "not before the latest start allowed");
		break;
	default:
		snprintf(buf, size, "asks for %" PRId64 " where %" PRId64 " is what it allows", m->need, m->have);
	}
}

const char *at(struct sl_timeline *tl, const struct sl_request *r, const struct sl_how *how, int64_t t)
{
	struct sl_layout l = SL_LAYOUT_EMPTY;
	struct sl_misfit m;
	struct sl_error err;
	static char text[1000];
	int rc = sl_fit_at(tl, r, how, t, &l, &m, &err);

	if (rc < 0)
		snprintf(text, sizeof(text), "error: %s", err.text);
	else if (!rc)
		misfit_text(&m, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "%s", text_of(&l));
	assert_true(rc == 1 || !l.nodes);
	sl_layout_free(&l);
	return text;
}

const char *earliest(struct sl_timeline *tl, const struct sl_request *r, const struct sl_how *how, int64_t from,
		     int64_t latest)
{
	struct sl_layout l = SL_LAYOUT_EMPTY;
	struct sl_misfit m;
	struct sl_error err;
	static char text[1000];
	int64_t start;
	int rc = sl_fit_earliest(tl, r, how, from, latest, &start, &l, &m, &err);

	if (rc < 0)
		snprintf(text, sizeof(text), "error: %s", err.text);
	else if (!rc)
		misfit_text(&m, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "@%lld %s", (long long) start, text_of(&l));
	sl_layout_free(&l);
	return text;
}
