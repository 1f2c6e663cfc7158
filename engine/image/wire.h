/* SPDX-License-Identifier: MIT */
/*
 * wire.h - frames between the plug-in and the engine.
 *
 * A SOCK_SEQPACKET socket pair; one frame is one packet of at most
 * SL_FRAME_MAX bytes: a header and a short body.  What is large (snapshot,
 * plan) travels as a sealed memfd attached to its frame.  The receiver checks
 * magic, version, type, length and seals before it believes anything.  Frames
 * stay on one machine: numbers are the machine's.
 *
 *   plug-in -> engine                      engine -> plug-in
 *   HELLO   version, limits                HELLO   version, pid
 *   LOAD    site path (+ last snapshot)   LOADED ok | error text
 *   DECIDE  sequence, budget, + snapshot   PLAN    sequence, + plan | error text
 *   KEEP                                  KEPT    + the live set as bytes, if it is a site's
 *   RESTORE as LOAD, + such bytes         LOADED
 *   BYE
 *
 * One request is answered by one frame, in order.  Neither side keeps anything
 * of a request once it is answered, but for the loaded site.  Before the first
 * LOAD, and when the first LOAD failed, the bundled easy is live, until a RESTORE
 * brings back the set that was live in an engine before this one.
 *
 * Threads: none; the caller serializes.
 */
#ifndef SL_WIRE_H
#define SL_WIRE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "image/fence.h"

#define SL_WIRE_MAGIC 0x4c53u		/* "SL" */
#define SL_WIRE_VERSION 5
#define SL_FRAME_MAX 16384
#define SL_INTERVAL_MAX_S 86400		/* that a site file may say */
#define SL_BUDGET_MAX_S 3600

enum sl_frame_type { SL_FRAME_HELLO = 1, SL_FRAME_LOAD, SL_FRAME_LOADED, SL_FRAME_DECIDE, SL_FRAME_PLAN, SL_FRAME_BYE,
		     SL_FRAME_KEEP, SL_FRAME_KEPT, SL_FRAME_RESTORE };

/* HELLO's body, either way. */
struct sl_frame_hello {
	uint32_t wire_version;
	uint32_t snapshot_version, plan_version;	/* of the schemas */
	int32_t pid;
	char version[32];		/* the program's, "0.1.0" */
	char holds[128];		/* the engine's: what it gave up, for people (process/harden.h) */
};

/* LOAD's and RESTORE's body; with LOAD the latest snapshot may be attached, to probe the new set on. */
struct sl_frame_load {
	uint32_t trusted_uid;		/* SlurmUser: owner of site files beside root */
	uint32_t zero;
	int64_t budget_us;		/* of the decision on the attached snapshot; 0: as the site file says */
	char site[3072];		/* path of the site file; empty: the bundled easy */
	char policy_path[1024];		/* further directories of policies, colon-separated */
};

/* LOADED's body. */
struct sl_frame_loaded {
	int32_t ok;			/* 1: the new set is live; 0: the old one stays */
	int32_t code;			/* enum sl_errno */
	double interval_s, budget_s;	/* what the site file says; 0: nothing */
	struct sl_fence hold;		/* with ok: what it says is held on failure */
	char policy[256];		/* what is live now: "easy", "site: auction, easy" */
	char text[4096];		/* error: file:line: message and traceback */
};

/* DECIDE's body; the snapshot is the attached memfd. */
struct sl_frame_decide {
	int64_t sequence;
	int64_t budget_us;
	uint32_t bundled;		/* 1: the bundled easy decides, not the site's policies */
	uint32_t zero;
	struct sl_fence hold;		/* of the last set that was accepted: where no site's set is live */
};

/*
 * PLAN's body; with ok the plan is the attached memfd.
 *
 * The engine looks at the files of the live set before it decides and loads
 * them anew when one changed.  What came of it stands in *reload*: in the answer
 * to the request that noticed it, and only there.  It is news about the set, not
 * about this plan: a refused set leaves the old one live, and the plan is its.
 *
 * With *bundled*, easy decides in place of the site's own policies, which failed.  What
 * guards the partitions, the admit and allow of the live set, is asked as ever; where
 * that fails too, or no set of a site is live, the partitions that are to be held are.
 */
enum sl_reload { SL_RELOAD_NONE, SL_RELOAD_LIVE, SL_RELOAD_REFUSED };

struct sl_frame_plan {
	int64_t sequence;
	int32_t ok;
	int32_t code;			/* enum sl_errno; with ok and not SL_OK: the policy failed, what it had booked stands */
	uint32_t reload;		/* enum sl_reload */
	uint32_t zero;
	double interval_s, budget_s;	/* with SL_RELOAD_LIVE: what the site file says now */
	int64_t ledger_safe;		/* all that had ended by this snapshot is in the ledger; 0: nothing known;
					 * -1: there is no ledger, and there will be none */
	char stale[256];		/* why cluster.usage may be out of date, or empty */
	struct sl_fence hold;		/* with SL_RELOAD_LIVE: what it says is held on failure */
	char held[512];			/* "PARTITIONS: why": nothing starts there, as what guards them failed; or empty */
	char policy[256];		/* what decided */
	char text[3072];		/* why there is no plan, or what was wrong with the policy */
	char odd[256];			/* what of the live set has no effect on this cluster, or empty */
	char reload_text[2816];		/* SL_RELOAD_REFUSED: file:line: message and traceback */
};

struct sl_frame {
	enum sl_frame_type type;
	uint32_t length;		/* of the body */
	int fd;				/* attached memfd, or -1; the receiver's to close */
	union {
		struct sl_frame_hello hello;
		struct sl_frame_load load;
		struct sl_frame_loaded loaded;
		struct sl_frame_decide decide;
		struct sl_frame_plan plan;
	} body;
};

/*
 * Send one frame; fd -1 for none.  The body's length follows from the type; what
 * stands behind the end of a string is not sent.  Returns 0, or -1 with *err
 * (SL_EINVAL for a frame that the receiver would refuse, SL_ETIME after
 * timeout_ms, SL_EIO when the peer is gone).  Never raises SIGPIPE.
 */
int sl_wire_send(int sock, const struct sl_frame *frame, int timeout_ms, struct sl_error *err);

/*
 * Receive one frame within timeout_ms (-1: for ever).  Returns 1; 0 when the
 * peer closed; -1 with *err (SL_ETIME, SL_EFORMAT, SL_EVERSION, SL_EIO), in
 * which case no descriptor is left open.  What is received is whole: strings are
 * terminated, codes known, figures 0 or what a site file may say; a descriptor is there
 * with DECIDE, RESTORE and a PLAN that is ok, may be there with LOAD and KEPT, and
 * never else.
 * What a PLAN answers (its sequence) is for the caller to compare.
 */
int sl_wire_recv(int sock, struct sl_frame *frame, int timeout_ms, struct sl_error *err);

/* A sealed memfd with these bytes, or -1 with *err. */
int sl_wire_memfd(const char *name, const void *bytes, size_t size, struct sl_error *err);

/*
 * Map a sealed memfd read-only; the descriptor may be closed then.  Refuses one
 * that is not sealed against shrinking and writing, is empty, has holes (to read
 * them would allocate memory here), or is larger than an image may be.  Returns 0,
 * or -1 with *err.
 */
int sl_wire_map(int fd, const void **bytes, size_t *size, struct sl_error *err);
void sl_wire_unmap(const void *bytes, size_t size);

#endif
