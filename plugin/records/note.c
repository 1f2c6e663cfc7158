/* SPDX-License-Identifier: GPL-2.0-or-later */
/* note.c - see note.h */
#include "plugin/records/note.h"
#include "base/map.h"

/* The *i*th place in which a job's note may stand. */
static uint32_t place_of(uint32_t job, uint32_t i)
{
	return ((job * 2654435761u >> 16) + i) % SL_NOTES_MOST;
}

const struct sl_note *sl_note_read(const struct sl_notes *n, uint32_t job, int64_t submitted)
{
	static const struct sl_note none;
	uint32_t i;

	for (i = 0; i < SL_NOTE_PROBES; i++) {
		const struct sl_note *note = &n->note[place_of(job, i)];

		if (note->job == job && note->submitted == submitted)
			return note;
	}
	return &none;
}

struct sl_note *sl_note_write(struct sl_notes *n, uint32_t job, int64_t submitted)
{
	struct sl_note *note = &n->note[place_of(job, 0)];
	uint32_t i;

	for (i = 0; i < SL_NOTE_PROBES; i++) {
		struct sl_note *other = &n->note[place_of(job, i)];

		if (other->job == job) {
			note = other;
			break;
		}
		if (other->written < note->written)
			note = other;
	}
	if (note->job != job || note->submitted != submitted)
		*note = (struct sl_note) { .job = job, .submitted = submitted };
	note->written = ++n->writes;
	return note;
}

bool sl_note_says(uint32_t *said, const char *text)
{
	uint32_t own = (uint32_t) sl_hash_text(SL_HASH, text) | 1;

	if (*said == own)
		return false;
	*said = own;
	return true;
}

bool sl_note_shape_refused(const struct sl_note *note, uint32_t n, int64_t now)
{
	return n >= 1 && n <= 16 && note->shapes_until > now && note->shapes_refused >> (n - 1) & 1;
}

void sl_note_refuse_shape(struct sl_note *note, uint32_t n, int64_t now, int64_t until)
{
	if (note->shapes_until <= now)
		note->shapes_refused = 0;
	if (n >= 1 && n <= 16)
		note->shapes_refused |= (uint16_t) (1u << (n - 1));
	note->shapes_until = until;
}
