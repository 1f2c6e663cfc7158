/* SPDX-License-Identifier: MIT */
/*
 * papers.c - the workloads of the IPSCHED and AUCSCHED papers: what the papers' tables
 * say beside what our policies make of them, and the policies beside each other.
 *
 *	bench/papers [--short] [--seeds N] [--workers N] [--policies "NAME[,OPTION=VALUE]..."]
 *		     [SECTION] [WORD]
 *
 * SECTION: esp (tables 6 and 7 of Soner, Ozturan 2012), auctions (tables 5 to 7 of Soner,
 * Ozturan 2013), beside (the policies on the same workloads, with exact and with double
 * estimates, all queued at the beginning and arriving over time); without one all three.
 * WORD: only tables in whose title it stands, "auctions S.V".  --policies: these instead of
 * the section's own.  Lines that begin with a bar are expected, the others measured: mean
 * and standard deviation over the seeds.  A star: as good as the last expected line, or
 * better, in each figure that is judged.  Policies that are not there are named and left out.
 *
 * --short: what takes a few seconds; it fails when a figure that it looks at is missed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/bundle.h"
#include "sim/sweep.h"
#include "base/text.h"

#define MOST_POLICIES 32
#define MOST_SEEDS 100

enum figure { UTILIZATION, BOUND, WAIT, LONGEST, SLOWDOWN, PACKING, FRAGMENTATION, SPREAD, FIGURES };

static const struct {
	const char *title;
	int digits;
	bool most;			/* more is better */
} column[FIGURES] = {
	[UTILIZATION] = { "utilization", 3, true }, [BOUND] = { "at most", 3, true }, [WAIT] = { "wait h", 2, false },
	[LONGEST] = { "longest h", 2, false }, [SLOWDOWN] = { "slowdown", 2, false },
	[PACKING] = { "packing", 3, false }, [FRAGMENTATION] = { "blocks", 2, false },
	[SPREAD] = { "spread", 2, false },
};

/* What a paper has for a workload; 0: nothing. */
struct expected {
	const char *what;
	double figure[FIGURES];
};

static struct {
	const char *section, *word, *policies;
	int seeds, workers;
	bool brief;
	int missed;
} run;

/* -- measuring --------------------------------------------------------------- */

struct table {
	const char *title, *workload, *machine, *estimate;
	const struct expected *expected;	/* up to one without a name */
	unsigned judged;			/* figures, as bits */
	char *policy[MOST_POLICIES];
	int policies;
};

static double value_of(const struct sl_result *r, enum figure f)
{
	switch (f) {
	case UTILIZATION: return r->utilization;
	case BOUND: return r->bound.utilization;
	case WAIT: return r->wait_s.mean / 3600;
	case LONGEST: return r->wait_s.max / 3600;
	case SLOWDOWN: return r->slowdown.mean;
	case PACKING: return r->packing.mean;
	case FRAGMENTATION: return r->fragmentation.mean;
	default: return r->spread.mean;
	}
}

static bool is_there(const char *policy)
{
	char name[64];
	struct sl_bundle_source source = { .policy = name };
	struct sl_error err = { 0 };
	struct sl_bundle *b;
	bool there;

	snprintf(name, sizeof(name), "%.*s", (int) strcspn(policy, ","), policy);
	b = sl_bundle_open(&source, &err);
	there = b && sl_bundle_module(b, name, &err);
	sl_bundle_destroy(b);
	return there;
}

/* Split "easy critical,fill=critical"; those that are not there are named and left out. */
static void choose_policies(struct table *t, char *words)
{
	char *save = NULL;

	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		if (t->policies == MOST_POLICIES || !is_there(w))
			printf("  %s: skipped, %s\n", w, t->policies == MOST_POLICIES ? "too many" : "not there");
		else
			t->policy[t->policies++] = w;
	}
}

static void mean_and_sd(const struct sl_trial_outcome *o, int n, enum figure f, double *mean, double *sd)
{
	double sum = 0, squares = 0;

	for (int i = 0; i < n; i++)
		sum += value_of(&o[i].result, f);
	*mean = sum / n;
	for (int i = 0; i < n; i++)
		squares += pow(value_of(&o[i].result, f) - *mean, 2);
	*sd = n > 1 ? sqrt(squares / (n - 1)) : 0;
}

/* -- one table ------------------------------------------------------------------ */

/* Is it as good as what is wanted, the last expected line? */
static bool beats(const struct table *t, const double *mean)
{
	const struct expected *e = t->expected;
	bool better = t->judged && e;

	while (better && e[1].what)
		e++;
	for (int f = 0; better && f < FIGURES; f++)
		if (t->judged >> f & 1 && e->figure[f] > 0)
			better = column[f].most ? mean[f] >= e->figure[f] : mean[f] <= e->figure[f];
	return better;
}

static void put_expected(struct sl_text_table *out, const struct expected *e)
{
	sl_text_table_addf(out, "| %s", e->what);
	for (int f = 0; f < FIGURES; f++) {
		if (e->figure[f] > 0)
			sl_text_table_addf(out, "%.*f", column[f].digits, e->figure[f]);
		else
			sl_text_table_add(out, "");
	}
}

static void put_measured(struct sl_text_table *out, const struct table *t, int policy, const struct sl_trial_outcome *o)
{
	double mean[FIGURES], sd[FIGURES];

	for (int i = 0; i < run.seeds; i++)
		if (o[i].err.code) {
			sl_text_table_addf(out, "  %s: %s", t->policy[policy], o[i].err.text);
			for (int f = 0; f < FIGURES; f++)
				sl_text_table_add(out, "failed");
			run.missed++;
			return;
		}
	for (int f = 0; f < FIGURES; f++)
		mean_and_sd(o, run.seeds, f, &mean[f], &sd[f]);
	sl_text_table_addf(out, "%s %s", beats(t, mean) ? "*" : " ", t->policy[policy]);
	for (int f = 0; f < FIGURES; f++)
		sl_text_table_addf(out, "%.*f ± %.*f", column[f].digits, mean[f], column[f].digits, sd[f]);
}

static struct sl_text_table *make_text(void)
{
	char titles[256] = "";
	int n = snprintf(titles, sizeof(titles), "  ");

	for (int f = 0; f < FIGURES; f++)
		n += snprintf(titles + n, sizeof(titles) - (size_t) n, ",>%s", column[f].title);
	return sl_text_table_create(titles);
}

static int sweep(const struct table *t, struct sl_trial_outcome *outcome, bool bound, struct sl_error *err)
{
	static struct sl_trial_options trial[MOST_POLICIES * MOST_SEEDS];
	struct sl_sweep s = {
		.trial = trial, .outcome = outcome, .trials = (uint32_t) (t->policies * run.seeds),
		.workers = (uint32_t) run.workers, .bound = bound,
	};

	for (int p = 0; p < t->policies; p++)
		for (int i = 0; i < run.seeds; i++)
			trial[p * run.seeds + i] = (struct sl_trial_options) {
				.workload = t->workload, .source = { .policy = t->policy[p] },
				.workload_options = {
					.machine = t->machine, .estimate = t->estimate, .seed = (uint64_t) i + 1,
				},
			};
	return sl_sweep_run(&s, err);
}

/* Returns 0, or -1 when nothing could be measured. */
static int make_table(struct table *t, const char *policies)
{
	static struct sl_trial_outcome outcome[MOST_POLICIES * MOST_SEEDS];
	struct sl_text_table *out;
	struct sl_error err = { 0 };
	char *words;

	if (run.word && !strstr(t->title, run.word))
		return 0;
	words = strdup(run.policies ? run.policies : policies);
	out = make_text();
	if (!words || !out) {
		sl_fail(&err, SL_ENOMEM, "out of memory");
		goto error;
	}
	printf("%s\n", t->title);
	choose_policies(t, words);
	memset(outcome, 0, sizeof(outcome));
	if (sweep(t, outcome, true, &err) < 0)
		goto error;
	for (const struct expected *e = t->expected; e && e->what; e++)
		put_expected(out, e);
	for (int p = 0; p < t->policies; p++)
		put_measured(out, t, p, &outcome[p * run.seeds]);
	if (sl_text_table_print(out, 0, stdout) < 0) {
		sl_fail(&err, SL_EIO, "cannot print");
		goto error;
	}
	printf("\n");
	fflush(stdout);
	sl_text_table_destroy(out);
	free(words);
	return 0;
error:
	fprintf(stderr, "papers: %s: %s\n", t->title, err.text);
	sl_text_table_destroy(out);
	free(words);
	return -1;
}

/* -- the papers ------------------------------------------------------------------- */

#define JUDGE(a, b, c) (1u << (a) | 1u << (b) | 1u << (c))

/* Wait in hours, slowdown, utilization. */
#define ESP(what, wait, slowdown, utilization, packing) \
	{ what, { [WAIT] = wait, [SLOWDOWN] = slowdown, [UTILIZATION] = utilization, [PACKING] = packing } }

static const struct expected table6[] = {
	ESP("1 SLURM, basic", 1.60, 18.11, .90, 0),
	ESP("2 IPSCHED, basic, p r (s - c)", .91, 11.31, .93, 0),
	ESP("3 IPSCHED, basic, p (s - c)", .77, 9.95, .92, 0),
	ESP("4 SLURM, multifactor", 2.42, 22.75, .89, 0),
	ESP("5 IPSCHED, multifactor, p (s - c)", .88, 10.75, .94, 0),
	ESP("6 IPSCHED, multifactor, p r (s - c)", 2.08, 22.06, .93, 0),
	ESP("wanted: all of this at once", .75, 9.5, .95, 0), { 0 }
};
static const struct expected table7[] = {
	ESP("7 SLURM, multifactor", 2.50, 23.80, .88, 1.021),
	ESP("8 IPSCHED, multifactor, p r (s - c)", 1.09, 13.12, .94, 1.016), { 0 }
};

/*
 * Guard: as it comes (12 h, which nobody waits for here), and where it acts.  threshold=0.3,
 * objective=cores and value=prices are for jobs whose sizes do not divide nodes.
 */
#define ESP_POLICIES "fcfs easy conservative,window=50 critical critical,patience=3 " \
	"critical,patience=3,guard_wait=5h critical,patience=3,threshold=0.3 " \
	"critical,patience=3,threshold=0.3,guard_wait=5h ip_window ip_window,guard_wait=5h " \
	"ip_window,objective=cores,priority=multifactor,size_weight=0,brevity=0,guard_wait=3h " \
	"auction auction,length=-0.2 auction,value=prices,guard_wait=3h"

static int esp(void)
{
	struct table t6 = {
		.title = "esp: ESP-GPU, 1024x8c2g (IPSCHED, table 6)", .workload = "esp-gpu", .expected = table6,
		.judged = JUDGE(WAIT, SLOWDOWN, UTILIZATION),
	}, t7 = {
		.title = "esp: ESP-GPU with up to 4 cores more or fewer (IPSCHED, table 7)", .workload = "esp-gpu-rand",
		.expected = table7, .judged = JUDGE(WAIT, SLOWDOWN, UTILIZATION) | 1u << PACKING,
	};

	return make_table(&t6, ESP_POLICIES) < 0 || make_table(&t7, ESP_POLICIES) < 0 ? -1 : 0;
}

/* Utilization, wait in hours, blocks, slowdown, spread: AUCSCHED, SLURM/BF. */
static const struct {
	char machine;
	const char *workload;
	double aucsched[5], slurm[5];
} auction[] = {
	{ 'S', "I.1", { .95, 1.74, 3.92, 27.88, 3.28 }, { .95, 1.71, 2.20, 23.58, 5.33 } },
	{ 'S', "I.2", { .95, 1.72, 2.71, 26.91, 2.01 }, { .93, 1.64, 1.63, 21.33, 3.40 } },
	{ 'S', "I.3", { .93, 1.77, 1.00, 27.88, 1.00 }, { .91, 1.53, 1.00, 22.01, 1.00 } },
	{ 'S', "II.1", { .97, 1.69, 3.04, 26.98, 5.35 }, { .95, 1.72, 2.28, 23.64, 5.28 } },
	{ 'S', "II.2", { .94, 1.70, 2.10, 27.53, 3.70 }, { .93, 1.64, 1.58, 22.01, 3.35 } },
	{ 'S', "II.3", { .93, 1.74, 1.00, 28.06, 1.00 }, { .91, 1.55, 1.00, 22.63, 1.00 } },
	{ 'S', "III.1", { .93, 1.79, 3.10, 28.65, 3.77 }, { .96, 1.75, 2.30, 24.45, 5.43 } },
	{ 'S', "III.2", { .93, 1.75, 1.92, 27.87, 2.42 }, { .93, 1.64, 1.62, 21.83, 3.20 } },
	{ 'S', "III.3", { .93, 1.79, 1.00, 28.68, 1.00 }, { .91, 1.57, 1.00, 22.80, 1.00 } },
	{ 'S', "IV.1", { .93, 1.82, 3.43, 28.60, 3.46 }, { .93, 1.69, 3.03, 21.71, 5.63 } },
	{ 'S', "IV.2", { .91, 1.82, 2.25, 29.41, 2.55 }, { .89, 1.60, 1.80, 20.29, 3.24 } },
	{ 'S', "IV.3", { .89, 1.76, 1.00, 28.15, 1.00 }, { .87, 1.53, 1.00, 21.33, 1.00 } },
	{ 'S', "V.1", { .71, 1.96, 2.68, 30.85, 3.24 }, { .71, 1.72, 2.42, 20.89, 4.70 } },
	{ 'S', "V.2", { .68, 1.82, 2.11, 31.16, 2.40 }, { .68, 1.71, 1.81, 20.63, 2.62 } },
	{ 'S', "V.3", { .65, 1.75, 1.00, 30.98, 1.00 }, { .65, 1.66, 1.00, 21.01, 1.00 } },
	{ 'M', "I.1", { .97, 1.88, 4.70, 28.72, 5.60 }, { .95, 1.80, 2.56, 23.47, 6.52 } },
	{ 'M', "I.2", { .93, 1.78, 3.03, 28.36, 3.37 }, { .92, 1.70, 1.85, 22.89, 4.01 } },
	{ 'M', "I.3", { .93, 1.79, 1.00, 28.67, 1.00 }, { .90, 1.60, 1.00, 23.76, 1.00 } },
	{ 'M', "II.1", { .97, 1.70, 3.62, 27.16, 7.31 }, { .95, 1.70, 2.60, 23.31, 7.32 } },
	{ 'M', "II.2", { .93, 1.62, 2.40, 26.32, 4.55 }, { .91, 1.56, 1.80, 20.86, 4.43 } },
	{ 'M', "II.3", { .92, 1.75, 1.00, 27.92, 1.00 }, { .90, 1.56, 1.00, 22.71, 1.00 } },
	{ 'M', "III.1", { .96, 1.75, 4.14, 27.80, 6.55 }, { .95, 1.73, 2.57, 23.76, 6.75 } },
	{ 'M', "III.2", { .93, 1.65, 2.53, 26.71, 4.56 }, { .92, 1.59, 1.81, 21.60, 4.12 } },
	{ 'M', "III.3", { .92, 1.77, 1.00, 28.03, 1.00 }, { .90, 1.57, 1.00, 22.45, 1.00 } },
	{ 'M', "IV.1", { .95, 1.67, 6.25, 26.41, 7.17 }, { .93, 1.63, 3.45, 21.15, 7.04 } },
	{ 'M', "IV.2", { .90, 1.79, 3.04, 28.62, 3.94 }, { .88, 1.61, 1.98, 20.54, 3.96 } },
	{ 'M', "IV.3", { .88, 1.71, 1.00, 28.05, 1.00 }, { .86, 1.50, 1.00, 20.97, 1.00 } },
	{ 'M', "V.1", { .67, 1.93, 3.06, 30.45, 3.84 }, { .67, 1.81, 2.70, 21.03, 5.28 } },
	{ 'M', "V.2", { .64, 2.02, 2.34, 31.87, 2.82 }, { .63, 1.72, 1.82, 23.40, 2.88 } },
	{ 'M', "V.3", { .60, 2.01, 1.00, 33.01, 1.00 }, { .60, 1.78, 1.00, 19.16, 1.00 } },
	{ 'L', "I.1", { .96, 1.75, 4.91, 27.98, 5.05 }, { .95, 1.69, 3.01, 23.88, 10.74 } },
	{ 'L', "I.2", { .93, 1.71, 3.16, 27.73, 2.90 }, { .91, 1.66, 1.97, 22.46, 5.75 } },
	{ 'L', "I.3", { .92, 1.86, 1.00, 28.83, 1.00 }, { .89, 1.70, 1.00, 24.08, 1.00 } },
	{ 'L', "II.1", { .96, 1.75, 4.49, 27.99, 9.45 }, { .95, 1.76, 3.01, 24.80, 10.52 } },
	{ 'L', "II.2", { .93, 1.72, 2.67, 28.06, 5.36 }, { .91, 1.67, 1.96, 22.66, 5.79 } },
	{ 'L', "II.3", { .91, 1.76, 1.00, 27.77, 1.00 }, { .88, 1.60, 1.00, 23.08, 1.00 } },
	{ 'L', "III.1", { .95, 1.72, 4.19, 27.38, 6.30 }, { .95, 1.67, 3.13, 23.28, 10.26 } },
	{ 'L', "III.2", { .92, 1.70, 2.72, 26.96, 4.25 }, { .90, 1.62, 1.98, 21.76, 6.06 } },
	{ 'L', "III.3", { .91, 1.82, 1.00, 29.16, 1.00 }, { .88, 1.66, 1.00, 24.33, 1.00 } },
	{ 'L', "IV.1", { .95, 1.72, 9.79, 27.23, 9.80 }, { .93, 1.69, 3.74, 22.56, 9.43 } },
	{ 'L', "IV.2", { .89, 1.78, 3.80, 27.76, 4.38 }, { .87, 1.61, 2.11, 19.86, 4.57 } },
	{ 'L', "IV.3", { .87, 1.88, 1.00, 30.16, 1.00 }, { .85, 1.64, 1.00, 22.53, 1.00 } },
	{ 'L', "V.1", { .65, 1.93, 3.74, 30.84, 4.61 }, { .63, 1.88, 2.90, 21.41, 6.78 } },
	{ 'L', "V.2", { .72, 1.52, 2.94, 23.65, 3.21 }, { .65, 1.77, 1.97, 21.44, 3.74 } },
	{ 'L', "V.3", { .61, 2.05, 1.00, 32.45, 1.00 }, { .59, 1.91, 1.00, 21.94, 1.00 } },
};

static struct expected auction_row(const char *what, const double *figure)
{
	return (struct expected) {
		what, { [UTILIZATION] = figure[0], [WAIT] = figure[1], [FRAGMENTATION] = figure[2],
			[SLOWDOWN] = figure[3], [SPREAD] = figure[4] }
	};
}

/* Of both the better utilization, a smaller spread than AUCSCHED's, no more blocks than SLURM/BF's. */
static struct expected wanted_of(const double *aucsched, const double *slurm)
{
	return (struct expected) {
		"wanted: all of this at once", { [UTILIZATION] = fmax(aucsched[0], slurm[0]), [FRAGMENTATION] = slurm[2],
			[SPREAD] = aucsched[4] }
	};
}

#define AUCTION_POLICIES "easy critical auction,value=prices,length=0.5,max_blocks=3,max_spread=5,rounds=1"

/* Of workloads IV and V, where wide jobs of whole GPUs leave holes: somebody has to wait for them. */
#define AUCTION_HOLES_POLICIES AUCTION_POLICIES " critical,threshold=1.1,place=tight critical,fill=critical " \
	"auction,value=prices,max_blocks=3,max_spread=5,rounds=1,reserve=1 " \
	"auction,value=prices,length=0.5,max_blocks=3,max_spread=5,rounds=1,reserve=1 " \
	"auction,value=prices,max_blocks=3,max_spread=5,rounds=1,reserve=1,length=-0.25"

static int auction_table(size_t row, const char *reading)
{
	char m = auction[row].machine, title[96], workload[32];
	const char *name = auction[row].workload;
	struct expected expected[] = {
		auction_row("AUCSCHED", auction[row].aucsched), auction_row("SLURM/BF", auction[row].slurm),
		wanted_of(auction[row].aucsched, auction[row].slurm), { 0 },
	};
	struct table t = {
		.title = title, .workload = workload, .expected = expected,
		.machine = m == 'S' ? "128x8c2g" : m == 'M' ? "256x8c2g" : "1024x8c2g",
		.judged = JUDGE(UTILIZATION, FRAGMENTATION, SPREAD),
	};

	snprintf(title, sizeof(title), "auctions %c.%s%s (AUCSCHED, table %d)", m, name, reading,
		 m == 'S' ? 5 : m == 'M' ? 6 : 7);
	snprintf(workload, sizeof(workload), "auction:%s%s", name, reading);
	return make_table(&t, *name == 'I' && name[1] != 'V' ? AUCTION_POLICIES : AUCTION_HOLES_POLICIES);
}

static int auctions(void)
{
	for (size_t i = 0; i < sizeof(auction) / sizeof(auction[0]); i++) {
		/* The paper's own figures for IV fit only where a GPU job takes at most half of the nodes. */
		bool two_readings = !strncmp(auction[i].workload, "IV", 2);

		if (auction_table(i, "") < 0 || (two_readings && auction_table(i, ",cap=0.5") < 0))
			return -1;
	}
	return 0;
}

/* -- beside each other --------------------------------------------------------------- */

static const struct {
	const char *title, *workload;
} side[] = {
	{ "ESP-GPU, over time", "esp-gpu" }, { "ESP-GPU, all at 0", "esp-gpu:first=512,z1=0,z2=0" },
	{ "auction V.1, all at 0", "auction:V.1" }, { "auction V.1, over 5 h", "auction:V.1,over=5" },
	{ "auction II.2, all at 0", "auction:II.2" }, { "auction II.2, over 4 h", "auction:II.2,over=4" },
};

#define SIDE_POLICIES "fcfs easy conservative ip_window auction auction,value=prices,reserve=1 critical"

static int beside(void)
{
	for (size_t i = 0; i < sizeof(side) / sizeof(side[0]); i++)
		for (int twice = 0; twice < 2; twice++) {
			char title[96];
			struct table t = {
				.title = title, .workload = side[i].workload, .estimate = twice ? "x2" : NULL,
			};

			snprintf(title, sizeof(title), "beside: %s, %s estimates", side[i].title,
				 twice ? "double" : "exact");
			if (make_table(&t, SIDE_POLICIES) < 0)
				return -1;
		}
	return 0;
}

/* -- the short form ---------------------------------------------------------------------- */

/* What the papers reached, or what we want of ourselves, and must not lose again. */
static const struct {
	const char *workload, *policy;
	struct {
		enum figure figure;
		double limit;
	} look[4];
} goals[] = {
	{ "esp-gpu", "critical,patience=3", { { UTILIZATION, .95 }, { WAIT, .75 }, { SLOWDOWN, 9.5 } } },
	{ "esp-gpu-rand", "critical,patience=3,threshold=0.3",
	  { { UTILIZATION, .94 }, { WAIT, 1.09 }, { SLOWDOWN, 13.1 }, { PACKING, 1.016 } } },
	{ "auction:V.1", "critical,threshold=1.1,place=tight", { { UTILIZATION, .77 }, { WAIT, 1.75 }, { SLOWDOWN, 24.5 } } },
	{ "auction:V.1", "critical,fill=critical", { { UTILIZATION, .79 } } },
};

static void judge(int *tests, const struct table *t, const struct sl_trial_outcome *outcome, enum figure f, double limit)
{
	double mean, sd;
	bool fine;

	mean_and_sd(outcome, run.seeds, f, &mean, &sd);
	fine = column[f].most ? mean >= limit : mean <= limit;
	run.missed += !fine;
	printf("%sok %d - %s under %s: %s %.3f ± %.3f, wanted %s %.3f\n", fine ? "" : "not ", ++*tests, t->workload,
	       t->policy[0], column[f].title, mean, sd, column[f].most ? "at least" : "at most", limit);
}

static int brief(void)
{
	static struct sl_trial_outcome outcome[MOST_SEEDS];
	struct sl_error err = { 0 };
	int tests = 0;

	for (size_t g = 0; g < sizeof(goals) / sizeof(goals[0]); g++) {
		char policy[64];
		struct table t = { .workload = goals[g].workload, .policy = { policy }, .policies = 1 };

		snprintf(policy, sizeof(policy), "%s", goals[g].policy);
		memset(outcome, 0, sizeof(outcome));
		if (sweep(&t, outcome, false, &err) < 0) {
			fprintf(stderr, "papers: %s\n", err.text);
			return -1;
		}
		for (int i = 0; i < run.seeds; i++)
			if (outcome[i].err.code) {
				fprintf(stderr, "papers: %s: %s\n", policy, outcome[i].err.text);
				return -1;
			}
		for (int i = 0; i < 4 && goals[g].look[i].limit > 0; i++)
			judge(&tests, &t, outcome, goals[g].look[i].figure, goals[g].look[i].limit);
		fflush(stdout);
	}
	printf("1..%d\n", tests);
	return 0;
}

/* -- the command line ------------------------------------------------------------------------ */

static int usage(void)
{
	fprintf(stderr, "Usage: papers [--short] [--seeds N] [--workers N] [--policies \"NAME[,OPTION=VALUE]...\"]\n"
		"              [esp|auctions|beside] [WORD]\n");
	return 2;
}

static bool number(const char *text, int least, int most, int *n)
{
	char *end;
	long v = strtol(text, &end, 10);

	*n = (int) v;
	return *text && !*end && v >= least && v <= most;
}

static bool is_section(const char *word)
{
	return !strcmp(word, "esp") || !strcmp(word, "auctions") || !strcmp(word, "beside");
}

static bool parse(int argc, char **argv)
{
	run.seeds = 7;
	for (int i = 1; i < argc; i++) {
		bool more = i + 1 < argc;

		if (!strcmp(argv[i], "--short"))
			run.brief = true;
		else if (!strcmp(argv[i], "--seeds") && more && number(argv[i + 1], 1, MOST_SEEDS, &run.seeds))
			i++;
		else if (!strcmp(argv[i], "--workers") && more && number(argv[i + 1], 0, 1024, &run.workers))
			i++;
		else if (!strcmp(argv[i], "--policies") && more)
			run.policies = argv[++i];
		else if (!run.section && is_section(argv[i]))
			run.section = argv[i];
		else if (argv[i][0] != '-' && !run.word)
			run.word = argv[i];
		else
			return false;
	}
	return true;
}

static bool wanted(const char *section)
{
	return !run.section || !strcmp(run.section, section);
}

int main(int argc, char **argv)
{
	int rc = 0;

	if (!parse(argc, argv))
		return usage();
	if (run.brief)
		return brief() < 0 || run.missed;
	if (wanted("esp"))
		rc = esp();
	if (!rc && wanted("auctions"))
		rc = auctions();
	if (!rc && wanted("beside"))
		rc = beside();
	return rc < 0 || run.missed;
}
