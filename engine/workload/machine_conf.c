/* SPDX-License-Identifier: MIT */
/*
 * machine_conf.c - the machine that a slurm.conf describes.
 *
 * Read are NodeName and PartitionName lines with their DEFAULTs, SelectType,
 * SelectTypeParameters and Include.  Nodes that are FUTURE are left out; other
 * states do not count.  What a site can write and this cannot read is refused, not
 * guessed: node sets in a partition, a name in no NodeName line.
 */
#include "workload/private.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "base/order.h"
#include "base/product.h"
#include "image/nodelist.h"

#define DEPTH 8			/* of files that include files */
#define MOST_FILES 1000		/* read in all: eight levels of ten would be a hundred million */
#define MOST_WORDS 64		/* of a line */
#define MOST_CORES 65535	/* of a node; threads of a core and sockets likewise: Slurm's uint16_t */
#define MOST_NODES (1u << 18)	/* four times what slurmctld takes */

struct word {			/* Key=value */
	const char *key, *value;
};

struct line {
	struct word word[MOST_WORDS];
	int words;
};

struct name {			/* of a node */
	char *text;
	uint32_t node;
};

struct conf {
	struct sl_builder *b;
	struct sl_error *err;
	const char *path;	/* being read */
	uint64_t number;
	uint32_t files;		/* read so far */
	bool partitions;	/* on the second pass; the first reads nodes */
	struct sl_node_row node;	/* DEFAULT */
	uint32_t node_cpus, boards, sockets, cores, threads, core_spec, mem_spec;	/* DEFAULT, 0: not said */
	char gres[256];
	struct sl_partition_row part;	/* DEFAULT */
	char part_nodes[4096];
	uint32_t select_flags;
	struct name *name;
	uint32_t names, room;
	uint32_t *member;	/* nodes of the partition at hand */
	uint32_t members, member_room;
};

__attribute__((format(printf, 2, 3)))
static int fail_at_line(struct conf *c, const char *fmt, ...)
{
	char what[300];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return sl_fail(c->err, SL_EINVAL, "%s:%" PRIu64 ": %s", c->path, c->number, what);
}

/* -- lines -------------------------------------------------------------------- */

/* Cut a line into words; values may be quoted. */
static int split_line(struct conf *c, char *p, struct line *l)
{
	l->words = 0;
	for (;;) {
		char *eq, *end;
		struct word *w = &l->word[l->words];

		p += strspn(p, " \t");
		if (!*p)
			return 0;
		if (l->words == MOST_WORDS)
			return fail_at_line(c, "more than %d words", MOST_WORDS);
		eq = p + strcspn(p, "= \t");
		w->key = p;
		w->value = "";
		p = eq;
		if (*p == '=') {
			*p++ = 0;
			w->value = p;
			if (*p == '"') {
				w->value = ++p;
				end = strchr(p, '"');
				if (!end)
					return fail_at_line(c, "a quote that does not end");
			} else {
				end = p + strcspn(p, " \t");
			}
			p = end;
		}
		if (*p)
			*p++ = 0;
		l->words++;
	}
}

static void strip_comment(char *line)
{
	char *hash = line;

	while ((hash = strchr(hash, '#')) && hash > line && hash[-1] == '\\')
		hash++;
	if (hash)
		*hash = 0;
}

static int read_count(struct conf *c, const struct word *w, uint32_t *n)
{
	const char *p = w->value;
	int64_t v;

	if (!strcasecmp(p, "UNLIMITED") || !strcasecmp(p, "INFINITE")) {
		*n = SL_NONE;
		return 0;
	}
	if (!sl_scan_int(&p, &v) || *p || v < 0 || v >= SL_NONE)
		return fail_at_line(c, "%s=%s: expected a number", w->key, w->value);
	*n = v;
	return 0;
}

/* -- nodes --------------------------------------------------------------------- */

struct gres_item {
	char name[64], type[64];
	int64_t count;
	bool no_consume;
};

/* "gpu:a100:4(S:0-1)", "gpu:2", "nic" */
static int parse_gres(struct conf *c, const char *text, size_t n, struct gres_item *g)
{
	char copy[160], *part[4], *p = copy;
	int parts = 0;
	const char *digits;

	if (n >= sizeof(copy))
		return fail_at_line(c, "Gres: a word of more than %zu bytes", sizeof(copy) - 1);
	memcpy(copy, text, n);
	copy[n] = 0;
	copy[strcspn(copy, "(")] = 0;
	while (p && parts < 4) {
		part[parts++] = p;
		p = strchr(p, ':');
		if (p)
			*p++ = 0;
	}
	memset(g, 0, sizeof(*g));
	g->count = 1;
	snprintf(g->name, sizeof(g->name), "%s", part[0]);
	digits = part[parts - 1];
	if (parts > 1 && sl_scan_int(&digits, &g->count)) {
		if (*digits == 'K' || *digits == 'k')
			g->count *= 1024;
		else if (*digits)
			return fail_at_line(c, "Gres=%.*s: expected name:type:count", (int) n, text);
		parts--;
	}
	g->no_consume = parts > 1 && !strcmp(part[parts - 1], "no_consume");
	parts -= g->no_consume;
	if (parts == 2)
		snprintf(g->type, sizeof(g->type), "%s", part[1]);
	if (p || parts > 2 || !*g->name || g->count < 0 || g->count >= SL_NONE)
		return fail_at_line(c, "Gres=%.*s: expected name:type:count", (int) n, text);
	return 0;
}

static int add_gres(struct conf *c, const char *text, struct sl_range *range)
{
	struct sl_node_gres_row row = sl_node_gres_row();
	struct gres_item g;

	*range = (struct sl_range) { sl_builder_rows(c->b, SL_T_NODE_GRES), 0 };
	while (*text) {
		size_t n = strcspn(text, ",");

		if (parse_gres(c, text, n, &g) < 0)
			return -1;
		row.kind = sl_machine_gres_kind(c->b, g.name, g.type);
		row.count = g.count;
		row.no_consume = g.no_consume;
		if (row.count) {
			sl_builder_append(c->b, SL_T_NODE_GRES, &row);
			range->count++;
		}
		text += n + (text[n] == ',');
	}
	return 0;
}

static int node_word(struct conf *c, const struct word *w, bool *future)
{
	const struct {
		const char *key;
		uint32_t *to;
	} numbers[] = {
		{ "CPUs", &c->node_cpus }, { "Procs", &c->node_cpus }, { "Boards", &c->boards },
		{ "Sockets", &c->sockets }, { "SocketsPerBoard", &c->sockets }, { "CoresPerSocket", &c->cores },
		{ "ThreadsPerCore", &c->threads }, { "CoreSpecCount", &c->core_spec },
		{ "MemSpecLimit", &c->mem_spec }, { "Weight", &c->node.weight },
	};
	uint32_t n;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcasecmp(w->key, numbers[i].key))
			return read_count(c, w, numbers[i].to);
	if (!strcasecmp(w->key, "RealMemory")) {
		if (read_count(c, w, &n) < 0)
			return -1;
		c->node.memory = n;
	} else if (!strcasecmp(w->key, "TmpDisk")) {
		if (read_count(c, w, &n) < 0)
			return -1;
		c->node.tmp_disk = n;
	} else if (!strcasecmp(w->key, "Feature") || !strcasecmp(w->key, "Features")) {
		c->node.features = sl_builder_str(c->b, w->value);
	} else if (!strcasecmp(w->key, "Gres")) {
		if (strlen(w->value) >= sizeof(c->gres))
			return fail_at_line(c, "Gres: more than %zu bytes", sizeof(c->gres) - 1);
		snprintf(c->gres, sizeof(c->gres), "%s", strcasecmp(w->value, "none") ? w->value : "");
	} else if (!strcasecmp(w->key, "State")) {
		*future = !strncasecmp(w->value, "FUTURE", 6);
	}
	return 0;
}

/* Cores and threads as slurmctld counts them: CPUs, where given, say whether
 * hyper-threads are scheduled. */
static int count_cores(struct conf *c, struct sl_node_row *node)
{
	uint32_t threads = c->threads ? c->threads : 1, cps = c->cores ? c->cores : 1, boards = c->boards ? c->boards : 1;
	uint64_t sockets = sl_product(c->sockets, boards), each = sl_product(threads, cps), cores;

	if (threads > MOST_CORES || sockets > MOST_CORES)
		return fail_at_line(c, "%" PRIu32 " threads a core on %" PRIu64 " sockets, expected 1 to %d of both",
				    threads, sockets, MOST_CORES);
	if (!sockets)
		sockets = c->node_cpus > each ? c->node_cpus / each : 1;
	cores = sl_product(sockets, cps);
	if (c->node_cpus && c->node_cpus <= cores)
		threads = 1;
	if (c->node_cpus && c->node_cpus < cores)
		cores = c->node_cpus;
	if (cores <= c->core_spec || cores > MOST_CORES)
		return fail_at_line(c, "%" PRIu64 " cores, expected 1 to %d", cores, MOST_CORES);
	node->cores = cores - c->core_spec;
	node->core_spec = c->core_spec;
	node->threads = threads;
	node->sockets = sockets;
	node->memory = node->memory > c->mem_spec ? node->memory - c->mem_spec : 0;
	return 0;
}

struct adding {
	struct conf *c;
	struct sl_node_row row;
};

static int add_node(const char *name, void *arg)
{
	struct adding *a = arg;
	struct conf *c = a->c;

	if (c->names == MOST_NODES)
		return sl_fail(c->err, SL_ELIMIT, "more than %u nodes", MOST_NODES);
	if (sl_grow(&c->name, &c->room, c->names + UINT64_C(1), sizeof(*c->name), c->err))
		return -1;
	a->row.name = sl_builder_str(c->b, name);
	c->name[c->names].text = strdup(name);
	if (!c->name[c->names].text)
		return sl_fail(c->err, SL_ENOMEM, "%s: no memory", c->path);
	if (*c->gres && add_gres(c, c->gres, &a->row.gres) < 0) {
		free(c->name[c->names].text);
		return -1;
	}
	c->name[c->names].node = sl_builder_append(c->b, SL_T_NODE, &a->row);
	c->names++;
	return 0;
}

static int node_line(struct conf *c, const struct line *l)
{
	struct conf saved = *c;
	struct adding a = { .c = c };
	bool future = false;
	int rc = 0;

	for (int i = 1; i < l->words; i++)
		if (node_word(c, &l->word[i], &future) < 0)
			return -1;
	if (!strcasecmp(l->word[0].value, "DEFAULT"))
		return 0;
	a.row = c->node;
	if (!future) {
		rc = count_cores(c, &a.row);
		if (!rc && sl_nodelist_split(l->word[0].value, add_node, &a, c->err) < 0)
			rc = c->err && c->err->code ? sl_fail_in(c->err, "%s:%" PRIu64, c->path, c->number) : -1;
	}
	saved.name = c->name;
	saved.names = c->names;
	saved.room = c->room;
	*c = saved;
	return rc;
}

/* -- partitions ----------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct name *) a)->text, ((const struct name *) b)->text);
}

static int add_member(const char *name, void *arg)
{
	struct conf *c = arg;
	struct name key = { .text = (char *) (uintptr_t) name };
	const struct name *found = bsearch(&key, c->name, c->names, sizeof(*c->name), compare_names);

	if (!found)
		return fail_at_line(c, "no node %.60s in a NodeName line above or below", name);
	if (sl_grow(&c->member, &c->member_room, c->members + UINT64_C(1), sizeof(*c->member), c->err))
		return -1;
	c->member[c->members++] = found->node;
	return 0;
}

/* The members as runs. */
static struct sl_range add_runs(struct conf *c)
{
	struct sl_range range = { sl_builder_rows(c->b, SL_T_RUN), 0 };
	struct sl_run_row run = sl_run_row();

	if (c->members)
		qsort(c->member, c->members, sizeof(*c->member), sl_order_u32);
	for (uint32_t i = 0; i < c->members; i++) {
		if (!i || c->member[i] > run.last + 1) {
			if (i) {
				sl_builder_append(c->b, SL_T_RUN, &run);
				range.count++;
			}
			run.first = c->member[i];
		}
		run.last = c->member[i];
	}
	if (c->members) {
		sl_builder_append(c->b, SL_T_RUN, &run);
		range.count++;
	}
	return range;
}

static int set_flag(struct conf *c, const struct word *w, uint32_t flag)
{
	if (!strcasecmp(w->value, "YES"))
		c->part.flags |= flag;
	else if (!strcasecmp(w->value, "NO"))
		c->part.flags &= ~flag;
	else
		return fail_at_line(c, "%s=%s: expected YES or NO", w->key, w->value);
	return 0;
}

static int read_oversubscribe(struct conf *c, const struct word *w)
{
	const char *colon = strchr(w->value, ':');
	int64_t n = 4;

	if (colon) {
		colon++;
		if (!sl_scan_int(&colon, &n) || *colon || n < 1 || n > 65535)
			return fail_at_line(c, "%s=%s: expected a number of jobs", w->key, w->value);
	}
	if (!strncasecmp(w->value, "EXCLUSIVE", 9))
		c->part.oversubscribe = 0;
	else if (!strcasecmp(w->value, "NO"))
		c->part.oversubscribe = 1;
	else
		c->part.oversubscribe = n;
	if (!strncasecmp(w->value, "FORCE", 5))
		c->part.flags |= SL_PART_FORCE;
	return 0;
}

static int partition_word(struct conf *c, const struct word *w)
{
	if (!strcasecmp(w->key, "Nodes")) {
		if (strlen(w->value) >= sizeof(c->part_nodes))
			return fail_at_line(c, "Nodes: more than %zu bytes", sizeof(c->part_nodes) - 1);
		snprintf(c->part_nodes, sizeof(c->part_nodes), "%s", w->value);
		return 0;
	}
	if (!strcasecmp(w->key, "Default"))
		return set_flag(c, w, SL_PART_DEFAULT);
	if (!strcasecmp(w->key, "LLN"))
		return set_flag(c, w, SL_PART_LLN);
	if (!strcasecmp(w->key, "Hidden"))
		return set_flag(c, w, SL_PART_HIDDEN);
	if (!strcasecmp(w->key, "ExclusiveUser"))
		return set_flag(c, w, SL_PART_EXCLUSIVE_USER);
	if (!strcasecmp(w->key, "ExclusiveTopo"))
		return set_flag(c, w, SL_PART_EXCLUSIVE_TOPO);
	if (!strcasecmp(w->key, "OverSubscribe") || !strcasecmp(w->key, "Shared"))
		return read_oversubscribe(c, w);
	if (!strcasecmp(w->key, "MinNodes"))
		return read_count(c, w, &c->part.min_nodes);
	if (!strcasecmp(w->key, "MaxNodes"))
		return read_count(c, w, &c->part.max_nodes);
	if (!strcasecmp(w->key, "MaxCPUsPerNode"))
		return read_count(c, w, &c->part.max_cpus_per_node);
	if (!strcasecmp(w->key, "PriorityTier") || !strcasecmp(w->key, "Priority"))
		return read_count(c, w, &c->part.priority_tier);
	if (!strcasecmp(w->key, "QOS"))
		c->part.qos = sl_builder_str(c->b, w->value);
	else if (!strcasecmp(w->key, "MaxTime") && !sl_scan_duration(w->value, &c->part.max_time))
		return fail_at_line(c, "MaxTime=%s: expected a time", w->value);
	else if (!strcasecmp(w->key, "DefaultTime") && !sl_scan_duration(w->value, &c->part.default_time))
		return fail_at_line(c, "DefaultTime=%s: expected a time", w->value);
	return 0;
}

static bool has_partition(const struct conf *c, uint32_t name)
{
	struct sl_partition_row row;

	for (uint32_t i = 0; sl_builder_row(c->b, SL_T_PARTITION, i, &row) == 0; i++)
		if (row.name == name)
			return true;
	return false;
}

static int partition_line(struct conf *c, const struct line *l)
{
	struct sl_partition_row usual = c->part;
	char nodes[sizeof(c->part_nodes)];
	int rc = 0;

	memcpy(nodes, c->part_nodes, sizeof(nodes));
	for (int i = 1; i < l->words; i++)
		if (partition_word(c, &l->word[i]) < 0)
			return -1;
	if (!strcasecmp(l->word[0].value, "DEFAULT"))
		return 0;
	c->part.name = sl_builder_str(c->b, l->word[0].value);
	if (has_partition(c, c->part.name))
		return fail_at_line(c, "partition %s twice", l->word[0].value);
	c->members = 0;
	if (!strcasecmp(c->part_nodes, "ALL"))
		for (uint32_t i = 0; i < c->names && !rc; i++)
			rc = add_member(c->name[i].text, c);
	else if (*c->part_nodes)
		rc = sl_nodelist_split(c->part_nodes, add_member, c, c->err);
	c->part.nodes = add_runs(c);
	sl_builder_append(c->b, SL_T_PARTITION, &c->part);
	c->part = usual;
	memcpy(c->part_nodes, nodes, sizeof(nodes));
	return rc ? -1 : 0;
}

/* -- the file -------------------------------------------------------------------- */

static int read_conf(struct conf *c, const char *path, int depth);

static int read_include(struct conf *c, const struct line *l, const char *from, int depth)
{
	const char *file = l->words > 1 ? l->word[1].key : "", *slash = strrchr(from, '/');
	char path[4096];

	if (!*file || depth == DEPTH)
		return fail_at_line(c, *file ? "files that include files more than %d deep" :
				    "Include: expected a file", DEPTH);
	if (*file == '/' || !slash)
		snprintf(path, sizeof(path), "%s", file);
	else
		snprintf(path, sizeof(path), "%.*s/%s", (int) (slash - from), from, file);
	return read_conf(c, path, depth + 1);
}

static void select_word(struct conf *c, const struct word *w)
{
	if (!strcasecmp(w->key, "SelectType") && !strcasecmp(w->value, "select/linear"))
		c->select_flags |= SL_SELECT_WHOLE_NODE;
	if (strcasecmp(w->key, "SelectTypeParameters"))
		return;
	if (strcasestr(w->value, "Memory"))
		c->select_flags |= SL_SELECT_MEMORY;
	if (strcasestr(w->value, "ONE_TASK_PER_CORE"))
		c->select_flags |= SL_SELECT_ONE_TASK_PER_CORE;
	if (strcasestr(w->value, "PACK_NODES"))
		c->select_flags |= SL_SELECT_PACK_NODES;
	if (strcasestr(w->value, "CR_LLN"))
		c->select_flags |= SL_SELECT_LLN;
	if (strcasestr(w->value, "CR_Socket"))
		c->select_flags |= SL_SELECT_SOCKET;
}

static int read_line(struct conf *c, char *text, const char *path, int depth)
{
	struct line l;

	if (split_line(c, text, &l) < 0)
		return -1;
	if (!l.words)
		return 0;
	if (!strcasecmp(l.word[0].key, "Include"))
		return read_include(c, &l, path, depth);
	if (!strcasecmp(l.word[0].key, "NodeName"))
		return c->partitions ? 0 : node_line(c, &l);
	if (!strcasecmp(l.word[0].key, "PartitionName"))
		return c->partitions ? partition_line(c, &l) : 0;
	for (int i = 0; i < l.words; i++)
		select_word(c, &l.word[i]);
	return 0;
}

/* Lines that end with a backslash go on in the next one. */
static int read_conf(struct conf *c, const char *path, int depth)
{
	struct sl_lines *lines;
	const char *outer = c->path;
	uint64_t outer_number = c->number;
	char *line, *joined = NULL;
	uint32_t room = 0;
	size_t size = 0;
	int64_t n = 0;
	int rc = -1;

	if (c->files++ == MOST_FILES)
		return fail_at_line(c, "more than %d files", MOST_FILES);
	lines = sl_lines_open(path, c->err);
	if (!lines)
		return -1;
	c->path = path;
	while ((n = sl_lines_next(lines, &line, c->err)) > 0) {
		c->number = sl_lines_number(lines);
		strip_comment(line);
		n = strlen(line);
		if (sl_grow(&joined, &room, size + n + 2, 1, c->err))
			goto error;
		memcpy(joined + size, line, n + 1);
		size += n;
		if (size && joined[size - 1] == '\\') {
			joined[size - 1] = ' ';
			continue;
		}
		if (read_line(c, joined, path, depth) < 0)
			goto error;
		size = 0;
	}
	if (n == 0 && (!size || read_line(c, joined, path, depth) == 0))
		rc = 0;
error:
	free(joined);
	sl_lines_close(lines);
	c->path = outer;
	c->number = outer_number;
	return rc;
}

int sl_machine_load_conf(struct sl_builder *b, const char *path, uint32_t *select_flags, struct sl_error *err)
{
	struct sl_error own;
	struct conf c = { .b = b, .err = err ? err : &own, .node = sl_node_row(), .part = sl_partition_row() };
	int rc = -1;

	c.err->code = SL_OK;
	c.part.flags = SL_PART_UP;
	if (read_conf(&c, path, 0) < 0)
		goto error;
	if (!c.names) {
		sl_fail(err, SL_EINVAL, "%s: no NodeName line: expected a slurm.conf or a snapshot", path);
		goto error;
	}
	qsort(c.name, c.names, sizeof(*c.name), compare_names);
	for (uint32_t i = 1; i < c.names; i++)
		if (!compare_names(&c.name[i - 1], &c.name[i])) {
			sl_fail(err, SL_EINVAL, "%s: node %s twice", path, c.name[i].text);
			goto error;
		}
	c.partitions = true;
	c.files = 0;
	if (read_conf(&c, path, 0) < 0)
		goto error;
	if (!sl_builder_rows(b, SL_T_PARTITION))
		sl_machine_add_all(b);
	*select_flags = c.select_flags;
	rc = 0;
error:
	for (uint32_t i = 0; i < c.names; i++)
		free(c.name[i].text);
	free(c.name);
	free(c.member);
	return rc;
}
