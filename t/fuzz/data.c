/* SPDX-License-Identifier: MIT */
/* Plain files of a policy set: the text that waits for its parser, and the map that a parser
 * makes of it, judged by a list. */
#include <string.h>

#include "bundle/bundle.h"
#include "bundle/data.h"
#include "t/fuzz/fuzz.h"

const char fuzz_name[] = "data";

#define MOST 200

struct pair {
	char *key, *text;
};

/* KEY=TEXT a line: what a parser would say of it. */
static int parse(char *text, struct pair *pair)
{
	int n = 0;

	for (char *line = strtok(text, "\n"); line && n < MOST; line = strtok(NULL, "\n")) {
		char *is = strchr(line, '=');
		int i = 0;

		if (!is)
			continue;
		*is = 0;
		while (i < n && strcmp(pair[i].key, line))
			i++;
		pair[i] = (struct pair) { line, is + 1 };
		n += i == n;
	}
	return n;
}

static void put_all(struct sl_data_file *f, const struct pair *pair, int n)
{
	struct sl_error err = { .code = SL_OK };
	struct sl_data_value v;
	const char *key;
	bool good = true;
	int kept = 0;

	sl_data_begin(f);
	for (int i = 0; i < n && good; i++) {
		v = (struct sl_data_value) { .type = SL_DATA_TEXT, .text = pair[i].text };
		good = sl_data_put(f, pair[i].key, &v, &err) == 0;
		MUST(good || err.code == SL_ELIMIT);
	}
	sl_data_end(f, good);
	MUST(sl_data_version(f) == good);
	for (int i = 0; good && i < n; i++) {
		v = sl_data_get(f, pair[i].key);
		MUST(v.type == SL_DATA_TEXT && !strcmp(v.text, pair[i].text));
	}
	while ((key = sl_data_key(f, (unsigned) kept, &v)))
		MUST(!strcmp(key, pair[kept++].key));
	MUST(kept == (good ? n : 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *) data, size), *copy;
	struct sl_bundle_text file = { .name = "limits.conf", .text = text };
	struct sl_bundle_source src = { .policy = "easy", .text = &file, .texts = 1 };
	struct sl_error err = { .code = SL_OK };
	struct sl_bundle *b = sl_bundle_open(&src, &err);
	struct sl_data_file *f;
	struct pair pair[MOST + 1];
	const char *waits;
	size_t length;

	MUST(text && b);
	f = sl_bundle_data(b, "limits.conf", &err);
	if (f) {
		fuzz_accepted++;
		waits = sl_data_text(f, &length);
		MUST(waits && !strcmp(waits, text) && length == strlen(text) && waits[length - 1] == '\n');
		copy = strdup(text);
		put_all(f, pair, parse(copy, pair));
		free(copy);
	} else {
		fuzz_refused(&err);
		MUST(!*text || text[strlen(text) - 1] != '\n');
	}
	sl_bundle_destroy(b);
	free(text);
	return 0;
}

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	char text[2000] = "# limits\n";

	for (uint32_t i = make_below(seed, 20); i > 0; i--)
		snprintf(text + strlen(text), 40, "user%u=%u\n", make_below(seed, 30), make_below(seed, 1000));
	return fuzz_text(to, text);
}
