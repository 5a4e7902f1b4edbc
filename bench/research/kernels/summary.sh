# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# summary CONSOLE	what the scene printed of one connection, as lines WHAT,VALUE. Sourced by run.
#
#   goodput	Mbit/s, from the first byte sent to the last one read
#   retransmits	segments; drops: in the bottleneck's queue
#   losses	reductions of the window that count here; the first quarter of the run does not
#   window	mean over round trips, packets
#   rtt		mean of the smoothed round-trip time, ms
#   decrease	mean share of the window that was left after a loss
#   growth	mean growth of the window in a round trip between losses, packets
#   trace	the window over the run: SECONDS:PACKETS once per round trip, up to 600 of them
summary() {
	sed -n 's/^@result //p' "$1" | jq -r '"goodput,\(.goodput_bps / 1e4 | round / 100)",
		"retransmits,\(.retransmits)"'
	sed -n 's/^@drops /drops,/p' "$1"
	awk '
	$1 == "@window" {
		n++; at[n] = $2; cwnd[n] = $3; ssthresh[n] = $4; srtt[n] = $5
	}
	$1 == "@loss" { losses++; loss_at[losses] = $2; share[losses] = $4 / $3 }
	# Whether a window belongs to a round trip without loss, recovery or slow start.
	function quiet(i,	j) {
		for (j = 1; j <= losses; j++)
			if (loss_at[j] > at[i] - 3 * srtt[i] / 1e6 && loss_at[j] <= at[i + 1])
				return 0
		return cwnd[i] >= ssthresh[i]
	}
	END {
		from = at[n] / 4
		for (i = 1; i <= n; i++) {
			if (at[i] < from)
				continue
			sum += cwnd[i]; rtt += srtt[i]; rounds++
			if (i < n && quiet(i)) {
				growth += cwnd[i + 1] - cwnd[i]
				quiet_rounds += (at[i + 1] - at[i]) / srtt[i] * 1e6
			}
		}
		for (j = 1; j <= losses; j++)
			if (loss_at[j] >= from) {
				left += share[j]; counted++
			}
		printf "window,%.1f\nrtt,%.2f\nlosses,%d\n", sum / rounds, rtt / rounds / 1e3, counted
		if (counted)
			printf "decrease,%.4f\n", left / counted
		if (quiet_rounds)
			printf "growth,%.3f\n", growth / quiet_rounds
		printf "trace,"
		for (i = 1; i <= n; i += int((n - 1) / 600) + 1)
			printf "%.2f:%d ", at[i], cwnd[i]
		print ""
	}' "$1"
}
