# SPDX-License-Identifier: GPL-2.0-only
# Paper 003: the kernel's own congestion controls beside ours, over the same links, in virtual time.

peers=$(lines_of peer_response)
if [ -n "$peers" ]; then

# The kernel's and ours, side by side. ":": the kernel has none.
peer_pairs="bic:bitcp bic-paper:bitcp highspeed:hstcp scalable:stcp vegas:tt_vegas
	vegas-paper:tt_vegas reno:tt_reno :aimd"

peer_has() { # ALGORITHM
	grep -q "^[^,]*,[^,]*,$1," <<<"$peers"
}

peer_table() { # EVERY
	{ echo "$peers"; lines_of response "^response,model,.*,every; "; } |
		awk -F, -f "$top/bench/research/papers/003.awk" -v every="$1" -v pairs="$peer_pairs" -e '
	$1 == "response" && $4 + 0 == 1 / every && $7 == "window" { model[$3] = $8 }
	$1 != "response" && $4 == every { value[$3, $7] = $8 }
	function figure(algorithm, what, format) {
		return (algorithm, what) in value ? sprintf(format, value[algorithm, what]) : ""
	}
	function ratio(a, b, what) {
		return value[a, what] && value[b, what] ?
			sprintf("%.2f", value[b, what] / value[a, what]) : ""
	}
	function equation(name, p) {
		return name == "bitcp" ? bitcp_equation(p) : name == "hstcp" ? hstcp_equation(p) :
			name == "stcp" ? stcp_equation(p) : name == "aimd" ? aimd_equation(p) :
			name == "tt_reno" ? reno_equation(p) : 0
	}
	function left(algorithm) { # Vegas gives packets up without a loss, too
		return algorithm ~ /vegas/ ? "" : figure(algorithm, "decrease", "%.3f")
	}
	function grown(algorithm) {
		return algorithm ~ /vegas/ ? "" : figure(algorithm, "growth", "%.2f")
	}
	END {
		n = split(pairs, pair, " ")
		for (i = 1; i <= n; i++) {
			split(pair[i], name, ":")
			a = name[1]; b = name[2]
			if (!((a, "window") in value) || !((b, "window") in value))
				continue
			w = equation(b, 1 / every)
			printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", a, b,
				figure(a, "window", "%.1f"), figure(b, "window", "%.1f"),
				ratio(a, b, "window"),
				b in model ? sprintf("%.1f", model[b]) : "", w ? sprintf("%.1f", w) : "",
				left(a), left(b), grown(a), grown(b)
		}
	}'
}

# Where both follow the same rule, how far apart they are: "KERNEL:OURS:WHAT:LIMIT[:TIMES]", a share;
# TIMES: what ours is to be of the kernel's, 1 unless said otherwise. hstcp cuts off what is left to
# whole packets, 25.997 of 51 to 25: that is 2 % there. Vegas under losses grows by a packet a round
# trip, and gives up a half (the kernel's) or a quarter (ours, ns-2's): sqrt((2 - b) / 2b), 1.53 times.
peer_checks="bic-paper:bitcp:decrease:0.01 highspeed:hstcp:decrease:0.03
	scalable:stcp:decrease:0.01 reno:tt_reno:decrease:0.01 reno:tt_reno:window:0.05
	vegas-paper:tt_vegas:window:0.1:1.528"

peer_verdicts() { # EVERY
	awk -F, -v every="$1" -v checks="$peer_checks" '
	$4 == every { value[$3, $7] = $8 }
	END {
		n = split(checks, check, " ")
		for (i = 1; i <= n; i++) {
			split(check[i], f, ":")
			theirs = value[f[1], f[3]]; ours = value[f[2], f[3]]
			if (theirs == "" || ours == "")
				continue
			apart = ours / theirs / (f[5] ? f[5] : 1) - 1
			printf "- %s: %s and %s, %s %.3g and %.3g%s: %+.1f %% (at most %g)\n",
				apart * apart <= f[4] * f[4] ? "met" : "**not met**", f[1], f[2],
				f[3] == "decrease" ? "left after a loss" : "window", theirs, ours,
				f[5] ? sprintf(", %.2f times instead of %.2f", ours / theirs, f[5]) : "",
				100 * apart, 100 * f[4]
		}
	}' <<<"$peers"
}

# Windows that grow slowly do not come to their mean in a run with few losses.
peer_few() { # EVERY
	awk -F, -v every="$1" '
	$4 == every && $7 == "losses" { n++; if (n == 1 || $8 < least) least = $8; if ($8 > most) most = $8 }
	END { if (n && least < 10) printf "These runs have %d to %d losses each. A window that grows slowly, as stcp'"'"'s and scalable'"'"'s do, is still on its way to its mean then, and below the numeric model, which is of a long run.\n\n", least, most }' <<<"$peers"
}

# Seconds and window of one algorithm
peer_points() { # ALGORITHM EVERY
	awk -F, -v algorithm="$1" -v every="$2" '$3 == algorithm && $4 == every && $7 == "trace" {
		print $8 }' <<<"$peers" | tr ' :' '\n ' | grep .
}

peer_pane() { # TITLE EVERY ALGORITHM...
	local title=$1 every=$2 algorithm plots= name
	local colours=("#b2182b" "#1b7837" "#e08214") i=0
	shift 2
	for algorithm in "$@"; do
		name=$work/peer-$algorithm-$every
		peer_points "$algorithm" "$every" >"$name"
		[ -s "$name" ] && plots+="\"$name\" using 1:2 with lines lw 2 lc rgb \"${colours[i]}\" title \"$algorithm\", "
		i=$((i + 1))
	done
	[[ $plots == *title*title* ]] || return 0 # nothing to compare
	printf 'set title "%s"\nplot %s\n' "$title" "${plots%, }"
}

peer_panes() { # EVERY
	peer_pane "BI-TCP" "$1" bic bitcp bic-paper
	peer_pane "HighSpeed TCP" "$1" highspeed hstcp
	peer_pane "Scalable TCP" "$1" scalable stcp
	peer_pane "Reno" "$1" reno tt_reno
}

peer_picture() { # FILE EVERY
	local panes layout=2,2 height=760
	panes=$(peer_panes "$2")
	case $(grep -c ^plot <<<"$panes") in
	1) layout=1,1 height=420 ;;
	2) layout=1,2 height=420 ;;
	esac
	{
		picture_head "$1" ""
		echo "unset title
set terminal pngcairo size 1000,$height font \"sans,10\" noenhanced
set output \"$out/$1\"
set multiplot layout $layout title \"Congestion window, one loss every $2 packets, 100 ms\" font \"sans,12\"
set xlabel \"seconds\"
set ylabel \"window, packets\"
set xrange [2:*]
set yrange [0:*]
set key bottom right"
		echo "$panes"
	} | gnuplot
}

cat <<TEXT

## The kernel's own congestion controls beside ours

A check by code that is not ours: \`bic\`, \`highspeed\`, \`scalable\`, \`vegas\` and \`reno\` as Debian's kernel
has them, and ours as struct_ops, one connection at a time over the same link
(veth, netem, a packet dropped after every so many, one of 200 in the first two seconds), in QEMU with virtual time
(\`bench/research/kernels/run\`). The windows are the kernel's own word (its tracepoint \`tcp_probe\`), nobody's
daemon runs. \`bic-paper\` is the kernel's \`bic\` with the paper's S_max 32 and β 1/8 in the place of its own 16 and
1/5, \`vegas-paper\` its \`vegas\` with α 1, β 3 in the place of 2 and 4.

*Window*: mean over round trips, the first quarter of the run left out, with the ratio of ours to the
kernel's. *Left*: mean share of the window that is left after a loss. *Growth*: packets per round trip between
losses.

TEXT
for every in $(cut -d, -f4 <<<"$peers" | sort -nu); do
	echo "### One loss every $every packets"
	echo
	echo "| kernel | ours | window: kernel | ours | ratio | numeric model of ours | the paper's equation | left: kernel | ours | growth: kernel | ours |"
	echo "|---|---|---|---|---|---|---|---|---|---|---|"
	peer_table "$every"
	echo
	peer_verdicts "$every"
	echo
	peer_few "$every"
done
every=$(cut -d, -f4 <<<"$peers" | sort -nu | tail -n 1)
peer_picture peers.png "$every"
echo "![Windows](peers.png)"
echo
conditions <<<"$peers" | sed "s/^Conditions: /Conditions: Linux $(cut -d, -f2 <<<"$peers" | sort -u | paste -sd ' '); /"
alone=$(awk -F, '$7 == "window" { printf "%s with a loss every %s packets %.1f\n", $3, $4, $8 }' <<<"$peers" | sort -u |
	grep -vxFf <(for every in $(cut -d, -f4 <<<"$peers" | sort -nu); do
		peer_table "$every" | awk -F ' *[|] *' -v every="$every" '{
			printf "%s with a loss every %s packets %s\n%s with a loss every %s packets %s\n", $2, every, $4, $3, every, $5 }'
	done) | paste -sd ';' | sed 's/;/; /g' || :)
[ -z "$alone" ] || printf '\nMeasured, but without a counterpart (mean window): %s.\n' "$alone"
missing=
for algorithm in $(tr ': ' '\n\n' <<<"$peer_pairs" | sort -u); do
	peer_has "$algorithm" || missing+=" $algorithm"
done
not_measured "$(sed 's/^ //; s/ /, /g' <<<"$missing")" "bench/research/kernels/run short"
cat <<'TEXT'

Where they differ, and why (net/ipv4/tcp_*.c of Linux 6.12):

- The numeric model has no recovery, in which the window stands still for a round trip; of the paper's equation
  and its pseudo-code see above.
TEXT
if peer_has bic; then
	cat <<'TEXT'
- `bic` searches by a quarter of the distance to the maximum where the paper takes half, in steps of at most
  16. Within eight packets of the maximum its parameters let it take five round trips for one packet, where the
  paper goes on in ever smaller steps down to S_min 0.01; past it, it adds a third of the way that it has
  come per round trip, where the paper has slow start. A loss leaves it 0.8. It also multiplies its growth by the number of
  packets that an ACK stands for, although `tcp_cong_avoid_ai()` counts packets by now and not ACKs: with
  delayed ACKs it grows twice as fast as its parameters say.
TEXT
fi
if peer_has highspeed; then
	cat <<'TEXT'
- `highspeed` adds a(w) once per ACK, not per packet: with delayed ACKs it grows half as fast as RFC 3649
  says; of 51 packets `hstcp` is left 25.997, cut off to 25. What `highspeed` gives up follows the window in congestion avoidance only, so that a first slow start ends with a half.
TEXT
fi
if peer_has scalable; then
	cat <<'TEXT'
- `scalable` has no low window, and grows by a packet per round trip below 100 of them, where the
  algorithm's a = 0.01 (Kelly's) is less than one; it gives up an eighth at every window, `stcp` a half below 16.
TEXT
fi
if peer_has vegas; then
	cat <<'TEXT'
- `vegas` leaves slow start at once when its estimate says so, as `tt_vegas` does, but doubles in every round
  trip until then, and takes α 2 and β 4 unless told otherwise. A loss halves its window, and leaves
  `tt_vegas` three quarters, as ns-2 has it: losses as frequent as here decide over both, and by
  the response function of such an increase and decrease ours is 1.53 times the kernel's.
TEXT
fi
fi

peers=$(lines_of peer_queue)
if [ -n "$peers" ]; then
cat <<TEXT

### The kernel's and ours at a queue of one BDP

Alone at a drop-tail bottleneck of $(cut -d, -f5 <<<"$peers" | sort -u | sed 's/;.*//' | paste -sd ' '). *Carried*: goodput of what the link can carry.

| | goodput, Mbit/s | carried, % | retransmits | drops | window | RTT, ms | left after a loss | losses |
|---|---|---|---|---|---|---|---|---|
$(awk -F, '
	{ value[$3, $7] = $8; split($5, words, " "); rate[$3] = words[1] }
	END {
		n = split("bic bic-paper bitcp highspeed hstcp scalable stcp aimd vegas vegas-paper tt_vegas reno tt_reno", order, " ")
		for (i = 1; i <= n; i++) {
			a = order[i]
			if ((a, "goodput") in value)
				printf "| %s | %.2f | %.1f | %d | %d | %.0f | %.1f | %s | %d |\n", a,
					value[a, "goodput"], 100 * value[a, "goodput"] * 1514 / 1448 / rate[a],
					value[a, "retransmits"], value[a, "drops"], value[a, "window"],
					value[a, "rtt"],
					(a, "decrease") in value && a !~ /vegas/ ? sprintf("%.3f", value[a, "decrease"]) : "",
					value[a, "losses"]
		}
	}' <<<"$peers")

$(conditions <<<"$peers" | sed "s/^Conditions: /Conditions: Linux $(cut -d, -f2 <<<"$peers" | sort -u | paste -sd ' '); /")
TEXT
fi
