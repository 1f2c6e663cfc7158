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
#include "ledger/ledger.h"
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

/* What is asked, and the answer. */
struct order {
	const struct sl_bundle *bundle;
	const struct sl_usage_provider *usage;
	struct sl_history *history;
	uint32_t job;
	bool sooner;
	char **text, **trace;
};

static int explain(const struct sl_snapshot *snap, void *arg, struct sl_error *err)
{
	struct sl_limits limits = { .budget_us = SL_EXPLAIN_BUDGET_US };
	struct order *o = arg;

	if (o->sooner)
		return sl_sooner(o->bundle, snap, o->usage, o->history, &limits, o->job, o->text, err);
	return sl_decide_explain(o->bundle, snap, o->usage, o->history, &limits, o->job, o->text, o->trace, err);
}

static int add_line(char **text, const char *line, struct sl_error *err)
{
	char *both = realloc(*text, strlen(*text) + strlen(line) + 1);

	if (!both)
		return sl_fail(err, SL_ENOMEM, "explain: out of memory");
	*text = strcat(both, line);
	return 0;
}

int sl_explain_order(const char *site, const char *path, const char *snapshot, const char *ledger, uint32_t job,
		     bool sooner, char **text, char **trace, struct sl_error *err)
{
	struct sl_bundle_source source = { .site = site, .path = path };
	struct order order = { .job = job, .sooner = sooner, .text = text, .trace = trace };
	struct sl_usage_provider usage;
	struct sl_ledger *l = NULL;
	struct sl_bundle *bundle;
	int rc = -1;

	*text = *trace = NULL;
	order.bundle = bundle = sl_bundle_load(&source, NULL, trace, err);
	if (bundle && ledger && (l = sl_ledger_open(ledger, SL_LEDGER_READ, err))) {
		usage = sl_usage_provider(sl_ledger_usage(l));
		order.usage = &usage;
		order.history = sl_history_create(sl_ledger_load_history, l, err);
	}
	if (bundle && !ledger == !order.history)
		rc = sl_explain_snapshot(snapshot, explain, &order, err);
	if (!rc && !snapshot && !l)
		rc = add_line(text, "  (without the ledger: what was used before is not counted)\n", err);
	sl_history_destroy(order.history);
	sl_ledger_close(l);
	sl_bundle_destroy(bundle);
	return rc;
}
