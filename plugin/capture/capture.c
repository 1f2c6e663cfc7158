/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture.c - schedlua-capture: a snapshot of a running cluster through Slurm's
 * public API, from any login node, with no plug-in installed.
 *
 * What that API does not tell is left out or estimated, and said here: usage per
 * node comes from the allocated CPUs of a job's resources where they are shown,
 * the queue is all pending jobs that are neither held, dependent nor over a limit of an
 * association, a QOS or their only partition, in order of PriorityTier and priority.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <slurm/slurm_errno.h>

#include "base/file.h"
#include "image/recording.h"
#include "plugin/capture/capture.h"
#include "plugin/records/units.h"

static int fail(const char *what)
{
	fprintf(stderr, "schedlua-capture: %s: %s\n", what, slurm_strerror(errno));
	return -1;
}

static void add_meta(struct capture *c)
{
	struct sl_meta_row row = sl_meta_row();

	c->memory = c->conf->select_type_param & CR_MEMORY;
	row.now = c->now;
	row.cluster = sl_builder_str(c->b, c->conf->cluster_name);
	row.source = sl_builder_str(c->b, "capture");
	row.slurm_version = sl_builder_str(c->b, c->conf->version);
	SL_FILL_SELECT(&row, c->conf);
	SL_FILL_ENDS(&row, c->conf);
	sl_builder_append(c->b, SL_T_META, &row);
}

/* -- the program ------------------------------------------------------------------- */

static int load_all(struct capture *c)
{
	if (slurm_load_ctl_conf(0, &c->conf))
		return fail("configuration");
	if (slurm_load_node(0, &c->nodes, SHOW_ALL))
		return fail("nodes");
	if (slurm_load_partitions(0, &c->parts, SHOW_ALL))
		return fail("partitions");
	if (slurm_load_jobs(0, &c->jobs, SHOW_ALL | SHOW_DETAIL))
		return fail("jobs");
	if (slurm_load_reservations(0, &c->resvs))
		return fail("reservations");
	if (slurm_load_licenses(0, &c->licenses, SHOW_ALL))
		return fail("licences");
	return 0;
}

static int build(struct capture *c, const void **bytes, size_t *size)
{
	struct sl_error err = { SL_OK, "" };
	struct sl_snapshot snap;

	c->now = time(NULL);
	c->node_row = calloc(c->nodes->record_count + 1, sizeof(*c->node_row));
	c->job_row = calloc(c->jobs->record_count + 1, sizeof(*c->job_row));
	if (!c->node_row || !c->job_row || !(c->b = sl_builder_create(&sl_snapshot_schema, &err)))
		goto error;
	add_meta(c);
	capture_nodes(c);
	capture_partitions(c);
	capture_licenses(c);
	capture_reservations(c);
	capture_jobs(c);
	if (capture_queue(c) || sl_builder_finish(c->b, bytes, size, &err) ||
	    sl_snapshot_open(&snap, *bytes, *size, &err))
		goto error;
	if (!c->bare)
		printf("%u nodes, %u jobs, %u queue entries, %zu bytes\n", snap.node.rows, snap.job.rows, snap.queue.rows, *size);
	return 0;
error:
	fprintf(stderr, "schedlua-capture: %s\n", err.code ? err.text : "out of memory");
	return -1;
}

static int take(struct capture *c, const void **bytes, size_t *size)
{
	return load_all(c) || build(c, bytes, size) ? -1 : 0;
}

static int capture_to(const char *file)
{
	struct capture c = { .bare = !strcmp(file, "-") };
	struct sl_error err;
	const void *bytes;
	size_t size;

	if (take(&c, &bytes, &size))
		return 1;
	if (c.bare ? sl_write_all(STDOUT_FILENO, bytes, size) && sl_fail(&err, SL_EIO, "standard output: %s", strerror(errno)) :
	    sl_image_save(file, bytes, size, &err)) {
		fprintf(stderr, "schedlua-capture: %s\n", err.text);
		return 1;
	}
	return 0;
}

/* -- a recording ------------------------------------------------------------------- */

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	(void) sig;
	stopped = 1;
}

/* In a process of its own, since what Slurm's API allocates is not freed. */
static int add_to(const char *dir, const struct sl_recording_limits *limits)
{
	struct capture c = { .bare = true };
	struct sl_error err;
	const void *bytes;
	size_t size;

	if (take(&c, &bytes, &size))
		return 1;
	if (!sl_recording_add(dir, SL_RECORDED_SNAPSHOT, c.now, bytes, size, limits, &err))
		return 0;
	fprintf(stderr, "schedlua-capture: %s\n", err.text);
	return 1;
}

/* 0: a snapshot was added; 1: not, and stderr says why. */
static int add_in_child(const char *dir, const struct sl_recording_limits *limits)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(add_to(dir, limits));
	if (pid < 0) {
		fprintf(stderr, "schedlua-capture: fork: %s\n", strerror(errno));
		return 1;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

/* Until it is told to stop.  The first snapshot has to be taken; of others slurmctld may be away. */
static int record(const char *dir, long every, const struct sl_recording_limits *limits)
{
	struct sigaction act = { .sa_handler = stop };

	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	if (add_in_child(dir, limits))
		return 1;
	while (!stopped) {
		struct timespec left = { .tv_sec = every - time(NULL) % every };

		nanosleep(&left, NULL);
		if (!stopped)
			add_in_child(dir, limits);
	}
	return add_in_child(dir, limits);
}

static void usage(FILE *out)
{
	fputs("usage: schedlua-capture [-h] [-V] FILE\n"
	      "       schedlua-capture --record=DIR [--every=SECONDS] [--keep=FILES]\n"
	      "Write a snapshot of the cluster that slurm.conf names to FILE (-: standard output), for `schedlua plan`; or\n"
	      "one every SECONDS (60) into the directory DIR until it is told to stop (SIGTERM), for `schedlua replay`, of which\n"
	      "the newest FILES (50000) are kept.  Asks slurmctld as squeue and sinfo do; needs no plug-in.\n", out);
}

/* -1: it is no number in these bounds. */
static long number_of(const char *text, long most)
{
	char *end;
	long n = strtol(text, &end, 10);

	return *text && !*end && n >= 1 && n <= most ? n : -1;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'V' }, { "record", required_argument, NULL, 'r' },
		{ "every", required_argument, NULL, 'e' }, { "keep", required_argument, NULL, 'k' }, { NULL, 0, NULL, 0 },
	};
	const char *dir = NULL;
	long every = 60, keep = 50000;
	int opt;

	while ((opt = getopt_long(argc, argv, "hV", options, NULL)) != -1) {
		switch (opt) {
		case 'h':
			usage(stdout);
			return 0;
		case 'V':
			printf("schedlua-capture %s\n", SCHEDLUA_VERSION);
			return 0;
		case 'r':
			dir = optarg;
			continue;
		case 'e':
			every = number_of(optarg, 86400);
			break;
		case 'k':
			keep = number_of(optarg, 10000000);
			break;
		}
		if (opt == '?' || every < 0 || keep < 0) {
			if (opt != '?')
				fprintf(stderr, "schedlua-capture: %s: expected a number from 1 on\n", optarg);
			usage(stderr);
			return 2;
		}
	}
	if (optind + (dir ? 0 : 1) != argc) {
		usage(stderr);
		return 2;
	}
	slurm_init(NULL);
	if (!dir)
		return capture_to(argv[optind]);
	return record(dir, every, &(struct sl_recording_limits) { .files = (uint32_t) keep, .bytes = UINT64_MAX });
}
