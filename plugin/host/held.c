/* SPDX-License-Identifier: GPL-2.0-or-later */
/* held.c - see held.h */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/grow.h"
#include "base/state_file.h"
#include "plugin/host/held.h"

#define HEADER "schedlua held 1\n"
#define MAX_SIZE ((size_t) 256 << 20)
#define MOST_SECONDS (INT64_C(1) << 40)

struct sl_held_book *sl_held_create(void)
{
	return calloc(1, sizeof(struct sl_held_book));
}

/* -- places ------------------------------------------------------------------- */

static void free_node(struct sl_held_node *n)
{
	for (uint32_t i = 0; i < n->gres_count; i++) {
		free(n->gres[i].kind);
		free(n->gres[i].of);
	}
	free(n->gres);
	free(n->name);
}

static void free_place(struct sl_held *h)
{
	for (uint32_t i = 0; i < h->nodes; i++)
		free_node(&h->node[i]);
	free(h->node);
	free(h->partition);
	*h = (struct sl_held) { 0 };
}

static bool copy_gres(struct sl_held_node *to, const struct sl_held_node *from)
{
	if (from->gres_count && !(to->gres = calloc(from->gres_count, sizeof(*to->gres))))
		return false;
	for (uint32_t i = 0; i < from->gres_count; i++) {
		to->gres[i] = from->gres[i];
		to->gres[i].kind = strdup(from->gres[i].kind);
		to->gres[i].of = strdup(from->gres[i].of);
		to->gres_count++;
		if (!to->gres[i].kind || !to->gres[i].of)
			return false;
	}
	return true;
}

static bool copy_nodes(struct sl_held *to, const struct sl_held *from)
{
	if (!(to->node = calloc(from->nodes ? from->nodes : 1, sizeof(*to->node))))
		return false;
	for (uint32_t i = 0; i < from->nodes; i++) {
		struct sl_held_node *n = &to->node[to->nodes++];

		n->cores = from->node[i].cores;
		n->memory = from->node[i].memory;
		if (!(n->name = strdup(from->node[i].name)) || !copy_gres(n, &from->node[i]))
			return false;
	}
	return true;
}

static int copy_place(struct sl_held *to, const struct sl_held *from, struct sl_error *err)
{
	*to = (struct sl_held) { .job = from->job, .user = from->user, .stamp = from->stamp, .since = from->since,
				 .until = from->until, .left = from->left };
	if ((to->partition = strdup(from->partition)) && copy_nodes(to, from))
		return 0;
	free_place(to);
	return sl_fail(err, SL_ENOMEM, "job %" PRIu32 ": no memory to hold a place for it", from->job);
}

struct sl_held *sl_held_find(const struct sl_held_book *b, uint32_t job)
{
	uint32_t i = sl_map_by_id(&b->place_of, job);

	return i == SL_MAP_NOTHING ? NULL : &b->place[i];
}

static bool is_same_gres(const struct sl_held_node *a, const struct sl_held_node *b)
{
	bool same = a->gres_count == b->gres_count;

	for (uint32_t i = 0; same && i < a->gres_count; i++)
		same = a->gres[i].count == b->gres[i].count && a->gres[i].devices == b->gres[i].devices &&
			!strcmp(a->gres[i].kind, b->gres[i].kind) && !strcmp(a->gres[i].of, b->gres[i].of);
	return same;
}

static bool is_same_place(const struct sl_held *a, const struct sl_held *b)
{
	bool same = a->stamp == b->stamp && a->user == b->user && a->nodes == b->nodes && !strcmp(a->partition, b->partition);

	for (uint32_t i = 0; same && i < a->nodes; i++)
		same = a->node[i].cores == b->node[i].cores && a->node[i].memory == b->node[i].memory &&
			!strcmp(a->node[i].name, b->node[i].name) && is_same_gres(&a->node[i], &b->node[i]);
	return same;
}

static void forget_taken(struct sl_held_book *b, uint32_t i)
{
	free_place(&b->taken[i].place);
	memmove(&b->taken[i], &b->taken[i + 1], (--b->takens - i) * sizeof(*b->taken));
	b->changed = true;
}

struct sl_held *sl_held_put(struct sl_held_book *b, const struct sl_held *place, struct sl_error *err)
{
	struct sl_held *old = sl_held_find(b, place->job), new;

	if (old && is_same_place(old, place) && place->until >= old->until) {
		old->until = place->until;
		b->changed |= old->until - old->written_until >= 60;
		return old;
	}
	if (!old && b->places >= SL_HELD_MOST) {
		sl_fail(err, SL_ELIMIT, "job %" PRIu32 ": places are held for %u jobs already", place->job, SL_HELD_MOST);
		return NULL;
	}
	if (!old && (sl_grow(&b->place, &b->place_room, b->places + 1, sizeof(*b->place), err) ||
		     sl_map_reserve(&b->place_of, b->places + 1, err)))
		return NULL;
	if (copy_place(&new, place, err))
		return NULL;
	for (uint32_t i = b->takens; i-- > 0;)
		if (b->taken[i].place.job == place->job)
			forget_taken(b, i);
	if (!old) {
		(void) sl_map_put(&b->place_of, sl_hash_id(place->job), b->places, NULL);
		old = &b->place[b->places++];
	} else {
		new.since = new.since ? new.since : old->since;
		new.left = old->left;
		free_place(old);
	}
	*old = new;
	b->changed = true;
	return old;
}

/* Nobody has it any more; what it was is the caller's. */
static bool remove_place(struct sl_held_book *b, uint32_t job, struct sl_held *was)
{
	struct sl_held *h = sl_held_find(b, job);

	if (!h)
		return false;
	*was = *h;
	b->places--;
	memmove(h, h + 1, (size_t) (&b->place[b->places] - h) * sizeof(*h));
	sl_map_clear(&b->place_of);
	for (uint32_t i = 0; i < b->places; i++)
		(void) sl_map_put(&b->place_of, sl_hash_id(b->place[i].job), i, NULL);
	return true;
}

bool sl_held_drop(struct sl_held_book *b, uint32_t job)
{
	struct sl_held was;

	if (!remove_place(b, job, &was))
		return false;
	free_place(&was);
	b->changed = true;
	return true;
}

/* -- stopped jobs ---------------------------------------------------------------- */

static void free_stop(struct sl_stopped *s)
{
	free(s->user);
	free(s->partition);
}

/* Its room is there. */
static void index_stop(struct sl_held_book *b, uint32_t i)
{
	(void) sl_map_put(&b->stops_of, sl_hash_id(b->stopped[i].job), b->stops_gone + i, NULL);
	(void) sl_map_put(&b->stops_for, sl_hash_id(b->stopped[i].preemptor), b->stops_gone + i, NULL);
}

static void drop_oldest(struct sl_held_book *b)
{
	sl_map_remove(&b->stops_of, sl_hash_id(b->stopped[0].job), b->stops_gone);
	sl_map_remove(&b->stops_for, sl_hash_id(b->stopped[0].preemptor), b->stops_gone);
	free_stop(&b->stopped[0]);
	memmove(b->stopped, b->stopped + 1, --b->stops * sizeof(*b->stopped));
	b->stops_gone++;
}

int sl_held_stop(struct sl_held_book *b, const struct sl_stopped *s, struct sl_error *err)
{
	struct sl_stopped new = *s;

	if (sl_grow(&b->stopped, &b->stop_room, b->stops + 1, sizeof(*b->stopped), err) ||
	    sl_map_reserve(&b->stops_of, b->stops + 1, err) || sl_map_reserve(&b->stops_for, b->stops + 1, err))
		return -1;
	new.user = strdup(s->user);
	new.partition = strdup(s->partition);
	if (!new.user || !new.partition) {
		free_stop(&new);
		return sl_fail(err, SL_ENOMEM, "job %" PRIu32 ": no memory to note that it was stopped", s->job);
	}
	if (b->stops == SL_STOPPED_MOST)
		drop_oldest(b);
	b->stopped[b->stops] = new;
	index_stop(b, b->stops++);
	b->changed = true;
	return 0;
}

static void index_stops_anew(struct sl_held_book *b)
{
	b->stops_gone = 0;
	sl_map_clear(&b->stops_of);
	sl_map_clear(&b->stops_for);
	for (uint32_t i = 0; i < b->stops; i++)
		index_stop(b, i);
}

void sl_held_unstop(struct sl_held_book *b, uint32_t job, uint32_t preemptor, int64_t start_time)
{
	const struct sl_stopped *s = sl_held_stopped(b, job, start_time);
	uint32_t i = s ? (uint32_t) (s - b->stopped) : 0;

	if (!s || s->preemptor != preemptor)
		return;
	free_stop(&b->stopped[i]);
	memmove(&b->stopped[i], &b->stopped[i + 1], (--b->stops - i) * sizeof(*b->stopped));
	index_stops_anew(b);
	b->changed = true;
}

/* Who was stopped for the job has not been stopped in vain. */
static void note_started(struct sl_held_book *b, uint32_t job, uint32_t as)
{
	bool any = false;

	SL_HELD_EACH_STOP(b, job, at) {
		struct sl_stopped *s = &b->stopped[at.value - b->stops_gone];

		any |= !s->started;
		s->started = true;
	}
	for (uint32_t i = 0; any && as != job && i < b->stops; i++)
		if (b->stopped[i].preemptor == job)
			b->stopped[i].preemptor = as;
	if (any && as != job)
		index_stops_anew(b);
	b->changed |= any;
}

bool sl_held_take(struct sl_held_book *b, uint32_t job, uint32_t as, int64_t now)
{
	struct sl_held was;

	note_started(b, job, as);
	if (b->takens == SL_HELD_MOST)
		forget_taken(b, 0);
	if (sl_grow(&b->taken, &b->taken_room, b->takens + 1, sizeof(*b->taken), NULL))
		return sl_held_drop(b, job);
	if (!remove_place(b, job, &was))
		return false;
	b->taken[b->takens++] = (struct sl_taken) { was, now + SL_HELD_TAKEN_S };
	return true;
}

const struct sl_stopped *sl_held_stopped(const struct sl_held_book *b, uint32_t job, int64_t start_time)
{
	const struct sl_stopped *last = NULL;

	SL_MAP_EACH(&b->stops_of, sl_hash_id(job), at) {
		const struct sl_stopped *s = sl_held_stop_at(b, at.value);

		if (s->start_time == start_time && (!last || s > last))
			last = s;
	}
	return last;
}

void sl_held_forget_stops(struct sl_held_book *b, bool (*forget)(const struct sl_stopped *s, void *arg), void *arg)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < b->stops; i++)
		if (forget(&b->stopped[i], arg))
			free_stop(&b->stopped[i]);
		else
			b->stopped[kept++] = b->stopped[i];
	if (kept == b->stops)
		return;
	b->changed = true;
	b->stops = kept;
	index_stops_anew(b);
}

void sl_held_destroy(struct sl_held_book *b)
{
	if (!b)
		return;
	for (uint32_t i = 0; i < b->places; i++)
		free_place(&b->place[i]);
	for (uint32_t i = 0; i < b->takens; i++)
		free_place(&b->taken[i].place);
	for (uint32_t i = 0; i < b->stops; i++)
		free_stop(&b->stopped[i]);
	free(b->taken);
	sl_map_free(&b->place_of);
	sl_map_free(&b->stops_of);
	sl_map_free(&b->stops_for);
	free(b->place);
	free(b->stopped);
	free(b->path);
	free(b);
}

/* -- reading --------------------------------------------------------------------- */

/* The next field as a number of digits alone, up to *most*. */
static bool read_number(char **rest, int64_t most, int64_t *n)
{
	const char *at = strsep(rest, "\t");

	if (!at || !*at)
		return false;
	for (*n = 0; *at; at++)
		if (*at < '0' || *at > '9' || *n > (most - (*at - '0')) / 10 || (*n = *n * 10 + (*at - '0')) > most)
			return false;
	return true;
}

static bool read_u32(char **rest, uint32_t *n)
{
	int64_t v;

	if (!read_number(rest, UINT32_MAX, &v))
		return false;
	*n = (uint32_t) v;
	return true;
}

static bool read_text(char **rest, char **text)
{
	*text = strsep(rest, "\t");
	return *text && sl_unescape(*text, "\t") && !sl_text_is_unsafe(*text);
}

/* The place that the lines of the file are about; its texts point into the file. */
struct reading {
	struct sl_held_book *b;
	struct sl_held place;
	uint32_t node_room, gres_room;
	bool open, bad;
	struct sl_error *err;
};

static bool read_place(struct reading *r, char *rest)
{
	struct sl_held *h = &r->place;

	return read_u32(&rest, &h->job) && h->job && read_u32(&rest, &h->user) && read_number(&rest, INT64_MAX, &h->stamp) &&
		read_number(&rest, MOST_SECONDS, &h->since) && read_number(&rest, MOST_SECONDS, &h->until) &&
		read_text(&rest, &h->partition) && *h->partition && !rest && !sl_held_find(r->b, h->job);
}

static bool read_node(struct reading *r, char *rest)
{
	struct sl_held *h = &r->place;
	struct sl_held_node n = { 0 };

	if (!r->open || !read_text(&rest, &n.name) || !*n.name || !read_u32(&rest, &n.cores) ||
	    !read_number(&rest, INT64_MAX, &n.memory) || rest ||
	    sl_grow(&h->node, &r->node_room, h->nodes + 1, sizeof(n), r->err))
		return false;
	h->node[h->nodes++] = n;
	r->gres_room = 0;
	return true;
}

static bool read_gres(struct reading *r, char *rest)
{
	struct sl_held_node *n = r->place.nodes ? &r->place.node[r->place.nodes - 1] : NULL;
	struct sl_held_gres g;

	if (!r->open || !n || !read_text(&rest, &g.kind) || !*g.kind || !read_text(&rest, &g.of) || !read_u32(&rest, &g.count) ||
	    !read_u32(&rest, &g.devices) || rest ||
	    sl_grow(&n->gres, &r->gres_room, n->gres_count + 1, sizeof(g), r->err))
		return false;
	n->gres[n->gres_count++] = g;
	return true;
}

static bool read_stop(struct reading *r, char *rest, bool started)
{
	struct sl_stopped s = { .started = started };

	return read_u32(&rest, &s.job) && s.job && read_u32(&rest, &s.preemptor) && s.preemptor &&
		read_number(&rest, MOST_SECONDS, &s.start_time) && read_number(&rest, MOST_SECONDS, &s.time) &&
		read_text(&rest, &s.user) && read_text(&rest, &s.partition) && read_u32(&rest, &s.mode) && !rest && !sl_held_stop(r->b, &s, r->err);
}

/* What was read of a place is put into the book, if all of it makes sense. True if it does. */
static bool end_place(struct reading *r)
{
	struct sl_held *h = &r->place;
	bool good = !r->open || (!r->bad && h->nodes && sl_held_put(r->b, h, r->err));

	for (uint32_t i = 0; i < h->nodes; i++)
		free(h->node[i].gres);
	free(h->node);
	*h = (struct sl_held) { 0 };
	r->node_room = r->gres_room = 0;
	r->open = r->bad = false;
	return good;
}

/* Returns how many lines of this make no sense: 0 or 1, or 2 where the place before it makes none either. */
static int read_line(struct reading *r, char *line)
{
	char kind = line[0];
	bool good;
	int bad = 0;

	if (!kind || line[1] != '\t')
		return 1;
	line += 2;
	if (kind == 'N' || kind == 'G') {
		good = kind == 'N' ? read_node(r, line) : read_gres(r, line);
		r->bad |= !good;
		return !good;
	}
	bad = !end_place(r);
	if (kind == 'P') {
		good = read_place(r, line);
		r->open = true;
		r->bad = !good;
		return bad;	/* it is counted when it ends */
	}
	return bad + !((kind == 'S' || kind == 'T') && read_stop(r, line, kind == 'T'));
}

static int read_lines(struct reading *r, char *text, const char *end)
{
	int bad = 0;

	while (*text) {
		size_t n = strcspn(text, "\n");
		bool whole = text[n] == '\n';

		text[n] = '\0';
		bad += whole ? read_line(r, text) : 1;
		text += n + whole;
	}
	bad += !end_place(r);
	return bad + (text < end);	/* NULs are no lines */
}

int sl_held_open(struct sl_held_book *b, const char *path, struct sl_error *err)
{
	struct reading r = { .b = b, .err = err };
	char *text;
	size_t size;
	int rc;

	free(b->path);
	if (!(b->path = strdup(path)))
		return sl_fail(err, SL_ENOMEM, "%s: no memory", path);
	if ((rc = sl_state_read(path, MAX_SIZE, &text, &size, NULL, err)) <= 0)
		return rc;
	if (!strncmp(text, HEADER, strlen(HEADER)))
		rc = read_lines(&r, text + strlen(HEADER), text + size);
	else
		rc = sl_fail(err, SL_EFORMAT, "%s: expected \"%.*s\" on its first line", path, (int) sizeof(HEADER) - 2, HEADER);
	free(text);
	b->changed = rc != 0;
	b->reread = b->places > 0;
	return rc;
}

/* -- writing ---------------------------------------------------------------------- */

static void write_text(FILE *f, const char *text, char after)
{
	sl_escape_put(f, text, "\t");
	fputc(after, f);
}

static void write_place(FILE *f, const struct sl_held *h)
{
	fprintf(f, "P\t%" PRIu32 "\t%" PRIu32 "\t%" PRId64 "\t%" PRId64 "\t%" PRId64 "\t", h->job, h->user, h->stamp, h->since,
		h->until);
	write_text(f, h->partition, '\n');
	for (uint32_t i = 0; i < h->nodes; i++) {
		const struct sl_held_node *n = &h->node[i];

		fputs("N\t", f);
		write_text(f, n->name, '\t');
		fprintf(f, "%" PRIu32 "\t%" PRId64 "\n", n->cores, n->memory);
		for (uint32_t k = 0; k < n->gres_count; k++) {
			fputs("G\t", f);
			write_text(f, n->gres[k].kind, '\t');
			write_text(f, n->gres[k].of, '\t');
			fprintf(f, "%" PRIu32 "\t%" PRIu32 "\n", n->gres[k].count, n->gres[k].devices);
		}
	}
}

static void write_stop(FILE *f, const struct sl_stopped *s)
{
	fprintf(f, "%c\t%" PRIu32 "\t%" PRIu32 "\t%" PRId64 "\t%" PRId64 "\t", s->started ? 'T' : 'S', s->job, s->preemptor, s->start_time, s->time);
	write_text(f, s->user, '\t');
	write_text(f, s->partition, '\t');
	fprintf(f, "%" PRIu32 "\n", s->mode);
}

int sl_held_save(struct sl_held_book *b, int64_t now, struct sl_error *err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f;
	int rc;

	while (b->takens && b->taken[0].until <= now)
		forget_taken(b, 0);
	if (!b->changed || !b->path)
		return 0;
	if (!(f = open_memstream(&text, &size)))
		return sl_fail(err, SL_ENOMEM, "%s: no memory", b->path);
	fputs(HEADER, f);
	for (uint32_t i = 0; i < b->places; i++)
		write_place(f, &b->place[i]);
	for (uint32_t i = 0; i < b->takens; i++)
		write_place(f, &b->taken[i].place);
	for (uint32_t i = 0; i < b->stops; i++)
		write_stop(f, &b->stopped[i]);
	for (uint32_t i = 0; i < b->places; i++)
		b->place[i].written_until = b->place[i].until;
	rc = fclose(f) ? sl_fail(err, SL_ENOMEM, "%s: no memory", b->path) : sl_state_write(b->path, 0600, text, size, true, err);
	free(text);
	if (!rc)
		b->changed = false;
	return rc;
}
