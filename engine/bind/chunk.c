/* SPDX-License-Identifier: MIT */
#include "bind/chunk.h"

#include <stdlib.h>
#include <string.h>

/* -- the bytes -------------------------------------------------------------- */

struct bytes {
	char *at;
	size_t size;
};

static int add_bytes(lua_State *L, const void *more, size_t size, void *arg)
{
	struct bytes *b = arg;
	char *longer;

	(void) L;
	if (!size)
		return 0;
	longer = realloc(b->at, b->size + size);
	if (!longer)
		return 1;
	memcpy(longer + b->size, more, size);
	b->at = longer;
	b->size += size;
	return 0;
}

/* Where one is in them; past the end all is 0. */
struct reader {
	const char *at, *end;
	bool failed;
};

static const char *take(struct reader *r, size_t size)
{
	const char *at = r->at;

	if (r->failed || (size_t) (r->end - at) < size) {
		r->failed = true;
		return NULL;
	}
	r->at += size;
	return at;
}

static void copy(struct reader *r, void *to, size_t size)
{
	const char *at = take(r, size);

	if (at)
		memcpy(to, at, size);
	else
		memset(to, 0, size);
}

static uint8_t read_byte(struct reader *r)
{
	uint8_t b;

	copy(r, &b, 1);
	return b;
}

/* Seven bits a byte, the highest first; the last byte has the eighth. */
static size_t read_size(struct reader *r)
{
	size_t n = 0;
	uint8_t b;

	do {
		b = read_byte(r);
		n = n << 7 | (b & 0x7f);
	} while (!(b & 0x80) && !r->failed);
	return n;
}

static void expect(struct reader *r, const void *bytes, size_t size)
{
	const char *at = take(r, size);

	r->failed |= at && memcmp(at, bytes, size);
}

/* -- a function ------------------------------------------------------------- */

static void read_header(struct reader *r)
{
	const int64_t integer = 0x5678;
	const double number = 370.5;

	expect(r, LUA_SIGNATURE "\x54\x00\x19\x93\r\n\x1a\n", sizeof(LUA_SIGNATURE) - 1 + 8);
	expect(r, "\x04\x08\x08", 3);	/* sizes of instructions, integers and floats */
	expect(r, &integer, sizeof(integer));
	expect(r, &number, sizeof(number));
	read_byte(r);			/* upvalues */
}

static struct sl_chunk_constant read_constant(struct reader *r)
{
	struct sl_chunk_constant c = { .kind = SL_CHUNK_NIL };

	switch (read_byte(r)) {
	case 0x00:
		break;
	case 0x01:
		c.kind = SL_CHUNK_FALSE;
		break;
	case 0x11:
		c.kind = SL_CHUNK_TRUE;
		break;
	case 0x03:
		c.kind = SL_CHUNK_INTEGER;
		copy(r, &c.integer, sizeof(c.integer));
		break;
	case 0x13:
		c.kind = SL_CHUNK_FLOAT;
		copy(r, &c.number, sizeof(c.number));
		break;
	case 0x04:
	case 0x14:
		c.kind = SL_CHUNK_TEXT;
		c.length = read_size(r);
		r->failed |= !c.length;
		c.length -= !r->failed;
		c.text = take(r, c.length);
		break;
	default:
		r->failed = true;
	}
	return c;
}

/* Room for as many as are said to follow, each of which takes so many bytes at least. */
static void *make_room(struct reader *r, uint32_t *count, size_t least, size_t size)
{
	size_t n = read_size(r);
	void *room = !r->failed && n <= (size_t) (r->end - r->at) / least ? calloc(n + 1, size) : NULL;

	r->failed |= !room;
	*count = r->failed ? 0 : (uint32_t) n;
	return room;
}

static void read_function(struct reader *r, struct sl_chunk *chunk)
{
	read_size(r);			/* the name of the file, left out */
	read_size(r);			/* first and last line */
	read_size(r);
	chunk->parameters = read_byte(r);
	chunk->takes_more = read_byte(r);
	chunk->registers = read_byte(r);
	chunk->instruction = make_room(r, &chunk->instructions, sizeof(*chunk->instruction), sizeof(*chunk->instruction));
	if (!r->failed)
		copy(r, chunk->instruction, chunk->instructions * sizeof(*chunk->instruction));
	if (!r->failed)
		chunk->constant = make_room(r, &chunk->constants, 1, sizeof(*chunk->constant));
	for (uint32_t i = 0; i < chunk->constants && !r->failed; i++)
		chunk->constant[i] = read_constant(r);
}

int sl_chunk_read(lua_State *L, struct sl_chunk *chunk)
{
	struct bytes b = { NULL, 0 };
	struct reader r;

	*chunk = (struct sl_chunk) { 0 };
	if (lua_version(L) != 504 || lua_dump(L, add_bytes, &b, true) || !b.size) {
		free(b.at);
		return -1;
	}
	chunk->bytes = b.at;
	r = (struct reader) { b.at, b.at + b.size, false };
	read_header(&r);
	read_function(&r, chunk);
	if (!r.failed)
		return 0;
	sl_chunk_free(chunk);
	return -1;
}

void sl_chunk_free(struct sl_chunk *chunk)
{
	free(chunk->instruction);
	free(chunk->constant);
	free(chunk->bytes);
	*chunk = (struct sl_chunk) { 0 };
}
