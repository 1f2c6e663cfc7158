/* SPDX-License-Identifier: MIT */
/*
 * conf/words.c - KEY=VALUE, and what stands in one line; see conf/private.h.
 */
#include "conf/private.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/suggest.h"

#define BLANKS " \t\n\v\f\r"

static bool is_key_byte(char c)
{
	return isalnum((unsigned char) c) || c == '_' || c == '.';
}

/* Where a value ends that begins at *v: in quotes, which is allowed if a blank or the end follows them, or before a
 * blank; whatever is longer.  *quoted tells which. */
static char *value_end(char *v, bool *quoted)
{
	char *plain = v + strcspn(v, BLANKS), *quote = *v == '"' ? strchr(v + 1, '"') : NULL;

	*quoted = quote && (!quote[1] || strchr(BLANKS, quote[1])) && quote + 1 >= plain;
	return *quoted ? quote + 1 : plain;
}

int sl_conf_next_word(char **p, struct sl_conf_word *w)
{
	char *s = *p + strspn(*p, BLANKS), *key_end, *value, *end;
	bool quoted;

	*p = s;
	if (!*s)
		return 0;
	for (key_end = s; is_key_byte(*key_end); key_end++)
		;
	value = key_end + strspn(key_end, BLANKS);
	if (*value && strchr("-+*/", *value))
		value++;
	if (key_end == s || *value != '=')
		return -1;
	value++;
	value += strspn(value, BLANKS);
	if (!*value)
		return -1;
	end = value_end(value, &quoted);
	w->key = s;
	w->value = value + quoted;
	*p = end + (*end != 0);
	end[quoted ? -1 : 0] = 0;
	*key_end = 0;
	return 1;
}

static int find_key(const struct sl_conf_table *table, const char *key)
{
	for (uint32_t i = 0; i < table->keys; i++)
		if (tolower((unsigned char) *table->key[i].name) == tolower((unsigned char) *key) &&
		    !strcasecmp(table->key[i].name, key))
			return (int) i;
	return -1;
}

static void note_unknown(struct sl_conf *c, struct sl_conf_where where, const struct sl_conf_table *table,
			 const struct sl_conf_word *w)
{
	struct sl_nearest near = { .word = w->key };

	for (uint32_t i = 0; i < table->keys; i++)
		sl_nearest_try(&near, table->key[i].name);
	sl_conf_note(c, where, "%s has no option %s%s%s%s: %s=%s is left out", table->of, w->key,
		     near.best ? " (the nearest is " : "", near.best ? near.best : "", near.best ? ")" : "", w->key, w->value);
}

/* Is the value of the option's type? */
static int check_type(struct sl_conf_where where, const struct sl_conf_key *key, const char *value, struct sl_error *err)
{
	uint64_t n;
	bool is;

	if (key->type == SL_CONF_BOOLEAN && !sl_conf_scan_boolean(value, &is))
		return sl_conf_fail(where, err, "%s=%s: expected YES or NO", key->name, value);
	if (key->type != SL_CONF_BOOLEAN && key->type != SL_CONF_TEXT && !sl_conf_scan_number(key->type, value, &n))
		return sl_conf_fail(where, err, "%s=%s: expected a number%s", key->name, value,
				    key->type == SL_CONF_U16 ? " up to 65535" : "");
	return 0;
}

int sl_conf_read_words(struct sl_conf *c, struct sl_conf_where where, const struct sl_conf_table *table, char *rest,
		       struct sl_conf_words *words, struct sl_error *err)
{
	struct sl_conf_word w;
	int rc;

	memset(words, 0, sizeof(*words));
	while ((rc = sl_conf_next_word(&rest, &w)) > 0) {
		int key = find_key(table, w.key);

		if (key < 0 && table == &sl_conf_node_table && !strcasecmp(w.key, "Name"))
			return sl_conf_fail(where, err, "NodeName with Name=%.40s: expected slurm.conf, and this line in the gres.conf beside it",
					    w.value);
		if (key < 0) {
			note_unknown(c, where, table, &w);
			continue;
		}
		if (check_type(where, &table->key[key], w.value, err))
			return -1;
		if (words->value[key])
			sl_conf_note(c, where, "%s twice: the latter, %s, counts", table->key[key].name, w.value);
		words->value[key] = w.value;
	}
	return rc ? sl_conf_fail(where, err, "\"%.60s\": expected KEY=VALUE", rest) : 0;
}

int sl_conf_overlay(struct sl_conf *c, const struct sl_conf_table *table, struct sl_conf_where where,
		    struct sl_conf_words *usual, const struct sl_conf_words *words, struct sl_error *err)
{
	for (uint32_t i = 0; i < table->keys; i++) {
		if (!words->value[i])
			continue;
		usual->value[i] = sl_conf_copy(c, words->value[i], err);
		if (!usual->value[i])
			return -1;
		if (table->key[i].alone)
			sl_conf_note(c, where, "%s=DEFAULT %s=%s: slurmctld does not take this option from a DEFAULT line",
				     table->of, table->key[i].name, words->value[i]);
	}
	return 0;
}
