/* SPDX-License-Identifier: MIT */
/*
 * driver.c - a fuzz target without libFuzzer: what the target makes, its corpus, and
 * mutations of both.  The same seed makes the same run:
 *	t/fuzz/NAME [ROUNDS [SEED]]
 *	t/fuzz/NAME FILE...			try these inputs
 *	t/fuzz/NAME --make N DIRECTORY		write N inputs that the target makes
 * The corpus is looked for in $srcdir, as `make check` has it, or here.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "t/fuzz/fuzz.h"

#define ROOM FUZZ_ROOM

struct input {
	uint8_t *bytes;
	size_t size;
};

static struct input *corpus;
static int inputs;

/* -- files -------------------------------------------------------------------- */

static struct input read_input(const char *path)
{
	struct input in = { malloc(ROOM), 0 };
	FILE *f = fopen(path, "r");

	MUST(in.bytes);
	if (!f) {
		perror(path);
		exit(1);
	}
	in.size = fread(in.bytes, 1, FUZZ_MAX, f);
	fclose(f);
	return in;
}

static int is_input(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void read_corpus(void)
{
	const char *top = getenv("srcdir");
	struct dirent **entry;
	char path[4096];
	int n;

	snprintf(path, sizeof(path), "%s/t/fuzz/corpus/%s", top ? top : ".", fuzz_name);
	n = scandir(path, &entry, is_input, alphasort);
	if (n < 0)
		return;
	corpus = calloc((size_t) n + 1, sizeof(*corpus));
	MUST(corpus);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/t/fuzz/corpus/%s/%s", top ? top : ".", fuzz_name, entry[i]->d_name);
		corpus[inputs++] = read_input(path);
		free(entry[i]);
	}
	free(entry);
}

/* -- mutations ------------------------------------------------------------------ */

static uint64_t interesting(uint64_t *seed)
{
	static const uint64_t v[] = { 0, 1, 2, 7, 8, 64, 255, 65535, 65536, 0x7fffffff, 0x80000000, UINT32_MAX, SL_IMAGE_MAX_ROWS,
				      INT64_MAX, UINT64_MAX, UINT64_MAX - 7, (uint64_t) 1 << 40 };

	return make_below(seed, 4) ? v[make_below(seed, sizeof(v) / sizeof(v[0]))] : make_below(seed, 300);
}

/* Put *n* bytes in the place of *m* at *at*; the new size. */
static size_t replace(uint8_t *p, size_t size, size_t at, size_t m, const void *with, size_t n)
{
	if (size - m + n > ROOM)
		return size;
	memmove(p + at + n, p + at + m, size - at - m);
	memcpy(p + at, with, n);
	return size - m + n;
}

/* A number in a text becomes another one. */
static size_t mutate_number(uint8_t *p, size_t size, uint64_t *seed)
{
	size_t at = make_below(seed, (uint32_t) size), end;
	char text[32];

	while (at < size && !isdigit(p[at]))
		at++;
	for (end = at; end < size && isdigit(p[end]); end++)
		;
	if (at == end)
		return size;
	snprintf(text, sizeof(text), make_below(seed, 4) ? "%" PRIu64 : "-%" PRIu64, interesting(seed));
	return replace(p, size, at, end - at, text, strlen(text));
}

/* A piece of another input of the corpus. */
static size_t mutate_splice(uint8_t *p, size_t size, uint64_t *seed)
{
	const struct input *other = inputs ? &corpus[make_below(seed, (uint32_t) inputs)] : NULL;
	size_t from, n, at = make_below(seed, (uint32_t) size + 1);

	if (!other || !other->size)
		return size;
	from = make_below(seed, (uint32_t) other->size);
	n = 1 + make_below(seed, (uint32_t) (other->size - from < 200 ? other->size - from : 200));
	n = n < other->size - from ? n : other->size - from;
	return replace(p, size, at, 0, other->bytes + from, n);
}

static size_t mutate_length(uint8_t *p, size_t size, uint64_t *seed)
{
	size_t at = make_below(seed, (uint32_t) size), width = make_below(seed, 32);

	switch (make_below(seed, 3)) {
	case 0:
		return at ? at : 1;
	case 1:
		width = width < size - at ? width : size - at;
		return size - width ? replace(p, size, at, width, "", 0) : size;
	default:
		if (size + width > ROOM)
			return size;
		memset(p + size, make_below(seed, 2) ? 0 : 'x', width);
		return size + width;
	}
}

/* Change the input a little; its new size. */
static size_t mutate(uint8_t *p, size_t size, uint64_t *seed)
{
	size_t at, width, to;
	uint64_t v = interesting(seed);

	if (!size)
		return mutate_splice(p, size, seed);
	at = make_below(seed, (uint32_t) size);
	switch (make_below(seed, 10)) {
	case 0:			/* a bit */
		p[at] ^= (uint8_t) (1 << make_below(seed, 8));
		return size;
	case 1:			/* a byte */
		p[at] = (uint8_t) make_random(seed);
		return size;
	case 2: case 3:		/* a word of an image */
		width = make_below(seed, 3) ? 4 : 8;
		at = at / width * width;
		if (at + width <= size)
			memcpy(p + at, &v, width);
		return size;
	case 4:			/* a word of a header or a directory */
		at = 4 * (size_t) make_below(seed, 80);
		if (at + 8 <= size)
			memcpy(p + at, &v, make_below(seed, 2) ? 4 : 8);
		return size;
	case 5:			/* some bytes are elsewhere too */
		to = make_below(seed, (uint32_t) size);
		width = 1 + make_below(seed, 64);
		if (at + width <= size && to + width <= size)
			memmove(p + to, p + at, width);
		return size;
	case 6: case 7:
		return mutate_number(p, size, seed);
	case 8:
		return mutate_splice(p, size, seed);
	default:
		return mutate_length(p, size, seed);
	}
}

/* -- runs ----------------------------------------------------------------------- */

static const uint8_t *trying;
static size_t trying_size;

/* A broken promise leaves its input behind. */
static void keep_input(int signal)
{
	char path[80];
	int fd;

	snprintf(path, sizeof(path), "fuzz-%s-%d.failed", fuzz_name, (int) getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd >= 0 && write(fd, trying, trying_size) == (ssize_t) trying_size)
		fprintf(stderr, "reproduce: t/fuzz/%s %s\n", fuzz_name, path);
	raise(signal);
}

/* Each input in memory of its own, so that sanitizers see its end. */
static void try_bytes(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	MUST(copy);
	memcpy(copy, bytes, size);
	trying = copy;
	trying_size = size;
	alarm(60);	/* one that never ends is broken too */
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static void try_made(uint64_t first)
{
	static uint8_t input[ROOM];

	for (uint64_t i = 0; i < 50; i++) {
		uint64_t seed = first + i;
		unsigned long long before = fuzz_accepted;
		size_t size = fuzz_make(input, &seed);

		try_bytes(input, size);
		MUST(fuzz_accepted == before + 1);
	}
	printf("ok 1 - %s: what is valid is accepted\n", fuzz_name);
}

/* A corpus of another version of the format is refused at its first bytes, and tries nothing. */
static bool try_corpus(void)
{
	unsigned long long before = fuzz_accepted;
	bool ok;

	for (int i = 0; i < inputs; i++)
		try_bytes(corpus[i].bytes, corpus[i].size);
	ok = !inputs || fuzz_accepted > before;
	printf("%sok 2 - %s: of the %d inputs of the corpus %llu are accepted\n", ok ? "" : "not ", fuzz_name, inputs,
	       fuzz_accepted - before);
	if (!ok)
		printf("# make it anew: t/fuzz/%s --make 40 t/fuzz/corpus/%s, and remove what is there\n", fuzz_name, fuzz_name);
	fflush(stdout);
	return ok;
}

static void try_mutations(unsigned long rounds, uint64_t first)
{
	static uint8_t input[ROOM];

	for (unsigned long i = 0; i < rounds; i++) {
		uint64_t seed = first + i;
		size_t size;

		if (inputs && make_below(&seed, 2)) {
			const struct input *in = &corpus[make_below(&seed, (uint32_t) inputs)];

			memcpy(input, in->bytes, size = in->size);
		} else {
			size = fuzz_make(input, &seed);
		}
		for (uint32_t m = 1 + make_below(&seed, 4); m > 0; m--)
			size = mutate(input, size, &seed);
		try_bytes(input, size);
	}
	printf("# accepted: %llu\nok 3 - %s: mutations are refused, or hold what they promise\n", fuzz_accepted, fuzz_name);
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 3000;
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	bool ok;
	static const int fatal[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGALRM };
	const struct sigaction left = { .sa_handler = keep_input, .sa_flags = SA_RESETHAND };

	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		sigaction(fatal[i], &left, NULL);
	if (argc == 4 && !strcmp(argv[1], "--make")) {
		fuzz_write_made(atoi(argv[2]), argv[3]);
		return 0;
	}
	if (argc > 1 && !isdigit((unsigned char) argv[1][0])) {
		for (int i = 1; i < argc; i++) {
			struct input in = read_input(argv[i]);

			try_bytes(in.bytes, in.size);
			free(in.bytes);
		}
		return 0;
	}
	printf("1..3\n# %lu rounds from seed %" PRIu64 "\n", rounds, first);
	fflush(stdout);
	read_corpus();
	try_made(first);
	ok = try_corpus();
	try_mutations(rounds, first);
	while (inputs)
		free(corpus[--inputs].bytes);
	free(corpus);
	return !ok;
}
