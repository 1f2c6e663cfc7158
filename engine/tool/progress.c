/* SPDX-License-Identifier: MIT */
#include "tool/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"

#define BAR 30			/* characters */
#define APPEARS_S 1.0
#define EVERY_S 0.1

void sl_progress_begin(struct sl_progress *p, const char *what, bool quiet)
{
	*p = (struct sl_progress) { .what = what, .since = sl_clock_s(), .terminal = !quiet && isatty(STDERR_FILENO) };
}

/* Is it time to draw?  *spent: seconds since the beginning. */
static bool is_due(struct sl_progress *p, double *spent)
{
	double now = p->terminal ? sl_clock_s() : 0;

	*spent = now - p->since;
	if (!p->terminal || *spent < APPEARS_S || now - p->shown < EVERY_S)
		return false;
	p->shown = now;
	p->drawn = true;
	return true;
}

static void draw_bar(double share, double spent, const char *text)
{
	char left[SL_TEXT_SIZE] = "?", bar[BAR + 1];
	int full = (int) (share * BAR);

	memset(bar, '.', BAR);
	memset(bar, '#', full < 0 ? 0 : full > BAR ? BAR : (size_t) full);
	bar[BAR] = 0;
	if (share > 0)
		sl_text_duration(left, (int64_t) (spent / share - spent));
	/* its own escapes: not by the stream that lets none through */
	dprintf(STDERR_FILENO, "\r[%s] %3.0f %%  %s, %s left \033[K", bar, 100 * share, text, left);
}

void sl_progress_set(struct sl_progress *p, uint64_t done, uint64_t all)
{
	char text[120];
	double spent;

	if (!is_due(p, &spent))
		return;
	snprintf(text, sizeof(text), "%" PRIu64 " of %" PRIu64 " %s, %.0f a second", done, all, p->what,
		 (double) done / spent);
	draw_bar(all ? (double) done / (double) all : 1, spent, text);
}

void sl_progress_jobs(uint64_t ended, uint64_t jobs, int64_t now, void *progress)
{
	(void) now;
	sl_progress_set(progress, ended, jobs);
}

void sl_progress_trials(double share, uint32_t done, uint32_t trials, void *progress)
{
	struct sl_progress *p = progress;
	char text[120];
	double spent;

	if (!is_due(p, &spent))
		return;
	snprintf(text, sizeof(text), "%" PRIu32 " of %" PRIu32 " %s", done, trials, p->what);
	draw_bar(share, spent, text);
}

void sl_progress_end(struct sl_progress *p)
{
	if (p->drawn)
		dprintf(STDERR_FILENO, "\r\033[K");
	p->drawn = false;
}
