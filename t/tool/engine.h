/* SPDX-License-Identifier: MIT */
/*
 * engine.h - an engine as the plug-in meets it: the real program, started with a socket, asked in
 * frames.  Each test has one of its own, ended by pid; of what fails in here the running test fails.
 *
 *	cmocka_unit_test_setup_teardown(name, start_engine, stop_engine)
 */
#ifndef T_ENGINE_H
#define T_ENGINE_H

#include <string.h>
#include <sys/types.h>

#include "image/wire.h"

#define TIMEOUT_MS 60000	/* of an answer that never comes */

struct engine {
	pid_t pid;
	int sock;
	char dir[64];		/* of the site file, in the directory the test runs in */
	char site[256];
};

int start_engine(void **state);
int stop_engine(void **state);

/* The program itself, with that end of a socket, and what has to be said to it about its user: NULL,
 * or "--user=root" where this tree is root's alone.  *dir*: of the site file. */
pid_t spawn_engine(int sock, const char *dir);
const char *engine_user(void);

/* One option more of engines that are started from now on; NULL: none. */
extern const char *engine_option;

/* So many descriptors of engines that are started from now on are taken by something else. */
extern int engine_occupied;

/* Wait for the engine's end: its exit status, or minus the signal. */
int reap_engine(struct engine *e);

/* Send a frame and get the answer in its place.  Its descriptor is the engine's then. */
void ask_engine(struct engine *e, struct sl_frame *f);

/* -- sites and snapshots ------------------------------------------------ */

#define SITE(decide) \
	"local sched = require \"sched\"\n" \
	"local mine = { api = 1, name = \"mine\", doc = \"for a test\" }\n" \
	"function mine.decide(cluster, plan)\n" decide "end\n" \
	"return sched.site { interval = 7, budget = 1.5, default = { mine } }\n"

#define START_ALL SITE("for job in cluster:queue() do plan:start(job) end\n")
#define START_NONE SITE("for job in cluster:queue() do plan:refuse(job, \"not today\") end\n")

/* Write the site file anew: it has another inode then. */
void write_site(struct engine *e, const char *text);

/* A cluster "tiny" of two nodes on which job 7 can start: as JSON, and as a memfd. */
extern const char tiny[];
int snapshot_fd(void);

/* -- questions ---------------------------------------------------------- */

struct sl_frame_loaded load_site(struct engine *e, const char *site, int snapshot);

/* The answer to a DECIDE such as that; *started gets the job it starts (0: none), *reason why the
 * first of those that wait does so. */
struct sl_frame_plan decide_as(struct engine *e, struct sl_frame f, uint32_t *started, char reason[256]);

/* The site's policies decide; easy does, since they failed. */
struct sl_frame_plan decide(struct engine *e, int snapshot, uint32_t *started);
struct sl_frame_plan decide_bundled(struct engine *e, int snapshot, uint32_t *started, char reason[256]);

#define CONTAINS(text, part) do { \
	if (!strstr((text), (part))) \
		fail_msg("\"%s\" does not contain \"%s\"", (text), (part)); \
} while (0)

#endif
