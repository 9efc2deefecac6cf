/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cursor arithmetic of the AUX ring.
 *
 * A producer's cursor (head) and a consumer's (tail) count bytes from the
 * ring's first use. They run freely modulo 2^N, N being the width of a cursor,
 * and are never reduced to an offset in the ring: only their differences mean
 * something, and a difference is taken modulo 2^N. A ring's size is a power of
 * two not above 2^(N-1), so a head that is ahead of its tail by more than the
 * size, as a tail that user space made up can be, is told from a valid pair.
 *
 * All that is here is a function of its arguments: no barrier, no lock, no
 * access to a buffer and no type of the kernel's but bool. So it compiles in user
 * space as it is, with cursors of any width, where every state of a narrow one
 * can be checked against plain integers:
 *
 *	#define aux_cursor_t uint8_t
 *	#include "aux_ring.h"
 *
 * Arithmetic on a type that is narrower than int is done in int. Hence the
 * casts back to the cursor's width.
 */
#ifndef _KERNEL_EVENTS_AUX_RING_H
#define _KERNEL_EVENTS_AUX_RING_H

#ifndef aux_cursor_t
#define aux_cursor_t unsigned long
#endif

/* Half of what a cursor can count: no ring may be larger. */
#define AUX_RING_MAX_SIZE	((aux_cursor_t)((aux_cursor_t)~(aux_cursor_t)0 / 2 + 1))

/**
 * aux_ring_size_valid() - can a ring have this many pages?
 * @nr_pages: number of pages
 * @page_size: bytes of a page, a power of two
 *
 * Return: true if @nr_pages is a power of two and cursors can tell a full ring
 * of that size from an empty one.
 */
static inline bool aux_ring_size_valid(aux_cursor_t nr_pages,
				       aux_cursor_t page_size)
{
	if (!nr_pages || (nr_pages & (aux_cursor_t)(nr_pages - 1)))
		return false;

	return nr_pages <= AUX_RING_MAX_SIZE / page_size;
}

/**
 * aux_ring_used() - bytes that were produced and not consumed yet
 * @head: the producer's cursor
 * @tail: the consumer's cursor
 *
 * Return: bytes from @tail to @head. More than the ring's size if @tail is not
 * one that the ring's owner set.
 */
static inline aux_cursor_t aux_ring_used(aux_cursor_t head, aux_cursor_t tail)
{
	return (aux_cursor_t)(head - tail);
}

/**
 * aux_ring_space() - bytes that a producer may write
 * @head: the producer's cursor
 * @tail: the consumer's cursor
 * @size: bytes of the ring, a power of two
 *
 * One byte stays free, because hardware that writes in a ring of which it knows
 * only offsets could not tell a full one from an empty one.
 *
 * Return: bytes free from @head on; 0 if the ring is full or @tail is not a
 * valid one.
 */
static inline aux_cursor_t aux_ring_space(aux_cursor_t head, aux_cursor_t tail,
					  aux_cursor_t size)
{
	aux_cursor_t used = aux_ring_used(head, tail);

	return used < size ? (aux_cursor_t)(size - 1 - used) : 0;
}

/**
 * aux_ring_range_valid() - may these bytes be read?
 * @head: the producer's cursor
 * @tail: the consumer's cursor
 * @from: cursor of the first byte
 * @len: number of bytes
 *
 * Both are compared with what is there, and never added up: the sum of a cursor
 * and a length may wrap.
 *
 * Return: true if [@from, @from + @len) lies in [@tail, @head).
 */
static inline bool aux_ring_range_valid(aux_cursor_t head, aux_cursor_t tail,
					aux_cursor_t from, aux_cursor_t len)
{
	aux_cursor_t used = aux_ring_used(head, tail);
	aux_cursor_t skipped = (aux_cursor_t)(from - tail);

	return skipped <= used && len <= (aux_cursor_t)(used - skipped);
}

/**
 * aux_ring_tail_valid() - may the tail move here?
 * @head: the producer's cursor
 * @tail: the consumer's cursor
 * @to: where it would be
 *
 * Return: true if @to is not behind @tail and not ahead of @head.
 */
static inline bool aux_ring_tail_valid(aux_cursor_t head, aux_cursor_t tail,
				       aux_cursor_t to)
{
	return (aux_cursor_t)(to - tail) <= aux_ring_used(head, tail);
}

/**
 * aux_ring_page() - the page that a cursor is in
 * @cursor: a cursor
 * @size: bytes of the ring, a power of two
 * @page_size: bytes of a page, a power of two
 *
 * Return: the page's index in the ring.
 */
static inline aux_cursor_t aux_ring_page(aux_cursor_t cursor, aux_cursor_t size,
					 aux_cursor_t page_size)
{
	return (aux_cursor_t)(cursor & (aux_cursor_t)(size - 1)) / page_size;
}

/**
 * aux_ring_segment() - how much of a range is in the page that it begins in
 * @from: cursor of the first byte
 * @len: number of bytes
 * @page_size: bytes of a page, a power of two
 *
 * Return: @len, or what there is from @from to the page's end if that is less.
 */
static inline aux_cursor_t aux_ring_segment(aux_cursor_t from, aux_cursor_t len,
					    aux_cursor_t page_size)
{
	aux_cursor_t offset = from & (aux_cursor_t)(page_size - 1);
	aux_cursor_t rest = (aux_cursor_t)(page_size - offset);

	return len < rest ? len : rest;
}

/**
 * aux_ring_wakeup() - the last wakeup position that a head has passed
 * @head: the producer's cursor
 * @wakeup: the wakeup position that was passed before, not ahead of @head
 * @watermark: bytes from one wakeup position to the next, not 0
 *
 * Positions are counted from @wakeup, not from 0: a watermark that is no power
 * of two does not divide what a cursor can count, so that their distance would
 * change where cursors wrap.
 *
 * Return: @wakeup if the next position is still ahead of @head, else the last
 * one that is not.
 */
static inline aux_cursor_t aux_ring_wakeup(aux_cursor_t head, aux_cursor_t wakeup,
					   aux_cursor_t watermark)
{
	aux_cursor_t passed = (aux_cursor_t)(head - wakeup);

	return (aux_cursor_t)(wakeup + (passed - passed % watermark));
}

#endif /* _KERNEL_EVENTS_AUX_RING_H */
