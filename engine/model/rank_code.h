/* SPDX-License-Identifier: MIT */
/*
 * rank_code.h - a policy's rank(job, cluster, opt) as bytecode that needs no Lua.
 *
 * bind/translate.c translates a rank function that only reads: job fields, cluster.now and cluster.origin, constants, and
 * functions of `math`.  The result is bit for bit that of Lua: each step does what the Lua instruction does from which it was
 * made.  If a step would have to do more (raise an error, call a metamethod, read something unknown), the code gives up, and
 * the policy is asked.
 *
 * Values have Lua's types.  Tables and functions are those that the function could reach when it was translated.  Strings
 * belong to the code or to the snapshot.
 *
 * Ownership: the code owns what it points to and borrows nothing.  Threads: none.
 */
#ifndef SL_RANK_CODE_H
#define SL_RANK_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "image/snapshot.h"

enum sl_rank_kind {
	SL_RANK_NIL, SL_RANK_FALSE, SL_RANK_TRUE, SL_RANK_INTEGER, SL_RANK_FLOAT, SL_RANK_TEXT,
	SL_RANK_JOB, SL_RANK_CLUSTER,	/* the arguments */
	SL_RANK_TABLE, SL_RANK_FUNCTION, SL_RANK_BUILTIN,	/* *at* is their number; builtin: enum sl_rank_builtin */
	SL_RANK_WAITED,			/* a job field that is a time to subtract from now */
	SL_RANK_OTHER,			/* unknown */
};

struct sl_rank_value {
	enum sl_rank_kind kind;
	union {
		int64_t integer;
		double number;
		const char *text;
		uint32_t at;
	};
};

enum sl_rank_builtin { SL_RANK_ABS, SL_RANK_CEIL, SL_RANK_EXP, SL_RANK_FLOOR, SL_RANK_LOG, SL_RANK_MAX, SL_RANK_MIN, SL_RANK_SQRT };

enum sl_rank_arithmetic { SL_RANK_ADD, SL_RANK_SUB, SL_RANK_MUL, SL_RANK_MOD, SL_RANK_POW, SL_RANK_DIV, SL_RANK_IDIV };
enum sl_rank_comparison { SL_RANK_EQ, SL_RANK_LT, SL_RANK_LE, SL_RANK_GT, SL_RANK_GE };

/* R: registers of the call; V: constants.  Step i of a function corresponds to its instruction i. */
enum sl_rank_op {
	SL_RANK_NEVER,			/* an instruction that is skipped */
	SL_RANK_MOVE,			/* R[a] = R[b] */
	SL_RANK_LOAD,			/* R[a] = V[x] */
	SL_RANK_LOAD_NIL,		/* R[a] to R[a + b] */
	SL_RANK_LOAD_FALSE_SKIP,	/* R[a] = false, skip the next step */
	SL_RANK_FIELD,			/* R[a] = R[b].key[x] */
	SL_RANK_ARITHMETIC,		/* R[a] = R[b] (sub) R[c], skip the next step (for metamethods) */
	SL_RANK_ARITHMETIC_V,		/* R[a] = R[b] (sub) V[x], likewise */
	SL_RANK_MINUS,			/* R[a] = -R[b] */
	SL_RANK_NOT,			/* R[a] = not R[b] */
	SL_RANK_JUMP,			/* skip x steps; never backwards */
	SL_RANK_COMPARE,		/* skip the next step unless (R[a] (sub) R[b]) == k */
	SL_RANK_COMPARE_V,		/* skip the next step unless (R[a] (sub) V[x]) == k */
	SL_RANK_TEST,			/* skip the next step unless (R[a] is true) == k */
	SL_RANK_TEST_SET,		/* skip the next step unless (R[b] is true) == k, else R[a] = R[b] */
	SL_RANK_CALL,			/* R[a], R[a + 1], ... = R[a](R[a + 1] to R[a + b - 1]); b 0: up to the last value
					 * of the last call; c - 1 results, c 0: all */
	SL_RANK_RETURN,			/* return R[a] to R[a + b - 2]; b 0: up to the last value of the last call */
};

struct sl_rank_step {
	uint8_t op, a, b, c, sub;
	bool k;
	int32_t x;
};

struct sl_rank_function {
	const void *origin;		/* identifies the Lua function, for the translator */
	struct sl_rank_step *step;	/* NULL: it cannot be translated */
	uint32_t steps;
	uint8_t parameters, registers;
};

/* Where the value of a key comes from. */
enum sl_rank_source {
	SL_RANK_NO_FIELD, SL_RANK_U32, SL_RANK_I64, SL_RANK_F64, SL_RANK_STR, SL_RANK_FLAG,	/* columns */
	SL_RANK_CPUS, SL_RANK_TASKS, SL_RANK_GPUS, SL_RANK_SINCE_SUBMITTED, SL_RANK_USER, SL_RANK_PARTITION,
};
struct sl_rank_key {
	const char *name;
	enum sl_rank_source of_job;
	uint32_t view_offset;		/* of the column in the view of jobs */
	int64_t missing;
	uint8_t bit;			/* mask of the flag */
	bool unsaid;			/* 0 becomes nil */
	enum { SL_RANK_NO_TIME, SL_RANK_NOW, SL_RANK_ORIGIN } of_cluster;
};

struct sl_rank_code {
	struct sl_rank_function *function;	/* function[0] is rank() */
	uint32_t functions, function_room;
	struct sl_rank_value *value;
	uint32_t values, value_room;
	struct sl_rank_key *key;
	uint32_t keys, key_room;
	uint32_t tables;
	struct sl_rank_value *element;	/* of table t and key k: element[t * keys + k] */
	struct sl_rank_value options;	/* the third argument */
	char **text;
	uint32_t texts, text_room;
	bool timeless;			/* a job's rank never changes */
};

/* *code* may be NULL. */
void sl_rank_code_destroy(struct sl_rank_code *code);

/* The values of code->keys for a job that waits in the partition; valid as long as the snapshot. */
void sl_rank_code_read(const struct sl_rank_code *code, const struct sl_snapshot *snap, uint32_t job, uint32_t partition,
		       struct sl_rank_value *field);

/* The numbers that rank() returns; the second is 0 if it returns only one.  False: the policy must be asked. */
bool sl_rank_code_ask(const struct sl_rank_code *code, const struct sl_rank_value *field, int64_t now, int64_t origin,
		      double *rank, double *among_equals);

#endif
