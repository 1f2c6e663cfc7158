/* SPDX-License-Identifier: MIT */
/* sim/tune_results.c - results of simulations in files, for a later run or the other parts of this one */
#include "sim/tune_private.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/lines.h"
#include "base/map.h"

#define TAIL ".tune"			/* of the files' names */
#define END " ;"			/* of a line: one that was cut off may end in a number that looks whole */

/* What a result is of: the site file and its setting, the log, the window, how it is simulated. */
static uint64_t key_of(const struct sl_tune *t, uint32_t setting, uint32_t window)
{
	const struct sl_workload_options *w = &t->opt.trial.workload_options;
	const struct sl_sim_options *sim = &t->opt.trial.sim;
	struct sl_error err;
	char *site = sl_tune_site(t, setting, &err), rest[640];
	uint64_t hash = site ? sl_digest(SL_HASH, site, strlen(site)) : 0;
	int n = snprintf(rest, sizeof(rest), "|%s|%s|%u|%" PRIu64 "|%s|%d%d%d|%" PRId64 "|%" PRId64 "|%d|%s|%s|%s|%" PRId64, t->opt.trial.workload,
			 w->machine ? w->machine : "", w->procs, w->seed, w->estimate ? w->estimate : "", (int) w->overrun,
			 w->requested_procs, w->strict, sim->interval_s, sim->latency_s, sim->each_end, t->window[window].from,
			 t->window[window].to, w->tiers ? w->tiers : "", sim->requeue_wait_s);

	free(site);
	return sl_digest(hash, rest, n < (int) sizeof(rest) ? (size_t) n : sizeof(rest) - 1);
}

/* "KEY figure... ;"; a line that is no result, or of something else, is left alone. */
static void take_result(struct sl_tune *t, const struct sl_map *by_key, const char *line)
{
	double f[SL_TUNE_FIGURES];
	uint64_t key;
	int at_end = 0;

	if (sscanf(line, "%" SCNx64 "%n", &key, &at_end) != 1)
		return;
	line += at_end;
	for (int i = 0; i < SL_TUNE_FIGURES; i++, line += at_end)
		if (sscanf(line, " %lf%n", &f[i], &at_end) != 1)
			return;
	if (strcmp(line, END))
		return;
	SL_MAP_EACH(by_key, key, at)
		memcpy(sl_tune_figures(t, at.value / t->windows, at.value % t->windows), f, sizeof(f));
}

static int read_file(struct sl_tune *t, const char *path, const struct sl_map *by_key, struct sl_error *err)
{
	struct sl_lines *l = sl_lines_open(path, err);
	int64_t n = l ? 0 : -1;
	char *line;

	while (l && (n = sl_lines_next(l, &line, err)) > 0)
		take_result(t, by_key, line);
	sl_lines_close(l);
	return n < 0 ? -1 : 0;
}

int sl_tune_read_results(struct sl_tune *t, struct sl_error *err)
{
	struct sl_map by_key = { 0 };
	struct dirent *e;
	DIR *dir;
	int rc = 0;

	if (mkdir(t->opt.state, 0777) && errno != EEXIST)
		return sl_fail(err, SL_EIO, "%s: %s", t->opt.state, strerror(errno));
	dir = opendir(t->opt.state);
	if (!dir)
		return sl_fail(err, SL_EIO, "%s: %s", t->opt.state, strerror(errno));
	for (uint32_t i = 0; !rc && i < t->settings * t->windows; i++)
		if (sl_map_put(&by_key, key_of(t, i / t->windows, i % t->windows), i, NULL))
			rc = sl_tune_no_memory(err);
	while (!rc && (e = readdir(dir))) {
		size_t n = strlen(e->d_name);
		char path[4400];

		if (n < strlen(TAIL) || strcmp(e->d_name + n - strlen(TAIL), TAIL))
			continue;
		snprintf(path, sizeof(path), "%s/%s", t->opt.state, e->d_name);
		rc = read_file(t, path, &by_key, err);
	}
	closedir(dir);
	sl_map_free(&by_key);
	return rc;
}

FILE *sl_tune_open_results(const struct sl_tune *t, struct sl_error *err)
{
	char path[4400];
	FILE *f;

	if (t->opt.parts)
		snprintf(path, sizeof(path), "%s/%u" TAIL, t->opt.state, t->opt.part);
	else
		snprintf(path, sizeof(path), "%s/all" TAIL, t->opt.state);
	f = fopen(path, "a+e");
	if (!f) {
		sl_fail(err, SL_EIO, "%s: %s", path, strerror(errno));
		return NULL;
	}
	/* a line that was cut off is ended */
	if (!fseek(f, -1, SEEK_END) && fgetc(f) != '\n')
		putc('\n', f);
	return f;
}

void sl_tune_write_result(const struct sl_tune *t, uint32_t setting, uint32_t window, FILE *out)
{
	const double *f = sl_tune_figures(t, setting, window);

	fprintf(out, "%016" PRIx64, key_of(t, setting, window));
	for (int i = 0; i < SL_TUNE_FIGURES; i++)
		fprintf(out, " %.17g", f[i]);
	fputs(END "\n", out);
	fflush(out);
}
