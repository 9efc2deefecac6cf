// SPDX-License-Identifier: GPL-2.0-only
/*
 * The AUX area as user space sees it: two mappings of an event, fields in the
 * control page, PERF_RECORD_AUX, wakeups.
 *
 * Kernel code can own an AUX area, too, and shares with user space all that
 * admits writers, counts owners and takes an area down. Nothing of that may be
 * noticed here.
 *
 * The events are those of the test PMU (CONFIG_TEST_PERF_AUX), since its data can
 * be checked, byte by byte, and its producer does what a test needs: fill the
 * area to the last byte, lose data, skip some. The module is loaded if need be:
 * from the file that the environment's TEST_PERF_AUX_MODULE names, else by
 * modprobe.
 */
#define _GNU_SOURCE

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <linux/perf_event.h>

#include "kselftest_harness.h"
#include "../../../../include/linux/test_perf_aux.h"

#define DEVICE		"/sys/bus/event_source/devices/" AUX_TEST_PMU_NAME
#define MODULE		"test_perf_aux"
#define MODULE_DIR	"/sys/module/" MODULE

/* What must come comes within this time, in milliseconds, on slow machines too. */
#define PATIENCE	10000
/* What must not come is waited for this long. */
#define QUIET		100

/* Room for some thousand AUX records. */
#define DATA_SIZE	(256 * 1024UL)

#define MAX_STREAMS	4

/* An event and its two mappings. */
struct ring {
	int				fd;
	struct perf_event_mmap_page	*page;
	size_t				data_size;	/* without the control page */
	unsigned char			*aux;
	size_t				aux_size;
};

/* What was read of an event's records. */
struct stream {
	__u64	id;
	__u64	records;
	__u64	lost;
	__u64	losses;		/* records that were preceded by lost ones */
	__u64	time;
	__u64	cpus;		/* a bit for each of the first 64 */
};

/* What was read of a ring. */
struct reader {
	struct ring	*ring;
	__u64		at;		/* cursor of the next byte to read */
	__u64		pending;	/* bytes to skip that are not published yet */
	__u64		skipped;
	__u64		records;
	struct stream	streams[MAX_STREAMS];
	int		nr_streams;

	/* of PERF_RECORD_AUX */
	__u64		aux_records;
	__u64		aux_at;
	__u64		aux_bytes;
	__u64		aux_gaps;
	__u64		aux_flags;
	__u64		truncated;
	__u64		partial;
	__u64		data_lost;

	unsigned char	record[AUX_TEST_MAX_LENGTH];
};

static unsigned long page_size;

/* Helpers that know nothing of events */

static __u64 now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);

	return now.tv_sec * 1000ULL + now.tv_nsec / 1000000;
}

static void sleep_ms(unsigned int ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

/* Returns -1 if there is no number. */
static long long read_number(const char *path)
{
	long long number = -1;
	FILE *file = fopen(path, "r");

	if (!file)
		return -1;
	if (fscanf(file, "%lld", &number) != 1)
		number = -1;
	fclose(file);

	return number;
}

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	int ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);

	return ret;
}

static __u32 crc32(__u32 crc, const unsigned char *data, size_t len)
{
	static __u32 table[256];

	if (!table[1]) {
		for (int i = 0; i < 256; i++) {
			__u32 value = i;

			for (int bit = 0; bit < 8; bit++)
				value = value >> 1 ^ (value & 1 ? 0xedb88320 : 0);
			table[i] = value;
		}
	}

	crc = ~crc;
	while (len--)
		crc = crc >> 8 ^ table[(crc ^ *data++) & 0xff];

	return ~crc;
}

static sigjmp_buf fault_exit;

static void on_fault(int signal)
{
	siglongjmp(fault_exit, signal);
}

/* Returns the signal that an access causes, or 0. */
static int fault_of(unsigned char *at, bool write)
{
	struct sigaction action = { .sa_handler = on_fault }, segv, bus;
	int signal;

	sigaction(SIGSEGV, &action, &segv);
	sigaction(SIGBUS, &action, &bus);
	signal = sigsetjmp(fault_exit, 1);
	if (!signal) {
		/* Atomic, so that it is not optimized away. */
		if (write)
			__atomic_store_n(at, 1, __ATOMIC_RELAXED);
		else
			__atomic_load_n(at, __ATOMIC_RELAXED);
	}
	sigaction(SIGSEGV, &segv, NULL);
	sigaction(SIGBUS, &bus, NULL);

	return signal;
}

/* A set of one CPU, out of those that are kept track of. */
static __u64 cpu_bit(unsigned int cpu)
{
	return cpu < 64 ? 1ULL << cpu : 0;
}

static bool run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);

	return !sched_setaffinity(0, sizeof(set), &set);
}

/* The module */

static long long nr_areas(void)
{
	return read_number(MODULE_DIR "/parameters/aux_setups") -
	       read_number(MODULE_DIR "/parameters/aux_frees");
}

static bool loaded_here;
static pid_t loader;

static void unload(void)
{
	if (loaded_here && getpid() == loader)
		syscall(SYS_delete_module, MODULE, O_NONBLOCK);
}

/* Returns NULL if the PMU is there, else why it is not. */
static const char *load(void)
{
	const char *path = getenv("TEST_PERF_AUX_MODULE");
	static char reason[256];

	if (!access(DEVICE, F_OK))
		return NULL;

	loader = getpid();
	if (path) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd < 0) {
			snprintf(reason, sizeof(reason), "%s: %s", path, strerror(errno));
			return reason;
		}
		loaded_here = !syscall(SYS_finit_module, fd, "", 0);
		if (!loaded_here)
			snprintf(reason, sizeof(reason), "%s cannot be loaded: %s", path,
				 strerror(errno));
		close(fd);
	} else {
		loaded_here = !system("modprobe -q " MODULE " 2>/dev/null");
		if (!loaded_here)
			snprintf(reason, sizeof(reason),
				 "modprobe " MODULE " failed (CONFIG_TEST_PERF_AUX)");
	}
	if (!loaded_here)
		return reason;

	atexit(unload);
	if (access(DEVICE, F_OK))
		return MODULE " is loaded, and has not made a PMU " AUX_TEST_PMU_NAME;

	return NULL;
}

/* Events and mappings */

static int event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static struct perf_event_attr attr_of(__u32 type, __u64 config)
{
	return (struct perf_event_attr) {
		.type		= type,
		.size		= sizeof(struct perf_event_attr),
		.config		= config,
		.disabled	= 1,
		.sample_type	= PERF_SAMPLE_IDENTIFIER,
		.sample_id_all	= 1,
	};
}

static int event_ioctl(const struct ring *ring, unsigned long request, long argument)
{
	return ioctl(ring->fd, request, argument);
}

static int enable(const struct ring *ring)
{
	return event_ioctl(ring, PERF_EVENT_IOC_ENABLE, 0);
}

static int disable(const struct ring *ring)
{
	return event_ioctl(ring, PERF_EVENT_IOC_DISABLE, 0);
}

static __u64 event_id(const struct ring *ring)
{
	__u64 id = 0;

	ioctl(ring->fd, PERF_EVENT_IOC_ID, &id);

	return id;
}

static __u64 event_count(const struct ring *ring)
{
	__u64 count = 0;

	if (read(ring->fd, &count, sizeof(count)) != sizeof(count))
		return (__u64)-1;

	return count;
}

static void *map(int fd, size_t size, __u64 offset, int prot)
{
	void *address = mmap(NULL, size, prot, MAP_SHARED, fd, offset);

	return address == MAP_FAILED ? NULL : address;
}

/* Returns 0, or why it can not be mapped: unmaps what it mapped. */
static int map_error(int fd, size_t size, __u64 offset)
{
	void *address = map(fd, size, offset, PROT_READ | PROT_WRITE);

	if (!address)
		return errno;
	munmap(address, size);

	return 0;
}

static bool map_data(struct ring *ring, size_t size)
{
	ring->data_size = size;
	ring->page = map(ring->fd, ring->data_size + page_size, 0, PROT_READ | PROT_WRITE);

	return ring->page;
}

static __u64 aux_offset(const struct ring *ring)
{
	return ring->data_size + page_size;
}

static bool map_aux_as(struct ring *ring, size_t size, int prot)
{
	ring->page->aux_offset = aux_offset(ring);
	ring->page->aux_size = size;
	ring->aux = map(ring->fd, size, aux_offset(ring), prot);
	if (ring->aux)
		ring->aux_size = size;

	return ring->aux;
}

static bool map_aux(struct ring *ring, size_t size)
{
	return map_aux_as(ring, size, PROT_READ | PROT_WRITE);
}

static void unmap_aux(struct ring *ring)
{
	if (ring->aux)
		munmap(ring->aux, ring->aux_size);
	ring->aux = NULL;
}

static void unmap_data(struct ring *ring)
{
	if (ring->page)
		munmap(ring->page, ring->data_size + page_size);
	ring->page = NULL;
}

static void close_ring(struct ring *ring)
{
	unmap_aux(ring);
	unmap_data(ring);
	if (ring->fd >= 0)
		close(ring->fd);
	ring->fd = -1;
}

static __u64 aux_head(const struct ring *ring)
{
	return __atomic_load_n(&ring->page->aux_head, __ATOMIC_ACQUIRE);
}

static void set_aux_tail(const struct ring *ring, __u64 tail)
{
	/* All that is before the tail has been read by now. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&ring->page->aux_tail, tail, __ATOMIC_RELAXED);
}

/* Waits until the head is at a cursor. */
static bool head_reaches(const struct ring *ring, __u64 cursor)
{
	__u64 end = now_ms() + PATIENCE;

	while ((__s64)(aux_head(ring) - cursor) < 0) {
		if (now_ms() > end)
			return false;
		sleep_ms(1);
	}

	return true;
}

/* Does the head stay where it is? */
static bool head_rests(const struct ring *ring)
{
	__u64 head = aux_head(ring);

	sleep_ms(QUIET);

	return aux_head(ring) == head;
}

/* Waits until there is no room for a record of some length, and nothing more comes. */
static bool area_fills(const struct ring *ring, __u64 tail, size_t length)
{
	return head_reaches(ring, tail + ring->aux_size - length) && head_rests(ring);
}

static int poll_ring(const struct ring *ring, int ms)
{
	struct pollfd fd = { .fd = ring->fd, .events = POLLIN };
	int ret;

	do {
		ret = poll(&fd, 1, ms);
	} while (ret < 0 && errno == EINTR);

	return ret < 0 ? -errno : ret ? fd.revents : 0;
}

/* Reading */

static void copy_out(void *to, const unsigned char *ring, size_t size, __u64 at, size_t len)
{
	size_t offset = at & (size - 1);
	size_t first = len < size - offset ? len : size - offset;

	memcpy(to, ring + offset, first);
	memcpy((char *)to + first, ring, len - first);
}

static struct reader *new_reader(struct ring *ring)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	if (reader) {
		reader->ring = ring;
		reader->at = aux_head(ring);
		reader->aux_at = reader->at;
	}

	return reader;
}

static struct stream *stream_of(struct reader *reader, __u64 id)
{
	struct stream *stream;

	for (int i = 0; i < reader->nr_streams; i++) {
		if (reader->streams[i].id == id)
			return &reader->streams[i];
	}
	if (reader->nr_streams == MAX_STREAMS)
		return NULL;

	stream = &reader->streams[reader->nr_streams++];
	stream->id = id;

	return stream;
}

/* Returns the length of a record that is whole, or 0. */
static __u32 copy_record(struct reader *reader, __u64 at, __u64 max)
{
	const struct ring *ring = reader->ring;
	struct aux_test_record header;
	__u32 crc;

	if (max < sizeof(header))
		return 0;
	copy_out(&header, ring->aux, ring->aux_size, at, sizeof(header));
	if (!aux_test_header_valid(&header) || header.length > max)
		return 0;
	copy_out(reader->record, ring->aux, ring->aux_size, at, header.length);

	crc = crc32(0, reader->record, AUX_TEST_CRC_BYTES);
	crc = crc32(crc, reader->record + sizeof(header), header.length - sizeof(header));

	return crc == header.crc ? header.length : 0;
}

/*
 * Reads records, up to a head and not more than max; all must be whole and in
 * sequence. Does not set the tail.
 */
static void read_aux(struct __test_metadata *_metadata, struct reader *reader, __u64 head,
		     __u64 max)
{
	while (max--) {
		const struct aux_test_record *header = (void *)reader->record;
		struct stream *stream;
		__u32 length;

		if (reader->pending) {
			__u64 skip = head - reader->at;

			if (skip > reader->pending)
				skip = reader->pending;
			/* perf publishes all that it skips at once. */
			ASSERT_TRUE(!skip || skip == reader->pending);
			reader->at += skip;
			reader->pending -= skip;
			reader->skipped += skip;
		}
		if (reader->at == head)
			return;

		length = copy_record(reader, reader->at, head - reader->at);
		ASSERT_NE(0, length)
			TH_LOG("no record at %llu of %llu, after %llu records",
			       (unsigned long long)reader->at, (unsigned long long)head,
			       (unsigned long long)reader->records);

		stream = stream_of(reader, header->event_id);
		ASSERT_NE(NULL, stream);
		ASSERT_EQ(stream->records, header->sequence);
		for (__u32 i = 0; i < length - sizeof(*header); i++) {
			__u8 byte = reader->record[sizeof(*header) + i];

			if (byte != aux_test_byte(header->sequence, i))
				ASSERT_EQ(aux_test_byte(header->sequence, i), byte);
		}
		/* Clocks of several CPUs need not agree. */
		if (stream->cpus == cpu_bit(header->cpu))
			ASSERT_LE(stream->time, header->time);
		stream->cpus |= cpu_bit(header->cpu);
		stream->time = header->time;
		stream->lost += header->lost;
		stream->losses += !!header->lost;
		stream->records++;

		reader->records++;
		reader->at += length;
		reader->pending = header->skip;
	}
}

/* Reads what is in the data area; AUX records must be in order. */
static void read_data(struct __test_metadata *_metadata, struct reader *reader)
{
	const struct ring *ring = reader->ring;
	const unsigned char *data = (unsigned char *)ring->page + page_size;
	__u64 head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	__u64 tail = ring->page->data_tail;

	while (tail != head) {
		struct {
			struct perf_event_header	header;
			__u64				words[64];
		} record;

		copy_out(&record.header, data, ring->data_size, tail, sizeof(record.header));
		ASSERT_LE(sizeof(record.header), record.header.size);
		ASSERT_GE(sizeof(record), record.header.size);
		copy_out(&record, data, ring->data_size, tail, record.header.size);
		tail += record.header.size;

		if (record.header.type == PERF_RECORD_AUX) {
			__u64 offset = record.words[0];
			__u64 size = record.words[1];
			__u64 flags = record.words[2];

			/* AUX records end with the event's id, see attr_of(). */
			ASSERT_EQ(sizeof(record.header) + 4 * sizeof(__u64), record.header.size);
			if (!(flags & PERF_AUX_FLAG_OVERWRITE)) {
				ASSERT_LE(reader->aux_at, offset);
				reader->aux_gaps += offset - reader->aux_at;
				reader->aux_at = offset + size;
			}
			reader->aux_records++;
			reader->aux_bytes += size;
			reader->aux_flags |= flags;
			reader->truncated += !!(flags & PERF_AUX_FLAG_TRUNCATED);
			reader->partial += !!(flags & PERF_AUX_FLAG_PARTIAL);
		} else if (record.header.type == PERF_RECORD_LOST) {
			reader->data_lost += record.words[1];
		}
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

/* Reads all there is, and releases it. */
static void drain_some(struct __test_metadata *_metadata, struct reader *reader, __u64 max)
{
	read_aux(_metadata, reader, aux_head(reader->ring), max);
	read_data(_metadata, reader);
	set_aux_tail(reader->ring, reader->at);
}

static void drain(struct __test_metadata *_metadata, struct reader *reader)
{
	drain_some(_metadata, reader, ~0ULL);
}

/* As a recorder does: wait, read, release, enable; until so many bytes were read. */
static void drain_until(struct __test_metadata *_metadata, struct reader *reader, __u64 bytes)
{
	__u64 start = reader->at;

	while (reader->at - start < bytes) {
		ASSERT_EQ(POLLIN, poll_ring(reader->ring, PATIENCE))
			TH_LOG("%llu of %llu bytes read, the event does not go on",
			       (unsigned long long)(reader->at - start),
			       (unsigned long long)bytes);
		drain(_metadata, reader);
		ASSERT_EQ(0, enable(reader->ring));
	}
}

/* All that the AUX records say agrees with what was read, when all was read. */
static void check_sums(struct __test_metadata *_metadata, struct reader *reader, __u64 start)
{
	ASSERT_EQ(aux_head(reader->ring), reader->at);
	ASSERT_EQ(0, reader->pending);
	EXPECT_EQ(0, reader->data_lost);
	EXPECT_EQ(reader->at - start, reader->aux_bytes + reader->skipped);
	/* Bytes that were skipped last are followed by no AUX record. */
	EXPECT_EQ(reader->at - reader->aux_at, reader->skipped - reader->aux_gaps);
}

/*
 * Tests. Timers can be as coarse as the scheduler's tick, so that it is the size of
 * the bursts that makes an area fill soon, not their rate.
 */

FIXTURE(aux)
{
	__u32		type;
	int		cpu;		/* the events' */
	int		other;		/* the same one if there is no other */
	size_t		size;		/* of an AUX area that is not too small */
	long long	areas;
	cpu_set_t	affinity;
	struct ring	ring;
	struct ring	second;
};

FIXTURE_SETUP(aux)
{
	struct perf_event_attr attr;
	int fd;

	page_size = sysconf(_SC_PAGESIZE);
	self->size = page_size < 32768 ? 65536 : 2 * page_size;
	self->ring.fd = -1;
	self->second.fd = -1;
	self->cpu = -1;
	self->other = -1;
	ASSERT_EQ(0, sched_getaffinity(0, sizeof(self->affinity), &self->affinity));
	for (int cpu = 0; cpu < CPU_SETSIZE && self->other < 0; cpu++) {
		if (!CPU_ISSET(cpu, &self->affinity))
			continue;
		if (self->cpu < 0)
			self->cpu = cpu;
		else
			self->other = cpu;
	}
	ASSERT_LE(0, self->cpu);
	if (self->other < 0)
		self->other = self->cpu;

	self->type = read_number(DEVICE "/type");
	ASSERT_NE((__u32)-1, self->type);
	self->areas = nr_areas();

	attr = attr_of(self->type, 0);
	fd = event_open(&attr, -1, self->cpu);
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		SKIP(return, "events of a CPU need CAP_PERFMON");
	ASSERT_LE(0, fd);
	close(fd);
}

FIXTURE_TEARDOWN(aux)
{
	close_ring(&self->ring);
	close_ring(&self->second);
	/* pmu_unregistered may not have come to its end. */
	if (access(DEVICE, F_OK))
		write_text(MODULE_DIR "/parameters/registered", "Y");
	/* The last one to unmap has freed the area by the time that it returns. */
	EXPECT_EQ(self->areas, nr_areas());
}

/* Opens an event of the PMU on the fixture's CPU. */
static void open_ring(struct __test_metadata *_metadata, struct ring *ring, int cpu,
		      struct perf_event_attr *attr, size_t data_size, size_t aux_size)
{
	ring->fd = event_open(attr, -1, cpu);
	ASSERT_LE(0, ring->fd);
	if (data_size)
		ASSERT_TRUE(map_data(ring, data_size));
	if (aux_size)
		ASSERT_TRUE(map_aux(ring, aux_size));
}

TEST_F(aux, dual_mmap)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(1000, 2, 100));
	struct perf_event_mmap_page *page;
	struct reader *reader;

	attr.config2 = AUX_TEST_CONFIG2(0, 10);
	open_ring(_metadata, &self->ring, self->cpu, &attr, 8 * page_size, 0);
	page = self->ring.page;
	EXPECT_EQ(page_size, page->data_offset);
	EXPECT_EQ(8 * page_size, page->data_size);
	EXPECT_EQ(0, page->aux_offset);
	EXPECT_EQ(0, page->aux_size);
	EXPECT_EQ(0, page->aux_head);
	EXPECT_EQ(0, page->aux_tail);

	ASSERT_TRUE(map_aux(&self->ring, self->size));
	for (size_t i = 0; i < self->size; i++)
		ASSERT_EQ(0, self->ring.aux[i]);

	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	ASSERT_EQ(0, enable(&self->ring));
	ASSERT_TRUE(head_reaches(&self->ring, 10 * (sizeof(struct aux_test_record) + 100)));
	ASSERT_TRUE(head_rests(&self->ring));
	drain(_metadata, reader);
	EXPECT_EQ(10, reader->records);
	EXPECT_EQ(10, event_count(&self->ring));
	EXPECT_EQ(1, reader->nr_streams);
	EXPECT_EQ(event_id(&self->ring), reader->streams[0].id);
	EXPECT_EQ(cpu_bit(self->cpu), reader->streams[0].cpus);
	check_sums(_metadata, reader, 0);

	/* Two of them are the kernel's to write, and two are the user's. */
	EXPECT_EQ(aux_offset(&self->ring), page->aux_offset);
	EXPECT_EQ(self->size, page->aux_size);
	EXPECT_EQ(reader->at, page->aux_tail);
}

TEST_F(aux, offset_and_size_protocol)
{
	struct perf_event_attr attr = attr_of(self->type, 0);
	struct perf_event_mmap_page *page;
	size_t size = 4 * page_size;
	__u64 offset;

	open_ring(_metadata, &self->ring, self->cpu, &attr, 4 * page_size, 0);
	page = self->ring.page;
	offset = aux_offset(&self->ring);

	/* Where it is to be has to be said, both of it, and in whole pages. */
	EXPECT_EQ(EINVAL, map_error(self->ring.fd, size, offset));
	page->aux_offset = offset;
	EXPECT_EQ(EINVAL, map_error(self->ring.fd, size, offset));
	page->aux_offset = 0;
	page->aux_size = size;
	EXPECT_EQ(EINVAL, map_error(self->ring.fd, size, offset));
	page->aux_offset = offset + 8;
	EXPECT_EQ(EINVAL, map_error(self->ring.fd, size, offset));
	page->aux_offset = offset;
	page->aux_size = size + 8;
	EXPECT_EQ(EINVAL, map_error(self->ring.fd, size, offset));
	page->aux_size = size;
	EXPECT_EQ(EINVAL, map_error(self->ring.fd, size, offset + page_size));
	EXPECT_EQ(0, map_error(self->ring.fd, size, offset));

	/* It need not follow the data directly. */
	page->aux_offset = offset + 100 * page_size;
	EXPECT_EQ(EINVAL, map_error(self->ring.fd, size, offset));
	EXPECT_EQ(0, map_error(self->ring.fd, size, offset + 100 * page_size));
}

TEST_F(aux, non_power_of_two_refused)
{
	struct perf_event_attr attr = attr_of(self->type, 0);
	static const unsigned int bad[] = { 3, 5, 6, 7, 9, 12, 15, 17, 24 };

	open_ring(_metadata, &self->ring, self->cpu, &attr, 4 * page_size, 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_FALSE(map_aux(&self->ring, bad[i] * page_size));
		EXPECT_EQ(EINVAL, errno);
	}
	for (unsigned int pages = 1; pages <= 16; pages *= 2) {
		EXPECT_TRUE(map_aux(&self->ring, pages * page_size));
		unmap_aux(&self->ring);
	}
}

TEST_F(aux, before_data_refused)
{
	struct perf_event_attr attr = attr_of(self->type, 0);

	open_ring(_metadata, &self->ring, self->cpu, &attr, 0, 0);
	EXPECT_EQ(EINVAL, map_error(self->ring.fd, page_size, 5 * page_size));
	ASSERT_TRUE(map_data(&self->ring, 4 * page_size));
	EXPECT_TRUE(map_aux(&self->ring, page_size));
}

TEST_F(aux, size_mismatch_refused)
{
	struct perf_event_attr attr = attr_of(self->type, 0);
	__u64 offset;

	open_ring(_metadata, &self->ring, self->cpu, &attr, 4 * page_size, 0);
	offset = aux_offset(&self->ring);
	self->ring.page->aux_offset = offset;
	self->ring.page->aux_size = 4 * page_size;
	for (unsigned int pages = 1; pages <= 16; pages++) {
		if (pages != 4)
			EXPECT_EQ(EINVAL, map_error(self->ring.fd, pages * page_size, offset));
	}
	EXPECT_EQ(0, map_error(self->ring.fd, 4 * page_size, offset));
}

TEST_F(aux, offset_below_data_refused)
{
	struct perf_event_attr attr = attr_of(self->type, 0);

	open_ring(_metadata, &self->ring, self->cpu, &attr, 4 * page_size, 0);
	self->ring.page->aux_size = page_size;
	for (unsigned int page = 1; page <= 4; page++) {
		self->ring.page->aux_offset = page * page_size;
		EXPECT_EQ(EINVAL, map_error(self->ring.fd, page_size, page * page_size));
	}
	EXPECT_TRUE(map_aux(&self->ring, page_size));
}

TEST_F(aux, second_mmap_is_counted)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(1000, 16, 100));
	struct reader *reader;
	unsigned char *again;
	__u64 offset;

	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, self->size);
	offset = aux_offset(&self->ring);
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	ASSERT_EQ(0, enable(&self->ring));

	again = map(self->ring.fd, self->size, offset, PROT_READ | PROT_WRITE);
	ASSERT_NE(NULL, again);
	EXPECT_EQ(self->areas + 1, nr_areas());
	drain_until(_metadata, reader, 2 * self->size);
	ASSERT_EQ(0, disable(&self->ring));
	EXPECT_EQ(0, memcmp(again, self->ring.aux, self->size));

	/* While it is mapped, it is mapped as it is. */
	EXPECT_EQ(EINVAL, map_error(self->ring.fd, self->size / 2, offset));
	self->ring.page->aux_size = self->size / 2;
	EXPECT_EQ(EINVAL, map_error(self->ring.fd, self->size / 2, offset));
	self->ring.page->aux_size = self->size;
	self->ring.page->aux_offset = offset + self->size;
	EXPECT_EQ(EINVAL, map_error(self->ring.fd, self->size, offset + self->size));
	self->ring.page->aux_offset = offset;

	/* The first mapping goes, the second one keeps the area. */
	ASSERT_EQ(0, enable(&self->ring));
	munmap(self->ring.aux, self->size);
	self->ring.aux = again;
	EXPECT_EQ(self->areas + 1, nr_areas());
	drain_until(_metadata, reader, 2 * self->size);

	unmap_aux(&self->ring);
	EXPECT_EQ(self->areas, nr_areas());
	EXPECT_TRUE(head_rests(&self->ring));
}

TEST_F(aux, remap_after_munmap)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(1000, 16, 200));
	struct reader *reader;

	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, self->size);
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);

	/* Cursors go on where they were, in areas of other sizes. */
	for (unsigned int i = 0; i < 6; i++) {
		ASSERT_EQ(0, enable(&self->ring));
		drain_until(_metadata, reader, self->ring.aux_size);
		ASSERT_EQ(0, disable(&self->ring));
		drain(_metadata, reader);
		unmap_aux(&self->ring);
		EXPECT_EQ(self->areas, nr_areas());
		ASSERT_TRUE(map_aux(&self->ring, i % 2 ? self->size : 2 * self->size));
		EXPECT_EQ(reader->at, aux_head(&self->ring));
	}
	check_sums(_metadata, reader, 0);

	/* The whole of it, too: it begins anew then. */
	unmap_data(&self->ring);
	unmap_aux(&self->ring);
	ASSERT_TRUE(map_data(&self->ring, 8 * page_size));
	ASSERT_TRUE(map_aux(&self->ring, self->size));
	EXPECT_EQ(0, aux_head(&self->ring));
	reader->at = 0;
	reader->aux_at = 0;
	ASSERT_EQ(0, enable(&self->ring));
	drain_until(_metadata, reader, 2 * self->size);
}

TEST_F(aux, records_add_up)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(1000, 16, 333) |
							  AUX_TEST_VARY);
	struct reader *reader;

	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, self->size);
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	ASSERT_EQ(0, enable(&self->ring));
	drain_until(_metadata, reader, 5 * self->size);
	ASSERT_EQ(0, disable(&self->ring));
	drain(_metadata, reader);
	check_sums(_metadata, reader, 0);
	EXPECT_EQ(0, reader->aux_gaps);
	EXPECT_LT(1, reader->aux_records);
	EXPECT_EQ(reader->records, event_count(&self->ring));
}

TEST_F(aux, poll_wakes_at_watermark)
{
	__u32 watermark = 2 * page_size;
	__u32 payload = watermark / 8 - sizeof(struct aux_test_record);
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(500, 1, payload));

	/* Seven eighths of the watermark, and no wakeup. */
	attr.aux_watermark = watermark;
	attr.config2 = AUX_TEST_CONFIG2(0, 7);
	open_ring(_metadata, &self->ring, self->cpu, &attr, 8 * page_size, 8 * page_size);
	EXPECT_EQ(0, poll_ring(&self->ring, 0));
	ASSERT_EQ(0, enable(&self->ring));
	ASSERT_TRUE(head_reaches(&self->ring, 7 * (watermark / 8)));
	EXPECT_EQ(0, poll_ring(&self->ring, QUIET));

	/* The eighth makes it. */
	attr.config2 = AUX_TEST_CONFIG2(0, 8);
	open_ring(_metadata, &self->second, self->cpu, &attr, 8 * page_size, 8 * page_size);
	ASSERT_EQ(0, enable(&self->second));
	EXPECT_EQ(POLLIN, poll_ring(&self->second, PATIENCE));
	EXPECT_EQ(watermark, aux_head(&self->second));
	EXPECT_EQ(0, poll_ring(&self->second, QUIET));
	EXPECT_EQ(0, poll_ring(&self->ring, 0));
}

TEST_F(aux, default_watermark_is_half)
{
	/* A record is a page. */
	__u32 payload = page_size - sizeof(struct aux_test_record);
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(500, 1, payload));

	attr.config2 = AUX_TEST_CONFIG2(0, 3);
	open_ring(_metadata, &self->ring, self->cpu, &attr, 8 * page_size, 8 * page_size);
	ASSERT_EQ(0, enable(&self->ring));
	ASSERT_TRUE(head_reaches(&self->ring, 3 * page_size));
	EXPECT_EQ(0, poll_ring(&self->ring, QUIET));

	attr.config2 = AUX_TEST_CONFIG2(0, 4);
	open_ring(_metadata, &self->second, self->cpu, &attr, 8 * page_size, 8 * page_size);
	ASSERT_EQ(0, enable(&self->second));
	EXPECT_EQ(POLLIN, poll_ring(&self->second, PATIENCE));
	EXPECT_EQ(4 * page_size, aux_head(&self->second));
}

/* A watermark that divides nothing: each multiple of it wakes once, and no other does. */
TEST_F(aux, odd_watermark_cadence)
{
	__u32 watermark = page_size + page_size / 4 + 3;
	__u32 length = watermark / 3 - 7;
	struct perf_event_attr attr = attr_of(self->type, 0);
	const unsigned int records = 40;
	__u64 last = 0, wakeups = 0;
	struct reader *reader;

	/* Slowly: a reader that comes so late that the area is full would spoil it. */
	attr.config = AUX_TEST_CONFIG(40, 1, length - sizeof(struct aux_test_record));
	attr.config2 = AUX_TEST_CONFIG2(0, records);
	attr.aux_watermark = watermark;
	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, 8 * page_size);
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	ASSERT_EQ(0, enable(&self->ring));
	while (last != records * length / watermark) {
		__u64 passed;

		ASSERT_EQ(POLLIN, poll_ring(&self->ring, PATIENCE))
			TH_LOG("no wakeup after multiple %llu", (unsigned long long)last);
		passed = aux_head(&self->ring) / watermark;
		/* A reader that is late finds that it missed one, but never too many. */
		ASSERT_LT(last, passed);
		last = passed;
		wakeups++;
		drain(_metadata, reader);
	}
	EXPECT_LE(wakeups, last);
	EXPECT_EQ(0, poll_ring(&self->ring, QUIET));
	ASSERT_TRUE(head_reaches(&self->ring, records * length));
	drain(_metadata, reader);
	EXPECT_EQ(0, reader->truncated);
	check_sums(_metadata, reader, 0);
}

/* A watermark that is out of reach: then it is the full area that wakes. */
TEST_F(aux, watermark_above_size)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(1000, 16, 500));
	struct reader *reader;

	attr.aux_watermark = 4 * self->size;
	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, self->size);
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	ASSERT_EQ(0, enable(&self->ring));
	ASSERT_EQ(POLLIN, poll_ring(&self->ring, PATIENCE));
	drain(_metadata, reader);
	EXPECT_EQ(1, reader->truncated);
	EXPECT_LT(self->size - 1000, reader->at);
}

TEST_F(aux, tail_releases_space)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(1000, 16, 300));
	const unsigned int length = 300 + sizeof(struct aux_test_record);
	struct reader *reader;

	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, self->size);
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	ASSERT_EQ(0, enable(&self->ring));

	for (unsigned int i = 0; i < 6; i++) {
		__u64 head;

		/* It writes as long as a record fits, and stops. One byte stays free. */
		ASSERT_TRUE(area_fills(&self->ring, reader->at, length));
		head = aux_head(&self->ring);
		EXPECT_GT(self->size, head - reader->at);
		EXPECT_EQ(POLLIN, poll_ring(&self->ring, PATIENCE));

		/* Room alone does not bring it back: the event is disabled. */
		drain_some(_metadata, reader, 10 * (i + 1));
		EXPECT_EQ(i + 1, reader->truncated);
		EXPECT_TRUE(head_rests(&self->ring));
		EXPECT_EQ(head, aux_head(&self->ring));

		ASSERT_EQ(0, enable(&self->ring));
		ASSERT_TRUE(head_reaches(&self->ring, head + 1));
	}
	ASSERT_EQ(0, disable(&self->ring));
	drain(_metadata, reader);
	check_sums(_metadata, reader, 0);
	EXPECT_LE(6, reader->streams[0].losses + 1);
	EXPECT_GE(reader->truncated, reader->streams[0].losses);
}

TEST_F(aux, data_is_whole)
{
	static const __u32 payloads[] = { 0, 1, 137, 1000, 5000 };

	/* Sizes below and above a page, at all offsets in pages. */
	for (size_t i = 0; i < ARRAY_SIZE(payloads); i++) {
		struct perf_event_attr attr = attr_of(self->type, 0);
		struct reader *reader;

		attr.config = AUX_TEST_CONFIG(1000, payloads[i] > 999 ? 4 : 64, payloads[i]) |
			      AUX_TEST_VARY;
		open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, self->size);
		reader = new_reader(&self->ring);
		ASSERT_NE(NULL, reader);
		ASSERT_EQ(0, enable(&self->ring));
		drain_until(_metadata, reader, 3 * self->size);
		ASSERT_EQ(0, disable(&self->ring));
		drain(_metadata, reader);
		check_sums(_metadata, reader, 0);
		/* Nothing is lost that is not announced. */
		EXPECT_EQ(reader->records, event_count(&self->ring));
		EXPECT_LE(reader->streams[0].losses, reader->truncated);
		EXPECT_LE(reader->truncated, reader->streams[0].losses + 1);
		free(reader);
		close_ring(&self->ring);
	}
}

TEST_F(aux, munmap_while_running)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(20000, 4, 100));

	for (unsigned int i = 0; i < 60; i++) {
		open_ring(_metadata, &self->ring, self->cpu, &attr, 4 * page_size, self->size);
		ASSERT_EQ(0, enable(&self->ring));
		ASSERT_TRUE(head_reaches(&self->ring, 1));

		/* Which of them goes first makes no difference. */
		switch (i % 3) {
		case 0:
			unmap_aux(&self->ring);
			ASSERT_EQ(self->areas, nr_areas());
			/* The event is there, and has nowhere to write. */
			ASSERT_TRUE(i || head_rests(&self->ring));
			ASSERT_EQ(0, enable(&self->ring));
			break;
		case 1:
			unmap_data(&self->ring);
			ASSERT_EQ(self->areas + 1, nr_areas());
			break;
		default:
			break;
		}
		close_ring(&self->ring);
		ASSERT_EQ(self->areas, nr_areas());
	}
}

TEST_F(aux, mmap_cycles)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(10000, 2, 50));
	long long setups = read_number(MODULE_DIR "/parameters/aux_setups");
	const unsigned int cycles = 200;
	struct reader *reader;

	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, page_size);
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	for (unsigned int i = 0; i < cycles; i++) {
		__u64 head = aux_head(&self->ring);

		ASSERT_EQ(0, enable(&self->ring));
		ASSERT_TRUE(head_reaches(&self->ring, head + 1));
		ASSERT_EQ(0, disable(&self->ring));
		drain(_metadata, reader);
		unmap_aux(&self->ring);
		ASSERT_TRUE(map_aux(&self->ring, page_size << i % 3));
	}
	check_sums(_metadata, reader, 0);
	EXPECT_EQ(setups + cycles + 1, read_number(MODULE_DIR "/parameters/aux_setups"));
}

TEST_F(aux, fork)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(1000, 16, 200));
	struct reader *reader;
	int status;
	pid_t pid;

	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, self->size);
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	ASSERT_EQ(0, enable(&self->ring));
	ASSERT_TRUE(head_reaches(&self->ring, self->size / 4));

	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct reader *theirs;
		struct ring ring = { .fd = self->ring.fd };

		/* The mappings are not inherited; the descriptor is, and maps the same. */
		if (fault_of(self->ring.aux, false) != SIGSEGV ||
		    fault_of((void *)self->ring.page, false) != SIGSEGV)
			_exit(1);
		if (!map_data(&ring, DATA_SIZE) || ring.page->aux_size != self->size)
			_exit(2);
		if (!map_aux(&ring, self->size))
			_exit(3);
		theirs = new_reader(&ring);
		if (!theirs)
			_exit(4);
		/* Nothing was released yet, so that the first record is there. */
		if (!copy_record(theirs, 0, aux_head(&ring)))
			_exit(5);
		/* What it mapped is unmapped on its way out. */
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
	EXPECT_EQ(self->areas + 1, nr_areas());

	drain_until(_metadata, reader, 2 * self->size);
	ASSERT_EQ(0, disable(&self->ring));
	drain(_metadata, reader);
	check_sums(_metadata, reader, 0);
}

/* Another process maps and unmaps the area all the time, and this one reads on. */
TEST_F(aux, concurrent_mappings)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(1000, 16, 200));
	struct reader *reader;
	int status = 0;
	pid_t pid;

	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, self->size);
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	ASSERT_EQ(0, enable(&self->ring));

	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct ring ring = { .fd = self->ring.fd };

		for (unsigned int i = 0; i < 300; i++) {
			if (!map_data(&ring, DATA_SIZE) || !map_aux(&ring, self->size))
				_exit(1);
			if (fault_of(ring.aux + i * 100, false))
				_exit(2);
			unmap_aux(&ring);
			unmap_data(&ring);
		}
		_exit(0);
	}
	while (!waitpid(pid, &status, WNOHANG))
		drain_until(_metadata, reader, 1);
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));

	drain_until(_metadata, reader, 2 * self->size);
	ASSERT_EQ(0, disable(&self->ring));
	drain(_metadata, reader);
	check_sums(_metadata, reader, 0);
}

TEST_F(aux, dup_and_close)
{
	/* Without a descriptor it could not be enabled again. */
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(1000, 16, 200) |
							  AUX_TEST_DROP);
	struct reader *reader;
	__u64 head;
	int fd;

	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, self->size);
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);

	fd = dup(self->ring.fd);
	ASSERT_LE(0, fd);
	close(self->ring.fd);
	self->ring.fd = fd;
	ASSERT_EQ(0, enable(&self->ring));
	drain_until(_metadata, reader, 2 * self->size);

	/* The mappings keep the event when no descriptor does, and it runs on. */
	close(self->ring.fd);
	self->ring.fd = -1;
	for (unsigned int i = 0; i < 5; i++) {
		head = aux_head(&self->ring);
		drain(_metadata, reader);
		ASSERT_TRUE(head_reaches(&self->ring, head + 1));
	}
	drain(_metadata, reader);
}

TEST_F(aux, write_protected)
{
	struct perf_event_attr attr = attr_of(self->type, 0);

	/* Mapping the area for writing means that the tail is heeded, no more than that. */
	open_ring(_metadata, &self->ring, self->cpu, &attr, 4 * page_size, self->size);
	for (size_t at = 0; at < self->size; at += page_size)
		ASSERT_EQ(SIGBUS, fault_of(self->ring.aux + at, true));
	EXPECT_EQ(0, self->ring.aux[0]);
	EXPECT_EQ(0, fault_of((void *)&self->ring.page->aux_tail, true));
	self->ring.page->aux_tail = 0;
}

TEST_F(aux, partial_munmap_refused)
{
	struct perf_event_attr attr = attr_of(self->type, 0);

	open_ring(_metadata, &self->ring, self->cpu, &attr, 4 * page_size, self->size);
	EXPECT_EQ(-1, munmap(self->ring.aux, page_size));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, munmap(self->ring.aux + self->size - page_size, page_size));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(0, fault_of(self->ring.aux, false));
	EXPECT_EQ(0, fault_of(self->ring.aux + self->size - 1, false));
}

TEST_F(aux, set_output)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(1000, 8, 200));
	struct perf_event_attr clock = attr_of(PERF_TYPE_SOFTWARE, 0);
	struct ring elsewhere = { .fd = -1 }, software = { .fd = -1 };
	struct reader *reader;
	struct stream *mine, *theirs;

	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, self->size);
	attr.config = AUX_TEST_CONFIG(700, 9, 111);
	open_ring(_metadata, &self->second, self->cpu, &attr, 0, 0);
	clock.config = PERF_COUNT_SW_CPU_CLOCK;
	open_ring(_metadata, &software, self->cpu, &clock, 0, 0);

	/* Events share an area if they are the same CPU's and have none of their own. */
	ASSERT_EQ(0, event_ioctl(&self->second, PERF_EVENT_IOC_SET_OUTPUT, self->ring.fd));
	EXPECT_EQ(0, event_ioctl(&software, PERF_EVENT_IOC_SET_OUTPUT, self->ring.fd));
	EXPECT_EQ(-1, event_ioctl(&self->ring, PERF_EVENT_IOC_SET_OUTPUT, self->second.fd));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(EBUSY, map_error(self->second.fd, DATA_SIZE + page_size, 0));
	EXPECT_EQ(EBUSY, map_error(self->second.fd, self->size, aux_offset(&self->ring)));
	if (self->other != self->cpu) {
		open_ring(_metadata, &elsewhere, self->other, &attr, 0, 0);
		EXPECT_EQ(-1, event_ioctl(&elsewhere, PERF_EVENT_IOC_SET_OUTPUT, self->ring.fd));
		EXPECT_EQ(EINVAL, errno);
		close_ring(&elsewhere);
	}

	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	mine = stream_of(reader, event_id(&self->ring));
	theirs = stream_of(reader, event_id(&self->second));
	ASSERT_EQ(0, enable(&self->ring));
	ASSERT_EQ(0, enable(&self->second));
	while (mine->records < 500 || theirs->records < 500) {
		ASSERT_EQ(POLLIN, poll_ring(&self->ring, PATIENCE));
		drain(_metadata, reader);
		ASSERT_EQ(0, enable(&self->ring));
		ASSERT_EQ(0, enable(&self->second));
	}

	/* Sent elsewhere, it writes nothing more here. */
	ASSERT_EQ(0, event_ioctl(&self->second, PERF_EVENT_IOC_SET_OUTPUT, -1));
	drain(_metadata, reader);
	ASSERT_EQ(0, enable(&self->ring));
	ASSERT_EQ(0, enable(&self->second));
	while (mine->records < 1000) {
		__u64 before = theirs->records;

		ASSERT_EQ(POLLIN, poll_ring(&self->ring, PATIENCE));
		drain(_metadata, reader);
		ASSERT_EQ(before, theirs->records);
		ASSERT_EQ(0, enable(&self->ring));
	}
	ASSERT_EQ(0, disable(&self->ring));
	drain(_metadata, reader);
	check_sums(_metadata, reader, 0);
	EXPECT_EQ(2, reader->nr_streams);
	close_ring(&software);
}

/* Nor can there be an area by way of it where there was none. */
TEST_F(aux, area_of_redirected_event)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(1000, 8, 200));
	struct perf_event_attr clock = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);

	open_ring(_metadata, &self->ring, self->cpu, &clock, DATA_SIZE, 0);
	open_ring(_metadata, &self->second, self->cpu, &attr, 0, 0);
	ASSERT_EQ(0, event_ioctl(&self->second, PERF_EVENT_IOC_SET_OUTPUT, self->ring.fd));
	self->ring.page->aux_offset = aux_offset(&self->ring);
	self->ring.page->aux_size = self->size;
	EXPECT_EQ(EBUSY, map_error(self->second.fd, self->size, aux_offset(&self->ring)));
}

TEST_F(aux, two_events_on_a_cpu)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(1000, 8, 200));
	struct reader *reader, *second;
	__u64 full;

	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, self->size);
	attr.config = AUX_TEST_CONFIG(1500, 8, 100) | AUX_TEST_VARY;
	open_ring(_metadata, &self->second, self->cpu, &attr, DATA_SIZE, page_size);
	reader = new_reader(&self->ring);
	second = new_reader(&self->second);
	ASSERT_NE(NULL, reader);
	ASSERT_NE(NULL, second);
	ASSERT_EQ(0, enable(&self->ring));
	ASSERT_EQ(0, enable(&self->second));

	/* One area is full, and the other event does not care. */
	drain_until(_metadata, reader, 2 * self->size);
	ASSERT_TRUE(area_fills(&self->second, 0, sizeof(struct aux_test_record) + 100));
	full = aux_head(&self->second);
	drain_until(_metadata, reader, 2 * self->size);
	EXPECT_EQ(full, aux_head(&self->second));

	drain_until(_metadata, second, 4 * page_size);
	drain_until(_metadata, reader, self->size);
	ASSERT_EQ(0, disable(&self->ring));
	ASSERT_EQ(0, disable(&self->second));
	drain(_metadata, reader);
	drain(_metadata, second);
	check_sums(_metadata, reader, 0);
	check_sums(_metadata, second, 0);
	EXPECT_EQ(1, reader->nr_streams);
	EXPECT_EQ(1, second->nr_streams);
}

TEST_F(aux, overwrite_snapshot)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(1000, 16, 300) |
							  AUX_TEST_VARY);
	struct aux_test_record *header;
	struct reader *reader;

	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, 0);
	ASSERT_TRUE(map_aux_as(&self->ring, self->size, PROT_READ));
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	header = (void *)reader->record;

	for (unsigned int i = 1; i <= 3; i++) {
		__u64 head, at, records = 0;

		/* Nobody sets the tail, and it goes on. */
		ASSERT_EQ(0, enable(&self->ring));
		ASSERT_TRUE(head_reaches(&self->ring, 3 * i * self->size));
		ASSERT_EQ(0, disable(&self->ring));
		EXPECT_EQ(0, self->ring.page->aux_tail);

		/* The first of the records is not whole. The others are, up to the head. */
		head = aux_head(&self->ring);
		at = head - self->size;
		while (!copy_record(reader, at, head - at))
			at++;
		EXPECT_GE(head - self->size + 2 * (sizeof(*header) + 300), at);
		while (at != head) {
			__u64 sequence = header->sequence;

			ASSERT_NE(0, copy_record(reader, at, head - at));
			if (records++)
				ASSERT_EQ(sequence + 1, header->sequence);
			at += header->length;
		}
		EXPECT_LT(self->size / 400, records);
		EXPECT_EQ(event_count(&self->ring), header->sequence + 1);
	}
	read_data(_metadata, reader);
	EXPECT_EQ(PERF_AUX_FLAG_OVERWRITE, reader->aux_flags);
}

TEST_F(aux, truncated)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(2000, 4, 50));
	struct reader *reader;

	attr.config2 = AUX_TEST_CONFIG2(7, 0);
	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, self->size);
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	ASSERT_EQ(0, enable(&self->ring));
	for (unsigned int i = 1; i <= 30; i++) {
		/* There is much room: it is the flag that disables and wakes. */
		ASSERT_EQ(POLLIN, poll_ring(&self->ring, PATIENCE));
		drain(_metadata, reader);
		ASSERT_EQ(i, reader->truncated);
		ASSERT_EQ(7 * i, reader->records);
		if (i == 1)
			EXPECT_TRUE(head_rests(&self->ring));
		ASSERT_EQ(0, enable(&self->ring));
	}
	ASSERT_EQ(POLLIN, poll_ring(&self->ring, PATIENCE));
	drain(_metadata, reader);
	check_sums(_metadata, reader, 0);
	EXPECT_EQ(31, reader->truncated);
	EXPECT_EQ(PERF_AUX_FLAG_TRUNCATED, reader->aux_flags);
	EXPECT_EQ(reader->truncated, reader->streams[0].losses + 1);
}

TEST_F(aux, partial)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(500, 4, 100) |
							  AUX_TEST_DROP);
	struct reader *reader;
	__u64 head;

	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, page_size);
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	ASSERT_EQ(0, enable(&self->ring));
	ASSERT_TRUE(area_fills(&self->ring, 0, sizeof(struct aux_test_record) + 100));

	/* It is full, and not disabled: room is enough to bring it back. */
	head = aux_head(&self->ring);
	drain(_metadata, reader);
	EXPECT_LT(0, reader->partial);
	EXPECT_EQ(0, reader->truncated);
	EXPECT_EQ(0, reader->streams[0].lost);
	ASSERT_TRUE(head_reaches(&self->ring, head + 1));
	drain(_metadata, reader);
	EXPECT_EQ(1, reader->streams[0].losses);
	EXPECT_LT(0, reader->streams[0].lost);
	ASSERT_EQ(0, disable(&self->ring));
	drain(_metadata, reader);
	check_sums(_metadata, reader, 0);
	EXPECT_EQ(PERF_AUX_FLAG_PARTIAL, reader->aux_flags);
}

TEST_F(aux, skip)
{
	__u32 skips[] = { 1, 100, page_size, page_size + 123 };

	for (size_t i = 0; i < ARRAY_SIZE(skips); i++) {
		struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(1000, 24, 100));
		struct reader *reader;

		attr.config1 = AUX_TEST_CONFIG1(3, skips[i]);
		open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, self->size);
		reader = new_reader(&self->ring);
		ASSERT_NE(NULL, reader);
		ASSERT_EQ(0, enable(&self->ring));
		drain_until(_metadata, reader, 3 * self->size);
		ASSERT_EQ(0, disable(&self->ring));
		drain(_metadata, reader);
		check_sums(_metadata, reader, 0);
		EXPECT_EQ(0, reader->skipped % skips[i]);
		EXPECT_NE(0, reader->skipped);
		EXPECT_GE(reader->records / 3, reader->skipped / skips[i]);
		free(reader);
		close_ring(&self->ring);
	}
}

/* Bytes that are skipped at the end of all are published, without a record. */
TEST_F(aux, skip_last)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(1000, 4, 0));
	const __u64 written = 4 * sizeof(struct aux_test_record);
	struct reader *reader;

	attr.config1 = AUX_TEST_CONFIG1(4, 1000);
	attr.config2 = AUX_TEST_CONFIG2(0, 4);
	attr.aux_watermark = written + 900;
	open_ring(_metadata, &self->ring, self->cpu, &attr, 8 * page_size, self->size);
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	ASSERT_EQ(0, enable(&self->ring));
	/* They count for the watermark. */
	EXPECT_EQ(POLLIN, poll_ring(&self->ring, PATIENCE));
	ASSERT_TRUE(head_reaches(&self->ring, written + 1000));
	ASSERT_TRUE(head_rests(&self->ring));
	drain(_metadata, reader);
	EXPECT_EQ(written, reader->aux_bytes);
	EXPECT_EQ(1000, reader->skipped);
	EXPECT_EQ(0, reader->aux_gaps);
	check_sums(_metadata, reader, 0);
}

/*
 * Records that fill the area to the last byte that may be used. Nothing is lost
 * then, and no flag says that it is full: the next transaction is refused.
 */
TEST_F(aux, exact_fit)
{
	struct perf_event_attr attr = attr_of(self->type, 0);
	__u32 length = page_size / 16;
	struct reader *reader;

	while ((page_size - 1) % length)
		length--;
	ASSERT_LE(sizeof(struct aux_test_record), length);
	/* One at a time: the transaction that fills the area must want no more. */
	attr.config = AUX_TEST_CONFIG(5000, 1, length - sizeof(struct aux_test_record));
	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, page_size);
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	for (unsigned int i = 1; i <= 8; i++) {
		ASSERT_EQ(0, enable(&self->ring));
		ASSERT_TRUE(head_reaches(&self->ring, i * (page_size - 1)));
		if (i == 1) {
			ASSERT_TRUE(head_rests(&self->ring));
			EXPECT_EQ(POLLIN, poll_ring(&self->ring, PATIENCE));
			drain(_metadata, reader);
			EXPECT_TRUE(head_rests(&self->ring));
		}
		/* Full it is, but its refusal can be yet to come: no room before that. */
		ASSERT_EQ(0, disable(&self->ring));
		ASSERT_EQ(i * (page_size - 1), aux_head(&self->ring));
		drain(_metadata, reader);
	}
	check_sums(_metadata, reader, 0);
	EXPECT_EQ(0, reader->streams[0].lost);
	EXPECT_EQ(0, reader->aux_flags);
}

TEST_F(aux, enable_while_full)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(2000, 8, 100));
	struct reader *reader;
	__u64 head;

	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, page_size);
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	ASSERT_EQ(0, enable(&self->ring));
	ASSERT_TRUE(area_fills(&self->ring, 0, sizeof(struct aux_test_record) + 100));
	head = aux_head(&self->ring);

	for (unsigned int i = 0; i < 10; i++) {
		ASSERT_EQ(POLLIN, poll_ring(&self->ring, PATIENCE));
		ASSERT_EQ(0, enable(&self->ring));
	}
	ASSERT_EQ(POLLIN, poll_ring(&self->ring, PATIENCE));
	ASSERT_TRUE(head_rests(&self->ring));
	EXPECT_EQ(head, aux_head(&self->ring));
	drain(_metadata, reader);
	ASSERT_EQ(0, enable(&self->ring));
	drain_until(_metadata, reader, 4 * page_size);
}

/* The tail is the user's. One that can not be stops the producer, and that is all. */
TEST_F(aux, tail_of_nonsense)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(1000, 32, 100));
	const __u64 distances[] = { 1, 1000, self->size, 1ULL << 31, 1ULL << 32, 1ULL << 63,
				    -self->size, -self->size - 1, -2 * self->size };
	struct reader *reader;

	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, self->size);
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	for (size_t i = 0; i < ARRAY_SIZE(distances); i++) {
		__u64 head;

		ASSERT_EQ(0, enable(&self->ring));
		drain_until(_metadata, reader, self->size);
		ASSERT_EQ(0, disable(&self->ring));
		drain(_metadata, reader);

		head = aux_head(&self->ring);
		set_aux_tail(&self->ring, head + distances[i]);
		/* On machines of 32 bits these are the head. */
		if (!(unsigned long)distances[i])
			continue;
		ASSERT_EQ(0, enable(&self->ring));
		ASSERT_EQ(POLLIN, poll_ring(&self->ring, PATIENCE));
		ASSERT_TRUE(head_rests(&self->ring));
		ASSERT_EQ(head, aux_head(&self->ring));
		set_aux_tail(&self->ring, head);
	}
	ASSERT_EQ(0, enable(&self->ring));
	drain_until(_metadata, reader, 2 * self->size);
}

TEST_F(aux, enable_disable_storm)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(20000, 4, 100) |
							  AUX_TEST_VARY);
	struct reader *reader;

	ASSERT_TRUE(run_on(self->other));
	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, self->size);
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	for (unsigned int i = 0; i < 1000; i++) {
		ASSERT_EQ(0, enable(&self->ring));
		if (i % 4 == 3)
			drain(_metadata, reader);
		ASSERT_EQ(0, disable(&self->ring));
		if (i % 4 == 1)
			drain(_metadata, reader);
	}
	ASSERT_EQ(0, enable(&self->ring));
	drain_until(_metadata, reader, 2 * self->size);
	ASSERT_EQ(0, disable(&self->ring));
	drain(_metadata, reader);
	check_sums(_metadata, reader, 0);
	EXPECT_EQ(reader->records, event_count(&self->ring));
}

/* An event that goes with its task from CPU to CPU. */
TEST_F(aux, task_migrates)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(4000, 2, 100));
	struct reader *reader;

	self->ring.fd = event_open(&attr, 0, -1);
	ASSERT_LE(0, self->ring.fd);
	ASSERT_TRUE(map_data(&self->ring, DATA_SIZE));
	ASSERT_TRUE(map_aux(&self->ring, self->size));
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	ASSERT_EQ(0, enable(&self->ring));

	for (unsigned int i = 0; i < 60; i++) {
		__u64 end = now_ms() + PATIENCE, at = reader->at;

		ASSERT_TRUE(run_on(i % 2 ? self->other : self->cpu));
		/* It writes only while this task runs. */
		while (reader->at - at < 500) {
			ASSERT_GT(end, now_ms());
			drain(_metadata, reader);
			ASSERT_EQ(0, enable(&self->ring));
		}
	}
	ASSERT_EQ(0, disable(&self->ring));
	drain(_metadata, reader);
	check_sums(_metadata, reader, 0);
	EXPECT_EQ(cpu_bit(self->cpu) | cpu_bit(self->other), reader->streams[0].cpus);
}

/* A child's event writes to its parent's area. */
TEST_F(aux, inherited)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(2000, 2, 100));
	struct perf_event_attr dummy = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	struct reader *reader;
	int *go, status;
	__u64 end;
	pid_t pid;

	/* An area has one CPU's events, so that theirs must not run on several. */
	attr.inherit = 1;
	self->ring.fd = event_open(&attr, 0, -1);
	ASSERT_LE(0, self->ring.fd);
	EXPECT_EQ(EINVAL, map_error(self->ring.fd, 5 * page_size, 0));
	close_ring(&self->ring);

	self->ring.fd = event_open(&attr, 0, self->cpu);
	ASSERT_LE(0, self->ring.fd);
	ASSERT_TRUE(map_data(&self->ring, DATA_SIZE));
	ASSERT_TRUE(map_aux(&self->ring, self->size));
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	go = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)go);

	ASSERT_TRUE(run_on(self->cpu));
	ASSERT_EQ(0, enable(&self->ring));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		/* This is what its event counts. */
		while (!__atomic_load_n(go, __ATOMIC_RELAXED))
			;
		_exit(0);
	}
	/*
	 * Tasks whose events are the same exchange them when they follow each other on
	 * a CPU, so that the child's event would hardly ever run. One more makes them
	 * differ.
	 */
	ASSERT_LE(0, event_open(&dummy, pid, -1));

	end = now_ms() + PATIENCE;
	while (reader->streams[0].records < 100 || reader->streams[1].records < 100) {
		ASSERT_GT(end, now_ms());
		drain(_metadata, reader);
		ASSERT_EQ(0, enable(&self->ring));
	}
	__atomic_store_n(go, 1, __ATOMIC_RELAXED);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, disable(&self->ring));
	drain(_metadata, reader);
	check_sums(_metadata, reader, 0);
	EXPECT_EQ(2, reader->nr_streams);
	/* What it counted is its parent's when it is gone. */
	EXPECT_EQ(reader->records, event_count(&self->ring));
}

/*
 * A PMU can go while its events are mapped. An AUX area is then still to be freed
 * by it, so that its module has to stay.
 */
TEST_F(aux, pmu_unregistered)
{
	struct perf_event_attr attr = attr_of(self->type, AUX_TEST_CONFIG(1000, 16, 100));
	long long idle = read_number(MODULE_DIR "/refcnt");
	struct reader *reader;

	if (access(MODULE_DIR "/refcnt", F_OK))
		SKIP(return, "the PMU is built in, and can not go");

	open_ring(_metadata, &self->ring, self->cpu, &attr, DATA_SIZE, self->size);
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	ASSERT_EQ(0, enable(&self->ring));
	drain_until(_metadata, reader, self->size);

	ASSERT_EQ(0, write_text(MODULE_DIR "/parameters/registered", "N"));
	EXPECT_EQ(-1, access(DEVICE, F_OK));
	EXPECT_TRUE(head_rests(&self->ring));
	EXPECT_EQ(POLLERR, poll_ring(&self->ring, 0) & POLLERR);
	EXPECT_EQ(ENODEV, map_error(self->ring.fd, self->size, aux_offset(&self->ring)));
	/* What was written can be read to the end. */
	drain(_metadata, reader);
	check_sums(_metadata, reader, 0);
	EXPECT_EQ(self->areas + 1, nr_areas());
	EXPECT_LT(idle, read_number(MODULE_DIR "/refcnt"));

	close_ring(&self->ring);
	EXPECT_EQ(self->areas, nr_areas());
	EXPECT_EQ(idle, read_number(MODULE_DIR "/refcnt"));
	EXPECT_EQ(0, write_text(MODULE_DIR "/parameters/registered", "Y"));
	EXPECT_EQ(0, access(DEVICE, F_OK));
}

/*
 * A full area disables its event and wakes the reader, who makes room and enables
 * it again. If the disable comes after the enable, nothing happens ever after.
 */
FIXTURE(restart)
{
	struct ring	ring;
	long long	areas;
};

FIXTURE_VARIANT(restart)
{
	bool		same_cpu;
	bool		at_once;	/* else by the timer, which can be slow */
	unsigned int	restarts;
};

FIXTURE_VARIANT_ADD(restart, same_cpu)
{
	.same_cpu = true,
	.at_once = true,
	.restarts = 10000,
};

FIXTURE_VARIANT_ADD(restart, other_cpu)
{
	.same_cpu = false,
	.at_once = true,
	.restarts = 10000,
};

FIXTURE_VARIANT_ADD(restart, same_cpu_timer)
{
	.same_cpu = true,
	.restarts = 250,
};

FIXTURE_VARIANT_ADD(restart, other_cpu_timer)
{
	.same_cpu = false,
	.restarts = 250,
};

FIXTURE_SETUP(restart)
{
	page_size = sysconf(_SC_PAGESIZE);
	self->ring.fd = -1;
	self->areas = nr_areas();
}

FIXTURE_TEARDOWN(restart)
{
	close_ring(&self->ring);
	EXPECT_EQ(self->areas, nr_areas());
}

TEST_F_TIMEOUT(restart, none_is_lost, 120)
{
	struct perf_event_attr attr;
	struct reader *reader;
	int event_cpu = -1, reader_cpu = -1;
	cpu_set_t set;

	ASSERT_EQ(0, sched_getaffinity(0, sizeof(set), &set));
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		if (event_cpu < 0)
			event_cpu = cpu;
		else if (reader_cpu < 0)
			reader_cpu = cpu;
	}
	if (variant->same_cpu)
		reader_cpu = event_cpu;
	else if (reader_cpu < 0)
		SKIP(return, "there is one CPU only");
	ASSERT_TRUE(run_on(reader_cpu));

	/* A tick is more than what a reader makes room for. */
	attr = attr_of(read_number(DEVICE "/type"), AUX_TEST_CONFIG(20000, 64, 8));
	if (variant->at_once)
		attr.config |= AUX_TEST_AT_ONCE;
	self->ring.fd = event_open(&attr, -1, event_cpu);
	if (self->ring.fd < 0 && (errno == EACCES || errno == EPERM))
		SKIP(return, "events of a CPU need CAP_PERFMON");
	ASSERT_LE(0, self->ring.fd);
	ASSERT_TRUE(map_data(&self->ring, DATA_SIZE));
	ASSERT_TRUE(map_aux(&self->ring, page_size));
	reader = new_reader(&self->ring);
	ASSERT_NE(NULL, reader);
	ASSERT_EQ(0, enable(&self->ring));

	while (reader->truncated < variant->restarts) {
		ASSERT_EQ(POLLIN, poll_ring(&self->ring, PATIENCE))
			TH_LOG("a restart was lost after %llu",
			       (unsigned long long)reader->truncated);
		drain_some(_metadata, reader, 1 + reader->truncated % 16);
		ASSERT_EQ(0, enable(&self->ring));
	}
	ASSERT_EQ(0, disable(&self->ring));
	drain(_metadata, reader);
	check_sums(_metadata, reader, 0);
	EXPECT_LE(variant->restarts, reader->streams[0].losses + 1);
}

int main(int argc, char **argv)
{
	int ret = test_harness_argv_check(argc, argv);
	const char *missing;

	if (ret != KSFT_PASS)
		return ret;

	missing = load();
	if (missing) {
		ksft_print_header();
		ksft_exit_skip("%s\n", missing);
	}

	return test_harness_run(argc, argv);
}
