/* SPDX-License-Identifier: MIT */
#include "process/call_filter.h"

#include <errno.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
int sl_call_filter(const struct sl_call *call, size_t calls, struct sl_error *err)
{
	(void) call, (void) calls, (void) err;
	return 0;
}
#else
int sl_call_filter(const struct sl_call *call, size_t calls, struct sl_error *err)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int rc = filter ? 0 : -ENOMEM;

	for (size_t i = 0; i < calls && !rc; i++) {
		rc = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call[i].number, call[i].tests, call[i].test);
		if (rc == -EDOM)	/* a call that this machine has not */
			rc = 0;
	}
	if (!rc)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	if (rc == -EINVAL)		/* a kernel without filters */
		return 0;
	return rc ? sl_fail(err, SL_EIO, "a filter of %zu system calls: %s", calls, strerror(-rc)) : 1;
}
#endif
