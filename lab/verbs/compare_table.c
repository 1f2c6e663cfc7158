/* SPDX-License-Identifier: MIT */
#include "verbs/compare_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"
#include "image/json_out.h"
#include "report/interval.h"
#include "verbs/compare_paired.h"

/* A line of the table: outcomes of equal workload and policy. */
struct line {
	const char *workload, *policy;
	uint64_t seed, start;
	const struct sl_trial_outcome *outcome;
	uint32_t step, runs;		/* outcome[0], outcome[step], ... */
	uint32_t failed;
	const struct sl_compare_pair *pair;	/* or NULL */
};

/* Mean, standard deviation of a sample, and half of the 95 % interval of the mean. */
static void summarize(const struct line *l, const struct sl_compare_figure *f, double *mean, double *sd, double *ci)
{
	uint32_t n = 0;
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < l->runs; i++)
		if (!l->outcome[i * l->step].err.code) {
			sum += f->of(&l->outcome[i * l->step].result);
			n++;
		}
	*mean = n ? sum / n : NAN;
	for (uint32_t i = 0; i < l->runs; i++)
		if (!l->outcome[i * l->step].err.code)
			squares += pow(f->of(&l->outcome[i * l->step].result) - *mean, 2);
	*sd = n > 1 ? sqrt(squares / (n - 1)) : 0;
	*ci = n > 1 ? sl_student95(n - 1) * *sd / sqrt(n) : NAN;
}

/* -- the lines --------------------------------------------------------------------- */

struct sink {
	const struct sl_compare_grid *c;
	enum sl_compare_format format;
	char **option;			/* names of the policies' options: columns of CSV */
	uint32_t options;
	struct sl_text_table *table;
	struct sl_json *json;
	bool runs, several;		/* a line a run; lines stand for several */
	bool of_stops;			/* the table is that of stops */
};

/* Its options begin behind the name; a site file has none. */
static const char *options_of(const char *policy)
{
	return sl_compare_site(policy) ? "" : policy;
}

static void put_csv_text(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"')
			putchar('"');
		putchar(*s);
	}
	putchar('"');
}

/* The next option of "NAME,OPTION=VALUE,...", from *at on; false: there is none. */
static bool next_option(const char **at, char name[64], char value[128])
{
	while (**at) {
		size_t n;
		const char *eq;

		*at += strcspn(*at, ",");
		*at += **at == ',';
		n = strcspn(*at, ",");
		eq = memchr(*at, '=', n);
		if (!eq || eq - *at > 63)
			continue;
		snprintf(name, 64, "%.*s", (int) (eq - *at), *at);
		snprintf(value, 128, "%.*s", (int) (n - (size_t) (eq + 1 - *at)), eq + 1);
		return true;
	}
	return false;
}

/* A policy's name and options, in the columns of all policies' options. */
static void put_options(const struct sink *sink, const char *policy)
{
	char name[64], value[128], plain[256];

	snprintf(plain, sizeof(plain), "%.*s", (int) (sl_compare_site(policy) ? strlen(policy) : strcspn(policy, ",")), policy);
	putchar(',');
	put_csv_text(plain);
	for (uint32_t i = 0; i < sink->options; i++) {
		const char *at = options_of(policy);

		putchar(',');
		while (next_option(&at, name, value))
			if (!strcmp(name, sink->option[i]))
				put_csv_text(value);
	}
}

static void json_options(struct sl_json *j, const char *policy)
{
	char name[64], value[128], plain[256];
	const char *at = options_of(policy);

	snprintf(plain, sizeof(plain), "%.*s", (int) (sl_compare_site(policy) ? strlen(policy) : strcspn(policy, ",")), policy);
	sl_json_put_str(j, "name", plain);
	sl_json_open_object(j, "options");
	while (next_option(&at, name, value))
		sl_json_put_str(j, name, value);
	sl_json_end_object(j);
}

static void csv_line(const struct sink *sink, const struct line *l)
{
	put_csv_text(l->workload);
	putchar(',');
	put_csv_text(l->policy);
	put_options(sink, l->policy);
	if (sink->runs)
		printf(",%" PRIu64 ",%" PRIu64 ",%" PRIu32, l->seed, l->start, l->failed);
	else
		printf(",%" PRIu32 ",%" PRIu32, l->runs, l->failed);
	for (size_t f = 0; sl_compare_figures[f].key; f++) {
		double mean, sd, ci;

		if (!sl_compare_has(sink->c, f))
			continue;
		summarize(l, &sl_compare_figures[f], &mean, &sd, &ci);
		printf(isfinite(mean) ? ",%.10g" : ",", mean);
		if (!sink->runs)
			printf(isfinite(mean) ? ",%.10g" : ",", sd);
		if (!sink->runs)
			printf(isfinite(ci) ? ",%.10g" : ",", ci);
	}
	if (l->pair)
		sl_compare_pair_csv(sink->c, l->pair);
	putchar('\n');
}

static void json_line(const struct sink *sink, const struct line *l)
{
	struct sl_json *j = sink->json;

	sl_json_break(j);
	sl_json_begin_object(j);
	sl_json_put_str(j, "workload", l->workload);
	sl_json_put_str(j, "policy", l->policy);
	json_options(j, l->policy);
	sl_json_put_int(j, sink->runs ? "seed" : "runs", sink->runs ? (int64_t) l->seed : l->runs);
	if (sink->runs)
		sl_json_put_int(j, "start", (int64_t) l->start);
	sl_json_put_int(j, "failed", l->failed);
	for (size_t f = 0; sl_compare_figures[f].key; f++) {
		double mean, sd, ci;

		if (!sl_compare_has(sink->c, f))
			continue;
		summarize(l, &sl_compare_figures[f], &mean, &sd, &ci);
		if (sink->runs) {
			sl_json_put_real(j, sl_compare_figures[f].key, mean);
			continue;
		}
		sl_json_open_object(j, sl_compare_figures[f].key);
		sl_json_put_real(j, "mean", mean);
		sl_json_put_real(j, "sd", sd);
		if (isfinite(ci))
			sl_json_put_real(j, "ci95", ci);
		sl_json_end_object(j);
	}
	if (l->pair)
		sl_compare_pair_json(sink->c, l->pair, j);
	sl_json_end_object(j);
}

static void table_line(const struct sink *sink, const struct line *l)
{
	sl_text_table_add(sink->table, l->workload);
	sl_text_table_add(sink->table, l->policy);
	if (sink->runs)
		sl_text_table_addf(sink->table, "%" PRIu64, l->seed);
	if (sink->runs)
		sl_text_table_addf(sink->table, "%" PRIu64, l->start);
	for (size_t f = 0; sl_compare_figures[f].key; f++) {
		int digits = sl_compare_figures[f].digits;
		double mean, sd, ci;

		if (!sl_compare_shows(sink->c, sink->of_stops, f))
			continue;
		summarize(l, &sl_compare_figures[f], &mean, &sd, &ci);
		mean = sl_compare_in_unit(f, mean);
		sd = sl_compare_in_unit(f, sd);
		if (!isfinite(mean))
			sl_text_table_add(sink->table, "failed");
		else if (sink->several)
			sl_text_table_addf(sink->table, "%.*f ± %.*f", digits, mean, digits, sd);
		else
			sl_text_table_addf(sink->table, "%.*f", digits, mean);
	}
}

static void csv_titles(const struct sink *sink)
{
	fputs("workload,policy,name", stdout);
	for (uint32_t i = 0; i < sink->options; i++)
		printf(",option_%s", sink->option[i]);
	printf(",%s,failed", sink->runs ? "seed,start" : "runs");
	for (size_t f = 0; sl_compare_figures[f].key; f++) {
		if (!sl_compare_has(sink->c, f))
			continue;
		printf(",%s", sl_compare_figures[f].key);
		if (!sink->runs)
			printf(",%s_sd,%s_ci95", sl_compare_figures[f].key, sl_compare_figures[f].key);
	}
	if (sink->c->pair)
		sl_compare_pair_titles(sink->c);
	putchar('\n');
}

static struct sl_text_table *make_table(const struct sink *sink)
{
	char titles[SL_COMPARE_TITLES];

	return sl_text_table_create(sl_compare_titles(sink->c, sink->of_stops, sink->runs ? "workload,policy,>seed,>start" : "workload,policy",
						      titles));
}

static void put_line(const struct sink *sink, const struct line *l)
{
	if (sink->format == SL_COMPARE_JSON)
		json_line(sink, l);
	else if (sink->format == SL_COMPARE_CSV)
		csv_line(sink, l);
	else
		table_line(sink, l);
}

static void put_lines(const struct sink *sink)
{
	const struct sl_compare_grid *c = sink->c;
	uint32_t repeats = c->repeats;

	for (uint32_t i = 0; sink->runs && i < c->trials; i++) {
		const struct sl_trial_options *t = &c->trial[i];
		struct line l = { t->workload, t->source.site ? t->source.site : t->source.policy,
				  t->workload_options.seed, t->workload_options.skip, &c->outcome[i], 0, 1,
				  c->outcome[i].err.code != SL_OK, NULL };

		put_line(sink, &l);
	}
	for (uint32_t w = 0; !sink->runs && w < c->workloads; w++)
		for (uint32_t p = 0; p < c->policies; p++) {
			struct line l = { c->workload[w], c->policy[p], 0, 0,
					  &c->outcome[w * repeats * c->policies + p], c->policies, repeats, 0, c->pair ? &c->pair[w * c->policies + p] : NULL };

			for (uint32_t i = 0; i < repeats; i++)
				l.failed += l.outcome[i * l.step].err.code != SL_OK;
			put_line(sink, &l);
		}
}

/* -- the table --------------------------------------------------------------------- */

/* The columns of all policies' options, in the order in which they come. */
static int list_options(struct sink *sink, struct sl_error *err)
{
	const struct sl_compare_grid *c = sink->c;
	char name[64], value[128];

	for (uint32_t p = 0; p < c->policies; p++)
		for (const char *at = options_of(c->policy[p]); next_option(&at, name, value);) {
			uint32_t i = 0;

			while (i < sink->options && strcmp(sink->option[i], name))
				i++;
			if (i < sink->options)
				continue;
			if (sl_grow_list(&sink->option, sink->options, sizeof(*sink->option), err))
				return -1;
			if (!(sink->option[sink->options] = strdup(name)))
				return sl_fail(err, SL_ENOMEM, "compare: out of memory");
			sink->options++;
		}
	return 0;
}

static void free_sink(struct sink *sink)
{
	for (uint32_t i = 0; i < sink->options; i++)
		free(sink->option[i]);
	free(sink->option);
	sl_text_table_destroy(sink->table);
}

static int begin_output(struct sink *sink, struct sl_error *err)
{
	if (sink->format == SL_COMPARE_JSON) {
		sink->json = sl_json_create(stdout, err);
		if (!sink->json)
			return -1;
		sl_json_begin_array(sink->json);
	} else if (sink->format == SL_COMPARE_CSV) {
		if (list_options(sink, err) < 0)
			return -1;
		csv_titles(sink);
	} else if (!(sink->table = make_table(sink))) {
		return sl_fail(err, SL_ENOMEM, "compare: out of memory");
	}
	return 0;
}

/* A table for people; below it, if jobs may be stopped for others, that of stops. */
static int print_tables(struct sink *sink, struct sl_error *err)
{
	if (sl_text_table_print(sink->table, 0, stdout) < 0)
		return sl_fail(err, SL_ENOMEM, "compare: out of memory while printing");
	if (!sink->c->stops || sink->of_stops)
		return 0;
	sl_text_table_destroy(sink->table);
	sink->of_stops = true;
	if (!(sink->table = make_table(sink)))
		return sl_fail(err, SL_ENOMEM, "compare: out of memory");
	put_lines(sink);
	puts("\nJobs that were stopped for others:");
	return print_tables(sink, err);
}

int sl_compare_print(const struct sl_compare_grid *c, enum sl_compare_format format, bool runs, struct sl_error *err)
{
	struct sink sink = { .c = c, .format = format, .runs = runs, .several = !runs && c->repeats > 1 };
	int rc = begin_output(&sink, err);

	if (!rc)
		put_lines(&sink);
	if (!rc && sink.json) {
		sl_json_break(sink.json);
		sl_json_end_array(sink.json);
		rc = sl_json_end(sink.json, err);
	}
	if (!rc && sink.table)
		rc = print_tables(&sink, err);
	if (!rc && sink.table && c->pair)
		rc = sl_compare_pair_print(c, err);
	free_sink(&sink);
	return rc;
}
