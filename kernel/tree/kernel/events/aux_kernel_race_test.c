// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suites of AUX buffers for kernel consumers: what takes time, and what
 * can happen meanwhile.
 *
 *   perf_aux_kernel_wait	consumers that sleep, and events that a full
 *				buffer has disabled
 *   perf_aux_kernel_races	release, unregistration, scheduling and consumers,
 *				all at the same time
 *
 * The races find most with KASAN, PROVE_LOCKING, DEBUG_ATOMIC_SLEEP or KCSAN.
 */

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/wait.h>

#include "aux_kernel_test.h"

static unsigned int restarts = 10000;
module_param(restarts, uint, 0644);
MODULE_PARM_DESC(restarts, "times that restart_is_never_lost restarts a full buffer's event");

/* -- wait and restart -- */

static int wait_once(struct aux_test_worker *worker)
{
	return perf_event_aux_wait(worker->event, worker->len);
}

/* Start a consumer that waits, and let it fall asleep. */
static struct aux_test_worker *start_waiting(struct kunit *test, struct perf_event *event,
					     long timeout)
{
	struct aux_test_worker *worker = aux_test_start(test, wait_once, event, NULL, timeout);

	KUNIT_EXPECT_TRUE(test, aux_test_poll(wq_has_sleeper(&event->waitq)));

	return worker;
}

static void wait_needs_ring(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);

	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), -ENXIO);
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, MAX_SCHEDULE_TIMEOUT), -ENXIO);
	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), 0);
	perf_event_release_aux(event);
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), -ENXIO);
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, MAX_SCHEDULE_TIMEOUT), -ENXIO);
}

static void wait_times_out(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	unsigned long timeout = msecs_to_jiffies(30), start = jiffies;

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, timeout), -ETIMEDOUT);
	KUNIT_EXPECT_GE(test, jiffies - start, timeout);
	aux_test_drain(test, event, 0, 100);
}

static void wait_without_timeout_polls(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 10);

	for (unsigned long tail = 0; tail < 100; tail += 10) {
		KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), -ETIMEDOUT);
		KUNIT_EXPECT_EQ(test, aux_test_write(event, 10), 10);
		KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), 0);
		aux_test_drain(test, event, tail, 10);
	}
}

/* As much data as the watermark ends a wait, however often it is called. */
static void wait_sees_data_that_was_left(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 1000);

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 1000), 1000);
	for (int i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, MAX_SCHEDULE_TIMEOUT), 0);

	aux_test_drain(test, event, 0, 1);
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), -ETIMEDOUT);

	/* Below the next watermark, yet there is enough to read again. */
	KUNIT_EXPECT_EQ(test, aux_test_write(event, 1), 1);
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, MAX_SCHEDULE_TIMEOUT), 0);
}

/* A wakeup counts once, even if its data has been read before the wait. */
static void wait_sees_earlier_wakeup(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 1000);

	KUNIT_EXPECT_EQ(test, aux_test_write(event, 1000), 1000);
	aux_test_drain(test, event, 0, 1000);
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, MAX_SCHEDULE_TIMEOUT), 0);
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), -ETIMEDOUT);
}

static void wait_is_woken_by_watermark(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 1000);
	struct aux_test_worker *worker;

	perf_event_enable(event);
	worker = start_waiting(test, event, MAX_SCHEDULE_TIMEOUT);

	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, 999, 0), 999);
	msleep(20);
	KUNIT_EXPECT_FALSE(test, completion_done(&worker->done));

	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, 1, 0), 1);
	KUNIT_EXPECT_EQ(test, aux_test_join(test, worker), 0);
	aux_test_drain(test, event, 0, 1000);
}

static void wait_is_woken_by_full_ring(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, PAGE_SIZE);
	struct aux_test_worker *worker;

	perf_event_enable(event);
	worker = start_waiting(test, event, MAX_SCHEDULE_TIMEOUT);
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, ULONG_MAX, 0), PAGE_SIZE - 1);
	KUNIT_EXPECT_EQ(test, aux_test_join(test, worker), 0);
}

static void wait_is_woken_by_truncation(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	struct aux_test_worker *worker;

	perf_event_enable(event);
	worker = start_waiting(test, event, MAX_SCHEDULE_TIMEOUT);
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, 1, PERF_AUX_FLAG_TRUNCATED), 1);
	KUNIT_EXPECT_EQ(test, aux_test_join(test, worker), 0);
}

static void wait_is_ended_by_release(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	struct aux_test_worker *worker;

	for (int i = 0; i < 5; i++) {
		worker = start_waiting(test, event, MAX_SCHEDULE_TIMEOUT);
		perf_event_release_aux(event);
		KUNIT_EXPECT_EQ(test, aux_test_join(test, worker), -ENXIO);
		KUNIT_ASSERT_EQ(test, perf_event_setup_aux(event, 1, 0), 0);
	}
}

static void wait_is_ended_by_unregister(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	struct aux_test_worker *worker;

	worker = start_waiting(test, event, MAX_SCHEDULE_TIMEOUT);
	aux_test_pmu_unregister(test, aux_test_default_pmu(test));
	KUNIT_EXPECT_EQ(test, aux_test_join(test, worker), -ENXIO);
}

static int wait_for_signal(struct aux_test_worker *worker)
{
	int ret;

	allow_signal(SIGUSR1);
	ret = perf_event_aux_wait(worker->event, MAX_SCHEDULE_TIMEOUT);
	flush_signals(current);

	return ret;
}

static void wait_is_ended_by_signal(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);
	struct aux_test_worker *worker;

	worker = aux_test_start(test, wait_for_signal, event, NULL, 0);
	KUNIT_EXPECT_TRUE(test, aux_test_poll(wq_has_sleeper(&event->waitq)));
	send_sig(SIGUSR1, worker->task, 1);
	KUNIT_EXPECT_EQ(test, aux_test_join(test, worker), -ERESTARTSYS);
}

/*
 * A writer that has read the tail just before it was set finds the buffer full,
 * and disables the event after the consumer has taken everything.
 */
static void wait_is_ended_by_stale_tail(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, PAGE_SIZE);
	unsigned long full = PAGE_SIZE - 1;

	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, ULONG_MAX, 0), full);
	aux_test_drain(test, event, 0, full);
	aux_test_sync(event);
	KUNIT_EXPECT_FALSE(test, aux_test_active(event));

	/* Nothing to read, but something to do. */
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, MAX_SCHEDULE_TIMEOUT), 0);
	KUNIT_EXPECT_EQ(test, aux_test_head(test, event), full);
	KUNIT_EXPECT_EQ(test, perf_event_aux_restart(event), 0);
	KUNIT_EXPECT_TRUE(test, aux_test_active(event));
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, 100, 0), 100);
	aux_test_drain(test, event, full, 100);
}

static void restart_needs_ring(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);

	KUNIT_EXPECT_EQ(test, perf_event_aux_restart(event), -ENXIO);
	KUNIT_EXPECT_EQ(test, READ_ONCE(event->state), PERF_EVENT_STATE_OFF);

	KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), 0);
	perf_event_release_aux(event);
	KUNIT_EXPECT_EQ(test, perf_event_aux_restart(event), -ENXIO);
	KUNIT_EXPECT_EQ(test, READ_ONCE(event->state), PERF_EVENT_STATE_OFF);
}

static void restart_of_active_event_changes_nothing(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 0);

	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, 50, 0), 50);
	KUNIT_EXPECT_EQ(test, perf_event_aux_restart(event), 0);
	KUNIT_EXPECT_TRUE(test, aux_test_active(event));
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, 50, 0), 50);
	aux_test_drain(test, event, 0, 100);
}

/*
 * Drivers such as Arm SPE's fail add() if there is no room. Then the event is
 * not disabled but left out, for perf to try again from time to time. Once
 * there is room it must run, and the disable that was asked for in vain must
 * not come after that.
 */
static void restart_after_refused_add(struct kunit *test)
{
	unsigned long full = PAGE_SIZE - 1;
	struct perf_event *event = aux_test_ring(test, 1, 0);
	struct perf_event *other = aux_test_event(test);

	aux_test_default_pmu(test)->fail_add = true;
	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, ULONG_MAX, 0), full);
	aux_test_sync(event);
	KUNIT_EXPECT_FALSE(test, aux_test_active(event));

	/* Too early. */
	KUNIT_EXPECT_EQ(test, perf_event_aux_restart(event), 0);
	aux_test_sync(event);
	KUNIT_EXPECT_FALSE(test, aux_test_active(event));
	KUNIT_EXPECT_EQ(test, perf_event_aux_wait(event, 0), 0);

	aux_test_drain(test, event, 0, full);
	KUNIT_EXPECT_EQ(test, perf_event_aux_restart(event), 0);
	KUNIT_ASSERT_TRUE(test, aux_test_poll(aux_test_active(event)));

	/* A wakeup for the watermark, and all events of the PMU out and in again. */
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, PAGE_SIZE / 2, 0), PAGE_SIZE / 2);
	aux_test_sync(event);
	KUNIT_EXPECT_TRUE(test, aux_test_active(event));
	aux_test_default_pmu(test)->fail_add = false;
	perf_event_enable(other);
	KUNIT_EXPECT_TRUE(test, aux_test_active(event));

	aux_test_drain(test, event, full, PAGE_SIZE / 2);
}

/* Who is woken must find the event disabled already, or its enable is lost. */
static void expect_disabled_when_woken(struct kunit *test, unsigned long watermark,
				       unsigned long len, u64 flags)
{
	struct perf_event *event = aux_test_ring(test, 1, watermark);
	struct aux_test_waker *waker = aux_test_watch(test, event);

	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, aux_test_interrupt(event, len, flags),
			min(len, PAGE_SIZE - 1));
	aux_test_sync(event);
	aux_test_unwatch(waker);

	KUNIT_EXPECT_GE(test, atomic_read(&waker->count), 1);
	KUNIT_EXPECT_EQ(test, waker->state, PERF_EVENT_STATE_OFF);
	KUNIT_EXPECT_EQ(test, READ_ONCE(event->state), PERF_EVENT_STATE_OFF);
}

static void truncation_disables_before_it_wakes(struct kunit *test)
{
	expect_disabled_when_woken(test, PAGE_SIZE, 16, PERF_AUX_FLAG_TRUNCATED);
	expect_disabled_when_woken(test, 16, 16, PERF_AUX_FLAG_TRUNCATED);
}

static void full_ring_disables_before_it_wakes(struct kunit *test)
{
	expect_disabled_when_woken(test, PAGE_SIZE, ULONG_MAX, 0);
	expect_disabled_when_woken(test, PAGE_SIZE / 2, ULONG_MAX, 0);
}

/* The event's hardware: writes as soon as there is room for anything. */
static int write_incessantly(struct aux_test_worker *worker)
{
	set_cpus_allowed_ptr(current, cpumask_of(worker->event->cpu));

	while (!READ_ONCE(worker->stop)) {
		if (aux_test_interrupt(worker->event, ULONG_MAX, 0))
			worker->count++;
		else
			usleep_range(10, 50);
	}

	return 0;
}

/*
 * The buffer is always full but for a little, so that each write disables the
 * event and wakes the consumer, who makes room for the next and restarts. The
 * watermark is out of reach. Writer and consumer are on different CPUs if there
 * are two.
 */
static void restart_is_never_lost(struct kunit *test)
{
	unsigned long full = PAGE_SIZE - 1, chunk = 64, tail = 0, head = 0;
	struct perf_event *event = aux_test_ring(test, 1, PAGE_SIZE);
	struct aux_test_worker *writer;
	u8 data[64];

	set_cpus_allowed_ptr(current, cpumask_of(cpumask_first(cpu_online_mask)));
	perf_event_enable(event);
	writer = aux_test_start(test, write_incessantly, event, NULL, 0);

	for (unsigned int i = 0; i < restarts; i++) {
		KUNIT_ASSERT_EQ_MSG(test, perf_event_aux_wait(event, AUX_TEST_WATCHDOG), 0,
				    "restart %u", i);
		head = aux_test_head(test, event);
		/* There may be nothing new, see wait_is_ended_by_stale_tail(). */
		while (head - tail > full - chunk) {
			KUNIT_ASSERT_EQ(test, perf_event_aux_copy(event, data, tail, chunk), 0);
			aux_test_expect_data(test, event, data, tail, chunk);
			tail += chunk;
			KUNIT_ASSERT_EQ(test, perf_event_aux_tail_set(event, tail), 0);
		}
		KUNIT_ASSERT_EQ(test, perf_event_aux_restart(event), 0);
	}

	KUNIT_EXPECT_EQ(test, aux_test_stop(test, writer), 0);
	kunit_info(test, "%u restarts, %lu writes, %lu bytes\n", restarts, writer->count, head);
}

static struct kunit_case wait_cases[] = {
	KUNIT_CASE(wait_needs_ring),
	KUNIT_CASE(wait_times_out),
	KUNIT_CASE(wait_without_timeout_polls),
	KUNIT_CASE(wait_sees_data_that_was_left),
	KUNIT_CASE(wait_sees_earlier_wakeup),
	KUNIT_CASE(wait_is_woken_by_watermark),
	KUNIT_CASE(wait_is_woken_by_full_ring),
	KUNIT_CASE(wait_is_woken_by_truncation),
	KUNIT_CASE(wait_is_ended_by_release),
	KUNIT_CASE(wait_is_ended_by_unregister),
	KUNIT_CASE(wait_is_ended_by_signal),
	KUNIT_CASE(wait_is_ended_by_stale_tail),
	KUNIT_CASE(restart_needs_ring),
	KUNIT_CASE(restart_of_active_event_changes_nothing),
	KUNIT_CASE(restart_after_refused_add),
	KUNIT_CASE(truncation_disables_before_it_wakes),
	KUNIT_CASE(full_ring_disables_before_it_wakes),
	KUNIT_CASE_SLOW(restart_is_never_lost),
	{}
};

static struct kunit_suite wait_suite = {
	.name = "perf_aux_kernel_wait",
	.init = aux_test_init,
	.exit = aux_test_exit,
	.test_cases = wait_cases,
};

/* -- races -- */

/* What the threads get done: enough to meet, also where that takes long. */
#define RACE_ROUNDS	80

/* The event's hardware, in bursts of all sizes. */
static int write_until_stopped(struct aux_test_worker *worker)
{
	while (!READ_ONCE(worker->stop)) {
		if (aux_test_interrupt(worker->event, 1 + worker->count * 131 % 1021, 0))
			worker->count++;
		else
			usleep_range(10, 50);
		cond_resched();
	}

	return 0;
}

/* A consumer as it should be. */
static int drain_until_stopped(struct aux_test_worker *worker)
{
	struct perf_event *event = worker->event;
	unsigned long head, tail = 0;
	int ret;

	while (!READ_ONCE(worker->stop)) {
		ret = perf_event_aux_wait(event, AUX_TEST_WATCHDOG);
		if (ret)
			return ret;

		ret = perf_event_aux_head(event, &head);
		if (ret)
			return ret;

		while (tail != head) {
			unsigned long n = min(head - tail, worker->len);

			ret = perf_event_aux_copy(event, worker->data, tail, n);
			if (ret)
				return ret;
			if (aux_test_diff(event, worker->data, tail, n) < n)
				return -EILSEQ;
			tail += n;
			ret = perf_event_aux_tail_set(event, tail);
			if (ret)
				return ret;
		}
		WRITE_ONCE(worker->count, tail);

		ret = perf_event_aux_restart(event);
		if (ret)
			return ret;
	}

	return 0;
}

static struct aux_test_worker *start_drain(struct kunit *test, struct perf_event *event)
{
	void *data = kunit_kmalloc(test, SZ_4K, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, data);

	return aux_test_start(test, drain_until_stopped, event, data, SZ_4K);
}

/* Wait for a consumer to have seen some data, but not for too long. */
static void let_drain(struct aux_test_worker *consumer, unsigned long len)
{
	unsigned long deadline = jiffies + HZ;

	while (READ_ONCE(consumer->count) < len && time_before(jiffies, deadline) &&
	       !completion_done(&consumer->done))
		usleep_range(100, 500);
}

static void consumer_keeps_up_with_writer(struct kunit *test)
{
	struct perf_event *event = aux_test_ring(test, 1, 1500);
	struct aux_test_worker *writer, *consumer;

	perf_event_enable(event);
	consumer = start_drain(test, event);
	writer = aux_test_start(test, write_until_stopped, event, NULL, 0);

	let_drain(consumer, SZ_512K);
	KUNIT_EXPECT_EQ(test, aux_test_stop(test, consumer), 0);
	KUNIT_EXPECT_EQ(test, aux_test_stop(test, writer), 0);
	KUNIT_EXPECT_GE(test, consumer->count, PAGE_SIZE);
	kunit_info(test, "%lu bytes in %lu writes\n", consumer->count, writer->count);
}

static void two_consumers_of_two_events(struct kunit *test)
{
	struct aux_test_worker *writers[2], *consumers[2];
	struct perf_event *events[2];

	for (int i = 0; i < 2; i++) {
		events[i] = aux_test_ring(test, 1 << i, 0);
		perf_event_enable(events[i]);
		consumers[i] = start_drain(test, events[i]);
		writers[i] = aux_test_start(test, write_until_stopped, events[i], NULL, 0);
	}

	for (int i = 0; i < 2; i++) {
		let_drain(consumers[i], SZ_128K);
		KUNIT_EXPECT_EQ(test, aux_test_stop(test, consumers[i]), 0);
		KUNIT_EXPECT_EQ(test, aux_test_stop(test, writers[i]), 0);
		KUNIT_EXPECT_GE(test, consumers[i]->count, PAGE_SIZE);
	}
}

static void release_under_load(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);
	struct aux_test_worker *writer, *consumer;

	writer = aux_test_start(test, write_until_stopped, event, NULL, 0);
	for (int i = 0; i < 8; i++) {
		KUNIT_ASSERT_EQ(test, perf_event_setup_aux(event, 1 << i % 3, 0), 0);
		perf_event_enable(event);
		consumer = start_drain(test, event);
		let_drain(consumer, SZ_4K << i % 5);

		perf_event_release_aux(event);
		KUNIT_EXPECT_EQ(test, aux_test_join(test, consumer), -ENXIO);
		KUNIT_EXPECT_EQ(test, atomic_read(&aux_test_default_pmu(test)->frees), i + 1);
	}
	KUNIT_EXPECT_EQ(test, aux_test_stop(test, writer), 0);
}

static void unregister_under_load(struct kunit *test)
{
	for (int i = 0; i < 4; i++) {
		struct aux_test_pmu *pmu = aux_test_pmu_alloc(test);
		struct aux_test_worker *writer, *consumer;
		struct perf_event *event;

		aux_test_pmu_register(test, pmu);
		event = aux_test_event_of(test, pmu, NULL);
		KUNIT_ASSERT_EQ(test, perf_event_setup_aux(event, 4, 0), 0);
		perf_event_enable(event);
		consumer = start_drain(test, event);
		writer = aux_test_start(test, write_until_stopped, event, NULL, 0);
		let_drain(consumer, SZ_4K << 2 * i);

		aux_test_pmu_unregister(test, pmu);
		KUNIT_EXPECT_EQ(test, atomic_read(&pmu->frees), 1);
		KUNIT_EXPECT_EQ(test, aux_test_join(test, consumer), -ENXIO);
		KUNIT_EXPECT_EQ(test, aux_test_stop(test, writer), 0);
		KUNIT_EXPECT_EQ(test, perf_event_setup_aux(event, 1, 0), -ENODEV);
	}
}

static int release_once(struct aux_test_worker *worker)
{
	perf_event_release_aux(worker->event);
	return 0;
}

static int release_when_stopped(struct aux_test_worker *worker)
{
	/* Not where a test goes on that does not sleep. */
	set_cpus_allowed_ptr(current, cpumask_of(cpumask_last(cpu_online_mask)));
	while (!READ_ONCE(worker->stop))
		usleep_range(50, 100);

	return release_once(worker);
}

/*
 * This test in place of a copy that is under way: it must find the pages where
 * they are until it is done, and must not be the one to free them.
 */
static void release_waits_for_copy(struct kunit *test)
{
	struct aux_test_pmu *pmu = aux_test_default_pmu(test);
	struct perf_event *event = aux_test_ring(test, 1, 0);
	struct perf_buffer *rb = ring_buffer_get(event);
	struct aux_test_worker *release;
	int ret, frees, references;
	unsigned long deadline;
	bool owned, done;
	u8 page[100];
	u8 *data;

	if (num_online_cpus() < 2) {
		ring_buffer_put(rb);
		kunit_skip(test, "a release must run while this does not sleep");
	}
	set_cpus_allowed_ptr(current, cpumask_of(cpumask_first(cpu_online_mask)));

	data = kunit_kzalloc(test, 100, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_EXPECT_EQ(test, aux_test_write(event, 100), 100);
	release = aux_test_start(test, release_when_stopped, event, NULL, 0);

	scoped_guard (rcu) {
		WRITE_ONCE(release->stop, true);
		deadline = jiffies + 5 * HZ;
		while (rb_aux_kernel(rb) && time_before(jiffies, deadline))
			cpu_relax();
		/* Time to go on, if it did not wait. */
		mdelay(50);

		owned = rb_aux_kernel(rb);
		done = completion_done(&release->done);
		frees = atomic_read(&pmu->frees);
		references = refcount_read(&rb->aux_refcount);
		memcpy(page, rb->aux_pages[0], sizeof(page));
		ret = perf_event_aux_copy(event, data, 0, 100);
	}

	KUNIT_EXPECT_FALSE(test, owned);
	KUNIT_EXPECT_FALSE(test, done);
	KUNIT_EXPECT_EQ(test, frees, 0);
	KUNIT_EXPECT_EQ(test, references, 1);
	aux_test_expect_data(test, event, page, 0, sizeof(page));
	KUNIT_EXPECT_EQ(test, ret, -ENXIO);
	KUNIT_EXPECT_NULL(test, memchr_inv(data, 0, 100));

	KUNIT_EXPECT_EQ(test, aux_test_join(test, release), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&pmu->frees), 1);
	ring_buffer_put(rb);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
}

static int copy_until_stopped(struct aux_test_worker *worker)
{
	struct perf_event *event = worker->event;

	while (!READ_ONCE(worker->stop)) {
		int ret = perf_event_aux_copy(event, worker->data, 0, worker->len);

		if (!ret) {
			if (aux_test_diff(event, worker->data, 0, worker->len) < worker->len)
				return -EILSEQ;
			worker->count++;
		} else if (ret != -ENXIO && ret != -ERANGE) {
			return ret;
		}
		cond_resched();
	}

	return 0;
}

static void copies_race_with_release(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);
	struct aux_test_worker *workers[2];

	for (int i = 0; i < ARRAY_SIZE(workers); i++) {
		void *data = kunit_kmalloc(test, 512, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, data);
		workers[i] = aux_test_start(test, copy_until_stopped, event, data, 512);
	}

	for (int i = 0; i < RACE_ROUNDS; i++) {
		KUNIT_ASSERT_EQ(test, perf_event_setup_aux(event, 1 << i % 3, 0), 0);
		KUNIT_EXPECT_EQ(test, aux_test_write(event, 512), 512);
		usleep_range(50, 400);
		perf_event_release_aux(event);
		KUNIT_EXPECT_EQ(test, atomic_read(&aux_test_default_pmu(test)->frees), i + 1);
	}

	for (int i = 0; i < ARRAY_SIZE(workers); i++)
		KUNIT_EXPECT_EQ(test, aux_test_stop(test, workers[i]), 0);
	kunit_info(test, "%lu copies met data\n", workers[0]->count + workers[1]->count);
}

#define LONG_COPY	SZ_16M

static int copy_once(struct aux_test_worker *worker)
{
	WRITE_ONCE(worker->count, 1);
	return perf_event_aux_copy(worker->event, worker->data, 0, worker->len);
}

KUNIT_DEFINE_ACTION_WRAPPER(kvfree_action, kvfree, const void *);

/*
 * Copies that take so long that, on a slow machine, a grace period could end
 * meanwhile, if they were not what it waits for. The PMU wipes the pages before
 * they are freed. PROVE_LOCKING notices on any machine.
 */
static void long_copies_race_with_release(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);
	u8 *data = kvmalloc(LONG_COPY, GFP_KERNEL);
	int completed = 0;

	KUNIT_ASSERT_NOT_NULL(test, data);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, kvfree_action, data), 0);

	for (int i = 0; i < 4; i++) {
		struct aux_test_worker *copy;
		int ret;

		ret = perf_event_setup_aux(event, 2 * LONG_COPY / PAGE_SIZE, 0);
		KUNIT_EXPECT_EQ(test, ret, 0);
		if (ret)
			break;

		KUNIT_EXPECT_EQ(test, aux_test_write(event, LONG_COPY), LONG_COPY);
		copy = aux_test_start(test, copy_once, event, data, LONG_COPY);
		KUNIT_EXPECT_TRUE(test, aux_test_poll(READ_ONCE(copy->count)));
		perf_event_release_aux(event);

		ret = aux_test_join(test, copy);
		KUNIT_EXPECT_TRUE(test, !ret || ret == -ENXIO);
		if (!ret) {
			KUNIT_EXPECT_EQ(test, aux_test_diff(event, data, 0, LONG_COPY), LONG_COPY);
			completed++;
		}
	}

	KUNIT_EXPECT_GT(test, completed, 0);
}

static int use_until_stopped(struct aux_test_worker *worker)
{
	struct perf_event *event = worker->event;
	unsigned long head;
	u8 data[32];
	int ret;

	while (!READ_ONCE(worker->stop)) {
		ret = perf_event_aux_head(event, &head);
		if (ret && ret != -ENXIO)
			return ret;

		ret = perf_event_aux_copy(event, data, 0, sizeof(data));
		if (ret && ret != -ENXIO && ret != -ERANGE)
			return ret;
		if (!ret && aux_test_diff(event, data, 0, sizeof(data)) < sizeof(data))
			return -EILSEQ;

		/* Not on, or the copies would find nothing. */
		ret = perf_event_aux_tail_set(event, 0);
		if (ret && ret != -ENXIO)
			return ret;

		ret = perf_event_aux_wait(event, worker->count % 2);
		if (ret && ret != -ENXIO && ret != -ETIMEDOUT)
			return ret;

		ret = perf_event_aux_restart(event);
		if (ret && ret != -ENXIO)
			return ret;

		worker->count++;
		cond_resched();
	}

	return 0;
}

static void consumer_races_with_release(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);
	struct aux_test_worker *worker;

	aux_test_writer(event)->start_len = 500;
	worker = aux_test_start(test, use_until_stopped, event, NULL, 0);

	for (int i = 0; i < RACE_ROUNDS; i++) {
		KUNIT_ASSERT_EQ(test, perf_event_setup_aux(event, 1 << i % 3, 0), 0);
		usleep_range(50, 400);
		perf_event_release_aux(event);
		KUNIT_EXPECT_EQ(test, atomic_read(&aux_test_default_pmu(test)->frees), i + 1);
	}

	KUNIT_EXPECT_EQ(test, aux_test_stop(test, worker), 0);
}

static int setup_when_told(struct aux_test_worker *worker)
{
	if (!wait_for_completion_timeout(worker->data, AUX_TEST_WATCHDOG))
		return -ETIMEDOUT;

	return perf_event_setup_aux(worker->event, 1, 0);
}

static void two_threads_set_up_one_event(struct kunit *test)
{
	struct completion *start = kunit_kzalloc(test, sizeof(*start), GFP_KERNEL);
	struct perf_event *event = aux_test_event(test);

	KUNIT_ASSERT_NOT_NULL(test, start);
	init_completion(start);

	for (int i = 0; i < 40; i++) {
		struct aux_test_worker *a, *b;
		int a_ret, b_ret;

		reinit_completion(start);
		a = aux_test_start(test, setup_when_told, event, start, 0);
		b = aux_test_start(test, setup_when_told, event, start, 0);
		complete_all(start);
		a_ret = aux_test_join(test, a);
		b_ret = aux_test_join(test, b);

		KUNIT_EXPECT_EQ(test, a_ret ?: b_ret, -EBUSY);
		KUNIT_EXPECT_FALSE(test, a_ret && b_ret);
		perf_event_release_aux(event);
	}
}

static int setup_and_release_until_stopped(struct aux_test_worker *worker)
{
	while (!READ_ONCE(worker->stop)) {
		int ret = perf_event_setup_aux(worker->event, 1 << worker->count % 3, 0);

		if (ret && ret != -EBUSY)
			return ret;
		if (worker->count % 2)
			perf_event_enable(worker->event);
		perf_event_release_aux(worker->event);
		worker->count++;
		cond_resched();
	}

	return 0;
}

static void threads_set_up_and_release(struct kunit *test)
{
	struct aux_test_pmu *pmu = aux_test_default_pmu(test);
	struct perf_event *event = aux_test_event(test);
	struct aux_test_worker *workers[3];

	aux_test_writer(event)->start_len = 100;
	aux_test_writer(event)->stop_len = 100;
	for (int i = 0; i < ARRAY_SIZE(workers); i++)
		workers[i] = aux_test_start(test, setup_and_release_until_stopped,
					    event, NULL, 0);
	/* Each takes a grace period at least. */
	KUNIT_EXPECT_TRUE(test, aux_test_poll(atomic_read(&pmu->frees) >= RACE_ROUNDS));
	for (int i = 0; i < ARRAY_SIZE(workers); i++)
		KUNIT_EXPECT_EQ(test, aux_test_stop(test, workers[i]), 0);

	KUNIT_EXPECT_NULL(test, event->rb);
}

static int toggle_until_stopped(struct aux_test_worker *worker)
{
	while (!READ_ONCE(worker->stop)) {
		perf_event_enable(worker->event);
		cond_resched();
		perf_event_disable(worker->event);
		cond_resched();
	}

	return 0;
}

static void release_races_with_enable_and_disable(struct kunit *test)
{
	struct perf_event *event = aux_test_event(test);
	struct aux_test_worker *worker;

	aux_test_writer(event)->start_len = 10;
	aux_test_writer(event)->stop_len = 10;
	worker = aux_test_start(test, toggle_until_stopped, event, NULL, 0);

	for (int i = 0; i < RACE_ROUNDS; i++) {
		KUNIT_ASSERT_EQ(test, perf_event_setup_aux(event, 1, 0), 0);
		usleep_range(50, 200);
		perf_event_release_aux(event);
		KUNIT_EXPECT_NULL(test, event->rb);
		KUNIT_EXPECT_EQ(test, atomic_read(&aux_test_default_pmu(test)->frees), i + 1);
	}

	KUNIT_EXPECT_EQ(test, aux_test_stop(test, worker), 0);
}

/* A task whose events are scheduled out and in all the time. */
static int switch_until_stopped(struct aux_test_worker *worker)
{
	while (!READ_ONCE(worker->stop))
		usleep_range(20, 60);

	return 0;
}

static int enable_until_stopped(struct aux_test_worker *worker)
{
	while (!READ_ONCE(worker->stop)) {
		perf_event_enable(worker->event);
		usleep_range(10, 40);
	}

	return 0;
}

/* An event of a task writes on any CPU, without ctx->mutex. */
static void release_races_with_scheduling(struct kunit *test)
{
	struct aux_test_worker *task = aux_test_start(test, switch_until_stopped, NULL, NULL, 0);
	struct aux_test_worker *worker;
	struct perf_event *event;

	event = aux_test_event_of(test, aux_test_default_pmu(test), task->task);
	aux_test_writer(event)->start_len = 20;
	aux_test_writer(event)->stop_len = 10;
	worker = aux_test_start(test, enable_until_stopped, event, NULL, 0);

	for (int i = 0; i < RACE_ROUNDS; i++) {
		KUNIT_ASSERT_EQ(test, perf_event_setup_aux(event, 1, 0), 0);
		usleep_range(50, 400);
		perf_event_release_aux(event);
		KUNIT_EXPECT_NULL(test, event->rb);
		KUNIT_EXPECT_EQ(test, atomic_read(&aux_test_default_pmu(test)->frees), i + 1);
	}

	KUNIT_EXPECT_EQ(test, aux_test_stop(test, worker), 0);
	KUNIT_EXPECT_EQ(test, aux_test_stop(test, task), 0);
}

static struct kunit_case races_cases[] = {
	KUNIT_CASE(consumer_keeps_up_with_writer),
	KUNIT_CASE(two_consumers_of_two_events),
	KUNIT_CASE(release_under_load),
	KUNIT_CASE(unregister_under_load),
	KUNIT_CASE(release_waits_for_copy),
	KUNIT_CASE(copies_race_with_release),
	KUNIT_CASE_SLOW(long_copies_race_with_release),
	KUNIT_CASE(consumer_races_with_release),
	KUNIT_CASE(two_threads_set_up_one_event),
	KUNIT_CASE(threads_set_up_and_release),
	KUNIT_CASE(release_races_with_enable_and_disable),
	KUNIT_CASE(release_races_with_scheduling),
	{}
};

static struct kunit_suite races_suite = {
	.name = "perf_aux_kernel_races",
	.init = aux_test_init,
	.exit = aux_test_exit,
	.test_cases = races_cases,
};

kunit_test_suites(&wait_suite, &races_suite);
