/* SPDX-License-Identifier: MIT */
#include "base/notes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/grow.h"

/* Takes the text over. */
static void keep_text(struct sl_notes *n, char *text)
{
	if (!text || n->count == SL_NOTES || sl_grow(&n->text, &n->room, n->count + UINT64_C(1), sizeof(*n->text), NULL)) {
		free(text);
		n->dropped++;
		return;
	}
	n->text[n->count++] = text;
}

void sl_notes_add(struct sl_notes *n, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	keep_text(n, text);
}

void sl_notes_move(struct sl_notes *to, struct sl_notes *from)
{
	for (uint32_t i = 0; i < from->count; i++)
		keep_text(to, from->text[i]);
	to->dropped += from->dropped;
	free(from->text);
	*from = (struct sl_notes) { 0 };
}

void sl_notes_print(const struct sl_notes *n, const char *prefix, FILE *out)
{
	for (uint32_t i = 0; i < n->count; i++)
		fprintf(out, "%s%s\n", prefix, n->text[i]);
	if (n->dropped)
		fprintf(out, "%s%" PRIu64 " more of these\n", prefix, n->dropped);
}

void sl_notes_free(struct sl_notes *n)
{
	for (uint32_t i = 0; i < n->count; i++)
		free(n->text[i]);
	free(n->text);
	*n = (struct sl_notes) { 0 };
}
