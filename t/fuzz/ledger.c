/* SPDX-License-Identifier: MIT */
/* The ledger from text and to text: what was imported is exported, and importing that
 * again adds nothing. */
#include <string.h>

#include "t/fuzz/fuzz.h"
#include "ledger/text.h"

const char fuzz_name[] = "ledger";

static int import(struct sl_ledger *l, const char *path, struct sl_import *result, struct sl_error *err)
{
	struct sl_lines *in = sl_lines_open(path, err);
	int rc = in ? sl_ledger_import(l, in, result, err) : -1;

	sl_lines_close(in);
	return rc;
}

static char *export(struct sl_ledger *l)
{
	struct sl_error err;
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	MUST(out && sl_ledger_export(l, out, &err) == 0 && fclose(out) == 0);
	return text;
}

static void check_again(struct sl_ledger *l)
{
	struct sl_import result = { 0 };
	struct sl_error err = { .code = SL_OK };
	char *text = export(l), *again;
	const char *path = fuzz_file("again.txt", (uint8_t *) text, strlen(text));

	if (import(l, path, &result, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
	MUST(err.code == SL_OK && !result.bad);
	again = export(l);
	MUST(!strcmp(text, again));
	MUST(sl_ledger_verify(l, &err) == 0);
	free(text);
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sl_import result = { 0 };
	struct sl_error err = { .code = SL_OK };
	struct sl_ledger *l = sl_ledger_open(NULL, SL_LEDGER_CREATE, &err);

	MUST(l);
	if (import(l, fuzz_file("runs.txt", data, size), &result, &err) == 0) {
		fuzz_accepted++;
		check_again(l);
	} else {
		fuzz_refused(&err);
	}
	sl_ledger_close(l);
	return 0;
}

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	struct sl_error err;
	struct sl_ledger *l = sl_ledger_open(NULL, SL_LEDGER_CREATE, &err);
	char user[16], *text;
	size_t size;

	MUST(l);
	for (uint32_t i = make_below(seed, 6); i > 0; i--) {
		struct sl_job_run r = { .job = i, .start = 1700000000 + make_below(seed, 1u << 20), .source = SL_RUN_SACCT };

		snprintf(user, sizeof(user), "u%u", make_below(seed, 3));
		r.seconds = 1 + make_below(seed, 200000);
		r.end = r.start + r.seconds + make_below(seed, 100);
		r.count[SL_UNIT_CPU] = 1 + make_below(seed, 100);
		r.count[SL_UNIT_GPU] = make_below(seed, 3);
		r.count[SL_UNIT_NODE] = 1;
		r.dim = (struct sl_dim) { user, "phys", "all", make_below(seed, 2) ? SL_JOB_COMPLETE : SL_JOB_PENDING };
		MUST(sl_ledger_add(l, &r, &err) == 1);
	}
	if (make_below(seed, 2)) {
		struct sl_adjustment a = { .at = 1700000000, .made = 1700000001, .who = "root", .why = "a gift",
					   .dim = { "u1", "phys", "all", SL_JOB_COMPLETE } };

		a.amount[SL_UNIT_CPU] = -3600;
		MUST(sl_ledger_adjust(l, &a, &err) == 0);
	}
	MUST(sl_ledger_commit(l, &err) == 0);
	text = export(l);
	size = fuzz_text(to, text);
	free(text);
	sl_ledger_close(l);
	return size;
}
