/* SPDX-License-Identifier: MIT */
#include "image/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/packet.h"
#include "image/image.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u	/* Linux 6.3 */
#endif

struct header {
	uint16_t magic, version;
	uint32_t type;
	uint32_t length;
	uint32_t zero;
};

struct packet {
	struct header head;
	unsigned char body[SL_FRAME_MAX - sizeof(struct header)];
};

_Static_assert(sizeof(struct packet) == SL_FRAME_MAX, "a packet is as long as a frame may be");

enum attached { NEVER, MAYBE, ALWAYS, IF_OK };

#define TEXTS 7		/* strings of a body */

struct text {			/* a string in a body */
	uint32_t offset, size;
};

#define TEXT(type, field) { offsetof(struct sl_frame_##type, field), sizeof(((struct sl_frame_##type *) 0)->field) }

static const struct body {
	const char *name;
	uint32_t size;
	enum attached attached;
	struct text text[TEXTS];
} bodies[] = {
	[SL_FRAME_HELLO] = { "HELLO", sizeof(struct sl_frame_hello), NEVER, { TEXT(hello, version), TEXT(hello, holds) } },
	[SL_FRAME_LOAD] = { "LOAD", sizeof(struct sl_frame_load), MAYBE, { TEXT(load, site), TEXT(load, policy_path) } },
	[SL_FRAME_LOADED] = { "LOADED", sizeof(struct sl_frame_loaded), NEVER,
			      { TEXT(loaded, policy), TEXT(loaded, text), TEXT(loaded, hold.names) } },
	[SL_FRAME_DECIDE] = { "DECIDE", sizeof(struct sl_frame_decide), ALWAYS, { TEXT(decide, hold.names) } },
	[SL_FRAME_PLAN] = { "PLAN", sizeof(struct sl_frame_plan), IF_OK,
			    { TEXT(plan, policy), TEXT(plan, text), TEXT(plan, reload_text), TEXT(plan, stale),
			      TEXT(plan, hold.names), TEXT(plan, held), TEXT(plan, odd) } },
	[SL_FRAME_BYE] = { "BYE", 0, NEVER, { { 0, 0 } } },
	[SL_FRAME_KEEP] = { "KEEP", 0, NEVER, { { 0, 0 } } },
	[SL_FRAME_KEPT] = { "KEPT", 0, MAYBE, { { 0, 0 } } },
	[SL_FRAME_RESTORE] = { "RESTORE", sizeof(struct sl_frame_load), ALWAYS,
			       { TEXT(load, site), TEXT(load, policy_path) } },
};

#define TYPES (sizeof(bodies) / sizeof(bodies[0]))

/* Bodies have no padding, so that no byte of a stack is ever sent. */
_Static_assert(sizeof(struct sl_frame_hello) == 16 + 32 + 128, "padding in HELLO");
_Static_assert(sizeof(struct sl_frame_load) == 16 + 3072 + 1024, "padding in LOAD");
_Static_assert(sizeof(struct sl_frame_loaded) == 24 + sizeof(struct sl_fence) + 256 + 4096, "padding in LOADED");
_Static_assert(sizeof(struct sl_fence) == 8 + 1024, "padding in a rule");
_Static_assert(sizeof(struct sl_frame_decide) == 24 + sizeof(struct sl_fence), "padding in DECIDE");
_Static_assert(sizeof(struct sl_frame_plan) == 48 + sizeof(struct sl_fence) + 3 * 256 + 512 + 3072 + 2816, "padding in PLAN");
_Static_assert(sizeof(((struct sl_frame *) 0)->body) <= SL_FRAME_MAX - sizeof(struct header), "a body fits a frame");

/* -- what a frame must be ------------------------------------------------ */

/* Nothing said, or as a site file may say it (lua/lib/sched/site.lua): for a longer time
 * nobody would decide. */
static bool is_interval(double v)
{
	return v == 0 || (v >= 0.1 && v <= SL_INTERVAL_MAX_S);
}

static bool is_budget(double v)
{
	return v == 0 || (v >= 0.01 && v <= SL_BUDGET_MAX_S);
}

static bool is_code(int32_t code)
{
	return code >= SL_OK && code <= SL_EBUSY;
}

static bool is_rule(const struct sl_fence *hold)
{
	return hold->rest <= 1 && !hold->zero;
}

/* What is wrong with the numbers of a body, or NULL. */
static const char *wrong_number(const struct sl_frame *f)
{
	const struct sl_frame_loaded *loaded = &f->body.loaded;
	const struct sl_frame_plan *plan = &f->body.plan;
	const struct sl_frame_decide *decide = &f->body.decide;

	switch (f->type) {
	case SL_FRAME_LOAD:
	case SL_FRAME_RESTORE:
		return f->body.load.budget_us < 0 || f->body.load.zero ? "a negative budget" : NULL;
	case SL_FRAME_LOADED:
		return !is_rule(&loaded->hold) ? "a rule that is neither 0 nor 1" :
		       loaded->ok != 0 && loaded->ok != 1 ? "ok is neither 0 nor 1" :
		       !is_code(loaded->code) ? "an unknown error code" :
		       !is_interval(loaded->interval_s) || !is_budget(loaded->budget_s) ?
		       "an interval or budget that is no number of seconds" : NULL;
	case SL_FRAME_DECIDE:
		return !is_rule(&decide->hold) ? "a rule that is neither 0 nor 1" :
		       decide->bundled > 1 || decide->zero ? "bundled is neither 0 nor 1" :
		       decide->budget_us < 0 ? "a negative budget" : NULL;
	case SL_FRAME_PLAN:
		return !is_rule(&plan->hold) ? "a rule that is neither 0 nor 1" :
		       plan->ok != 0 && plan->ok != 1 ? "ok is neither 0 nor 1" :
		       !is_code(plan->code) ? "an unknown error code" :
		       plan->reload > SL_RELOAD_REFUSED || plan->zero ? "an unknown outcome of a reload" :
		       plan->ledger_safe < -1 ? "a negative snapshot" :
		       !is_interval(plan->interval_s) || !is_budget(plan->budget_s) ?
		       "an interval or budget that is no number of seconds" : NULL;
	default:
		return NULL;
	}
}

static const char *wrong_attachment(const struct sl_frame *f)
{
	enum attached attached = bodies[f->type].attached;

	if (attached == IF_OK)
		attached = f->body.plan.ok ? ALWAYS : NEVER;
	if (attached == ALWAYS && f->fd < 0)
		return "no descriptor is attached";
	if (attached == NEVER && f->fd >= 0)
		return "a descriptor is attached";
	return NULL;
}

/* Both ends hold a frame to the same rules. */
static int check_frame(const struct sl_frame *f, enum sl_errno code, struct sl_error *err)
{
	const struct body *b = &bodies[f->type];
	const char *wrong = wrong_number(f);

	if (!wrong)
		wrong = wrong_attachment(f);
	for (int i = 0; i < TEXTS && b->text[i].size && !wrong; i++)
		if (!memchr((const char *) &f->body + b->text[i].offset, 0, b->text[i].size))
			wrong = "a string without an end";
	return wrong ? sl_fail(err, code, "frame %s: %s", b->name, wrong) : 0;
}

static bool is_type(uint32_t type)
{
	return type < TYPES && bodies[type].name;
}

/* -- sending --------------------------------------------------------------- */

/* Copy a body; strings without what stands behind their end. */
static void pack_body(const struct sl_frame *f, unsigned char *to)
{
	const struct body *b = &bodies[f->type];

	memcpy(to, &f->body, b->size);
	for (int i = 0; i < TEXTS && b->text[i].size; i++) {
		char *text = (char *) to + b->text[i].offset;
		size_t n = strlen(text);

		memset(text + n, 0, b->text[i].size - n);
	}
}

int sl_wire_send(int sock, const struct sl_frame *frame, int timeout_ms, struct sl_error *err)
{
	struct packet packet;

	if (!is_type(frame->type))
		return sl_fail(err, SL_EINVAL, "frame: unknown type %d", (int) frame->type);
	if (check_frame(frame, SL_EINVAL, err) < 0)
		return -1;
	packet.head = (struct header) {
		.magic = SL_WIRE_MAGIC, .version = SL_WIRE_VERSION, .type = frame->type,
		.length = bodies[frame->type].size,
	};
	pack_body(frame, packet.body);
	return sl_packet_send(sock, &packet, sizeof(packet.head) + packet.head.length, &frame->fd, frame->fd >= 0,
			      timeout_ms, err);
}

/* -- receiving ------------------------------------------------------------- */

static int unpack_frame(const struct packet *packet, size_t size, struct sl_frame *frame, struct sl_error *err)
{
	const struct header *head = &packet->head;

	if (size < sizeof(*head))
		return sl_fail(err, SL_EFORMAT, "frame: %zu bytes are too few for one", size);
	if (head->magic != SL_WIRE_MAGIC)
		return sl_fail(err, SL_EFORMAT, "frame: magic 0x%x, expected 0x%x", head->magic, SL_WIRE_MAGIC);
	if (head->version != SL_WIRE_VERSION)
		return sl_fail(err, SL_EVERSION, "frame: version %u, expected %u", head->version, SL_WIRE_VERSION);
	if (!is_type(head->type))
		return sl_fail(err, SL_EFORMAT, "frame: unknown type %" PRIu32, head->type);
	if (head->length != bodies[head->type].size || size != sizeof(*head) + head->length || head->zero)
		return sl_fail(err, SL_EFORMAT, "frame %s: %zu bytes, the header says %" PRIu32 ", expected %" PRIu32,
			       bodies[head->type].name, size - sizeof(*head), head->length, bodies[head->type].size);
	frame->type = head->type;
	frame->length = head->length;
	memset(&frame->body, 0, sizeof(frame->body));
	memcpy(&frame->body, packet->body, head->length);
	return check_frame(frame, SL_EFORMAT, err);
}

int sl_wire_recv(int sock, struct sl_frame *frame, int timeout_ms, struct sl_error *err)
{
	struct sl_error own;
	struct packet packet;
	struct sl_packet_fds fds;
	size_t size;
	int rc;

	err = err ? err : &own;
	frame->fd = -1;
	rc = sl_packet_recv(sock, &packet, sizeof(packet), &size, &fds, timeout_ms, err);
	if (rc < 0 && err->code == SL_EFORMAT)
		return sl_fail_in(err, "frame");
	if (rc <= 0)
		return rc;
	if (fds.count > 1)
		sl_fail(err, SL_EFORMAT, "frame: %d descriptors are attached, expected at most one", fds.count);
	frame->fd = fds.count ? fds.fd[0] : -1;
	if (fds.count <= 1 && unpack_frame(&packet, size, frame, err) == 0)
		return 1;
	sl_packet_close(&fds);
	frame->fd = -1;
	return -1;
}

/* -- what is large ---------------------------------------------------------- */

int sl_wire_memfd(const char *name, const void *bytes, size_t size, struct sl_error *err)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return sl_fail(err, SL_EIO, "memfd %s: %s", name, strerror(errno));
	if (sl_write_all(fd, bytes, size) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
		goto error;
	return fd;
error:
	sl_fail(err, SL_EIO, "memfd %s: %s", name, strerror(errno));
	close(fd);
	return -1;
}

int sl_wire_map(int fd, const void **bytes, size_t *size, struct sl_error *err)
{
	int seals = fcntl(fd, F_GET_SEALS), need = F_SEAL_SHRINK | F_SEAL_WRITE;
	struct stat st;
	void *p;

	if (seals < 0 || (seals & need) != need)
		return sl_fail(err, SL_EFORMAT, "memfd: not sealed against shrinking and writing");
	if (fstat(fd, &st) < 0)
		return sl_fail(err, SL_EIO, "memfd: %s", strerror(errno));
	if (st.st_size <= 0)
		return sl_fail(err, SL_EFORMAT, "memfd: empty");
	if ((uintmax_t) st.st_size > SL_IMAGE_MAX_SIZE)
		return sl_fail(err, SL_ELIMIT, "memfd: %jd bytes, the most is %zu", (intmax_t) st.st_size,
			       SL_IMAGE_MAX_SIZE);
	if ((intmax_t) st.st_blocks * 512 < (intmax_t) st.st_size)
		return sl_fail(err, SL_EFORMAT, "memfd: has holes");
	/* Private: older kernels refuse a shared mapping of what is sealed. */
	p = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (p == MAP_FAILED)
		return sl_fail(err, SL_EIO, "memfd: %s", strerror(errno));
	*bytes = p;
	*size = st.st_size;
	return 0;
}

void sl_wire_unmap(const void *bytes, size_t size)
{
	if (bytes)
		munmap((void *) (uintptr_t) bytes, size);
}
