/* SPDX-License-Identifier: MIT */
/*
 * landlock.c - by its system calls: the C library has no functions for them, and the
 * kernel's header, where there is one, may be older than the kernel.
 */
#include "process/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The same numbers on every machine. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

#define ASK_VERSION 1u
#define RULE_PATH_BENEATH 1

/* Rights that a ruleset takes away, but for where a rule gives them. */
#define FS_WRITE_FILE (UINT64_C(1) << 1)
#define FS_READ_FILE (UINT64_C(1) << 2)
#define FS_READ_DIR (UINT64_C(1) << 3)
#define FS_REMOVE_FILE (UINT64_C(1) << 5)
#define FS_MAKE_REG (UINT64_C(1) << 8)
#define FS_TRUNCATE (UINT64_C(1) << 14)
#define FS_OF_FILES (FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE)

struct ruleset {
	uint64_t fs, net, scoped;
};

struct beneath {
	uint64_t rights;
	int32_t fd;
} __attribute__((packed));

/* All that this version knows, and how much of the struct. */
static struct ruleset known_rights(int version, size_t *size)
{
	struct ruleset r = { .fs = (UINT64_C(1) << 13) - 1 };

	if (version >= 2)
		r.fs |= UINT64_C(1) << 13;	/* move between directories */
	if (version >= 3)
		r.fs |= FS_TRUNCATE;
	if (version >= 5)
		r.fs |= UINT64_C(1) << 15;	/* ioctl() of devices */
	r.net = version >= 4 ? 3 : 0;		/* TCP: bind, connect */
	r.scoped = version >= 6 ? 3 : 0;	/* abstract sockets, signals */
	*size = version >= 6 ? sizeof(r) : version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
	return r;
}

static int fail_errno(struct sl_error *err, const char *what)
{
	return sl_fail(err, SL_EIO, "Landlock: %s: %s", what, strerror(errno));
}

static int allow_path(int rules, const struct sl_landlock_path *p, uint64_t known, struct sl_error *err)
{
	struct beneath b = { .rights = FS_READ_FILE | FS_READ_DIR };
	struct stat st;
	int rc = 0;

	b.fd = open(p->path, O_PATH | O_CLOEXEC);
	if (b.fd < 0)
		return 0;
	if (p->write)
		b.rights |= FS_WRITE_FILE | FS_REMOVE_FILE | FS_MAKE_REG | FS_TRUNCATE;
	if (fstat(b.fd, &st))
		rc = fail_errno(err, p->path);
	if (!rc && !S_ISDIR(st.st_mode))
		b.rights &= FS_OF_FILES;
	b.rights &= known;
	if (!rc && syscall(SYS_landlock_add_rule, rules, RULE_PATH_BENEATH, &b, 0u))
		rc = fail_errno(err, p->path);
	close(b.fd);
	return rc;
}

int sl_landlock(const struct sl_landlock_path *path, unsigned paths, struct sl_error *err)
{
	int version = (int) syscall(SYS_landlock_create_ruleset, NULL, (size_t) 0, ASK_VERSION), rules, rc = 0;
	struct ruleset all;
	size_t size;

	if (version < 1)
		return 0;	/* ENOSYS: not in this kernel; EOPNOTSUPP: switched off */
	all = known_rights(version, &size);
	rules = (int) syscall(SYS_landlock_create_ruleset, &all, size, 0u);
	if (rules < 0)
		return fail_errno(err, "a set of rules");
	for (unsigned i = 0; i < paths && !rc; i++)
		rc = allow_path(rules, &path[i], all.fs, err);
	if (!rc && syscall(SYS_landlock_restrict_self, rules, 0u))
		rc = fail_errno(err, "restrict");
	close(rules);
	return rc ? rc : version;
}
