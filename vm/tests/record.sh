# shellcheck shell=dash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced by the guest's scripts: one perf command line for each kind of recording, and the work that is
# recorded.

record() { # KIND OUTPUT
  case $1 in
    sched) perf record -q -N -o "$2" -e sched:sched_switch -e sched:sched_wakeup -a sleep 0.6 ;;
    # The disk interrupts for each piece that it has read; those in a row would be one.
    irq-timer)
      # shellcheck disable=SC2016 # the inner shell counts
      perf record -q -N -o "$2" -e 'irq:*' -e 'timer:*' -a sh -c '
        for i in 1 2 3 4; do
          dd if=/dev/vda of=/dev/null bs=4k skip=${i}000 count=1 2>/dev/null
        done
        sleep 0.1' ;;
    # Of a few commands only: in a whole system there are perf's own calls, too, which it makes because it
    # records them.
    syscalls)
      perf record -q -N -o "$2" -e 'raw_syscalls:*' sh -c '
        dd if=/dev/zero bs=1k count=40 2>/dev/null | sort | wc -c
        find /sys/kernel/tracing/events/sched | tail -n 1
        sleep 0.01 & sleep 0.02; wait' ;;
    mixed) perf record -q -N -o "$2" -e sched:sched_switch -e cpu-clock -a sleep 0.5 ;;
    callchain) perf record -q -N -o "$2" -g -e sched:sched_switch -a sleep 0.5 ;;
    compressed) perf record -q -N -o "$2" -z -e 'sched:*' -e 'irq:*' -a sleep 0.5 ;;
    group-read) perf record -q -N -o "$2" -e "{sched:sched_switch,sched:sched_wakeup}:S" -a sleep 0.3 ;;
    maple-tree) perf record -q -N -o "$2" -e "maple_tree:*" sh -c "ls | cat" ;;
    # What the sample of kernel/ drains from the AUX buffers of a PMU that a module brings.
    aux-drain)
      insmod /job/test_perf_aux.ko &&
        insmod /job/perf_aux_drain.ko "type=$(cat /sys/bus/event_source/devices/aux_test/type)" &&
        perf record -q -N -o "$2" -e 'perf_aux_drain:*' -a sleep 1 ;;
    stream) perf record -q -N -o - -e sched:sched_switch -e sched:sched_wakeup -a sleep 0.5 >"$2" ;;
    *) echo "no kind $1"; return 1 ;;
  esac
}

# Tasks that begin, sleep, wait for each other and end.
work() {
  while :; do
    dd if=/dev/zero bs=4k count=20 2>/dev/null | cat | wc -c
    sleep 0.01
    usleep 2000 & wait $!
  done
}
