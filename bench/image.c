/* SPDX-License-Identifier: MIT */
/*
 * image.c - what it costs to hand a snapshot to the engine.
 *
 *	bench/image [NODES [JOBS [ROUNDS]]]
 *
 * Builds a snapshot again and again in one builder, as the plug-in does, and sends
 * it through a memfd and a socket pair to itself.  One JSON object: medians and
 * maxima over the rounds, in microseconds.
 *	append_us	rows appended and strings interned (under locks in slurmctld)
 *	encode_us	the image laid out
 *	send_us		memfd written and sealed, frame sent and received
 *	open_us		mapped and validated
 *	total_us	all of these but append_us
 *	json_us		the same snapshot written as JSON (once)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/order.h"
#include "image/json_out.h"
#include "t/make_image.h"
#include "image/wire.h"

enum { APPEND, ENCODE, SEND, OPEN, TOTAL, STEPS };

static int pass(struct sl_builder *b, uint32_t nodes, uint32_t jobs, const int sock[2], int64_t us[STEPS], size_t *size,
		struct sl_error *err)
{
	struct sl_frame out = { .type = SL_FRAME_DECIDE, .fd = -1 }, in = { .fd = -1 };
	struct sl_snapshot snap;
	const void *bytes = NULL, *mapped = NULL;
	size_t mapped_size = 0;
	int64_t t[5];
	int rc = -1;

	t[0] = sl_clock_us();
	sl_builder_reset(b);
	make_snapshot(b, 1, nodes, jobs);
	t[1] = sl_clock_us();
	if (sl_builder_finish(b, &bytes, size, err) < 0)
		goto error;
	t[2] = sl_clock_us();
	out.fd = sl_wire_memfd("snapshot", bytes, *size, err);
	if (out.fd < 0 || sl_wire_send(sock[0], &out, 1000, err) < 0 || sl_wire_recv(sock[1], &in, 1000, err) != 1)
		goto error;
	t[3] = sl_clock_us();
	if (sl_wire_map(in.fd, &mapped, &mapped_size, err) < 0 ||
	    sl_snapshot_open(&snap, mapped, mapped_size, err) < 0)
		goto error;
	t[4] = sl_clock_us();
	for (int i = APPEND; i <= OPEN; i++)
		us[i] = t[i + 1] - t[i];
	us[TOTAL] = t[4] - t[1];
	rc = 0;
error:
	sl_wire_unmap(mapped, mapped_size);
	if (out.fd >= 0)
		close(out.fd);
	if (in.fd >= 0)
		close(in.fd);
	return rc;
}

static int64_t json_us(struct sl_builder *b, struct sl_error *err)
{
	FILE *null = fopen("/dev/null", "w");
	struct sl_snapshot snap;
	const void *bytes;
	size_t size;
	int64_t from = sl_clock_us();

	if (!null || sl_builder_finish(b, &bytes, &size, err) < 0 || sl_snapshot_open(&snap, bytes, size, err) < 0 ||
	    sl_image_to_json(&snap.image, &snap, null, err) < 0)
		return -1;
	fclose(null);
	return sl_clock_us() - from;
}

static void print(const int64_t *us[STEPS], int rounds, uint32_t nodes, uint32_t jobs, size_t size, int64_t json)
{
	static const char *const name[] = { "append_us", "encode_us", "send_us", "open_us", "total_us" };
	struct sl_json *j = sl_json_create(stdout, NULL);
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	sl_json_begin_object(j);
	sl_json_put_int(j, "nodes", nodes);
	sl_json_put_int(j, "jobs", jobs);
	sl_json_put_int(j, "rounds", rounds);
	sl_json_put_int(j, "bytes", size);
	for (int i = 0; i < STEPS; i++) {
		sl_json_open_object(j, name[i]);
		sl_json_put_int(j, "p50", us[i][rounds / 2]);
		sl_json_put_int(j, "max", us[i][rounds - 1]);
		sl_json_end_object(j);
	}
	sl_json_put_int(j, "json_us", json);
	sl_json_put_int(j, "peak_kib", ru.ru_maxrss);
	sl_json_end_object(j);
	sl_json_end_line(j);
	sl_json_finish(j, NULL, NULL, NULL);
	sl_json_destroy(j);
}

int main(int argc, char **argv)
{
	uint32_t nodes = argc > 1 ? strtoul(argv[1], NULL, 0) : 10000;
	uint32_t jobs = argc > 2 ? strtoul(argv[2], NULL, 0) : 15000;	/* two thirds are pending */
	int rounds = argc > 3 ? atoi(argv[3]) : 21, sock[2];
	struct sl_error err = { .text = "no memory" };
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, &err);
	int64_t *us[STEPS], one[STEPS], json;
	size_t size = 0;

	if (rounds < 1)
		rounds = 1;
	for (int i = 0; i < STEPS; i++)
		us[i] = calloc(rounds, sizeof(int64_t));
	if (!b || !us[TOTAL] || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock) < 0)
		goto error;
	for (int r = -1; r < rounds; r++) {	/* the first warms up */
		if (pass(b, nodes, jobs, sock, one, &size, &err) < 0)
			goto error;
		for (int i = 0; i < STEPS && r >= 0; i++)
			us[i][r] = one[i];
	}
	json = json_us(b, &err);
	if (json < 0)
		goto error;
	for (int i = 0; i < STEPS; i++)
		qsort(us[i], rounds, sizeof(int64_t), sl_order_i64);
	print((const int64_t **) us, rounds, nodes, jobs, size, json);
	for (int i = 0; i < STEPS; i++)
		free(us[i]);
	sl_builder_destroy(b);
	return 0;
error:
	fprintf(stderr, "bench/image: %s\n", err.text);
	return 1;
}
