/* SPDX-License-Identifier: MIT */
/* fake_hostile.c - see fake_hostile.h */
#include "t/plugin/fake_hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "image/plan_image.h"
#include "image/snapshot.h"

#define MANY 60000u
#define DESCRIPTORS 100

struct packet {			/* as image/wire.c has it */
	struct {
		uint16_t magic, version;
		uint32_t type, length, zero;
	} head;
	struct sl_frame_plan body;
};

/* -- packets ------------------------------------------------------------------ */

/* Send these bytes with so many copies of a descriptor; false when the socket is full. */
static bool send_raw(int sock, const void *bytes, size_t size, int fd, int copies, int flags)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec iov = { (void *) (uintptr_t) bytes, size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE((size_t) copies * sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN((size_t) copies * sizeof(int));
		for (int i = 0; i < copies; i++)
			memcpy(CMSG_DATA(&control.align) + (size_t) i * sizeof(int), &fd, sizeof(int));
	}
	return sendmsg(sock, &msg, MSG_NOSIGNAL | flags) >= 0;
}

static struct packet make_packet(const struct sl_frame *request, bool ok)
{
	struct packet p = { .head = { SL_WIRE_MAGIC, SL_WIRE_VERSION, SL_FRAME_PLAN, sizeof(p.body), 0 } };

	p.body.sequence = request->body.decide.sequence;
	p.body.ok = ok;
	p.body.code = ok ? SL_OK : SL_ESCRIPT;
	strcpy(p.body.policy, "fake");
	return p;
}

static bool answer_frame(const char *what, int sock, const struct sl_frame *request)
{
	static char large[128 << 10];
	struct packet p = make_packet(request, false);
	size_t size = sizeof(p);

	if (!strcmp(what, "short"))
		size = 5;
	else if (!strcmp(what, "half"))
		size = sizeof(p) / 2;
	else if (!strcmp(what, "magic"))
		p.head.magic ^= 1;
	else if (!strcmp(what, "type"))
		p.head.type = UINT32_MAX;
	else if (!strcmp(what, "length"))
		p.head.length = UINT32_MAX;
	else if (strcmp(what, "long") && strcmp(what, "twice") && strcmp(what, "flood"))
		return false;
	if (!strcmp(what, "long")) {
		memcpy(large, &p, sizeof(p));
		return send_raw(sock, large, sizeof(large), -1, 0, 0);
	}
	send_raw(sock, &p, size, -1, 0, 0);
	if (!strcmp(what, "twice"))
		send_raw(sock, &p, size, -1, 0, 0);
	while (!strcmp(what, "flood") && send_raw(sock, &p, size, -1, 0, MSG_DONTWAIT))
		;
	while (!strcmp(what, "half"))
		pause();
	return true;
}

/* -- descriptors ---------------------------------------------------------------- */

static int open_memory(bool hole)
{
	static const char page[4096];
	int fd = memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || (hole ? ftruncate(fd, 512 << 20) : write(fd, page, sizeof(page)) < 0))
		_exit(8);
	if (hole)
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
	return fd;
}

static int open_descriptor(const char *what)
{
	int pipes[2];

	if (!strcmp(what, "unsealed") || !strcmp(what, "shrunk") || !strcmp(what, "many"))
		return open_memory(false);
	if (!strcmp(what, "hole"))
		return open_memory(true);
	if (!strcmp(what, "directory"))
		return open("/", O_RDONLY | O_CLOEXEC);
	if (!strcmp(what, "zero"))
		return open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (!strcmp(what, "pipe") && !pipe2(pipes, O_CLOEXEC))
		return pipes[0];
	return -1;
}

static bool answer_descriptor(const char *what, int sock, const struct sl_frame *request)
{
	struct packet p = make_packet(request, true);
	int fd = open_descriptor(what);

	if (fd < 0 && strcmp(what, "none"))
		return false;
	send_raw(sock, &p, sizeof(p), fd, !strcmp(what, "many") ? DESCRIPTORS : 1, 0);
	if (!strcmp(what, "shrunk") && ftruncate(fd, 0))
		_exit(8);
	if (fd >= 0)
		close(fd);
	return true;
}

/* -- plans ------------------------------------------------------------------------ */

static uint32_t put_places(struct sl_builder *b, uint32_t node)
{
	struct sl_plan_place_row place = sl_plan_place_row();

	place.node = node;
	place.cores = 1;
	return sl_builder_append(b, SL_P_PLACE, &place);
}

/* Starts and reservations of the jobs that wait, round and round. */
static void put_flood(struct sl_builder *b, const struct sl_snapshot *s, uint32_t rows, uint32_t beyond)
{
	struct sl_plan_start_row start = sl_plan_start_row();
	struct sl_plan_reserve_row reserve = sl_plan_reserve_row();

	for (uint32_t i = 0; s->queue.rows && i < rows; i++) {
		uint32_t q = i % s->queue.rows, job = s->queue.job[q];

		start.job = reserve.job = s->job.id[job];
		start.stamp = s->job.stamp[job];
		start.partition = reserve.partition = s->queue.partition[q] + beyond;
		start.places = (struct sl_range) { put_places(b, i % s->node.rows + beyond), 1 };
		/* rows of their own: what shares them is refused when it is opened */
		reserve.places = (struct sl_range) { put_places(b, i % s->node.rows + beyond), 1 };
		reserve.start_time = s->meta.now[0] + i;
		start.through = beyond ? beyond : SL_NONE;
		sl_builder_append(b, SL_P_START, &start);
		sl_builder_append(b, SL_P_RESERVE, &reserve);
	}
}

static void put_actions(struct sl_builder *b, const struct sl_snapshot *s)
{
	struct sl_plan_action_row action = sl_plan_action_row();

	action.verb = SL_ACTION_NOTIFY;
	action.text = sl_builder_str(b, "\033[2Jhello\nslurmctld: error: forged");
	for (uint32_t i = 0; s->queue.rows && i < MANY; i++) {
		action.job = s->job.id[s->queue.job[0]];
		action.stamp = s->job.stamp[s->queue.job[0]];
		sl_builder_append(b, SL_P_ACTION, &action);
	}
}

static void put_texts(struct sl_builder *b, const struct sl_snapshot *s)
{
	static char text[SL_PLAN_TEXT_MAX];
	struct sl_plan_pending_row pending = sl_plan_pending_row();
	struct sl_plan_log_row log = sl_plan_log_row();

	memset(text, 'x', sizeof(text) - 1);
	pending.why = SL_WHY_POLICY;
	pending.text = pending.by = log.text = sl_builder_str(b, text);
	for (uint32_t i = 0; s->queue.rows && i < MANY; i++) {
		pending.job = s->job.id[s->queue.job[i % s->queue.rows]];
		sl_builder_append(b, SL_P_PENDING, &pending);
		sl_builder_append(b, SL_P_LOG, &log);
	}
}

static bool answer_plan(const char *what, int sock, const struct sl_frame *request)
{
	struct packet p = make_packet(request, true);
	struct sl_builder *b = sl_builder_create(&sl_plan_schema, NULL);
	struct sl_plan_meta_row meta = sl_plan_meta_row();
	struct sl_snapshot snap;
	struct sl_error err;
	const void *bytes;
	size_t size;
	bool known = true;
	int fd;

	if (!b || sl_wire_map(request->fd, &bytes, &size, &err) || sl_snapshot_open(&snap, bytes, size, &err))
		_exit(8);
	meta.sequence = snap.meta.sequence[0];
	meta.now = snap.meta.now[0];
	sl_builder_append(b, SL_P_META, &meta);
	if (!strcmp(what, "flood"))
		put_flood(b, &snap, MANY, 0);
	else if (!strcmp(what, "range"))
		put_flood(b, &snap, 10, 1000000);
	else if (!strcmp(what, "actions"))
		put_actions(b, &snap);
	else if (!strcmp(what, "texts"))
		put_texts(b, &snap);
	else
		known = false;
	sl_wire_unmap(bytes, size);
	if (sl_builder_finish(b, &bytes, &size, &err) || (fd = sl_wire_memfd("plan", bytes, size, &err)) < 0)
		_exit(8);
	if (known)
		send_raw(sock, &p, sizeof(p), fd, 1, 0);
	close(fd);
	sl_builder_destroy(b);
	return known;
}

/* -- what is said ------------------------------------------------------------------ */

static bool answer_words(const char *mode, int sock, const struct sl_frame *request)
{
	static const char forged[] = "fake\nslurmctld: error: forged \033[2J";
	struct packet p = make_packet(request, false);

	p.body.reload = SL_RELOAD_LIVE;
	if (!strcmp(mode, "figures"))
		p.body.interval_s = p.body.budget_s = 1e300;
	strcpy(p.body.policy, forged);
	strcpy(p.body.stale, forged);
	strcpy(p.body.odd, forged);
	strcpy(p.body.text, forged);
	return send_raw(sock, &p, sizeof(p), -1, 0, 0);
}

static bool answer_kept(const char *what, int sock)
{
	struct packet p = { .head = { SL_WIRE_MAGIC, SL_WIRE_VERSION, SL_FRAME_KEPT, 0, 0 } };
	size_t size = !strcmp(what, "giant") ? (size_t) 256 << 20 : 4096;
	struct sl_error err;
	char *bytes;
	int fd;

	if (!strcmp(what, "zero")) {
		fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	} else {
		bytes = malloc(size);
		if (!bytes)
			_exit(8);
		memset(bytes, 'x', size);
		fd = sl_wire_memfd("kept", bytes, size, &err);
		free(bytes);
	}
	if (fd < 0)
		_exit(8);
	send_raw(sock, &p, sizeof(p.head), fd, 1, 0);
	close(fd);
	return true;
}

int hostile_answer(const char *mode, int sock, const struct sl_frame *request)
{
	if (request->type == SL_FRAME_KEEP)
		return !strncmp(mode, "kept-", 5) && answer_kept(mode + 5, sock);
	if (request->type != SL_FRAME_DECIDE)
		return 0;
	return !strncmp(mode, "frame-", 6) ? answer_frame(mode + 6, sock, request) :
	       !strncmp(mode, "fd-", 3) ? answer_descriptor(mode + 3, sock, request) :
	       !strncmp(mode, "plan-", 5) ? answer_plan(mode + 5, sock, request) :
	       !strcmp(mode, "forge") || !strcmp(mode, "figures") ? answer_words(mode, sock, request) : 0;
}
