# SPDX-License-Identifier: GPL-2.0-only
# Paper 003, section VII, on the kernel itself: Tables 2 and 3.

kernel_conditions() {
	jq -rs 'def list(f): map(f | tostring) | unique | join(", ");
		def ms: . / 10 | round / 100;
		(group_by([.x, .column]) | map(length)) as $runs
		| "Conditions: Linux \(list(.kernel)) over linkem, \(list(.seconds)) s, of which the second half counts; \(if ($runs | max) == 1 then "one run of each, so that no spread is known" else "runs of each: \($runs | min) to \($runs | max)" end); commit \(list(.commit)); \(list(.date[:10])); lateness of the emulator at most \(map(.link.late_p99_us, .link.late_back_p99_us // 0) | max | ms) ms (p99)\(map(.link.late_before_p99_us // 0) | max | if . > 0 then ", in the half before at most \(ms) ms" else "" end). The bottleneck carried at least \(map(.carried) | min * 1000 | round / 10) % of its rate."'
}

kernel_rtt() { # TABLE MBPS
	local lines
	lines=$(kernel_lines rtt_ratio "$2" drop-tail)
	[ -n "$lines" ] || return 0
	cat <<TEXT

## Paper 003: RTT fairness at $2 Mbit/s on the kernel, $1

Two connections of this kernel over the emulated link, drop-tail, with a queue of 40 ms and the algorithms
as struct_ops. A tenth of the rate each
way is background, from ten Reno connections that send a message every 200 ms; the paper's is a fifth and more, and of the length of its
runs it says nothing.

| | 1: paper | ours | ratio | 3: paper | ours | ratio | 6: paper | ours | ratio |
|---|---|---|---|---|---|---|---|---|---|
$(rtt_table "$1" "$(kernel_ratios "$lines")")

$(kernel_conditions <<<"$lines")
$(not_measured "$(rtt_missing "$(kernel_ratios "$lines")")" "BENCH_MBPS=$2 BENCH_QUEUES=drop-tail bench/run rtt_ratio")

What differs from the paper's is the background, as in the simulations, and that the kernel sends in bursts of up to 64 KB where the
paper's packets are paced.
TEXT
}

kernel_rtt_red() { # MBPS
	local lines
	lines=$(kernel_lines rtt_ratio "$1" RED)
	[ -n "$lines" ] || return 0
	cat <<TEXT

### The same under adaptive RED, $1 Mbit/s

The paper gives no figures: for every protocol it finds the ratio of throughputs close to that of the
round-trip times.

| | RTT ratio | ratio of throughputs | of the RTT ratio |
|---|---|---|---|
$(kernel_ratios "$lines" | awk '{ k = $1 " " $2; sum[k] += $4; n[k]++ }
	END { for (k in n) { split(k, f, " "); mean = sum[k] / n[k]
		printf "| %s | %s | %.2f | %.2f |\n", f[1], f[2], mean, mean / f[2] } }' | sort)

$(kernel_conditions <<<"$lines")
TEXT
}

kernel_rtt "Table 3" 100
kernel_rtt_red 100
kernel_rtt "Table 2" 2500
kernel_rtt_red 2500
