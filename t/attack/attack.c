/* SPDX-License-Identifier: MIT */
/*
 * attack.c - hostile policies, made from what the state itself offers.
 *
 *	t/attack/attack [-n COUNT] [-s SEED] [-k DIR] [-j JOBS]	so many chunks, from this seed on
 *	t/attack/attack -f FUNCTION [-n COUNT] ...		these attack that function alone
 *	t/attack/attack CHUNK.lua...				these again, each alone
 *
 * A chunk is a policy set that calls one function, its focus, at one stage of a policy's
 * life, with every kind of value in every position (chunk.lua).  Which functions there are is
 * not written down anywhere: a walk over the registry of a fresh state, its tables,
 * metatables and upvalues, finds every C function that was put there, so that a new one is
 * attacked from the day it is added.  It also passes what any call returned to a second
 * function, as each argument and as the value of each key of its options (objects.lua).  A chunk
 * runs in a process of its own, under limits:
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
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lualib.h>

#include "t/attack/functions.h"
#include "t/build.h"
#include "check/check.h"
#include "script/private.h"

#define MEMORY ((size_t) 48 << 20)
#define BUDGET_US INT64_C(1000000)
#define PATIENCE_S 300		/* of wall time, for what waits and does not work */
#define COUNT 500		/* chunks: a minute and a half of processor time, with sanitizers */
#define FUNCTIONS 1000
#define NAME ATTACK_NAME

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
	"site", "parse", "load", "serve", "admit", "allow", "rank", "place", "score", "decide", "loop", "explain",
};
#define STAGES (sizeof(stages) / sizeof(stages[0]))

/* Chunks under way or waiting for one before them to be told. */
#define SLOTS 64

/* Shared with the chunks' processes, which count at the same time. */
static struct shared {
	unsigned functions;
	char name[FUNCTIONS][NAME];
	_Atomic unsigned calls[FUNCTIONS];
	_Atomic unsigned passed[FUNCTIONS];	/* times that all objects were passed to it */
	_Atomic unsigned kinds, keys;		/* the most kinds of objects; the most keys of one function */
	_Atomic unsigned reached[STAGES];
	_Atomic unsigned refused, decided;	/* chunks that did not load; cycles that ended without an error */
	struct progress {
		char step[64];		/* what the chunk is at */
		char wrong[1024];	/* what did not hold */
	} slot[SLOTS];
} *shared;

static struct progress *mine;	/* of this process's chunk */

/* -- what chunks see of the driver ------------------------------------------- */

static const char functions_key, numbers_key;

/* The number of the function whose name is argument 1; -1 when there is none. */
static int number_of(lua_State *L)
{
	int number;

	luaL_checkstring(L, 1);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &numbers_key);
	lua_pushvalue(L, 1);
	number = lua_rawget(L, -2) == LUA_TNUMBER ? (int) lua_tointeger(L, -1) : -1;
	lua_pop(L, 2);
	return number;
}

/* attack.call(name, ...) */
static int attack_call(lua_State *L)
{
	int number = number_of(L);

	if (number >= 0)
		shared->calls[number]++;
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

static void raise_to(_Atomic unsigned *most, lua_Integer n)
{
	unsigned was = *most;

	while (was < n && !atomic_compare_exchange_weak(most, &was, (unsigned) n))
		;
}

/* attack.passed(name, kinds, keys): all objects were passed to that function */
static int attack_passed(lua_State *L)
{
	int number = number_of(L);

	if (number >= 0)
		shared->passed[number]++;
	raise_to(&shared->kinds, luaL_checkinteger(L, 2));
	raise_to(&shared->keys, luaL_checkinteger(L, 3));
	return 0;
}

/*
 * A hole like one that there was, for the suite's own test (test_planted.sh): the suite has to find
 * it.  plan.planted(plan, queue, { bid = b }) ends the process where b is a bid of this cycle.
 */
static int planted(lua_State *L)
{
	sl_lua_check(L, sl_lua_context(L), 1, SL_CLASS_PLAN);
	if (lua_isnoneornil(L, 3))
		return 0;
	sl_lua_check_names(L, 3, "", "place or bid");
	if (lua_getfield(L, 3, "bid") == LUA_TNIL)
		return 0;
	sl_lua_check(L, sl_lua_context(L), -1, SL_CLASS_BID);
	abort();
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

static void push_names(lua_State *L)
{
	lua_newtable(L);
	lua_newtable(L);
	for (unsigned i = 0; i < shared->functions; i++) {
		lua_pushstring(L, shared->name[i]);
		lua_rawseti(L, -3, i + 1);
		lua_pushinteger(L, i);
		lua_setfield(L, -2, shared->name[i]);
	}
	lua_rawsetp(L, LUA_REGISTRYINDEX, &numbers_key);
}

static void give_functions(lua_State *L)
{
	static const luaL_Reg own[] = {
		{ "call", attack_call }, { "reached", attack_reached }, { "passed", attack_passed }, { NULL, NULL }
	};
	int top = lua_gettop(L), found = top + 1;

	attack_find_functions(L);
	if (getenv("ATTACK_PLANT")) {
		lua_pushcfunction(L, planted);
		lua_setfield(L, found, "plan.planted");
	}
	if (!shared->functions)
		note_functions(L, found);
	sl_sandbox_globals(L);
	luaL_newlib(L, own);
	push_names(L);
	lua_setfield(L, -2, "names");
	lua_pushvalue(L, found);
	lua_setfield(L, -2, "functions");
	lua_setfield(L, -2, "attack");
	lua_pushvalue(L, found);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &functions_key);
	lua_settop(L, top);
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

static const char *policy_text, *site_text, *chunk_text, *objects_text;

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
	if (sl_script_explain(s, c, p, limits, 12, &text, NULL, &trace, &err))
		must_be_told(&err, "explain");
	free(text);
	free(trace);
	sl_plan_destroy(p);
	sl_cluster_destroy(c);
}

static struct build *snapshot(const char *machine, unsigned jobs, unsigned partitions)
{
	struct build *b = build_create(machine);
	struct sl_job_row array;
	char name[32];

	for (unsigned i = 1; i < partitions; i++) {
		snprintf(name, sizeof(name), "short%u", i);
		build_partition(b, name, 1, 2);
	}
	build_running(b, (struct build_job) { .id = 1, .nodes = 1, .ends_in = 3600 });
	array = build_row(b, (struct build_job) { .id = 9, .limit = 3600, .tasks = 1 });
	array.array_job_id = 9;
	array.array_pending = 3;
	build_append(b, &array);
	for (unsigned i = 0; i < jobs; i++)
		build_pending(b, (struct build_job) { .id = 10 + i, .limit = 600 * (1 + i % 7), .tasks = 1 + i % 9,
						      .nodes = i % 5 ? 0 : 2, .partition = i % 3 ? 0 : i % partitions });
	build_open(b);
	return b;
}

static void live(const char *text)
{
	const struct sl_bundle_text texts[] = {
		{ "site.lua", site_text }, { "policy", policy_text }, { "chunk", text }, { "objects", objects_text },
		{ "data.conf", "some 1\n" },
	};
	struct sl_bundle_source src = { .site = "site.lua", .text = texts, .texts = sizeof(texts) / sizeof(texts[0]) };
	struct sl_limits limits = { .memory = MEMORY, .budget_us = BUDGET_US };
	struct build *few = snapshot("4x4c1g", 6, 2), *many = snapshot("3x4c+3x8c2g", 40, 40);
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

static const char *only;	/* -f: the function of all chunks */

static char *make_chunk(unsigned long long seed, unsigned number)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	/* The two functions of a chunk are half the list apart: each function is one of them before any is again. */
	fprintf(f, "local chunk = { seed = %llu, stage = \"%s\", focus = \"%s\", objects = \"%s\" }\n%s", seed + number,
		stages[(number + number / shared->functions) % STAGES],
		only ? only : shared->name[number % shared->functions],
		only ? only : shared->name[(number + shared->functions / 2) % shared->functions], chunk_text);
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

/* How many functions of those that are attacked have the figure 0; they are told. */
static unsigned count_zeros(const _Atomic unsigned figure[FUNCTIONS], const char *what)
{
	unsigned zeros = 0;

	for (unsigned i = 0; i < shared->functions; i++)
		if (!figure[i] && (!only || !strcmp(only, shared->name[i]))) {
			printf("# %s: %s\n", what, shared->name[i]);
			zeros++;
		}
	return zeros;
}

static int attack_all(unsigned count, unsigned long long seed, const char *keep, unsigned jobs)
{
	unsigned failed, untouched = 0, unpassed = 0, missed = 0;

	printf("1..5\n# seed %llu, %u chunks, %u functions, %u at a time\n", seed, count, shared->functions, jobs);
	failed = run_all(count, seed, keep, jobs);
	tell(1, !failed, "each chunk ends in time and within its memory, with a message and a plan that can be checked");
	untouched = count_zeros(shared->calls, "not reached");
	tell(2, !untouched, "every function that a state has was called");
	for (size_t i = 0; i < STAGES; i++)
		if (!shared->reached[i]) {
			printf("# not reached: %s\n", stages[i]);
			missed++;
		}
	tell(3, !missed, "every stage of a policy's life was reached");
	tell(4, 2 * shared->refused < count && shared->decided > count,
	     "most chunks are loaded, and most of their cycles come to an end");
	unpassed = count < 2 * shared->functions ? 0 : count_zeros(shared->passed, "no object was passed to");
	/* a chunk can run out of time before it comes to that, twice of the same function too */
	unpassed = unpassed > shared->functions / 50 ? unpassed : 0;
	tell(5, !unpassed, "what calls returned was passed to the functions");
	printf("# %u kinds of objects, up to %u keys of a function\n", shared->kinds, shared->keys);
	printf("# %u chunks were refused when they were loaded; %u cycles ended without an error\n", shared->refused,
	       shared->decided);
	return failed || untouched || unpassed || missed || 2 * shared->refused >= count || shared->decided <= count;
}

int main(int argc, char **argv)
{
	const char *keep = ".", *from = getenv("ATTACK_SEED"), *many = getenv("ATTACK_COUNT");
	unsigned long long seed = from && *from ? strtoull(from, NULL, 10) : 1;
	unsigned count = many && *many ? (unsigned) strtoul(many, NULL, 10) : COUNT;
	long jobs = sysconf(_SC_NPROCESSORS_ONLN);
	int c, failed = 0;

	while ((c = getopt(argc, argv, "f:n:s:k:j:")) != -1)
		switch (c) {
		case 'f': only = optarg; break;
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
	objects_text = own_text("objects.lua");
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
