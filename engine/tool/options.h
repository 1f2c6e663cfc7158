/* SPDX-License-Identifier: MIT */
/*
 * options.h - the options of a verb, in one table.
 *
 * A table says each option's name, type, range, default and meaning.  The same
 * table parses the command line, prints --help and prints the man page, so that
 * the three cannot differ.
 *
 * Ownership: tables are constant; string values point into argv.  Threads: none.
 */
#ifndef SL_OPTIONS_H
#define SL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

/* The type of an option, and of the field of the values struct it is put in. */
enum sl_option_type {
	SL_OPTION_FLAG,		/* bool; takes no value */
	SL_OPTION_INTEGER,	/* int64_t, min <= value <= max */
	SL_OPTION_NUMBER,	/* double, min <= value <= max */
	SL_OPTION_TEXT,		/* const char *, not empty */
	SL_OPTION_WORD,		/* const char *; its value may be left out and is "" then; without *argument* it takes none */
};

struct sl_option {
	const char *name;	/* without the dashes; NULL ends a table */
	enum sl_option_type type;
	size_t offset;		/* of the field in the values struct */
	double min, max;	/* of numbers */
	const char *standard;	/* default, as one would write it; NULL: none (false, 0, NULL) */
	const char *argument;	/* what to call the value: "FILE" */
	const char *doc;	/* one sentence, no full stop */
	char letter;		/* its short form, as Slurm's commands have it: 'N' of -N4 and -N 4; 0: none */
};

/* Rows that several verbs have; *values* is the tag of the values struct, whose field has the option's name. */
#define SL_JSON_OPTION(values)									\
	{ .name = "json", .type = SL_OPTION_FLAG, .offset = offsetof(struct values, json),	\
	  .doc = "print one JSON object; its keys are listed in the man page" }
#define SL_DIR_OPTION(values)									\
	{ .name = "dir", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, dir), .argument = "DIRECTORY",	\
	  .doc = "where the plug-in keeps its state; default: schedlua under Slurm's StateSaveLocation" }
#define SL_POLICY_OPTIONS(values)								\
	{ .name = "policy", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, policy),	\
	  .argument = "NAME[,OPTION=VALUE]...", .standard = "easy",				\
	  .doc = "decide with this policy: a name, or a path that ends in .lua" },		\
	{ .name = "site", .type = SL_OPTION_TEXT, .offset = offsetof(struct values, site), .argument = "FILE",	\
	  .doc = "decide as this site file says; --policy is then not looked at" }

/* A verb of the tool: one cmd_*.c each. */
struct sl_verb {
	const char *name;
	const char *operands;	/* "[OPTION]... SNAPSHOT" */
	const char *summary;	/* one line, lower case, no full stop */
	const struct sl_option *options;
	int (*run)(const struct sl_verb *verb, int argc, char **argv);
};

/* What came of a command line. */
struct sl_command {
	int operands;		/* argv[0] ... argv[operands-1] */
	bool help;		/* --help was among them: nothing else was looked at */
};

/*
 * Parse argv[0..argc-1], which holds no program name: "--name=value", "--name
 * value", "--flag", "--word", "--word=value", "-Nvalue", "-N value"; "--" ends the options; operands may stand anywhere and are
 * moved to the front of argv.  *values gets the defaults first.  Returns 0, or
 * -1 with *err (SL_EINVAL) saying which option, and what was expected.
 */
int sl_options_parse(const struct sl_option *table, void *values, int argc, char **argv,
		     struct sl_command *cmd, struct sl_error *err);

/* Does the option have a value whenever it is there? */
bool sl_option_needs_value(const struct sl_option *o);

/* Print what --help says of a verb. */
void sl_verb_help(const struct sl_verb *verb, FILE *out);

/* What an option means, with its range and default, as one sentence. */
void sl_option_doc(const struct sl_option *o, char *text, size_t size);

#endif
