/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the KUnit suites of AUX buffers for kernel consumers share: PMUs without
 * hardware, their events, threads, and a stand-in for a mapping by user space.
 *
 * Everything that is made here is taken down when the test ends, passed or not,
 * and every test ends with the same check: each buffer that a PMU has set up
 * was freed by it, once, and not while somebody was writing to it.
 */
#ifndef _KERNEL_EVENTS_AUX_KERNEL_TEST_H
#define _KERNEL_EVENTS_AUX_KERNEL_TEST_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/mm_types.h>
#include <linux/perf_event.h>

#include "internal.h"

struct aux_test_pmu {
	struct list_head entry;
	struct kunit *test;
	struct pmu pmu;
	bool registered;
	bool fail_setup;	/* setup_aux() refuses the buffer */
	bool fail_add;		/* add() fails if there is no room, as Arm SPE's */
	atomic_t setups;	/* setup_aux() calls that succeeded */
	atomic_t frees;		/* free_aux() calls */
	atomic_t early_frees;	/* those in the middle of a transaction */
};

/* A PMU's view of a buffer, rb::aux_priv. */
struct aux_test_buffer {
	struct aux_test_pmu *pmu;
	void **pages;
	unsigned long size;
	atomic_t open;		/* transactions */
};

/* What would be the hardware of an event: writes only what a test asks for. */
struct aux_test_writer {
	struct list_head entry;
	struct perf_event *event;
	u32 seed;
	struct aux_test_buffer *buffer;	/* of the open transaction, or NULL */
	struct perf_output_handle handle;
	unsigned long start_len;	/* committed by each start() */
	unsigned long stop_len;		/* committed by each stop() */
};

/* A user-space mapping of a data page and an AUX area, but for the page tables. */
struct aux_test_mapping {
	struct list_head entry;
	struct perf_event *event;
	struct perf_buffer *rb;
	struct vm_area_struct *vma;
};

struct aux_test_worker {
	struct list_head entry;
	struct kunit *test;
	struct task_struct *task;
	int (*fn)(struct aux_test_worker *worker);
	struct perf_event *event;
	void *data;
	unsigned long len;
	struct completion done;
	bool stop;
	int ret;
	unsigned long count;	/* what it has got done; meaning is up to @fn */
};

/* Looks at an event from inside its wakeups. */
struct aux_test_waker {
	struct wait_queue_entry wait;
	struct perf_event *event;
	atomic_t count;
	enum perf_event_state state;	/* of the event at the first wakeup */
};

/* Longer than anything takes, on an emulated machine with sanitizers, too. */
#define AUX_TEST_WATCHDOG	(30 * HZ)

/* Wait until something holds; false if it never does. */
#define aux_test_poll(condition)						\
({										\
	unsigned long __deadline = jiffies + AUX_TEST_WATCHDOG;			\
	bool __met;								\
										\
	while (!(__met = (condition)) && time_before(jiffies, __deadline))	\
		usleep_range(100, 500);						\
	__met;									\
})

int aux_test_init(struct kunit *test);
void aux_test_exit(struct kunit *test);

struct aux_test_pmu *aux_test_default_pmu(struct kunit *test);
struct aux_test_pmu *aux_test_pmu_alloc(struct kunit *test);
void aux_test_pmu_register(struct kunit *test, struct aux_test_pmu *pmu);
void aux_test_pmu_unregister(struct kunit *test, struct aux_test_pmu *pmu);

struct perf_event *aux_test_event_of(struct kunit *test, struct aux_test_pmu *pmu,
				     struct task_struct *task);
struct perf_event *aux_test_event(struct kunit *test);
struct perf_event *aux_test_ring(struct kunit *test, int nr_pages, long watermark);
void aux_test_event_release(struct perf_event *event);
void aux_test_preset(struct perf_event *event, unsigned long cursor);
void aux_test_sync(struct perf_event *event);

struct aux_test_buffer *aux_test_begin(struct perf_event *event,
				       struct perf_output_handle *handle);
void aux_test_end(struct aux_test_buffer *buffer, struct perf_output_handle *handle,
		  unsigned long size);
void aux_test_fill(struct perf_event *event, struct aux_test_buffer *buffer,
		   unsigned long from, unsigned long len);
unsigned long aux_test_write(struct perf_event *event, unsigned long len);
unsigned long aux_test_interrupt(struct perf_event *event, unsigned long len, u64 flags);

unsigned long aux_test_diff(struct perf_event *event, const void *data,
			    unsigned long from, unsigned long len);
void aux_test_expect_data(struct kunit *test, struct perf_event *event,
			  const void *data, unsigned long from, unsigned long len);
unsigned long aux_test_head(struct kunit *test, struct perf_event *event);
void aux_test_drain(struct kunit *test, struct perf_event *event,
		    unsigned long from, unsigned long len);

struct vm_area_struct *aux_test_vma(struct kunit *test, unsigned long pgoff);
struct aux_test_mapping *aux_test_map(struct kunit *test, struct perf_event *event,
				      int nr_pages);
void aux_test_unmap(struct kunit *test, struct aux_test_mapping *mapping);

struct aux_test_worker *aux_test_start(struct kunit *test,
				       int (*fn)(struct aux_test_worker *worker),
				       struct perf_event *event, void *data,
				       unsigned long len);
int aux_test_join(struct kunit *test, struct aux_test_worker *worker);
int aux_test_stop(struct kunit *test, struct aux_test_worker *worker);

struct aux_test_waker *aux_test_watch(struct kunit *test, struct perf_event *event);
void aux_test_unwatch(struct aux_test_waker *waker);

static inline struct aux_test_writer *aux_test_writer(struct perf_event *event)
{
	return event->pmu_private;
}

static inline bool aux_test_active(struct perf_event *event)
{
	return READ_ONCE(event->state) == PERF_EVENT_STATE_ACTIVE;
}

/*
 * The byte at a cursor. It differs from its neighbours', from the same place's
 * in another page or another lap of the ring, and from other events' bytes.
 */
static inline u8 aux_test_byte(u32 seed, unsigned long cursor)
{
	return hash_32((u32)cursor + (seed << 16), 8);
}

#endif /* _KERNEL_EVENTS_AUX_KERNEL_TEST_H */
