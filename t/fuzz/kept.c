/* SPDX-License-Identifier: MIT */
/* A policy set as the bytes that outlive an engine: what is accepted is kept again as the
 * same set. */
#include <string.h>

#include "bundle/bundle.h"
#include "t/fuzz/fuzz.h"

const char fuzz_name[] = "kept";

static const char site[] = "/etc/slurm/sched.lua";

/* The set of these bytes kept anew: malloc'ed. */
static char *keep(const void *bytes, size_t size, size_t *kept_size, struct sl_error *err)
{
	struct sl_bundle_source src = { .site = site, .kept = bytes, .kept_size = size };
	struct sl_bundle *b = sl_bundle_open(&src, err);
	void *kept = NULL;

	if (b)
		MUST(sl_bundle_keep(b, &kept, kept_size, err) == 0);
	sl_bundle_destroy(b);
	return kept;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sl_error err = { .code = SL_OK };
	char *kept, *again;
	size_t n, m;

	kept = keep(data, size, &n, &err);
	if (!kept) {
		fuzz_refused(&err);
		return 0;
	}
	fuzz_accepted++;
	again = keep(kept, n, &m, &err);
	MUST(again && n == m && !memcmp(kept, again, n));
	free(kept);
	free(again);
	return 0;
}

size_t fuzz_make(uint8_t *to, uint64_t *seed)
{
	static const char *const name[] = { "mine", "lib.more", ":limits.conf" };
	const char *text = "return sched.site { default = \"easy\" }\n", *path;
	char *all = NULL;
	size_t n = 0, size;
	FILE *out = open_memstream(&all, &n);

	MUST(out);
	fprintf(out, "schedlua set 1\n0 %zu %zu\n%s%s", strlen(site), strlen(text), site, text);
	text = "return {}\n";
	path = "/etc/slurm/x";
	for (uint32_t i = make_below(seed, 4); i > 0; i--)
		fprintf(out, "%zu %zu %zu\n%s%s%s", strlen(name[i - 1]), strlen(path), strlen(text), name[i - 1], path, text);
	fclose(out);
	size = fuzz_text(to, all);
	free(all);
	return size;
}
