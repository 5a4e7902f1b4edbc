# SPDX-License-Identifier: GPL-2.0-only
#
# What an operator would use instead of tcptuned, each on the same paths: the kernel as it is, one line of sysctl, BBR and
# bpftune. bench/guest runs it.
# virtual: bpftune needs fentry, which the hosts of virtual machines may refuse

. "$TEST_TOP/bench/lib.sh"

bench_alternatives() {
	local run_seconds=${BENCH_SECONDS:-10} learn=4
	host a b
	each_path alternatives_rows --rcvbuf 64K <<-END
		100 Mbit/s, 100 ms, SO_RCVBUF of 64 KB|--rate 100mbit --delay 50ms --queue 1bdp
	END
	each_path alternatives_rows <<-END
		100 Mbit/s, 400 ms|--rate 100mbit --delay 200ms --queue 1bdp
		100 Mbit/s, 20 ms, queue of 4 MB|--rate 100mbit --delay 10ms --queue 4MB
		100 Mbit/s, 100 ms, loss of 1e-4|--rate 100mbit --delay 50ms --queue 1bdp --loss-ab 1e-4
	END
}

# Two of these learn from connections: the second one counts.
alternatives_rows() { # MESSAGES OPTION...
	set -- --duration $run_seconds --stall 60 "$@"
	row alternatives "$x" kernel taught "$@"
	row alternatives "$x" "64 MB by sysctl" with_maxima taught "$@"
	row alternatives "$x" bbr taught --congestion bbr "$@"
	row alternatives "$x" bpftune keeping_maxima with_bpftune taught "$@"
	rm -rf "$TEST_DIR/state"
	row alternatives "$x" tcptuned with_tcptuned sender,receiver policy.congestion_control=auto paths.remember=yes -- \
		taught "$@"
}

# Its tuners of TCP: all of them would keep the processor busy for longer than a row.
with_bpftune() { # COMMAND...
	background bpftune bpftune -s -a tcp_buffer_tuner.so -a tcp_conn_tuner.so -a netns_tuner.so
	wait_printed bpftune "bpftune works fully"
	sleep 12 # it goes on loading: nine seconds of such a processor
	"$@"
	stop bpftune || : # the signal ends it
}
