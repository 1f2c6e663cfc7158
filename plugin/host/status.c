/* SPDX-License-Identifier: GPL-2.0-or-later */
/* status.c - see status.h */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/plain.h"
#include "base/state_file.h"
#include "plugin/host/status.h"

void sl_times_add(struct sl_times *t, uint64_t us)
{
	int b = us ? (int) (4 * log2((double) us)) + 1 : 0;

	if (b >= SL_BUCKETS)
		b = SL_BUCKETS - 1;
	t->bucket[b]++;
	t->count++;
	t->sum_us += us;
	t->last_us = us;
	if (us > t->max_us)
		t->max_us = us;
}

uint64_t sl_times_quantile(const struct sl_times *t, double q)
{
	uint64_t want = (uint64_t) ceil(q * (double) t->count), seen = 0, top;
	int b;

	for (b = 0; b < SL_BUCKETS; b++) {
		seen += t->bucket[b];
		if (t->count && seen >= want) {
			top = b ? (uint64_t) exp2(b / 4.0) : 0;
			return top < t->max_us ? top : t->max_us;
		}
	}
	return t->max_us;
}

static const char *source_word(enum sl_source source)
{
	static const char *const word[] = { "idle", "site", "last good", "bundled", "fallback" };

	return (unsigned) source < sizeof(word) / sizeof(word[0]) ? word[source] : "unknown";
}

void sl_status_error(struct sl_status *s, const char *text)
{
	snprintf(s->last_error, sizeof(s->last_error), "%.*s", (int) MIN(strcspn(text, "\n"), 1000), text);
	s->last_error_time = time(NULL);
}

bool sl_status_trouble(struct sl_status *s, enum sl_trouble what, const char *text)
{
	int64_t now = time(NULL), before = s->trouble[what];

	s->trouble[what] = now;
	if (before && now - before < SL_TROUBLE_OVER_S)
		return false;
	sl_status_error(s, text);
	return true;
}

void sl_status_count_queue(struct sl_status *s, const struct sl_snapshot *snap)
{
	uint32_t parts = snap->partition.rows;
	struct sl_waiting *w = parts == s->partitions ? s->waiting : realloc(s->waiting, (parts + 1) * sizeof(*w));

	if (!w) {
		sl_status_clear(s);
		return;
	}
	s->waiting = w;
	s->partitions = parts;
	for (uint32_t i = 0; i < parts; i++) {
		snprintf(w[i].name, sizeof(w[i].name), "%s", sl_snapshot_str(snap, snap->partition.name[i]));
		w[i].jobs = 0;
	}
	for (uint32_t i = 0; i < snap->queue.rows; i++)
		w[snap->queue.partition[i]].jobs++;
}

void sl_status_count_reasons(struct sl_status *s, const struct sl_plan_image *plan)
{
	memset(s->why, 0, sizeof(s->why));
	for (uint32_t i = 0; plan && i < plan->pending.rows; i++)
		s->why[plan->pending.why[i]]++;
}

void sl_status_clear(struct sl_status *s)
{
	free(s->waiting);
	s->waiting = NULL;
	s->partitions = 0;
}

static void put_text(FILE *f, const char *s)
{
	fputc('"', f);
	for (; s && *s; s++) {
		unsigned char c = (unsigned char) *s;
		unsigned n = sl_utf8_length(s);

		if (n > 1) {
			fwrite(s, n, 1, f);
			s += n - 1;
		} else if (!n)
			fputc('?', f);
		else if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(f, "\\u%04x", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

static void put_string(FILE *f, const char *key, const char *s)
{
	fprintf(f, "  \"%s\": ", key);
	put_text(f, s);
	fputs(",\n", f);
}

static void put_count(FILE *f, const char *name, uint64_t n, bool *begun)
{
	fputs(*begun ? ", " : "", f);
	put_text(f, name);
	fprintf(f, ": %" PRIu64, n);
	*begun = true;
}

/* Who waits where, and why. */
static void put_waiting(FILE *f, const struct sl_status *s)
{
	bool begun = false;

	fputs("  \"queue\": {", f);
	for (uint32_t i = 0; i < s->partitions; i++)
		put_count(f, s->waiting[i].name, s->waiting[i].jobs, &begun);
	fputs("},\n  \"pending\": {", f);
	begun = false;
	for (uint32_t i = 0; i < SL_WHYS; i++)
		if (s->why[i])
			put_count(f, sl_why_word(i), s->why[i], &begun);
	fputs("},\n", f);
}

static void put_times(FILE *f, const char *key, const struct sl_times *t)
{
	fprintf(f, "  \"%s\": {\"count\": %" PRIu64 ", \"last\": %" PRIu64 ", \"mean\": %" PRIu64 ", \"p50\": %" PRIu64
		", \"p99\": %" PRIu64 ", \"max\": %" PRIu64 "},\n", key, t->count, t->last_us,
		t->count ? t->sum_us / t->count : 0, sl_times_quantile(t, 0.5), sl_times_quantile(t, 0.99), t->max_us);
}

static void put_counters(FILE *f, const struct sl_status *s)
{
#define PUT(field) fprintf(f, "  \"" #field "\": %" PRIu64 ",\n", (uint64_t) s->field)
	PUT(cycles);
	PUT(starts);
	PUT(native_starts);
	PUT(stale);
	PUT(failed_starts);
	PUT(layout_differs);
	PUT(actions);
	PUT(actions_failed);
	PUT(reloads);
	PUT(refused);
	PUT(policy_errors);
	PUT(truncated);
	PUT(engine_starts);
	PUT(engine_kills);
	PUT(engine_failures);
	PUT(bundled_cycles);
	PUT(fallback_cycles);
	PUT(strikes);
	PUT(queued);
	PUT(running);
	PUT(nodes);
#undef PUT
}

static void put_all(FILE *f, const struct sl_status *s)
{
	fputs("{\n", f);
	put_string(f, "version", s->version);
	put_string(f, "slurm_version", s->slurm_version);
	fprintf(f, "  \"pid\": %ld,\n  \"engine_pid\": %ld,\n", (long) s->pid, (long) s->engine_pid);
	fprintf(f, "  \"started\": %" PRId64 ",\n  \"written\": %" PRId64 ",\n  \"last_cycle\": %" PRId64 ",\n",
		s->started, s->written, s->last_cycle);
	put_string(f, "source", source_word(s->source));
	put_string(f, "policy", s->policy);
	put_string(f, "site", s->site);
	put_string(f, "engine_holds", s->engine_holds);
	put_string(f, "odd", s->odd);
	put_string(f, "usage_stale", s->usage_stale);
	put_string(f, "held", s->held);
	put_string(f, "idle_why", s->source == SL_SOURCE_IDLE ? s->idle_why : "");
	put_string(f, "refusal", s->refusal);
	put_string(f, "last_error", s->last_error);
	fprintf(f, "  \"last_error_time\": %" PRId64 ",\n", s->last_error_time);
	fprintf(f, "  \"interval_s\": %.3f,\n  \"budget_s\": %.3f,\n  \"next_try_s\": %.3f,\n", s->interval_s,
		s->budget_s, s->next_try_s);
	put_counters(f, s);
	fprintf(f, "  \"truncated_time\": %" PRId64 ",\n", s->truncated_time);
	put_waiting(f, s);
	put_times(f, "queue_hold_us", &s->queue_hold);
	put_times(f, "copy_hold_us", &s->copy_hold);
	put_times(f, "commit_hold_us", &s->commit_hold);
	put_times(f, "start_us", &s->start);
	put_times(f, "decide_us", &s->decide);
	put_times(f, "cycle_us", &s->cycle);
	fputs("  \"api\": 1\n}\n", f);
}

int sl_status_write(const struct sl_status *s, const char *dir, struct sl_error *err)
{
	char path[PATH_MAX], tmp[PATH_MAX + 8];
	FILE *f;
	int bad, fd;

	if (snprintf(path, sizeof(path), "%s/status.json", dir) >= (int) sizeof(path))
		return sl_fail(err, SL_EINVAL, "%.80s...: path too long", dir);
	snprintf(tmp, sizeof(tmp), "%s.new", path);
	if ((fd = sl_state_create(tmp, 0644)) < 0 || !(f = fdopen(fd, "w"))) {
		sl_fail(err, SL_EIO, "%s: %s", tmp, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	fchmod(fd, 0644);
	put_all(f, s);
	bad = ferror(f);
	if (fclose(f) || bad || rename(tmp, path)) {
		int saved = errno;

		unlink(tmp);
		return sl_fail(err, SL_EIO, "%s: %s", path, strerror(saved));
	}
	return 0;
}
