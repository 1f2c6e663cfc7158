/* SPDX-License-Identifier: MIT */
/* features.c - see features.h */
#include "model/features.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/map.h"

#define WORDS_OF_UNIT 8		/* words combined in one unit of work */
#define RUNS_OF_UNIT 4		/* runs looked at in one unit of work */

/* Limit on runs of nodes in kept answers: 64 MiB.  There can be as many constraints as jobs. */
#define MOST_KEPT_RUNS ((UINT64_C(64) << 20) / sizeof(struct sl_run))

struct set_run {		/* consecutive nodes with the same set of features */
	uint32_t first, last;
	uint32_t set;
};

struct name {			/* the name of a feature */
	const char *text;
	size_t length;
	uint32_t *set;		/* sets that include it */
	uint32_t sets, room;
	uint64_t *bits;		/* the same as a bit mask; NULL: not needed yet */
};

struct known {			/* a known constraint */
	uint32_t str;
	struct sl_constraint_says says;
	bool has_nodes[SL_CONSTRAINT_CHOICES];
	struct sl_nodeset nodes[SL_CONSTRAINT_CHOICES];
};

struct sl_features {
	const struct sl_snapshot *snap;
	struct sl_effort *effort;
	bool built;
	uint32_t *set, sets;		/* distinct strings of features */
	struct set_run *run;
	uint32_t runs, run_room;
	struct name *name;
	uint32_t names;
	struct known **known;
	uint32_t knowns;
	struct sl_map set_of, name_of, known_of;
	uint64_t kept_runs;		/* runs of nodes in all kept answers */
	uint64_t *work;
	bool no_memory;			/* memory for a bit mask was lacking */
};

struct sl_features *sl_features_create(const struct sl_snapshot *snap, struct sl_effort *effort, struct sl_error *err)
{
	struct sl_features *f = calloc(1, sizeof(*f));

	if (!f) {
		sl_fail(err, SL_ENOMEM, "features: out of memory");
		return NULL;
	}
	f->snap = snap;
	f->effort = effort;
	return f;
}

static void forget_sets(struct sl_features *f)
{
	for (uint32_t i = 0; i < f->names; i++) {
		free(f->name[i].set);
		free(f->name[i].bits);
	}
	free(f->name);
	free(f->set);
	free(f->run);
	free(f->work);
	sl_map_free(&f->set_of);
	sl_map_free(&f->name_of);
	f->name = NULL;
	f->set = NULL;
	f->run = NULL;
	f->work = NULL;
	f->names = f->sets = f->runs = f->run_room = 0;
}

void sl_features_destroy(struct sl_features *f)
{
	if (!f)
		return;
	forget_sets(f);
	for (uint32_t i = 0; i < f->knowns; i++) {
		for (uint32_t k = 0; k < SL_CONSTRAINT_CHOICES; k++)
			sl_nodeset_free(&f->known[i]->nodes[k]);
		free(f->known[i]);
	}
	free(f->known);
	sl_map_free(&f->known_of);
	free(f);
}

/* -- what nodes have ------------------------------------------------------- */

static struct name *find_name(const struct sl_features *f, const char *text, size_t length)
{
	SL_MAP_EACH(&f->name_of, sl_hash_bytes(SL_HASH, text, length), at) {
		struct name *n = &f->name[at.value];

		if (n->length == length && !memcmp(n->text, text, length))
			return n;
	}
	return NULL;
}

/* Note that a set includes a feature. */
static int note_feature(struct sl_features *f, uint32_t set, const char *text, size_t length, struct sl_error *err)
{
	struct name *n = find_name(f, text, length);

	if (!n) {
		if (sl_grow_list(&f->name, f->names, sizeof(*n), err) ||
		    sl_map_put(&f->name_of, sl_hash_bytes(SL_HASH, text, length), f->names, err))
			return -1;
		n = &f->name[f->names++];
		*n = (struct name) { .text = text, .length = length };
	}
	if (sl_grow(&n->set, &n->room, n->sets + UINT64_C(1), sizeof(*n->set), err))
		return -1;
	n->set[n->sets++] = set;
	return 0;
}

/* The number of a set of features; UINT32_MAX with *err. */
static uint32_t number_set(struct sl_features *f, uint32_t str, struct sl_error *err)
{
	const char *at = sl_snapshot_str(f->snap, str);
	uint64_t hash = sl_hash_number(SL_HASH, str);

	SL_MAP_EACH(&f->set_of, hash, found)
		if (f->set[found.value] == str)
			return found.value;
	if (sl_grow_list(&f->set, f->sets, sizeof(*f->set), err) || sl_map_put(&f->set_of, hash, f->sets, err))
		return UINT32_MAX;
	f->set[f->sets] = str;
	while (*at) {
		size_t n = strcspn(at, ",");

		if (n && note_feature(f, f->sets, at, n, err) < 0)
			return UINT32_MAX;
		at += n + strspn(at + n, ",");
	}
	return f->sets++;
}

/* Done once for all constraints, so no job is charged for it. */
static int build_sets(struct sl_features *f, struct sl_error *err)
{
	const struct sl_node_view *node = &f->snap->node;

	if (f->built)
		return 0;
	forget_sets(f);		/* left over from a failed attempt */
	for (uint32_t n = 0; n < node->rows; n++) {
		uint32_t set;

		if (n && node->features[n] == node->features[n - 1]) {
			f->run[f->runs - 1].last = n;
			continue;
		}
		set = number_set(f, node->features[n], err);
		if (set == UINT32_MAX || sl_grow(&f->run, &f->run_room, f->runs + UINT64_C(1), sizeof(*f->run), err))
			return -1;
		f->run[f->runs++] = (struct set_run) { n, n, set };
	}
	f->work = calloc(SL_CONSTRAINT_WORK * (f->sets / 64 + 1), sizeof(*f->work));
	if (!f->work)
		return sl_fail(err, SL_ENOMEM, "features: out of memory");
	f->built = true;
	return 0;
}

/* -- constraints ----------------------------------------------------------- */

static struct sl_constraint_says read_constraint(const char *text)
{
	struct sl_constraint_says says = { 0 };

	says.kind = sl_constraint_read(text, &says.choices);
	for (uint32_t i = 0; says.kind == SL_CONSTRAINT_COUNTED && i < says.choices; i++)
		says.count[i] = sl_constraint_count(text, i);
	return says;
}

static struct known *find_known(const struct sl_features *f, uint32_t str)
{
	SL_MAP_EACH(&f->known_of, sl_hash_number(SL_HASH, str), at)
		if (f->known[at.value]->str == str)
			return f->known[at.value];
	return NULL;
}

/* Find or parse a constraint; NULL with *err. */
static struct known *know(struct sl_features *f, uint32_t str, struct sl_error *err)
{
	struct known *k = find_known(f, str);
	const char *text = sl_snapshot_str(f->snap, str);

	if (k)
		return k;
	k = calloc(1, sizeof(*k));
	if (!k) {
		sl_fail(err, SL_ENOMEM, "features: out of memory");
		return NULL;
	}
	if (sl_grow_list(&f->known, f->knowns, sizeof(*f->known), err) ||
	    sl_map_put(&f->known_of, sl_hash_number(SL_HASH, str), f->knowns, err)) {
		free(k);
		return NULL;
	}
	k->str = str;
	k->says = read_constraint(text);
	sl_effort_add(f->effort, strlen(text));
	f->known[f->knowns++] = k;
	return k;
}

struct sl_constraint_says sl_features_says(struct sl_features *f, uint32_t constraint)
{
	const char *text = sl_snapshot_str(f->snap, constraint);
	const struct known *k = *text ? know(f, constraint, NULL) : NULL;

	return k ? k->says : read_constraint(text);
}

static const uint64_t *sets_having(void *arg, const char *text, size_t length)
{
	struct sl_features *f = arg;
	struct name *n = find_name(f, text, length);

	sl_effort_add(f->effort, f->sets / 64 / WORDS_OF_UNIT + 1);
	if (!n || n->bits)
		return n ? n->bits : NULL;
	n->bits = calloc(f->sets / 64 + 1, sizeof(*n->bits));
	if (!n->bits) {
		f->no_memory = true;
		return NULL;
	}
	for (uint32_t i = 0; i < n->sets; i++)
		n->bits[n->set[i] / 64] |= UINT64_C(1) << n->set[i] % 64;
	return n->bits;
}

/* Discard all kept answers if there are too many. */
static void forget_answers(struct sl_features *f)
{
	if (f->kept_runs < MOST_KEPT_RUNS)
		return;
	f->kept_runs = 0;
	for (uint32_t i = 0; i < f->knowns; i++)
		for (uint32_t k = 0; k < SL_CONSTRAINT_CHOICES; k++) {
			f->known[i]->has_nodes[k] = false;
			sl_nodeset_free(&f->known[i]->nodes[k]);
		}
}

/* Collect the nodes whose sets are marked in f->work. */
static int collect_nodes(struct sl_features *f, struct sl_nodeset *out, struct sl_error *err)
{
	sl_nodeset_clear(out);
	for (uint32_t i = 0; i < f->runs; i++) {
		const struct set_run *r = &f->run[i];

		if (f->work[r->set / 64] >> r->set % 64 & 1 && sl_nodeset_add(out, r->first, r->last, err) < 0)
			return -1;
	}
	return sl_effort_spend(f->effort, f->runs / RUNS_OF_UNIT + out->runs, err);
}

const struct sl_nodeset *sl_features_nodes(struct sl_features *f, uint32_t constraint, uint32_t choice,
					   struct sl_error *err)
{
	struct known *k = know(f, constraint, err);
	struct sl_feature_bits bits = { .having = sets_having, .arg = f };

	if (!k)
		return NULL;
	if (choice >= k->says.choices || (k->says.kind != SL_CONSTRAINT_PLACED && k->says.kind != SL_CONSTRAINT_COUNTED)) {
		sl_fail(err, SL_EINVAL, "constraint %s: has no choice %u that nodes can be chosen by",
			sl_snapshot_str(f->snap, constraint), (unsigned) choice);
		return NULL;
	}
	if (k->has_nodes[choice])
		return &k->nodes[choice];
	forget_answers(f);
	if (build_sets(f, err) < 0)
		return NULL;
	bits.words = f->sets / 64 + 1;
	f->no_memory = false;
	sl_constraint_mark(sl_snapshot_str(f->snap, constraint), choice, &bits, f->work);
	if (f->no_memory) {
		sl_fail(err, SL_ENOMEM, "features: out of memory");
		return NULL;
	}
	if (collect_nodes(f, &k->nodes[choice], err) < 0)
		return NULL;
	k->has_nodes[choice] = true;
	f->kept_runs += k->nodes[choice].runs;
	return &k->nodes[choice];
}
