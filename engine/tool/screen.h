/* SPDX-License-Identifier: MIT */
/*
 * screen.h - a page of lines that is drawn again and again on the whole terminal, or
 * printed once as plain text where there is no terminal that can be drawn on.
 *
 * Whatever is put on it is made plain first (base/plain.h): no text from elsewhere
 * reaches the terminal as a control sequence.
 *
 * Ownership: the screen restores the terminal when it is closed, and on SIGINT and SIGTERM.
 * Threads: none; one at a time.
 */
#ifndef SL_TOOL_SCREEN_H
#define SL_TOOL_SCREEN_H

#include <stdbool.h>

#include "base/error.h"

enum sl_style { SL_STYLE_PLAIN, SL_STYLE_BOLD, SL_STYLE_DIM, SL_STYLE_TITLE, SL_STYLE_GREEN, SL_STYLE_MAGENTA, SL_STYLE_RED };

struct sl_screen {
	bool drawn;		/* on a terminal; otherwise printed, and lines are not cut */
	bool utf8;		/* characters beyond ASCII can be shown */
	int rows, columns;	/* as it is now; what a page is composed for where it is printed */
	int y, x;		/* where the next text goes */
	void *terminal;
};

/* *once*: print, whatever stdout is.  0, or -1 with *err. */
int sl_screen_open(struct sl_screen *s, bool once, struct sl_error *err);
void sl_screen_close(struct sl_screen *s);

/* Begin a page anew. */
void sl_screen_begin(struct sl_screen *s);

/* Put text in a column of *width* cells, to the right for a negative one; 0: as long as it is.
 * It is cut at the width, and at the edge of the terminal. */
void sl_screen_put(struct sl_screen *s, enum sl_style style, int width, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void sl_screen_next(struct sl_screen *s);

/* Put a text of any length in lines of its own, broken between words, each after *indent* cells; how
 * many lines that are. */
void sl_screen_wrap(struct sl_screen *s, enum sl_style style, int indent, const char *text);
int sl_screen_height(struct sl_screen *s, int indent, const char *text);

/* What sl_screen_show() returns beside characters. */
enum sl_key { SL_KEY_END = -1, SL_KEY_NONE, SL_KEY_BACK = 0x100, SL_KEY_UP, SL_KEY_DOWN, SL_KEY_PAGE_UP, SL_KEY_PAGE_DOWN, SL_KEY_HOME };

/* Show the page, and wait for a key.  SL_KEY_NONE: draw the next one, as the time is over or the terminal has another
 * size; SL_KEY_END: it was printed; else the key that was pressed. */
int sl_screen_show(struct sl_screen *s, double seconds);

#endif
