/* SPDX-License-Identifier: MIT */
#include "image/recording.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "image/copy.h"

#define HEAD "cycle-"
#define SNAPSHOT ".snap.gz"
#define PLAN ".plan.gz"
#define UNDER_WAY ".new"
#define DIGITS 20
#define PIECE ((size_t) 1 << 20)	/* given to zlib at a time */

/* Fast: a cycle waits for it, and most of an image is zeroes. */
#define LEVEL "wb1"

/* -- names ------------------------------------------------------------------ */

/* Is it one of ours?  *tail* follows the digits. */
static bool is_our_name(const char *name, const char *tail)
{
	if (strncmp(name, HEAD, strlen(HEAD)))
		return false;
	name += strlen(HEAD);
	for (int i = 0; i < DIGITS; i++)
		if (!isdigit((unsigned char) *name++))
			return false;
	return !strcmp(name, tail);
}

static int is_recorded(const struct dirent *e)
{
	return is_our_name(e->d_name, SNAPSHOT);
}

static int is_plan(const struct dirent *e)
{
	return is_our_name(e->d_name, PLAN);
}

static int is_under_way(const struct dirent *e)
{
	return is_our_name(e->d_name, SNAPSHOT UNDER_WAY) || is_our_name(e->d_name, PLAN UNDER_WAY);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void free_names(struct dirent **name, int n)
{
	while (n > 0)
		free(name[--n]);
	free(name);
}

static int io_error(const char *path, struct sl_error *err)
{
	return sl_fail(err, errno == ENOENT ? SL_ENOENT : SL_EIO, "%s: %s", path, strerror(errno));
}

/* -- writing ---------------------------------------------------------------- */

static int compress_all(int fd, const unsigned char *p, size_t n)
{
	gzFile gz = gzdopen(fd, LEVEL);
	bool good = gz != NULL;

	if (!gz) {
		close(fd);
		errno = ENOMEM;
		return -1;
	}
	gzbuffer(gz, 1u << 17);
	for (size_t m; good && n; p += m, n -= m) {
		m = n < PIECE ? n : PIECE;
		good = gzwrite(gz, p, (unsigned) m) == (int) m;
	}
	if (gzclose_w(gz) != Z_OK || !good) {
		errno = errno ? errno : EIO;
		return -1;
	}
	return 0;
}

/* Both names are relative to the directory. */
static int write_file(int dir, const char *tmp, const char *name, const void *bytes, size_t size)
{
	int fd = openat(dir, tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640), copy, saved;

	if (fd < 0)
		return -1;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);	/* zlib closes the other one */
	errno = 0;
	if (copy < 0 || compress_all(fd, bytes, size) < 0 || fsync(copy) < 0 || renameat(dir, tmp, dir, name) < 0) {
		saved = errno;
		if (copy >= 0)
			close(copy);
		else
			close(fd);
		unlinkat(dir, tmp, 0);
		errno = saved;
		return -1;
	}
	close(copy);
	return 0;
}

/* Remove files that a crash left unfinished. */
static void remove_unfinished(int dir, const char *path)
{
	struct dirent **name;
	int n = scandir(path, &name, is_under_way, NULL);

	for (int i = 0; i < n; i++)
		unlinkat(dir, name[i]->d_name, 0);
	if (n >= 0)
		free_names(name, n);
}

/* Remove the oldest files, until no more are left than *limits* allow. */
static int remove_oldest(int dir, const char *path, enum sl_recorded what, const struct sl_recording_limits *limits,
			 struct sl_error *err)
{
	struct dirent **name;
	int n = scandir(path, &name, what == SL_RECORDED_PLAN ? is_plan : is_recorded, by_name), rc = 0;
	uint64_t bytes = 0;
	uint32_t kept = 0;
	struct stat st;

	if (n < 0)
		return io_error(path, err);
	for (int i = n; i-- > 0;) {
		if (fstatat(dir, name[i]->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		bytes += (uint64_t) st.st_size;
		if (!kept || (kept < limits->files && bytes <= limits->bytes))
			kept++;
		else if (unlinkat(dir, name[i]->d_name, 0) < 0 && errno != ENOENT && !rc)
			rc = io_error(path, err);
	}
	free_names(name, n);
	return rc;
}

int sl_recording_add(const char *path, enum sl_recorded what, int64_t sequence, const void *bytes, size_t size,
		     const struct sl_recording_limits *limits, struct sl_error *err)
{
	char name[64], tmp[72];
	int dir, rc = -1;

	if (mkdir(path, 0750) < 0 && errno != EEXIST)
		return io_error(path, err);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir < 0)
		return io_error(path, err);
	snprintf(name, sizeof(name), HEAD "%0*" PRId64 "%s", DIGITS, sequence,
		 what == SL_RECORDED_PLAN ? PLAN : SNAPSHOT);
	snprintf(tmp, sizeof(tmp), "%s" UNDER_WAY, name);
	remove_unfinished(dir, path);
	if (sequence < 0)
		sl_fail(err, SL_EINVAL, "record: cycle %" PRId64 ": expected a number from 0 on", sequence);
	else if (write_file(dir, tmp, name, bytes, size) < 0)
		sl_fail(err, SL_EIO, "%s/%s: %s", path, name, strerror(errno));
	else
		rc = remove_oldest(dir, path, what, limits, err);
	close(dir);
	return rc;
}

/* -- finding ---------------------------------------------------------------- */

int sl_recording_list(struct sl_recording *r, const char *dir, struct sl_error *err)
{
	struct dirent **name;
	int n = scandir(dir, &name, is_recorded, by_name);

	*r = (struct sl_recording) { NULL, 0 };
	if (n < 0)
		return io_error(dir, err);
	r->path = calloc((size_t) n + 1, sizeof(*r->path));
	for (int i = 0; r->path && i < n; i++) {
		if (asprintf(&r->path[i], "%s/%s", dir, name[i]->d_name) < 0) {
			r->path[i] = NULL;
			break;
		}
		r->count++;
	}
	free_names(name, n);
	if (!r->path || r->count < (uint32_t) n)
		return sl_fail(err, SL_ENOMEM, "%s: no memory", dir);
	return n ? 0 : sl_fail(err, SL_ENOENT, "%s: no recorded snapshots (cycle-*.snap.gz) there", dir);
}

void sl_recording_free(struct sl_recording *r)
{
	for (uint32_t i = 0; i < r->count; i++)
		free(r->path[i]);
	free(r->path);
	*r = (struct sl_recording) { NULL, 0 };
}

/* -- what a decision rested on --------------------------------------------------------- */

static void add_run(const struct sl_plan_image *plan, uint32_t i, struct sl_builder *b)
{
	const struct sl_history_view *v = &plan->history;

	sl_builder_append(b, SL_T_HISTORY, &(struct sl_history_row) {
		.job = v->job[i], .user = sl_builder_str(b, sl_image_str(&plan->image, v->user[i])),
		.account = sl_builder_str(b, sl_image_str(&plan->image, v->account[i])),
		.partition = sl_builder_str(b, sl_image_str(&plan->image, v->partition[i])),
		.name = sl_builder_str(b, sl_image_str(&plan->image, v->name[i])), .state = v->state[i],
		.start_time = v->start_time[i], .end_time = v->end_time[i], .runtime = v->runtime[i],
		.time_limit = v->time_limit[i], .cpus = v->cpus[i], .gpus = v->gpus[i], .nodes = v->nodes[i],
		.expected = v->expected[i],
	});
}

int sl_recording_with_history(const struct sl_snapshot *snap, const struct sl_plan_image *plan, struct sl_builder *b,
			      const void **bytes, size_t *size, struct sl_error *err)
{
	const uint32_t *map[SL_SNAPSHOT_TABLES] = { 0 };
	struct sl_image_copy copy = { .image = &snap->image, .view = snap, .to = b, .map = map };

	for (int t = 0; t < SL_SNAPSHOT_TABLES; t++)
		if (!sl_snapshot_schema.table[t].nested && t != SL_T_HISTORY)
			sl_image_copy_table(&copy, t);
	for (uint32_t i = 0; i < plan->history.rows; i++)
		add_run(plan, i, b);
	return sl_builder_finish(b, bytes, size, err);
}
