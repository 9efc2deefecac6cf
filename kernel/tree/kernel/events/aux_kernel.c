// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a consumer in the kernel reads the AUX buffer of its event.
 *
 * The buffer is perf_event_setup_aux()'s and has no data area. The cursors are
 * those of user space's protocol, in the buffer's user page, which nobody maps:
 * what is read there was written by perf, so that it can be trusted. Barriers
 * are lettered as in perf_output_put_handle().
 */

#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>

#include "internal.h"
#include "aux_ring.h"

/*
 * The buffer that the kernel owns, or NULL. It and its pages stay until the end
 * of the RCU read-side critical section, see perf_event_free_aux_kernel().
 */
static struct perf_buffer *rcu_dereference_aux_kernel(struct perf_event *event)
{
	struct perf_buffer *rb;

	lockdep_assert_in_rcu_read_lock();

	/* Raw, because the member is not marked __rcu. */
	rb = rcu_dereference_raw(event->rb);

	return rb && rb_aux_kernel(rb) ? rb : NULL;
}

static unsigned long rb_aux_tail(struct perf_buffer *rb)
{
	return READ_ONCE(rb->user_page->aux_tail);
}

static unsigned long rb_aux_head(struct perf_buffer *rb)
{
	unsigned long head = READ_ONCE(rb->user_page->aux_head);

	smp_rmb(); /* C, matches B: no data is read before it */
	return head;
}

/**
 * perf_event_aux_head() - how far there is data
 * @event: an event that perf_event_setup_aux() gave a buffer
 * @head: where to store the writer's cursor
 *
 * A cursor counts the bytes since perf_event_setup_aux(), modulo
 * 2^BITS_PER_LONG. Data up to @head can be read once this returns. It is
 * possible that a writer skipped bytes to suit its hardware; these are among
 * those counted, and hold nothing.
 *
 * Context: any.
 * Return: 0, or -ENXIO if the kernel does not own a buffer of @event.
 */
int perf_event_aux_head(struct perf_event *event, unsigned long *head)
{
	struct perf_buffer *rb;

	guard(rcu)();

	rb = rcu_dereference_aux_kernel(event);
	if (!rb)
		return -ENXIO;

	*head = rb_aux_head(rb);

	return 0;
}
EXPORT_SYMBOL_GPL(perf_event_aux_head);

static void rb_copy_aux(struct perf_buffer *rb, void *dst, unsigned long from,
			unsigned long len)
{
	while (len) {
		unsigned long page = aux_ring_page(from, perf_aux_size(rb), PAGE_SIZE);
		unsigned long segment = aux_ring_segment(from, len, PAGE_SIZE);

		memcpy(dst, rb->aux_pages[page] + offset_in_page(from), segment);
		dst += segment;
		from += segment;
		len -= segment;
	}
}

/**
 * perf_event_aux_copy() - copy data out of the buffer
 * @event: an event that perf_event_setup_aux() gave a buffer
 * @dst: kernel memory of @len bytes
 * @from: cursor of the first byte
 * @len: number of bytes
 *
 * The bytes must have been written and not been released: [@from, @from + @len)
 * lies between the tail and the head. They stay in the buffer until
 * perf_event_aux_tail_set(). A concurrent perf_event_release_aux() waits for
 * the copy, which is one RCU read-side critical section, in which preemption
 * may be off: copy what is large in pieces. If there is an error, @dst is as it
 * was.
 *
 * Context: any.
 * Return: 0 or
 *	* -ENXIO if the kernel does not own a buffer of @event
 *	* -EINVAL if @dst is NULL and @len is not 0
 *	* -ERANGE if there is not all of this data
 */
int perf_event_aux_copy(struct perf_event *event, void *dst,
			unsigned long from, unsigned long len)
{
	struct perf_buffer *rb;

	guard(rcu)();

	rb = rcu_dereference_aux_kernel(event);
	if (!rb)
		return -ENXIO;

	if (!dst && len)
		return -EINVAL;

	if (!aux_ring_range_valid(rb_aux_head(rb), rb_aux_tail(rb), from, len))
		return -ERANGE;

	rb_copy_aux(rb, dst, from, len);

	return 0;
}
EXPORT_SYMBOL_GPL(perf_event_aux_copy);

/**
 * perf_event_aux_tail_set() - release data that has been read
 * @event: an event that perf_event_setup_aux() gave a buffer
 * @tail: cursor of the first byte that is still needed
 *
 * What is before @tail may be overwritten once this is called; reads of it have
 * been done by then. An event that the full buffer disabled does not go on by
 * this alone, see perf_event_aux_restart().
 *
 * Context: any, but one caller at a time.
 * Return: 0 or
 *	* -ENXIO if the kernel does not own a buffer of @event
 *	* -ERANGE if @tail is not between the tail so far and the head
 */
int perf_event_aux_tail_set(struct perf_event *event, unsigned long tail)
{
	struct perf_buffer *rb;

	guard(rcu)();

	rb = rcu_dereference_aux_kernel(event);
	if (!rb)
		return -ENXIO;

	if (!aux_ring_tail_valid(rb_aux_head(rb), rb_aux_tail(rb), tail))
		return -ERANGE;

	smp_mb(); /* D, matches A: all reads of data, then the store */
	WRITE_ONCE(rb->user_page->aux_tail, tail);

	return 0;
}
EXPORT_SYMBOL_GPL(perf_event_aux_tail_set);
