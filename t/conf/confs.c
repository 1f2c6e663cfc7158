/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "t/conf/confs.h"

static char answer[4096];

const char *put(const char *name, const char *text)
{
	static char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	if (!text) {
		unlink(path);
		return path;
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	return path;
}

struct sl_conf *conf(const char *text)
{
	struct sl_error err = { .code = SL_OK };
	struct sl_conf *c = sl_conf_read(put("slurm.conf", text), SL_CONF_MACHINE, &err);

	if (!c)
		fail_msg("%s", err.text);
	return c;
}

void refused(const char *text, const char *words)
{
	struct sl_error err = { .code = SL_OK };
	struct sl_conf *c = sl_conf_read(put("slurm.conf", text), SL_CONF_MACHINE, &err);

	if (c || !strstr(err.text, words))
		fail_msg("%s, expected \"%s\" of:\n%s", c ? "it is accepted" : err.text, words, text);
}

void noted(const struct sl_conf *c, const char *words)
{
	for (uint32_t i = 0; i < c->notes.count; i++)
		if (strstr(c->notes.text[i], words))
			return;
	fail_msg("no note \"%s\" (of %u: %s)", words, c->notes.count, c->notes.count ? c->notes.text[0] : "");
}

static void add_word(const char *word)
{
	size_t n = strlen(answer);

	snprintf(answer + n, sizeof(answer) - n, "%s%s", n ? " " : "", word);
}

const char *nodes(const struct sl_conf *c)
{
	*answer = 0;
	for (uint32_t i = 0; i < c->nodes; i++)
		add_word(c->node[i].name);
	return answer;
}

const char *members(const struct sl_conf *c, const char *name)
{
	const struct sl_conf_partition *p = partition(c, name);

	*answer = 0;
	for (uint32_t i = 0; i < p->nodes; i++)
		add_word(c->node[p->node[i]].name);
	return answer;
}

const struct sl_conf_node *node(const struct sl_conf *c, const char *name)
{
	for (uint32_t i = 0; i < c->nodes; i++)
		if (!strcmp(c->node[i].name, name))
			return &c->node[i];
	fail_msg("no node %s", name);
	return NULL;
}

const struct sl_conf_kind *kind(const struct sl_conf *c, const char *name)
{
	return &c->kind[node(c, name)->kind];
}

const struct sl_conf_partition *partition(const struct sl_conf *c, const char *name)
{
	for (uint32_t i = 0; i < c->partitions; i++)
		if (!strcmp(c->partition[i].name, name))
			return &c->partition[i];
	fail_msg("no partition %s", name);
	return NULL;
}

const char *gres(const struct sl_conf *c, const char *name)
{
	const struct sl_conf_gres_set *set = &c->gres[node(c, name)->gres];
	size_t n = 0;

	snprintf(answer, sizeof(answer), "none");
	for (uint32_t i = 0; i < set->items; i++) {
		const struct sl_conf_gres *g = &set->item[i];

		n += (size_t) snprintf(answer + n, sizeof(answer) - n, "%s%s%s%s %llu%s%s%s", i ? ", " : "", g->name,
				       *g->type ? ":" : "", g->type, (unsigned long long) g->count,
				       g->no_consume ? " no_consume" : "", g->share ? " of " : "", g->share ? g->share : "");
	}
	return answer;
}
