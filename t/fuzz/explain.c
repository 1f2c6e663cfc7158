/* SPDX-License-Identifier: MIT */
/*
 * schedlua explain: whatever the lines of a journal say, of whatever types, it is told as text
 * and as JSON, or the job is not known.
 */
#include <string.h>

#include <jansson.h>

#include "t/fuzz/fuzz.h"
#include "tool/tool.h"

const char fuzz_name[] = "explain";

/* What the verb prints on stdout, malloc'ed; what it complains of is for nobody. */
static char *explain(const char *how, int *status)
{
	FILE *out = stdout, *err = stderr;
	char dir[320], job[] = "7", option[24], *text = NULL;
	char *argv[] = { dir, option, job };
	size_t size;

	snprintf(dir, sizeof(dir), "--dir=%s", fuzz_dir());
	snprintf(option, sizeof(option), "%s", how);
	stdout = open_memstream(&text, &size);
	stderr = fopen("/dev/null", "w");
	if (stdout && stderr)
		*status = sl_verb_explain.run(&sl_verb_explain, 3, argv);
	fclose(stdout);
	fclose(stderr);
	stdout = out;
	stderr = err;
	MUST(text);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int status, again;
	char *text;
	json_t *o;

	if (size > FUZZ_MAX)
		return 0;
	fuzz_file("decisions.jsonl", data, size);
	text = explain("--events=0", &status);
	MUST(status == SL_EXIT_FINE || status == SL_EXIT_FAILED);
	MUST(!strstr(text, "(null)") || memmem(data, size, "(null)", 6));
	free(text);
	text = explain("--json", &again);
	MUST(again == status);
	o = json_loads(text, 0, NULL);
	MUST(status == SL_EXIT_FAILED || json_array_size(json_object_get(o, "events")));
	json_decref(o);
	free(text);
	fuzz_accepted += status == SL_EXIT_FINE;
	return 0;
}

static const char *const records[] = {
	"\"reserved\": [{\"job\": %u, \"start_time\": 1700000100, \"nodes\": \"n[0-3]\", \"node_count\": 4, \"cores\": 9}]",
	"\"pending\": [{\"job\": %u, \"why\": \"resources\", \"text\": \"no \\u001b[1m room\", \"note\": \"no shape\"}]",
	("\"started\": [{\"job\": %u, \"nodes\": \"n1\", \"cores\": 1, \"shape\": 2, \"partition\": \"batch\", \"done\": true,"
		" \"borrowed_from\": [\"a\", \"b\"], \"through\": \"c\", \"because\": \"idle\"}]"),
	"\"actions\": [{\"job\": %u, \"verb\": \"hold\", \"done\": false, \"why\": \"gone\", \"by\": \"site\"}]",
	"\"gone\": [{\"job\": %u}]",
};

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	size_t n = 0;

	for (uint32_t i = 1 + make_below(seed, 5); i > 0; i--) {
		n += (size_t) snprintf((char *) to + n, FUZZ_MAX - n, "{\"now\": %u, \"sequence\": %u, \"policy\": \"easy\"%s",
				       1700000000 - 60 * i, 9 - i, i % 2 ? ", \"full\": true" : "");
		for (size_t k = 0; k < sizeof(records) / sizeof(records[0]); k++) {
			if (k && make_below(seed, 3))
				continue;
			n += (size_t) snprintf((char *) to + n, FUZZ_MAX - n, ", ");
			n += (size_t) snprintf((char *) to + n, FUZZ_MAX - n, records[k],
					       k ? 6 + make_below(seed, 3) : 7);
		}
		n += (size_t) snprintf((char *) to + n, FUZZ_MAX - n, "}\n");
	}
	return n;
}
