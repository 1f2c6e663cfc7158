/* SPDX-License-Identifier: MIT */
/*
 * keeper_private.h - the packets between the engine and the keeper.
 */
#ifndef SL_KEEPER_PRIVATE_H
#define SL_KEEPER_PRIVATE_H

#include "ledger/keeper.h"
#include "ledger/ledger.h"

#define KEEPER_MAGIC 0x4b4c	/* "LK" */
#define KEEPER_PARTITION 512

enum keeper_type { KEEPER_FEED = 1, KEEPER_ASK, KEEPER_STATE, KEEPER_ANSWER, KEEPER_RUNS };

/* One packet, whole, in both directions; numbers are the machine's. */
struct keeper_packet {
	uint32_t magic;
	uint32_t type;
	int64_t sequence;		/* FEED; STATE, ANSWER: of the snapshot that is safe */
	uint64_t id;			/* ASK, ANSWER */
	uint32_t by, unit, without, has_partition;	/* ASK */
	int64_t since, until, now;
	double half_life;
	char partition[KEEPER_PARTITION];
	uint32_t ok, count;		/* ANSWER: with a count, totals or lists are attached; RUNS: so many keys are */
	char stale[256];		/* STATE, ANSWER: why, or empty */
	char error[256];		/* ANSWER that is not ok */
};

/* The totals: a table of these, then the names, each ended by NUL. */
struct keeper_total {
	int64_t seconds;
	double decayed;
	uint64_t name;			/* offset from the first byte */
};

/*
 * The keys of a question about runs: a table of these, then the names.  Who has no run that is newer
 * than his mark has no list in the answer: the lists, then the runs of one after the other, the
 * newest last, then the texts.  Texts are offsets from the first byte, each ended by NUL.
 */
struct keeper_key {
	uint64_t mark, name;
	uint32_t by, unused;
};

struct keeper_list {
	uint64_t mark;
	uint32_t key, runs;
};

struct keeper_run {
	int64_t start, end, seconds, limit;
	uint64_t user, account, partition, name;
	uint32_t job, state, count[SL_UNITS], unused;
};

/* The keeper's answer to a question about runs (keeper_runs.c): a memfd, and how many lists there are; -1
 * with *err.  Nobody's are new: no list, and *fd is -1. */
int keeper_answer_runs(struct sl_ledger *l, int question, uint32_t keys, uint32_t *lists, int *fd,
		       struct sl_error *err);

/* Put what came into the history; false: it makes no sense. */
bool keeper_take_runs(struct sl_history *h, const struct keeper_key *key, uint32_t keys, const char *names,
		      uint32_t lists, int fd);

/* Send a packet, with a descriptor unless it is -1.  1; 0 when there is no room; -1: gone. */
int keeper_send(int sock, const struct keeper_packet *p, int fd, int timeout_ms);

/* Receive one.  1; 0 when there is none in time; -1 when the other end is gone. */
int keeper_recv(int sock, struct keeper_packet *p, int *fd, int timeout_ms);

/* The keeper itself, in its own process: returns when the engine is gone. */
int keeper_serve(int sock, const char *dir);

/* Become the owner of *dir* and give up the rest (process/harden.h), as the keeper or as the process that
 * watches over it.  0, or -1 with *err. */
int keeper_confine(const char *dir, bool watch, struct sl_error *err);

#endif
