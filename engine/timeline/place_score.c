/* SPDX-License-Identifier: MIT */
/*
 * place_score.c - sorting the offers by a score (score.h).
 *
 * Nodes with the same equipment and the same free amounts have the same score, however their future differs.  Of such classes
 * only the first is scored.
 */
#include "timeline/score_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EFFORT_OF_SCORE 20	/* units of work for a bundled score */
#define EFFORT_OF_OWN 200

void sl_timeline_scoring(struct sl_timeline *tl, struct sl_scoring *scoring)
{
	tl->scoring = scoring;
}

static struct sl_scoring *scoring_of(struct sl_timeline *tl, struct sl_error *err)
{
	struct sl_space *sp = tl->space;

	if (tl->scoring)
		return tl->scoring;
	if (!sp->own_scoring)
		sp->own_scoring = calloc(1, sizeof(*sp->own_scoring));
	if (!sp->own_scoring)
		sl_fail(err, SL_ENOMEM, "placement: out of memory");
	return sp->own_scoring;
}

static uint32_t milli_on(const struct sl_scoring *s, const struct sl_resources *capacity)
{
	uint32_t n = 0;

	for (int k = 0; s->gpus >> k; k++)
		n += s->gpus >> k & 1 ? capacity->gres[k] : 0;
	return n * SL_WHOLE_GPU;
}

static void find_most(struct sl_timeline *tl, const struct sl_scoring *s)
{
	struct sl_space *sp = tl->space;

	if (sp->knows_most)
		return;
	sp->knows_most = true;
	for (uint32_t k = 0; k < tl->kinds; k++) {
		uint32_t milli = milli_on(s, &tl->kind[k].capacity);

		sp->most_milli = milli > sp->most_milli ? milli : sp->most_milli;
	}
}

int sl_scorer_of(struct sl_scorer *of, struct sl_timeline *tl, enum sl_place_method method, struct sl_error *err)
{
	struct sl_scoring *s = scoring_of(tl, err);

	if (!s)
		return -1;
	if (method == SL_PLACE_FGD && !s->has_mix && s->make_mix && s->make_mix(s->make_mix_arg, s, err))
		return -1;
	if (method == SL_PLACE_FGD)
		s->has_mix = true;
	find_most(tl, s);
	*of = (struct sl_scorer) { .scoring = s, .devices = tl->devices, .method = method, .most_cores = tl->most_cores,
				   .most_milli = ((struct sl_space *) tl->space)->most_milli };
	return 0;
}

/* -- nodes that are alike ------------------------------------------------ */

/* What is free on the nodes of the offer when the job starts. */
static const struct sl_resources *free_at(const struct sl_timeline *tl, const struct sl_offer *o, int64_t t)
{
	const struct sl_node_class *g = &tl->class[o->class];

	return &g->step[t < g->next ? 0 : sl_step_at(g, t)].free;
}

/* True if both offers must get the same score: whatever a score can see of a node is compared here.  *jobs* is the number
 * of gres needs of the job; only that many elements of job[] are set. */
static bool are_alike(const struct sl_timeline *tl, const struct sl_offer *a, const struct sl_offer *b, uint32_t jobs, int64_t t)
{
	return tl->class[a->class].kind == tl->class[b->class].kind && a->units == b->units &&
	       sl_resources_equal(free_at(tl, a, t), free_at(tl, b, t)) &&
	       (!tl->devices || sl_resources_equal(&a->free, &b->free)) &&	/* by devices: a score depends on which
										 * device is free */
	       !memcmp(a->job, b->job, jobs * sizeof(a->job[0]));
}

static uint32_t hash_of(const struct sl_timeline *tl, const struct sl_offer *o, int64_t t)
{
	const struct sl_resources *free = free_at(tl, o, t);
	uint64_t h = tl->class[o->class].kind * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t) free->memory, word[SL_MAX_GRES / 4];

	memcpy(word, free->gres, sizeof(word));
	h = (h ^ (uint32_t) free->cores) * UINT64_C(0xff51afd7ed558ccd);
	for (int i = 0; i < SL_MAX_GRES / 4; i++)
		h = (h ^ h >> 31 ^ word[i]) * UINT64_C(0xff51afd7ed558ccd);
	return (uint32_t) (h ^ h >> 32);
}

/* Make an empty hash table for all offers.  Returns its size, a power of two; 0 with *err. */
static uint32_t begin_table(struct sl_space *sp, struct sl_error *err)
{
	uint32_t size = 16;

	while (size < 2 * sp->offers)
		size *= 2;
	if (sl_grow(&sp->asked, &sp->asked_room, size, sizeof(*sp->asked), err))
		return 0;
	memset(sp->asked, 0xff, size * sizeof(*sp->asked));
	return size;
}

/* -- asking -------------------------------------------------------------- */

struct ranking {
	struct sl_timeline *tl;
	const struct sl_need *need;
	struct sl_scorer scorer;
	int64_t t;
	bool late;
};

#define REFUSED UINT64_MAX

/* Map a score to an integer that sorts larger scores first, below REFUSED. */
static uint64_t key_of(double score)
{
	uint64_t bits;

	score += 0.0;		/* turns -0 into 0 */
	memcpy(&bits, &score, sizeof(bits));
	bits = bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
	return REFUSED - bits;
}

struct sl_scored_offer {
	struct ranking *of;
	const struct sl_offer *offer;
};

int sl_scored_bundled(const struct sl_scored *what, enum sl_place_method method, struct sl_error *err)
{
	struct ranking *r = what->offer->of;
	struct sl_scorer scorer;
	int device;

	if (!sl_place_has_bundled_score(method))
		return sl_fail(err, SL_EINVAL, "placement: no bundled score");
	if (sl_scorer_of(&scorer, r->tl, method, err) || sl_effort_spend(r->tl->effort, EFFORT_OF_SCORE, err))
		return -1;
	return (int) sl_scorer_ask(&scorer, r->need, what->offer->offer, &what->kind->capacity, &what->free, &device);
}

static void count_gpus(const struct ranking *r, struct sl_scored *what)
{
	const struct sl_scoring *s = r->scorer.scoring;
	struct sl_resources left = what->free;

	sl_subtract_taken(&left, &what->takes);
	what->gpus = sl_idle_gpus(s, r->tl->devices, &what->kind->capacity, &what->kind->capacity);
	what->free_gpus = sl_idle_gpus(s, r->tl->devices, &what->kind->capacity, &what->free);
	what->left_gpus = sl_idle_gpus(s, r->tl->devices, &what->kind->capacity, &left);
}

static int ask_own(struct ranking *r, struct sl_offer *o, struct sl_error *err)
{
	const struct sl_timeline *tl = r->tl;
	const struct sl_scoring *s = r->scorer.scoring;
	const struct sl_scored_offer offer = { r, o };
	struct sl_scored what = { .kind = &tl->kind[tl->class[o->class].kind], .node = sl_nodeset_next(o->nodes, 0),
				  .nodes = o->nodes->count, .free = *free_at(tl, o, r->t), .start = r->t, .late = r->late, .offer = &offer };
	double score = 0;
	int rc;

	o->key2 = 0;
	if (!s->own)
		return 0;
	sl_offer_takes(o, r->need, &what.kind->capacity, &what.takes);
	count_gpus(r, &what);
	rc = s->own(s->own_arg, &what, &score, err);
	if (rc > 0 && isnan(score))
		return sl_fail(err, SL_EINVAL, "placement: a score is no number");
	o->key2 = rc > 0 ? key_of(score) : r->late ? REFUSED - 1 : REFUSED;
	return rc < 0 ? -1 : 0;
}

static int ask_one(struct ranking *r, struct sl_offer *o, struct sl_error *err)
{
	const struct sl_resources *capacity = &r->tl->kind[r->tl->class[o->class].kind].capacity;
	uint32_t score;
	int device;

	if (r->scorer.method == SL_PLACE_OWN)
		return sl_effort_spend(r->tl->effort, EFFORT_OF_OWN, err) || ask_own(r, o, err) ? -1 : 0;
	sl_effort_add(r->tl->effort, EFFORT_OF_SCORE);
	score = sl_scorer_ask(&r->scorer, r->need, o, capacity, free_at(r->tl, o, r->t), &device);
	o->key2 = !r->late && score < r->need->least_score ? REFUSED : SL_SCORE_BEST - score;
	sl_offer_narrow(o, r->need, device);
	return 0;
}

/* The table slot of an offer that is alike, or the free slot for this one. */
static uint32_t *find_alike(const struct ranking *r, uint32_t offer, uint32_t size)
{
	struct sl_space *sp = r->tl->space;
	uint32_t i = hash_of(r->tl, &sp->offer[offer], r->t) & (size - 1);

	while (sp->asked[i] != UINT32_MAX &&
	       !are_alike(r->tl, &sp->offer[sp->asked[i]], &sp->offer[offer], r->need->jobs, r->t))
		i = (i + 1) & (size - 1);
	return &sp->asked[i];
}

static int ask_all(struct ranking *r, struct sl_error *err)
{
	struct sl_timeline *tl = r->tl;
	struct sl_space *sp = tl->space;
	uint32_t size = begin_table(sp, err);

	if (!size)
		return -1;
	for (uint32_t i = 0; i < sp->offers; i++) {
		uint32_t *alike = find_alike(r, i, size);

		if (*alike == UINT32_MAX) {
			*alike = i;
			if (ask_one(r, &sp->offer[i], err))
				return -1;
		} else {
			sp->offer[i].key2 = sp->offer[*alike].key2;
			if (tl->devices)
				memcpy(sp->offer[i].free.gres, sp->offer[*alike].free.gres, sizeof(sp->offer[i].free.gres));
		}
	}
	return 0;
}

/* Remove refused offers.  True if there were any. */
static bool drop_refused(struct sl_space *sp, const struct sl_need *need, struct sl_sums *sums)
{
	uint32_t kept = 0, all = sp->offers;

	*sums = (struct sl_sums) { 0 };
	for (uint32_t i = 0; i < all; i++) {
		const struct sl_offer *o = &sp->offer[i];

		if (o->key2 == REFUSED)
			continue;
		sl_sums_add(sums, need, o->units, o->job, o->nodes->count,
			    need->r->required ? sl_nodeset_common(need->r->required, o->nodes) : 0, 1);
		sp->offer[kept++] = *o;
	}
	sp->offers = kept;
	return kept < all;
}

int sl_rank_by_score(struct sl_timeline *tl, const struct sl_need *need, enum sl_place_method method, int64_t t,
		     struct sl_misfit *misfit, struct sl_error *err)
{
	struct ranking r = { .tl = tl, .need = need, .t = t, .late = t > tl->now };
	struct sl_space *sp = tl->space;
	struct sl_sums sums;

	if (sl_scorer_of(&r.scorer, tl, method, err) || ask_all(&r, err))
		return -1;
	if (!drop_refused(sp, need, &sums) || sl_sums_lack(&sums, need) == SL_LACK_NOTHING)
		return 1;
	return sl_refuse(misfit, SL_LACK_SCORE, need->min_nodes, sums.nodes);
}
