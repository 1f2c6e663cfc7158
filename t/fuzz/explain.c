/* SPDX-License-Identifier: MIT */
/*
 * schedlua explain, top and report: whatever the lines of a journal say, of whatever types, it is
 * told as text, as JSON and as a page, or the job is not known.
 */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "t/fuzz/fuzz.h"
#include "tool/tool.h"
#include "verbs/verbs.h"

const char fuzz_name[] = "explain";

#define NOW 1700000000

/* What a verb prints on stdout, malloc'ed; what it complains of is for nobody. */
static char *output(const char *name, const char *how, const char *operand, int *status)
{
	const struct sl_verb *verb = sl_verb_find(sl_lab_verbs, name);
	FILE *out = stdout, *err = stderr;
	char dir[320], job[24], option[320], *text = NULL;
	char *argv[] = { dir, option, job };
	size_t size;

	snprintf(dir, sizeof(dir), "--dir=%s", fuzz_dir());
	snprintf(option, sizeof(option), "%s", how);
	snprintf(job, sizeof(job), "%s", operand ? operand : "");
	stdout = open_memstream(&text, &size);
	stderr = fopen("/dev/null", "w");
	if (stdout && stderr)
		*status = verb->run(verb, operand ? 3 : 2, argv);
	fclose(stdout);
	fclose(stderr);
	stdout = out;
	stderr = err;
	MUST(text);
	return text;
}

static void put_text(const char *name, const char *text)
{
	fuzz_file(name, (const uint8_t *) text, strlen(text));
}

/* What top and report want beside the journal. */
static void put_surroundings(void)
{
	static bool there;
	char conf[320];

	if (there)
		return;
	there = true;
	/* the site is found without scontrol, which would take most of the time */
	snprintf(conf, sizeof(conf), "%s/slurm.conf", fuzz_dir());
	setenv("SLURM_CONF", conf, 1);
	put_text("slurm.conf", "SchedulerParameters=lua_site=/nowhere\n");
	setenv("SCHEDLUA_REPORT", fuzz_dir(), 1);
	put_text("page.html", "<!-- title -->\n<!-- data -->\n");
	put_text("status.json", "{\"source\": \"site\"}");
	put_text("last.snap", "{\"meta\": {\"now\": 1700000000}, \"nodes\": [{\"name\": \"n0\", \"cores\": 4}, {\"name\": \"n1\","
		 " \"cores\": 2}], \"partitions\": [{\"name\": \"batch\", \"nodes\": \"n[0-1]\"}]}");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text, page[320];
	int status, again;
	json_t *o;

	if (size > FUZZ_MAX)
		return 0;
	fuzz_file("decisions.jsonl", data, size);
	put_surroundings();
	text = output("explain", "--events=0", "7", &status);
	MUST(status == SL_EXIT_FINE || status == SL_EXIT_FAILED);
	MUST(!strstr(text, "(null)") || memmem(data, size, "(null)", 6));
	free(text);
	text = output("explain", "--json", "7", &again);
	MUST(again == status);
	o = json_loads(text, 0, NULL);
	MUST(status == SL_EXIT_FAILED || json_array_size(json_object_get(o, "events")));
	json_decref(o);
	free(text);
	text = output("top", "--once", NULL, &again);
	MUST(again == SL_EXIT_FINE && strstr(text, "QUEUE") && !strchr(text, 033));
	free(text);
	snprintf(page, sizeof(page), "--output=%s/page", fuzz_dir());
	free(output("report", page, NULL, &again));
	MUST(again == SL_EXIT_FINE || again == SL_EXIT_FAILED);
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
				       NOW - 60 * i, 9 - i, i % 2 ? ", \"full\": true" : "");
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
