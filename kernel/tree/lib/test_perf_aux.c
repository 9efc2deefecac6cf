// SPDX-License-Identifier: GPL-2.0-only
/*
 * A PMU that writes to an AUX area, for machines without one that does.
 *
 * A timer stands for the hardware. While an event is on a CPU it holds an AUX
 * transaction open, as drivers do; at each tick it writes some records, ends the
 * transaction and begins the next one. What a record is, and what the event's
 * configuration can ask for, is in <linux/test_perf_aux.h>.
 *
 * There is one transaction per CPU. Several events may count on a CPU, and each
 * of them may be redirected to the AUX area of another one, but transactions on
 * one area must not nest. So an event that wants to write ends the transaction
 * that another one left open.
 *
 * Parameters of the module:
 *
 *  aux_setups, aux_frees	how often AUX areas were set up and freed. When no
 *				area is in use they are the same.
 *  registered			N takes the PMU away, from under the events that it
 *				has; Y brings it back.
 */

#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/crc32.h>
#include <linux/device.h>
#include <linux/hrtimer.h>
#include <linux/kstrtox.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/test_perf_aux.h>
#include <linux/topology.h>

/* An AUX area, see aux_test_setup_aux(). */
struct aux_test_area {
	u64		id;
	unsigned long	size;
	bool		overwrite;
	int		nr_pages;
	void		*pages[] __counted_by(nr_pages);
};

struct aux_test_event {
	struct perf_event		*event;
	struct hrtimer			timer;
	struct perf_output_handle	handle;

	/* From the event's configuration. */
	ktime_t				period;
	u32				burst;
	u32				payload;
	bool				vary;
	bool				drop;
	bool				at_once;
	u32				skip;
	u32				skip_bytes;
	u32				truncate;
	u32				limit;

	u64				sequence;
	u64				lost;
	u32				since_skip;
	u32				since_truncate;

	/* Bytes that were announced to be skipped, and in which area. */
	u32				owed;
	u64				owed_area;

	/* The record that is being made: a header, and room for a payload. */
	struct aux_test_record		*record;
};

static struct pmu aux_test_pmu;

static atomic64_t aux_test_setups = ATOMIC64_INIT(0);
static atomic64_t aux_test_frees = ATOMIC64_INIT(0);

/* Whose transaction is open on this CPU. Used with interrupts off. */
static struct aux_test_event * __percpu *aux_test_open;

static u64 aux_test_field(u64 config, int shift, u64 mask)
{
	return config >> shift & mask;
}

/* AUX areas */

static void *aux_test_setup_aux(struct perf_event *event, void **pages,
				int nr_pages, bool overwrite)
{
	int node = event->cpu == -1 ? NUMA_NO_NODE : cpu_to_node(event->cpu);
	struct aux_test_area *area;

	area = kvzalloc_node(struct_size(area, pages, nr_pages), GFP_KERNEL, node);
	if (!area)
		return NULL;

	area->nr_pages = nr_pages;
	memcpy(area->pages, pages, nr_pages * sizeof(*pages));
	area->size = (unsigned long)nr_pages << PAGE_SHIFT;
	area->overwrite = overwrite;
	area->id = atomic64_inc_return(&aux_test_setups);

	return area;
}

static void aux_test_free_aux(void *aux)
{
	kvfree(aux);
	atomic64_inc(&aux_test_frees);
}

static void aux_test_write(struct aux_test_area *area, unsigned long at,
			   const void *from, unsigned long len)
{
	while (len) {
		unsigned long offset = at & (area->size - 1);
		unsigned long part = min(len, PAGE_SIZE - offset_in_page(offset));

		memcpy(area->pages[offset >> PAGE_SHIFT] + offset_in_page(offset), from, part);
		at += part;
		from += part;
		len -= part;
	}
}

/* Transactions */

static void aux_test_end(struct aux_test_event *test, unsigned long written, u64 flags)
{
	struct aux_test_area *area = perf_get_aux(&test->handle);

	if (flags)
		perf_aux_output_flag(&test->handle, flags);
	/* The head of an area that is overwritten is taken from the handle. */
	if (area->overwrite)
		test->handle.head += written;
	/*
	 * What was written was written by this CPU, with plain stores. That they are
	 * seen before the head that covers them is up to perf_aux_output_end().
	 */
	perf_aux_output_end(&test->handle, written);
	this_cpu_write(*aux_test_open, NULL);
}

/* Returns NULL if the event can not write: it is stopped then. */
static struct aux_test_area *aux_test_begin(struct aux_test_event *test)
{
	struct aux_test_event *open = this_cpu_read(*aux_test_open);
	struct aux_test_area *area;

	if (open == test)
		return perf_get_aux(&test->handle);
	if (open)
		aux_test_end(open, 0, 0);

	area = perf_aux_output_begin(&test->handle, test->event);
	if (!area)
		return NULL;
	this_cpu_write(*aux_test_open, test);

	/*
	 * Skipping comes before all that a transaction writes: perf takes the bytes
	 * directly before the head that a transaction ends with for what it wrote.
	 */
	if (test->owed && test->owed_area == area->id) {
		if (perf_aux_output_skip(&test->handle, test->owed)) {
			/* There was room for it, and the reader took it back. */
			aux_test_end(test, 0, PERF_AUX_FLAG_TRUNCATED);
			return NULL;
		}
	}
	test->owed = 0;

	return area;
}

static void aux_test_make_record(struct aux_test_event *test, u32 size, u32 skip)
{
	struct aux_test_record *record = test->record;
	u8 *payload = (u8 *)(record + 1);
	u32 crc;

	*record = (struct aux_test_record) {
		.magic		= AUX_TEST_MAGIC,
		.length		= sizeof(*record) + size,
		.event_id	= test->event->id,
		.sequence	= test->sequence,
		.lost		= test->lost,
		.time		= ktime_get_ns(),
		.cpu		= smp_processor_id(),
		.skip		= skip,
	};
	for (u32 i = 0; i < size; i++)
		payload[i] = aux_test_byte(test->sequence, i);

	crc = crc32_le(~0, (const u8 *)record, AUX_TEST_CRC_BYTES);
	record->crc = ~crc32_le(crc, payload, size);
}

/* Are all records written, and is what was announced with them done? */
static bool aux_test_is_over(struct aux_test_event *test)
{
	return test->limit && test->sequence >= test->limit && !test->owed;
}

/*
 * Writes what is due, or as much of it as one transaction can have, and ends the
 * transaction. Returns the flags that it was ended with.
 */
static u64 aux_test_transaction(struct aux_test_event *test, struct aux_test_area *area,
				u32 *due)
{
	unsigned long written = 0;
	u64 flags = 0;

	/* Bytes are skipped at the next one's begin. */
	while (*due && !test->owed && !aux_test_is_over(test)) {
		unsigned long room = area->overwrite ? area->size : test->handle.size - written;
		u32 size = test->payload;
		u32 length, skip = 0;

		if (test->vary)
			size = aux_test_payload_size(test->sequence, size);
		length = sizeof(*test->record) + size;

		if (test->truncate && test->since_truncate >= test->truncate) {
			test->since_truncate = 0;
			flags = PERF_AUX_FLAG_TRUNCATED;
		} else if (length > room) {
			flags = test->drop ? PERF_AUX_FLAG_PARTIAL : PERF_AUX_FLAG_TRUNCATED;
		}
		if (flags) {
			test->lost += *due;
			*due = 0;
			break;
		}

		if (test->skip && ++test->since_skip >= test->skip) {
			test->since_skip = 0;
			if (!area->overwrite && test->skip_bytes <= room - length)
				skip = test->skip_bytes;
		}

		aux_test_make_record(test, size, skip);
		aux_test_write(area, test->handle.head + written, test->record, length);
		written += length;

		test->owed = skip;
		test->owed_area = area->id;
		test->sequence++;
		test->since_truncate++;
		test->lost = 0;
		local64_inc(&test->event->count);
		(*due)--;
	}
	aux_test_end(test, written, flags);

	return flags;
}

/*
 * Writes what is due at a tick, and leaves the next transaction open. Returns false
 * if there is none: the event is stopped then.
 */
static bool aux_test_burst(struct aux_test_event *test)
{
	u32 due = test->burst;

	for (;;) {
		struct aux_test_area *area = aux_test_begin(test);

		if (!area)
			return false;
		if (!due)
			return true;
		/* perf disables the event soon, and it must not write until then. */
		if (aux_test_transaction(test, area, &due) & PERF_AUX_FLAG_TRUNCATED)
			return false;
		if (aux_test_is_over(test))
			return false;
	}
}

static enum hrtimer_restart aux_test_tick(struct hrtimer *timer)
{
	struct aux_test_event *test = container_of(timer, struct aux_test_event, timer);
	struct perf_event *event = test->event;
	bool goes_on;

	if (event->hw.state & PERF_HES_STOPPED)
		return HRTIMER_NORESTART;

	goes_on = aux_test_burst(test);
	perf_event_update_userpage(event);
	if (!goes_on) {
		event->hw.state |= PERF_HES_STOPPED;
		return HRTIMER_NORESTART;
	}
	hrtimer_forward_now(timer, test->period);

	return HRTIMER_RESTART;
}

/* Callbacks of perf's core. Those of an event's run have interrupts off. */

/* Returns false if no transaction can be begun. */
static bool aux_test_run(struct perf_event *event)
{
	struct aux_test_event *test = event->pmu_private;

	event->hw.state = PERF_HES_STOPPED;
	if (aux_test_is_over(test))
		return true;
	if (!aux_test_begin(test))
		return false;
	if (test->at_once && !aux_test_burst(test))
		return true;
	event->hw.state = 0;
	hrtimer_start(&test->timer, test->period, HRTIMER_MODE_REL_PINNED_HARD);

	return true;
}

static void aux_test_start(struct perf_event *event, int flags)
{
	aux_test_run(event);
}

static void aux_test_stop(struct perf_event *event, int flags)
{
	struct aux_test_event *test = event->pmu_private;

	event->hw.state |= PERF_HES_STOPPED;
	/*
	 * The timer is this CPU's, and expires in hard interrupt context: its
	 * function can not be running now, so that there is nothing to wait for.
	 */
	hrtimer_try_to_cancel(&test->timer);
	if (this_cpu_read(*aux_test_open) == test)
		aux_test_end(test, 0, 0);
	if (flags & PERF_EF_UPDATE)
		event->hw.state |= PERF_HES_UPTODATE;
}

static int aux_test_add(struct perf_event *event, int flags)
{
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START) {
		if (!aux_test_run(event) && event->attr.config & AUX_TEST_ADD_FAILS)
			return -EBUSY;
	}
	perf_event_update_userpage(event);

	return 0;
}

static void aux_test_del(struct perf_event *event, int flags)
{
	aux_test_stop(event, PERF_EF_UPDATE);
}

static void aux_test_read(struct perf_event *event)
{
	/* The timer's function keeps the count. */
}

static void aux_test_destroy(struct perf_event *event)
{
	struct aux_test_event *test = event->pmu_private;

	hrtimer_cancel(&test->timer);
	kvfree(test->record);
	kfree(test);
}

static int aux_test_event_init(struct perf_event *event)
{
	u64 config = event->attr.config;
	u64 config1 = event->attr.config1;
	u64 config2 = event->attr.config2;
	int node = event->cpu == -1 ? NUMA_NO_NODE : cpu_to_node(event->cpu);
	struct aux_test_event *test;
	u64 rate, largest;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (has_branch_stack(event))
		return -EOPNOTSUPP;
	if (config & ~AUX_TEST_CONFIG_MASK)
		return -EINVAL;

	rate = aux_test_field(config, AUX_TEST_RATE_SHIFT, AUX_TEST_RATE_MASK)
	       ?: AUX_TEST_DEFAULT_RATE;
	if (rate > AUX_TEST_MAX_RATE)
		return -EINVAL;

	test = kzalloc_node(sizeof(*test), GFP_KERNEL, node);
	if (!test)
		return -ENOMEM;

	test->event = event;
	test->period = ns_to_ktime(div64_u64(NSEC_PER_SEC, rate));
	test->burst = aux_test_field(config, AUX_TEST_BURST_SHIFT, AUX_TEST_BURST_MASK) ?: 1;
	test->payload = aux_test_field(config, AUX_TEST_PAYLOAD_SHIFT, AUX_TEST_PAYLOAD_MASK);
	test->vary = config & AUX_TEST_VARY;
	test->drop = config & AUX_TEST_DROP;
	test->at_once = config & AUX_TEST_AT_ONCE;
	test->skip = aux_test_field(config1, AUX_TEST_SKIP_SHIFT, AUX_TEST_SKIP_MASK);
	test->skip_bytes = aux_test_field(config1, AUX_TEST_SKIP_BYTES_SHIFT,
					  AUX_TEST_SKIP_BYTES_MASK) ?: AUX_TEST_DEFAULT_SKIP;
	test->truncate = aux_test_field(config2, AUX_TEST_TRUNCATE_SHIFT,
					AUX_TEST_TRUNCATE_MASK);
	test->limit = aux_test_field(config2, AUX_TEST_LIMIT_SHIFT, AUX_TEST_LIMIT_MASK);

	largest = sizeof(*test->record) + test->payload;
	if (test->burst > 1 && test->burst * largest > AUX_TEST_MAX_TICK_BYTES) {
		kfree(test);
		return -EINVAL;
	}
	test->record = kvzalloc_node(largest, GFP_KERNEL, node);
	if (!test->record) {
		kfree(test);
		return -ENOMEM;
	}

	hrtimer_setup(&test->timer, aux_test_tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	event->pmu_private = test;
	event->destroy = aux_test_destroy;

	return 0;
}

/* sysfs */

PMU_FORMAT_ATTR(rate, "config:0-23");
PMU_FORMAT_ATTR(burst, "config:24-39");
PMU_FORMAT_ATTR(payload, "config:40-55");
PMU_FORMAT_ATTR(vary, "config:56");
PMU_FORMAT_ATTR(drop, "config:57");
PMU_FORMAT_ATTR(add_fails, "config:58");
PMU_FORMAT_ATTR(at_once, "config:59");
PMU_FORMAT_ATTR(skip, "config1:0-31");
PMU_FORMAT_ATTR(skip_bytes, "config1:32-63");
PMU_FORMAT_ATTR(truncate, "config2:0-31");
PMU_FORMAT_ATTR(limit, "config2:32-63");

static struct attribute *aux_test_format_attrs[] = {
	&format_attr_rate.attr,
	&format_attr_burst.attr,
	&format_attr_payload.attr,
	&format_attr_vary.attr,
	&format_attr_drop.attr,
	&format_attr_add_fails.attr,
	&format_attr_at_once.attr,
	&format_attr_skip.attr,
	&format_attr_skip_bytes.attr,
	&format_attr_truncate.attr,
	&format_attr_limit.attr,
	NULL,
};

static const struct attribute_group aux_test_format_group = {
	.name	= "format",
	.attrs	= aux_test_format_attrs,
};

static const struct attribute_group *aux_test_groups[] = {
	&aux_test_format_group,
	NULL,
};

/* Parameters */

static int aux_test_get_count(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%llu\n", (u64)atomic64_read(kp->arg));
}

static const struct kernel_param_ops aux_test_count_ops = {
	.get = aux_test_get_count,
};

module_param_cb(aux_setups, &aux_test_count_ops, &aux_test_setups, 0444);
MODULE_PARM_DESC(aux_setups, "AUX areas that were set up");
module_param_cb(aux_frees, &aux_test_count_ops, &aux_test_frees, 0444);
MODULE_PARM_DESC(aux_frees, "AUX areas that were freed");

static DEFINE_MUTEX(aux_test_lock);	/* for what is below */
static bool aux_test_registered;
static bool aux_test_loaded;

static int aux_test_register(bool want)
{
	int ret;

	lockdep_assert_held(&aux_test_lock);

	if (want == aux_test_registered)
		return 0;
	if (want) {
		/* A PMU that was there before left its traces in it. */
		aux_test_pmu = (struct pmu) {
			.module		= THIS_MODULE,
			.task_ctx_nr	= perf_sw_context,
			.attr_groups	= aux_test_groups,
			.event_init	= aux_test_event_init,
			.add		= aux_test_add,
			.del		= aux_test_del,
			.start		= aux_test_start,
			.stop		= aux_test_stop,
			.read		= aux_test_read,
			.setup_aux	= aux_test_setup_aux,
			.free_aux	= aux_test_free_aux,
		};
		ret = perf_pmu_register(&aux_test_pmu, AUX_TEST_PMU_NAME, -1);
	} else {
		ret = perf_pmu_unregister(&aux_test_pmu);
	}
	if (!ret)
		aux_test_registered = want;

	return ret;
}

static int aux_test_set_registered(const char *value, const struct kernel_param *kp)
{
	bool want;
	int ret;

	ret = kstrtobool(value, &want);
	if (ret)
		return ret;

	guard(mutex)(&aux_test_lock);
	/* Not while the module comes or goes. */
	if (!aux_test_loaded)
		return -EBUSY;

	return aux_test_register(want);
}

static int aux_test_get_registered(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%c\n", READ_ONCE(aux_test_registered) ? 'Y' : 'N');
}

static const struct kernel_param_ops aux_test_registered_ops = {
	.set = aux_test_set_registered,
	.get = aux_test_get_registered,
};

module_param_cb(registered, &aux_test_registered_ops, NULL, 0600);
MODULE_PARM_DESC(registered, "is the PMU there?");

static int __init aux_test_init(void)
{
	int ret;

	aux_test_open = alloc_percpu(struct aux_test_event *);
	if (!aux_test_open)
		return -ENOMEM;

	guard(mutex)(&aux_test_lock);
	ret = aux_test_register(true);
	if (ret)
		free_percpu(aux_test_open);
	aux_test_loaded = !ret;

	return ret;
}

static void __exit aux_test_exit(void)
{
	scoped_guard(mutex, &aux_test_lock) {
		aux_test_loaded = false;
		aux_test_register(false);
	}
	free_percpu(aux_test_open);
}

module_init(aux_test_init);
module_exit(aux_test_exit);

MODULE_DESCRIPTION("Test PMU with an AUX area");
MODULE_LICENSE("GPL");
