// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMUs, events, mappings and threads for the tests of AUX buffers for kernel
 * consumers.
 *
 * A PMU here behaves as the drivers of tracing hardware do: a transaction is
 * open from start() to stop(), the interrupt commits what there is and begins
 * the next one, and if that fails the event is stopped. But nothing happens by
 * itself. The "interrupt" comes when a test asks for it, on the event's CPU and
 * with interrupts off, and brings as many bytes as the test wants.
 *
 * That an event is disabled does not keep a test from writing to its buffer,
 * see aux_test_write(). This is simpler where scheduling does not matter.
 */

#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/wait.h>

#include "aux_kernel_test.h"

struct aux_test_fixture {
	struct aux_test_pmu *pmu;
	struct list_head pmus;
	struct list_head writers;
	struct list_head mappings;
	struct list_head workers;
	u32 seed;
};

static struct aux_test_fixture *aux_test_fixture(struct kunit *test)
{
	return test->priv;
}

/* -- transactions -- */

struct aux_test_buffer *aux_test_begin(struct perf_event *event,
				       struct perf_output_handle *handle)
{
	struct aux_test_buffer *buffer = perf_aux_output_begin(handle, event);

	if (buffer)
		atomic_inc(&buffer->open);
	return buffer;
}

void aux_test_end(struct aux_test_buffer *buffer, struct perf_output_handle *handle,
		  unsigned long size)
{
	/* The buffer may be gone once the transaction is. */
	atomic_dec(&buffer->open);
	perf_aux_output_end(handle, size);
}

void aux_test_fill(struct perf_event *event, struct aux_test_buffer *buffer,
		   unsigned long from, unsigned long len)
{
	u32 seed = aux_test_writer(event)->seed;

	while (len) {
		unsigned long page = (from & (buffer->size - 1)) >> PAGE_SHIFT;
		unsigned long n = min(len, PAGE_SIZE - offset_in_page(from));
		u8 *dst = buffer->pages[page] + offset_in_page(from);

		for (unsigned long i = 0; i < n; i++)
			dst[i] = aux_test_byte(seed, from + i);

		from += n;
		len -= n;
	}
}

/*
 * Write @len bytes, or as many as there is room for, in a transaction of its
 * own. Not for an event that is enabled, because it has got one already. The
 * return value is the number of bytes.
 */
unsigned long aux_test_write(struct perf_event *event, unsigned long len)
{
	struct perf_output_handle handle;
	struct aux_test_buffer *buffer = aux_test_begin(event, &handle);

	if (!buffer)
		return 0;

	len = min(len, handle.size);
	aux_test_fill(event, buffer, handle.head, len);
	aux_test_end(buffer, &handle, len);

	return len;
}

/* -- PMU callbacks; all on the event's CPU with interrupts off -- */

static void aux_test_writer_begin(struct aux_test_writer *writer)
{
	struct perf_event *event = writer->event;

	writer->buffer = aux_test_begin(event, &writer->handle);
	WRITE_ONCE(event->hw.state,
		   writer->buffer ? 0 : PERF_HES_STOPPED | PERF_HES_UPTODATE);
}

static unsigned long aux_test_writer_end(struct aux_test_writer *writer,
					 unsigned long len, u64 flags)
{
	struct aux_test_buffer *buffer = writer->buffer;

	len = min(len, writer->handle.size);
	aux_test_fill(writer->event, buffer, writer->handle.head, len);
	perf_aux_output_flag(&writer->handle, flags);

	WRITE_ONCE(writer->event->hw.state, PERF_HES_STOPPED | PERF_HES_UPTODATE);
	writer->buffer = NULL;
	aux_test_end(buffer, &writer->handle, len);

	return len;
}

static void aux_test_pmu_start(struct perf_event *event, int flags)
{
	struct aux_test_writer *writer = aux_test_writer(event);

	aux_test_writer_begin(writer);
	if (writer->buffer && writer->start_len) {
		aux_test_writer_end(writer, writer->start_len, 0);
		aux_test_writer_begin(writer);
	}
}

static void aux_test_pmu_stop(struct perf_event *event, int flags)
{
	struct aux_test_writer *writer = aux_test_writer(event);

	if (writer->buffer)
		aux_test_writer_end(writer, writer->stop_len, 0);
}

static int aux_test_pmu_add(struct perf_event *event, int flags)
{
	struct aux_test_pmu *pmu = container_of(event->pmu, struct aux_test_pmu, pmu);

	if (!(flags & PERF_EF_START))
		return 0;

	aux_test_pmu_start(event, PERF_EF_RELOAD);

	return pmu->fail_add && !aux_test_writer(event)->buffer ? -EINVAL : 0;
}

static void aux_test_pmu_del(struct perf_event *event, int flags)
{
	aux_test_pmu_stop(event, PERF_EF_UPDATE);
}

static void aux_test_pmu_read(struct perf_event *event)
{
}

static int aux_test_pmu_event_init(struct perf_event *event)
{
	struct aux_test_pmu *pmu = container_of(event->pmu, struct aux_test_pmu, pmu);
	struct aux_test_fixture *fixture = aux_test_fixture(pmu->test);
	struct aux_test_writer *writer;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;

	writer = kunit_kzalloc(pmu->test, sizeof(*writer), GFP_KERNEL);
	if (!writer)
		return -ENOMEM;

	writer->event = event;
	writer->seed = fixture->seed++;
	event->pmu_private = writer;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;

	return 0;
}

static void *aux_test_pmu_setup_aux(struct perf_event *event, void **pages,
				    int nr_pages, bool overwrite)
{
	struct aux_test_pmu *pmu = container_of(event->pmu, struct aux_test_pmu, pmu);
	struct aux_test_buffer *buffer;

	if (pmu->fail_setup)
		return NULL;

	buffer = kzalloc_obj(*buffer);
	if (!buffer)
		return NULL;

	buffer->pmu = pmu;
	buffer->pages = pages;
	buffer->size = (unsigned long)nr_pages << PAGE_SHIFT;
	atomic_inc(&pmu->setups);

	return buffer;
}

static void aux_test_pmu_free_aux(void *aux)
{
	struct aux_test_buffer *buffer = aux;

	/* Drivers sleep here: they unmap the pages, or wait for other CPUs. */
	might_sleep();

	/* The pages have to be there yet. Who reads them later sees it. */
	for (unsigned long i = 0; i < buffer->size >> PAGE_SHIFT; i++)
		memset(buffer->pages[i], 0, PAGE_SIZE);

	if (atomic_read(&buffer->open))
		atomic_inc(&buffer->pmu->early_frees);
	atomic_inc(&buffer->pmu->frees);
	kfree(buffer);
}

/* -- the interrupt -- */

struct aux_test_interrupt {
	struct perf_event *event;
	unsigned long len;
	u64 flags;
	unsigned long written;
};

static void aux_test_interrupt_handler(void *info)
{
	struct aux_test_interrupt *interrupt = info;
	struct aux_test_writer *writer = aux_test_writer(interrupt->event);

	/* Not for us, or a late one. */
	if (!writer->buffer)
		return;

	interrupt->written = aux_test_writer_end(writer, interrupt->len,
						 interrupt->flags);
	/* Data was lost, and the event is about to be disabled. */
	if (!(interrupt->flags & PERF_AUX_FLAG_TRUNCATED))
		aux_test_writer_begin(writer);
}

/*
 * Have the hardware of an event, which is bound to a CPU, write @len bytes or as
 * many as there is room for, and report them along with @flags. The return
 * value is the number of bytes, 0 if the event is not running.
 */
unsigned long aux_test_interrupt(struct perf_event *event, unsigned long len, u64 flags)
{
	struct aux_test_interrupt interrupt = {
		.event = event,
		.len = len,
		.flags = flags,
	};

	smp_call_function_single(event->cpu, aux_test_interrupt_handler, &interrupt, 1);

	return interrupt.written;
}

/* -- PMUs and events -- */

struct aux_test_pmu *aux_test_default_pmu(struct kunit *test)
{
	return aux_test_fixture(test)->pmu;
}

struct aux_test_pmu *aux_test_pmu_alloc(struct kunit *test)
{
	struct aux_test_pmu *pmu = kunit_kzalloc(test, sizeof(*pmu), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pmu);

	pmu->test = test;
	pmu->pmu = (struct pmu) {
		.module		= THIS_MODULE,
		/* Not for user space, hence not in sysfs. */
		.dev		= PMU_NULL_DEV,
		/* As Arm SPE and Intel PT: events of tasks and of CPUs. */
		.task_ctx_nr	= perf_sw_context,
		.event_init	= aux_test_pmu_event_init,
		.add		= aux_test_pmu_add,
		.del		= aux_test_pmu_del,
		.start		= aux_test_pmu_start,
		.stop		= aux_test_pmu_stop,
		.read		= aux_test_pmu_read,
		.setup_aux	= aux_test_pmu_setup_aux,
		.free_aux	= aux_test_pmu_free_aux,
	};
	list_add_tail(&pmu->entry, &aux_test_fixture(test)->pmus);

	return pmu;
}

void aux_test_pmu_register(struct kunit *test, struct aux_test_pmu *pmu)
{
	KUNIT_ASSERT_EQ(test, perf_pmu_register(&pmu->pmu, "aux_kernel_test", -1), 0);
	pmu->registered = true;
}

void aux_test_pmu_unregister(struct kunit *test, struct aux_test_pmu *pmu)
{
	int cpu;

	if (!pmu->registered)
		return;

	/* An add() that failed has started it, and nobody else stops it. */
	for_each_possible_cpu(cpu)
		hrtimer_cancel(&(*per_cpu_ptr(pmu->pmu.cpu_pmu_context, cpu))->hrtimer);

	KUNIT_EXPECT_EQ(test, perf_pmu_unregister(&pmu->pmu), 0);
	pmu->registered = false;
}

/*
 * A disabled event of @task, or of a CPU if that is NULL. With more than one CPU
 * it is not the one where most of a boot takes place, so that consumers tend to
 * run beside it.
 */
struct perf_event *aux_test_event_of(struct kunit *test, struct aux_test_pmu *pmu,
				     struct task_struct *task)
{
	struct perf_event_attr attr = {
		.type		= pmu->pmu.type,
		.size		= sizeof(attr),
		.disabled	= 1,
	};
	int cpu = task ? -1 : cpumask_last(cpu_online_mask);
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, cpu, task, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	list_add_tail(&aux_test_writer(event)->entry, &aux_test_fixture(test)->writers);

	return event;
}

struct perf_event *aux_test_event(struct kunit *test)
{
	return aux_test_event_of(test, aux_test_default_pmu(test), NULL);
}

/* An event that has a buffer. */
struct perf_event *aux_test_ring(struct kunit *test, int nr_pages, long watermark)
{
	struct perf_event *event = aux_test_event(test);

	KUNIT_ASSERT_EQ(test, perf_event_setup_aux(event, nr_pages, watermark), 0);

	return event;
}

void aux_test_event_release(struct perf_event *event)
{
	list_del(&aux_test_writer(event)->entry);
	perf_event_release_kernel(event);
}

/* Make an empty buffer look as if @cursor bytes had gone through it. */
void aux_test_preset(struct perf_event *event, unsigned long cursor)
{
	struct perf_buffer *rb = event->rb;

	rb->aux_head = cursor;
	rb->aux_wakeup = cursor;
	rb->user_page->aux_head = cursor;
	rb->user_page->aux_tail = cursor;
}

/* Wait for disables and wakeups that are pending. */
void aux_test_sync(struct perf_event *event)
{
	irq_work_sync(&event->pending_irq);
	irq_work_sync(&event->pending_disable_irq);
}

/* -- consumers -- */

/* How many bytes are right; @len if all are. */
unsigned long aux_test_diff(struct perf_event *event, const void *data,
			    unsigned long from, unsigned long len)
{
	u32 seed = aux_test_writer(event)->seed;
	const u8 *bytes = data;
	unsigned long i;

	for (i = 0; i < len; i++) {
		if (bytes[i] != aux_test_byte(seed, from + i))
			break;
	}

	return i;
}

void aux_test_expect_data(struct kunit *test, struct perf_event *event,
			  const void *data, unsigned long from, unsigned long len)
{
	unsigned long good = aux_test_diff(event, data, from, len);

	if (good < len)
		KUNIT_FAIL(test, "cursor 0x%lx, byte %lu of %lu: 0x%02x instead of 0x%02x",
			   from + good, good, len, ((const u8 *)data)[good],
			   aux_test_byte(aux_test_writer(event)->seed, from + good));
}

unsigned long aux_test_head(struct kunit *test, struct perf_event *event)
{
	unsigned long head = 0;

	KUNIT_EXPECT_EQ(test, perf_event_aux_head(event, &head), 0);

	return head;
}

/* Copy, check and release [@from, @from + @len), with which the data begins. */
void aux_test_drain(struct kunit *test, struct perf_event *event,
		    unsigned long from, unsigned long len)
{
	void *data = kvmalloc(len, GFP_KERNEL);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, data);

	ret = perf_event_aux_copy(event, data, from, len);
	KUNIT_EXPECT_EQ(test, ret, 0);
	if (!ret)
		aux_test_expect_data(test, event, data, from, len);
	KUNIT_EXPECT_EQ(test, perf_event_aux_tail_set(event, from + len), 0);

	kvfree(data);
}

/* -- buffers of user space -- */

struct vm_area_struct *aux_test_vma(struct kunit *test, unsigned long pgoff)
{
	struct vm_area_struct *vma = kunit_kzalloc(test, sizeof(*vma), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, vma);

	/* Only counted at: perf_mmap_rb() and perf_mmap_aux() map no pages. */
	vma->vm_mm = kunit_kzalloc(test, sizeof(*vma->vm_mm), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, vma->vm_mm);

	vma->vm_pgoff = pgoff;
	vm_flags_init(vma, VM_READ | VM_WRITE | VM_SHARED);

	return vma;
}

/* Give an event what user space gets by mmap() of a data page and an AUX area. */
struct aux_test_mapping *aux_test_map(struct kunit *test, struct perf_event *event,
				      int nr_pages)
{
	struct aux_test_mapping *mapping = kunit_kzalloc(test, sizeof(*mapping), GFP_KERNEL);
	struct perf_event_mmap_page *page;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, mapping);
	mapping->event = event;
	mapping->vma = aux_test_vma(test, 0);

	mutex_lock(&event->mmap_mutex);
	ret = perf_mmap_rb(mapping->vma, event, 2);
	if (!ret) {
		page = event->rb->user_page;
		page->aux_offset = 2 * PAGE_SIZE;
		page->aux_size = nr_pages * PAGE_SIZE;
		mapping->vma->vm_pgoff = 2;
		ret = perf_mmap_aux(mapping->vma, event, nr_pages);
	}
	mutex_unlock(&event->mmap_mutex);
	KUNIT_ASSERT_EQ(test, ret, 0);

	mapping->rb = event->rb;
	list_add(&mapping->entry, &aux_test_fixture(test)->mappings);

	return mapping;
}

/*
 * The counterpart. perf_mmap_close() wants the file of an event, and events of
 * the kernel have none; this does the same, for the one mapping that there is.
 */
void aux_test_unmap(struct kunit *test, struct aux_test_mapping *mapping)
{
	struct perf_event *event = mapping->event;
	struct perf_buffer *rb = mapping->rb;
	struct user_struct *user = rb->mmap_user;

	list_del(&mapping->entry);
	perf_event_disable(event);

	if (refcount_dec_and_mutex_lock(&rb->aux_mmap_count, &rb->aux_mutex)) {
		atomic_long_sub(rb->aux_nr_pages - rb->aux_mmap_locked, &user->locked_vm);
		rb_free_aux(rb);
		mutex_unlock(&rb->aux_mutex);
	}
	atomic_long_sub(1 + data_page_nr(rb) - rb->mmap_locked, &user->locked_vm);

	/* Once for the AUX area, and once for the data. */
	refcount_dec(&rb->mmap_count);
	KUNIT_EXPECT_TRUE(test, refcount_dec_and_test(&rb->mmap_count));
	refcount_dec(&event->mmap_count);
	KUNIT_EXPECT_TRUE(test, refcount_dec_and_test(&event->mmap_count));

	KUNIT_EXPECT_EQ(test, perf_event_set_output(event, NULL), 0);
}

/* -- threads -- */

static int aux_test_worker_thread(void *data)
{
	struct aux_test_worker *worker = data;

	worker->ret = worker->fn(worker);
	complete(&worker->done);

	return 0;
}

/* Run @fn, which returns when it is done or when it sees worker->stop. */
struct aux_test_worker *aux_test_start(struct kunit *test,
				       int (*fn)(struct aux_test_worker *worker),
				       struct perf_event *event, void *data,
				       unsigned long len)
{
	struct aux_test_worker *worker = kunit_kzalloc(test, sizeof(*worker), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, worker);
	worker->test = test;
	worker->fn = fn;
	worker->event = event;
	worker->data = data;
	worker->len = len;
	init_completion(&worker->done);

	worker->task = kthread_create(aux_test_worker_thread, worker, "aux_kernel_test");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, worker->task);
	/* It ends by itself; kthread_stop_put() finds it nevertheless. */
	get_task_struct(worker->task);
	list_add_tail(&worker->entry, &aux_test_fixture(test)->workers);
	wake_up_process(worker->task);

	return worker;
}

/* What @fn returned, or -ETIMEDOUT and a failed test if it does not. */
int aux_test_join(struct kunit *test, struct aux_test_worker *worker)
{
	if (!wait_for_completion_timeout(&worker->done, AUX_TEST_WATCHDOG)) {
		KUNIT_FAIL(test, "%ps() is stuck", worker->fn);
		return -ETIMEDOUT;
	}

	list_del(&worker->entry);
	kthread_stop_put(worker->task);

	return worker->ret;
}

int aux_test_stop(struct kunit *test, struct aux_test_worker *worker)
{
	WRITE_ONCE(worker->stop, true);

	return aux_test_join(test, worker);
}

static int aux_test_waker_func(struct wait_queue_entry *wait, unsigned int mode,
			       int flags, void *key)
{
	struct aux_test_waker *waker = container_of(wait, struct aux_test_waker, wait);

	if (atomic_inc_return(&waker->count) == 1)
		waker->state = READ_ONCE(waker->event->state);

	return 0;
}

struct aux_test_waker *aux_test_watch(struct kunit *test, struct perf_event *event)
{
	struct aux_test_waker *waker = kunit_kzalloc(test, sizeof(*waker), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, waker);
	init_waitqueue_func_entry(&waker->wait, aux_test_waker_func);
	INIT_LIST_HEAD(&waker->wait.entry);
	waker->event = event;
	add_wait_queue(&event->waitq, &waker->wait);

	return waker;
}

void aux_test_unwatch(struct aux_test_waker *waker)
{
	remove_wait_queue(&waker->event->waitq, &waker->wait);
}

/* -- before and after each test -- */

int aux_test_init(struct kunit *test)
{
	struct aux_test_fixture *fixture;

	fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	if (!fixture)
		return -ENOMEM;

	INIT_LIST_HEAD(&fixture->pmus);
	INIT_LIST_HEAD(&fixture->writers);
	INIT_LIST_HEAD(&fixture->mappings);
	INIT_LIST_HEAD(&fixture->workers);
	test->priv = fixture;

	fixture->pmu = aux_test_pmu_alloc(test);
	aux_test_pmu_register(test, fixture->pmu);

	return 0;
}

void aux_test_exit(struct kunit *test)
{
	struct aux_test_fixture *fixture = aux_test_fixture(test);
	struct aux_test_mapping *mapping, *next_mapping;
	struct aux_test_worker *worker, *next_worker;
	struct aux_test_writer *writer, *next_writer;
	struct aux_test_pmu *pmu;

	if (!fixture)
		return;

	/* Left by a test that failed. A release ends their waits. */
	list_for_each_entry(worker, &fixture->workers, entry)
		WRITE_ONCE(worker->stop, true);
	if (!list_empty(&fixture->workers)) {
		list_for_each_entry(writer, &fixture->writers, entry)
			perf_event_release_aux(writer->event);
	}
	list_for_each_entry_safe(worker, next_worker, &fixture->workers, entry) {
		list_del(&worker->entry);
		kthread_stop_put(worker->task);
	}

	list_for_each_entry_safe(mapping, next_mapping, &fixture->mappings, entry)
		aux_test_unmap(test, mapping);

	list_for_each_entry_safe(writer, next_writer, &fixture->writers, entry)
		aux_test_event_release(writer->event);

	list_for_each_entry(pmu, &fixture->pmus, entry) {
		KUNIT_EXPECT_EQ(test, atomic_read(&pmu->setups), atomic_read(&pmu->frees));
		KUNIT_EXPECT_EQ(test, atomic_read(&pmu->early_frees), 0);
		aux_test_pmu_unregister(test, pmu);
	}
}
