#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Consumers of AUX data in the kernel: perf_event_setup_aux() and the functions
# around it, from the outside.
#
# It needs no hardware. CONFIG_TEST_PERF_AUX has a PMU that writes AUX data, and
# CONFIG_SAMPLE_PERF_AUX_DRAIN a consumer that drains and checks it; both are
# modules. A POSIX shell with busybox's commands is enough.
#
# shellcheck disable=SC2317 # functions are what is waited for, or run in background
#
# Environment:
#   MODULES_DIR         where test_perf_aux.ko and perf_aux_drain.ko are; else they
#                       are modprobe's to find
#   AUX_KERNEL_SECONDS  how long the concurrent part takes (10)
#   AUX_KERNEL_EVENT    event that perf records AUX data of, with a slash at its end,
#                       such as intel_pt//; else it is looked for
#   LITMUS_DIR          litmus tests of the order of accesses, and
#   MEMORY_MODEL_DIR    herd7's model of the kernel's memory; else they are where the
#                       sources have them

LC_ALL=C
export LC_ALL
# aux_kernel_usermode loads it if it is not there.
[ -z "$MODULES_DIR" ] || export TEST_PERF_AUX_MODULE="$MODULES_DIR/test_perf_aux.ko"

ksft_pass=0
ksft_fail=1
ksft_skip=4

here=$(cd "$(dirname "$0")" && pwd)
sources=$here/../../../..
seconds=${AUX_KERNEL_SECONDS:-10}
debugfs=/sys/kernel/debug
drain=$debugfs/perf_aux_drain
tracing=/sys/kernel/tracing
devices=/sys/bus/event_source/devices
pmu=$devices/aux_test
pmu_parameters=/sys/module/test_perf_aux/parameters
cpus=/sys/devices/system/cpu

# All checks, in the order in which they are made. The first word is what the
# script calls them: the section, and which one in it.
checks() {
	cat <<-END
	config.functions the seven functions are in the kernel
	config.kernel perf, loadable modules, debugfs and tracefs are there
	config.options the options of the tests are set
	config.pmu the test PMU can be loaded
	config.sample the draining sample can be loaded and unloaded
	kunit.passes the KUnit suites pass
	usermode.passes what user space could do before it still can
	usermode.skips no check of it was skipped
	usermode.areas all AUX areas of it are freed
	perf.tracepoint perf records the chunks that the sample drains
	perf.chunks the chunks follow one after the other on each CPU
	perf.beside perf can open events of the PMU that the kernel drains
	perf.aux perf records AUX data
	perf.log the kernel's log has no complaint about that
	damon.runs DAMON watches a task while the sample drains
	damon.drains the sample still gets all data while it does
	damon.consumer DAMON reads AUX data
	ordering.litmus each litmus test has the result that it states
	ordering.remote bytes read on another CPU than the writer's are the right ones
	ordering.restart no reader waits for an event that stays disabled
	boundary.pages buffers are refused whose size is no power of two
	boundary.watermark watermarks are refused that are negative or larger than the buffer
	boundary.accepted the smallest buffer and the extreme watermarks are accepted
	boundary.large a buffer that cannot be had is refused
	boundary.pmu PMUs without AUX data and types without a PMU are refused
	boundary.areas what was refused left no AUX area behind
	boundary.wrap records stay whole where they cross the end of a small buffer
	boundary.watermarks a watermark that does not divide the buffer is kept
	concurrency.data data flows under load
	concurrency.cycle buffers are replaced under load
	concurrency.enable events are disabled and enabled under load
	concurrency.hotplug CPUs go offline and come back under load
	concurrency.full full buffers and lost data stop nobody for good
	concurrency.errors not one byte was wrong, and no record was missing
	concurrency.unregister the PMU can go while its buffers are drained
	concurrency.areas all AUX areas are freed
	isolation.usermode user space's own events work while the kernel drains
	isolation.kernel the kernel sees records of its own events only
	isolation.areas user space leaves the kernel's AUX areas alone
	isolation.unload the sample and the PMU can be unloaded
	log.clean the kernel's log has no complaint
	log.taint the kernel is not tainted by one
	END
}

# Results

number=0
passed=0
failed=0
skipped=0

say() {
	printf '%s\n' "$@" | sed 's/^/# /'
}

result() { # "ok" or "not ok", check, directive
	number=$((number + 1))
	line=$(checks | sed -n "${number}p")
	# Names and results must not get out of step.
	if [ "${line%% *}" != "$2" ]; then
		echo "Bail out! check $number is ${line%% *}, not $2"
		exit "$ksft_fail"
	fi
	echo "$1 $number ${2%%.*}: ${line#* }${3:+ # $3}"
}

pass() { # check
	passed=$((passed + 1))
	result ok "$1"
}

fail() { # check, what was seen...
	check=$1
	shift
	[ $# = 0 ] || say "$@"
	failed=$((failed + 1))
	result "not ok" "$check"
}

skip() { # check, reason
	skipped=$((skipped + 1))
	result ok "$1" "SKIP $2"
}

# The rest of a section.
skip_rest() { # section, reason
	for check in $(checks | sed -n "$((number + 1)),\$s/^\($1\.[a-z]*\) .*/\1/p"); do
		skip "$check" "$2"
	done
}

expect() { # check, what was seen, command...
	check=$1
	seen=$2
	shift 2
	if "$@"; then
		pass "$check"
	else
		fail "$check" "expected: $*" "$seen"
	fi
}

skip_all() { # reason
	echo "1..0 # SKIP $1"
	exit "$ksft_skip"
}

# Waits until a command says yes.
wait_for() { # seconds, command...
	tenths=$(($1 * 10))
	shift
	while ! "$@"; do
		[ "$tenths" -gt 0 ] || return 1
		tenths=$((tenths - 1))
		sleep 0.1
	done
}

# The kernel's log

complaints='WARNING:|BUG:|Oops|Internal error|general protection|Unable to handle'
complaints="$complaints|KASAN|KCSAN|KMSAN|UBSAN|KFENCE|refcount_t:|DEBUG_LOCKS_WARN"
complaints="$complaints|possible (circular|recursive|irq|deadlock)|inconsistent lock state"
complaints="$complaints|suspicious RCU usage|scheduling while atomic|sleeping function called"
complaints="$complaints|detected stall|self-detected|soft lockup|hard LOCKUP|blocked for more than"
complaints="$complaints|suspected memory leak|bad page state|list_(add|del) corruption|ODEBUG"

mark_log() { # mark
	echo "<6>aux_kernel.sh: $1 $$" >/dev/kmsg
}

# All since a mark, or all there is if the mark has been overwritten.
log_since() { # mark
	dmesg | awk -v mark="aux_kernel.sh: $1 $$" '
		index($0, mark) { text = ""; next }
		{ text = text $0 "\n" }
		END { printf "%s", text }'
}

log_complaints() { # mark
	log_since "$1" | grep -E -A 30 -e "$complaints" | head -n 100
}

# What it tells of: a warning, a death, a bad page, a soft lockup.
tainted() {
	echo $(($(cat /proc/sys/kernel/tainted) & (1 << 9 | 1 << 7 | 1 << 5 | 1 << 14)))
}

# Modules

is_loaded() { # module
	grep -q "^$1 " /proc/modules
}

load() { # module, parameters...
	if [ -n "$MODULES_DIR" ]; then
		module=$1
		shift
		insmod "$MODULES_DIR/$module.ko" "$@" 2>&1
	else
		modprobe "$@" 2>&1
	fi
}

# A module can be held for a little while: by an RCU callback, say.
unload() { # module
	wait_for 10 try_unload "$1"
}

try_unload() { # module
	! is_loaded "$1" || rmmod "$1" 2>/dev/null
}

# AUX areas that are in use.
areas() {
	echo $(($(cat "$pmu_parameters/aux_setups") - $(cat "$pmu_parameters/aux_frees")))
}

areas_are() { # number
	[ "$(areas)" -eq "$1" ]
}

# The value of perf_event_attr::config, config1 or config2 for the PMU's terms.
pmu_config() { # config, term=value...
	value=0
	for term in "$@"; do
		[ "$term" != "$1" ] || continue
		format=$(cat "$pmu/format/${term%%=*}")
		[ "${format%%:*}" = "$1" ] || continue
		low=${format#*:}
		value=$((value | ${term#*=} << ${low%%-*}))
	done
	echo "$value"
}

# Loads the sample for events of the test PMU.
load_sample() { # PMU's terms, parameters...
	terms=$1
	shift
	# shellcheck disable=SC2086 # a list
	load perf_aux_drain "type=$(cat "$pmu/type")" \
		"config=$(pmu_config config $terms)" \
		"config1=$(pmu_config config1 $terms)" \
		"config2=$(pmu_config config2 $terms)" "$@"
}

unload_sample() {
	unload perf_aux_drain
}

statistic() { # name, file
	sed -n "s/^$1 //p" "$drain/${2:-total}"
}

# A sum: any of these is a fault. Where there was no memory for a buffer, there
# was no memory.
errors() {
	awk '/_errors/ && $1 != "setup_errors" { sum += $2 } END { print sum + 0 }' "$drain/total"
}

has_grown() { # statistic, from, by
	is_at_least "$(statistic "$1")" $(($2 + $3))
}

is_at_least() { # value, bound
	[ -n "$1" ] && [ "$1" -ge "$2" ]
}

statistics() {
	tr '\n' ' ' <"$drain/total"
}

cleanup() {
	for job in $jobs; do
		kill "$job" 2>/dev/null
	done
	for cpu in $offline; do
		echo 1 >"$cpu" 2>/dev/null
	done
	unload_sample
	[ -z "$own_pmu" ] || unload test_perf_aux
	rm -rf "$scratch"
}

# 1. Build-time configuration

functions="setup_aux release_aux aux_head aux_copy aux_tail_set aux_wait aux_restart"

missing_functions() {
	for name in $functions; do
		grep -q " T perf_event_$name\$" /proc/kallsyms || echo "perf_event_$name"
	done
}

kernel_config() {
	if [ -r /proc/config.gz ]; then
		zcat /proc/config.gz
	elif [ -r "/boot/config-$(uname -r)" ]; then
		cat "/boot/config-$(uname -r)"
	fi
}

missing_facilities() {
	for file in /proc/sys/kernel/perf_event_paranoid /proc/modules /dev/kmsg \
		"$tracing/events" "$devices"; do
		[ -e "$file" ] || echo "$file"
	done
	grep -q " $debugfs debugfs " /proc/mounts || echo "debugfs at $debugfs"
}

missing_options() {
	for option in PERF_EVENTS=y PERF_AUX_KERNEL_KUNIT_TEST=y TEST_PERF_AUX=m \
		SAMPLE_PERF_AUX_DRAIN=m; do
		grep -qx "CONFIG_$option" "$scratch/config" || echo "CONFIG_$option"
	done
}

config_section() {
	missing=$(missing_functions)
	expect config.functions "missing: $missing" [ -z "$missing" ]

	missing=$(missing_facilities)
	expect config.kernel "missing: $missing" [ -z "$missing" ]

	kernel_config >"$scratch/config"
	if [ -s "$scratch/config" ]; then
		missing=$(missing_options)
		expect config.options "missing: $missing" [ -z "$missing" ]
	else
		skip config.options \
			"the kernel tells its configuration neither in /proc/config.gz nor in /boot; the next checks show what came of it"
	fi

	# One that has been loaded before, or is built in, is as good.
	if [ -d "$pmu" ]; then
		said="there from the start"
	else
		own_pmu=yes
		said=$(load test_perf_aux)
	fi
	if [ -r "$pmu/type" ]; then
		has_pmu=yes
		pass config.pmu
	else
		fail config.pmu "$said"
	fi

	said=$(load_sample "rate=100" && statistic running && unload_sample 2>&1)
	if is_at_least "$said" 1; then
		has_sample=yes
		pass config.sample
	else
		fail config.sample "running on: $said" "$(log_since start | tail -n 5)"
	fi
}

# 2. KUnit

kunit_results() {
	cat "$debugfs"/kunit/perf_aux_kernel*/results 2>/dev/null
}

# Without CONFIG_KUNIT_DEBUGFS there is only the log, as long as it lasts.
kunit_log() {
	dmesg | sed 's/^\[[^]]*\] //' | awk '
		/^    # Subtest: / { mine = /perf_aux_kernel/ }
		/^ *(not )?ok / { if (mine || /perf_aux_kernel/) print }
		/^(not )?ok / { mine = 0 }'
}

# Runs each suite, if it can be run.
kunit_run() {
	ran=1
	for run in "$debugfs"/kunit/perf_aux_kernel*/run; do
		[ -w "$run" ] && echo run >"$run" && ran=0
	done
	return $ran
}

# A suite that was never run has no cases, and counts as passed nevertheless.
kunit_has_run() { # results
	echo "$1" | grep -q -E '^    (not )?ok'
}

kunit_count() { # what, results
	cases=$(echo "$2" | grep -c '^    ok')
	skips=$(echo "$2" | grep -c '^    ok.*# SKIP')
	failures=$(echo "$2" | grep -c '^    not ok')
	say "KUnit, $1: $((cases - skips)) passed, $failures failed, $skips skipped"
}

# What the kernel found when it booted counts, and what it finds now: that is what
# suites leave behind, too.
kunit_section() {
	results=$(kunit_results)
	kunit_has_run "$results" || results=$(kunit_log)
	if kunit_has_run "$results"; then
		kunit_count "at boot" "$results"
	else
		results=
	fi
	if kunit_run; then
		now=$(kunit_results)
		kunit_count now "$now"
		results=$(printf '%s\n' "$results" "$now")
	fi

	if ! kunit_has_run "$results"; then
		skip kunit.passes "no suite perf_aux_kernel, or it was not run and cannot be"
		return
	fi
	fails=$(echo "$results" | grep '^ *not ok')
	expect kunit.passes "$fails" [ -z "$fails" ]
}

# 3. User space's side

usermode=$here/aux_kernel_usermode

usermode_section() {
	if [ ! -x "$usermode" ]; then
		skip_rest usermode "aux_kernel_usermode is not beside this script"
		return
	fi

	"$usermode" >"$scratch/usermode" 2>&1
	status=$?
	sed 's/^/# /' "$scratch/usermode"
	expect usermode.passes "exit status $status" [ "$status" = 0 ]
	skips=$(grep -c -i '# *SKIP' "$scratch/usermode")
	expect usermode.skips "$skips skipped" [ "$skips" = 0 ]
	if [ -n "$has_pmu" ]; then
		wait_for 5 areas_are 0
		expect usermode.areas "$(areas) left" areas_are 0
	else
		skip usermode.areas "the test PMU cannot be loaded"
	fi
}

# 4. perf record

# What perf knows to have AUX data, by its name.
find_aux_event() {
	for device in "$devices"/intel_pt "$devices"/arm_spe_* "$devices"/cs_etm \
		"$devices"/hisi_ptt* "$devices"/intel_bts; do
		[ ! -d "$device" ] || { echo "${device##*/}//"; return; }
	done
	if [ -d "$devices/cpum_sf" ] && [ -e "$devices/cpum_sf/events/SF_CYCLES_BASIC_DIAG" ]; then
		echo "cpum_sf/event=SF_CYCLES_BASIC_DIAG/"
	fi
}

# Each chunk of a CPU begins where the one before it ended. Reads perf script's
# lines, prints gaps. perf record looks twice for the end of what it takes from its
# buffer: an event that comes in between is written now, and once more later.
chunk_gaps() {
	awk -v digits=0123456789abcdef '
		# Not every awk reads hexadecimal numbers.
		function number(text, value, i) {
			value = 0
			for (i = 3; i <= length(text); i++)
				value = value * 16 + index(digits, substr(text, i, 1)) - 1
			return value
		}
		{
			for (i = 1; i <= NF; i++)
				if (split($i, pair, "=") == 2)
					field[pair[1]] = pair[2]
			cpu = field["cpu"]
			if (last[cpu] == $0)
				next
			last[cpu] = $0
			from = number(field["from"])
			if ((cpu in next_from) && from != next_from[cpu])
				print "CPU " cpu ": " from ", not " next_from[cpu]
			next_from[cpu] = from + field["len"]
		}'
}

perf_section() {
	if ! command -v perf >/dev/null; then
		skip_rest perf "there is no perf"
		return
	fi
	mark_log perf

	if [ -z "$has_sample" ]; then
		skip perf.tracepoint "the sample cannot be loaded"
		skip perf.chunks "the sample cannot be loaded"
	elif [ ! -d "$tracing/events" ]; then
		skip perf.tracepoint "the kernel has no trace events"
		skip perf.chunks "the kernel has no trace events"
	else
		load_sample "rate=1000 payload=200 vary=1" nr_pages=4 timeout_ms=20
		perf record -q -N -o "$scratch/chunks.data" -e perf_aux_drain:perf_aux_drain -a \
			sleep 1 >"$scratch/perf" 2>&1
		perf script -i "$scratch/chunks.data" -F trace 2>>"$scratch/perf" |
			grep 'records=' >"$scratch/chunks"
		lines=$(wc -l <"$scratch/chunks")
		say "$lines chunks, the last one: $(tail -n 1 "$scratch/chunks")"
		bad=$(grep -v 'errors=0' "$scratch/chunks")
		if [ "$lines" -gt 0 ] && [ -z "$bad" ]; then
			pass perf.tracepoint
		else
			fail perf.tracepoint "$bad" "$(cat "$scratch/perf")"
		fi
		if perf script -i "$scratch/chunks.data" --show-lost-events 2>/dev/null |
			grep -q PERF_RECORD_LOST; then
			skip perf.chunks "perf lost events"
		else
			gaps=$(chunk_gaps <"$scratch/chunks")
			expect perf.chunks "$gaps" [ -z "$gaps" ]
		fi
	fi

	if [ -r "$pmu/type" ]; then
		said=$(perf stat -a -e aux_test/rate=1000/ sleep 0.2 2>&1 &&
			perf record -q -N -o "$scratch/beside.data" -a -e aux_test/rate=1000/ \
				sleep 0.2 2>&1)
		status=$?
		before=$([ -z "$has_sample" ] || statistic bytes)
		if [ "$status" != 0 ]; then
			fail perf.beside "$said"
		elif [ -n "$has_sample" ] && ! wait_for 10 has_grown bytes "$before" 1000; then
			fail perf.beside "the sample has stopped: $(statistics)"
		else
			pass perf.beside
		fi
	else
		skip perf.beside "there is no test PMU"
	fi
	unload_sample

	event=${AUX_KERNEL_EVENT:-$(find_aux_event)}
	# perf maps AUX areas of PMUs that it knows, but others may come.
	perf record -q -N -m ,16 -o "$scratch/aux.data" -e "${event:-aux_test/rate=1000/}" -a \
		sleep 0.5 >"$scratch/perf" 2>&1
	dump=$(perf report -D -i "$scratch/aux.data" 2>/dev/null |
		grep -o -E 'PERF_RECORD_(AUX|AUXTRACE) ' | sort | uniq -c)
	if echo "$dump" | grep -q 'AUX ' && echo "$dump" | grep -q AUXTRACE; then
		say "${event:-aux_test//}: $dump"
		pass perf.aux
	elif [ -n "$event" ]; then
		fail perf.aux "$event: $dump" "$(cat "$scratch/perf")"
	else
		skip perf.aux \
			"perf maps AUX areas only of PMUs that it knows by name, of which this machine has none; aux_kernel_usermode maps the test PMU's"
	fi

	found=$(log_complaints perf)
	expect perf.log "$found" [ -z "$found" ]
}

# 5. DAMON

damon=/sys/kernel/mm/damon/admin/kdamonds

# DAMON's sets of operations other than those that read page tables.
other_operations() {
	tr ' ' '\n' <"$damon/0/contexts/0/avail_operations" | grep -v -x -e vaddr -e fvaddr -e paddr
}

damon_watch() { # process
	echo 1 >"$damon/0/contexts/nr_contexts"
	echo vaddr >"$damon/0/contexts/0/operations"
	echo 1 >"$damon/0/contexts/0/targets/nr_targets"
	echo "$1" >"$damon/0/contexts/0/targets/0/pid_target"
	echo on >"$damon/0/state"
}

damon_section() {
	if [ ! -d "$damon" ]; then
		skip_rest damon "absent: DAMON, or its sysfs interface (CONFIG_DAMON_SYSFS)"
		return
	fi
	if [ "$(cat "$damon/nr_kdamonds")" != 0 ]; then
		skip_rest damon "DAMON is in use"
		return
	fi

	[ -z "$has_sample" ] || load_sample "rate=1000 payload=100 vary=1 drop=1"
	sleep 1000 &
	watched=$!
	jobs="$jobs $watched"
	echo 1 >"$damon/nr_kdamonds"
	said=$(damon_watch "$watched" 2>&1)
	sleep 1
	grown=1
	if [ -n "$has_sample" ]; then
		before=$(statistic bytes)
		wait_for 10 has_grown bytes "$before" 10000
		grown=$?
	fi
	state=$(cat "$damon/0/state")
	others=$(other_operations)
	expect damon.runs "its state is $state $said" [ "$state" = on ]
	if [ -n "$has_sample" ]; then
		expect damon.drains "$(statistics)" [ "$grown:$(errors)" = 0:0 ]
		unload_sample
	else
		skip damon.drains "the sample cannot be loaded"
	fi

	# If there is such a consumer one day, its test belongs here.
	if [ -z "$others" ]; then
		skip damon.consumer \
			"absent: all of DAMON's operations read page tables; the sample stands in"
	else
		skip damon.consumer "this test does not know DAMON's operations $others"
	fi
	echo off >"$damon/0/state"
	kill "$watched"
	echo 0 >"$damon/nr_kdamonds"
}

# 6. Memory ordering

# herd7 says whether what a test asks for can happen; the test says whether it may.
wrong_litmus_tests() { # directory
	for test in "$1"/*.litmus; do
		stated=$(sed -n 's/^ \* Result: *\([A-Za-z]*\).*/\1/p' "$test" | head -n 1)
		found=$(cd "$model" && herd7 -conf linux-kernel.cfg "$test" |
			sed -n 's/^Observation [^ ]* \([A-Za-z]*\) .*/\1/p')
		[ "$stated" = "$found" ] || echo "${test##*/}: $found, not $stated"
	done
}

ordering_section() {
	litmus=${LITMUS_DIR:-$sources/Documentation/litmus-tests/perf}
	model=${MEMORY_MODEL_DIR:-$sources/tools/memory-model}
	if ! command -v herd7 >/dev/null; then
		skip ordering.litmus "there is no herd7; the next checks show this machine's order"
	elif ! ls "$litmus"/*.litmus >/dev/null 2>&1 || [ ! -r "$model/linux-kernel.cfg" ]; then
		skip ordering.litmus "the sources with the litmus tests are not here"
	else
		litmus=$(cd "$litmus" && pwd)
		wrong=$(wrong_litmus_tests "$litmus")
		say "$(find "$litmus" -name '*.litmus' | wc -l) litmus tests"
		expect ordering.litmus "$wrong" [ -z "$wrong" ]
	fi

	if [ -z "$has_sample" ]; then
		skip_rest ordering "the sample cannot be loaded"
		return
	fi

	# A machine that shows no error may be one that orders more than it must; what
	# may be relied on is what the litmus tests say.
	if [ "$(nproc)" -gt 1 ]; then
		load_sample "rate=5000 payload=60 vary=1 skip=7" nr_pages=2 watermark=256 \
			timeout_ms=10 remote=1
		wait_for 30 has_grown records 0 20000
		say "$(statistics)"
		if [ "$(statistic records)" -gt 0 ] && [ "$(errors)" = 0 ]; then
			pass ordering.remote
		else
			fail ordering.remote
		fi
		unload_sample
	else
		skip ordering.remote "there is one CPU only"
	fi

	# A lost restart would be one CPU's end. Without a timeout only wakeups count.
	load_sample "rate=2000 burst=2 payload=200 truncate=20" nr_pages=1 timeout_ms=0
	stuck=
	for file in "$drain"/cpu*; do
		[ "$(statistic running "${file##*/}")" = 1 ] || continue
		for round in 1 2 3; do
			before=$(statistic restarts "${file##*/}")
			wait_for 10 restarts_since "${file##*/}" "$before" ||
				stuck="$stuck ${file##*/} in round $round"
		done
	done
	say "$(statistics)"
	expect ordering.restart "no restart:$stuck; $(errors) errors" [ "$stuck:$(errors)" = :0 ]
	unload_sample
}

restarts_since() { # file, number
	[ "$(statistic restarts "$1")" -gt "$2" ]
}

# 7. Boundaries

# Loading the sample must end with this error, as it says in the log.
refusal() { # errno, terms, parameters...
	errno=$1
	shift
	mark_log refusal
	if load_sample "$@" >/dev/null; then
		echo "accepted: $*"
		unload_sample
	elif ! log_since refusal | grep -q "perf_aux_drain: .*: -$errno\$"; then
		echo "not refused by $errno: $* $(log_since refusal)"
	fi
}

acceptance() { # terms, parameters...
	if ! load_sample "$@" >/dev/null; then
		echo "refused: $*"
	elif ! wait_for 10 has_grown records 0 10; then
		echo "no data: $* $(statistics)"
	elif [ "$(errors)" != 0 ]; then
		echo "errors: $* $(statistics)"
	fi
	unload_sample
}

no_aux_refusal() { # type, errno
	mark_log refusal
	if load perf_aux_drain type="$1" verify=0 >/dev/null; then
		echo "accepted: type $1"
		unload_sample
	elif ! log_since refusal | grep -q "perf_aux_drain: .*: -$2\$"; then
		echo "not refused by $2: type $1 $(log_since refusal)"
	fi
}

boundary_section() {
	if [ -z "$has_sample" ]; then
		skip_rest boundary "the sample cannot be loaded"
		return
	fi
	page=$(getconf PAGE_SIZE 2>/dev/null || page_size)
	einval=22

	wrong=$(for pages in 3 5 6 7 12 1023 2147483647; do
		refusal $einval "rate=100" nr_pages=$pages
	done)
	expect boundary.pages "$wrong" [ -z "$wrong" ]

	wrong=$(for watermark in -1 $((page * 2 + 1)) 9223372036854775807 -9223372036854775808; do
		refusal $einval "rate=100" nr_pages=2 watermark=$watermark
	done)
	expect boundary.watermark "$wrong" [ -z "$wrong" ]

	wrong=$(acceptance "rate=500" nr_pages=1
		acceptance "rate=500" nr_pages=1 watermark=1
		acceptance "rate=500" nr_pages=1 watermark="$page"
		acceptance "rate=500" nr_pages=2 watermark=$((page * 2 - 1)))
	expect boundary.accepted "$wrong" [ -z "$wrong" ]

	# The array of its pages alone is more than the allocator gives.
	wrong=$(refusal 12 "rate=100" nr_pages=1073741824)
	expect boundary.large "$wrong" [ -z "$wrong" ]

	# A software event, and a number that no PMU will have.
	wrong=$(no_aux_refusal 1 95; no_aux_refusal 2147483647 2)
	expect boundary.pmu "$wrong" [ -z "$wrong" ]

	wait_for 5 areas_are 0
	expect boundary.areas "$(areas) left" areas_are 0

	# 20 times around, with records that begin everywhere in a page.
	load_sample "rate=5000 payload=500 vary=1 skip=11 skip_bytes=33" nr_pages=1 timeout_ms=10
	wait_for 60 has_grown bytes 0 $((page * 20))
	say "$(statistics)"
	expect boundary.wrap "$(statistic bytes) bytes, $(errors) errors" \
		[ "$(($(statistic bytes) / page >= 20)):$(errors)" = 1:0 ]
	unload_sample

	# As many wakeups as the data has multiples of it, give or take those for
	# full buffers. Timeouts would hide that there is none.
	load_sample "rate=1000 payload=100" nr_pages=2 watermark=$((page / 3 + 1)) timeout_ms=0
	wait_for 60 has_grown wakeups 0 12
	say "$(statistics)"
	expect boundary.watermarks "$(statistic wakeups) wakeups, $(errors) errors" \
		[ "$(($(statistic wakeups) >= 12)):$(errors)" = 1:0 ]
	unload_sample
}

page_size() {
	awk '$1 == "KernelPageSize:" { print $2 * 1024; exit }' /proc/self/smaps
}

# 8. Concurrency

hotpluggable() {
	ls "$cpus"/cpu[0-9]*/online 2>/dev/null
}

# Until it is killed, or the time is up; then the CPU is online.
hotplug_load() { # end
	while [ "$(date +%s)" -lt "$1" ]; do
		for online in $(hotpluggable); do
			echo 0 >"$online" 2>/dev/null && sleep 0.2
			echo 1 >"$online" 2>/dev/null && echo . >>"$scratch/hotplugs"
			sleep 0.2
		done
	done
}

cycle_load() { # end
	while [ "$(date +%s)" -lt "$1" ]; do
		echo 20 >"$drain/cycle" 2>/dev/null || :
		sleep 0.05
	done
}

enable_load() { # end
	while [ "$(date +%s)" -lt "$1" ]; do
		echo 0 >"$drain/enable"
		sleep 0.02
		echo 1 >"$drain/enable"
		sleep 0.1
		echo . >>"$scratch/enables"
	done
	echo 1 >"$drain/enable"
}

read_load() { # end
	while [ "$(date +%s)" -lt "$1" ]; do
		cat "$drain"/* >/dev/null 2>&1
		perf record -q -N -o "$scratch/load.data" -a -e aux_test/rate=500/ sleep 0.2 \
			>/dev/null 2>&1 || sleep 0.2
	done
}

concurrency_section() {
	if [ -z "$has_sample" ]; then
		skip_rest concurrency "the sample cannot be loaded"
		return
	fi

	load_sample "rate=2000 burst=3 payload=300 vary=1 skip=5 truncate=500" nr_pages=4 \
		timeout_ms=20
	hotpluggable=$(hotpluggable)
	: >"$scratch/hotplugs"
	: >"$scratch/enables"
	end=$(($(date +%s) + seconds))
	offline=$hotpluggable
	loads=
	for load in cycle_load enable_load read_load hotplug_load; do
		"$load" "$end" &
		loads="$loads $!"
	done
	jobs="$jobs $loads"
	# shellcheck disable=SC2086 # a list
	wait $loads
	cycles=$(statistic cycles)
	restarts=$(statistic restarts)
	# All are online again, and go on.
	before=$(statistic bytes)
	wait_for 20 has_grown bytes "$before" 100000
	grown=$?
	say "$(statistics)"

	expect concurrency.data "$before bytes, then $(statistic bytes)" [ "$grown" = 0 ]
	expect concurrency.cycle "$cycles cycles" is_at_least "$cycles" 10
	enables=$(wc -l <"$scratch/enables")
	expect concurrency.enable "$enables times" is_at_least "$enables" 2
	hotplugs=$(wc -l <"$scratch/hotplugs")
	if [ -n "$hotpluggable" ]; then
		expect concurrency.hotplug "$hotplugs times, $(statistic online) starts" \
			is_at_least "$hotplugs" 1
	else
		skip concurrency.hotplug "no CPU of this machine can go offline"
	fi
	expect concurrency.full "$restarts restarts" is_at_least "$restarts" 1
	expect concurrency.errors "$(statistics)" [ "$(errors)" = 0 ]

	echo N >"$pmu_parameters/registered"
	sleep 0.5
	# There is nothing to set up a buffer with.
	echo 2 2>/dev/null >"$drain/cycle"
	left=$(areas)
	unload_sample
	echo Y >"$pmu_parameters/registered"
	wait_for 5 test -r "$pmu/type"
	said=$(acceptance "rate=500")
	expect concurrency.unregister "$left areas left; $said" [ "$left:$said" = 0: ]
	wait_for 5 areas_are 0
	expect concurrency.areas "$(areas) left" areas_are 0
}

# 9. Isolation

isolation_section() {
	if [ -z "$has_sample" ]; then
		skip_rest isolation "the sample cannot be loaded"
		return
	fi

	load_sample "rate=1000 payload=200 vary=1 drop=1" nr_pages=4 timeout_ms=20
	before=$(statistic bytes)
	areas_before=$(areas)
	if [ -x "$usermode" ]; then
		# Not the one that takes the PMU away from all, and not those that take long.
		"$usermode" -T pmu_unregistered -F restart >"$scratch/usermode" 2>&1
		status=$?
		expect isolation.usermode "exit status $status: $(cat "$scratch/usermode")" \
			[ "$status" = 0 ]
	else
		skip isolation.usermode "aux_kernel_usermode is not beside this script"
	fi
	wait_for 10 has_grown bytes "$before" 10000
	grown=$?
	say "$(statistics)"
	expect isolation.kernel "$(statistics)" [ "$grown:$(errors)" = 0:0 ]
	wait_for 5 areas_are "$areas_before"
	expect isolation.areas "$areas_before before, $(areas) now" areas_are "$areas_before"

	unload_sample
	[ -z "$own_pmu" ] || unload test_perf_aux
	left=$(grep -E "^(perf_aux_drain|${own_pmu:+test_perf_aux}) " /proc/modules)
	expect isolation.unload "$left" [ -z "$left" ]
}

log_section() {
	found=$(log_complaints start)
	expect log.clean "$found" [ -z "$found" ]
	now=$(tainted)
	expect log.taint "$taint before, $now now" [ $((now & ~taint)) = 0 ]
}

echo "TAP version 13"
[ "$(id -u)" = 0 ] || skip_all "needs root"
grep -q ' perf_event_setup_aux$' /proc/kallsyms ||
	skip_all "the kernel has no perf_event_setup_aux(), or no CONFIG_KALLSYMS"
! is_loaded perf_aux_drain || skip_all "perf_aux_drain is in use"

jobs=
offline=
own_pmu=
has_pmu=
has_sample=
scratch=$(mktemp -d) || exit "$ksft_fail"
trap cleanup EXIT
trap 'exit "$ksft_fail"' INT TERM
taint=$(tainted)
mark_log start

echo "1..$(checks | wc -l)"
config_section
kunit_section
usermode_section
perf_section
damon_section
ordering_section
boundary_section
concurrency_section
isolation_section
log_section
echo "# Totals: pass:$passed fail:$failed xfail:0 xpass:0 skip:$skipped error:0"

[ "$failed" = 0 ] && exit "$ksft_pass"
exit "$ksft_fail"
