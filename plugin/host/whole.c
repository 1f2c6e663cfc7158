/* SPDX-License-Identifier: GPL-2.0-or-later */
/* whole.c - see whole.h */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "plugin/host/whole.h"

static int read_at(int fd, void *to, size_t size, uint64_t at)
{
	return at < INT64_MAX && pread(fd, to, size, (off_t) at) == (ssize_t) size ? 0 : -1;
}

static bool ends_within(uint64_t offset, uint64_t size, uint64_t file)
{
	return offset <= file && size <= file - offset;
}

/* The headers of an open file of *size* bytes. */
static int check_headers(int fd, uint64_t size, const char *path, struct sl_error *err)
{
	const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
	ElfW(Ehdr) head;
	ElfW(Phdr) segment;

	if (read_at(fd, &head, sizeof(head), 0) || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
	    head.e_ident[EI_CLASS] != class || head.e_type != ET_DYN || head.e_phentsize != sizeof(segment))
		return sl_fail(err, SL_EFORMAT, "%s: no shared object of this machine", path);
	if (!ends_within(head.e_shoff, (uint64_t) head.e_shnum * head.e_shentsize, size))
		return sl_fail(err, SL_EFORMAT, "%s: cut off: its table of sections is not all there", path);
	for (unsigned i = 0; i < head.e_phnum; i++) {
		if (read_at(fd, &segment, sizeof(segment), head.e_phoff + (uint64_t) i * sizeof(segment)) ||
		    !ends_within(segment.p_offset, segment.p_filesz, size))
			return sl_fail(err, SL_EFORMAT, "%s: cut off: a segment is not all there", path);
	}
	return 0;
}

int sl_whole_elf(const char *path, struct sl_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		rc = sl_fail(err, SL_EIO, "%s: %s", path, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		rc = sl_fail(err, SL_EIO, "%s: no regular file", path);
	} else {
		rc = check_headers(fd, (uint64_t) st.st_size, path, err);
	}
	if (fd >= 0)
		close(fd);
	return rc;
}
