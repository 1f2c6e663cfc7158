/* SPDX-License-Identifier: MIT */
/*
 * conf/read.c - the whole of a slurm.conf: which line is what; see conf/private.h.
 */
#include "conf/private.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/grow.h"
#include "image/nodelist.h"

#define BLOCK ((size_t) 1 << 16)	/* of the arena */
#define MOST_NAMES (1u << 19)		/* of one list, whatever they are names of */
#define TOO_MANY 77			/* what no visitor returns */

/* -- memory, errors, notes --------------------------------------------------- */

void *sl_conf_alloc(struct sl_conf *c, size_t size, struct sl_error *err)
{
	struct sl_conf_own *own = c->own;
	struct sl_conf_arena *a = &own->arena;
	void *p;

	size = (size + 7) & ~(size_t) 7;
	if (size > a->size - a->used) {
		size_t room = size > BLOCK ? size : BLOCK;
		char *block = malloc(room);

		if (!block || sl_grow(&own->blocks, &own->full_room, own->full + UINT64_C(1), sizeof(*own->blocks), NULL)) {
			free(block);
			sl_fail(err, SL_ENOMEM, "out of memory");
			return NULL;
		}
		own->blocks[own->full++] = block;
		*a = (struct sl_conf_arena) { .block = block, .size = room };
	}
	p = a->block + a->used;
	a->used += size;
	return p;
}

char *sl_conf_copy(struct sl_conf *c, const char *text, struct sl_error *err)
{
	size_t size = strlen(text) + 1;
	char *copy = sl_conf_alloc(c, size, err);

	return copy ? memcpy(copy, text, size) : NULL;
}

int sl_conf_fail(struct sl_conf_where where, struct sl_error *err, const char *fmt, ...)
{
	char what[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return sl_fail(err, SL_EINVAL, "%s:%" PRIu64 ": %s", where.path, where.line, what);
}

void sl_conf_note(struct sl_conf *c, struct sl_conf_where where, const char *fmt, ...)
{
	char what[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	sl_notes_add(&c->notes, "%s:%" PRIu64 ": %s", where.path, where.line, what);
}

struct visits {
	int (*visit)(const char *name, void *arg);
	void *arg;
	uint32_t count;
};

static int count_visit(const char *name, void *arg)
{
	struct visits *v = arg;

	return v->count++ < MOST_NAMES ? v->visit(name, v->arg) : TOO_MANY;
}

int sl_conf_split(const char *list, struct sl_conf_where where, int (*visit)(const char *name, void *arg), void *arg,
		  struct sl_error *err)
{
	struct sl_error why = { .code = SL_OK };
	struct visits v = { .visit = visit, .arg = arg };
	int rc = sl_nodelist_split(list, count_visit, &v, &why);

	if (rc == TOO_MANY)
		return sl_conf_fail(where, err, "\"%.60s\": more than %u names in a list", list, MOST_NAMES);
	if (rc < 0 && why.code)
		return sl_conf_fail(where, err, "%s", why.text);
	return rc;
}

/* -- lines -------------------------------------------------------------------- */

static int add_setting(struct sl_conf *c, struct sl_conf_where where, const char *key, const char *value,
		       enum sl_conf_type type, struct sl_error *err)
{
	uint64_t n;
	bool is;

	if (type == SL_CONF_BOOLEAN && !sl_conf_scan_boolean(value, &is))
		sl_conf_note(c, where, "%s=%s: expected YES or NO", key, value);
	else if (type != SL_CONF_BOOLEAN && type != SL_CONF_TEXT && !sl_conf_scan_number(type, value, &n))
		sl_conf_note(c, where, "%s=%s: expected a number", key, value);
	if (sl_grow(&c->setting, &c->own->setting_room, c->settings + UINT64_C(1), sizeof(*c->setting), err))
		return -1;
	value = sl_conf_copy(c, value, err);
	if (!value)
		return -1;
	c->setting[c->settings++] = (struct sl_conf_value) { .key = key, .value = value, .where = where };
	return 0;
}

static int setting_line(struct sl_conf *c, struct sl_conf_where where, const struct sl_conf_word *w, char *rest,
			struct sl_error *err)
{
	enum sl_conf_type type;
	const char *key = sl_conf_find_setting(w->key, &type), *near, *home = sl_conf_other_home(w->key);

	if (!key && home) {
		sl_conf_note(c, where, "%s is an option %s, and none of slurm.conf: the line is left out", w->key, home);
		return 0;
	}
	if (!key) {
		near = sl_conf_nearest_setting(w->key);
		sl_conf_note(c, where, "no option of slurm.conf is called %s%s%s%s: the line is left out", w->key,
			     near ? " (the nearest is " : "", near ? near : "", near ? ")" : "");
		return 0;
	}
	rest += strspn(rest, " \t\n\v\f\r");
	if (*rest)
		return sl_conf_fail(where, err, "\"%.60s\" behind %s: expected one option in a line", rest, key);
	return add_setting(c, where, key, w->value, type, err);
}

/* Lines that are read to see that they are in order, and mean nothing here. */
static int other_line(struct sl_conf *c, struct sl_conf_where where, const struct sl_conf_table *table, char *rest,
		      struct sl_error *err)
{
	struct sl_conf_words words;

	return sl_conf_read_words(c, where, table, rest, &words, err);
}

static int take_line(void *arg, struct sl_conf_where where, char *text, struct sl_error *err)
{
	struct sl_conf *c = arg;
	struct sl_conf_word w;
	bool machine = c->own->what == SL_CONF_MACHINE;

	if (sl_conf_next_word(&text, &w) < 0)
		return sl_conf_fail(where, err, "\"%.60s\": expected KEY=VALUE", text);
	if (!strcasecmp(w.key, "NodeName"))
		return machine ? sl_conf_node_line(c, where, w.value, text, err) : 0;
	if (!strcasecmp(w.key, "PartitionName"))
		return machine ? sl_conf_partition_line(c, where, w.value, text, err) : 0;
	if (!strcasecmp(w.key, "NodeSet"))
		return machine ? sl_conf_nodeset_line(c, where, w.value, text, err) : 0;
	if (!strcasecmp(w.key, "DownNodes"))
		return machine ? other_line(c, where, &sl_conf_downnodes_table, text, err) : 0;
	if (!strcasecmp(w.key, "FrontendName"))
		return machine ? other_line(c, where, &sl_conf_frontend_table, text, err) : 0;
	if (!strcasecmp(w.key, "PowerAction"))
		return 0;
	return setting_line(c, where, &w, text, err);
}

static const char *cluster_name(void *arg)
{
	const struct sl_conf_value *v = sl_conf_get(arg, "ClusterName");

	return v ? v->value : NULL;
}

/* -- the whole ------------------------------------------------------------------ */

const struct sl_conf_value *sl_conf_get(const struct sl_conf *c, const char *key)
{
	for (uint32_t i = c->settings; i-- > 0; )
		if (!strcasecmp(c->setting[i].key, key))
			return &c->setting[i];
	return NULL;
}

uint32_t sl_conf_count(const struct sl_conf *c, const char *key)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < c->settings; i++)
		count += !strcasecmp(c->setting[i].key, key);
	return count;
}

/* Words of SelectTypeParameters, as parse_select_type_param() of src/common knows them. */
static void select_word(struct sl_conf *c, const struct sl_conf_value *v, const char *word)
{
	static const struct {
		const char *word;
		struct sl_conf_select means;
	} words[] = {
		{ "CR_Socket", { .socket = true } }, { "CR_Socket_Memory", { .socket = true, .memory = true } },
		{ "CR_Core", { 0 } }, { "CR_Core_Memory", { .memory = true } }, { "CR_Memory", { .memory = true } },
		{ "CR_CPU", { 0 } }, { "CR_CPU_Memory", { .memory = true } },
		{ "CR_ONE_TASK_PER_CORE", { .one_task_per_core = true } }, { "CR_LLN", { .lln = true } },
		{ "CR_PACK_NODES", { .pack_nodes = true } }, { "CR_CORE_DEFAULT_DIST_BLOCK", { 0 } },
		{ "CR_ALLOCATE_FULL_SOCKET", { 0 } }, { "other_cons_res", { 0 } }, { "other_cons_tres", { 0 } },
		{ "OTHER_CONS_TRES", { 0 } }, { "LL_SHARED_GRES", { 0 } }, { "ENFORCE_BINDING_GRES", { 0 } },
		{ "MULTIPLE_SHARING_GRES_PJ", { 0 } }, { "ONE_TASK_PER_SHARING_GRES", { 0 } },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const struct sl_conf_select *m = &words[i].means;

		if (strcasecmp(word, words[i].word))
			continue;
		c->select.socket |= m->socket;
		c->select.memory |= m->memory;
		c->select.one_task_per_core |= m->one_task_per_core;
		c->select.lln |= m->lln;
		c->select.pack_nodes |= m->pack_nodes;
		return;
	}
	sl_conf_note(c, v->where, "SelectTypeParameters has no word %s: it is left out", word);
}

/* Where nothing is said it is select/cons_tres with CR_Core_Memory. */
static void resolve_select(struct sl_conf *c)
{
	const struct sl_conf_value *type = sl_conf_get(c, "SelectType"), *words = sl_conf_get(c, "SelectTypeParameters");
	char *copy, *save = NULL;

	c->select.whole_nodes = type && !strcasecmp(type->value, "select/linear");
	c->select.memory = !words && !c->select.whole_nodes;
	copy = words ? strdup(words->value) : NULL;
	for (char *w = copy ? strtok_r(copy, ",", &save) : NULL; w; w = strtok_r(NULL, ",", &save))
		select_word(c, words, w);
	free(copy);
}

static int resolve(struct sl_conf *c, const char *path, struct sl_error *err)
{
	resolve_select(c);
	if (sl_conf_order_nodes(c, err) || sl_conf_resolve_topology(c, path, err))
		return -1;
	if (sl_conf_resolve_gres(c, path, err))
		return -1;
	return sl_conf_resolve_partitions(c, err);
}

struct sl_conf *sl_conf_read(const char *path, enum sl_conf_what what, struct sl_error *err)
{
	struct sl_conf *c = calloc(1, sizeof(*c));
	struct sl_conf_source source = { .line = take_line, .cluster = cluster_name, .arg = c };

	if (c)
		c->own = calloc(1, sizeof(*c->own));
	if (!c || !c->own) {
		free(c);
		sl_fail(err, SL_ENOMEM, "%s: out of memory", path);
		return NULL;
	}
	c->own->what = what;
	source.files = &c->own->files;
	source.notes = &c->notes;
	if (sl_conf_each_line(path, &source, err) || (what == SL_CONF_MACHINE && resolve(c, path, err))) {
		sl_conf_destroy(c);
		return NULL;
	}
	return c;
}

void sl_conf_destroy(struct sl_conf *c)
{
	struct sl_conf_own *own = c ? c->own : NULL;

	if (!c)
		return;
	for (uint32_t i = 0; i < c->partitions; i++)
		free(c->partition[i].node);
	for (uint32_t i = 0; i < own->full; i++)
		free(own->blocks[i]);
	free(own->blocks);
	free(own->nodeset);
	free(own->name);
	sl_map_free(&own->by_name);
	sl_map_free(&own->by_gres);
	sl_map_free(&own->by_nodeset);
	sl_map_free(&own->by_partition);
	sl_conf_files_free(&own->files);
	sl_notes_free(&c->notes);
	free(c->setting);
	free(c->kind);
	free(c->node);
	free(c->gres);
	free(c->partition);
	free(own);
	free(c);
}
