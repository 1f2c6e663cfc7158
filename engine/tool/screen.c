/* SPDX-License-Identifier: MIT */
#include "tool/screen.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "base/plain.h"

#ifdef SL_NCURSES
#include <curses.h>
#include <term.h>
#undef lines
#undef columns
#endif

#define PRINTED_ROWS 60		/* what a page is composed for where it is printed */
#define PRINTED_COLUMNS 100
#define LONGEST 1024		/* cells of a line */

/* -- the terminal ----------------------------------------------------------- */

#ifdef SL_NCURSES
static const int attribute[] = {
	[SL_STYLE_BOLD] = A_BOLD, [SL_STYLE_DIM] = A_DIM, [SL_STYLE_TITLE] = A_REVERSE | A_BOLD,
	[SL_STYLE_GREEN] = COLOR_PAIR(1), [SL_STYLE_MAGENTA] = COLOR_PAIR(2), [SL_STYLE_RED] = COLOR_PAIR(3) | A_BOLD,
};

/* Can this terminal's cursor be moved? */
static bool can_draw(void)
{
	const char *cup;
	bool can;
	int why;

	if (!isatty(STDOUT_FILENO) || setupterm(NULL, STDOUT_FILENO, &why) != OK)
		return false;
	cup = tigetstr("cup");
	can = cup && cup != (char *) -1;
	del_curterm(cur_term);
	return can;
}

static void begin_colours(void)
{
	const char *none = getenv("NO_COLOR");

	if ((none && *none) || start_color() == ERR)
		return;
	use_default_colors();	/* on the terminal's own background, light or dark */
	init_pair(1, COLOR_GREEN, -1);
	init_pair(2, COLOR_MAGENTA, -1);
	init_pair(3, COLOR_RED, -1);
}

/* stdout is a stream that makes all plain (main.c): the terminal needs one that does not. */
static int begin_drawing(struct sl_screen *s, struct sl_error *err)
{
	FILE *out = fdopen(dup(STDOUT_FILENO), "w");

	s->terminal = out ? newterm(NULL, out, stdin) : NULL;
	if (!s->terminal)
		return sl_fail(err, SL_EIO, "the terminal cannot be drawn on; --once prints");
	s->drawn = true;
	begin_colours();
	cbreak();
	noecho();
	curs_set(0);
	typeahead(-1);	/* a page is drawn to its end, however fast somebody types */
	keypad(stdscr, TRUE);
	return 0;
}

static void draw(struct sl_screen *s, enum sl_style style, const wchar_t *text, int n)
{
	if (s->y >= s->rows)
		return;
	attrset(attribute[style]);
	mvaddnwstr(s->y, s->x, text, n);
}

static int name_key(int key)
{
	switch (key) {
	case ERR:
	case KEY_RESIZE:
		return SL_KEY_NONE;
	case KEY_BACKSPACE:
	case 127:
	case 8:
		return SL_KEY_BACK;
	case KEY_UP:
		return SL_KEY_UP;
	case KEY_DOWN:
		return SL_KEY_DOWN;
	case KEY_PPAGE:
		return SL_KEY_PAGE_UP;
	case KEY_NPAGE:
		return SL_KEY_PAGE_DOWN;
	case KEY_HOME:
		return SL_KEY_HOME;
	}
	return key > 0 && key < 0x100 ? key : SL_KEY_NONE;
}

/* Where nobody types (stdin is no terminal) the time is waited for by itself. */
static int wait_for_key(double seconds)
{
	int ms = (int) (seconds * 1000), key;

	timeout(isatty(STDIN_FILENO) ? ms : 0);
	if (!isatty(STDIN_FILENO))
		napms(ms);
	key = getch();
	if (key == 12)	/* ^L: all of it, whatever somebody else has written there */
		clearok(curscr, TRUE);
	return key == 12 ? SL_KEY_NONE : name_key(key);
}

static void end_drawing(struct sl_screen *s)
{
	endwin();
	delscreen(s->terminal);
}
#else
static bool can_draw(void) { return false; }
static int begin_drawing(struct sl_screen *s, struct sl_error *err) { (void) s; (void) err; return -1; }
static void draw(struct sl_screen *s, enum sl_style style, const wchar_t *text, int n) { (void) s; (void) style; (void) text; (void) n; }
static int wait_for_key(double seconds) { (void) seconds; return SL_KEY_END; }
static void end_drawing(struct sl_screen *s) { (void) s; }
#endif

int sl_screen_open(struct sl_screen *s, bool once, struct sl_error *err)
{
	setlocale(LC_CTYPE, "");
	*s = (struct sl_screen) { .rows = PRINTED_ROWS, .columns = PRINTED_COLUMNS };
	s->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	return once || !can_draw() ? 0 : begin_drawing(s, err);
}

void sl_screen_close(struct sl_screen *s)
{
	if (s->drawn)
		end_drawing(s);
	s->drawn = false;
}

/* -- a page ----------------------------------------------------------------- */

void sl_screen_begin(struct sl_screen *s)
{
	s->y = s->x = 0;
#ifdef SL_NCURSES
	if (s->drawn) {
		erase();
		getmaxyx(stdscr, s->rows, s->columns);
	}
#endif
}

/* As many characters of plain text as there are, one for each that cannot be shown here. */
static size_t widen(wchar_t wide[LONGEST], const char *text)
{
	mbstate_t state = { 0 };
	size_t n = 0;

	for (int used; *text && n < LONGEST; n++, text += used) {
		used = (int) mbrtowc(&wide[n], text, MB_CUR_MAX, &state);
		if (used > 0 && wcwidth(wide[n]) >= 0)
			continue;
		memset(&state, 0, sizeof(state));
		used = (int) sl_utf8_length(text);
		used = used ? used : 1;
		wide[n] = L'?';
	}
	return n;
}

/* How many characters go into so many cells; *cells that they take. */
static size_t fit(const wchar_t *wide, size_t n, int room, int *cells)
{
	size_t i = 0;

	for (*cells = 0; i < n && *cells + wcwidth(wide[i]) <= room; i++)
		*cells += wcwidth(wide[i]);
	return i;
}

static void put_blanks(struct sl_screen *s, int n)
{
	if (!s->drawn && n > 0)
		printf("%*s", n, "");
	s->x += n > 0 ? n : 0;
}

static void put_wide(struct sl_screen *s, enum sl_style style, int width, const wchar_t *wide, size_t n)
{
	int room = width ? abs(width) : LONGEST, cells;

	if (s->drawn && room > s->columns - s->x)
		room = s->columns - s->x > 0 ? s->columns - s->x : 0;
	n = fit(wide, n, room, &cells);
	if (width < 0)
		put_blanks(s, -width - cells);
	if (s->drawn)
		draw(s, style, wide, (int) n);
	else
		for (size_t i = 0; i < n; i++)
			printf("%lc", (wint_t) wide[i]);
	s->x += cells;
	if (width > 0)
		put_blanks(s, width - cells);
}

void sl_screen_put(struct sl_screen *s, enum sl_style style, int width, const char *fmt, ...)
{
	wchar_t wide[LONGEST];
	char *text = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) >= 0)
		put_wide(s, style, width, wide, widen(wide, sl_plain(text)));
	va_end(args);
	free(text);
}

void sl_screen_next(struct sl_screen *s)
{
	if (!s->drawn)
		putchar('\n');
	s->y++;
	s->x = 0;
}

/* How many characters go into a line of so many cells, broken after a word where there is one. */
static size_t break_line(const wchar_t *wide, size_t n, int room)
{
	int cells;
	size_t most = fit(wide, n, room, &cells);

	for (size_t k = most; most < n && k > most / 2; k--)
		if (wide[k - 1] == L' ')
			return k;
	return most ? most : 1;
}

static int wrap(struct sl_screen *s, bool put, enum sl_style style, int indent, const char *text)
{
	int room = s->drawn ? s->columns - indent : LONGEST, lines = 0;
	wchar_t wide[LONGEST], *at = wide;
	char *copy = strdup(text);
	size_t left = copy ? widen(wide, sl_plain(copy)) : 0, n;

	free(copy);
	for (; left; lines++, at += n, left -= n) {
		n = break_line(at, left, room);
		if (!put)
			continue;
		put_blanks(s, indent);
		put_wide(s, style, 0, at, n);
		sl_screen_next(s);
	}
	return lines;
}

void sl_screen_wrap(struct sl_screen *s, enum sl_style style, int indent, const char *text)
{
	wrap(s, true, style, indent, text);
}

int sl_screen_height(struct sl_screen *s, int indent, const char *text)
{
	return wrap(s, false, SL_STYLE_PLAIN, indent, text);
}

int sl_screen_show(struct sl_screen *s, double seconds)
{
#ifdef SL_NCURSES
	if (s->drawn)
		refresh();
#endif
	return s->drawn ? wait_for_key(seconds) : SL_KEY_END;
}
