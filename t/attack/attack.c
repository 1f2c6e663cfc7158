/* SPDX-License-Identifier: MIT */
/*
 * attack.c - hostile policies, made from what the state itself offers.
 *
 *	t/attack/attack [-n COUNT] [-s SEED] [-k DIR] [-j JOBS]	so many chunks, from this seed on
 *	t/attack/attack CHUNK.lua...				these again, each alone
 *
 * A chunk is a policy set that calls one function, its focus, at one stage of a policy's
 * life, with every kind of value in every position (chunk.lua).  Which functions there are is
 * not written down anywhere: a walk over the registry of a fresh state, its tables,
 * metatables and upvalues, finds every C function that was put there, so that a new one is
 * attacked from the day it is added.  A chunk runs in a process of its own, under limits:
 * load, three cycles on two snapshots in one state, an explanation.  It has held if each of
 * these ends by itself within twice the budget and twice the cap of memory, if every failure
 * has a message, and if every plan, whatever was done to it, is one that the checker takes.
 * Meant to be built with sanitizers and with a Lua that checks its API (checked_lua in
 * quickstart).
 *
 * As many chunks run side by side as there are processors (JOBS); what a chunk does depends on
 * its seed alone, and results are told in the order of their numbers.
 *
 * Speaks TAP.  A chunk that has not held is written to DIR, with the seed in its first line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lualib.h>

#include "t/build.h"
#include "base/grow.h"
#include "base/order.h"
#include "check/check.h"
#include "script/private.h"

#define MEMORY ((size_t) 48 << 20)
#define BUDGET_US INT64_C(1000000)
#define PATIENCE_S 300		/* of wall time, for what waits and does not work */
#define COUNT 500		/* chunks: a minute and a half of processor time, with sanitizers */
#define FUNCTIONS 1000
#define NAME 96

#ifdef __SANITIZE_ADDRESS__
#define OVERHEAD 4		/* red zones and shadow; what was freed waits in quarantine */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8:detect_leaks=0:allocator_may_return_null=1";
}
#else
#define OVERHEAD 1
#endif

static const char *const stages[] = {
	"site", "parse", "load", "serve", "admit", "allow", "rank", "decide", "loop", "explain",
};
#define STAGES (sizeof(stages) / sizeof(stages[0]))

/* Chunks under way or waiting for one before them to be told. */
#define SLOTS 64

/* Shared with the chunks' processes, which count at the same time. */
static struct shared {
	unsigned functions;
	char name[FUNCTIONS][NAME];
	_Atomic unsigned calls[FUNCTIONS];
	_Atomic unsigned reached[STAGES];
	_Atomic unsigned refused, decided;	/* chunks that did not load; cycles that ended without an error */
	struct progress {
		char step[64];		/* what the chunk is at */
		char wrong[1024];	/* what did not hold */
	} slot[SLOTS];
} *shared;

static struct progress *mine;	/* of this process's chunk */

/* -- the functions of a state ---------------------------------------------- */

static const char functions_key, numbers_key;

/* Where the walk is: stack indices of { [function] = true } and { [name] = function }. */
struct walk {
	lua_State *L;
	int seen, found;
};

struct key {
	int type;
	const char *text;		/* the table keeps it */
	lua_Integer integer;
	const void *pointer;
};

static int by_key(const void *va, const void *vb)
{
	const struct key *a = va, *b = vb;

	if (a->type != b->type)
		return a->type - b->type;
	if (a->text)
		return strcmp(a->text, b->text);
	return SL_ORDER(a->integer, b->integer) ?: SL_ORDER(a->pointer, b->pointer);
}

static void visit(struct walk *w, const char *path);

/* In the order of keys: names must be the same in each process. */
static void visit_table(struct walk *w, int table, const char *path)
{
	lua_State *L = w->L;
	struct key *keys = NULL;
	uint32_t count = 0;
	char name[NAME];

	for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
		struct key key = { lua_type(L, -2), NULL, 0, NULL };

		if (key.type == LUA_TSTRING)
			key.text = lua_tostring(L, -2);
		else if (lua_isinteger(L, -2))
			key.integer = lua_tointeger(L, -2);
		else if (key.type == LUA_TLIGHTUSERDATA)
			key.pointer = lua_touserdata(L, -2);
		else
			continue;
		if (sl_grow_list(&keys, count, sizeof(*keys), NULL))
			abort();
		keys[count++] = key;
	}
	if (count)
		qsort(keys, count, sizeof(*keys), by_key);
	for (size_t i = 0; i < count; i++) {
		const char *own = keys[i].text;

		/* finalizers are the collector's alone */
		if (own && (!strcmp(own, "__gc") || !strcmp(own, "__close")))
			continue;
		if (own)
			lua_pushstring(L, own);
		else if (keys[i].type == LUA_TLIGHTUSERDATA)
			lua_pushlightuserdata(L, (void *) keys[i].pointer);
		else
			lua_pushinteger(L, keys[i].integer);
		lua_rawget(L, table);
		if (!own || (!strcmp(own, "__index") && !lua_isfunction(L, -1)))
			snprintf(name, sizeof(name), "%s", path);
		else
			snprintf(name, sizeof(name), "%.40s%s%.40s", path, *path ? "." : "", own);
		visit(w, name);
	}
	free(keys);
}

static void found(struct walk *w, int function, const char *path)
{
	char name[NAME + 16];
	lua_State *L = w->L;

	snprintf(name, sizeof(name), "%s", *path ? path : "function");
	for (int n = 2; lua_getfield(L, w->found, name) != LUA_TNIL; n++) {
		lua_pop(L, 1);
		snprintf(name, sizeof(name), "%s/%d", *path ? path : "function", n);
	}
	lua_pop(L, 1);
	lua_pushvalue(L, function);
	lua_setfield(L, w->found, name);
}

/* The value on the top, which is popped. */
static void visit(struct walk *w, const char *path)
{
	lua_State *L = w->L;
	int at = lua_gettop(L), type = lua_type(L, at);
	const char *label = path;

	luaL_checkstack(L, 20, NULL);
	lua_pushvalue(L, at);
	if ((type != LUA_TTABLE && type != LUA_TFUNCTION && type != LUA_TUSERDATA) || lua_rawget(L, w->seen) != LUA_TNIL) {
		lua_settop(L, at - 1);
		return;
	}
	lua_pushvalue(L, at);
	lua_pushboolean(L, 1);
	lua_rawset(L, w->seen);
	if (lua_iscfunction(L, at))
		found(w, at, path);
	if (type == LUA_TTABLE) {
		/* a class is called what it calls itself */
		lua_pushliteral(L, "__name");
		if (lua_rawget(L, at) == LUA_TSTRING)
			label = lua_tostring(L, -1);
		visit_table(w, at, label);
	}
	for (int i = 1; type == LUA_TFUNCTION && lua_getupvalue(L, at, i); i++) {
		char name[NAME];

		/* the fields of a class are an upvalue of its __index */
		snprintf(name, sizeof(name), "%.*s", (int) (strlen(path) - (strstr(path, ".__") ? strlen(strstr(path, ".__")) : 0)),
			 path);
		visit(w, name);
	}
	if (type != LUA_TFUNCTION && lua_getmetatable(L, at))
		visit(w, path);
	lua_settop(L, at - 1);
}

/* -- what chunks see of the driver ------------------------------------------- */

/* attack.call(name, ...) */
static int attack_call(lua_State *L)
{
	luaL_checkstring(L, 1);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &numbers_key);
	lua_pushvalue(L, 1);
	if (lua_rawget(L, -2) == LUA_TNUMBER)
		shared->calls[lua_tointeger(L, -1)]++;
	lua_pop(L, 2);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &functions_key);
	lua_pushvalue(L, 1);
	lua_rawget(L, -2);
	lua_replace(L, 1);
	lua_pop(L, 1);
	lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
	return lua_gettop(L);
}

/* attack.reached(stage) */
static int attack_reached(lua_State *L)
{
	const char *stage = luaL_checkstring(L, 1);

	for (size_t i = 0; i < STAGES; i++)
		if (!strcmp(stages[i], stage))
			shared->reached[i]++;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The first state's functions are everybody's. */
static void note_functions(lua_State *L, int functions)
{
	for (lua_pushnil(L); lua_next(L, functions); lua_pop(L, 1)) {
		if (shared->functions == FUNCTIONS)
			luaL_error(L, "more than %d functions", FUNCTIONS);
		snprintf(shared->name[shared->functions++], NAME, "%s", lua_tostring(L, -2));
	}
	qsort(shared->name, shared->functions, NAME, by_name);
}

static void give_functions(lua_State *L)
{
	struct walk w = { L, lua_gettop(L) + 1, lua_gettop(L) + 2 };

	lua_newtable(L);
	lua_newtable(L);
	lua_pushvalue(L, LUA_REGISTRYINDEX);
	visit(&w, "");
	if (!shared->functions)
		note_functions(L, w.found);
	sl_sandbox_globals(L);
	lua_newtable(L);
	lua_pushcfunction(L, attack_call);
	lua_setfield(L, -2, "call");
	lua_pushcfunction(L, attack_reached);
	lua_setfield(L, -2, "reached");
	lua_newtable(L);
	lua_newtable(L);
	for (unsigned i = 0; i < shared->functions; i++) {
		lua_pushstring(L, shared->name[i]);
		lua_rawseti(L, -3, i + 1);
		lua_pushinteger(L, i);
		lua_setfield(L, -2, shared->name[i]);
	}
	lua_rawsetp(L, LUA_REGISTRYINDEX, &numbers_key);
	lua_setfield(L, -2, "names");
	lua_pushvalue(L, w.found);
	lua_setfield(L, -2, "functions");
	lua_setfield(L, -2, "attack");
	lua_pushvalue(L, w.found);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &functions_key);
	lua_settop(L, w.seen - 1);
}

/* Linked in place of the last step of making a state. */
void __real_sl_script_open_modules(lua_State *L);
void __wrap_sl_script_open_modules(lua_State *L);
void __wrap_sl_script_open_modules(lua_State *L)
{
	__real_sl_script_open_modules(L);
	give_functions(L);
}

/* A chunk's budget is of the processor's time: what became of it must not depend on what else
 * this machine does.  Nothing here waits for anything that takes none. */
int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	return __real_clock_gettime(clock == CLOCK_MONOTONIC ? CLOCK_PROCESS_CPUTIME_ID : clock, t);
}

int __real_timer_create(clockid_t clock, struct sigevent *event, timer_t *timer);
int __wrap_timer_create(clockid_t clock, struct sigevent *event, timer_t *timer);
int __wrap_timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
	return __real_timer_create(clock == CLOCK_MONOTONIC ? CLOCK_PROCESS_CPUTIME_ID : clock, event, timer);
}

/* -- files ------------------------------------------------------------------- */

static char *read_text(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = calloc(1, 1 << 18);
	size_t n = f && text ? fread(text, 1, (1 << 18) - 1, f) : 0;

	if (!n) {
		fprintf(stderr, "attack: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	fclose(f);
	return text;
}

static char *own_text(const char *name)
{
	const char *srcdir = getenv("srcdir");
	char path[4096];

	snprintf(path, sizeof(path), "%s/t/attack/%s", srcdir ? srcdir : ".", name);
	return read_text(path);
}

static const char *policy_text, *site_text, *chunk_text;

/* -- one chunk, in a process of its own ---------------------------------------- */

static void step(const char *name)
{
	static timer_t timer;
	static bool made;
	struct sigevent e = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGXCPU };
	struct itimerspec twice = { .it_value = { 2 * BUDGET_US / 1000000, 2 * BUDGET_US % 1000000 * 1000 } };

	snprintf(mine->step, sizeof(mine->step), "%s", name);
	if (!made)
		timer_create(CLOCK_PROCESS_CPUTIME_ID, &e, &timer);
	made = true;
	timer_settime(timer, 0, &twice, NULL);
}

static void __attribute__((format(printf, 1, 2))) broken(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(mine->wrong, sizeof(mine->wrong), format, args);
	va_end(args);
	_exit(1);
}

static void must_be_told(const struct sl_error *err, const char *what)
{
	if (!err->code || !err->text[0])
		broken("%s failed without a message (code %d)", what, err->code);
}

static size_t resident(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (size_t) usage.ru_maxrss << 10;
}

/* A cycle; its plan is taken by the checker, whatever became of the policy. */
static void cycle(struct sl_script *s, struct build *b, const struct sl_limits *limits)
{
	struct sl_plan_figures fig = { 0 };
	struct sl_error err = { 0 }, why = { 0 };
	struct sl_builder *builder = sl_builder_create(&sl_plan_schema, &why);
	struct sl_cluster *c = sl_cluster_create(&b->snap, &why);
	struct sl_plan *p = sl_plan_create(c, &why);
	struct sl_plan_image image;
	const void *bytes;
	char *trace;
	size_t size;
	int r;

	step("decide");
	r = sl_script_decide(s, c, p, limits, &fig, &trace, &err);
	if (r)
		must_be_told(&err, "decide");
	shared->decided += !r;
	if (r < 0)
		broken("decide: the state is unusable: %s", err.text);
	step("encode");
	if (sl_plan_encode(p, &fig, builder, &why) || sl_builder_finish(builder, &bytes, &size, &why) ||
	    sl_plan_image_open(&image, bytes, size, &why) || sl_check_plan(&b->snap, &image, &why))
		broken("the plan: %s", why.text);
	free(trace);
	sl_plan_destroy(p);
	sl_cluster_destroy(c);
	sl_builder_destroy(builder);
}

static void explain(struct sl_script *s, struct build *b, const struct sl_limits *limits)
{
	struct sl_error err = { 0 };
	struct sl_cluster *c = sl_cluster_create(&b->snap, &err);
	struct sl_plan *p = sl_plan_create(c, &err);
	char *text, *trace;

	step("explain");
	if (sl_script_explain(s, c, p, limits, 12, &text, &trace, &err))
		must_be_told(&err, "explain");
	free(text);
	free(trace);
	sl_plan_destroy(p);
	sl_cluster_destroy(c);
}

static struct build *snapshot(const char *machine, unsigned jobs)
{
	struct build *b = build_create(machine);
	struct sl_job_row array;

	build_partition(b, "short", 1, 2);
	build_running(b, (struct build_job) { .id = 1, .nodes = 1, .ends_in = 3600 });
	array = build_row(b, (struct build_job) { .id = 9, .limit = 3600, .tasks = 1 });
	array.array_job_id = 9;
	array.array_pending = 3;
	build_append(b, &array);
	for (unsigned i = 0; i < jobs; i++)
		build_pending(b, (struct build_job) { .id = 10 + i, .limit = 600 * (1 + i % 7), .tasks = 1 + i % 9,
						      .nodes = i % 5 ? 0 : 2, .partition = i % 3 == 0 });
	build_open(b);
	return b;
}

static void live(const char *text)
{
	const struct sl_bundle_text texts[] = {
		{ "site.lua", site_text }, { "policy", policy_text }, { "chunk", text }, { "data.conf", "some 1\n" },
	};
	struct sl_bundle_source src = { .site = "site.lua", .text = texts, .texts = 4 };
	struct sl_limits limits = { .memory = MEMORY, .budget_us = BUDGET_US };
	struct build *few = snapshot("4x4c1g", 6), *many = snapshot("3x4c+3x8c2g", 40);
	size_t before = resident();
	struct sl_error err = { 0 };
	struct sl_bundle *set;
	struct sl_script *s;
	char *trace;

	step("load");
	set = sl_bundle_load(&src, &limits, &trace, &err);
	free(trace);
	if (!set) {
		must_be_told(&err, "load");
		shared->refused++;
		if (getenv("ATTACK_TELL"))
			broken("refused: %s", err.text);
		return;
	}
	step("create");
	s = sl_script_new(set, &limits, &trace, &err);
	free(trace);
	if (!s) {
		must_be_told(&err, "create");
		sl_bundle_destroy(set);
		return;
	}
	cycle(s, few, &limits);
	cycle(s, many, &limits);
	explain(s, many, &limits);
	cycle(s, few, &limits);
	step("destroy");
	if (s->x.limit.peak > MEMORY)
		broken("Lua took %zu bytes of %zu", s->x.limit.peak, MEMORY);
	if (resident() - before > 2 * OVERHEAD * MEMORY)
		broken("grew by %zu MiB, with a cap of %zu", (resident() - before) >> 20, MEMORY >> 20);
	sl_script_destroy(s);
	sl_bundle_destroy(set);
}

/* -- all chunks ---------------------------------------------------------------- */

static void print_report(FILE *report)
{
	char line[1000];

	rewind(report);
	for (int n = 0; n < 30 && fgets(line, sizeof(line), report); n++)
		printf("#   %s%s", line, strchr(line, '\n') ? "" : "\n");
}

/* One chunk's process. */
struct run {
	pid_t pid;		/* 0: none, or ended */
	int status;
	char *text;
	FILE *report;		/* what it said */
};

static struct run runs[SLOTS];

static void start(unsigned slot, char *text)
{
	struct run *r = &runs[slot];

	r->text = text;
	r->report = tmpfile();
	mine = &shared->slot[slot];
	mine->step[0] = mine->wrong[0] = 0;
	fflush(stdout);
	r->pid = fork();
	if (r->pid < 0 || !r->report) {
		fprintf(stderr, "attack: a chunk's process: %s\n", strerror(errno));
		exit(2);
	}
	if (!r->pid) {
		alarm(PATIENCE_S);
		dup2(fileno(r->report), 2);
		dup2(fileno(r->report), 1);
		live(text);
		_exit(0);
	}
}

static void wait_for_one(void)
{
	int status;
	pid_t pid = waitpid(-1, &status, 0);

	if (pid < 0) {
		fprintf(stderr, "attack: waitpid: %s\n", strerror(errno));
		exit(2);
	}
	for (unsigned i = 0; i < SLOTS; i++)
		if (runs[i].pid == pid) {
			runs[i].pid = 0;
			runs[i].status = status;
		}
}

/* True when the chunk, which has ended, held; one that did not is written to `keep`. */
static bool tell_run(unsigned slot, const char *name, const char *keep)
{
	struct run *r = &runs[slot];
	FILE *f;

	if (r->status) {
		printf("# %s, at %s: %s%s\n", name, shared->slot[slot].step, shared->slot[slot].wrong,
		       WIFSIGNALED(r->status) ? strsignal(WTERMSIG(r->status)) : "");
		print_report(r->report);
	}
	if (r->status && keep && (f = fopen(name, "w"))) {
		fputs(r->text, f);
		fclose(f);
	}
	fclose(r->report);
	free(r->text);
	return !r->status;
}

static char *make_chunk(unsigned long long seed, unsigned number)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	fprintf(f, "local chunk = { seed = %llu, stage = \"%s\", focus = \"%s\" }\n%s", seed + number,
		stages[(number + number / shared->functions) % STAGES], shared->name[number % shared->functions], chunk_text);
	fclose(f);
	return text;
}

/* How many did not hold; 20 are enough. */
static unsigned run_all(unsigned count, unsigned long long seed, const char *keep, unsigned jobs)
{
	unsigned next = 0, told = 0, running = 0, failed = 0;
	char path[4096];

	while (told < count && failed < 20) {
		for (; next < count && next < told + SLOTS && running < jobs; next++, running++)
			start(next % SLOTS, make_chunk(seed, next));
		wait_for_one();
		running--;
		for (; told < next && !runs[told % SLOTS].pid && failed < 20; told++) {
			snprintf(path, sizeof(path), "%s/attack-%llu.lua", keep, seed + told);
			failed += !tell_run(told % SLOTS, path, keep);
		}
	}
	while (running--)
		wait_for_one();
	return failed;
}

/* A state to look at, before anything is attacked. */
static void look(void)
{
	const struct sl_bundle_text module = { "policy", "return { api = 1, decide = function() end }" };
	struct sl_bundle_source src = { .policy = "policy", .text = &module, .texts = 1 };
	struct sl_error err;
	struct sl_bundle *b = sl_bundle_load(&src, NULL, NULL, &err);

	if (!b) {
		fprintf(stderr, "attack: %s\n", err.text);
		exit(2);
	}
	sl_bundle_destroy(b);
}

static void tell(int number, bool ok, const char *what)
{
	printf("%sok %d - %s\n", ok ? "" : "not ", number, what);
}

static int attack_all(unsigned count, unsigned long long seed, const char *keep, unsigned jobs)
{
	unsigned failed, untouched = 0, missed = 0;

	printf("1..4\n# seed %llu, %u chunks, %u functions, %u at a time\n", seed, count, shared->functions, jobs);
	failed = run_all(count, seed, keep, jobs);
	tell(1, !failed, "each chunk ends in time and within its memory, with a message and a plan that can be checked");
	for (unsigned i = 0; i < shared->functions; i++)
		if (!shared->calls[i]) {
			printf("# not reached: %s\n", shared->name[i]);
			untouched++;
		}
	tell(2, !untouched, "every function that a state has was called");
	for (size_t i = 0; i < STAGES; i++)
		if (!shared->reached[i]) {
			printf("# not reached: %s\n", stages[i]);
			missed++;
		}
	tell(3, !missed, "every stage of a policy's life was reached");
	tell(4, 2 * shared->refused < count && shared->decided > count,
	     "most chunks are loaded, and most of their cycles come to an end");
	printf("# %u chunks were refused when they were loaded; %u cycles ended without an error\n", shared->refused,
	       shared->decided);
	return failed || untouched || missed || 2 * shared->refused >= count || shared->decided <= count;
}

int main(int argc, char **argv)
{
	const char *keep = ".", *from = getenv("ATTACK_SEED"), *many = getenv("ATTACK_COUNT");
	unsigned long long seed = from && *from ? strtoull(from, NULL, 10) : 1;
	unsigned count = many && *many ? (unsigned) strtoul(many, NULL, 10) : COUNT;
	long jobs = sysconf(_SC_NPROCESSORS_ONLN);
	int c, failed = 0;

	while ((c = getopt(argc, argv, "n:s:k:j:")) != -1)
		switch (c) {
		case 'n': count = (unsigned) strtoul(optarg, NULL, 10); break;
		case 's': seed = strtoull(optarg, NULL, 10); break;
		case 'k': keep = optarg; break;
		case 'j': jobs = strtol(optarg, NULL, 10); break;
		default: return 2;
		}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	policy_text = own_text("policy.lua");
	site_text = own_text("site.lua");
	chunk_text = own_text("chunk.lua");
	look();
	if (optind == argc)
		return attack_all(count, seed, keep, jobs < 1 ? 1 : jobs > SLOTS ? SLOTS : (unsigned) jobs);
	printf("1..%d\n", argc - optind);
	for (int i = optind; i < argc; i++) {
		bool held;

		start(0, read_text(argv[i]));
		wait_for_one();
		held = tell_run(0, argv[i], NULL);
		tell(i - optind + 1, held, argv[i]);
		failed |= !held;
	}
	return failed;
}
