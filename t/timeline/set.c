/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "t/timeline/set.h"

struct sl_nodeset set(const char *text)
{
	struct sl_nodeset s = SL_NODESET_EMPTY;
	char *end;

	for (const char *p = text; *p; p = *end ? end + 1 : end) {
		uint32_t first = strtoul(p, &end, 10), last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

		if ((*end && *end != ',') || sl_nodeset_add(&s, first, last, NULL))
			fail_msg("\"%s\" is no set of nodes", text);
	}
	return s;
}

const char *set_text(const struct sl_nodeset *s)
{
	static char text[4000];
	size_t n = 0;

	text[0] = 0;
	for (uint32_t i = 0; i < s->runs; i++) {
		const struct sl_run *r = &s->run[i];

		n += snprintf(text + n, sizeof(text) - n, r->first == r->last ? "%s%u" : "%s%u-%u", i ? "," : "",
			      r->first, r->last);
		assert_true(n < sizeof(text));
	}
	return text;
}
