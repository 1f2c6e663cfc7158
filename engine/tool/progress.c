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

void sl_progress_set(struct sl_progress *p, uint64_t done, uint64_t all)
{
	double now = p->terminal ? sl_clock_s() : 0, spent = now - p->since, share = all ? (double) done / (double) all : 1;
	char left[SL_TEXT_SIZE] = "?", bar[BAR + 1];
	int full = (int) (share * BAR);

	if (!p->terminal || spent < APPEARS_S || now - p->shown < EVERY_S)
		return;
	memset(bar, '.', BAR);
	memset(bar, '#', full < 0 ? 0 : full > BAR ? BAR : (size_t) full);
	bar[BAR] = 0;
	if (done)
		sl_text_duration(left, (int64_t) (spent / share - spent));
	/* its own escapes: not by the stream that lets none through */
	dprintf(STDERR_FILENO, "\r[%s] %3.0f %%  %" PRIu64 " of %" PRIu64 " %s, %.0f a second, %s left \033[K", bar,
		100 * share, done, all, p->what, (double) done / spent, left);
	p->shown = now;
	p->drawn = true;
}

void sl_progress_end(struct sl_progress *p)
{
	if (p->drawn)
		dprintf(STDERR_FILENO, "\r\033[K");
	p->drawn = false;
}
