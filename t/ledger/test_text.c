/* SPDX-License-Identifier: MIT */
/* test_text.c - the ledger as text, with whatever users have called things */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ledger/text.h"
#include "t/hostile.h"
#include "t/ledger/ledgers.h"
#include "t/random.h"

#define RUNS 6

/* A row of the export, as a name would have to hold it to be one. */
static const char forged[] = "|0-01:00:00|\n900|victim|chem|main|1700000000|1700003600|3600|64|1|cpu=64,node=1,gres/gpu=0|COMPLETED|sacct||||x";

static char *export_all(struct sl_ledger *l)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	OK(sl_ledger_export(l, f, &err));
	assert_int_equal(fclose(f), 0);
	assert_int_equal(strlen(text), size);
	return text;
}

static struct sl_import import_text(struct sl_ledger *l, const char *text)
{
	struct sl_import result = { 0 };
	struct sl_lines *in;
	char file[300];
	FILE *f;

	snprintf(file, sizeof(file), "%s/dump", dir);
	f = fopen(file, "w");
	assert_true(f && fputs(text, f) >= 0 && !fclose(f));
	in = sl_lines_open(file, &err);
	assert_non_null(in);
	OK(sl_ledger_import(l, in, &result, &err));
	sl_lines_close(in);
	return result;
}

static int put_texts(void *to, const struct sl_job_run *r)
{
	const char *const text[] = { r->dim.user, r->dim.account, r->dim.partition, r->name };

	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		fwrite(text[i], 1, strlen(text[i]) + 1, to);
	return 0;
}

static int put_words(void *to, const struct sl_adjustment *a)
{
	fwrite(a->who, 1, strlen(a->who) + 1, to);
	fwrite(a->why, 1, strlen(a->why) + 1, to);
	return 0;
}

/* Both have the same texts, byte by byte. */
static void assert_same_texts(struct sl_ledger *const l[2])
{
	char *text[2] = { NULL, NULL };
	size_t size[2];

	for (int i = 0; i < 2; i++) {
		FILE *f = open_memstream(&text[i], &size[i]);

		OK(sl_ledger_runs(l[i], INT64_MIN, INT64_MAX, put_texts, f, &err));
		OK(sl_ledger_adjustments(l[i], put_words, f, &err));
		assert_int_equal(fclose(f), 0);
	}
	assert_true(size[0] == size[1] && size[0] > RUNS && !memcmp(text[0], text[1], size[0]));
	free(text[0]);
	free(text[1]);
}

static unsigned count_lines(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* Runs and an adjustment of attackers' words, and one run of somebody else's. */
static void fill(struct sl_ledger *l)
{
	static char user[RUNS][HOSTILE_SIZE], name[RUNS][HOSTILE_SIZE], account[RUNS][HOSTILE_SIZE], why[HOSTILE_SIZE], who[HOSTILE_SIZE];
	struct sl_job_run r;
	struct sl_adjustment a = { .at = T0, .made = T0 + 9, .amount = { 100, 0, 0 }, .who = hostile_text(who, forged),
				   .why = hostile_text(why, forged), .dim = { "bert", "phys", "main", SL_JOB_COMPLETE } };

	for (uint32_t i = 0; i < RUNS; i++) {
		r = run_of(i + 1, T0 + i, T0 + i + 60, 2);
		r.dim = (struct sl_dim) { hostile_text(user[i], forged), hostile_text(account[i], forged), "main", SL_JOB_COMPLETE };
		r.name = hostile_text(name[i], forged);
		add(l, r);
	}
	r = run_of(100, T0, T0 + 10, 1);
	r.dim.user = "victim";
	r.name = "mine";
	add(l, r);
	OK(sl_ledger_adjust(l, &a, &err));
	OK(sl_ledger_commit(l, &err));
}

static void what_is_exported_comes_back_as_it_was_whatever_users_wrote(void **state)
{
	const uint64_t rounds = rounds_of(300);

	(void) state;
	failing_seed = number_from("SL_SEED", 1);
	for (uint64_t i = 0; i < rounds; i++, failing_seed++) {
		struct sl_ledger *l = sl_ledger_open(NULL, SL_LEDGER_CREATE, &err), *copy = sl_ledger_open(NULL, SL_LEDGER_CREATE, &err);
		struct sl_import result;
		char *text, *again;

		assert_true(l && copy);
		random_state = failing_seed;
		fill(l);
		text = export_all(l);
		assert_int_equal(count_lines(text), 1 + RUNS + 2);
		result = import_text(copy, text);
		assert_int_equal(result.bad, 0);
		assert_int_equal(result.added, RUNS + 2);
		again = export_all(copy);
		assert_string_equal(again, text);
		assert_same_texts((struct sl_ledger *[]) { l, copy });
		assert_int_equal(CPU(copy, "victim"), 10);
		assert_int_equal(CPU(copy, "victim"), CPU(l, "victim"));
		free(text);
		free(again);
		sl_ledger_close(l);
		sl_ledger_close(copy);
	}
	failing_seed = 0;
}

static void an_export_of_before_is_read_as_it_is(void **state)
{
	struct sl_ledger *l = sl_ledger_open(NULL, SL_LEDGER_CREATE, &err);
	struct sl_import result;

	(void) state;
	assert_non_null(l);
	result = import_text(l, "JobIDRaw|User|Account|Partition|Start|End|ElapsedRaw|AllocCPUS|AllocNodes|AllocTRES|State|Source|Amounts|"
			     "Who|Why|JobName|Timelimit\n"
			     "1|DOMAIN\\anna|chem|main|1700000000|1700000100|100|2|1|cpu=2,node=1,gres/gpu=0|COMPLETED|seen||||a?b|0-01:00:00\n");
	assert_true(result.added == 1 && !result.bad);
	assert_int_equal(CPU(l, "DOMAIN\\anna"), 200);
	sl_ledger_close(l);
}

static void a_text_of_an_export_that_is_not_escaped_is_refused(void **state)
{
	struct sl_ledger *l = sl_ledger_open(NULL, SL_LEDGER_CREATE, &err);
	struct sl_import result;

	(void) state;
	assert_non_null(l);
	result = import_text(l, "JobIDRaw|User|Start|End|ElapsedRaw|AllocCPUS|State|Source|JobName|" SL_LEDGER_MARK "\n"
			     "1|DOMAIN\\anna|1700000000|1700000100|100|2|COMPLETED|seen|x|\n"
			     "2|bob|1700000000|1700000100|100|2|COMPLETED|seen|a\tb|\n"
			     "3|bob|1700000000|1700000100|100|2|COMPLETED|seen|a\\x09b|\n");
	assert_true(result.added == 1 && result.bad == 2);
	sl_ledger_close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_exported_comes_back_as_it_was_whatever_users_wrote),
		TEST(an_export_of_before_is_read_as_it_is),
		TEST(a_text_of_an_export_that_is_not_escaped_is_refused),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	say_seed(NULL);
	return rc;
}
