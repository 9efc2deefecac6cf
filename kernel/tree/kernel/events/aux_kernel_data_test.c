// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suites of AUX buffers for kernel consumers: what comes out of a buffer.
 *
 *   perf_aux_kernel_accessors	head, copy and tail, and how cursors wrap
 *   perf_aux_kernel_flow	writer, buffer and consumer together
 *   perf_aux_kernel_speed	copies compared with memcpy()
 */

#include <linux/completion.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "aux_kernel_test.h"

/* -- accessors -- */

static void head_is_zero_at_first(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	unsigned long head = 1;

	KUNIT_EXPECT_EQ(test, perf_event_aux_head(event, &head), 0);
	KUNIT_EXPECT_EQ(test, head, 0);
}

static void head_advances(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	unsigned long total = 0;

	for (unsigned long n = 1; n < 50; n++) {
		KUNIT_EXPECT_EQ(test, aux_test_write(event, n), n);
		total += n;
		KUNIT_EXPECT_EQ(test, aux_test_head(test, event), total);
	}
}

static void head_needs_ring(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);
	unsigned long head = 12345;

	KUNIT_EXPECT_EQ(test, perf_event_aux_head(event, &head), -ENXIO);
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), 0);
	perf_event_release_aux(event);
	KUNIT_EXPECT_EQ(test, perf_event_aux_head(event, &head), -ENXIO);
	KUNIT_EXPECT_EQ(test, head, 12345);
}

static void copy_full_window(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 4, 0);
	unsigned long full = 4 * PAGE_SIZE - 1;

	KUNIT_EXPECT_EQ(test, aux_test_write(event, ULONG_MAX), full);
	aux_test_drain(test, event, 0, full);
}

static void copy_wraps(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 2, 0);
	unsigned long size = 2 * PAGE_SIZE, tail = size - 300;

	KUNIT_EXPECT_EQ(test, aux_test_write(event, tail), tail);
	aux_test_drain(test, event, 0, tail);

	/* From the last page into the first, and on into the second again. */
	KUNIT_EXPECT_EQ(test, aux_test_write(event, ULONG_MAX), size - 1);
	aux_test_drain(test, event, tail, size - 1);
}

static void copy_of_nothing(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	u8 byte = 0xa5;

	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, &byte, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, NULL, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, &byte, 1, 0), -ERANGE);

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 50), 0);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, &byte, 49, 0), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, &byte, 50, 0), 0);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, &byte, 75, 0), 0);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, &byte, 100, 0), 0);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, &byte, 101, 0), -ERANGE);

	KUNIT_EXPECT_EQ(test, byte, 0xa5);
}

/* In pieces of all sizes, several laps through the ring. */
static void copy_is_exact(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 2, 0);
	unsigned long tail = 0, n = 1;

	while (tail < 8 * PAGE_SIZE) {
		KUNIT_ASSERT_EQ(test, aux_test_write(event, n), n);
		aux_test_drain(test, event, tail, n);
		tail += n;
		n = n * 5 % 4099 + 1;
	}
}

static void copy_rejects_rewound_range(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	u8 data[16];

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 200), 200);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 100), 0);

	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 99, 1), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 99, 16), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 0, 16), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 100 - PAGE_SIZE, 16), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 100, 16), 0);
	aux_test_expect_data(test, event, data, 100, 16);
}

static void copy_rejects_future_range(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	u8 data[16];

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 200), 200);

	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 200, 1), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 201, 1), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, PAGE_SIZE, 16), -ERANGE);
	/* The same place in the next lap. */
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, PAGE_SIZE + 100, 16), -ERANGE);
	/* Half of it is there. */
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 192, 16), -ERANGE);
}

static void copy_rejects_oversized_range(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	unsigned long full = PAGE_SIZE - 1;
	u8 *data = kunit_kmalloc(test, 2 * PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_EXPECT_EQ(test, aux_test_write(event, ULONG_MAX), full);

	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 0, full + 1), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 1, full), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 0, 2 * PAGE_SIZE), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 0, LONG_MAX), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 0, ULONG_MAX), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 0, full), 0);
	aux_test_expect_data(test, event, data, 0, full);
}

/* Here the end of the range, as a sum, is inside the window. */
static void copy_rejects_wrapping_length(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	u8 data[16];

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 1000), 1000);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 100), 0);

	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 500, -1UL), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 500, -400UL), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 500, -100UL), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 1000, -1UL), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 1001, -1UL), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, -1UL, 200), -ERANGE);
}

static void copy_rejects_null(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, NULL, 0, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, NULL, 0, 100), -EINVAL);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, NULL, 0, 0), 0);
}

static void copy_rejects_consumed_range(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	u8 data[100];

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 0, 100), 0);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 100), 0);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 0, 100), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 99, 1), -ERANGE);
}

static void copy_needs_ring(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);
	u8 byte = 0xa5;

	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, &byte, 0, 1), -ENXIO);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, &byte, 0, 0), -ENXIO);
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);
	perf_event_release_aux(event);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, &byte, 0, 1), -ENXIO);
	KUNIT_EXPECT_EQ(test, byte, 0xa5);
}

static void copy_leaves_tail(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	u8 data[100];

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);
	for (int i = 0; i < 3; i++) {
		memset(data, 0, sizeof(data));
		KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 0, 100), 0);
		aux_test_expect_data(test, event, data, 0, 100);
	}
	KUNIT_EXPECT_EQ(test, aux_test_write(event, ULONG_MAX), PAGE_SIZE - 1 - 100);
}

/* Copies that begin and end at, before and behind the ends of pages. */
#define COPY_CANARY	0xc3
#define COPY_MARGIN	64

static void copy_at_boundary(struct kunit *test, struct perf_event *event, u8 *area,
			     unsigned long from, unsigned long len)
{
	u8 *data = area + COPY_MARGIN;

	memset(area, COPY_CANARY, len + 2 * COPY_MARGIN);

	KUNIT_ASSERT_EQ(test, perf_event_aux_copy(event, data, from, len), 0);
	aux_test_expect_data(test, event, data, from, len);
	KUNIT_EXPECT_NULL_MSG(test, memchr_inv(area, COPY_CANARY, COPY_MARGIN),
			      "written before the destination: 0x%lx, %lu", from, len);
	KUNIT_EXPECT_NULL_MSG(test, memchr_inv(data + len, COPY_CANARY, COPY_MARGIN),
			      "written behind the destination: 0x%lx, %lu", from, len);
}

static void copy_respects_page_boundaries(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 4, 0);
	unsigned long size = 4 * PAGE_SIZE, start = size - PAGE_SIZE / 2;
	u8 *area = kunit_kmalloc(test, size + 2 * COPY_MARGIN, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, area);

	/* The window has the ring's end, as well as ends of pages, in it. */
	aux_test_preset(event, start);
	KUNIT_EXPECT_EQ(test, aux_test_write(event, ULONG_MAX), size - 1);

	for (unsigned long page = size; page < size + 3 * PAGE_SIZE; page += PAGE_SIZE) {
		for (int i = -1; i <= 1; i++) {
			copy_at_boundary(test, event, area, page + i, 0);
			copy_at_boundary(test, event, area, page + i, 1);
			copy_at_boundary(test, event, area, page + i, 2);
			copy_at_boundary(test, event, area, page - 100, 100 + i);
			copy_at_boundary(test, event, area, page - 1, 100 + i);
		}
	}
	for (int i = -1; i <= 1; i++) {
		copy_at_boundary(test, event, area, size + i, PAGE_SIZE - 1);
		copy_at_boundary(test, event, area, size + i, PAGE_SIZE);
		copy_at_boundary(test, event, area, size + i, PAGE_SIZE + 1);
		copy_at_boundary(test, event, area, size + i, 2 * PAGE_SIZE + 1);
	}
	copy_at_boundary(test, event, area, start, size - 1);
}

static void copy_error_leaves_destination(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	u8 data[128];

	memset(data, COPY_CANARY, sizeof(data));
	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);

	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 0, 101), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 50, 51), -ERANGE);
	perf_event_release_aux(event);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 0, 100), -ENXIO);

	KUNIT_EXPECT_NULL(test, memchr_inv(data, COPY_CANARY, sizeof(data)));
}

static void tail_set_makes_room(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	unsigned long full = PAGE_SIZE - 1;

	KUNIT_EXPECT_EQ(test, aux_test_write(event, ULONG_MAX), full);
	KUNIT_EXPECT_EQ(test, aux_test_write(event, 1), 0);

	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 100), 0);
	KUNIT_EXPECT_EQ(test, aux_test_write(event, ULONG_MAX), 100);
	KUNIT_EXPECT_EQ(test, aux_test_head(test, event), full + 100);
	aux_test_drain(test, event, 100, full);
}

static void tail_set_rejects_future(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);

	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 1), -ERANGE);
	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 101), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, PAGE_SIZE), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, LONG_MAX), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, ULONG_MAX), -ERANGE);
	aux_test_drain(test, event, 0, 100);
}

static void tail_set_within_window(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);
	for (unsigned long tail = 0; tail <= 100; tail += 10)
		KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, tail), 0);
}

static void tail_set_rejects_past(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);

	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, -1UL), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, -PAGE_SIZE), -ERANGE);
	KUNIT_EXPECT_EQ(test, aux_test_write(event, 200), 200);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 100), 0);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 99), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 0), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 100 - PAGE_SIZE), -ERANGE);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 200 - PAGE_SIZE), -ERANGE);
	aux_test_drain(test, event, 100, 100);
}

static void tail_set_to_same_changes_nothing(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);

	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 0), 0);
	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 0), 0);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 60), 0);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 60), 0);
	aux_test_drain(test, event, 60, 40);
}

static void tail_set_consumes_all(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	unsigned long full = PAGE_SIZE - 1;

	KUNIT_EXPECT_EQ(test, aux_test_write(event, ULONG_MAX), full);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, full), 0);
	KUNIT_EXPECT_EQ(test, aux_test_write(event, ULONG_MAX), full);
	KUNIT_EXPECT_EQ(test, aux_test_head(test, event), 2 * full);
	aux_test_drain(test, event, full, full);
}

static void tail_set_needs_ring(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);

	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 0), -ENXIO);
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), 0);
	perf_event_release_aux(event);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 0), -ENXIO);
}

/* As from an interrupt, which DEBUG_ATOMIC_SLEEP looks at. */
static void readers_in_atomic_context(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	int head_ret, copy_ret, tail_ret;
	unsigned long flags, head = 0;
	u8 data[100];

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);

	local_irq_save(flags);
	head_ret = perf_event_aux_head(event, &head);
	copy_ret = perf_event_aux_copy(event, data, 0, sizeof(data));
	tail_ret = perf_event_aux_tail_set(event, head);
	local_irq_restore(flags);

	KUNIT_EXPECT_EQ(test, head_ret, 0);
	KUNIT_EXPECT_EQ(test, head, 100);
	KUNIT_EXPECT_EQ(test, copy_ret, 0);
	aux_test_expect_data(test, event, data, 0, sizeof(data));
	KUNIT_EXPECT_EQ(test, tail_ret, 0);
}

/*
 * Where cursors pass a value that is special to some type, nothing is. From
 * shortly before, with space, window and refusals checked at each step.
 */
static void pass_cursor(struct kunit *test, unsigned long value)
{
	struct perf_event *event = aux_test_ring(test, 2, 0);
	unsigned long size = 2 * PAGE_SIZE, n = PAGE_SIZE / 2 + 123;
	unsigned long tail = value - 3 * PAGE_SIZE, head = tail;
	struct perf_output_handle handle;
	struct aux_test_buffer *buffer;
	u8 byte;

	aux_test_preset(event, tail);

	for (int i = 0; i < 16; i++) {
		buffer = aux_test_begin(event, &handle);
		KUNIT_ASSERT_NOT_NULL(test, buffer);
		KUNIT_EXPECT_EQ(test, handle.head, head);
		KUNIT_EXPECT_EQ(test, handle.size, size - 1 - (head - tail));
		aux_test_fill(event, buffer, head, n);
		aux_test_end(buffer, &handle, n);
		head += n;

		KUNIT_EXPECT_EQ(test, aux_test_head(test, event), head);
		KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, &byte, tail - 1, 1), -ERANGE);
		KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, &byte, head, 1), -ERANGE);
		KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, &byte, tail, head - tail + 1),
				-ERANGE);
		KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, tail - 1), -ERANGE);
		KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, head + 1), -ERANGE);

		/* Leave something, so that head and tail differ in passing, too. */
		if (i) {
			aux_test_drain(test, event, tail, n);
			tail += n;
		}
	}
}

static void cursors_pass_ulong_max(struct kunit *test)
{
	pass_cursor(test, 0);
}

static void cursors_pass_long_max(struct kunit *test)
{
	pass_cursor(test, (unsigned long)LONG_MAX + 1);
}

static void cursors_pass_uint_max(struct kunit *test)
{
	pass_cursor(test, (unsigned long)UINT_MAX + 1);
}

static void cursors_pass_int_max(struct kunit *test)
{
	pass_cursor(test, (unsigned long)INT_MAX + 1);
}

static struct kunit_case accessors_cases[] = {
	KUNIT_CASE(head_is_zero_at_first),
	KUNIT_CASE(head_advances),
	KUNIT_CASE(head_needs_ring),
	KUNIT_CASE(copy_full_window),
	KUNIT_CASE(copy_wraps),
	KUNIT_CASE(copy_of_nothing),
	KUNIT_CASE(copy_is_exact),
	KUNIT_CASE(copy_rejects_rewound_range),
	KUNIT_CASE(copy_rejects_future_range),
	KUNIT_CASE(copy_rejects_oversized_range),
	KUNIT_CASE(copy_rejects_null),
	KUNIT_CASE(copy_rejects_consumed_range),
	KUNIT_CASE(copy_needs_ring),
	KUNIT_CASE(tail_set_makes_room),
	KUNIT_CASE(tail_set_rejects_future),
	KUNIT_CASE(tail_set_within_window),
	KUNIT_CASE(tail_set_rejects_past),
	KUNIT_CASE(tail_set_to_same_changes_nothing),
	KUNIT_CASE(tail_set_consumes_all),
	KUNIT_CASE(tail_set_needs_ring),
	KUNIT_CASE(copy_rejects_wrapping_length),
	KUNIT_CASE(copy_leaves_tail),
	KUNIT_CASE(copy_respects_page_boundaries),
	KUNIT_CASE(copy_error_leaves_destination),
	KUNIT_CASE(readers_in_atomic_context),
	KUNIT_CASE(cursors_pass_ulong_max),
	KUNIT_CASE(cursors_pass_long_max),
	KUNIT_CASE(cursors_pass_uint_max),
	KUNIT_CASE(cursors_pass_int_max),
	{}
};

static struct kunit_suite accessors_suite = {
	.name = "perf_aux_kernel_accessors",
	.init = aux_test_init,
	.exit = aux_test_exit,
	.test_cases = accessors_cases,
};

/* -- flow -- */

static void produce_copy_and_release_cycles(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);

	for (int i = 0; i < 24; i++) {
		unsigned long size = PAGE_SIZE << i % 4, n = size / 3 + i, tail = 0;

		KUNIT_ASSERT_EQ(test, perf_event_setup_aux(event, 1 << i % 4, 0), 0);
		for (int lap = 0; lap < 5; lap++) {
			KUNIT_EXPECT_EQ(test, aux_test_write(event, n), n);
			aux_test_drain(test, event, tail, n);
			tail += n;
		}
		/* Not all of it is read. */
		KUNIT_EXPECT_EQ(test, aux_test_write(event, n), n);
		perf_event_release_aux(event);
	}
}

static void output_end_of_nothing(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 1);
	struct aux_test_waker *waker = aux_test_watch(test, event);
	struct perf_buffer *rb = event->rb;
	struct perf_output_handle handle;
	struct aux_test_buffer *buffer;

	for (int i = 0; i < 3; i++) {
		buffer = aux_test_begin(event, &handle);
		KUNIT_ASSERT_NOT_NULL(test, buffer);
		KUNIT_EXPECT_EQ(test, refcount_read(&rb->aux_refcount), 2);
		KUNIT_EXPECT_EQ(test, refcount_read(&rb->refcount), 2);
		aux_test_end(buffer, &handle, 0);
		KUNIT_EXPECT_EQ(test, refcount_read(&rb->aux_refcount), 1);
		KUNIT_EXPECT_EQ(test, refcount_read(&rb->refcount), 1);
		KUNIT_EXPECT_EQ(test, aux_test_head(test, event), 0);
	}

	/* There is nothing to be woken for, though the watermark is as low as can be. */
	aux_test_sync(event);
	KUNIT_EXPECT_EQ(test, atomic_read(&waker->count), 0);
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), -ETIMEDOUT);
	aux_test_unwatch(waker);

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 1), 1);
	aux_test_drain(test, event, 0, 1);
}

static void full_ring_stops_writer(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	unsigned long full = PAGE_SIZE - 1;

	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, 1000, 0), 1000);
	KUNIT_EXPECT_TRUE(test, aux_test_active(event));

	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, ULONG_MAX, 0), full - 1000);
	aux_test_sync(event);
	KUNIT_EXPECT_EQ(test, READ_ONCE(event->state), PERF_EVENT_STATE_OFF);
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, aux_test_head(test, event), full);

	/* Nor is there any room if it is enabled all the same. */
	KUNIT_EXPECT_EQ(test, perf_event_aux_restart(event), 0);
	aux_test_sync(event);
	KUNIT_EXPECT_EQ(test, READ_ONCE(event->state), PERF_EVENT_STATE_OFF);

	aux_test_drain(test, event, 0, 1000);
	KUNIT_EXPECT_EQ(test, perf_event_aux_restart(event), 0);
	KUNIT_EXPECT_TRUE(test, aux_test_active(event));
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, ULONG_MAX, 0), 1000);
	aux_test_drain(test, event, 1000, full);
}

static void two_events_are_independent(struct kunit *test)
{
	struct perf_event *a = aux_test_ring(test, 1, 0);
	struct perf_event *b = aux_test_ring(test, 2, 0);
	unsigned long a_tail = 0, b_tail = 0, written;

	perf_event_enable(a);
	perf_event_enable(b);

	for (int i = 0; i < 40; i++) {
		unsigned long a_len = PAGE_SIZE / 7 + i, b_len = PAGE_SIZE / 5 + 3 * i;

		KUNIT_EXPECT_EQ(test, aux_test_interrupt(a, a_len, 0), a_len);
		KUNIT_EXPECT_EQ(test, aux_test_interrupt(b, b_len, 0), b_len);
		KUNIT_EXPECT_EQ(test, aux_test_head(test, a), a_tail + a_len);
		KUNIT_EXPECT_EQ(test, aux_test_head(test, b), b_tail + b_len);
		aux_test_drain(test, b, b_tail, b_len);
		aux_test_drain(test, a, a_tail, a_len);
		a_tail += a_len;
		b_tail += b_len;
	}

	/* One is full, at the second time at the latest, and the other does not mind. */
	written = aux_test_interrupt(a, ULONG_MAX, 0);
	written += aux_test_interrupt(a, ULONG_MAX, 0);
	KUNIT_EXPECT_EQ(test, written, PAGE_SIZE - 1);
	aux_test_sync(a);
	KUNIT_EXPECT_FALSE(test, aux_test_active(a));
	KUNIT_EXPECT_TRUE(test, aux_test_active(b));
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(b, 100, 0), 100);
	aux_test_drain(test, b, b_tail, 100);
}

static void release_is_isolated(struct kunit *test)
{
	struct perf_event *a = aux_test_ring(test, 2, 0);
	struct perf_event *b = aux_test_ring(test, 2, 0);

	perf_event_enable(a);
	perf_event_enable(b);
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(a, 1000, 0), 1000);
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(b, 1000, 0), 1000);

	perf_event_release_aux(a);
	KUNIT_EXPECT_EQ(test, atomic_read(&aux_test_default_pmu(test)->frees), 1);
	KUNIT_EXPECT_TRUE(test, aux_test_active(b));
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(b, 1000, 0), 1000);
	aux_test_drain(test, b, 0, 2000);
}

/* A buffer is user space's or the kernel's, and the PMU serves both at once. */
static void user_and_kernel_rings_coexist(struct kunit *test)
{
	struct aux_test_pmu *pmu = aux_test_default_pmu(test);
	struct perf_event *kernel = aux_test_ring(test, 1, 0);
	struct perf_event *user = aux_test_event(test);
	struct aux_test_mapping *mapping = aux_test_map(test, user, 1);
	struct perf_event_mmap_page *page = mapping->rb->user_page;
	unsigned long head;
	u8 byte;

	/* User space's is out of reach for a kernel consumer. */
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(user, 1, 0), -EBUSY);
	KUNIT_EXPECT_EQ(test, aux_test_write(user, 100), 100);
	KUNIT_EXPECT_EQ(test, perf_event_aux_head(user, &head), -ENXIO);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(user, &byte, 0, 1), -ENXIO);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(user, 100), -ENXIO);
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(user, 0), -ENXIO);
	KUNIT_EXPECT_EQ(test, perf_event_aux_restart(user), -ENXIO);
	perf_event_release_aux(user);
	KUNIT_EXPECT_PTR_EQ(test, user->rb, mapping->rb);
	KUNIT_EXPECT_EQ(test, atomic_read(&pmu->frees), 0);

	KUNIT_EXPECT_EQ(test, aux_test_write(kernel, 200), 200);
	KUNIT_EXPECT_EQ(test, READ_ONCE(page->aux_head), 100);
	KUNIT_EXPECT_EQ(test, READ_ONCE(page->aux_tail), 0);
	KUNIT_EXPECT_GT(test, READ_ONCE(page->data_head), 0);
	aux_test_expect_data(test, user, mapping->rb->aux_pages[0], 0, 100);
	aux_test_drain(test, kernel, 0, 200);

	aux_test_unmap(test, mapping);
	KUNIT_EXPECT_EQ(test, atomic_read(&pmu->frees), 1);
	KUNIT_EXPECT_EQ(test, aux_test_write(kernel, 300), 300);
	aux_test_drain(test, kernel, 200, 300);

	/* And what was the one's can become the other's. */
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(user, 1, 0), 0);
	perf_event_release_aux(kernel);
	mapping = aux_test_map(test, kernel, 1);
	KUNIT_EXPECT_EQ(test, aux_test_write(kernel, 100), 100);
	aux_test_expect_data(test, kernel, mapping->rb->aux_pages[0], 0, 100);
}

static int release_when_told(struct aux_test_worker *worker)
{
	struct aux_test_pmu *pmu = aux_test_default_pmu(worker->test);

	if (!wait_for_completion_timeout(worker->data, AUX_TEST_WATCHDOG))
		return -ETIMEDOUT;
	perf_event_release_aux(worker->event);

	/* Whoever it was that freed it. */
	return atomic_read(&pmu->frees) == worker->len ? 0 : -EBUSY;
}

static void two_threads_release_one_event(struct kunit *test)
{
	struct completion *start = kunit_kzalloc(test, sizeof(*start), GFP_KERNEL);
	struct perf_event *event = aux_test_event(test);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, start);
	init_completion(start);

	for (i = 0; i < 60; i++) {
		struct aux_test_worker *a, *b;

		reinit_completion(start);
		KUNIT_ASSERT_EQ(test, perf_event_setup_aux(event, 1, 0), 0);
		if (i % 2)
			perf_event_enable(event);

		a = aux_test_start(test, release_when_told, event, start, i + 1);
		b = aux_test_start(test, release_when_told, event, start, i + 1);
		complete_all(start);
		KUNIT_EXPECT_EQ(test, aux_test_join(test, a), 0);
		KUNIT_EXPECT_EQ(test, aux_test_join(test, b), 0);
		KUNIT_EXPECT_NULL(test, event->rb);
	}
}

/*
 * A wakeup for each watermark that is passed, wherever the cursor was at first.
 * Data is released at once, so that it never is the amount of it that counts.
 */
static void expect_cadence(struct kunit *test, unsigned long start, unsigned long watermark)
{
	struct perf_event *event = aux_test_ring(test, 2, watermark);
	struct perf_output_handle handle;
	struct aux_test_buffer *buffer;
	unsigned long total = 0;

	aux_test_preset(event, start);

	for (int i = 0; i < 200; i++) {
		unsigned long n = i * 97 % 613 + 1;
		bool due = (total + n) / watermark != total / watermark;

		buffer = aux_test_begin(event, &handle);
		KUNIT_ASSERT_NOT_NULL(test, buffer);
		KUNIT_EXPECT_EQ(test, handle.wakeup - start,
				(total / watermark + 1) * watermark);
		aux_test_end(buffer, &handle, n);
		total += n;

		KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, start + total), 0);
		KUNIT_ASSERT_EQ_MSG(test, perf_event_aux_wait(event, 0), due ? 0 : -ETIMEDOUT,
				    "%lu bytes, start 0x%lx, watermark %lu",
				    total, start, watermark);
	}
}

static void watermark_cadence(struct kunit *test)
{
	expect_cadence(test, 0, 1024);
	expect_cadence(test, 0, 1000);
	expect_cadence(test, 0, 777);
	/* Several in one transaction. */
	expect_cadence(test, 0, 100);
	expect_cadence(test, 0, 1);
}

static void watermark_cadence_past_ulong_max(struct kunit *test)
{
	expect_cadence(test, -30000UL, 1024);
	expect_cadence(test, -30000UL, 1000);
	expect_cadence(test, -30000UL, 777);
	expect_cadence(test, -30000UL, 100);
}

static void watermark_cadence_past_long_max(struct kunit *test)
{
	expect_cadence(test, LONG_MAX - 30000UL, 1024);
	expect_cadence(test, LONG_MAX - 30000UL, 1000);
	expect_cadence(test, LONG_MAX - 30000UL, 777);
	expect_cadence(test, LONG_MAX - 30000UL, 100);
}

/* It is never reached, as one byte stays free; the full buffer wakes. */
static void watermark_as_large_as_ring(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, PAGE_SIZE);

	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, PAGE_SIZE - 2, 0), PAGE_SIZE - 2);
	aux_test_sync(event);
	KUNIT_EXPECT_TRUE(test, aux_test_active(event));
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), -ETIMEDOUT);

	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, 2, 0), 1);
	aux_test_sync(event);
	KUNIT_EXPECT_FALSE(test, aux_test_active(event));
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), 0);
	aux_test_drain(test, event, 0, PAGE_SIZE - 1);

	/* By the next lap's first byte it is passed, with all data gone. */
	KUNIT_EXPECT_EQ(test, perf_event_aux_restart(event), 0);
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, 1, 0), 1);
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), 0);
	aux_test_drain(test, event, PAGE_SIZE - 1, 1);
}

static void skip_alone_is_published(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	struct perf_output_handle handle;
	struct aux_test_buffer *buffer;
	u8 data[100];

	buffer = aux_test_begin(event, &handle);
	KUNIT_ASSERT_NOT_NULL(test, buffer);
	KUNIT_EXPECT_EQ(test, perf_aux_output_skip(&handle, 100), 0);
	KUNIT_EXPECT_EQ(test, handle.head, 100);
	KUNIT_EXPECT_EQ(test, handle.size, PAGE_SIZE - 1 - 100);
	KUNIT_EXPECT_EQ(test, aux_test_head(test, event), 100);
	aux_test_end(buffer, &handle, 0);

	KUNIT_EXPECT_EQ(test, aux_test_head(test, event), 100);
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, data, 0, 100), 0);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 100), 0);

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 50), 50);
	aux_test_drain(test, event, 100, 50);
}

static void skip_past_watermark_wakes(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 1000);
	struct perf_output_handle handle;
	struct aux_test_buffer *buffer;

	buffer = aux_test_begin(event, &handle);
	KUNIT_ASSERT_NOT_NULL(test, buffer);
	KUNIT_EXPECT_EQ(test, perf_aux_output_skip(&handle, 999), 0);
	KUNIT_EXPECT_EQ(test, handle.wakeup, 1000);
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, perf_aux_output_skip(&handle, 1), 0);
	KUNIT_EXPECT_EQ(test, handle.wakeup, 2000);
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), 0);
	aux_test_end(buffer, &handle, 0);
}

static void skip_cannot_exceed_room(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	struct perf_output_handle handle;
	struct aux_test_buffer *buffer;

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);
	buffer = aux_test_begin(event, &handle);
	KUNIT_ASSERT_NOT_NULL(test, buffer);
	KUNIT_EXPECT_EQ(test, perf_aux_output_skip(&handle, PAGE_SIZE - 100), -ENOSPC);
	KUNIT_EXPECT_EQ(test, perf_aux_output_skip(&handle, ULONG_MAX), -ENOSPC);
	KUNIT_EXPECT_EQ(test, aux_test_head(test, event), 100);
	KUNIT_EXPECT_EQ(test, perf_aux_output_skip(&handle, PAGE_SIZE - 1 - 100), 0);
	KUNIT_EXPECT_EQ(test, handle.size, 0);
	aux_test_end(buffer, &handle, 0);
	KUNIT_EXPECT_EQ(test, aux_test_head(test, event), PAGE_SIZE - 1);
}

static void truncation_disables_and_wakes(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	unsigned long tail = 0;

	perf_event_enable(event);
	for (unsigned long n = 0; n < 200; n += 50) {
		KUNIT_EXPECT_TRUE(test, aux_test_active(event));
		KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, n, PERF_AUX_FLAG_TRUNCATED), n);
		aux_test_sync(event);
		KUNIT_EXPECT_EQ(test, READ_ONCE(event->state), PERF_EVENT_STATE_OFF);

		/* It is far from the watermark. */
		KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), 0);
		KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), -ETIMEDOUT);
		KUNIT_EXPECT_EQ(test, aux_test_head(test, event), tail + n);
		aux_test_drain(test, event, tail, n);
		tail += n;

		KUNIT_EXPECT_EQ(test, perf_event_aux_restart(event), 0);
	}
}

static void other_flags_neither_disable_nor_wake(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	u64 flags = PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_COLLISION;

	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, 0, flags), 0);
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, 100, flags), 100);
	aux_test_sync(event);
	KUNIT_EXPECT_TRUE(test, aux_test_active(event));
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), -ETIMEDOUT);
	aux_test_drain(test, event, 0, 100);
}

/* What stop() commits is there when the disable returns. */
static void disabled_event_has_committed(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	unsigned long tail = 0;

	aux_test_writer(event)->stop_len = 77;
	for (int i = 0; i < 10; i++) {
		perf_event_enable(event);
		perf_event_disable(event);
		KUNIT_EXPECT_EQ(test, aux_test_head(test, event), tail + 77);
		aux_test_drain(test, event, tail, 77);
		tail += 77;
	}
}

static struct kunit_case flow_cases[] = {
	KUNIT_CASE(produce_copy_and_release_cycles),
	KUNIT_CASE(output_end_of_nothing),
	KUNIT_CASE(full_ring_stops_writer),
	KUNIT_CASE(two_events_are_independent),
	KUNIT_CASE(release_is_isolated),
	KUNIT_CASE(user_and_kernel_rings_coexist),
	KUNIT_CASE(two_threads_release_one_event),
	KUNIT_CASE(watermark_cadence),
	KUNIT_CASE(watermark_cadence_past_ulong_max),
	KUNIT_CASE(watermark_cadence_past_long_max),
	KUNIT_CASE(watermark_as_large_as_ring),
	KUNIT_CASE(skip_alone_is_published),
	KUNIT_CASE(skip_past_watermark_wakes),
	KUNIT_CASE(skip_cannot_exceed_room),
	KUNIT_CASE(truncation_disables_and_wakes),
	KUNIT_CASE(other_flags_neither_disable_nor_wake),
	KUNIT_CASE(disabled_event_has_committed),
	{}
};

static struct kunit_suite flow_suite = {
	.name = "perf_aux_kernel_flow",
	.init = aux_test_init,
	.exit = aux_test_exit,
	.test_cases = flow_cases,
};

/* -- speed -- */

#define SPEED_SAMPLES	201
#define SPEED_BYTES	SZ_64K	/* of a sample */

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static u64 median(u64 *samples)
{
	sort(samples, SPEED_SAMPLES, sizeof(*samples), compare_u64, NULL);

	/* Not 0, which a coarse clock can yield: it is divided by. */
	return max(samples[SPEED_SAMPLES / 2], 1);
}

/* What a copy cannot do without. */
static noinline void memcpy_pages(void *dst, void **pages, unsigned long len)
{
	for (; len; pages++) {
		unsigned long n = min(len, PAGE_SIZE);

		memcpy(dst, *pages, n);
		dst += n;
		len -= n;
	}
}

/*
 * The two take turns, so that whatever else goes on meets both. It only reports:
 * how fast is fast enough depends on the machine and on what else it does.
 */
static void compare_with_memcpy(struct kunit *test, unsigned long len)
{
	int nr_pages = len < PAGE_SIZE ? 1 : 2 * len / PAGE_SIZE;
	struct perf_event *event = aux_test_ring(test, nr_pages, 0);
	unsigned int repeats = SPEED_BYTES / len;
	u64 *copies, *memcpys, copy, pagewise;
	void *data;

	copies = kunit_kcalloc(test, SPEED_SAMPLES, sizeof(*copies), GFP_KERNEL);
	memcpys = kunit_kcalloc(test, SPEED_SAMPLES, sizeof(*memcpys), GFP_KERNEL);
	data = kunit_kzalloc(test, len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, copies);
	KUNIT_ASSERT_NOT_NULL(test, memcpys);
	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_EXPECT_EQ(test, aux_test_write(event, len), len);

	for (int i = 0; i < SPEED_SAMPLES; i++) {
		u64 start = ktime_get_ns(), middle;
		int ret = 0;

		for (unsigned int j = 0; j < repeats; j++)
			ret |= perf_event_aux_copy(event, data, 0, len);
		middle = ktime_get_ns();
		for (unsigned int j = 0; j < repeats; j++)
			memcpy_pages(data, event->rb->aux_pages, len);

		memcpys[i] = ktime_get_ns() - middle;
		copies[i] = middle - start;
		KUNIT_ASSERT_EQ(test, ret, 0);
	}

	aux_test_expect_data(test, event, data, 0, len);
	copy = median(copies);
	pagewise = median(memcpys);
	kunit_info(test, "copy %lu bytes: %llu ns, page-wise memcpy %llu ns, ratio %llu.%03llu\n",
		   len, div_u64(copy, repeats), div_u64(pagewise, repeats),
		   div64_u64(pagewise, copy), div64_u64(pagewise * 1000, copy) % 1000);
}

static void copy_of_4k(struct kunit *test)
{
	compare_with_memcpy(test, SZ_4K);
}

static void copy_of_64k(struct kunit *test)
{
	compare_with_memcpy(test, SZ_64K);
}

static struct kunit_case speed_cases[] = {
	KUNIT_CASE(copy_of_4k),
	KUNIT_CASE(copy_of_64k),
	{}
};

static struct kunit_suite speed_suite = {
	.name = "perf_aux_kernel_speed",
	.init = aux_test_init,
	.exit = aux_test_exit,
	.test_cases = speed_cases,
};

kunit_test_suites(&accessors_suite, &flow_suite, &speed_suite);
