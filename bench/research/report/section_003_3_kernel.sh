# SPDX-License-Identifier: GPL-2.0-only
# Paper 003, section VII, on the kernel itself: Tables 2 and 3.

# From lines, how they were measured; and of BENCH at MBPS and QUEUE, how many runs were not valid.
# 500 us: what the emulator's lateness is held to where nothing else is said (bench/linkem/stats.c)
kernel_conditions() { # BENCH [MBPS QUEUE]
	local spoiled
	spoiled=$(rows_of "$1" 'map(select(.invalid)'"${2:+ | select(.x | (. + \", \" | startswith(\"$2 Mbit/s, ${3:+$3, }\")))}"') | length')
	jq -rs "$row_sentences"'def ms: . / 10 | round / 100;
		def late: [.link.late_p99_us, .link.late_back_p99_us // 0] | max;
		(group_by([.x, .column]) | map(length)) as $runs | max_by(late) as $worst
		| (map(.seconds) | unique) as $lengths
		| "Conditions: Linux \(list(.kernel)) over linkem, \(list(.seconds)) s, of which the second half counts\(if ($lengths | length) > 1 then " (of each cell the longest runs)" else "" end); \(count_of($runs; ""))\(seeds); commit \(list(.commit)); \(list(.date[:10])); lateness of the emulator (p99) at most \($worst | late | ms) ms, which is \($worst.column) at \($worst.x), and above the usual limit of 0.5 ms in \(map(select(late > 500)) | length) of \(length) runs\(map(.link.late_before_p99_us // 0) | max | if . > 0 then ", in the half before at most \(ms) ms" else "" end)\(tolerated); runs that the emulator spoiled: '"$spoiled"'. The bottleneck carried at least \(map(.carried) | min * 1000 | round / 10) % of its rate.\(map(.background_mbps // empty | add) | if . == [] then "" else " Background sent: \(min | round) to \(max | round) Mbit/s both ways together." end)"' |
		age_of="$age_of_kernel" aged
}

kernel_rtt() { # TABLE MBPS
	local lines ratios file=rtt_kernel_$2.png
	lines=$(kernel_lines rtt_ratio "$2" drop-tail)
	[ -n "$lines" ] || return 0
	ratios=$(kernel_ratios "$lines")
	cat <<TEXT

## Paper 003: RTT fairness at $2 Mbit/s on the kernel, $1

Two connections of this kernel over the emulated link, drop-tail, with a queue of 40 ms and the algorithms
as struct_ops. A tenth of the rate each
way is background, from ten Reno connections that send a message every 200 ms; the paper's is a fifth and more, and of the length of its
runs it says nothing.
TEXT
	if [ -z "$(lines_of rtt_ratio ",$2 Mbit/s drop-tail")" ]; then
		rtt_picture "$file" "Two connections of the kernel over $2 Mbit/s, drop-tail: paper 003, $1" "$1" "" "$ratios"
		printf '\n![%s on the kernel](%s)\n' "$1" "$file"
	fi
	cat <<TEXT

| | 1: paper | ours | ratio | 3: paper | ours | ratio | 6: paper | ours | ratio |
|---|---|---|---|---|---|---|---|---|---|
$(rtt_table "$1" "$ratios")

$(kernel_conditions rtt_ratio "$2" drop-tail <<<"$lines")
$(not_measured "$(rtt_missing "$ratios")" "BENCH_MBPS=$2 BENCH_QUEUES=drop-tail bench/run rtt_ratio")
$(kernel_ratios "$(kernel_all rtt_ratio "$2" drop-tail)" | rtt_lengths)

$(rtt_differs "$1" "$ratios" kernel "")
TEXT
}

kernel_rtt_red() { # MBPS
	local lines red
	lines=$(kernel_lines rtt_ratio "$1" RED)
	printf '\n### The same under adaptive RED, %s Mbit/s\n' "$1"
	if [ -z "$lines" ]; then
		not_measured "any of it" "BENCH_MBPS=$1 BENCH_QUEUES=RED bench/run rtt_ratio"
		return
	fi
	red=$(kernel_ratios "$lines" | awk '
	{ k = $2 " " $1; sum[k] += $4; n[k]++ }
	END { for (k in n) print k, sum[k] / n[k], n[k] }' | sort -k 1,1n -k 2,2)
	cat <<TEXT

The paper gives no figures: for every protocol it finds the ratio of throughputs close to that of the
round-trip times.

| | RTT ratio, and the paper's of throughputs | ours | ratio | runs |
|---|---|---|---|---|
$(while read -r ratio algorithm mean runs; do
	awk -v a="$algorithm" -v x="$ratio" -v mean="$mean" -v runs="$runs" -v paper="$(paper_value 003 "RTT under RED" all "$ratio")" \
		'BEGIN { printf "| %s | %s | %.2f | %.2f | %d |\n", a, paper, mean, mean / paper, runs }'
done <<<"$red")

$(kernel_conditions rtt_ratio "$1" RED <<<"$lines")
$(awk '$1 > 1 { r = $3 / $1; list[r >= 0.5 && r <= 2] = list[r >= 0.5 && r <= 2] (list[r >= 0.5 && r <= 2] == "" ? "" : ", ") $2 " at " $1 }
	END { if (list[1] != "") printf "Within half and twice the ratio of round-trip times: %s. ", list[1]
		if (list[0] != "") printf "Not: %s; why is not shown here.", list[0] }' <<<"$red")
$(not_measured "$(rtt_missing "$(kernel_ratios "$lines")")" "BENCH_MBPS=$1 BENCH_QUEUES=RED bench/run rtt_ratio")
TEXT
}

kernel_rtt "Table 3" 100
kernel_rtt_red 100
kernel_rtt "Table 2" 2500
kernel_rtt_red 2500
