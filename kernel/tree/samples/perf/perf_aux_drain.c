// SPDX-License-Identifier: GPL-2.0-only
/*
 * A consumer of AUX data in the kernel: on each CPU an event with an AUX buffer
 * of its own, and a thread that waits for data, copies it out, looks at it and
 * gives the space back.
 *
 *	insmod perf_aux_drain.ko \
 *		type=$(cat /sys/bus/event_source/devices/aux_test/type)
 *	grep . /sys/kernel/debug/perf_aux_drain/cpu0
 *	perf record -e perf_aux_drain:perf_aux_drain -a sleep 1
 *
 * With the test PMU (CONFIG_TEST_PERF_AUX) each byte that arrives is checked.
 * The data of other PMUs is counted only (verify=0).
 *
 * Who may do what to a buffer:
 *
 *  - There is one consumer, since tail and position in the data belong together.
 *    drain::lock makes it one, and nobody sleeps under it for want of data.
 *  - A release may come at any time, in the middle of a copy, too. Calls give
 *    -ENXIO from then on, and the thread waits for another buffer.
 *  - A new buffer begins at cursor 0, so who sets it up must hold drain::lock: an
 *    old cursor could seem to be valid in it.
 *  - Event, buffer and thread come and go with their CPU. drain::control keeps
 *    debugfs from them meanwhile. The thread never takes it, so that it can be
 *    waited for under it.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/crc32.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/test_perf_aux.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>

#define CREATE_TRACE_POINTS
#include "perf_aux_drain_trace.h"

static int type = -1;
module_param(type, int, 0444);
MODULE_PARM_DESC(type, "PMU, as /sys/bus/event_source/devices/*/type has it");

static unsigned long long config;
module_param(config, ullong, 0444);
MODULE_PARM_DESC(config, "perf_event_attr::config");

static unsigned long long config1;
module_param(config1, ullong, 0444);
MODULE_PARM_DESC(config1, "perf_event_attr::config1");

static unsigned long long config2;
module_param(config2, ullong, 0444);
MODULE_PARM_DESC(config2, "perf_event_attr::config2");

static unsigned long long period;
module_param(period, ullong, 0444);
MODULE_PARM_DESC(period, "perf_event_attr::sample_period, for PMUs that sample");

static int nr_pages = 16;
module_param(nr_pages, int, 0444);
MODULE_PARM_DESC(nr_pages, "pages of each CPU's AUX buffer, a power of two (default: 16)");

static long watermark;
module_param(watermark, long, 0444);
MODULE_PARM_DESC(watermark, "bytes after which the thread is woken (default: half the buffer)");

static unsigned int timeout_ms = 100;
module_param(timeout_ms, uint, 0444);
MODULE_PARM_DESC(timeout_ms, "longest time for which data is left in the buffer, 0: any (default: 100)");

static bool remote;
module_param(remote, bool, 0444);
MODULE_PARM_DESC(remote, "read each CPU's buffer on the CPU next to it (default: N)");

static bool verify = true;
module_param(verify, bool, 0444);
MODULE_PARM_DESC(verify, "check the test PMU's records (default: Y); N for other PMUs");

/* What is counted, for each CPU and since the module was loaded. */
enum drain_stat {
	DRAIN_ONLINE,		/* times that event, buffer and thread were made */
	DRAIN_BYTES,		/* bytes read and given back */
	DRAIN_CHUNKS,		/* times that some were */
	DRAIN_RECORDS,
	DRAIN_SKIPPED,		/* bytes announced as skipped */
	DRAIN_LOST,		/* records announced as lost */
	DRAIN_DROPPED,		/* records that were in a buffer when it was released */
	DRAIN_WAKEUPS,
	DRAIN_TIMEOUTS,
	DRAIN_RESTARTS,		/* times that the event was found disabled */
	DRAIN_CYCLES,		/* times that the buffer was replaced */
	DRAIN_RELEASED,		/* times that the thread found no buffer */
	DRAIN_SETUP_ERRORS,	/* times that there was to be a buffer, and was none */
	/* From here on, any that is not 0 is a fault. */
	DRAIN_API_ERRORS,
	DRAIN_FORMAT_ERRORS,
	DRAIN_CRC_ERRORS,
	DRAIN_PAYLOAD_ERRORS,
	DRAIN_SEQUENCE_ERRORS,
	DRAIN_TIME_ERRORS,
	DRAIN_FOREIGN_ERRORS,	/* records of another event or CPU */
	DRAIN_NR_STATS
};

static const char *const drain_stat_names[DRAIN_NR_STATS] = {
	[DRAIN_ONLINE]		= "online",
	[DRAIN_BYTES]		= "bytes",
	[DRAIN_CHUNKS]		= "chunks",
	[DRAIN_RECORDS]		= "records",
	[DRAIN_SKIPPED]		= "skipped_bytes",
	[DRAIN_LOST]		= "lost_records",
	[DRAIN_DROPPED]		= "dropped_records",
	[DRAIN_WAKEUPS]		= "wakeups",
	[DRAIN_TIMEOUTS]	= "timeouts",
	[DRAIN_RESTARTS]	= "restarts",
	[DRAIN_CYCLES]		= "cycles",
	[DRAIN_RELEASED]	= "released",
	[DRAIN_SETUP_ERRORS]	= "setup_errors",
	[DRAIN_API_ERRORS]	= "api_errors",
	[DRAIN_FORMAT_ERRORS]	= "format_errors",
	[DRAIN_CRC_ERRORS]	= "crc_errors",
	[DRAIN_PAYLOAD_ERRORS]	= "payload_errors",
	[DRAIN_SEQUENCE_ERRORS]	= "sequence_errors",
	[DRAIN_TIME_ERRORS]	= "time_errors",
	[DRAIN_FOREIGN_ERRORS]	= "foreign_errors",
};

struct drain {
	/* Event, thread and copy exist, or are being made or removed. */
	struct mutex		control;
	struct perf_event	*event;
	struct task_struct	*thread;
	int			error;	/* why there are none */

	/* The consumer's state. */
	struct mutex		lock;
	struct wait_queue_head	wait;	/* for a buffer */
	bool			ring;	/* there is a buffer, as far as is known */
	void			*copy;	/* as large as the buffer */
	unsigned long		tail;
	unsigned long		skip;	/* announced bytes that are still to come */
	u64			sequence; /* the next record's */
	u64			time;	/* the last record's */
	bool			gap;	/* the next record may be a later one */

	unsigned int		cpu;
	atomic64_t		stats[DRAIN_NR_STATS];
};

/* What one chunk came to. */
struct drain_chunk {
	unsigned int	records;
	unsigned int	errors;
	u64		sequence;
	u64		lost;
};

static struct drain __percpu *drains;
static struct dentry *drain_dir;
static bool drain_paused;	/* events are to stay disabled */

static void drain_count(struct drain *drain, enum drain_stat stat, u64 n)
{
	atomic64_add(n, &drain->stats[stat]);
}

static void drain_fault(struct drain *drain, struct drain_chunk *chunk,
			enum drain_stat stat)
{
	drain_count(drain, stat, 1);
	chunk->errors++;
}

/* Any call may find that there is no buffer; no other error has an excuse. */
static int drain_api(struct drain *drain, int ret)
{
	if (ret && ret != -ENXIO)
		drain_count(drain, DRAIN_API_ERRORS, 1);

	return ret;
}

static u32 drain_payload_size(u64 sequence)
{
	u32 size = config >> AUX_TEST_PAYLOAD_SHIFT & AUX_TEST_PAYLOAD_MASK;

	return config & AUX_TEST_VARY ? aux_test_payload_size(sequence, size) : size;
}

static void drain_verify_record(struct drain *drain, struct drain_chunk *chunk,
				const struct aux_test_record *record, const u8 *data)
{
	const u8 *payload = data + sizeof(*record);
	u32 size = record->length - sizeof(*record);
	u32 crc, i;

	crc = crc32_le(~0, data, AUX_TEST_CRC_BYTES);
	crc = ~crc32_le(crc, payload, size);
	if (crc != record->crc)
		drain_fault(drain, chunk, DRAIN_CRC_ERRORS);

	/* A record that is whole can still be in the wrong place. */
	for (i = 0; i < size && payload[i] == aux_test_byte(record->sequence, i); i++)
		;
	if (i < size || size != drain_payload_size(record->sequence))
		drain_fault(drain, chunk, DRAIN_PAYLOAD_ERRORS);

	if (drain->gap && record->sequence > drain->sequence)
		drain_count(drain, DRAIN_DROPPED, record->sequence - drain->sequence);
	else if (record->sequence != drain->sequence)
		drain_fault(drain, chunk, DRAIN_SEQUENCE_ERRORS);

	if (record->time < drain->time)
		drain_fault(drain, chunk, DRAIN_TIME_ERRORS);
	if (record->event_id != drain->event->id || record->cpu != drain->cpu)
		drain_fault(drain, chunk, DRAIN_FOREIGN_ERRORS);

	drain->gap = false;
	drain->sequence = record->sequence + 1;
	drain->time = record->time;
}

/*
 * Goes through the records in what was copied. Returns how many bytes are done
 * with: a record that is not all there is left in the buffer.
 */
static unsigned long drain_verify(struct drain *drain, unsigned long len,
				  struct drain_chunk *chunk)
{
	struct aux_test_record record;
	unsigned long at = 0;

	while (at < len) {
		unsigned long left = len - at;

		if (drain->skip) {
			unsigned long skipped = min(drain->skip, left);

			drain_count(drain, DRAIN_SKIPPED, skipped);
			drain->skip -= skipped;
			at += skipped;
			continue;
		}

		if (left < sizeof(record))
			break;
		/* Records are not aligned. */
		memcpy(&record, drain->copy + at, sizeof(record));
		if (!aux_test_header_valid(&record)) {
			/* Where would the next one be? Not in this chunk. */
			drain_fault(drain, chunk, DRAIN_FORMAT_ERRORS);
			drain->gap = true;
			at = len;
			break;
		}
		if (left < record.length)
			break;

		if (!chunk->records++)
			chunk->sequence = record.sequence;
		chunk->lost += record.lost;
		drain_verify_record(drain, chunk, &record, drain->copy + at);
		drain->skip = record.skip;
		at += record.length;
		cond_resched();
	}

	drain_count(drain, DRAIN_RECORDS, chunk->records);
	drain_count(drain, DRAIN_LOST, chunk->lost);

	return at;
}

/* Reads all that there is. */
static int drain_read(struct drain *drain)
{
	unsigned long from = drain->tail, head, len;
	struct drain_chunk chunk = {};
	int ret;

	lockdep_assert_held(&drain->lock);

	ret = drain_api(drain, perf_event_aux_head(drain->event, &head));
	if (ret)
		return ret;

	/* Cursors wrap; their difference does not. */
	len = head - from;
	if (!len)
		return 0;
	if (len > (unsigned long)nr_pages << PAGE_SHIFT)
		return drain_api(drain, -ERANGE);

	/* In pieces, because a copy may not be preempted. */
	for (unsigned long at = 0; at < len; at += SZ_64K) {
		ret = perf_event_aux_copy(drain->event, drain->copy + at, from + at,
					  min(len - at, SZ_64K));
		if (drain_api(drain, ret))
			return ret;
	}

	if (verify)
		len = drain_verify(drain, len, &chunk);
	if (!len)
		return 0;

	ret = drain_api(drain, perf_event_aux_tail_set(drain->event, from + len));
	if (ret)
		return ret;

	drain->tail = from + len;
	drain_count(drain, DRAIN_BYTES, len);
	drain_count(drain, DRAIN_CHUNKS, 1);
	trace_perf_aux_drain(drain->cpu, from, len, chunk.records,
			     chunk.sequence, chunk.lost, chunk.errors);

	return 0;
}

/*
 * A full buffer and lost data disable the event. Now that there is space again it
 * has to be told to go on. Whether it was disabled is not for us to find out: the
 * disable may be on its way still, and a wakeup for it have been seen already.
 */
static int drain_restart(struct drain *drain)
{
	bool disabled = READ_ONCE(drain->event->state) < PERF_EVENT_STATE_INACTIVE;
	int ret;

	lockdep_assert_held(&drain->lock);

	if (READ_ONCE(drain_paused))
		return 0;

	ret = drain_api(drain, perf_event_aux_restart(drain->event));
	if (ret)
		return ret;

	if (disabled)
		drain_count(drain, DRAIN_RESTARTS, 1);
	/*
	 * Who pauses sets the flag and then disables; both of us take the
	 * context's mutex in between. So if the event was disabled before it was
	 * enabled here, then the flag is seen here.
	 */
	if (READ_ONCE(drain_paused))
		perf_event_disable(drain->event);

	return 0;
}

static int drain_thread(void *data)
{
	long timeout = timeout_ms ? msecs_to_jiffies(timeout_ms) : MAX_SCHEDULE_TIMEOUT;
	struct drain *drain = data;
	int ret;

	while (!kthread_should_stop()) {
		ret = perf_event_aux_wait(drain->event, timeout);
		if (!ret)
			drain_count(drain, DRAIN_WAKEUPS, 1);
		else if (ret == -ETIMEDOUT)
			drain_count(drain, DRAIN_TIMEOUTS, 1);
		else if (ret != -ERESTARTSYS) /* kthread_stop() counts as a signal */
			drain_api(drain, ret);

		/* What waits below the watermark is read at a timeout. */
		mutex_lock(&drain->lock);
		ret = drain_read(drain);
		if (!ret)
			ret = drain_restart(drain);
		if (ret == -ENXIO) {
			drain_count(drain, DRAIN_RELEASED, 1);
			/* There is no other before the lock is free. */
			WRITE_ONCE(drain->ring, false);
		}
		mutex_unlock(&drain->lock);

		if (ret == -ENXIO)
			wait_event_interruptible(drain->wait,
						 READ_ONCE(drain->ring) || kthread_should_stop());
		cond_resched();
	}

	return 0;
}

static int drain_setup(struct drain *drain)
{
	int ret;

	lockdep_assert_held(&drain->lock);

	ret = perf_event_setup_aux(drain->event, nr_pages, watermark);
	if (ret) {
		drain_count(drain, DRAIN_SETUP_ERRORS, 1);
		return ret;
	}

	drain->tail = 0;
	drain->skip = 0;
	WRITE_ONCE(drain->ring, true);

	return 0;
}

/*
 * Makes the event of a CPU, its buffer and its thread. The event stays disabled
 * until all is there.
 */
static int drain_start(struct drain *drain)
{
	struct perf_event_attr attr = {
		.type		= type,
		.size		= sizeof(attr),
		.config		= config,
		.config1	= config1,
		.config2	= config2,
		.sample_period	= period,
		.disabled	= 1,
	};
	struct task_struct *thread;
	struct perf_event *event;
	int ret;

	lockdep_assert_held(&drain->control);

	event = perf_event_create_kernel_counter(&attr, drain->cpu, NULL, NULL, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	drain->event = event;

	/* A new event's records begin anew. */
	mutex_lock(&drain->lock);
	drain->sequence = 0;
	drain->time = 0;
	drain->gap = false;
	ret = drain_setup(drain);
	mutex_unlock(&drain->lock);
	if (ret)
		goto err_event;

	drain->copy = vmalloc_node((unsigned long)nr_pages << PAGE_SHIFT,
				   cpu_to_node(drain->cpu));
	if (!drain->copy) {
		ret = -ENOMEM;
		goto err_aux;
	}

	thread = kthread_create_on_node(drain_thread, drain, cpu_to_node(drain->cpu),
					"aux_drain/%u", drain->cpu);
	if (IS_ERR(thread)) {
		ret = PTR_ERR(thread);
		goto err_copy;
	}
	/*
	 * If it is elsewhere and that CPU goes offline, the scheduler moves it. If
	 * it is here, it is gone by then.
	 */
	kthread_bind(thread, remote ? cpumask_next_wrap(drain->cpu, cpu_online_mask) :
				      drain->cpu);
	drain->thread = thread;

	wake_up_process(thread);
	if (!READ_ONCE(drain_paused))
		perf_event_enable(event);
	drain_count(drain, DRAIN_ONLINE, 1);

	return 0;

err_copy:
	vfree(drain->copy);
	drain->copy = NULL;
err_aux:
	perf_event_release_aux(event);
err_event:
	perf_event_release_kernel(event);
	drain->event = NULL;
	return ret;
}

static void drain_stop(struct drain *drain)
{
	lockdep_assert_held(&drain->control);

	if (!drain->event)
		return;

	/*
	 * The thread may be anywhere in its loop. It uses the event, so it goes
	 * first. Without a buffer it does not wait for data any more.
	 */
	perf_event_release_aux(drain->event);
	kthread_stop(drain->thread);
	perf_event_release_kernel(drain->event);
	vfree(drain->copy);
	drain->copy = NULL;
	drain->thread = NULL;
	drain->event = NULL;
}

static int drain_online(unsigned int cpu)
{
	struct drain *drain = per_cpu_ptr(drains, cpu);

	guard(mutex)(&drain->control);
	drain->error = drain_start(drain);

	/* A CPU that cannot be traced is still a CPU. */
	return 0;
}

static int drain_offline(unsigned int cpu)
{
	struct drain *drain = per_cpu_ptr(drains, cpu);

	guard(mutex)(&drain->control);
	drain_stop(drain);

	return 0;
}

/* Replaces the buffer while the thread goes on, with no regard to it. */
static int drain_cycle_abruptly(struct drain *drain)
{
	/* What was in the buffer is gone. */
	perf_event_release_aux(drain->event);

	guard(mutex)(&drain->lock);
	drain->gap = true;

	return drain_setup(drain);
}

/* Replaces the buffer when all that was written has been read. */
static int drain_cycle_orderly(struct drain *drain)
{
	struct drain_chunk none = {};
	unsigned long head, tail;
	int ret;

	/* With the lock, since the thread may enable the event again. */
	guard(mutex)(&drain->lock);
	perf_event_disable(drain->event);
	do {
		tail = drain->tail;
		ret = drain_read(drain);
	} while (!ret && drain->tail != tail);

	/* A part of a record would stay, but nobody writes one. */
	if (!ret && !perf_event_aux_head(drain->event, &head) && head != drain->tail) {
		drain_fault(drain, &none, DRAIN_FORMAT_ERRORS);
		drain->gap = true;
	}

	perf_event_release_aux(drain->event);

	return drain_setup(drain);
}

static int drain_cycle(struct drain *drain, bool orderly)
{
	int ret;

	guard(mutex)(&drain->control);
	if (!drain->event)
		return 0;

	if (orderly)
		ret = drain_cycle_orderly(drain);
	else
		ret = drain_cycle_abruptly(drain);
	if (ret)
		return ret;

	drain_count(drain, DRAIN_CYCLES, 1);
	wake_up(&drain->wait);
	if (!READ_ONCE(drain_paused))
		perf_event_enable(drain->event);

	return 0;
}

/*
 * Written a number, each buffer is released and set up that many times, by turns
 * in the middle of things and when it is empty.
 */
static ssize_t drain_cycle_write(struct file *file, const char __user *buf,
				 size_t count, loff_t *ppos)
{
	unsigned int cpu, cycles, i;
	int ret, err = 0;

	ret = kstrtouint_from_user(buf, count, 0, &cycles);
	if (ret)
		return ret;

	for (i = 0; i < cycles; i++) {
		for_each_possible_cpu(cpu) {
			/* One CPU's failure is no reason to leave out the others. */
			ret = drain_cycle(per_cpu_ptr(drains, cpu), i & 1);
			if (ret)
				err = ret;
		}
		if (signal_pending(current))
			return -EINTR;
		cond_resched();
	}

	return err ?: count;
}

static const struct file_operations drain_cycle_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= drain_cycle_write,
	.llseek	= noop_llseek,
};

static int drain_enable_get(void *data, u64 *value)
{
	*value = !READ_ONCE(drain_paused);
	return 0;
}

static int drain_enable_set(void *data, u64 value)
{
	unsigned int cpu;

	WRITE_ONCE(drain_paused, !value);
	for_each_possible_cpu(cpu) {
		struct drain *drain = per_cpu_ptr(drains, cpu);

		guard(mutex)(&drain->control);
		if (!drain->event)
			continue;
		if (value)
			perf_event_enable(drain->event);
		else
			perf_event_disable(drain->event);
	}

	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(drain_enable_fops, drain_enable_get, drain_enable_set, "%llu\n");

static void drain_show_stats(struct seq_file *m, const u64 *stats)
{
	int i;

	for (i = 0; i < DRAIN_NR_STATS; i++)
		seq_printf(m, "%s %llu\n", drain_stat_names[i], stats[i]);
}

static void drain_add_stats(struct drain *drain, u64 *stats)
{
	int i;

	for (i = 0; i < DRAIN_NR_STATS; i++)
		stats[i] += atomic64_read(&drain->stats[i]);
}

static int drain_cpu_show(struct seq_file *m, void *unused)
{
	struct drain *drain = m->private;
	u64 stats[DRAIN_NR_STATS] = {};

	guard(mutex)(&drain->control);
	seq_printf(m, "running %d\n", !!drain->event);
	seq_printf(m, "error %d\n", drain->error);
	drain_add_stats(drain, stats);
	drain_show_stats(m, stats);

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(drain_cpu);

static int drain_total_show(struct seq_file *m, void *unused)
{
	u64 stats[DRAIN_NR_STATS] = {};
	unsigned int cpu, running = 0;

	for_each_possible_cpu(cpu) {
		struct drain *drain = per_cpu_ptr(drains, cpu);

		guard(mutex)(&drain->control);
		running += !!drain->event;
		drain_add_stats(drain, stats);
	}
	seq_printf(m, "running %u\n", running);
	drain_show_stats(m, stats);

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(drain_total);

static void drain_create_files(void)
{
	unsigned int cpu;
	char name[16];

	drain_dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("total", 0444, drain_dir, NULL, &drain_total_fops);
	debugfs_create_file("cycle", 0200, drain_dir, NULL, &drain_cycle_fops);
	debugfs_create_file("enable", 0600, drain_dir, NULL, &drain_enable_fops);
	for_each_possible_cpu(cpu) {
		snprintf(name, sizeof(name), "cpu%u", cpu);
		debugfs_create_file(name, 0444, drain_dir, per_cpu_ptr(drains, cpu),
				    &drain_cpu_fops);
	}
}

/* Why no CPU has an event; 0 if one has. */
static int drain_first_error(void)
{
	unsigned int cpu;
	int ret = 0;

	for_each_possible_cpu(cpu) {
		struct drain *drain = per_cpu_ptr(drains, cpu);

		guard(mutex)(&drain->control);
		if (drain->event)
			return 0;
		if (!ret)
			ret = drain->error;
	}

	return ret;
}

static enum cpuhp_state drain_state;

static int __init perf_aux_drain_init(void)
{
	unsigned int cpu;
	int ret;

	if (type < 0 || nr_pages <= 0) {
		pr_err("parameters needed: type of the PMU, and at least one page\n");
		return -EINVAL;
	}

	drains = alloc_percpu(struct drain);
	if (!drains)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct drain *drain = per_cpu_ptr(drains, cpu);

		drain->cpu = cpu;
		mutex_init(&drain->control);
		mutex_init(&drain->lock);
		init_waitqueue_head(&drain->wait);
	}

	/* Below CPUHP_AP_PERF_ONLINE perf has no contexts for a CPU's events. */
	ret = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "samples/perf_aux_drain:online",
				drain_online, drain_offline);
	if (ret < 0)
		goto err_drains;
	drain_state = ret;

	ret = drain_first_error();
	if (ret) {
		pr_err("no CPU can have an event of type %d: %d\n", type, ret);
		goto err_state;
	}

	drain_create_files();

	return 0;

err_state:
	cpuhp_remove_state(drain_state);
err_drains:
	free_percpu(drains);
	return ret;
}

static void __exit perf_aux_drain_exit(void)
{
	/* Waits for those who are in one of the files. */
	debugfs_remove(drain_dir);
	cpuhp_remove_state(drain_state);
	free_percpu(drains);
}

module_init(perf_aux_drain_init);
module_exit(perf_aux_drain_exit);

MODULE_DESCRIPTION("Drains the AUX buffer of an event on each CPU");
MODULE_LICENSE("GPL");
