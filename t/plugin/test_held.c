/* SPDX-License-Identifier: MIT */
/* test_held.c - the book of held places, and its file */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/escape.h"
#include "base/state_file.h"
#include "plugin/host/held.h"
#include "t/hostile.h"
#include "t/random.h"
#include "t/scratch.h"

static char path[64];

static int make_path(void **state)
{
	if (scratch_make(state))
		return -1;
	snprintf(path, sizeof(path), "%s/held", scratch);
	return 0;
}

static struct sl_held_book *open_book(int bad_lines)
{
	struct sl_held_book *b = sl_held_create();
	struct sl_error err = { SL_OK, "" };

	assert_non_null(b);
	assert_int_equal(sl_held_open(b, path, &err), bad_lines);
	return b;
}

static void save_and_close(struct sl_held_book *b)
{
	struct sl_error err = { SL_OK, "" };

	assert_int_equal(sl_held_save(b, 0, &err), 0);
	sl_held_destroy(b);
}

/* Two nodes, of which the second has a share of a GPU. */
static struct sl_held_gres gres[] = { { "gpu:a100", "", 2, 0 }, { "shard", "gpu:a100", 3, 1 } };
static struct sl_held_node node[] = { { "n001", 8, 16000, NULL, 0 }, { "n002", 1, 0, gres, 2 } };

static struct sl_held usual(uint32_t job)
{
	return (struct sl_held) { .job = job, .user = 1000, .stamp = INT64_C(0x7123456789abcdef), .since = 1700000000,
				  .until = 1700000600, .partition = "main", .node = node, .nodes = 2 };
}

static char *file_text(void)
{
	struct sl_error err;
	char *text;
	size_t size;

	assert_int_equal(sl_state_read(path, 1 << 20, &text, &size, NULL, &err), 1);
	return text;
}

static void assert_same_text(const char *a)
{
	char *b = file_text();

	assert_string_equal(a, b);
	free(b);
}

static void put_file(const char *text)
{
	struct sl_error err;

	assert_int_equal(sl_state_write(path, 0600, text, strlen(text), false, &err), 0);
}

static void a_book_comes_back_as_it_was(void **state)
{
	struct sl_stopped stop = { 4, 7, 1699990000, 1700000000, "anna", "low", 3, false };
	struct sl_held place = usual(7);
	struct sl_held_book *b;
	struct sl_error err;
	const struct sl_held *h;
	char *text;

	(void) state;
	unlink(path);
	b = open_book(0);
	assert_non_null(sl_held_put(b, &place, &err));
	assert_int_equal(sl_held_stop(b, &stop, &err), 0);
	save_and_close(b);
	text = file_text();
	b = open_book(0);
	h = sl_held_find(b, 7);
	assert_non_null(h);
	assert_int_equal(h->user, 1000);
	assert_true(h->stamp == place.stamp && h->since == 1700000000 && h->until == 1700000600);
	assert_string_equal(h->partition, "main");
	assert_int_equal(h->nodes, 2);
	assert_string_equal(h->node[1].name, "n002");
	assert_int_equal(h->node[1].gres_count, 2);
	assert_string_equal(h->node[1].gres[1].of, "gpu:a100");
	assert_int_equal(h->node[1].gres[1].devices, 1);
	assert_non_null(sl_held_stopped(b, 4, 1699990000));
	assert_int_equal(sl_held_stopped(b, 4, 1699990000)->mode, 3);
	assert_true(b->reread);
	assert_null(sl_held_stopped(b, 4, 1699990001));
	b->changed = true;
	save_and_close(b);
	assert_same_text(text);
	free(text);
}

static void a_second_place_of_a_job_takes_the_place_of_the_first(void **state)
{
	struct sl_held place = usual(7), later = usual(7);
	struct sl_held_book *b = sl_held_create();
	struct sl_error err;

	(void) state;
	assert_non_null(sl_held_put(b, &place, &err));
	later.since = 0;
	b->place[0].left = 3;
	later.until++;
	later.nodes = 1;
	assert_non_null(sl_held_put(b, &later, &err));
	assert_int_equal(b->places, 1);
	assert_int_equal(b->place[0].nodes, 1);
	/* its victims were told to end before */
	assert_int_equal(b->place[0].left, 3);
	assert_true(b->place[0].since == 1700000000 && b->place[0].until == 1700000601);
	assert_true(sl_held_drop(b, 7));
	assert_false(sl_held_drop(b, 7));
	assert_int_equal(b->places, 0);
	sl_held_destroy(b);
}

static void a_place_that_is_held_for_longer_is_not_written_each_time(void **state)
{
	struct sl_held place = usual(7);
	struct sl_held_book *b;
	struct sl_error err;

	(void) state;
	unlink(path);
	b = open_book(0);
	assert_non_null(sl_held_put(b, &place, &err));
	assert_int_equal(sl_held_save(b, 0, &err), 0);
	place.until += 59;
	assert_non_null(sl_held_put(b, &place, &err));
	assert_false(b->changed);
	assert_true(b->place[0].until == place.until);
	place.until++;
	assert_non_null(sl_held_put(b, &place, &err));
	assert_true(b->changed);
	assert_int_equal(sl_held_save(b, 0, &err), 0);
	place.nodes = 1;
	assert_non_null(sl_held_put(b, &place, &err));
	assert_true(b->changed);
	sl_held_destroy(b);
}

static void no_more_places_are_held_than_there_may_be(void **state)
{
	struct sl_held_book *b = sl_held_create();
	struct sl_error err = { SL_OK, "" };
	uint32_t job;

	(void) state;
	for (job = 1; job <= SL_HELD_MOST; job++) {
		struct sl_held place = usual(job);

		assert_non_null(sl_held_put(b, &place, &err));
	}
	{
		struct sl_held one_more = usual(job), again = usual(3);

		assert_null(sl_held_put(b, &one_more, &err));
		assert_int_equal(err.code, SL_ELIMIT);
		assert_non_null(sl_held_put(b, &again, &err));
	}
	sl_held_destroy(b);
}

/* In the file for a while, for a slurmctld that is killed before it has saved the start; held by nobody. */
static void a_place_that_is_taken_stays_in_the_file_for_a_while(void **state)
{
	struct sl_held place = usual(7), other = usual(8);
	struct sl_held_book *b, *read;
	struct sl_error err;

	(void) state;
	unlink(path);
	b = open_book(0);
	assert_non_null(sl_held_put(b, &place, &err));
	assert_int_equal(sl_held_save(b, 100, &err), 0);
	assert_false(sl_held_take(b, 9, 9, 100));
	assert_true(sl_held_take(b, 7, 7, 100));
	assert_null(sl_held_find(b, 7));
	assert_false(b->changed);
	assert_non_null(sl_held_put(b, &other, &err));	/* which has it written */
	assert_int_equal(sl_held_save(b, 100 + SL_HELD_TAKEN_S - 1, &err), 0);
	read = open_book(0);
	assert_non_null(sl_held_find(read, 7));
	assert_non_null(sl_held_find(read, 8));
	sl_held_destroy(read);
	assert_int_equal(sl_held_save(b, 100 + SL_HELD_TAKEN_S, &err), 0);
	read = open_book(0);
	assert_null(sl_held_find(read, 7));
	sl_held_destroy(read);
	/* one that has a new place is there once */
	assert_true(sl_held_take(b, 8, 8, 200));
	assert_non_null(sl_held_put(b, &other, &err));
	assert_int_equal(sl_held_save(b, 200, &err), 0);
	read = open_book(0);
	assert_int_equal(read->places, 1);
	sl_held_destroy(read);
	sl_held_destroy(b);
}

/* Of an array the record waits on for its next task. */
static void who_was_stopped_for_an_array_was_stopped_for_the_task_that_started(void **state)
{
	struct sl_stopped stop = { 4, 7, 100, 200, "anna", "low", 3, false }, other = { 5, 8, 100, 200, "anna", "low", 3, false };
	struct sl_held place = usual(7);
	struct sl_held_book *b;
	struct sl_error err;
	const struct sl_stopped *s;

	(void) state;
	unlink(path);
	b = open_book(0);
	assert_non_null(sl_held_put(b, &place, &err));
	assert_int_equal(sl_held_stop(b, &stop, &err), 0);
	assert_int_equal(sl_held_stop(b, &other, &err), 0);
	assert_int_equal(sl_held_save(b, 200, &err), 0);
	assert_true(sl_held_take(b, 7, 17, 300));
	assert_int_equal(sl_held_save(b, 300, &err), 0);
	sl_held_destroy(b);
	b = open_book(0);
	s = sl_held_stopped(b, 4, 100);
	assert_non_null(s);
	assert_true(s->started && s->preemptor == 17);
	s = sl_held_stopped(b, 5, 100);
	assert_true(s && !s->started && s->preemptor == 8);
	/* a job that has no place any more: others are stopped for nobody else's sake */
	assert_false(sl_held_take(b, 8, 8, 301));
	assert_true(sl_held_stopped(b, 5, 100)->started);
	sl_held_destroy(b);
}

static bool is_old(const struct sl_stopped *s, void *arg)
{
	return s->time < *(int64_t *) arg;
}

static void stopped_jobs_are_forgotten(void **state)
{
	struct sl_held_book *b = sl_held_create();
	struct sl_error err;
	int64_t from = 5;

	(void) state;
	for (uint32_t i = 1; i <= 9; i++) {
		struct sl_stopped s = { i, 100, i, i, "anna", "low", 0, false };

		assert_int_equal(sl_held_stop(b, &s, &err), 0);
	}
	sl_held_forget_stops(b, is_old, &from);
	assert_int_equal(b->stops, 5);
	assert_null(sl_held_stopped(b, 4, 4));
	assert_non_null(sl_held_stopped(b, 5, 5));
	sl_held_destroy(b);
}

/* Without an index: the last stop of that run. */
static const struct sl_stopped *search_stop(const struct sl_held_book *b, uint32_t job, int64_t start_time)
{
	for (uint32_t i = b->stops; i-- > 0;)
		if (b->stopped[i].job == job && b->stopped[i].start_time == start_time)
			return &b->stopped[i];
	return NULL;
}

static uint32_t count_for(const struct sl_held_book *b, uint32_t preemptor)
{
	uint32_t n = 0;

	SL_HELD_EACH_STOP(b, preemptor, at) {
		assert_int_equal(sl_held_stop_at(b, at.value)->preemptor, preemptor);
		n++;
	}
	return n;
}

static void assert_found_as_by_search(const struct sl_held_book *b)
{
	for (uint32_t job = 0; job < 12; job++) {
		const struct sl_held *place = NULL;
		uint32_t n = 0;

		for (uint32_t i = 0; i < b->places; i++)
			if (b->place[i].job == job)
				place = &b->place[i];
		assert_ptr_equal(sl_held_find(b, job), place);
		for (int64_t start = 0; start < 3; start++)
			assert_ptr_equal(sl_held_stopped(b, job, start), search_stop(b, job, start));
		for (uint32_t i = 0; i < b->stops; i++)
			n += b->stopped[i].preemptor == job;
		assert_int_equal(count_for(b, job), n);
	}
}

static void change_at_random(struct sl_held_book *b, int64_t now)
{
	struct sl_stopped s = { below(12), below(12), below(3), now, "anna", "low", 0, false };
	struct sl_held place = usual(1 + below(11));
	struct sl_error err;
	int64_t from = now - below(40);

	switch (below(9)) {
	case 0: assert_non_null(sl_held_put(b, &place, &err)); break;
	case 1: (void) sl_held_drop(b, place.job); break;
	case 2: sl_held_unstop(b, s.job, s.preemptor, s.start_time); break;
	case 3: sl_held_forget_stops(b, is_old, &from); break;
	case 4: (void) sl_held_take(b, place.job, below(12), now); break;
	default: assert_int_equal(sl_held_stop(b, &s, &err), 0);
	}
}

static void what_is_found_is_what_a_search_finds(void **state)
{
	(void) state;
	for (failing_seed = number_from("SL_SEED", 1); failing_seed < 40; failing_seed++) {
		struct sl_held_book *b = sl_held_create();

		random_state = failing_seed;
		for (int64_t now = 0; now < 200; now++) {
			change_at_random(b, now);
			assert_found_as_by_search(b);
		}
		sl_held_destroy(b);
	}
	failing_seed = 0;
}

static void of_more_stops_than_are_remembered_the_oldest_go(void **state)
{
	struct sl_held_book *b = sl_held_create();
	struct sl_error err;

	(void) state;
	for (uint32_t i = 0; i < SL_STOPPED_MOST + 3; i++) {
		struct sl_stopped s = { i + 1, i / 2 + 1, 5, i, "anna", "low", 0, false };

		assert_int_equal(sl_held_stop(b, &s, &err), 0);
	}
	assert_int_equal(b->stops, SL_STOPPED_MOST);
	assert_null(sl_held_stopped(b, 3, 5));
	assert_ptr_equal(sl_held_stopped(b, 4, 5), &b->stopped[0]);
	assert_int_equal(count_for(b, 1), 0);
	assert_int_equal(count_for(b, 2), 1);
	assert_int_equal(count_for(b, 3), 2);
	sl_held_destroy(b);
}

static void lines_that_make_no_sense_take_only_their_place_along(void **state)
{
	static const char good[] = "P\t7\t1000\t1\t2\t3\tmain\nN\tn001\t8\t0\n";
	char text[2000];
	struct sl_held_book *b;

	(void) state;
	/* a place without nodes, one with a bad number, one with a gres before its node */
	snprintf(text, sizeof(text), "schedlua held 1\nP\t1\t0\t1\t2\t3\tmain\n%sP\t8\t0\t-1\t2\t3\tmain\nN\tn001\t1\t0\n"
		 "P\t9\t0\t1\t2\t3\tmain\nG\tgpu\t\t1\t0\nN\tn001\t1\t0\nX\tyz\nS\t4\t7\t1\t2\tanna\tlow\t0\n", good);
	put_file(text);
	b = open_book(5);
	assert_int_equal(b->places, 1);
	assert_int_equal(b->stops, 1);
	assert_non_null(sl_held_find(b, 7));
	sl_held_destroy(b);
	snprintf(text, sizeof(text), "schedlua held 1\n%sN\tn002\t8", good);	/* torn */
	put_file(text);
	b = open_book(1);
	assert_int_equal(b->places, 1);
	sl_held_destroy(b);
	put_file("schedlua held 2\n");
	b = open_book(-1);
	assert_int_equal(b->places, 0);
	sl_held_destroy(b);
}

/* Names are the site's and its users': none of them becomes a line or a field. */
static void no_name_changes_what_is_read_of_others(void **state)
{
	static const char forged[] = "\t1\t2\nP\t9\t0\t1\t2\t3\tmain\nN\tn001\t1\t0\n";
	const uint64_t rounds = rounds_of(300);

	(void) state;
	failing_seed = number_from("SL_SEED", 1);
	for (uint64_t i = 0; i < rounds; i++, failing_seed++) {
		char words[4][HOSTILE_SIZE];
		struct sl_held_node names[2] = { node[0], node[1] };
		struct sl_held place = usual(7), other = usual(8);
		struct sl_stopped stop = { 4, 7, 1, 2, words[2], words[3], 0, false };
		struct sl_held_book *b;
		struct sl_error err;
		bool possible;

		random_state = failing_seed;
		for (int k = 0; k < 4; k++)
			hostile_text(words[k], forged);
		names[0].name = words[0];
		place.node = names;
		place.partition = words[1];
		possible = *words[0] && *words[1] && !sl_text_is_unsafe(words[0]) && !sl_text_is_unsafe(words[1]);
		unlink(path);
		b = open_book(0);
		assert_non_null(sl_held_put(b, &place, &err));
		assert_non_null(sl_held_put(b, &other, &err));
		assert_int_equal(sl_held_stop(b, &stop, &err), 0);
		save_and_close(b);
		b = sl_held_create();
		assert_true(sl_held_open(b, path, &err) >= 0);
		assert_int_equal(b->places, 1 + possible);
		assert_true((sl_held_find(b, 7) != NULL) == possible);
		assert_null(sl_held_find(b, 9));
		assert_non_null(sl_held_find(b, 8));
		sl_held_destroy(b);
	}
	failing_seed = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_book_comes_back_as_it_was),
		cmocka_unit_test(a_second_place_of_a_job_takes_the_place_of_the_first),
		cmocka_unit_test(a_place_that_is_held_for_longer_is_not_written_each_time),
		cmocka_unit_test(no_more_places_are_held_than_there_may_be),
		cmocka_unit_test(a_place_that_is_taken_stays_in_the_file_for_a_while),
		cmocka_unit_test(who_was_stopped_for_an_array_was_stopped_for_the_task_that_started),
		cmocka_unit_test(stopped_jobs_are_forgotten),
		cmocka_unit_test_teardown(what_is_found_is_what_a_search_finds, say_seed),
		cmocka_unit_test(of_more_stops_than_are_remembered_the_oldest_go),
		cmocka_unit_test(lines_that_make_no_sense_take_only_their_place_along),
		cmocka_unit_test_teardown(no_name_changes_what_is_read_of_others, say_seed),
	};

	return cmocka_run_group_tests(tests, make_path, scratch_remove);
}
