/* SPDX-License-Identifier: MIT */
#include "tool/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/lines.h"
#include "tool/excerpt.h"

static char command[4096] = "schedlua";

static void add_text(const char *text, size_t length)
{
	size_t n = strlen(command);

	if (n + length < sizeof(command))
		memcpy(command + n, text, length);
}

void sl_tool_begin(int argc, char **argv)
{
	static const char simple[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,@%+-";

	for (int i = 1; i < argc; i++) {
		bool quoted = !*argv[i] || argv[i][strspn(argv[i], simple)];

		add_text(quoted ? " '" : " ", quoted ? 2 : 1);
		for (const char *c = argv[i]; *c; c++)
			add_text(*c == '\'' ? "'\\''" : c, *c == '\'' ? 4 : 1);
		add_text("'", quoted);
	}
}

const char *sl_tool_command(void)
{
	return command;
}

void sl_tool_beside(const char *name, char path[PATH_MAX])
{
	char own[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash = n > 0 ? memrchr(own, '/', (size_t) n) : NULL;

	if (!slash || snprintf(path, PATH_MAX, "%.*s/%s", (int) (slash - own), own, name) >= PATH_MAX || access(path, X_OK))
		snprintf(path, PATH_MAX, "%s", name);
}

int sl_tool_parse(const struct sl_verb *verb, void *values, int argc, char **argv, int least, int most,
		  int *status)
{
	struct sl_command cmd;
	struct sl_error err;

	*status = SL_EXIT_USAGE;
	if (sl_options_parse(verb->options, values, argc, argv, &cmd, &err)) {
		sl_tool_usage(verb, "%s", err.text);
		return -1;
	}
	if (cmd.help) {
		sl_verb_help(verb, stdout);
		*status = sl_tool_end(SL_EXIT_FINE);
		return -1;
	}
	if (cmd.operands < least) {
		sl_tool_usage(verb, "an argument is missing: schedlua %s %s", verb->name, verb->operands);
		return -1;
	}
	if (most >= 0 && cmd.operands > most) {
		sl_tool_usage(verb, "one argument too many: \"%s\"", argv[most]);
		return -1;
	}
	return cmd.operands;
}

int sl_tool_fail(const struct sl_error *err)
{
	fflush(stdout);
	fprintf(stderr, "schedlua: %s\n", err->text);
	sl_excerpt(err->text, stderr);
	return SL_EXIT_FAILED;
}

/* A frame of the traceback that is the policy's: neither Lua's nor the library's. */
static bool is_frame(const char *line, size_t length)
{
	return length && line[0] == '\t' && !memmem(line, length, "[C]:", 4) &&
	       !memmem(line, length, "/lib/sched/", 11) && !memmem(line, length, "(...tail calls...)", 18);
}

void sl_tool_trace(const char *trace, FILE *out)
{
	const char *frames = trace ? strstr(trace, "stack traceback:\n") : NULL;
	unsigned n = 0;

	/* the first frame stands in the message */
	for (const char *line = frames; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (is_frame(line, strcspn(line, "\n")) && n++)
			fprintf(out, "%s%.*s\n", n == 2 ? "called from\n" : "", (int) strcspn(line, "\n"), line);
}

int sl_tool_usage(const struct sl_verb *verb, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "schedlua: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nTry: schedlua %s%s--help\n", verb ? verb->name : "", verb ? " " : "");
	return SL_EXIT_USAGE;
}

int sl_tool_end(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fprintf(stderr, "schedlua: standard output: %s\n", strerror(errno));
	return SL_EXIT_FAILED;
}

static volatile sig_atomic_t stop;

static void on_signal(int signal)
{
	(void) signal;
	stop = 1;
}

const volatile sig_atomic_t *sl_tool_stop_on(int signal)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int) SA_RESETHAND };

	sigemptyset(&action.sa_mask);
	sigaction(signal, &action, NULL);
	return &stop;
}

int64_t sl_tool_last(const char *text)
{
	int64_t n;

	return sl_scan_span(text, &n) && n > 0 && n <= INT64_C(100000) * 86400 ? n : 0;
}
