/* SPDX-License-Identifier: MIT */
/*
 * conf/gres.c - generic resources of nodes: Gres= of NodeName lines as _get_gres_cnt() of slurmctld counts it,
 * and gres.conf, which says of which type they are where slurm.conf does not; see conf/private.h.
 *
 * slurmctld believes slurm.conf for how many there are; gres.conf is slurmd's, and adds the types when a node
 * registers.  AutoDetect= says nothing that could be known without the node.
 */
#include "conf/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/order.h"
#include "base/search.h"
#include "image/gres_word.h"
#include "image/nodelist.h"

#define MOST_ITEMS 64		/* of a node */
#define MOST_DEVICES 65536
#define MOST_EVERYWHERE 1024	/* lines of gres.conf that are about all nodes */
#define MOST_PLACES (1u << 24)	/* nodes of all lines */

struct set {			/* being put together */
	struct sl_conf_gres item[MOST_ITEMS];
	uint32_t items;
};

/* -- sets ------------------------------------------------------------------------- */

static struct sl_conf_gres *find_item(struct set *s, const char *name, const char *type)
{
	for (uint32_t i = 0; i < s->items; i++)
		if (!strcmp(s->item[i].name, name) && !strcmp(s->item[i].type, type) && !s->item[i].share)
			return &s->item[i];
	return NULL;
}

static int add_item(struct sl_conf *c, struct set *s, struct sl_conf_where where, const struct sl_gres_word *w,
		    struct sl_error *err)
{
	struct sl_conf_gres *item = find_item(s, w->name, w->type);

	if (!item) {
		if (s->items == MOST_ITEMS)
			return sl_conf_fail(where, err, "more than %d generic resources of a node", MOST_ITEMS);
		item = &s->item[s->items];
		*item = (struct sl_conf_gres) {
			.name = sl_conf_copy(c, w->name, err), .type = *w->type ? sl_conf_copy(c, w->type, err) : "",
		};
		if (!item->name || !item->type)
			return -1;
		s->items++;
	}
	item->count += w->count;
	if (item->count > SL_GRES_MOST)
		return sl_conf_fail(where, err, "Gres: %" PRIu64 " of %s: expected up to 2^60", item->count, w->name);
	for (uint32_t i = 0; w->no_consume && i < s->items; i++)	/* of one, of all of that name */
		if (!strcmp(s->item[i].name, w->name))
			s->item[i].no_consume = true;
	return 0;
}

static bool same_set(const struct sl_conf_gres_set *a, const struct set *b)
{
	if (a->items != b->items)
		return false;
	for (uint32_t i = 0; i < a->items; i++) {
		const struct sl_conf_gres *x = &a->item[i], *y = &b->item[i];

		if (strcmp(x->name, y->name) || strcmp(x->type, y->type) || x->count != y->count ||
		    x->no_consume != y->no_consume || !x->share != !y->share || (x->share && strcmp(x->share, y->share)))
			return false;
	}
	return true;
}

/* The number of an equal set among those of the whole.  SL_MAP_NOTHING with *err. */
static uint32_t keep_set(struct sl_conf *c, const struct set *s, struct sl_error *err)
{
	struct sl_conf_gres *item;

	uint64_t hash = SL_HASH;

	for (uint32_t i = 0; i < s->items; i++)
		hash = sl_hash_number(sl_hash_text(sl_hash_text(hash, s->item[i].name), s->item[i].type), s->item[i].count);
	SL_MAP_EACH(&c->own->by_gres, hash, at)
		if (same_set(&c->gres[at.value], s))
			return at.value;
	item = sl_conf_alloc(c, s->items * sizeof(*item) + 1, err);
	if (!item || sl_grow(&c->gres, &c->own->gres_room, c->gres_sets + UINT64_C(1), sizeof(*c->gres), err) ||
	    sl_map_put(&c->own->by_gres, hash, c->gres_sets, err))
		return SL_MAP_NOTHING;
	memcpy(item, s->item, s->items * sizeof(*item));
	c->gres[c->gres_sets] = (struct sl_conf_gres_set) { .item = item, .items = s->items };
	return c->gres_sets++;
}

static uint64_t count_gpus(const struct set *s)
{
	uint64_t gpus = 0;

	for (uint32_t i = 0; i < s->items; i++)
		gpus += strcmp(s->item[i].name, "gpu") ? 0 : s->item[i].count;
	return gpus;
}

/* Shards are shares of the node's GPUs, of each as many: a row for the GPUs of each type.  mps is for one GPU of the
 * node at a time and is not modelled. */
static int split_shares(struct sl_conf *c, struct set *s, struct sl_conf_where where, struct sl_error *err)
{
	struct set out = { .items = 0 };
	uint64_t gpus = count_gpus(s);

	for (uint32_t i = 0; i < s->items; i++) {
		const struct sl_conf_gres *item = &s->item[i];
		bool shard = !strcmp(item->name, "shard"), mps = !strcmp(item->name, "mps");

		if (!item->count)
			continue;
		if (mps || (shard && (!gpus || item->count % gpus))) {
			sl_conf_note(c, where, "Gres: %s:%" PRIu64 " on %" PRIu64 " GPUs is not modelled, and left out", item->name,
				     item->count, gpus);
			continue;
		}
		for (uint32_t g = 0; g < (shard ? s->items : 1); g++) {
			struct sl_conf_gres row = *item;

			if (shard && (strcmp(s->item[g].name, "gpu") || !s->item[g].count))
				continue;
			if (shard) {
				row.share = s->item[g].type;
				row.count = item->count / gpus * s->item[g].count;
			}
			if (out.items == MOST_ITEMS)
				return sl_conf_fail(where, err, "more than %d generic resources of a node", MOST_ITEMS);
			out.item[out.items++] = row;
		}
	}
	*s = out;
	return 0;
}

/* The words of Gres=; resources that are not in GresTypes= are not there for slurmctld. */
static int read_gres(struct sl_conf *c, const struct sl_conf_kind *k, const char *types, struct set *s, struct sl_error *err)
{
	struct sl_gres_word w;

	s->items = 0;
	for (const char *p = k->gres_text; *p; p += *p == ',') {
		size_t n = sl_gres_word_length(p);

		if (n && !(n == 4 && !strncasecmp(p, "none", n)) && !(n == 6 && !strncasecmp(p, "(null)", n))) {
			if (!sl_gres_word(p, n, &w))
				return sl_conf_fail(k->where, err, "Gres=%.*s: expected name:type:count", (int) n, p);
			if (!sl_list_has(types, ",", w.name, strlen(w.name)))
				sl_conf_note(c, k->where, "Gres=%.*s is left out, as slurmctld does: %s is not in GresTypes", (int) n, p,
					     w.name);
			else if (add_item(c, s, k->where, &w, err))
				return -1;
		}
		p += n;
	}
	return 0;
}

/* -- gres.conf ----------------------------------------------------------------------- */

struct entry {			/* a line of gres.conf */
	struct sl_gres_word w;
	bool everywhere;	/* without NodeName= */
	uint32_t *node, nodes, room;
};

struct file {			/* gres.conf */
	struct sl_conf *c;
	const char *types;	/* GresTypes= */
	struct entry *entry;
	uint32_t entries, room;
	uint32_t everywhere[MOST_EVERYWHERE], everywheres;	/* numbers of entries, ascending */
	uint32_t places;	/* nodes of all lines */
	uint32_t *own, *first;	/* those of node i: own[first[i]] to before own[first[i + 1]], ascending */
	struct sl_conf_where where;
	struct sl_error *err;
};

static int count_one(const char *name, void *arg)
{
	uint64_t *n = arg;

	(void) name;
	return ++*n >= MOST_DEVICES;
}

/* How many devices a line is about. */
static int count_devices(struct file *f, const struct sl_conf_words *words, uint64_t *count)
{
	const char *file = words->value[SL_GRES_FILE] ? words->value[SL_GRES_FILE] : words->value[SL_GRES_FILES];

	*count = 0;
	if (words->value[SL_GRES_COUNT])
		return sl_gres_count(words->value[SL_GRES_COUNT], count) ? 0 :
		       sl_conf_fail(f->where, f->err, "Count=%s: expected a number", words->value[SL_GRES_COUNT]);
	if (file)
		return sl_conf_split(file, f->where, count_one, count, f->err) < 0 ? -1 : 0;
	*count = 1;
	return 0;
}

static int add_entry_node(const char *name, void *arg)
{
	struct file *f = arg;
	struct entry *e = &f->entry[f->entries];
	uint32_t node = sl_conf_find_node(f->c, name);

	if (node == SL_MAP_NOTHING || node >= f->c->nodes)
		return 0;	/* slurmd of that node would read it */
	if (f->places++ == MOST_PLACES)
		return sl_conf_fail(f->where, f->err, "more than %u nodes in all lines", MOST_PLACES);
	if (sl_grow(&e->node, &e->room, e->nodes + UINT64_C(1), sizeof(*e->node), f->err))
		return -1;
	e->node[e->nodes++] = node;
	return 0;
}

/* "NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-3]"; the NodeName may be missing. */
static int gres_line(void *arg, struct sl_conf_where where, char *text, struct sl_error *err)
{
	struct file *f = arg;
	struct sl_conf_word w;
	struct sl_conf_words words;
	struct entry *e;
	const char *name;
	char *rest = text;

	f->where = where;
	if (sl_conf_next_word(&rest, &w) < 0)
		return sl_conf_fail(where, err, "\"%.60s\": expected KEY=VALUE", rest);
	if (!strcasecmp(w.key, "AutoDetect"))
		return 0;
	if (strcasecmp(w.key, "NodeName") && strcasecmp(w.key, "Name")) {
		sl_conf_note(f->c, where, "no line of gres.conf begins with %s: it is left out", w.key);
		return 0;
	}
	if (sl_conf_read_words(f->c, where, &sl_conf_gres_table, rest, &words, err) ||
	    sl_grow(&f->entry, &f->room, f->entries + UINT64_C(1), sizeof(*f->entry), err))
		return -1;
	name = strcasecmp(w.key, "Name") ? words.value[SL_GRES_NAME] : w.value;
	if (!name || !words.value[SL_GRES_TYPE])
		return 0;	/* it has nothing to add to slurm.conf */
	e = &f->entry[f->entries];
	*e = (struct entry) { .everywhere = !strcasecmp(w.key, "Name") };
	if (snprintf(e->w.name, sizeof(e->w.name), "%s", name) >= (int) sizeof(e->w.name) ||
	    snprintf(e->w.type, sizeof(e->w.type), "%s", words.value[SL_GRES_TYPE]) >= (int) sizeof(e->w.type))
		return sl_conf_fail(where, err, "Name=%.40s Type=%.40s: expected shorter words", name, words.value[SL_GRES_TYPE]);
	if (count_devices(f, &words, &e->w.count))
		return -1;
	if (!e->everywhere && sl_conf_split(w.value, where, add_entry_node, f, err)) {
		free(e->node);
		return -1;
	}
	if (e->nodes)
		qsort(e->node, e->nodes, sizeof(*e->node), sl_order_u32);
	if (e->everywhere && f->everywheres == MOST_EVERYWHERE)
		return sl_conf_fail(where, err, "more than %d lines for all nodes: expected NodeName", MOST_EVERYWHERE);
	if (e->everywhere)
		f->everywhere[f->everywheres++] = f->entries;
	f->entries++;
	return 0;
}

/* -- which lines are about a node ------------------------------------------------------ */

/* Is this the first place of a node in a line?  Its nodes are sorted. */
static bool is_first(const struct entry *e, uint32_t i)
{
	return !i || e->node[i] != e->node[i - 1];
}

static int index_entries(struct file *f)
{
	uint32_t *at;

	f->first = calloc(f->c->nodes + UINT64_C(2), sizeof(*f->first));
	if (!f->first)
		return sl_fail(f->err, SL_ENOMEM, "out of memory");
	at = f->first + 1;		/* of each node: where its next one goes, and at the end where the next node's begin */
	for (uint32_t n = 0; n < f->entries; n++)
		for (uint32_t i = 0; i < f->entry[n].nodes; i++)
			if (is_first(&f->entry[n], i))
				at[f->entry[n].node[i] + 1]++;
	for (uint32_t i = 1; i <= f->c->nodes; i++)
		at[i] += at[i - 1];
	f->own = malloc((at[f->c->nodes] + UINT64_C(1)) * sizeof(*f->own));
	if (!f->own)
		return sl_fail(f->err, SL_ENOMEM, "out of memory");
	for (uint32_t n = 0; n < f->entries; n++)
		for (uint32_t i = 0; i < f->entry[n].nodes; i++)
			if (is_first(&f->entry[n], i))
				f->own[at[f->entry[n].node[i]]++] = n;
	return 0;
}

struct walk {			/* through the lines about a node, in the order of the file */
	const struct file *f;
	uint32_t everywhere, own, end;
};

/* *node* SL_MAP_NOTHING: only those about all nodes. */
static struct walk begin_walk(const struct file *f, uint32_t node)
{
	struct walk w = { .f = f };

	if (node != SL_MAP_NOTHING) {
		w.own = f->first[node];
		w.end = f->first[node + 1];
	}
	return w;
}

static const struct entry *next_entry(struct walk *w)
{
	const struct file *f = w->f;
	uint32_t everywhere = w->everywhere < f->everywheres ? f->everywhere[w->everywhere] : UINT32_MAX;
	uint32_t own = w->own < w->end ? f->own[w->own] : UINT32_MAX;

	if (everywhere == UINT32_MAX && own == UINT32_MAX)
		return NULL;
	if (everywhere < own) {
		w->everywhere++;
		return &f->entry[everywhere];
	}
	w->own++;
	return &f->entry[own];
}

/* Give the resources that slurm.conf has without a type those of gres.conf, up to their number. */
static int add_types(struct file *f, struct set *s, uint32_t node)
{
	for (uint32_t i = 0, items = s->items; i < items; i++) {
		struct sl_conf_gres untyped = s->item[i];
		struct walk walk = begin_walk(f, node);
		const struct entry *e;
		bool typed = false;

		for (uint32_t j = 0; j < items; j++)
			typed |= *s->item[j].type && !strcmp(s->item[j].name, untyped.name);
		while (!typed && (e = next_entry(&walk))) {
			struct sl_gres_word w = e->w;

			if (strcmp(w.name, untyped.name))
				continue;
			w.count = w.count < s->item[i].count ? w.count : s->item[i].count;
			w.no_consume = untyped.no_consume;
			s->item[i].count -= w.count;
			if (w.count && add_item(f->c, s, f->where, &w, f->err))
				return -1;
		}
	}
	return 0;
}

/* The set of a node, or (node SL_MAP_NOTHING) of those of a kind that have no line of their own. */
static int make_set(struct file *f, const struct sl_conf_kind *k, uint32_t node, uint32_t *number)
{
	struct set s;

	if (read_gres(f->c, k, f->types, &s, f->err) || add_types(f, &s, node) || split_shares(f->c, &s, k->where, f->err))
		return -1;
	*number = keep_set(f->c, &s, f->err);
	return *number == SL_MAP_NOTHING ? -1 : 0;
}

static int resolve_all(struct file *f)
{
	struct sl_conf *c = f->c;
	int rc = index_entries(f);

	for (uint32_t k = 0; k < c->kinds && !rc; k++)
		if (*c->kind[k].gres_text)
			rc = make_set(f, &c->kind[k], SL_MAP_NOTHING, &c->kind[k].gres);
	for (uint32_t i = 0; i < c->nodes && !rc; i++) {
		struct sl_conf_node *n = &c->node[i];

		n->gres = c->kind[n->kind].gres;
		if (f->first[i] != f->first[i + 1] && n->gres) {
			struct sl_notes before = c->notes;

			c->notes = (struct sl_notes) { 0 };	/* they were given for the kind */
			rc = make_set(f, &c->kind[n->kind], i, &n->gres);
			sl_notes_free(&c->notes);
			c->notes = before;
		}
	}
	return rc;
}

int sl_conf_resolve_gres(struct sl_conf *c, const char *path, struct sl_error *err)
{
	const struct sl_conf_value *types = sl_conf_get(c, "GresTypes");
	struct file f = { .c = c, .types = types ? types->value : "", .err = err };
	struct sl_conf_source source = { .line = gres_line, .arg = &f, .files = &c->own->files, .notes = &c->notes };
	struct set none = { .items = 0 };
	char *gres = sl_conf_beside(path, "gres.conf");
	int rc = gres ? 0 : sl_fail(err, SL_ENOMEM, "out of memory");

	if (!rc && keep_set(c, &none, err) == SL_MAP_NOTHING)
		rc = -1;
	if (!rc && access(gres, F_OK) == 0)
		rc = sl_conf_each_line(gres, &source, err);
	if (!rc)
		rc = resolve_all(&f);
	for (uint32_t i = 0; i < f.entries; i++)
		free(f.entry[i].node);
	free(f.entry);
	free(f.own);
	free(f.first);
	free(gres);
	return rc;
}
