/* SPDX-License-Identifier: MIT */
/*
 * cmd_deploy.c - schedlua deploy: a new site file, checked, compared with the one in force, put in its place whole, and
 * waited for until it decides.
 */
#include "tool/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/state_file.h"
#include "script/decide.h"
#include "tool/differ.h"
#include "tool/explain_order.h"
#include "tool/member.h"
#include "tool/statedir.h"
#include "tool/status.h"

#define NEW ".deploy"		/* beside the site file, and a process id: the one that is tried */
#define BEFORE ".before"	/* beside it: what --undo puts back */
#define MOST_BYTES ((size_t) 1 << 20)
#define LOOK_NS 200000000	/* between two looks at the status */

extern char **environ;

struct values {
	const char *dir, *to, *snapshot, *path;
	double wait_s;
	bool undo, dry_run;
};

static const struct sl_option options[] = {
	SL_DIR_OPTION(values),
	{ .name = "to", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, to), .argument = "FILE",
	  .doc = "the site file that is replaced; default: the one that decides" },
	{ .name = "snapshot", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, snapshot), .argument = "FILE",
	  .doc = "compare on this capture, not on the cluster as it is" },
	{ .name = "path", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, path), .argument = "DIR[:DIR]...",
	  .doc = "directories to search for policies before the bundled ones, as lua_path says" },
	{ .name = "wait", .type = SL_OPTION_NUMBER, .offset = offsetof(struct values, wait_s), .argument = "SECONDS",
	  .min = 0, .max = 86400, .standard = "60", .doc = "how long to wait until it decides" },
	{ .name = "dry-run", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, dry_run),
	  .doc = "check and compare, and leave the site file as it is" },
	{ .name = "undo", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, undo),
	  .doc = "put back the site file that the last deploy replaced" },
	{ 0 }
};

struct deploy {
	const struct values *v;
	char dir[PATH_MAX], site[PATH_MAX], fresh[PATH_MAX + 32], before[PATH_MAX + 16];
	const char *given;		/* the file with the new text, which is the one to be mended */
	char *text, *old;		/* the new site file, and what it replaces (NULL: there is none) */
	size_t size, old_size;
	struct stat like;		/* whose files they are, and who may read them: those of the one that is there */
	uid_t owner;			/* whom the status belongs to: SlurmUser */
	char policy[256];		/* the name by which the new set goes */
};

/* -- before anything changes ------------------------------------------------------ */

/* The site file that decides and its neighbours' names.  0, or -1 with *err. */
static int find_site(struct deploy *d, struct sl_error *err)
{
	char path[PATH_MAX + 16], *site;
	struct stat st;

	if (sl_statedir_find(d->v->dir, d->dir, sizeof(d->dir), err))
		return -1;
	site = d->v->to ? strdup(d->v->to) : sl_explain_site(d->dir);
	if (!site)
		return sl_fail(err, SL_ENOENT, "deploy: nothing says which site file decides; expected --to=FILE");
	snprintf(d->site, sizeof(d->site), "%s", site);
	free(site);
	snprintf(d->fresh, sizeof(d->fresh), "%s" NEW ".%ld", d->site, (long) getpid());
	snprintf(d->before, sizeof(d->before), "%s" BEFORE, d->site);
	snprintf(path, sizeof(path), "%s/status.json", d->dir);
	d->owner = stat(path, &st) ? geteuid() : st.st_uid;
	return 0;
}

/* The file that is to be installed, and the one that is there. */
static int read_both(struct deploy *d, const char *file, struct sl_error *err)
{
	int found = sl_state_read(d->v->undo ? d->before : file, MOST_BYTES, &d->text, &d->size, NULL, err);

	if (!found)
		return sl_fail(err, SL_ENOENT, d->v->undo ? "%s: there is nothing to undo" : "%s: no such file",
			       d->v->undo ? d->before : file);
	d->like = (struct stat) { .st_mode = 0644, .st_uid = geteuid(), .st_gid = getegid() };
	if (found < 0 || sl_state_read(d->site, MOST_BYTES, &d->old, &d->old_size, &d->like, err) < 0)
		return -1;
	d->like.st_mode &= ~(mode_t) 022;	/* as the rules of trust want it */
	if (d->old && d->size == d->old_size && !memcmp(d->text, d->old, d->size))
		return sl_fail(err, SL_EINVAL, "%s: nothing to do: it has the same text already", d->site);
	return 0;
}

/* The text with the name of the file that was given wherever it names the one that is tried, which goes away. */
static void put_named(const struct deploy *d, const char *text, FILE *out)
{
	const char *at;

	while ((at = strstr(text, d->fresh)) != NULL) {
		fprintf(out, "%.*s%s", (int) (at - text), text, d->given);
		text = at + strlen(d->fresh);
	}
	fputs(text, out);
}

/* Run a command and print what it prints.  Its status as of waitpid(), or -1 with *err. */
static int run_and_print(const struct deploy *d, char **argv, struct sl_error *err)
{
	int fd = memfd_create("schedlua check", MFD_CLOEXEC), status = 0, rc;
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	posix_spawn_file_actions_t fa;
	char *text = NULL;
	size_t room = 0;
	pid_t pid;

	if (!in)
		return sl_fail(err, SL_EIO, "schedlua check: %s", strerror(errno));
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, fd, STDOUT_FILENO);
	rc = posix_spawn(&pid, "/proc/self/exe", &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	if (!rc && waitpid(pid, &status, 0) != pid)
		rc = errno;
	rewind(in);
	if (!rc && getdelim(&text, &room, 0, in) > 0)
		put_named(d, text, stdout);
	fflush(stdout);
	free(text);
	fclose(in);
	return rc ? sl_fail(err, SL_EIO, "schedlua check: %s", strerror(rc)) : status;
}

/* schedlua check --trust, as production reads it: where it will stand. */
static int check(const struct deploy *d, struct sl_error *err)
{
	char uid[32], path[PATH_MAX + 8];
	/* which partitions there are is looked up in the capture: last.snap may be from before they were added */
	char *argv[] = { (char *) "schedlua", (char *) "check", (char *) "--trust", uid, (char *) "--snapshot=none",
			 (char *) d->fresh, d->v->path ? path : NULL, NULL };
	int status;

	snprintf(uid, sizeof(uid), "--uid=%u", (unsigned) d->owner);
	snprintf(path, sizeof(path), "--path=%s", d->v->path ? d->v->path : "");
	status = run_and_print(d, argv, err);
	if (status < 0)
		return -1;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	return sl_fail(err, SL_EINVAL, "deploy: nothing was changed: the new set does not pass schedlua check --trust");
}

/* The same of an error. */
static int fail_named(const struct deploy *d, struct sl_error *err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out) {
		put_named(d, err->text, out);
		if (!fclose(out))
			snprintf(err->text, sizeof(err->text), "%s", text);
		free(text);
	}
	return -1;
}

static int compare(const struct sl_snapshot *snap, void *arg, struct sl_error *err)
{
	struct deploy *d = arg;
	char *said = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&said, &size);
	int rc;

	if (!out)
		return sl_fail(err, SL_ENOMEM, "deploy: out of memory");
	rc = sl_differ(d->old ? d->site : NULL, d->fresh, d->v->path, snap, out, d->policy, err);
	if (!fclose(out))
		put_named(d, said, stdout);
	free(said);
	return rc ? fail_named(d, err) : 0;
}

/* -- the change ------------------------------------------------------------------- */

static int64_t count_of(const json_t *status, const char *key)
{
	return json_integer_value(json_object_get(status, key));
}

/* Has a set been loaded, and is it this one?  A load that was under way is no answer; of two sets of one name it is. */
static bool is_loaded(const struct deploy *d, const json_t *status, int64_t reloads)
{
	return status && count_of(status, "reloads") > reloads && !strcmp(sl_member_text(status, "policy"), d->policy);
}

/* Wait until slurmctld has gone over to it, or refused it.  1: it decides; 0: it was refused, *why; -1: neither. */
static int wait_for_it(const struct deploy *d, int64_t reloads, int64_t refused, char *why, size_t size)
{
	int64_t until = sl_clock_us() + (int64_t) (d->v->wait_s * 1e6);
	json_t *status;
	struct sl_error err;
	int found = -1;

	do {
		status = sl_status_read(d->dir, &err);
		if (status && count_of(status, "refused") > refused) {
			snprintf(why, size, "%s", sl_member_text(status, "refusal"));
			found = 0;
		} else if (is_loaded(d, status, reloads)) {
			snprintf(why, size, "%s", sl_member_text(status, "policy"));
			found = 1;
		}
		json_decref(status);
		if (found < 0)
			nanosleep(&(struct timespec) { .tv_nsec = LOOK_NS }, NULL);
	} while (found < 0 && sl_clock_us() < until);
	return found;
}

/* What it replaces is kept for --undo; without any it stands first. */
static int install(const struct deploy *d, struct sl_error *err)
{
	if (d->old && sl_state_put_like(d->before, &d->like, d->old, d->old_size, err))
		return -1;
	return sl_state_put_like(d->site, &d->like, d->text, d->size, err);
}

static int put_back(const struct deploy *d, const char *why, struct sl_error *err)
{
	struct sl_error worse;

	if (d->old ? sl_state_put_like(d->site, &d->like, d->old, d->old_size, &worse) : unlink(d->site))
		return sl_fail(err, SL_EIO, "slurmctld refused it: %s; and %s could not be put back", why, d->site);
	return sl_fail(err, SL_EINVAL, "slurmctld refused it, and %s is what it was: %s", d->site, why);
}

static int change(const struct deploy *d, struct sl_error *err)
{
	json_t *status = sl_status_read(d->dir, err);
	int64_t reloads = count_of(status, "reloads"), refused = count_of(status, "refused");
	bool alive = status && sl_status_alive(status);
	char why[1000] = "";
	int found;

	if (!status)
		return -1;
	json_decref(status);
	if (!alive)
		return sl_fail(err, SL_ENOENT, "deploy: nothing was changed: no slurmctld runs on this machine that could go over to it");
	if (install(d, err))
		return -1;
	printf("installed as %s; waiting until it decides\n", d->site);
	fflush(stdout);
	found = wait_for_it(d, reloads, refused, why, sizeof(why));
	if (!found)
		return put_back(d, why, err);
	if (found < 0)
		return sl_fail(err, SL_ETIME, "it is installed, and does not decide after %.0f s: see schedlua status", d->v->wait_s);
	printf("it decides: %s; schedlua deploy --undo puts back what was there\n", why);
	return 0;
}

/* -- the verb --------------------------------------------------------------------- */

static int deploy(struct deploy *d, const char *file, struct sl_error *err)
{
	int rc;

	if (find_site(d, err) || read_both(d, file, err))
		return -1;
	d->given = d->v->undo ? d->before : file;
	rc = sl_state_put_like(d->fresh, &d->like, d->text, d->size, err);
	if (rc)
		return -1;
	rc = check(d, err);
	if (!rc)
		rc = sl_explain_snapshot(d->v->snapshot, compare, d, err);
	unlink(d->fresh);
	if (rc || d->v->dry_run)
		return rc;
	return change(d, err);
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct deploy d = { 0 };
	struct sl_error err = { 0 };
	struct values v;
	int status, rc, files = sl_tool_parse(verb, &v, argc, argv, 0, 1, &status);

	if (files < 0)
		return status;
	if (v.undo == (files == 1))
		return sl_tool_usage(verb, v.undo ? "--undo takes no file" : "expected the new site file, or --undo");
	d.v = &v;
	rc = deploy(&d, files ? argv[0] : NULL, &err);
	free(d.text);
	free(d.old);
	return rc ? sl_tool_fail(&err) : sl_tool_end(SL_EXIT_FINE);
}

const struct sl_verb sl_verb_deploy = {
	.name = "deploy",
	.operands = "[OPTION]... FILE",
	.summary = "check a new site file, say what it changes, put it in place and wait until it decides",
	.options = options,
	.run = run,
};
