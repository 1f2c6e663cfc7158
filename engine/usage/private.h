/* SPDX-License-Identifier: MIT */
/*
 * usage/private.h - the inside of a usage, for usage*.c only.
 *
 * Answers are put together from a cache: sums over whole days (ranges), the pieces of
 * single days (edges), decayed sums.  What it has not is asked of the source and takes the
 * place of what was used longest ago.
 */
#ifndef SL_USAGE_PRIVATE_H
#define SL_USAGE_PRIVATE_H

#include "usage/usage.h"
#include "base/map.h"

#define RANGES 24	/* sums over whole days that are cached */
#define DECAYS 8
#define EDGES 16	/* days of which the pieces are cached */
#define NO_DAY INT64_MIN

struct range {
	int64_t first, end;		/* days; first == end: free */
	int64_t *sum;			/* [dim][unit] */
	uint64_t used;
};

struct decay {
	double half_life;		/* 0: free */
	int64_t at;			/* the instant that sum is of */
	double *sum;			/* [dim][unit] */
	uint64_t used;
};

struct pieces {
	int64_t day;
	struct sl_piece *piece;
	uint32_t count, room;
	uint64_t used;
};

/* The different users, or accounts, of all dimensions, in the order in which they came. */
struct names {
	const char **text;		/* a dimension's */
	uint32_t count, room;
	struct sl_map by_text;		/* -> number */
	uint32_t *of;			/* [dim]: number */
	uint32_t of_room;
};

struct sl_usage {
	struct sl_usage_source source;
	struct sl_dim *dim;
	uint32_t dims, dim_room;
	struct sl_map by_dim;		/* -> dim */
	struct names names[SL_BYS];
	uint32_t room;			/* dims that every sum has room for */
	struct range range[RANGES];
	struct decay decay[DECAYS];
	struct pieces edge[EDGES];
	uint64_t clock;
	bool in_memory;
	struct pieces *by_day;		/* in memory: [day - first_day] */
	int64_t first_day;
	uint32_t days;
	int64_t *net;			/* [dim]: the answer at hand */
	double *net_decayed;
	struct sl_usage_total *total;
	uint32_t net_room, decayed_room, total_room;
	bool failed;			/* out of memory while something was collected */
};

/* The day after the last in which some part of a piece lies. */
static inline int64_t usage_end_day(const struct sl_piece *p)
{
	return sl_day_of(p->end > p->start ? p->end - 1 : p->end) + 1;
}

/* usage/dim.c */
void usage_dims_free(struct sl_usage *u);

/* usage/cache.c: the sum over the days first <= day < end, the pieces of a day, the decayed
 * usage at *now*; from the source unless they are cached.  NULL with *err. */
struct range *usage_range(struct sl_usage *u, int64_t first, int64_t end, struct sl_error *err);
struct pieces *usage_edge(struct sl_usage *u, int64_t day, struct sl_error *err);
struct decay *usage_decay(struct sl_usage *u, double half_life, int64_t now, struct sl_error *err);

/* All sums get room for *need* dimensions.  -1: out of memory, nothing is lost. */
int usage_cache_grow(struct sl_usage *u, uint32_t need);
void usage_cache_free(struct sl_usage *u);

/* -1: out of memory. */
int usage_pieces_add(struct pieces *list, const struct sl_piece *p);

/* usage/memory.c: one more piece, whatever its sign. */
int usage_memory_note(struct sl_usage *u, const struct sl_piece *p, struct sl_error *err);
void usage_memory_free(struct sl_usage *u);

#endif
