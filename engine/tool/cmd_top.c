/* SPDX-License-Identifier: MIT */
/*
 * cmd_top.c - schedlua top: the cluster, its queue and what was decided last, on the whole
 * terminal, from what the plug-in writes (status.json, the journal, last.snap) and, where that is older than
 * it may be or not this user's to read, from captures.
 */
#include "tool/tool.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tool/status.h"
#include "tool/top.h"

#define ONCE_S 20.0		/* that a page which is printed once waits for a capture */
#define PAGE 10			/* lines of PgUp and PgDn */

struct values {
	const char *dir, *notes, *user, *partition;
	double interval;
	bool once, running;
};

static const struct sl_option options[] = {
	SL_DIR_OPTION(values),
	{ .name = "interval", .type = SL_OPTION_NUMBER, .offset = offsetof(struct values, interval), .argument = "SECONDS",
	  .min = 0.1, .max = 86400, .standard = "2", .doc = "how often it is drawn anew" },
	{ .name = "user", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, user), .argument = "NAME",
	  .doc = "show only the jobs of that user", .letter = 'u' },
	{ .name = "partition", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, partition), .argument = "NAME",
	  .doc = "show only the jobs of that partition", .letter = 'p' },
	{ .name = "running", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, running),
	  .doc = "show the jobs that run, with their ends, in place of those that wait" },
	{ .name = "notes", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, notes), .argument = "FILE",
	  .doc = "show the last lines of this text too, as of what somebody does to the cluster" },
	{ .name = "once", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, once),
	  .doc = "print it once, as plain text, as is done where stdout is no terminal" },
	{ 0 }
};

/* -- keys ---------------------------------------------------------------------- */

/* A name that is being typed. */
static void type_key(struct sl_top *t, int key)
{
	size_t n = strlen(t->typing);

	if (key == '\n' || key == '\r')
		t->typing = NULL;
	else if (key == SL_KEY_BACK && n)
		t->typing[n - 1] = 0;
	else if (key == 27)	/* Esc: all */
		*t->typing = 0, t->typing = NULL;
	else if (key < 0x100 && isgraph(key) && n + 1 < SL_TOP_NAME)
		t->typing[n] = (char) key, t->typing[n + 1] = 0;
	t->first = 0;
}

static void begin_typing(struct sl_top *t, char *name)
{
	t->typing = name;
	*name = 0;
}

/* False: that was to quit. */
static bool heed(struct sl_top *t, int key)
{
	if (key == SL_KEY_END)
		return false;
	if (key == SL_KEY_NONE)
		return true;
	if (t->typing) {
		type_key(t, key);
		return true;
	}
	switch (key) {
	case 'q': case 'Q':
		return false;
	case '?': case 'h':
		t->help = !t->help;
		break;
	case 'r':
		t->running = !t->running;
		t->first = 0;
		break;
	case 'u':
		begin_typing(t, t->user);
		break;
	case 'p':
		begin_typing(t, t->partition);
		break;
	case SL_KEY_UP: case 'k':
		t->first--;
		break;
	case SL_KEY_DOWN: case 'j':
		t->first++;
		break;
	case SL_KEY_PAGE_UP:
		t->first -= PAGE;
		break;
	case SL_KEY_PAGE_DOWN: case ' ':
		t->first += PAGE;
		break;
	case SL_KEY_HOME: case 'g':
		t->first = 0;
		break;
	}
	return true;
}

/* -- the verb ----------------------------------------------------------------- */

static int show(struct sl_top *t, const struct values *v, struct sl_error *err)
{
	double wait_s = 0;

	if (sl_screen_open(&t->screen, v->once, err))
		return sl_tool_fail(err);
	if (!t->screen.drawn)
		wait_s = ONCE_S;
	do {
		sl_look(&t->seen, wait_s);
		sl_top_compose(t);
	} while (heed(t, sl_screen_show(&t->screen, t->seen.capture.pid && v->interval > 0.5 ? 0.5 : v->interval)));
	sl_screen_close(&t->screen);
	return SL_EXIT_FINE;
}

static int run(const struct sl_verb *verb, int argc, char **argv)
{
	struct sl_top t = { 0 };
	struct sl_error err;
	struct values v;
	int status;

	if (sl_tool_parse(verb, &v, argc, argv, 0, 0, &status) < 0)
		return status;
	t.notes = v.notes;
	t.running = v.running;
	snprintf(t.user, sizeof(t.user), "%s", v.user ? v.user : "");
	snprintf(t.partition, sizeof(t.partition), "%s", v.partition ? v.partition : "");
	if (sl_look_open(&t.seen, v.dir, &err))
		return sl_tool_fail(&err);
	/* where there is nothing yet, say so; what goes away later is told on the page */
	t.seen.status = sl_status_read(t.seen.dir, &t.seen.status_err);
	status = t.seen.status || t.seen.secret ? show(&t, &v, &err) : sl_tool_fail(&t.seen.status_err);
	sl_look_close(&t.seen);
	return sl_tool_end(status);
}

const struct sl_verb sl_verb_top = {
	.name = "top",
	.operands = "[OPTION]...",
	.summary = "show nodes, queue and last decisions on the whole terminal, redrawn",
	.options = options,
	.run = run,
};
