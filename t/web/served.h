/* SPDX-License-Identifier: MIT */
/*
 * A real schedlua serve before clients, on a state of two nodes and two jobs. Each test has a server of its own and ends it; one
 * that a failure leaves behind end_left_server() ends. For programs of cmocka; what cannot be is a failure of the test.
 */
#ifndef T_WEB_SERVED_H
#define T_WEB_SERVED_H

#include <stdint.h>
#include <sys/types.h>

#define LIMIT_MS 60000		/* of an answer that never comes */

struct server {
	pid_t pid;
	int said;		/* its stdout */
	char dir[64], path[80];
	uint16_t port;		/* 0: on a socket */
};

/* A server on a directory of state that it makes, with status.json saying *private_data* and one more option, or NULL. */
struct server serve(const char *private_data, const char *option);

/* One on that directory, on a socket of that path (a port that is free where *path* is ""); it serves when this returns. */
struct server serve_on(const char *state, const char *path, const char *option);

/* Its exit status after that signal, or minus the signal that ended it. */
int end_server(struct server *s, int signal);

/* It ends by itself when it is told to, and leaves no socket behind. */
void end_server_well(struct server *s);
int end_left_server(void **state);

/* A file in its directory of state. */
void write_file(const struct server *s, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A connection, or -1 where the queue of those that were not taken yet is full; call() fails then. */
int try_call(const struct server *s);
int call(const struct server *s);

/* As much of it as is taken: a server may hang up. */
void send_text(int fd, const char *text, size_t size);

/* The answer to raw text, after which this side says no more, and to a GET with that header ("" or "Key: value\r\n"). To be freed. */
char *say(const struct server *s, const char *text, size_t size);
char *get(const struct server *s, const char *path, const char *header);
int status_of(const char *answer);

/* GET has that status and text, or does not have that text. */
void expect(const struct server *s, const char *path, const char *header, int status, const char *has);
void expect_without(const struct server *s, const char *path, const char *header, const char *has_not);

/* Alive, and of use. */
void expect_health(const struct server *s);

/* Open descriptors of the server. */
unsigned count_files(const struct server *s);

#endif
