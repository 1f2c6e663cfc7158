/* SPDX-License-Identifier: MIT */
/* Node lists: a list that was split and joined splits into the same names. */
#include <string.h>

#include "t/fuzz/fuzz.h"
#include "image/nodelist.h"

const char fuzz_name[] = "nodelist";

struct names {
	char *name[500];
	int n;
};

static int keep(const char *name, void *arg)
{
	struct names *names = arg;

	if (names->n == 500)
		return 1;
	names->name[names->n++] = strdup(name);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct names in = { .n = 0 }, out = { .n = 0 };
	struct sl_error err = { .code = SL_OK };
	char *text = strndup((const char *) data, size), *joined;
	int rc = sl_nodelist_split(text, keep, &in, &err);

	if (rc == 0) {
		fuzz_accepted++;
		joined = sl_nodelist_join((const char *const *) in.name, (uint32_t) in.n, &err);
		MUST(joined && sl_nodelist_split(joined, keep, &out, &err) == 0 && in.n == out.n);
		for (int i = 0; i < in.n; i++)
			MUST(!strcmp(in.name[i], out.name[i]));
		free(joined);
	} else if (rc < 0) {
		fuzz_refused(&err);
	}
	while (in.n)
		free(in.name[--in.n]);
	while (out.n)
		free(out.name[--out.n]);
	free(text);
	return 0;
}

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	char name[60][16], *joined;
	const char *list[60];
	uint32_t n = make_below(seed, 60), at = make_below(seed, 120);
	struct sl_error err;
	size_t size;

	for (uint32_t i = 0; i < n; i++) {
		snprintf(name[i], sizeof(name[i]), at % 5 ? "n%u" : "gpu%03u", at);
		list[i] = name[i];
		at += 1 + make_below(seed, 8) / 6;
	}
	joined = sl_nodelist_join(list, n, &err);
	MUST(joined);
	size = fuzz_text(to, joined);
	free(joined);
	return size;
}
