/* SPDX-License-Identifier: MIT */
#include "call_filter.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#if defined(__SANITIZE_ADDRESS__)
#elif defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t) offsetof(struct seccomp_data, field))
#define LOAD_ARGUMENT(n) LOAD(args[n])	/* its low half: little-endian machines only */
#define JUMP(op, k, yes, no) BPF_JUMP(BPF_JMP | (op) | BPF_K, (k), (yes), (no))
#define SAY(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define REFUSE(e) (SECCOMP_RET_ERRNO | (e))

#define HEAD 5		/* instructions before the first call */
#define PER_CALL 7	/* at most */

/* One call whose number is loaded; its tests follow each other. */
static size_t put_call(struct sock_filter *code, const struct sl_call *call, size_t same)
{
	size_t n = 1;	/* the jump over all of this comes first */

	for (size_t i = 0; i < same; i++) {
		if (call[i].test == SL_CALL_ANY) {
			code[n++] = (struct sock_filter) SAY(SECCOMP_RET_ALLOW);
			continue;
		}
		code[n++] = (struct sock_filter) LOAD_ARGUMENT(call[i].argument);
		if (call[i].test == SL_CALL_WITHOUT)
			code[n++] = (struct sock_filter) JUMP(BPF_JSET, call[i].value, 1, 0);
		else
			code[n++] = (struct sock_filter) JUMP(BPF_JEQ, call[i].value, 0,
							      call[i].test == SL_CALL_BOTH ? 3 : 1);
		if (call[i].test == SL_CALL_BOTH) {
			code[n++] = (struct sock_filter) LOAD_ARGUMENT(call[i].argument + 1);
			code[n++] = (struct sock_filter) JUMP(BPF_JEQ, call[i].next, 0, 1);
		}
		code[n++] = (struct sock_filter) SAY(SECCOMP_RET_ALLOW);
	}
	code[n++] = (struct sock_filter) SAY(REFUSE(EPERM));
	code[0] = (struct sock_filter) JUMP(BPF_JEQ, call->number, 0, (uint8_t) (n - 1));
	return n;
}

int sl_call_filter(const struct sl_call *call, size_t calls, struct sl_error *err)
{
	const struct sock_filter head[HEAD] = {
		LOAD(arch),
		JUMP(BPF_JEQ, ARCHITECTURE, 0, 2),
		LOAD(nr),
		JUMP(BPF_JGE, 0x40000000u, 0, 1),	/* another ABI of x86-64 */
		SAY(REFUSE(ENOSYS)),
	};
	struct sock_filter code[HEAD + PER_CALL * SL_CALL_MAX + 1];
	struct sock_fprog program = { .filter = code };
	size_t n = HEAD, same;

	if (calls > SL_CALL_MAX)
		return sl_fail(err, SL_EINVAL, "filter of %zu system calls: the most is %d", calls, SL_CALL_MAX);
	memcpy(code, head, sizeof(head));
	for (size_t i = 0; i < calls; i += same) {
		for (same = 1; i + same < calls && call[i + same].number == call[i].number; same++)
			;
		n += put_call(code + n, call + i, same);
	}
	code[n++] = (struct sock_filter) SAY(REFUSE(ENOSYS));
	program.len = (unsigned short) n;
	/* EINVAL: a kernel without filters */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) && errno != EINVAL)
		return sl_fail(err, SL_EIO, "PR_SET_SECCOMP: %s", strerror(errno));
	return 0;
}
#else
int sl_call_filter(const struct sl_call *call, size_t calls, struct sl_error *err)
{
	(void) call, (void) calls, (void) err;
	return 0;
}
#endif
