/* SPDX-License-Identifier: MIT */
#include "model/rank_code.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/request.h"

void sl_rank_code_destroy(struct sl_rank_code *code)
{
	if (!code)
		return;
	for (uint32_t i = 0; i < code->functions; i++)
		free(code->function[i].step);
	for (uint32_t i = 0; i < code->texts; i++)
		free(code->text[i]);
	free(code->function);
	free(code->value);
	free(code->key);
	free(code->element);
	free(code->text);
	free(code);
}

/* -- values of a job ----------------------------------------------------------- */

static struct sl_rank_value of_integer(int64_t i)
{
	return (struct sl_rank_value) { .kind = SL_RANK_INTEGER, .integer = i };
}

static struct sl_rank_value of_number(double d)
{
	return (struct sl_rank_value) { .kind = SL_RANK_FLOAT, .number = d };
}

static struct sl_rank_value of_text(const char *text)
{
	return *text ? (struct sl_rank_value) { .kind = SL_RANK_TEXT, .text = text } : (struct sl_rank_value) { .kind = SL_RANK_NIL };
}

static struct sl_rank_value of_bool(bool b)
{
	return (struct sl_rank_value) { .kind = b ? SL_RANK_TRUE : SL_RANK_FALSE };
}

/* As bind/bind.c pushes the values of a plain column. */
static struct sl_rank_value read_column(const struct sl_rank_key *key, const struct sl_snapshot *snap, uint32_t job)
{
	const void *column = *(const void *const *) ((const char *) &snap->job + key->view_offset);
	uint32_t u32;
	int64_t i64;

	switch (key->of_job) {
	case SL_RANK_U32:
		u32 = ((const uint32_t *) column)[job];
		return u32 == SL_NONE || (key->unsaid && !u32) ? (struct sl_rank_value) { .kind = SL_RANK_NIL } : of_integer(u32);
	case SL_RANK_I64:
		i64 = ((const int64_t *) column)[job];
		if (i64 == SL_UNLIMITED)
			return of_number(HUGE_VAL);
		return key->unsaid && (!i64 || i64 == key->missing) ? (struct sl_rank_value) { .kind = SL_RANK_NIL } : of_integer(i64);
	case SL_RANK_F64:
		return of_number(((const double *) column)[job]);
	case SL_RANK_STR:
		return of_text(sl_snapshot_str(snap, ((const uint32_t *) column)[job]));
	case SL_RANK_FLAG:
		return of_bool(((const uint32_t *) column)[job] >> key->bit & 1);
	default:
		return (struct sl_rank_value) { .kind = SL_RANK_OTHER };
	}
}

/* As bind/job.c computes the values. */
static struct sl_rank_value read_field(const struct sl_rank_key *key, const struct sl_snapshot *snap, uint32_t job, uint32_t partition)
{
	struct sl_rank_value v = { .kind = SL_RANK_OTHER };
	struct sl_ask a;

	switch (key->of_job) {
	case SL_RANK_CPUS:
		a = sl_request_read(snap, job, 0);
		return of_integer(sl_ask_cpus(&a));
	case SL_RANK_TASKS:
		a = sl_request_read(snap, job, 0);
		return of_integer(sl_ask_tasks(&a) ?: (int64_t) a.min_nodes);
	case SL_RANK_GPUS:
		a = sl_request_read(snap, job, 0);
		return of_integer(sl_ask_gpus(snap, &a, a.min_nodes));
	case SL_RANK_SINCE_SUBMITTED:
		v = of_integer(snap->job.submit_time[job]);
		v.kind = SL_RANK_WAITED;
		return v;
	case SL_RANK_USER:
		v = of_text(sl_snapshot_str(snap, snap->job.user[job]));
		if (v.kind == SL_RANK_NIL && snap->job.uid[job] != SL_NONE)	/* a number as a string */
			v.kind = SL_RANK_OTHER;
		return v;
	case SL_RANK_PARTITION:
		return of_text(sl_snapshot_str(snap, snap->partition.name[partition]));
	default:
		return read_column(key, snap, job);
	}
}

void sl_rank_code_read(const struct sl_rank_code *code, const struct sl_snapshot *snap, uint32_t job, uint32_t partition,
		       struct sl_rank_value *field)
{
	for (uint32_t i = 0; i < code->keys; i++)
		field[i] = read_field(&code->key[i], snap, job, partition);
}

/* -- numbers as in Lua ----------------------------------------------------------- */

static bool is_number(const struct sl_rank_value *v)
{
	return v->kind == SL_RANK_INTEGER || v->kind == SL_RANK_FLOAT;
}

static double number_of(const struct sl_rank_value *v)
{
	return v->kind == SL_RANK_INTEGER ? (double) v->integer : v->number;
}

#define EXACT (INT64_C(1) << 53)	/* integers up to this are exact as floats */

static bool is_exact(int64_t i)
{
	return i >= -EXACT && i <= EXACT;
}

/* True if a whole float is in the range of integers. */
static bool fits_integer(double whole)
{
	return whole >= -0x1p63 && whole < 0x1p63;
}

/* integer < float, integer <= float */
static bool integer_less(int64_t i, double f, bool or_equal)
{
	double whole = or_equal ? floor(f) : ceil(f);

	if (is_exact(i))
		return or_equal ? (double) i <= f : (double) i < f;
	if (fits_integer(whole))
		return or_equal ? i <= (int64_t) whole : i < (int64_t) whole;
	return f > 0;
}

/* float < integer, float <= integer */
static bool float_less(double f, int64_t i, bool or_equal)
{
	double whole = or_equal ? ceil(f) : floor(f);

	if (is_exact(i))
		return or_equal ? f <= (double) i : f < (double) i;
	if (fits_integer(whole))
		return or_equal ? (int64_t) whole <= i : (int64_t) whole < i;
	return f < 0;
}

static bool is_less(const struct sl_rank_value *a, const struct sl_rank_value *b, bool or_equal)
{
	if (a->kind == SL_RANK_INTEGER && b->kind == SL_RANK_INTEGER)
		return or_equal ? a->integer <= b->integer : a->integer < b->integer;
	if (a->kind == SL_RANK_INTEGER)
		return integer_less(a->integer, b->number, or_equal);
	if (b->kind == SL_RANK_INTEGER)
		return float_less(a->number, b->integer, or_equal);
	return or_equal ? a->number <= b->number : a->number < b->number;
}

static bool is_equal_to_integer(double f, int64_t i)
{
	return floor(f) == f && fits_integer(f) && (int64_t) f == i;
}

/* 1 if the values are equal, 0 if not, -1: unknown. */
static int is_equal(const struct sl_rank_value *a, const struct sl_rank_value *b)
{
	if (a->kind > SL_RANK_TEXT || b->kind > SL_RANK_TEXT)
		return -1;
	if (a->kind == SL_RANK_INTEGER && b->kind == SL_RANK_FLOAT)
		return is_equal_to_integer(b->number, a->integer);
	if (a->kind == SL_RANK_FLOAT && b->kind == SL_RANK_INTEGER)
		return is_equal_to_integer(a->number, b->integer);
	if (a->kind != b->kind)
		return 0;
	return a->kind == SL_RANK_INTEGER ? a->integer == b->integer : a->kind == SL_RANK_FLOAT ? a->number == b->number :
		a->kind == SL_RANK_TEXT ? !strcmp(a->text, b->text) : 1;
}

/* Integer arithmetic.  False: the operation is for floats, or Lua would raise. */
static bool do_integers(enum sl_rank_arithmetic op, int64_t a, int64_t b, int64_t *r)
{
	switch (op) {
	case SL_RANK_ADD:
		*r = (int64_t) ((uint64_t) a + (uint64_t) b);
		return true;
	case SL_RANK_SUB:
		*r = (int64_t) ((uint64_t) a - (uint64_t) b);
		return true;
	case SL_RANK_MUL:
		*r = (int64_t) ((uint64_t) a * (uint64_t) b);
		return true;
	case SL_RANK_MOD:
		if (b == 0 || b == -1)
			return b && ((void) (*r = 0), true);
		*r = a % b;
		*r += *r && (*r ^ b) < 0 ? b : 0;
		return true;
	case SL_RANK_IDIV:
		if (b == 0 || b == -1)
			return b && ((void) (*r = (int64_t) (0 - (uint64_t) a)), true);
		*r = a / b - ((a ^ b) < 0 && a % b);
		return true;
	case SL_RANK_POW:
	case SL_RANK_DIV:
		break;
	}
	return false;
}

static double do_floats(enum sl_rank_arithmetic op, double a, double b)
{
	double r;

	switch (op) {
	case SL_RANK_ADD:
		return a + b;
	case SL_RANK_SUB:
		return a - b;
	case SL_RANK_MUL:
		return a * b;
	case SL_RANK_DIV:
		return a / b;
	case SL_RANK_IDIV:
		return floor(a / b);
	case SL_RANK_POW:
		return b == 2 ? a * a : pow(a, b);
	case SL_RANK_MOD:
		break;
	}
	r = fmod(a, b);
	return (r > 0 ? b < 0 : r < 0 && b > 0) ? r + b : r;	/* result has the sign of b */
}

static bool do_arithmetic(enum sl_rank_arithmetic op, const struct sl_rank_value *a, const struct sl_rank_value *b,
			  struct sl_rank_value *r)
{
	int64_t i;

	if (!is_number(a) || !is_number(b))
		return false;
	if (a->kind == SL_RANK_INTEGER && b->kind == SL_RANK_INTEGER && op != SL_RANK_POW && op != SL_RANK_DIV) {
		if (!do_integers(op, a->integer, b->integer, &i))
			return false;
		*r = of_integer(i);
		return true;
	}
	*r = of_number(do_floats(op, number_of(a), number_of(b)));
	return true;
}

static bool negate(const struct sl_rank_value *v, struct sl_rank_value *r)
{
	if (!is_number(v))
		return false;
	*r = v->kind == SL_RANK_INTEGER ? of_integer((int64_t) (0 - (uint64_t) v->integer)) : of_number(-v->number);
	return true;
}

/* 1, 0, or -1: unknown. */
static int compare(enum sl_rank_comparison op, const struct sl_rank_value *a, const struct sl_rank_value *b)
{
	if (op == SL_RANK_EQ)
		return is_equal(a, b);
	if (!is_number(a) || !is_number(b))
		return -1;
	return op == SL_RANK_LT ? is_less(a, b, false) : op == SL_RANK_LE ? is_less(a, b, true) :
		op == SL_RANK_GT ? is_less(b, a, false) : is_less(b, a, true);
}

static bool is_true(const struct sl_rank_value *v)
{
	return v->kind != SL_RANK_NIL && v->kind != SL_RANK_FALSE;
}

/* -- functions of math ---------------------------------------------------------- */

static struct sl_rank_value whole(double f)
{
	return fits_integer(f) ? of_integer((int64_t) f) : of_number(f);
}

static double logarithm(double x, double base)
{
	return base == 2 ? log2(x) : base == 10 ? log10(x) : log(x) / log(base);
}

static struct sl_rank_value extreme(bool most, const struct sl_rank_value *v, uint32_t n)
{
	const struct sl_rank_value *best = v;

	for (uint32_t i = 1; i < n; i++)
		if (most ? is_less(best, &v[i], false) : is_less(&v[i], best, false))
			best = &v[i];
	return *best;
}

/* Call with *n* arguments.  False: unknown. */
static bool call_builtin(enum sl_rank_builtin which, const struct sl_rank_value *v, uint32_t n, struct sl_rank_value *r)
{
	bool is_whole;

	for (uint32_t i = 0; i < n; i++)
		if (!is_number(&v[i]))
			return false;
	if (!n)
		return false;
	is_whole = v->kind == SL_RANK_INTEGER;
	switch (which) {
	case SL_RANK_ABS:
		*r = !is_whole ? of_number(fabs(v->number)) :
			of_integer(v->integer < 0 ? (int64_t) (0 - (uint64_t) v->integer) : v->integer);
		break;
	case SL_RANK_CEIL:
		*r = is_whole ? *v : whole(ceil(v->number));
		break;
	case SL_RANK_EXP:
		*r = of_number(exp(number_of(v)));
		break;
	case SL_RANK_FLOOR:
		*r = is_whole ? *v : whole(floor(v->number));
		break;
	case SL_RANK_LOG:
		*r = of_number(n == 1 ? log(number_of(v)) : logarithm(number_of(v), number_of(&v[1])));
		break;
	case SL_RANK_MAX:
	case SL_RANK_MIN:
		*r = extreme(which == SL_RANK_MAX, v, n);
		break;
	case SL_RANK_SQRT:
		*r = of_number(sqrt(number_of(v)));
		break;
	}
	return true;
}

/* -- the machine ------------------------------------------------------------------ */

#define REGISTERS 256
#define MOST_STEPS 10000		/* steps per call of rank() */
#define DEEPEST 16			/* nested calls */

struct machine {
	const struct sl_rank_code *code;
	const struct sl_rank_value *field;	/* of the job */
	int64_t now, origin;
	uint32_t steps, depth;
	struct sl_rank_value reg[REGISTERS];
};

static struct sl_rank_value field_of(const struct machine *m, const struct sl_rank_value *v, uint32_t key)
{
	struct sl_rank_value r = { .kind = SL_RANK_OTHER };

	switch (v->kind) {
	case SL_RANK_JOB:
		r = m->field[key];
		if (r.kind == SL_RANK_WAITED)
			return of_integer(m->now > r.integer ? m->now - r.integer : 0);
		break;
	case SL_RANK_CLUSTER:
		if (m->code->key[key].of_cluster)
			return of_integer(m->code->key[key].of_cluster == SL_RANK_NOW ? m->now : m->origin);
		break;
	case SL_RANK_TABLE:
		return m->code->element[v->at * m->code->keys + key];
	default:
		break;
	}
	return r;
}

static int run_function(struct machine *m, uint32_t at, uint32_t arguments);

/* Call the function in register *at* with the arguments after it; results replace them.  Returns their number, or -1:
 * unknown. */
static int call_register(struct machine *m, uint32_t at, uint32_t arguments)
{
	const struct sl_rank_value *f = &m->reg[at];

	if (f->kind == SL_RANK_BUILTIN)
		return call_builtin(f->at, f + 1, arguments, &m->reg[at]) ? 1 : -1;
	return f->kind == SL_RANK_FUNCTION ? run_function(m, at, arguments) : -1;
}

/* Execute a step that sets one value.  False: unknown. */
static bool do_value(struct machine *m, struct sl_rank_value *reg, const struct sl_rank_step *s)
{
	const struct sl_rank_value *value = m->code->value;

	switch ((enum sl_rank_op) s->op) {
	case SL_RANK_MOVE:
		reg[s->a] = reg[s->b];
		return true;
	case SL_RANK_LOAD:
		reg[s->a] = value[s->x];
		return reg[s->a].kind != SL_RANK_OTHER;
	case SL_RANK_LOAD_NIL:
		for (uint32_t i = 0; i <= s->b; i++)
			reg[s->a + i].kind = SL_RANK_NIL;
		return true;
	case SL_RANK_LOAD_FALSE_SKIP:
		reg[s->a].kind = SL_RANK_FALSE;
		return true;
	case SL_RANK_FIELD:
		reg[s->a] = field_of(m, &reg[s->b], (uint32_t) s->x);
		return reg[s->a].kind != SL_RANK_OTHER;
	case SL_RANK_ARITHMETIC:
		return do_arithmetic(s->sub, &reg[s->b], &reg[s->c], &reg[s->a]);
	case SL_RANK_ARITHMETIC_V:
		return do_arithmetic(s->sub, &reg[s->b], &value[s->x], &reg[s->a]);
	case SL_RANK_MINUS:
		return negate(&reg[s->b], &reg[s->a]);
	case SL_RANK_NOT:
		reg[s->a] = of_bool(!is_true(&reg[s->b]));
		return true;
	default:
		return false;
	}
}

/* Execute a test: 1: go on with the next step; 0: skip it; -1: unknown. */
static int do_test(struct machine *m, struct sl_rank_value *reg, const struct sl_rank_step *s)
{
	int is;

	switch ((enum sl_rank_op) s->op) {
	case SL_RANK_COMPARE:
		is = compare(s->sub, &reg[s->a], &reg[s->b]);
		return is < 0 ? -1 : is == s->k;
	case SL_RANK_COMPARE_V:
		is = compare(s->sub, &reg[s->a], &m->code->value[s->x]);
		return is < 0 ? -1 : is == s->k;
	case SL_RANK_TEST:
		return is_true(&reg[s->a]) == s->k;
	default:
		if (is_true(&reg[s->b]) != s->k)
			return 0;
		reg[s->a] = reg[s->b];
		return 1;
	}
}

/* Execute a call.  Returns the register after its results, or -1: unknown. */
static int do_call(struct machine *m, uint32_t base, const struct sl_rank_step *s, int top)
{
	uint32_t at = base + s->a, arguments = s->b ? s->b - 1u : (uint32_t) top - at - 1;
	int results = call_register(m, at, arguments);

	if (results < 0 || !s->c)
		return results < 0 ? -1 : (int) at + results;
	for (uint32_t i = (uint32_t) results; i + 1 < s->c; i++)
		m->reg[at + i].kind = SL_RANK_NIL;
	return (int) at + s->c - 1;
}

static int return_values(struct machine *m, uint32_t at, uint32_t base, const struct sl_rank_step *s, int top)
{
	uint32_t first = base + s->a, n = s->b ? s->b - 1u : (uint32_t) top - first;

	memmove(&m->reg[at], &m->reg[first], n * sizeof(*m->reg));
	m->depth--;
	return (int) n;
}

/* call_register() for a translated function. */
static int run_function(struct machine *m, uint32_t at, uint32_t arguments)
{
	const struct sl_rank_function *f = &m->code->function[m->reg[at].at];
	uint32_t base = at + 1;
	struct sl_rank_value *reg = &m->reg[base];
	int top = 0, goes_on;

	if (!f->step || base + f->registers + 1u > REGISTERS || m->depth == DEEPEST)
		return -1;
	m->depth++;
	for (uint32_t i = arguments; i < f->parameters; i++)
		reg[i].kind = SL_RANK_NIL;
	for (const struct sl_rank_step *s = f->step; m->steps < MOST_STEPS; s++, m->steps++)
		switch ((enum sl_rank_op) s->op) {
		case SL_RANK_NEVER:
			return -1;
		case SL_RANK_JUMP:
			s += s->x;
			break;
		case SL_RANK_COMPARE:
		case SL_RANK_COMPARE_V:
		case SL_RANK_TEST:
		case SL_RANK_TEST_SET:
			goes_on = do_test(m, reg, s);
			if (goes_on < 0)
				return -1;
			s += !goes_on;
			break;
		case SL_RANK_CALL:
			top = do_call(m, base, s, top);
			if (top < 0)
				return -1;
			break;
		case SL_RANK_RETURN:
			return return_values(m, at, base, s, top);
		default:
			if (!do_value(m, reg, s))
				return -1;
			s += s->op == SL_RANK_LOAD_FALSE_SKIP || s->op == SL_RANK_ARITHMETIC || s->op == SL_RANK_ARITHMETIC_V;
		}
	return -1;
}

bool sl_rank_code_ask(const struct sl_rank_code *code, const struct sl_rank_value *field, int64_t now, int64_t origin,
		      double *rank, double *among_equals)
{
	struct machine m;
	int n;

	m.code = code;
	m.field = field;
	m.now = now;
	m.origin = origin;
	m.steps = m.depth = 0;
	m.reg[0] = (struct sl_rank_value) { .kind = SL_RANK_FUNCTION, .at = 0 };
	m.reg[1].kind = SL_RANK_JOB;
	m.reg[2].kind = SL_RANK_CLUSTER;
	m.reg[3] = code->options;
	n = run_function(&m, 0, 3);
	if (n < 1 || !is_number(&m.reg[0]) || (n > 1 && m.reg[1].kind != SL_RANK_NIL && !is_number(&m.reg[1])))
		return false;
	*rank = number_of(&m.reg[0]);
	*among_equals = n > 1 && m.reg[1].kind != SL_RANK_NIL ? number_of(&m.reg[1]) : 0;
	return !isnan(*rank) && !isnan(*among_equals);
}
