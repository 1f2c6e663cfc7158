/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "where.h"

struct sl_nodeset set(const char *text)
{
	struct sl_nodeset s = SL_NODESET_EMPTY;
	struct sl_error err;

	if (sl_nodeset_parse(&s, text, &err))
		fail_msg("%s", err.text);
	return s;
}

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

	sl_layout_places(l, p);
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
		sl_misfit_text(&m, text, sizeof(text));
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
		sl_misfit_text(&m, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "@%lld %s", (long long) start, text_of(&l));
	sl_layout_free(&l);
	return text;
}
