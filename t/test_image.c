/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plan_image.h"
#include "snapshot.h"

static void what_is_appended_is_read_back(void **state)
{
	struct sl_error err;
	struct sl_builder *b = sl_builder_create(&sl_snapshot_schema, &err);
	struct sl_meta_row meta = sl_meta_row();
	struct sl_node_row node = sl_node_row();
	struct sl_snapshot s;
	const void *bytes;
	size_t size;

	(void) state;
	assert_non_null(b);
	meta.now = 1000;
	sl_builder_append(b, SL_T_META, &meta);
	node.name = sl_builder_str(b, "n1");
	node.cores = 8;
	assert_int_equal(sl_builder_append(b, SL_T_NODE, &node), 0);
	node.name = sl_builder_str(b, "n2");
	assert_int_equal(sl_builder_append(b, SL_T_NODE, &node), 1);
	assert_int_equal(sl_builder_str(b, "n1"), 1);
	assert_int_equal(sl_builder_finish(b, &bytes, &size, &err), 0);
	if (sl_snapshot_open(&s, bytes, size, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(s.meta.now[0], 1000);
	assert_int_equal(s.node.rows, 2);
	assert_int_equal(s.node.cores[1], 8);
	assert_string_equal(sl_snapshot_str(&s, s.node.name[1]), "n2");
	assert_int_equal(s.node.owner[1], SL_NONE);
	sl_builder_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_appended_is_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
