/* SPDX-License-Identifier: MIT */
/* sim/tune_site.c - the site file: what of it may be tuned, and its text with a setting */
#include "sim/tune_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/lines.h"

#define MARK "-- schedlua tune\n"	/* ends the line that a run writes into a site file */
#define MOST_TEXT ((size_t) 1 << 24)

/* -- its text ------------------------------------------------------------------ */

/* Take out the lines that end with MARK. */
static void drop_marked(char *text)
{
	char *at;

	while ((at = strstr(text, MARK))) {
		char *line = at, *end = at + strlen(MARK);

		while (line > text && line[-1] != '\n')
			line--;
		memmove(line, end, strlen(end) + 1);
	}
}

/* Behind the "{" of "sched.site {", where that is no comment; NULL: there is none. */
static char *find_site(char *text)
{
	for (char *at = text; (at = strstr(at, "sched.site")); at++) {
		char *p = at + strlen("sched.site"), *line = at;

		while (line > text && line[-1] != '\n')
			line--;
		p += strspn(p, " \t\r\n(");
		if (*p == '{' && !memmem(line, (size_t) (at - line), "--", 2))
			return p + 1;
	}
	return NULL;
}

/* The text, and where its policies are looked for: in its directory first, since who gets the text
 * does not know where it stood. */
static int read_text(struct sl_tune *t, struct sl_error *err)
{
	const char *slash = strrchr(t->opt.site, '/'), *path = t->opt.trial.source.path;
	size_t size;

	if (asprintf(&t->path, "%.*s%s%s", slash ? (int) (slash - t->opt.site) + 1 : 1, slash ? t->opt.site : ".", path ? ":" : "",
		     path ? path : "") < 0) {
		t->path = NULL;
		return sl_tune_no_memory(err);
	}
	t->opt.trial.source.path = t->path;
	if (sl_lines_whole(t->opt.site, MOST_TEXT, &t->text, &size, err) < 0)
		return -1;
	drop_marked(t->text);
	return find_site(t->text) ? 0 : sl_fail(err, SL_EINVAL, "%s: expected \"sched.site {\" in it, behind which what is "
						"found can be written", t->opt.site);
}

/* "tuned = { easy = { window = 5, }, }, " as far as it differs from the file. */
static void put_tuned(const struct sl_tune *t, const struct sl_tune_setting *s, FILE *out)
{
	const char *policy = "";

	fputs("tuned = {", out);
	for (uint32_t i = 0; i < t->tunables; i++) {
		const struct sl_tunable *o = &t->tunable[i];

		if (s->value[i] == o->present)
			continue;
		if (strcmp(policy, o->policy))
			fprintf(out, "%s [\"%s\"] = {", *policy ? " }," : "", o->policy);
		fprintf(out, " %s = %s,", o->name, o->value[s->value[i]]);
		policy = o->policy;
	}
	fprintf(out, "%s },", *policy ? " }" : "");
}

char *sl_tune_site(const struct sl_tune *t, uint32_t setting, struct sl_error *err)
{
	char *text = NULL, *at = find_site(t->text);
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out) {
		sl_tune_no_memory(err);
		return NULL;
	}
	fprintf(out, "%.*s ", (int) (at - t->text), t->text);
	put_tuned(t, &t->setting[setting], out);
	fprintf(out, " %s%s", MARK, at + (*at == '\n'));
	if (fclose(out)) {
		sl_tune_no_memory(err);
		free(text);
		return NULL;
	}
	return text;
}

char *sl_tune_words(const struct sl_tune *t, uint32_t setting, struct sl_error *err)
{
	const struct sl_tune_setting *s = &t->setting[setting];
	const char *between = "";
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (uint32_t i = 0; out && i < t->tunables; i++) {
		const struct sl_tunable *o = &t->tunable[i];

		if (s->value[i] == o->present)
			continue;
		fprintf(out, "%s%s.%s=%s", between, o->policy, o->name, o->value[s->value[i]]);
		between = " ";
	}
	if (out && !*between)
		fputs("present", out);
	if (!out || fclose(out)) {
		sl_tune_no_memory(err);
		free(text);
		return NULL;
	}
	return text;
}

/* -- what may be tuned ------------------------------------------------------ */

static int add_value(struct sl_tunable *o, const char *value, struct sl_error *err)
{
	if (sl_grow_list(&o->value, o->values, sizeof(*o->value), err) < 0)
		return -1;
	o->value[o->values] = strdup(value);
	return o->value[o->values++] ? 0 : sl_tune_no_memory(err);
}

/* "policy\tname\tpresent\tvalue..." */
static int add_tunable(struct sl_tune *t, char *line, struct sl_error *err)
{
	struct sl_tunable *o;
	char *save = NULL, *policy = strtok_r(line, "\t", &save), *name = strtok_r(NULL, "\t", &save);
	char *present = strtok_r(NULL, "\t", &save), *value;
	bool found = false;

	if (!present || sl_grow_list(&t->tunable, t->tunables, sizeof(*t->tunable), err) < 0)
		return present ? -1 : 0;
	o = &t->tunable[t->tunables++];
	*o = (struct sl_tunable) { .policy = strdup(policy), .name = strdup(name) };
	if (!o->policy || !o->name)
		return sl_tune_no_memory(err);
	while ((value = strtok_r(NULL, "\t", &save))) {
		if (!strcmp(value, present)) {
			o->present = o->values;
			found = true;
		}
		if (add_value(o, value, err) < 0)
			return -1;
	}
	o->present = found ? o->present : o->values;
	return found ? 0 : add_value(o, present, err);
}

static int list_tunables(struct sl_tune *t, struct sl_error *err)
{
	struct sl_bundle_text text = { t->opt.site, t->text };
	struct sl_bundle_source source = { .site = t->opt.site, .path = t->opt.trial.source.path, .text = &text, .texts = 1 };
	struct sl_limits limits = { 0 };
	char *trace = NULL, *lines, *save = NULL;
	struct sl_bundle *b = sl_bundle_load(&source, &limits, &trace, err);
	int rc = b ? 0 : -1;

	free(trace);
	if (!b)
		return -1;
	lines = strdup(b->tunables);
	if (!lines)
		rc = sl_tune_no_memory(err);
	for (char *line = lines ? strtok_r(lines, "\n", &save) : NULL; !rc && line; line = strtok_r(NULL, "\n", &save))
		rc = add_tunable(t, line, err);
	free(lines);
	sl_bundle_destroy(b);
	if (!rc && !t->tunables)
		rc = sl_fail(err, SL_EINVAL, "%s: no option of its policies says which values to try (tune = { ... } in the "
			     "policy's options)", t->opt.site);
	return rc;
}

int sl_tune_read_site(struct sl_tune *t, struct sl_error *err)
{
	return read_text(t, err) < 0 ? -1 : list_tunables(t, err);
}
