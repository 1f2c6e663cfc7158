/* SPDX-License-Identifier: MIT */
/*
 * cmd_check.c - schedlua check: load, validate and probe policies and site files.
 */
#include "tool/job_submit.h"
#include "tool/tool.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "script/script.h"
#include "tool/confine.h"
#include "tool/excerpt.h"
#include "tool/statedir.h"

struct values {
	const char *path, *user, *snapshot;
	double budget;
	int64_t trusted_uid;
	bool trust, quiet;
	/* who the engine will be, and has to be able to read; 0: nothing to look at */
	unsigned reader, reader_group;
};

static const struct sl_option options[] = {
	{ .name = "trust", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, trust),
	  .doc = "check owner, mode and links of every file as production does" },
	{ .name = "uid", .type = SL_OPTION_INTEGER, .offset = offsetof(struct values, trusted_uid), .argument = "UID",
	  .min = -1, .max = 4294967294.0, .standard = "-1",
	  .doc = "with --trust: the owner trusted beside root, i.e. SlurmUser; -1: the user who asks" },
	{ .name = "user", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, user), .argument = "NAME",
	  .doc = "with --trust, for root: who the engine becomes (lua_user), and has to be able to read; without it "
		 "SlurmUser, or nobody" },
	{ .name = "path", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, path), .argument = "DIR[:DIR]...",
	  .doc = "directories to search for policies before the bundled ones" },
	{ .name = "budget", .type = SL_OPTION_NUMBER, .offset = offsetof(struct values, budget), .argument = "SECONDS",
	  .min = 0.01, .max = 86400, .standard = "2", .doc = "wall time that the probe may take" },
	{ .name = "snapshot", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, snapshot), .argument = "FILE",
	  .doc = "warn of partitions that this cluster does not have; default: the plug-in's last snapshot, where it "
		 "may be read; none: warn of nothing" },
	{ .name = "quiet", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, quiet),
	  .doc = "print problems only" },
	{ 0 }
};

/*
 * Load a file as a site; one that returns something else may be a policy, of
 * which a site is made.  The error is the one that fits what the file is.
 */
static struct sl_bundle *load(const struct values *v, const char *file, char **trace, struct sl_error *err)
{
	struct sl_bundle_source source = {
		.site = file, .path = v->path, .check_trust = v->trust,
		.trusted_uid = v->trusted_uid < 0 ? (uint32_t) getuid() : (uint32_t) v->trusted_uid,
		.look_up_users = true,
	};
	struct sl_limits limits = { .budget_us = (int64_t) (v->budget * 1e6) };
	struct sl_bundle *bundle = sl_bundle_load(&source, &limits, trace, err);

	if (bundle || !strstr(err->text, ", expected what sched.site"))
		return bundle;
	if (strstr(err->text, "returned nothing")) {
		size_t n = strlen(err->text);

		snprintf(err->text + n, sizeof(err->text) - n, ", or a policy's table");
		return NULL;
	}
	free(*trace);
	*trace = NULL;
	source.site = NULL;
	source.policy = file;
	return sl_bundle_load(&source, &limits, trace, err);
}

/* Does the text begin with the file in which it went wrong?  (Not with the one that was
 * named, where a module is to blame.) */
static bool names_file(const char *text, const char *file)
{
	return strstr(text, ".lua") || !strncmp(text, file, strlen(file));
}

/* -- as whom the engine will read ----------------------------------------------- */

/* v->reader, 0: nobody else than who asks.  Returns 0, or -1 with *err. */
static int find_reader(struct values *v, struct sl_error *err)
{
	v->reader = v->reader_group = 0;
	if (v->user && !v->trust)
		return sl_fail(err, SL_EINVAL, "--user goes with --trust");
	if (v->user && geteuid())
		return sl_fail(err, SL_EINVAL, "--user: only root can look as somebody else");
	if (!v->trust || geteuid())
		return 0;
	if (v->user || v->trusted_uid <= 0)
		return sl_confine_user(v->user, &v->reader, &v->reader_group, err);
	v->reader = v->reader_group = (unsigned) v->trusted_uid;
	return 0;
}

static bool become(const struct values *v)
{
	return !setgroups(0, NULL) && !setresgid(v->reader_group, v->reader_group, v->reader_group) &&
		!setresuid(v->reader, v->reader, v->reader);
}

static int load_as_reader(const struct values *v, const char *file)
{
	struct sl_error err = { 0 };
	char *trace = NULL;
	struct sl_bundle *bundle = NULL;

	if (!become(v))
		sl_fail(&err, SL_EIO, "cannot become that user: %s", strerror(errno));
	else
		bundle = load(v, file, &trace, &err);
	if (!bundle)
		printf("%s: %sthe engine, as uid %u, could not load it: %s\n", file, v->user ? "" : "warning: ",
		       v->reader, err.text);
	fflush(stdout);
	return !bundle;
}

/* A set that loads for root: does it for the engine?  Tried by another process, which cannot come back. */
static bool loads_for_reader(const struct values *v, const char *file)
{
	int status;
	pid_t pid;

	if (!v->reader)
		return true;
	fflush(stdout);
	if (!(pid = fork()))
		_exit(load_as_reader(v, file));
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		printf("%s: cannot try it as uid %u: %s\n", file, v->reader, strerror(errno));
		return false;
	}
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* -- one file ---------------------------------------------------------------------- */

static void tell(const char *what, void *arg)
{
	(void) arg;
	printf("%s\n", what);
	sl_excerpt(what, stdout);
}

/* Warn of what has no effect on the cluster at hand.  0, or -1 with *err when the one that was named
 * cannot be read. */
static int tell_strangers(const struct values *v, const struct sl_bundle *bundle, struct sl_error *err)
{
	char file[PATH_MAX + 16];
	struct sl_snapshot snap;
	struct sl_error why;
	void *bytes = NULL;
	size_t size;
	int rc = -1;

	if (!*bundle->partitions || (v->snapshot && !strcmp(v->snapshot, "none")))
		return 0;
	if (v->snapshot)
		snprintf(file, sizeof(file), "%s", v->snapshot);
	else if (sl_statedir_find(NULL, file, PATH_MAX, &why))
		return 0;
	else
		strcat(file, "/last.snap");
	if (!sl_image_load(&sl_snapshot_schema, file, &bytes, &size, &why) && !sl_snapshot_open(&snap, bytes, size, &why)) {
		sl_bundle_strangers(bundle, &snap, tell, NULL);
		rc = 0;
	}
	free(bytes);
	if (!rc || !v->snapshot)
		return 0;
	*err = why;
	return -1;
}

/* A policy that looks something of the site's up by name finds nothing of that name on the canned cluster. */
static void explain_canned(const char *what)
{
	if (strstr(what, "(while probed on a canned cluster)") && (strstr(what, "a nil value") || strstr(what, ": no node '")))
		puts("The canned cluster, on which each set is tried first, has none of the site's nodes, types of GPUs and licences, and only\n"
		     "the partitions that the site file names.  What is looked up there by name may be nil: \"if node then\", \"... or 0\".");
}

/* Check one file.  Returns 0 when it is fine, 1 after printing what is not. */
static int check(const struct values *v, const char *file)
{
	struct sl_error err = { 0 };
	char *trace = NULL;
	struct sl_bundle *bundle = sl_job_submit_tell(file, stdout) ? NULL : load(v, file, &trace, &err);
	struct sl_limits limits = { .budget_us = (int64_t) (v->budget * 1e6) };
	int undefined = bundle ? sl_bundle_undefined(bundle, &limits, tell, NULL, &err) : 0;
	bool bad;

	if (undefined < 0 || (bundle && tell_strangers(v, bundle, &err))) {
		sl_bundle_destroy(bundle);
		bundle = NULL;
	}
	if (bundle)
		sl_bundle_warnings(bundle, tell, NULL);
	bad = !bundle || undefined;
	/* who it will be is a guess where nobody said it */
	if (bundle && !loads_for_reader(v, file))
		bad |= v->user != NULL;
	if (!bad && !v->quiet)
		printf("%s: OK (%s)\n", file, sl_bundle_figures(bundle)->policy);
	else if (!bundle && err.code)
		printf("%s%s%s\n", names_file(err.text, file) ? "" : file, names_file(err.text, file) ? "" : ": ", err.text);
	if (!bundle && err.code)
		sl_excerpt(err.text, stdout);
	sl_tool_trace(trace, stdout);
	if (!bundle && err.code)
		explain_canned(err.text);
	sl_bundle_destroy(bundle);
	free(trace);
	return bad;
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct values v;
	int status, bad = 0, files = sl_tool_parse(verb, &v, argc, argv, 1, -1, &status);

	struct sl_error err;

	if (files < 0)
		return status;
	if (find_reader(&v, &err))
		return sl_tool_usage(verb, "%s", err.text);
	for (int i = 0; i < files; i++)
		bad += check(&v, argv[i]);
	if (!v.quiet && files > 1)
		printf("%d of %d files are fine\n", files - bad, files);
	return sl_tool_end(bad ? SL_EXIT_FAILED : SL_EXIT_FINE);
}

const struct sl_verb sl_verb_check = {
	.name = "check",
	.operands = "[OPTION]... FILE...",
	.summary = "load, validate and probe policies and site files",
	.options = options,
	.run = run,
};
