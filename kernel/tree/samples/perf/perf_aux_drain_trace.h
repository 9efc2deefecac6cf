/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM perf_aux_drain

#if !defined(_PERF_AUX_DRAIN_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _PERF_AUX_DRAIN_TRACE_H

#include <linux/tracepoint.h>

/*
 * One chunk of AUX data was read, verified and given back to the producer.
 *
 * The sequence number is the first record's. It and all that is counted in
 * records are 0 if the records' layout is not known.
 */
TRACE_EVENT(perf_aux_drain,
	    TP_PROTO(unsigned int cpu, unsigned long from, unsigned long len,
		     unsigned int records, u64 sequence, u64 lost,
		     unsigned int errors),

	    TP_ARGS(cpu, from, len, records, sequence, lost, errors),

	    TP_STRUCT__entry(__field(unsigned long,	from)
			     __field(unsigned long,	len)
			     __field(u64,		sequence)
			     __field(u64,		lost)
			     __field(unsigned int,	cpu)
			     __field(unsigned int,	records)
			     __field(unsigned int,	errors)
	    ),

	    TP_fast_assign(__entry->from	= from;
			   __entry->len		= len;
			   __entry->sequence	= sequence;
			   __entry->lost	= lost;
			   __entry->cpu		= cpu;
			   __entry->records	= records;
			   __entry->errors	= errors;
	    ),

	    TP_printk("cpu=%u from=0x%lx len=%lu records=%u sequence=%llu lost=%llu errors=%u",
		      __entry->cpu, __entry->from, __entry->len, __entry->records,
		      __entry->sequence, __entry->lost, __entry->errors)
);

#endif /* _PERF_AUX_DRAIN_TRACE_H */

/* Not part of what is read more than once. */
#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE perf_aux_drain_trace
#include <trace/define_trace.h>
