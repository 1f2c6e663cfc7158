/* SPDX-License-Identifier: MIT */
/* fence.c - see fence.h */
#include "image/fence.h"

#include <stdio.h>
#include <string.h>

#include "base/search.h"

static const char all_but[] = "all but ", only[] = "only ";

void sl_fence_set(struct sl_fence *hold, bool rest, const char *names)
{
	memset(hold, 0, sizeof(*hold));
	hold->rest = rest;
	if (strlen(names) < sizeof(hold->names))
		strcpy(hold->names, names);
	else
		hold->rest = 1;
}

bool sl_fence_has(const struct sl_fence *hold, const char *partition)
{
	return sl_list_has(hold->names, ",", partition, strlen(partition)) ? !hold->rest : hold->rest;
}

bool sl_fence_any(const struct sl_fence *hold)
{
	return hold->rest || *hold->names;
}

const char *sl_fence_text(const struct sl_fence *hold, char text[SL_FENCE_TEXT])
{
	if (*hold->names)
		snprintf(text, SL_FENCE_TEXT, "%s%s", hold->rest ? all_but : only, hold->names);
	else
		strcpy(text, hold->rest ? "all" : "none");
	return text;
}

int sl_fence_parse(struct sl_fence *hold, const char *text, size_t size, struct sl_error *err)
{
	char line[SL_FENCE_TEXT];

	if (size >= sizeof(line))
		return sl_fail(err, SL_EFORMAT, "expected at most %zu bytes", sizeof(line) - 1);
	memcpy(line, text, size);
	line[size] = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (!strcmp(line, "all") || !strcmp(line, "none"))
		sl_fence_set(hold, line[0] == 'a', "");
	else if (!strncmp(line, all_but, sizeof(all_but) - 1))
		sl_fence_set(hold, true, line + sizeof(all_but) - 1);
	else if (!strncmp(line, only, sizeof(only) - 1))
		sl_fence_set(hold, false, line + sizeof(only) - 1);
	else
		return sl_fail(err, SL_EFORMAT, "expected all, none, \"all but NAMES\" or \"only NAMES\", got \"%.60s\"",
			       line);
	return 0;
}
