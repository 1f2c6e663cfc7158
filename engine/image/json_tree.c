/* SPDX-License-Identifier: MIT */
#include "image/json_tree.h"

#include <stdbool.h>
#include <stdint.h>

/* What jansson 2.14 allocates, with malloc()'s own, rounded up. */
#define OBJECT_BYTES 240	/* with its first eight buckets */
#define ARRAY_BYTES 128		/* with room for eight */
#define PAIR_BYTES 80		/* of an object, without its key's text */
#define VALUE_BYTES 48		/* of a list, or a pair */

/* About how many bytes a tree needs. */
static uint64_t weigh_tree(const char *text, size_t size)
{
	static const uint16_t weight[256] = {
		['{'] = OBJECT_BYTES, ['['] = ARRAY_BYTES, [':'] = PAIR_BYTES, [','] = VALUE_BYTES,
	};
	uint64_t bytes = size;
	bool quoted = false;

	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char) text[i];

		if (c == '"')
			quoted = !quoted;
		else if (quoted)
			i += c == '\\';
		else
			bytes += weight[c];
	}
	return bytes;
}

json_t *sl_json_tree(const char *name, const char *text, size_t size, struct sl_error *err)
{
	json_error_t wrong;
	json_t *root;

	if (weigh_tree(text, size) > SL_JSON_TREE_MOST) {
		sl_fail(err, SL_ELIMIT, "%s: JSON that would need more than %zu GiB of memory: expected less in one file", name,
			SL_JSON_TREE_MOST >> 30);
		return NULL;
	}
	root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &wrong);
	if (!root)
		sl_fail(err, SL_EFORMAT, "%s:%d:%d: %s", name, wrong.line, wrong.column, wrong.text);
	return root;
}
