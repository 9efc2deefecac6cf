// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suites of AUX buffers for kernel consumers: who has a buffer, and since
 * when, and until when.
 *
 *   perf_aux_kernel_lifecycle	set up and released
 *   perf_aux_kernel_admission	mappings and redirected output
 *   perf_aux_kernel_faults	memory that cannot be had
 *
 * What is in a buffer is the subject of aux_kernel_data_test.c. Consumers that
 * wait, and several at a time, are that of aux_kernel_race_test.c.
 */

#include <linux/cleanup.h>
#include <linux/error-injection.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/ptrace.h>
#include <linux/sched.h>

#include "aux_kernel_test.h"

/* -- lifecycle -- */

static void setup_rejects_non_power_of_two(struct kunit *test)
{
	static const int sizes[] = { 3, 5, 6, 7, 9, 12, 1023, 1025, INT_MAX };
	struct perf_event *event = aux_test_event(test);

	for (int i = 0; i < ARRAY_SIZE(sizes); i++)
		KUNIT_EXPECT_EQ_MSG(test, perf_event_setup_aux(event, sizes[i], 0), -EINVAL,
				    "%d pages", sizes[i]);

	KUNIT_EXPECT_NULL(test, event->rb);
	KUNIT_EXPECT_EQ(test, atomic_read(&aux_test_default_pmu(test)->setups), 0);
}

static void setup_rejects_no_pages(struct kunit *test)
{
	static const int sizes[] = { 0, -1, -2, INT_MIN };
	struct perf_event *event = aux_test_event(test);

	for (int i = 0; i < ARRAY_SIZE(sizes); i++)
		KUNIT_EXPECT_EQ_MSG(test, perf_event_setup_aux(event, sizes[i], 0), -EINVAL,
				    "%d pages", sizes[i]);

	KUNIT_EXPECT_NULL(test, event->rb);
}

static void setup_accepts_powers_of_two(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);

	for (int nr_pages = 1; nr_pages <= 64; nr_pages *= 2) {
		KUNIT_ASSERT_EQ_MSG(test, perf_event_setup_aux(event, nr_pages, 0), 0,
				    "%d pages", nr_pages);
		KUNIT_EXPECT_EQ(test, perf_aux_size(event->rb), nr_pages * PAGE_SIZE);
		perf_event_release_aux(event);
	}
}

/* Cursors count from one page's end into the next in each of the pages. */
static void setup_accepts_large_ring(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);
	struct perf_output_handle handle;
	struct aux_test_buffer *buffer;
	unsigned long size;
	int nr_pages = 4096;
	u8 data[32];

	/* With pages of 64 KiB there can be too few. */
	while (nr_pages > totalram_pages() / 3)
		nr_pages /= 2;
	size = nr_pages * PAGE_SIZE;

	KUNIT_ASSERT_EQ(test, perf_event_setup_aux(event, nr_pages, 0), 0);
	KUNIT_ASSERT_EQ(test, perf_aux_size(event->rb), size);

	buffer = aux_test_begin(event, &handle);
	KUNIT_ASSERT_NOT_NULL(test, buffer);
	KUNIT_EXPECT_EQ(test, handle.size, size - 1);
	for (unsigned long end = PAGE_SIZE; end < size; end += PAGE_SIZE)
		aux_test_fill(event, buffer, end - sizeof(data) / 2, sizeof(data));
	aux_test_end(buffer, &handle, size - 1);

	for (unsigned long end = PAGE_SIZE; end < size; end += PAGE_SIZE) {
		unsigned long from = end - sizeof(data) / 2;

		KUNIT_ASSERT_EQ(test, perf_event_aux_copy(event, data, from, sizeof(data)), 0);
		aux_test_expect_data(test, event, data, from, sizeof(data));
	}
}

/* More than an array of page pointers can hold, or than cursors can count. */
static void setup_rejects_absurd_size(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);

	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1 << 30, 0),
			BITS_PER_LONG == 64 ? -ENOMEM : -EINVAL);
	KUNIT_EXPECT_NULL(test, event->rb);
}

static void setup_twice_is_busy(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 2, 0);
	struct perf_buffer *rb = event->rb;

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 2, 0), -EBUSY);
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 4, 1), -EBUSY);

	KUNIT_EXPECT_PTR_EQ(test, event->rb, rb);
	KUNIT_EXPECT_EQ(test, atomic_read(&aux_test_default_pmu(test)->setups), 1);
	aux_test_drain(test, event, 0, 100);
}

static void setup_rejects_child_event(struct kunit *test)
{
	struct perf_event *parent = aux_test_event(test);
	struct perf_event *child = aux_test_event(test);

	child->parent = parent;
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(child, 1, 0), -EINVAL);
	child->parent = NULL;

	KUNIT_EXPECT_NULL(test, child->rb);
	KUNIT_EXPECT_NULL(test, parent->rb);
}

static void setup_rejects_user_event(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);
	struct task_struct *owner = event->owner;

	event->owner = current;
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), -EINVAL);
	event->owner = owner;

	KUNIT_EXPECT_NULL(test, event->rb);
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), 0);
}

static void setup_rejects_inherited_event(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);

	event->attr.inherit = 1;
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), -EINVAL);
	event->attr.inherit = 0;

	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), 0);
}

static void setup_rejects_aux_sampling(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);

	event->attr.aux_sample_size = 64;
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), -EINVAL);
	event->attr.aux_sample_size = 0;

	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), 0);
}

static void setup_rejects_aux_output_and_actions(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);

	event->attr.aux_output = 1;
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), -EINVAL);
	event->attr.aux_output = 0;

	event->attr.aux_pause = 1;
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), -EINVAL);
	event->attr.aux_pause = 0;

	event->attr.aux_resume = 1;
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), -EINVAL);
	event->attr.aux_resume = 0;

	event->attr.aux_start_paused = 1;
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), -EINVAL);
	event->attr.aux_start_paused = 0;

	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), 0);
}

static void setup_rejects_negative_watermark(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);

	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, -1), -EINVAL);
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, -(long)PAGE_SIZE), -EINVAL);
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, LONG_MIN), -EINVAL);
	KUNIT_EXPECT_NULL(test, event->rb);
}

static void setup_rejects_watermark_above_size(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);

	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 2, 2 * PAGE_SIZE + 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 2, LONG_MAX), -EINVAL);
	KUNIT_EXPECT_NULL(test, event->rb);

	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 2, 2 * PAGE_SIZE), 0);
}

static void setup_takes_explicit_watermark(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 100);

	KUNIT_EXPECT_EQ(test, event->rb->aux_watermark, 100);

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 99), 99);
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, aux_test_write(event, 1), 1);
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), 0);
}

static void setup_defaults_to_half_as_watermark(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 2, 0);

	KUNIT_EXPECT_EQ(test, event->rb->aux_watermark, PAGE_SIZE);

	KUNIT_EXPECT_EQ(test, aux_test_write(event, PAGE_SIZE - 1), PAGE_SIZE - 1);
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, aux_test_write(event, 1), 1);
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), 0);
}

static void setup_needs_pmu_with_aux(struct kunit *test)
{
	struct aux_test_pmu *pmu = aux_test_pmu_alloc(test);
	struct perf_event *event;

	pmu->pmu.setup_aux = NULL;
	pmu->pmu.free_aux = NULL;
	aux_test_pmu_register(test, pmu);
	event = aux_test_event_of(test, pmu, NULL);

	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), -EOPNOTSUPP);
	KUNIT_EXPECT_NULL(test, event->rb);
}

/* The pages had been allocated by then. */
static void setup_survives_refusal_by_pmu(struct kunit *test)
{
	struct aux_test_pmu *pmu = aux_test_default_pmu(test);
	struct perf_event *event = aux_test_event(test);

	pmu->fail_setup = true;
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 4, 0), -ENOMEM);
	KUNIT_EXPECT_NULL(test, event->rb);
	/* It has nothing to free. */
	KUNIT_EXPECT_EQ(test, atomic_read(&pmu->frees), 0);

	pmu->fail_setup = false;
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 4, 0), 0);
	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);
	aux_test_drain(test, event, 0, 100);
}

static void setup_of_unregistered_pmu(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);

	aux_test_pmu_unregister(test, aux_test_default_pmu(test));

	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), -ENODEV);
	KUNIT_EXPECT_NULL(test, event->rb);
}

/* An event that is running when it gets a buffer need not be enabled again. */
static void setup_of_active_event_starts_writer(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);

	perf_event_enable(event);
	KUNIT_ASSERT_TRUE(test, aux_test_active(event));
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, 100, 0), 0);

	KUNIT_ASSERT_EQ(test, perf_event_setup_aux(event, 1, 0), 0);
	KUNIT_EXPECT_TRUE(test, aux_test_active(event));
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, 100, 0), 100);
	aux_test_drain(test, event, 0, 100);
}

/*
 * What the buffer looks like to the rest of perf: nobody has mapped it, there
 * are no data pages, and what would be mapped at 0 is the user page.
 */
static void ring_has_no_mapping_and_no_data_pages(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 2, 0);
	struct perf_buffer *rb = event->rb;

	KUNIT_EXPECT_TRUE(test, rb_has_aux(rb));
	KUNIT_EXPECT_TRUE(test, rb_aux_live(rb));
	KUNIT_EXPECT_TRUE(test, rb_aux_kernel(rb));
	KUNIT_EXPECT_EQ(test, refcount_read(&rb->aux_kernel_count), 1);
	KUNIT_EXPECT_EQ(test, refcount_read(&rb->aux_mmap_count), 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&rb->mmap_count), 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&event->mmap_count), 0);
	KUNIT_EXPECT_EQ(test, data_page_nr(rb), 0);
	KUNIT_EXPECT_EQ(test, rb->aux_overwrite, 0);

	KUNIT_EXPECT_NE(test, rb->aux_pgoff, 0);
	KUNIT_EXPECT_PTR_NE(test, perf_mmap_to_page(rb, 0), virt_to_page(rb->aux_pages[0]));
	KUNIT_EXPECT_PTR_EQ(test, perf_mmap_to_page(rb, rb->aux_pgoff),
			    virt_to_page(rb->aux_pages[0]));
}

static void writer_is_admitted(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 2, 0);
	struct perf_output_handle handle;
	struct aux_test_buffer *buffer;

	buffer = aux_test_begin(event, &handle);
	KUNIT_ASSERT_NOT_NULL(test, buffer);
	KUNIT_EXPECT_PTR_EQ(test, buffer, perf_get_aux(&handle));
	KUNIT_EXPECT_EQ(test, handle.head, 0);
	KUNIT_EXPECT_EQ(test, handle.size, 2 * PAGE_SIZE - 1);
	aux_test_end(buffer, &handle, 0);

	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, 100, 0), 100);
	aux_test_drain(test, event, 0, 100);
}

static void writer_is_refused_after_release(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);
	perf_event_release_aux(event);
	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 0);

	perf_event_enable(event);
	KUNIT_EXPECT_TRUE(test, aux_test_active(event));
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, 100, 0), 0);
}

/* The moment of a release when the buffer is attached, but nobody's. */
static void writer_is_refused_without_owner(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	struct perf_buffer *rb = event->rb;

	refcount_set(&rb->aux_kernel_count, 0);
	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&rb->aux_refcount), 1);
	KUNIT_EXPECT_EQ(test, refcount_read(&rb->refcount), 1);
	refcount_set(&rb->aux_kernel_count, 1);

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);
}

/* The buffer takes one transaction at a time. A second one is the driver's bug. */
static void writer_is_refused_in_transaction(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	struct perf_output_handle handle, second;
	struct aux_test_buffer *buffer;

	buffer = aux_test_begin(event, &handle);
	KUNIT_ASSERT_NOT_NULL(test, buffer);

	kunit_warning_suppress(test) {
		KUNIT_EXPECT_NULL(test, aux_test_begin(event, &second));
		if (IS_ENABLED(CONFIG_BUG))
			KUNIT_EXPECT_SUPPRESSED_WARNING_COUNT(test, 1);
	}

	aux_test_fill(event, buffer, 0, 100);
	aux_test_end(buffer, &handle, 100);
	aux_test_drain(test, event, 0, 100);
}

static void release_without_ring_changes_nothing(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);

	perf_event_enable(event);
	KUNIT_ASSERT_TRUE(test, aux_test_active(event));

	perf_event_release_aux(event);
	KUNIT_EXPECT_TRUE(test, aux_test_active(event));
	KUNIT_EXPECT_EQ(test, atomic_read(&aux_test_default_pmu(test)->frees), 0);
}

static void release_disables_event(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);

	aux_test_writer(event)->stop_len = 50;
	perf_event_enable(event);
	KUNIT_ASSERT_TRUE(test, aux_test_active(event));
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, 100, 0), 100);

	perf_event_release_aux(event);
	KUNIT_EXPECT_EQ(test, READ_ONCE(event->state), PERF_EVENT_STATE_OFF);
	KUNIT_EXPECT_NULL(test, event->rb);
	KUNIT_EXPECT_EQ(test, atomic_read(&aux_test_default_pmu(test)->frees), 1);
}

static void setup_and_release_round_trip(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	u8 byte;

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 1000), 1000);
	aux_test_drain(test, event, 0, 1000);
	perf_event_release_aux(event);
	KUNIT_EXPECT_NULL(test, event->rb);
	KUNIT_EXPECT_EQ(test, atomic_read(&aux_test_default_pmu(test)->frees), 1);

	/* A new one begins at 0, and has nothing of the old one in it. */
	KUNIT_ASSERT_EQ(test, perf_event_setup_aux(event, 4, 0), 0);
	KUNIT_EXPECT_EQ(test, perf_aux_size(event->rb), 4 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, aux_test_head(test, event), 0);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, &byte, 0, 1), -ERANGE);
	KUNIT_EXPECT_EQ(test, aux_test_write(event, 3 * PAGE_SIZE), 3 * PAGE_SIZE);
	aux_test_drain(test, event, 0, 3 * PAGE_SIZE);
}

static void setup_and_release_many_cycles(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);
	int i;

	for (i = 0; i < 100; i++) {
		KUNIT_ASSERT_EQ(test, perf_event_setup_aux(event, 1 << i % 4, 0), 0);
		if (i % 3)
			KUNIT_EXPECT_EQ(test, aux_test_write(event, i), i);
		if (i % 5 == 0)
			perf_event_enable(event);
		perf_event_release_aux(event);
		KUNIT_EXPECT_EQ(test, atomic_read(&aux_test_default_pmu(test)->frees), i + 1);
	}
}

static void release_twice(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);

	perf_event_release_aux(event);
	perf_event_release_aux(event);
	KUNIT_EXPECT_EQ(test, atomic_read(&aux_test_default_pmu(test)->frees), 1);

	/* The second one is none, so it does not disable either. */
	perf_event_enable(event);
	perf_event_release_aux(event);
	KUNIT_EXPECT_TRUE(test, aux_test_active(event));
}

static void release_of_event_releases_ring(struct kunit *test)
{
	struct aux_test_pmu *pmu = aux_test_default_pmu(test);
	struct perf_event *idle = aux_test_ring(test, 2, 0);
	struct perf_event *active = aux_test_ring(test, 2, 0);

	KUNIT_EXPECT_EQ(test, aux_test_write(idle, 100), 100);
	aux_test_event_release(idle);
	KUNIT_EXPECT_EQ(test, atomic_read(&pmu->frees), 1);

	aux_test_writer(active)->stop_len = 50;
	perf_event_enable(active);
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(active, 100, 0), 100);
	aux_test_event_release(active);
	KUNIT_EXPECT_EQ(test, atomic_read(&pmu->frees), 2);
}

/* The disable and the wakeup of a full buffer are still on their way. */
static void release_of_event_with_pending_disable(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);

	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, ULONG_MAX, 0), PAGE_SIZE - 1);
	aux_test_event_release(event);
	KUNIT_EXPECT_EQ(test, atomic_read(&aux_test_default_pmu(test)->frees), 1);
}

static void unregister_releases_ring(struct kunit *test)
{
	struct aux_test_pmu *pmu = aux_test_default_pmu(test);
	struct perf_event *event = aux_test_ring(test, 2, 0);
	unsigned long head;
	u8 byte = 0;

	aux_test_writer(event)->stop_len = 50;
	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, 100, 0), 100);

	aux_test_pmu_unregister(test, pmu);
	KUNIT_EXPECT_EQ(test, atomic_read(&pmu->frees), 1);
	KUNIT_EXPECT_NULL(test, event->rb);

	KUNIT_EXPECT_EQ(test, perf_event_aux_head(event, &head), -ENXIO);
	KUNIT_EXPECT_EQ(test, perf_event_aux_copy(event, &byte, 0, 1), -ENXIO);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, 100), -ENXIO);
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), -ENXIO);
	KUNIT_EXPECT_EQ(test, perf_event_aux_restart(event), -ENXIO);
	perf_event_release_aux(event);
	KUNIT_EXPECT_EQ(test, atomic_read(&pmu->frees), 1);
}

static int sleep_until_stopped(struct aux_test_worker *worker)
{
	while (!READ_ONCE(worker->stop))
		schedule_timeout_interruptible(1);

	return 0;
}

/* A task's event stays when the task exits, and so does what it has written. */
static void ring_outlives_task(struct kunit *test)
{
	struct aux_test_worker *worker = aux_test_start(test, sleep_until_stopped, NULL, NULL, 0);
	struct perf_event *event;
	unsigned long head;

	event = aux_test_event_of(test, aux_test_default_pmu(test), worker->task);
	KUNIT_ASSERT_EQ(test, perf_event_setup_aux(event, 1, 0), 0);
	aux_test_writer(event)->start_len = 10;
	perf_event_enable(event);
	KUNIT_EXPECT_TRUE(test, aux_test_poll(aux_test_head(test, event)));
	aux_test_stop(test, worker);

	head = aux_test_head(test, event);
	KUNIT_EXPECT_GE(test, head, 10);
	aux_test_drain(test, event, 0, head);
	perf_event_release_aux(event);
	KUNIT_EXPECT_EQ(test, atomic_read(&aux_test_default_pmu(test)->frees), 1);
}

#ifdef CONFIG_MODULE_UNLOAD
/* These tests are no module; this is one as far as references are concerned. */
static struct aux_test_pmu *pmu_of_module(struct kunit *test, struct module **module)
{
	struct aux_test_pmu *pmu = aux_test_pmu_alloc(test);

	*module = kunit_kzalloc(test, sizeof(**module), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, *module);
	(*module)->state = MODULE_STATE_LIVE;
	atomic_set(&(*module)->refcnt, 1);

	pmu->pmu.module = *module;
	aux_test_pmu_register(test, pmu);

	return pmu;
}
#endif

static void ring_holds_module(struct kunit *test)
{
#ifdef CONFIG_MODULE_UNLOAD
	struct module *module;
	struct aux_test_pmu *pmu = pmu_of_module(test, &module);
	struct perf_event *event = aux_test_event_of(test, pmu, NULL);

	KUNIT_EXPECT_EQ(test, module_refcount(module), 1);
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, module_refcount(module), 2);
	perf_event_release_aux(event);
	KUNIT_EXPECT_EQ(test, module_refcount(module), 1);

	pmu->fail_setup = true;
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), -ENOMEM);
	KUNIT_EXPECT_EQ(test, module_refcount(module), 1);
	pmu->fail_setup = false;

	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, module_refcount(module), 2);
	aux_test_pmu_unregister(test, pmu);
	KUNIT_EXPECT_EQ(test, module_refcount(module), 0);
#else
	kunit_skip(test, "needs CONFIG_MODULE_UNLOAD");
#endif
}

/*
 * A mapping stays when the PMU is unregistered, and munmap() calls free_aux().
 * The module must not be unloaded between the two.
 */
static void mapping_holds_module(struct kunit *test)
{
#ifdef CONFIG_MODULE_UNLOAD
	struct module *module;
	struct aux_test_pmu *pmu = pmu_of_module(test, &module);
	struct perf_event *event = aux_test_event_of(test, pmu, NULL);
	struct aux_test_mapping *mapping = aux_test_map(test, event, 1);

	KUNIT_EXPECT_EQ(test, module_refcount(module), 2);
	aux_test_pmu_unregister(test, pmu);
	KUNIT_EXPECT_EQ(test, atomic_read(&pmu->frees), 0);
	KUNIT_EXPECT_EQ(test, module_refcount(module), 1);

	aux_test_unmap(test, mapping);
	KUNIT_EXPECT_EQ(test, atomic_read(&pmu->frees), 1);
	KUNIT_EXPECT_EQ(test, module_refcount(module), 0);
#else
	kunit_skip(test, "needs CONFIG_MODULE_UNLOAD");
#endif
}

static struct kunit_case lifecycle_cases[] = {
	KUNIT_CASE(setup_rejects_non_power_of_two),
	KUNIT_CASE(setup_accepts_powers_of_two),
	KUNIT_CASE(setup_twice_is_busy),
	KUNIT_CASE(setup_rejects_child_event),
	KUNIT_CASE(setup_rejects_negative_watermark),
	KUNIT_CASE(setup_takes_explicit_watermark),
	KUNIT_CASE(writer_is_admitted),
	KUNIT_CASE(writer_is_refused_after_release),
	KUNIT_CASE(release_without_ring_changes_nothing),
	KUNIT_CASE(setup_and_release_round_trip),
	KUNIT_CASE(setup_and_release_many_cycles),
	KUNIT_CASE(release_twice),
	KUNIT_CASE(setup_rejects_no_pages),
	KUNIT_CASE(setup_rejects_absurd_size),
	KUNIT_CASE(setup_accepts_large_ring),
	KUNIT_CASE(setup_rejects_user_event),
	KUNIT_CASE(setup_rejects_inherited_event),
	KUNIT_CASE(setup_rejects_aux_sampling),
	KUNIT_CASE(setup_rejects_aux_output_and_actions),
	KUNIT_CASE(setup_rejects_watermark_above_size),
	KUNIT_CASE(setup_defaults_to_half_as_watermark),
	KUNIT_CASE(setup_needs_pmu_with_aux),
	KUNIT_CASE(setup_survives_refusal_by_pmu),
	KUNIT_CASE(setup_of_unregistered_pmu),
	KUNIT_CASE(setup_of_active_event_starts_writer),
	KUNIT_CASE(ring_has_no_mapping_and_no_data_pages),
	KUNIT_CASE(writer_is_refused_without_owner),
	KUNIT_CASE(writer_is_refused_in_transaction),
	KUNIT_CASE(release_disables_event),
	KUNIT_CASE(release_of_event_releases_ring),
	KUNIT_CASE(release_of_event_with_pending_disable),
	KUNIT_CASE(unregister_releases_ring),
	KUNIT_CASE(ring_outlives_task),
	KUNIT_CASE(ring_holds_module),
	KUNIT_CASE(mapping_holds_module),
	{}
};

static struct kunit_suite lifecycle_suite = {
	.name = "perf_aux_kernel_lifecycle",
	.init = aux_test_init,
	.exit = aux_test_exit,
	.test_cases = lifecycle_cases,
};

/* -- admission -- */

/* Everything that an attempt to share a buffer could leave behind. */
struct ring_counts {
	struct perf_buffer *rb;
	unsigned int ref;
	unsigned int mmap;
	unsigned int aux_mmap;
	unsigned int aux_kernel;
	unsigned int aux_ref;
	unsigned int event_mmap;
};

static struct ring_counts ring_counts(struct perf_event *event)
{
	struct perf_buffer *rb = event->rb;

	return (struct ring_counts) {
		.rb = rb,
		.ref = refcount_read(&rb->refcount),
		.mmap = refcount_read(&rb->mmap_count),
		.aux_mmap = refcount_read(&rb->aux_mmap_count),
		.aux_kernel = refcount_read(&rb->aux_kernel_count),
		.aux_ref = refcount_read(&rb->aux_refcount),
		.event_mmap = refcount_read(&event->mmap_count),
	};
}

static void expect_counts(struct kunit *test, struct perf_event *event,
			  const struct ring_counts *before)
{
	struct ring_counts now = ring_counts(event);

	KUNIT_EXPECT_MEMEQ(test, &now, before, sizeof(now));
}

static void mapping_of_kernel_ring_is_refused(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 2, 0);
	struct vm_area_struct *vma = aux_test_vma(test, 0);
	struct ring_counts before = ring_counts(event);

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);

	scoped_guard (mutex, &event->mmap_mutex) {
		/* With as many data pages as it has, none, and with some. */
		KUNIT_EXPECT_EQ(test, perf_mmap_rb(vma, event, 1), -EBUSY);
		KUNIT_EXPECT_EQ(test, perf_mmap_rb(vma, event, 2), -EBUSY);
	}

	expect_counts(test, event, &before);
	aux_test_drain(test, event, 0, 100);
}

static void mapping_of_kernel_aux_area_is_refused(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 2, 0);
	struct vm_area_struct *vma = aux_test_vma(test, event->rb->aux_pgoff);
	struct perf_event_mmap_page *page = event->rb->user_page;
	struct ring_counts before = ring_counts(event);

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);

	/* As if user space had asked for just this area. */
	page->aux_offset = event->rb->aux_pgoff << PAGE_SHIFT;
	page->aux_size = 2 * PAGE_SIZE;
	scoped_guard (mutex, &event->mmap_mutex)
		KUNIT_EXPECT_EQ(test, perf_mmap_aux(vma, event, 2), -EBUSY);

	expect_counts(test, event, &before);
	aux_test_drain(test, event, 0, 100);
}

/* Its buffer is another event's, and has no mapping through this one. */
static void mapping_of_redirected_event_is_refused(struct kunit *test)
{
	struct perf_event *user = aux_test_event(test);
	struct perf_event *event = aux_test_event(test);
	struct aux_test_mapping *mapping = aux_test_map(test, user, 1);
	struct vm_area_struct *vma = aux_test_vma(test, mapping->rb->aux_pgoff);

	KUNIT_ASSERT_EQ(test, perf_event_set_output(event, user), 0);
	scoped_guard (mutex, &event->mmap_mutex)
		KUNIT_EXPECT_EQ(test, perf_mmap_aux(vma, event, 1), -EBUSY);

	KUNIT_EXPECT_EQ(test, refcount_read(&event->mmap_count), 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&mapping->rb->aux_mmap_count), 1);
}

static void output_to_kernel_ring_is_refused(struct kunit *test)
{
	struct perf_event *kernel = aux_test_ring(test, 1, 0);
	struct perf_event *other = aux_test_event(test);
	struct ring_counts before = ring_counts(kernel);

	KUNIT_EXPECT_EQ(test, perf_event_set_output(other, kernel), -EBUSY);
	KUNIT_EXPECT_NULL(test, other->rb);
	expect_counts(test, kernel, &before);

	/* With a buffer of the other's own, too. */
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(other, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, perf_event_set_output(other, kernel), -EBUSY);
	expect_counts(test, kernel, &before);

	KUNIT_EXPECT_EQ(test, aux_test_write(kernel, 100), 100);
	aux_test_drain(test, kernel, 0, 100);
}

static void output_of_kernel_ring_stays(struct kunit *test)
{
	struct perf_event *kernel = aux_test_ring(test, 1, 0);
	struct perf_event *user = aux_test_event(test);
	struct perf_event *other = aux_test_event(test);
	struct ring_counts before = ring_counts(kernel);

	aux_test_map(test, user, 1);

	/* Not to user space's buffer, not to nobody's, not to none. */
	KUNIT_EXPECT_EQ(test, perf_event_set_output(kernel, user), -EBUSY);
	KUNIT_EXPECT_EQ(test, perf_event_set_output(kernel, other), -EBUSY);
	KUNIT_EXPECT_EQ(test, perf_event_set_output(kernel, NULL), -EBUSY);
	expect_counts(test, kernel, &before);

	KUNIT_EXPECT_EQ(test, aux_test_write(kernel, 100), 100);
	aux_test_drain(test, kernel, 0, 100);
}

static void setup_of_redirected_event_is_busy(struct kunit *test)
{
	struct perf_event *user = aux_test_event(test);
	struct perf_event *event = aux_test_event(test);
	struct aux_test_mapping *mapping = aux_test_map(test, user, 1);

	KUNIT_EXPECT_EQ(test, perf_event_set_output(event, user), 0);
	KUNIT_EXPECT_PTR_EQ(test, event->rb, mapping->rb);
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), -EBUSY);
	perf_event_release_aux(event);
	KUNIT_EXPECT_PTR_EQ(test, event->rb, mapping->rb);

	KUNIT_EXPECT_EQ(test, perf_event_set_output(event, NULL), 0);
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);
	aux_test_drain(test, event, 0, 100);
}

static struct kunit_case admission_cases[] = {
	KUNIT_CASE(mapping_of_kernel_ring_is_refused),
	KUNIT_CASE(mapping_of_kernel_aux_area_is_refused),
	KUNIT_CASE(mapping_of_redirected_event_is_refused),
	KUNIT_CASE(output_to_kernel_ring_is_refused),
	KUNIT_CASE(output_of_kernel_ring_stays),
	KUNIT_CASE(setup_of_redirected_event_is_busy),
	{}
};

static struct kunit_suite admission_suite = {
	.name = "perf_aux_kernel_admission",
	.init = aux_test_init,
	.exit = aux_test_exit,
	.test_cases = admission_cases,
};

/* -- faults -- */

#ifdef CONFIG_FAULT_INJECTION

#if defined(CONFIG_FAILSLAB) && defined(CONFIG_FAIL_PAGE_ALLOC) && \
	defined(CONFIG_KPROBES) && defined(CONFIG_FUNCTION_ERROR_INJECTION)
#define FAULTS_ARMED	true

/*
 * By default failslab and fail_page_alloc spare allocations that may sleep, and
 * single pages, which is all that there is here. It takes debugfs to change
 * that, which nobody has mounted while KUnit runs at boot. So ask fail_nth in
 * place of the two, before they have looked at anything else.
 */
struct fault_probe {
	struct kprobe kprobe;
	unsigned int gfp_arg;
	gfp_t gfp;		/* of allocations that count */
	unsigned long failure;
};

static int fault_probe_pre(struct kprobe *kprobe, struct pt_regs *regs)
{
	struct fault_probe *probe = container_of(kprobe, struct fault_probe, kprobe);
	gfp_t gfp = (__force gfp_t)regs_get_kernel_argument(regs, probe->gfp_arg);

	/*
	 * An interrupt's allocations cannot sleep. What kmemleak or KASAN
	 * allocate for themselves is told by __GFP_NOMEMALLOC.
	 */
	if (!current->fail_nth || (gfp & probe->gfp) != probe->gfp ||
	    gfp & (__GFP_NOFAIL | __GFP_NOMEMALLOC))
		return 0;

	regs_set_return_value(regs, --current->fail_nth ? 0 : probe->failure);
	override_function_with_return(regs);

	return 1;
}

NOKPROBE_SYMBOL(fault_probe_pre);

/* A probe that has one is not optimized, and so may change where to go on. */
static void fault_probe_post(struct kprobe *kprobe, struct pt_regs *regs, unsigned long flags)
{
}

NOKPROBE_SYMBOL(fault_probe_post);

static struct fault_probe fault_probes[] = {
	{
		.kprobe = {
			.symbol_name = "should_failslab",
			.pre_handler = fault_probe_pre,
			.post_handler = fault_probe_post,
		},
		.gfp_arg = 1,
		.gfp = __GFP_DIRECT_RECLAIM,
		.failure = -ENOMEM,
	}, {
		.kprobe = {
			.symbol_name = "should_fail_alloc_page",
			.pre_handler = fault_probe_pre,
			.post_handler = fault_probe_post,
		},
		.gfp_arg = 0,
		/* Slabs get their pages without, and failslab is for these. */
		.gfp = __GFP_DIRECT_RECLAIM | __GFP_ZERO,
		.failure = true,
	},
};

static void unregister_fault_probes(void *data)
{
	for (int i = 0; i < ARRAY_SIZE(fault_probes); i++) {
		struct kprobe *kprobe = &fault_probes[i].kprobe;

		unregister_kprobe(kprobe);
		/* As before, for the next register_kprobe(). */
		kprobe->addr = NULL;
		kprobe->flags = 0;
	}
}

static void register_fault_probes(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(fault_probes); i++)
		KUNIT_ASSERT_EQ(test, register_kprobe(&fault_probes[i].kprobe), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, unregister_fault_probes, NULL), 0);
}
#else
/* As by default; somebody may have armed them by debugfs. */
#define FAULTS_ARMED	false

static void register_fault_probes(struct kunit *test)
{
}
#endif

/* Whether the allocation that was to fail has come. None fails after this. */
static bool fault_has_come(void)
{
	bool come = !current->fail_nth;

	current->fail_nth = 0;

	return come;
}

static void expect_allocations(struct kunit *test, unsigned int nr, unsigned int expected)
{
	if (!FAULTS_ARMED && nr < expected)
		kunit_skip(test,
			   "needs CONFIG_FAILSLAB, FAIL_PAGE_ALLOC, KPROBES and FUNCTION_ERROR_INJECTION");

	KUNIT_EXPECT_GE(test, nr, expected);
}

static void setup_survives_each_failing_allocation(struct kunit *test)
{
	struct aux_test_pmu *pmu = aux_test_default_pmu(test);
	struct perf_event *event = aux_test_event(test);
	unsigned int nth;

	register_fault_probes(test);

	for (nth = 1; nth < 100; nth++) {
		int ret;

		current->fail_nth = nth;
		ret = perf_event_setup_aux(event, 8, 0);
		if (!fault_has_come()) {
			KUNIT_EXPECT_EQ(test, ret, 0);
			break;
		}

		KUNIT_EXPECT_EQ_MSG(test, ret, -ENOMEM, "allocation %u", nth);
		KUNIT_EXPECT_NULL(test, event->rb);
		KUNIT_EXPECT_EQ(test, atomic_read(&pmu->setups), atomic_read(&pmu->frees));
		if (!ret)
			perf_event_release_aux(event);
	}

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);
	aux_test_drain(test, event, 0, 100);
	/* The buffer, its user page, the array, eight pages, and the PMU's own. */
	expect_allocations(test, nth - 1, 12);
}

/* A buffer whose AUX area could not be made has nothing left of it. */
static void aux_pages_do_not_leak(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);
	struct perf_buffer *rb;
	unsigned int nth;
	int ret = -ENOMEM;

	register_fault_probes(test);

	rb = rb_alloc(0, 0, event->cpu, RING_BUFFER_WRITABLE);
	KUNIT_ASSERT_NOT_NULL(test, rb);

	/* The second one is the first page. */
	for (nth = 1; nth < 100; nth++) {
		current->fail_nth = nth;
		ret = rb_alloc_aux(rb, event, 1, 4, 0, RING_BUFFER_WRITABLE);
		if (!fault_has_come())
			break;

		KUNIT_EXPECT_EQ_MSG(test, ret, -ENOMEM, "allocation %u", nth);
		KUNIT_EXPECT_NULL(test, rb->aux_pages);
		KUNIT_EXPECT_EQ(test, rb->aux_nr_pages, 0);
	}

	KUNIT_EXPECT_EQ(test, ret, 0);
	if (!ret)
		rb_free_aux(rb);
	KUNIT_EXPECT_NULL(test, rb->aux_pages);
	ring_buffer_put(rb);
	expect_allocations(test, nth - 1, 6);
}

#else /* !CONFIG_FAULT_INJECTION */

static void setup_survives_each_failing_allocation(struct kunit *test)
{
	kunit_skip(test, "needs CONFIG_FAULT_INJECTION");
}

static void aux_pages_do_not_leak(struct kunit *test)
{
	kunit_skip(test, "needs CONFIG_FAULT_INJECTION");
}

#endif /* CONFIG_FAULT_INJECTION */

/* The one failure that needs no injection, again and again. */
static void refusals_by_pmu_do_not_add_up(struct kunit *test)
{
	struct aux_test_pmu *pmu = aux_test_default_pmu(test);
	struct perf_event *event = aux_test_event(test);

	for (int i = 0; i < 100; i++) {
		pmu->fail_setup = i % 4;
		KUNIT_ASSERT_EQ(test, perf_event_setup_aux(event, 1 << i % 5, 0),
				pmu->fail_setup ? -ENOMEM : 0);
		KUNIT_EXPECT_EQ(test, aux_test_write(event, 10), pmu->fail_setup ? 0 : 10);
		perf_event_release_aux(event);
		KUNIT_EXPECT_EQ(test, atomic_read(&pmu->setups), i / 4 + 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&pmu->frees), i / 4 + 1);
	}
}

static struct kunit_case faults_cases[] = {
	KUNIT_CASE(refusals_by_pmu_do_not_add_up),
	KUNIT_CASE(setup_survives_each_failing_allocation),
	KUNIT_CASE(aux_pages_do_not_leak),
	{}
};

static struct kunit_suite faults_suite = {
	.name = "perf_aux_kernel_faults",
	.init = aux_test_init,
	.exit = aux_test_exit,
	.test_cases = faults_cases,
};

kunit_test_suites(&lifecycle_suite, &admission_suite, &faults_suite);
