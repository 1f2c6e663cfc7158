/* SPDX-License-Identifier: MIT */
#include "workload/tiers.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

static const struct { const char *key; int by; } who[] = {
	{ "qos=", SL_TIER_QOS }, { "partition=", SL_TIER_PARTITION }, { "account=", SL_TIER_ACCOUNT }, { "user=", SL_TIER_USER },
	{ "share=", SL_TIER_SHARE },
};

#define EXPECTED "expected qos=NAME, partition=NAME, account=NAME, user=NAME or share=0.2, then any of mode=requeue, cancel or suspend, " \
	"grace=TIME, exempt=TIME, checkpoint=MINUTES"

static int parse_who(struct sl_tiers *t, const char *text, struct sl_error *err)
{
	for (size_t i = 0; i < sizeof(who) / sizeof(who[0]); i++) {
		size_t n = strlen(who[i].key);
		char *end;

		if (strncmp(text, who[i].key, n) || !text[n] || text[n] == ',')
			continue;
		t->by = who[i].by;
		t->names = text + n;
		t->share = t->by == SL_TIER_SHARE ? strtod(t->names, &end) : 0;
		if (t->by != SL_TIER_SHARE || ((!*end || *end == ',') && t->share >= 0 && t->share <= 1))
			return 0;
	}
	return sl_fail(err, SL_EINVAL, "tiers \"%s\": " EXPECTED, text);
}

static bool parse_time(const char *text, int64_t *seconds)
{
	return sl_scan_span(text, seconds) && *seconds >= 0 && *seconds <= SL_WORKLOAD_MAX_SECONDS;
}

/* True if KEY=VALUE is known. */
static bool parse_word(struct sl_tiers *t, const char *word)
{
	int64_t minutes;

	if (!strncmp(word, "grace=", 6))
		return parse_time(word + 6, &t->grace_s);
	if (!strncmp(word, "exempt=", 7))
		return parse_time(word + 7, &t->exempt_s);
	if (!strncmp(word, "checkpoint=", 11) && sl_scan_whole(word + 11, &minutes) && minutes > 0 && minutes < 100000) {
		t->checkpoint = (uint32_t) minutes;
		return true;
	}
	t->mode = !strcmp(word, "mode=cancel") ? SL_STOP_CANCEL : !strcmp(word, "mode=suspend") ? SL_STOP_SUSPEND : SL_STOP_REQUEUE;
	return t->mode != SL_STOP_REQUEUE || !strcmp(word, "mode=requeue");
}

int sl_tiers_parse(struct sl_tiers *t, const char *text, struct sl_error *err)
{
	*t = (struct sl_tiers) { .mode = SL_STOP_REQUEUE };
	if (!text)
		return 0;
	if (parse_who(t, text, err) < 0)
		return -1;
	for (const char *at = strchr(text, ','); at; at = strchr(at + 1, ',')) {
		char word[64];

		snprintf(word, sizeof(word), "%.*s", (int) strcspn(at + 1, ","), at + 1);
		if (!parse_word(t, word))
			return sl_fail(err, SL_EINVAL, "tiers \"%s\": \"%s\": " EXPECTED, text, word);
	}
	return 0;
}

/* True for *share* of all numbers, each by lot: jobs that follow each other have nothing to do with each other. */
static bool wins(double share, uint64_t number, uint64_t seed)
{
	struct sl_random r;

	sl_random_seed(&r, seed);
	sl_random_seed(&r, sl_random_u64(&r) ^ number);
	return sl_random_real(&r) < share;
}

bool sl_tiers_is_upper(const struct sl_tiers *t, const char *name, uint64_t number, uint64_t seed)
{
	size_t n = strlen(name);

	if (t->by == SL_TIER_SHARE)
		return wins(t->share, number, seed);
	for (const char *at = t->names; n; at++) {
		size_t length = strcspn(at, "+,");

		if (length == n && !strncmp(at, name, n))
			return true;
		at += length;
		if (*at != '+')
			break;
	}
	return false;
}
