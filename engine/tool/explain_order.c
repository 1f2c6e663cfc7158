/* SPDX-License-Identifier: MIT */
#include "tool/explain_order.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "script/decide.h"
#include "image/partitions.h"
#include "ledger/ledger.h"
#include "tool/explain_stops.h"
#include "tool/gpus_apart.h"
#include "tool/sooner.h"
#include "tool/statedir.h"
#include "tool/tool.h"
#include "usage/history.h"

#define CAPTURE "schedlua-capture"

extern char **environ;

char *sl_explain_site(const char *dir)
{
	char path[PATH_MAX], *site = NULL;
	json_t *status;

	snprintf(path, sizeof(path), "%s/status.json", dir);
	status = json_load_file(path, 0, NULL);
	if (json_string_length(json_object_get(status, "site")))
		site = strdup(json_string_value(json_object_get(status, "site")));
	json_decref(status);
	/* another user may not read that */
	if (!site && !sl_statedir_site(path, sizeof(path)) && !access(path, R_OK))
		site = strdup(path);
	return site;
}

/* What schedlua-capture writes goes to *to*. */
static int capture(int to, struct sl_error *err)
{
	char program[PATH_MAX];
	char *argv[] = { (char *) CAPTURE, (char *) "-", NULL };
	posix_spawn_file_actions_t fa;
	int status, rc;
	pid_t pid;

	sl_tool_beside(CAPTURE, program);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, to, STDOUT_FILENO);
	rc = posix_spawnp(&pid, program, &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	if (rc)
		return sl_fail(err, SL_EIO, "%s: %s; --snapshot=FILE takes a picture that is there already", program,
			       strerror(rc));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return sl_fail(err, SL_EIO, "%s: %s", program, strerror(errno));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return sl_fail(err, SL_EIO, "%s failed", program);
	return 0;
}

static int look_at(const char *file, sl_explain_look *look, void *arg, struct sl_error *err)
{
	struct sl_snapshot snap;
	void *bytes = NULL;
	size_t size;
	int rc = -1;

	if (sl_image_load(&sl_snapshot_schema, file, &bytes, &size, err))
		return -1;
	if (sl_snapshot_open(&snap, bytes, size, err))
		sl_fail_in(err, "%s", file);
	else
		rc = look(&snap, arg, err);
	free(bytes);
	return rc;
}

int sl_explain_snapshot(const char *snapshot, sl_explain_look *look, void *arg, struct sl_error *err)
{
	char file[sizeof("/proc/self/fd/") + 12];
	int fd, rc;

	if (snapshot)
		return look_at(snapshot, look, arg, err);
	/* no file: whoever interrupts this would leave the jobs of all users behind in it */
	fd = memfd_create(CAPTURE, MFD_CLOEXEC);
	if (fd < 0)
		return sl_fail(err, SL_EIO, "%s: %s", CAPTURE, strerror(errno));
	snprintf(file, sizeof(file), "/proc/self/fd/%d", fd);
	rc = capture(fd, err);
	if (!rc)
		rc = look_at(file, look, arg, err);
	close(fd);
	return rc;
}

/* What a look at the snapshot needs. */
struct order {
	const struct sl_explain_ask *ask;
	const struct sl_bundle *bundle;		/* NULL: only the line is asked for */
	const struct sl_usage_provider *usage;
	struct sl_history *history;
	struct sl_explained *answer;
};

static int add_line(char **text, const char *line, struct sl_error *err)
{
	char *both = realloc(*text, strlen(*text) + strlen(line) + 1);

	if (!both)
		return sl_fail(err, SL_ENOMEM, "explain: out of memory");
	*text = strcat(both, line);
	return 0;
}

/* GPUs that are free where they are of no use to it. */
static int add_gpus(const struct sl_snapshot *snap, const struct sl_explain_ask *ask, struct sl_explained *answer,
		    struct sl_error *err)
{
	char *line = answer->text ? sl_gpus_apart(snap, ask->job) : NULL;
	int rc = line ? add_line(&answer->text, line, err) : 0;

	free(line);
	return rc;
}

/* Whom the policies would stop for the job on a snapshot that was kept.  A capture of now does not say whom Slurm lets it preempt, and
 * what was decided is in the journal. */
static int add_stops(const struct order *o, const struct sl_snapshot *snap, struct sl_error *err)
{
	char *line;
	int rc = sl_explain_stops(o->bundle, snap, o->usage, o->history, o->ask->job, &line, err);

	if (!rc && line)
		rc = add_line(&o->answer->text, line, err);
	free(line);
	return rc;
}

static int explain(const struct sl_snapshot *snap, void *arg, struct sl_error *err)
{
	struct sl_limits limits = { .budget_us = SL_EXPLAIN_BUDGET_US };
	struct order *o = arg;
	const struct sl_explain_ask *ask = o->ask;
	struct sl_explained *answer = o->answer;
	int rc = 0;

	if (ask->sooner)
		return sl_sooner(o->bundle, snap, o->usage, o->history, &limits, ask->job, &answer->text, err);
	if (o->bundle)
		rc = sl_decide_explain(o->bundle, snap, o->usage, o->history, &limits, ask->job, &answer->text,
				       ask->when ? &ask->when->standing : NULL, &answer->trace, err);
	if (!rc && o->bundle && ask->snapshot && answer->text)
		rc = add_stops(o, snap, err);
	if (!rc)
		rc = add_gpus(snap, ask, answer, err);
	if (!ask->when)
		return rc;
	ask->when->ordered = o->bundle && !rc;
	ask->when->now = snap->meta.now[0];
	answer->line = sl_when_line(ask->when, snap);
	answer->idle_core_s = sl_when_idle(ask->when, snap);
	if (rc && err->code == SL_ENOENT && answer->line)	/* it does not compete, and the line says why */
		rc = 0;
	return rc || answer->line || o->bundle ? rc : sl_fail_not_queued(snap, ask->job, err);
}

int sl_explain_order(const struct sl_explain_ask *ask, struct sl_explained *answer, struct sl_error *err)
{
	struct sl_bundle_source source = { .site = ask->site, .path = ask->path };
	struct order order = { .ask = ask, .answer = answer };
	struct sl_usage_provider usage;
	struct sl_ledger *l = NULL;
	struct sl_bundle *bundle;
	int rc = -1;

	*answer = (struct sl_explained) { 0 };
	order.bundle = bundle = ask->site ? sl_bundle_load(&source, NULL, &answer->trace, err) : NULL;
	if (bundle && ask->ledger && (l = sl_ledger_open(ask->ledger, SL_LEDGER_READ, err))) {
		usage = sl_usage_provider(sl_ledger_usage(l));
		order.usage = &usage;
		order.history = sl_history_create(sl_ledger_load_history, l, err);
	}
	if (!ask->site || (bundle && !ask->ledger == !order.history))
		rc = sl_explain_snapshot(ask->snapshot, explain, &order, err);
	if (!rc && answer->text && !ask->snapshot && !l)
		rc = add_line(&answer->text, "  (without the ledger: what was used before is not counted)\n", err);
	sl_history_destroy(order.history);
	sl_ledger_close(l);
	sl_bundle_destroy(bundle);
	return rc;
}

void sl_explained_free(struct sl_explained *answer)
{
	free(answer->line);
	free(answer->text);
	free(answer->trace);
	*answer = (struct sl_explained) { 0 };
}
