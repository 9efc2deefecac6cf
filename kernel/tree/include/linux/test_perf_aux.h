/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the AUX test PMU (lib/test_perf_aux.c) writes.
 *
 * The producer and those who read after it share this file: the module, the
 * draining sample and the selftests. It compiles in user space as it is.
 *
 * An AUX area has a sequence of records, one directly after the other: there is
 * no padding, so that cursors take odd values, too, and a record may begin and
 * end anywhere in a page. All fields are in the byte order of the machine. A
 * reader that stands at a record finds the next one @length + @skip bytes
 * further on.
 *
 * What a reader can rely on, for the records of one event:
 *
 *  - @sequence begins at 0 and grows by 1. It counts the records that were
 *    written, so that a gap is never the producer's doing.
 *  - @lost says how many records were due since the last one that was written
 *    and could not be. A transaction that ended PERF_AUX_FLAG_TRUNCATED or
 *    PERF_AUX_FLAG_PARTIAL lost at least one, and nothing else loses any.
 *  - @skip announces bytes that are skipped (perf_aux_output_skip()): nothing was
 *    written to them, and what they hold is left from before. @skip is part of
 *    the record that stands before them since they cannot be told from records
 *    by what they hold. They may be published later than that record, but always
 *    before the next one.
 *  - @time (CLOCK_MONOTONIC, in nanoseconds) does not go back while the event
 *    stays on one CPU.
 *
 * An AUX area that is overwritten has no skipped bytes. Its head is the end of
 * the last record. The oldest record there is may be found by magic and CRC.
 */
#ifndef _LINUX_TEST_PERF_AUX_H
#define _LINUX_TEST_PERF_AUX_H

#include <linux/types.h>

#define AUX_TEST_PMU_NAME	"aux_test"

#define AUX_TEST_MAGIC		0x41555854U	/* "AUXT" */

struct aux_test_record {
	__u32	magic;
	__u32	length;		/* of this header and the payload */
	__u64	event_id;	/* as of PERF_EVENT_IOC_ID; a child has its own */
	__u64	sequence;
	__u64	lost;
	__u64	time;
	__u32	cpu;
	__u32	skip;
	__u32	reserved;	/* 0 */
	__u32	crc;		/* the last one, see AUX_TEST_CRC_BYTES */
};

/*
 * The CRC is that of IEEE 802.3, as computed by zlib's crc32() or by
 * ~crc32_le(~0, ...): of this many bytes of the header, then of the payload.
 */
#define AUX_TEST_CRC_BYTES	(sizeof(struct aux_test_record) - sizeof(__u32))

#define AUX_TEST_MAX_PAYLOAD	0xffffU
#define AUX_TEST_MAX_LENGTH	(sizeof(struct aux_test_record) + AUX_TEST_MAX_PAYLOAD)

/*
 * perf_event_attr::config
 *
 * rate:	ticks per second; 0: AUX_TEST_DEFAULT_RATE. A tick that comes late is
 *		not made up for.
 * burst:	records due at each tick, 0: one
 * payload:	bytes of payload
 * vary:	the payload's size depends on the sequence, and is @payload at most
 * drop:	a record for which there is no room is dropped with the rest of its
 *		burst, the transaction is ended PERF_AUX_FLAG_PARTIAL, and the event
 *		goes on. Without it, the transaction is ended PERF_AUX_FLAG_TRUNCATED,
 *		which disables the event. An AUX area of which not one byte is free
 *		disables the event in both cases, and without a flag.
 * add_fails:	pmu::add() fails where no transaction can be begun, as it does in
 *		most drivers. Without it, the event is scheduled, and is stopped.
 * at_once:	an event that is started writes a burst before it waits for the first
 *		tick. Where timers are coarse, it can be restarted more often so.
 */
#define AUX_TEST_RATE_SHIFT	0		/* config:0-23 */
#define AUX_TEST_RATE_MASK	0xffffffULL
#define AUX_TEST_BURST_SHIFT	24		/* config:24-39 */
#define AUX_TEST_BURST_MASK	0xffffULL
#define AUX_TEST_PAYLOAD_SHIFT	40		/* config:40-55 */
#define AUX_TEST_PAYLOAD_MASK	0xffffULL
#define AUX_TEST_VARY		((__u64)1 << 56) /* config:56 */
#define AUX_TEST_DROP		((__u64)1 << 57) /* config:57 */
#define AUX_TEST_ADD_FAILS	((__u64)1 << 58) /* config:58 */
#define AUX_TEST_AT_ONCE	((__u64)1 << 59) /* config:59 */
#define AUX_TEST_CONFIG_MASK	(((__u64)1 << 60) - 1)

#define AUX_TEST_DEFAULT_RATE	1000
#define AUX_TEST_MAX_RATE	100000

/* A tick's records are written with interrupts off: not more than this. */
#define AUX_TEST_MAX_TICK_BYTES	(1024 * 1024)

#define AUX_TEST_CONFIG(rate, burst, payload)			\
	((__u64)(rate) << AUX_TEST_RATE_SHIFT |			\
	 (__u64)(burst) << AUX_TEST_BURST_SHIFT |		\
	 (__u64)(payload) << AUX_TEST_PAYLOAD_SHIFT)

/*
 * perf_event_attr::config1
 *
 * skip:	every so many records bytes are skipped after the record; 0: never
 * skip_bytes:	that many, 0: AUX_TEST_DEFAULT_SKIP. Where they do not fit they
 *		are left out, and not announced.
 */
#define AUX_TEST_SKIP_SHIFT	0		/* config1:0-31 */
#define AUX_TEST_SKIP_MASK	0xffffffffULL
#define AUX_TEST_SKIP_BYTES_SHIFT 32		/* config1:32-63 */
#define AUX_TEST_SKIP_BYTES_MASK 0xffffffffULL

#define AUX_TEST_DEFAULT_SKIP	64

#define AUX_TEST_CONFIG1(skip, skip_bytes)			\
	((__u64)(skip) << AUX_TEST_SKIP_SHIFT |			\
	 (__u64)(skip_bytes) << AUX_TEST_SKIP_BYTES_SHIFT)

/*
 * perf_event_attr::config2
 *
 * truncate:	after every so many records that were written, the next one due is
 *		lost and the transaction is ended PERF_AUX_FLAG_TRUNCATED; 0: never
 * limit:	the event stops after so many records in all, without a flag; 0: never
 */
#define AUX_TEST_TRUNCATE_SHIFT	0		/* config2:0-31 */
#define AUX_TEST_TRUNCATE_MASK	0xffffffffULL
#define AUX_TEST_LIMIT_SHIFT	32		/* config2:32-63 */
#define AUX_TEST_LIMIT_MASK	0xffffffffULL

#define AUX_TEST_CONFIG2(truncate, limit)			\
	((__u64)(truncate) << AUX_TEST_TRUNCATE_SHIFT |		\
	 (__u64)(limit) << AUX_TEST_LIMIT_SHIFT)

/**
 * aux_test_byte() - a byte of a payload
 * @sequence: the record's
 * @i: the byte's index in the payload
 *
 * Neighbouring bytes, records and pages differ, so that data that was moved,
 * exchanged or repeated is found out.
 *
 * Return: the byte.
 */
static inline __u8 aux_test_byte(__u64 sequence, __u32 i)
{
	__u32 mixed = (__u32)(sequence ^ sequence >> 32) * 0x9e3779b1U + i * 0x85ebca6bU;

	return mixed >> 24;
}

/**
 * aux_test_payload_size() - the payload's size where it varies
 * @sequence: the record's
 * @max: the largest one
 *
 * Return: 0 to @max, both included.
 */
static inline __u32 aux_test_payload_size(__u64 sequence, __u32 max)
{
	return ((__u32)sequence * 0x9e3779b1U >> 8) % (max + 1);
}

/**
 * aux_test_header_valid() - can this be a record's header?
 * @record: what was read
 *
 * Says nothing about the CRC.
 *
 * Return: true if it can.
 */
static inline int aux_test_header_valid(const struct aux_test_record *record)
{
	return record->magic == AUX_TEST_MAGIC &&
	       record->length >= sizeof(*record) &&
	       record->length <= AUX_TEST_MAX_LENGTH &&
	       !record->reserved;
}

#endif /* _LINUX_TEST_PERF_AUX_H */
