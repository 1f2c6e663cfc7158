/* SPDX-License-Identifier: MIT */
/* Children that harden themselves and then try something, and what they try it on. For programs of cmocka. */
#ifndef T_PROCESS_HARDENED_H
#define T_PROCESS_HARDENED_H

#include <stdbool.h>
#include <sys/types.h>

#include "process/harden.h"

#if defined(__SANITIZE_ADDRESS__)
static const bool sanitized = true;	/* process/harden.h says what is not there then */
#else
static const bool sanitized = false;
#endif

#define NOBODY 65534
#define SKIPPED 77
#define EXPECT(n, condition) do { if (!(condition)) return (n); } while (0)

/* Who hardens, and on which kernel. */
enum { AS_ROOT = 1, AS_USER = 2, NO_LANDLOCK = 4 };

/* A directory with one, *inside*, that may be read, and with two files that may not: anybody's, and its owner's only. */
extern char dir[64], inside[96], outside[96], secret[96];
extern pid_t victim;		/* another process of the same user, which lets itself be traced */
extern int victim_proc;		/* its directory in /proc, open since before */

extern const struct sl_harden usual;
extern struct sl_harden_holds holds;	/* of the child that hardened itself */

int hardened_set_up(void **state);
int hardened_tear_down(void **state);

/* This process: from now on its kernel has no Landlock; it is a plain user's, with what those have in /proc. */
void forget_landlock(void);
void become_user(void);

/* Run *attempt* in a hardened child. Returns its exit status, or minus the signal. */
int hardened_as(int how, const struct sl_harden *h, int (*attempt)(void));

/* The same of one that does *prepare* before it hardens itself; with *h* NULL it does not. */
int hardened_after(int how, int (*prepare)(struct sl_error *err), const struct sl_harden *h, int (*attempt)(void));

/* As whoever this is, as a plain user, and both without Landlock: 0 each time, or SKIPPED. */
void everywhere(const struct sl_harden *h, int (*attempt)(void));

#endif
