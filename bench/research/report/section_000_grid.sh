# SPDX-License-Identifier: GPL-2.0-only
# Paper 000: the grid of Figures 2 to 10, the laws of section 4.3, Figure 5, Table 1.

grid=$(rows_of grid 'grid_cells[] | . as $c | .columns | to_entries[] | select(.value.runs > 0)
	| [$c.buffers, $c.rtt_ms, $c.streams, .key, .value.median, .value.least, .value.most]
	| map(tostring) | join(";")')

tuning_style() { # TUNING
	case $1 in
	none) echo 'lc rgb "#b2182b" pt 9' ;;
	kernel) echo 'lc rgb "#e08214" pt 13' ;;
	"by hand") echo 'lc rgb "#4575b4" pt 5' ;;
	"tcptuned, cubic") echo 'lc rgb "#7fbf7b" pt 6' ;;
	*) echo 'lc rgb "#1b7837" pt 7' ;;
	esac
}

grid_figure() { # BUFFERS RTT_MS: the paper's figure, if it has one
	case $1,$2 in
	default,0.5) echo "Figure 2" ;;
	"kernel only,0.5") echo "Figure 3" ;;
	"user and kernel,0.5") echo "Figure 4" ;;
	default,25) echo "Figure 6" ;;
	"kernel only,25") echo "Figure 7" ;;
	"user and kernel,25") echo "Figure 8" ;;
	"kernel only,100") echo "Figure 9" ;;
	"user and kernel,100") echo "Figure 10" ;;
	*) echo "no figure there" ;;
	esac
}

# One panel: the tunings' points, and what the paper's text says about the same. Each tuning is a
# little to the side of the one before, or the last would hide the others; a line goes over no
# number of connections that has not been measured.
grid_panel() { # BUFFERS RTT_MS
	local tuning file plots= n=0 law dash=2
	for tuning in none kernel "by hand" "tcptuned, cubic" tcptuned; do
		file=$work/panel-$panel-$((n++))
		awk -F';' -v b="$1" -v rtt="$2" -v t="$tuning" -v aside="$((n - 3))" '
			$1 == b && $2 == rtt && $4 == t { point[$3] = $3 * 2 ^ (aside * 0.07) " " $5 " " $6 " " $7 }
			END { for (n = 1; n <= 8; n *= 2) print point[n] }' <<<"$grid" >"$file"
		grep -q . "$file" || echo "NaN NaN NaN NaN" >"$file" # the legend has it all the same
		plots+="${plots:+, }\"$file\" using 1:2:3:4 with yerrorbars lw 1 ps 0 $(tuning_style "$tuning") notitle"
		plots+=", \"$file\" using 1:2 with linespoints lw 2 ps 1.2 $(tuning_style "$tuning") title \"$tuning\""
	done
	for law in none kernel drs; do
		file=$work/panel-$panel-paper-$law
		echo "NaN NaN" >"$file"
		if [ "$1" = default ] && awk "BEGIN { exit !($2 >= 25) }"; then
			awk -v k="$(paper_value 000 law $law k)" -v rtt="$2" \
				'BEGIN { for (n = 1; n <= 8; n *= 2) print n, k * n / rtt }' >"$file"
		elif [ "$1,$law" = "kernel only,drs" ]; then
			awk -F, -v rtt="$2" '$2 == "drs" && match($3, "^kernel only " rtt " ms ") {
				print substr($3, RLENGTH + 1), $4 }' "$top/bench/research/papers/000.csv" >>"$file"
		fi
		plots+=", \"$file\" using 1:2 with linespoints dt $((dash++)) lw 1.5 ps 1.4 pt $([ $law = drs ] && echo 2 || echo 0) lc rgb \"black\" title \"paper: ${law/drs/DRS}\""
	done
	printf 'set yrange [%s:*]\n' "$(awk -F';' -v b="$1" -v rtt="$2" '$1 == b && $2 == rtt { if (least == "" || $6 < least) least = $6 }
		END { print (rtt < 1 && least > 500 ? 50 * int(least / 50 - 0.5) : 0) }' <<<"$grid")"
	printf 'set title "%s, %s ms (%s)"\nplot %s\n' "$1" "$2" "$(grid_figure "$1" "$2")" "$plots"
}

grid_picture() { # FILE
	local rtts buffers rtt panel=0 columns
	rtts=$(cut -d';' -f2 <<<"$grid" | sort -gu)
	columns=$(wc -w <<<"$rtts")
	{
		printf 'set terminal pngcairo size %d,1080 font "sans,10" noenhanced\n' \
			$((columns * 370))
		printf 'set output "%s"\n' "$out/$1"
		printf 'set multiplot layout 3,%d title "128 messages of 1 MB over 1 Gbit/s: Mbit/s against connections; rows: buffers, columns: round-trip time"\n' "$columns"
		printf 'set logscale x 2\nset xtics (1, 2, 4, 8)\nset xrange [0.75:10.7]\nset offsets 0, 0, graph 0.06, 0\n'
		printf 'set grid\nset xlabel "connections"\nset ylabel "goodput, Mbit/s"\n'
		for buffers in default "kernel only" "user and kernel"; do
			for rtt in $rtts; do
				# one legend, where there is room for it
				if [ $panel = $((2 * columns)) ]; then
					echo 'set key inside bottom center'
				else
					echo 'unset key'
				fi
				grid_panel "$buffers" "$rtt"
				panel=$((panel + 1))
			done
		done
		echo 'unset multiplot'
	} | gnuplot
}

# A figure of one cell: BUFFERS RTT_MS STREAMS TUNING; empty if it was not measured
grid_value() {
	awk -F';' -v b="$1" -v rtt="$2" -v n="$3" -v t="$4" \
		'$1 == b && $2 == rtt && $3 == n && $4 == t { print $5 }' <<<"$grid"
}

# The same as "MEDIAN LEAST MOST" of its runs
grid_runs() { # BUFFERS RTT_MS STREAMS TUNING
	awk -F';' -v b="$1" -v rtt="$2" -v n="$3" -v t="$4" \
		'$1 == b && $2 == rtt && $3 == n && $4 == t { print $5, $6, $7 }' <<<"$grid"
}

# A statement of the paper's text: WHERE, WHAT, PAPER, and what of ours it is about: A, or A less
# B ("-"), A over B ("/"), A over B in per cent above 1 ("%"), as grid_runs gives them; not if one
# is missing. In parentheses what the least and most of the runs would make of it. Where those are
# as far apart as the difference that the paper speaks of, or on both sides of what it says, ours
# is no answer.
grid_statement() { # WHERE WHAT PAPER A [-|/|% B]
	[ -n "$4" ] && [ -n "${6-1}" ] || return 0
	awk -v where="$1" -v what="$2" -v paper="$3" -v how="${5-}" -v one="$4" -v other="${6-}" '
	function figure(x) { return sprintf(how == "/" && x < 9.5 ? "%.3f" : "%.3g", x) }
	BEGIN {
		split(one, a, " "); split(other, b, " ")
		ours = a[1]; least = a[2]; most = a[3]
		if (how == "-") { ours -= b[1]; least -= b[3]; most -= b[2] }
		else if (how != "") { ours /= b[1]; least /= b[3]; most /= b[2] }
		if (how == "%") { ours = 100 * (ours - 1); least = 100 * (least - 1); most = 100 * (most - 1) }
		n = split(paper, range, "-"); from = range[1]; to = range[n]
		side = sub(/^(at least|above) /, "", from) ? "up" : sub(/^below /, "", to) ? "down" : ""
		if (side == "up") { to = 1e9 } else if (side == "down") from = -1e9
		from += 0; to += 0
		limit = ours < from ? from : to > 1e8 ? from : to
		open = how == "-" ? most - least > (side == "down" ? to : from) :
			paper ~ /^(above|below)/ && (side == "up" ? from : to) > least && (side == "up" ? from : to) < most
		none = how == "/" && paper ~ /^(above|below) 1$/ && ours > 0.97 && ours < 1 / 0.97
		printf "| %s | %s | %s | %s%s | %s |\n", where, what, paper, figure(ours),
			figure(least) == figure(most) ? "" : " (" figure(least) " to " figure(most) ")",
			none ? "no difference" : open ? "the runs differ by more" : ours >= from && ours <= to ? "1" : sprintf("%.2f", ours / limit)
	}'
}

grid_statements() {
	local v=grid_runs p="paper_value 000" drs="tcptuned, cubic" name n
	grid_statement "Figure 2" "default, 0.5 ms, 1 connection: kernel less none, Mbit/s" \
		"at least $($p "Figure 2" "kernel - none" "Mbit/s at least")" \
		"$($v default 0.5 1 kernel)" - "$($v default 0.5 1 none)"
	grid_statement "Figure 2" "the same: DRS less kernel, Mbit/s" \
		"$($p "Figure 2" "drs - kernel" "Mbit/s")" \
		"$($v default 0.5 1 "$drs")" - "$($v default 0.5 1 kernel)"
	for name in none kernel "$drs"; do
		grid_statement "Figure 2" "default, 0.5 ms, $name: gain of 8 connections over 1, %" \
			"$($p "Figure 2" streams "gain %")" \
			"$($v default 0.5 8 "$name")" % "$($v default 0.5 1 "$name")"
	done
	grid_statement "Figure 3" "0.5 ms, 1 connection, kernel: larger maxima less default, Mbit/s" \
		"$($p "Figure 3" "kernel only - default" "Mbit/s")" \
		"$($v "kernel only" 0.5 1 kernel)" - "$($v default 0.5 1 kernel)"
	for n in 1 2 4 8; do
		grid_statement "Figure 3" "0.5 ms, connections: $n; DRS, larger maxima over default" \
			"$($p "Figure 3" "drs kernel only / default" $n)" \
			"$($v "kernel only" 0.5 $n "$drs")" / "$($v default 0.5 $n "$drs")"
	done
	for n in 1 2 4 8; do
		grid_statement "Figure 4" "user and kernel, 0.5 ms, connections: $n; DRS over 2.4's" \
			"$($p "Figure 4" "drs / kernel" ratio)" \
			"$($v "user and kernel" 0.5 $n "$drs")" / "$($v "user and kernel" 0.5 $n "by hand")"
	done
	for name in none kernel "$drs"; do
		grid_statement "Figure 6" "default, 25 ms, 1 connection, $name, Mbit/s" \
			"below $($p "Figure 6" all "Mbit/s below")" "$($v default 25 1 "$name")"
	done
	for name in none kernel "$drs"; do
		grid_statement "Figure 6" "default, 25 ms, $name: 8 connections over 1 (linear: 8)" \
			"$($p "Figure 6" all "8 / 1")" "$($v default 25 8 "$name")" / "$($v default 25 1 "$name")"
	done
	for n in 1 2 4 8; do
		grid_statement "Figure 6" "default, 25 ms, connections: $n; DRS over kernel" \
			"$($p "Figure 6" "drs / kernel" ratio)" \
			"$($v default 25 $n "$drs")" / "$($v default 25 $n kernel)"
	done
	for name in kernel "$drs"; do
		grid_statement "Figure 7" "25 ms, 1 connection, $name: larger maxima over default" \
			"$($p "Figure 7" "kernel only / default" "${name/$drs/drs}")" \
			"$($v "kernel only" 25 1 "$name")" / "$($v default 25 1 "$name")"
	done
	grid_statement "Figure 7" "kernel only, 25 ms, DRS: 8 connections over 1" "$($p "Figure 7" drs "8 / 1")" \
		"$($v "kernel only" 25 8 "$drs")" / "$($v "kernel only" 25 1 "$drs")"
	for n in 2 4; do
		grid_statement "Figure 8" "user and kernel, 25 ms, DRS: $n connections over 1" \
			"$($p "Figure 8" drs "$n / 1")" \
			"$($v "user and kernel" 25 $n "$drs")" / "$($v "user and kernel" 25 1 "$drs")"
	done
	for n in 1 2 4 8; do
		grid_statement "Figure 8" "user and kernel, 25 ms: DRS less 2.4's, Mbit/s (of how many connections it does not say; here $n)" \
			"$($p "Figure 8" "drs - kernel" "Mbit/s")" \
			"$($v "user and kernel" 25 $n "$drs")" - "$($v "user and kernel" 25 $n "by hand")"
	done
	grid_statement "section 4.3" "kernel only, 50 ms, 8 connections, DRS, Mbit/s" \
		"$($p "section 4.3" drs "kernel only 50 ms 8")" "$($v "kernel only" 50 8 "$drs")"
	grid_statement "Figure 9" "kernel only, 100 ms, 8 connections, DRS, Mbit/s" \
		"$($p "Figure 9" drs "kernel only 100 ms 8")" "$($v "kernel only" 100 8 "$drs")"
	grid_statement "Figure 9" "kernel only, 100 ms, 1 connection: DRS over kernel" \
		"$($p "Figure 9" "drs / kernel" ratio)" \
		"$($v "kernel only" 100 1 "$drs")" / "$($v "kernel only" 100 1 kernel)"
	for n in 1 8; do
		grid_statement "Figure 10" "user and kernel, 100 ms, connections: $n; DRS over 2.4's" \
			"$($p "Figure 10" "drs / kernel" ratio)" \
			"$($v "user and kernel" 100 $n "$drs")" / "$($v "user and kernel" 100 $n "by hand")"
	done
}

# Of the 48 cells of the paper (three kinds of buffers, four round-trip times, four numbers of
# connections), how many there are, and how each of our columns stands: as text
grid_met() {
	rows_of grid 'grid_cells | (map(select(.own | any(.share))) | length) as $cells
		| [.[].own[] | select(.share)] as $all
		| def of($c): $all | map(select(.column == $c)) | "\(map(select(.standing == "met")) | length) of \(length)";
		"\($cells) of 48 cells of the paper measured; at 97 % of the best other column or above, by medians: as shipped \(of("tcptuned")), with cubic \(of("tcptuned, cubic")); \($all | map(select(.standing == "within the spread")) | length) of the rest only within the spread (least to most of three runs or more of each overlap), \($all | map(select(.below)) | length) below"'
}

# A line for each comparison that is not met, with what its rows have to say of why. A window of
# slow start that ended without a loss ended by the delay: of the sender cubic this is HyStart. A
# row has that of one of its connections. What the best column's runs did as well, at a window that
# is not a tenth larger, explains nothing.
# 500 us: what the emulator may be late where nothing else is said.
grid_explained() {
	rows_of grid '. as $rows
		| def runs_of($x; $c): [$rows[] | select(.x == $x and .column == $c and .goodput_bps)] | sort_by(.goodput_bps);
		def share(f): (f // 0) / ([.sender.busy_s, .elapsed_s] | max);
		def late: .link.late_p99_us // 0;
		def mbps: .goodput_bps / 1e6 | round;
		def left: if .retransmits == 0 and (.sender.ssthresh // 2147483647) != 2147483647
			then .sender.ssthresh else null end;
		def late_ms: late / 10 | round / 100;
		grid_cells[] | . as $cell | .own[] | select(.share and .standing != "met") | . as $own
		| runs_of($cell.x; .column) as $runs | runs_of($cell.x; $cell.best.column) as $best
		| $runs[0] as $slow | $runs[-1] as $fast
		| [
			(($runs | map(.retransmits) | add) as $r | ($best | map(.retransmits) | add) as $b
				| if $r > $b then "\($r) segments were retransmitted (\($cell.best.column): \($b))" else empty end),
			(if ($slow | late) > 500 and (($runs | length) == 1 or ($slow | late) > 2 * ($fast | late)) then
				[$rows[] | select(.x == $cell.x and .goodput_bps and late >= ($slow | late) and . != $slow)] as $late
				| "\(if ($runs | length) == 1 then "in the one run the emulator was \($slow | late_ms) ms late (p99)"
					else "in the slowest run the emulator was \($slow | late_ms) ms late (p99), in the best \($fast | late_ms) ms" end): whether that is why is not shown\(
					if $late == [] then "" else "; of \($late | length) other run\(if ($late | length) > 1 then "s" else "" end) of this cell, of all columns, in which it was as late, \($late | map(select(.goodput_bps > $slow.goodput_bps)) | length) carried more" end)" else empty end),
			(($slow | share(.sender.rwnd_limited_s)) as $s | ($best[-1] | share(.sender.rwnd_limited_s)) as $b
				| if $s > $b + 0.05 then "the receive window was the limit for \($s * 100 | round) % of the slowest run (\($cell.best.column): \($b * 100 | round) %)" else empty end),
			(($slow | share(.sender.sndbuf_limited_s)) as $s | ($best[-1] | share(.sender.sndbuf_limited_s)) as $b
				| if $s > $b + 0.05 then "the send buffer was the limit for \($s * 100 | round) % of the slowest run (\($cell.best.column): \($b * 100 | round) %)" else empty end),
			(($slow | left) as $at | ($best | map(left)) as $theirs
				| if $own.column == "tcptuned, cubic" and $at and all($theirs[]; . == null or . > 1.1 * $at)
				then "in the slowest run cubic left slow start at \($at) segments without a loss, as HyStart does when the delay rises (\($cell.best.column): \(if all($theirs[]; . == null) then "in no run" else ($theirs | map(select(.)) | min | "at \(.) or more") end))\(if $cell.streams > 1 then "; that is of one of \($cell.streams) connections, and what the others did is not in the rows" else "" end)" else empty end)
		] as $why
		| "- \($cell.x), \(.column): **\(.standing)**, \(.share * 100 | round) % of \($cell.best.column). Runs: \($runs | map("\(mbps)") | join(", ")) Mbit/s against \($best | map("\(mbps)") | join(", ")). \(if $why == [] then "Nothing in the rows explains it." else ($why | join("; ") | (.[:1] | ascii_upcase) + .[1:]) + "." end)"'
}

# Which tunings fill the link with one connection, at 0.5 ms
grid_fills() {
	awk -F';' '$1 == "default" && $2 == 0.5 && $3 == 1 {
		all = all (all == "" ? "" : ", ") $4
		if ($5 < 0.97 * 1000 * 1448 / 1500) not = not sprintf("%s%s (%.0f)", not == "" ? "" : ", ", $4, $5)
		else full = full (full == "" ? "" : "; ") $4 }
	END {
		if (all == "") printf "what one connection gets at 0.5 ms was not measured"
		else if (full == "") printf "one connection at 0.5 ms gets less than 97 %% with all of them: %s", not
		else printf "one connection at 0.5 ms gets 97 %% and more%s, which leaves next to nothing to gain there from more of them", not == "" ? "" : " in all columns but " not
	}' <<<"$grid"
}

# Of the whole grid, what has no run
grid_missing() {
	local rtt streams have rtts= counts=
	have=$(cut -d';' -f2 <<<"$grid" | sort -u)
	rtts=$(absent "$have" 0.5 25 50 100)
	have=$(cut -d';' -f3 <<<"$grid" | sort -u)
	counts=$(absent "$have" 1 2 4 8)
	not_measured "${rtts:+round-trip times of $rtts ms}${rtts:+${counts:+, and }}${counts:+connections: $counts}" \
		"BENCH_GRID=full bench/run grid"
	for rtt in $(cut -d';' -f2 <<<"$grid" | sort -gu); do
		for streams in $(cut -d';' -f3 <<<"$grid" | sort -nu); do
			grid_holes "$rtt" "$streams"
		done
	done | awk '{ printf "%s%s", (NR > 1 ? "; " : "\nWithout a valid run: "), $0 } END { if (NR) print "." }'
}

grid_holes() { # RTT_MS STREAMS
	local tuning buffers
	for buffers in default "kernel only" "user and kernel"; do
		for tuning in none kernel "by hand" "tcptuned, cubic" tcptuned; do
			case $buffers,$tuning in
			"kernel only,none" | "user and kernel,none" | "user and kernel,kernel") continue ;;
			esac
			[ -n "$(grid_value "$buffers" "$1" "$2" "$tuning")" ] ||
				echo "$buffers, $1 ms, $2, $tuning"
		done
	done
}

if [ -n "$grid" ]; then
grid_picture grid.png
cat <<TEXT

## Paper 000 (automatic tuning compared): the grid, Figures 2 to 10

128 messages of 1 MB in all, from the first byte sent to the last one read, over 1 Gbit/s without loss. *none*,
*kernel* and *tcptuned* stand where the paper has Linux 2.2 without autotuning, 2.4 with its own, and 2.4 with DRS;
*by hand*, cubic with the ideal sizes set by whom the row lets set them. In all of them the congestion control is
cubic, but *tcptuned* is as shipped, with bitcp. What each is in detail: the head of \`bench/bench_grid.sh\`. In the
picture the points of one number of connections stand beside each other, with least and most as bars; the panels of 0.5 ms do not begin
at 0, and "paper" is what its laws (below) and its text say.

![The grid](grid.png)

Goodput in Mbit/s, medians, in parentheses least, most, and how many runs; and the share of the best of none, kernel and by hand:

| buffers, RTT, connections | paper's figure | none | kernel | by hand | tcptuned, cubic | tcptuned | tcptuned, cubic / best other | tcptuned / best other |
|---|---|---|---|---|---|---|---|---|
$(rows_of grid 'def figure: if . >= 100 then round else . * 10 | round / 10 end;
	def cell: if . == null then "" elif .runs == 0 then "no result"
		elif .runs == 1 then "\(.median | figure) (1)"
		else "\(.median | figure) (\(.least | figure)-\(.most | figure), \(.runs))" end;
	def share($k): first(.own[] | select(.column == $k and .share)) // null
		| if . then "\(if .below then "**" else "" end)\(.share * 100 | round / 100)\(if .below then "**" else "" end)" else "" end;
	grid_cells[] | "\(.buffers);\(.rtt_ms);| \(.x) | FIGURE | \([.columns["none", "kernel", "by hand", "tcptuned, cubic", "tcptuned"] | cell] | join(" | ")) | \(share("tcptuned, cubic")) | \(share("tcptuned")) |"' |
	while IFS=';' read -r buffers rtt line; do
		echo "${line/FIGURE/$(grid_figure "$buffers" "$rtt")}"
	done)

$(grid_met)

$(grid_explained)
$(grid_missing)

The paper gives its figures as plots only. What its text says of them, beside the same of ours: medians, and in parentheses
what least and most of the runs would make of it. Ratio 1: within the paper's range. *No difference*: none of 3 % where the paper
has one; *the runs differ by more*: than the difference that the paper speaks of, or to both sides of it. DRS is tcptuned with cubic; 2.4's where the user sets buffers is *by hand*. Where the paper
says "as the number of processes increases", 4 and 8 of them are our reading.

| where | what | paper | ours | ratio |
|---|---|---|---|---|
$(grid_statements)

$(age_of_kernel=$age_of_shipped row_conditions grid) Without tuning a connection sends fewer messages where it takes long, since its rate is the same all the time.

We differ where the kernel of 2001 had a limit that today's does not have. Its autotuning could not offer more than 64 KB
for want of a window scale (section 4.2); today's can, and is held by the sender's buffer of 4 MB until the
maxima are larger. Its network card ended at $(paper_value 000 "section 4.1" nic Mbit/s) Mbit/s, and its
stack and processors below that, so that more connections helped; of the $(awk 'BEGIN { printf "%d", 1000 * 1448 / 1500 }') Mbit/s of
payload that our link has, $(grid_fills). $(rows_of grid 'map(select(.x == "user and kernel, 100 ms, 1" and .column == "by hand" and .goodput_bps) | .elapsed_s) | grid_median
	| if . then (134217728 * 8 / (1e9 * 1448 / 1500)) as $link | "And at 100 ms the link alone takes \($link * 100 | round / 100) s for 128 MB, of the \(. * 100 | round / 100) s that one connection with buffers by hand takes; the rest is the start." else "" end')
TEXT

# --- the fitted laws ---
# Least squares of the relative error, which is what the paper states: sum (1 - k x / y)^2.
laws=$(awk -F';' '$1 == "default" && $2 >= 25 { x = $3 / $2; y = $5; n[$4]++
		a[$4] += x / y; b[$4] += x * x / y / y; xs[$4, n[$4]] = x; ys[$4, n[$4]] = y }
	END { for (t in n) { k = a[t] / b[t]; worst = 0
		for (i = 1; i <= n[t]; i++) { e = k * xs[t, i] / ys[t, i] - 1; e = e < 0 ? -e : e
			if (e > worst) worst = e }
		printf "%s;%.0f;%.0f;%d\n", t, k, 100 * worst, n[t] } }' <<<"$grid")
if [ -n "$laws" ]; then
cat <<TEXT

### The laws of section 4.3: processes x k / delay

Mbit/s without any tuning, delay in ms, at 25 ms and more. The paper's hold within $(paper_value 000 law all "error %") %; ours are least squares of the
relative error over the cells of the row "default" above.

| tuning | the paper's | its k | our k | ratio | largest error of ours, % | cells |
|---|---|---|---|---|---|---|
$(for tuning in none kernel "tcptuned, cubic" tcptuned; do
	case $tuning in
	tcptuned*) name=drs label="2.4.17-DRS" ;;
	none) name=none label="2.2.20-None" ;;
	*) name=kernel label="2.4.17-Auto" ;;
	esac
	k=$(paper_value 000 law $name k)
	grep "^$tuning;" <<<"$laws" | while IFS=';' read -r _ ours error cells; do
		echo "| $tuning | $label | $k | $ours | $(awk "BEGIN { printf \"%.2f\", $ours / $k }") | $error | $cells |"
	done
done)

Conditions: those of the grid.

A law of this form says that each connection is limited by a fixed window, of k / 8 KB: $(awk -F';' '$1 == "none" { printf "%.0f", $2 / 8 }' <<<"$laws") KB for our none, what
today's kernel offers of a buffer of 128 KB, and $(awk -v k="$(paper_value 000 law none k)" 'BEGIN { printf "%.0f", k / 8 }') KB for the paper's, of the 32 KB that Linux 2.2 offered of 64. It is no law for
what has a window for the path and ends at the rate of the link: there the errors say so.
TEXT
fi

grid_verdict() { # COLUMN WHAT
	local of="[grid_cells[].own[] | select(.share and .column == \"$1\")]"
	verdict "paper 000: $2 at least equal to the best other column, within noise" \
		"$(rows_of grid "$of"' | "\(map(select(.standing == "met")) | length) of \(length) cells (the paper has 48) at 97 % of it or above, by medians; \(map(select(.standing == "within the spread")) | length) of the rest only within the spread, \(map(select(.below)) | length) below"')" \
		"$(rows_of grid "$of"' | if any(.below) then "not met" elif length > 0 then "met" else "not measured" end')"
}

grid_verdict tcptuned "tcptuned as shipped"
grid_verdict "tcptuned, cubic" "tcptuned with cubic"
fi

# --- Figure 5 ---
sizes=$(rows_of buffer_size 'map(select(.invalid | not)) | group_by([.x, .column])[]
	| (.[0].x | split(", ")) as $x | (map(.goodput_bps / 1e6) | grid_spread) as $s
	| ($x[1] | capture("(?<n>[0-9]+)(?<unit>[KM])")
		| (.n | tonumber) * {K: 1024, M: 1048576}[.unit]) as $bytes
	| [$x[0], $bytes, $x[2], .[0].column, $s.median, $s.least, $s.most, $x[1]]
	| map(tostring) | join(";")')

# KB, median, least, most; an empty line where a size that was tried has no valid run
size_points() { # RTT TUNING STREAMS
	{
		size_tried "$1"
		awk -F';' -v rtt="$1" -v t="$2" -v s="$3" '$1 == rtt && $3 == s && $4 == t {
			print $2, $5, $6, $7 }' <<<"$sizes"
	} | sort -g -k 1,1 | awk '
	function out() { if (bytes != "") print (point == "" ? "" : bytes / 1024 " " point) }
	$1 != bytes { out(); bytes = $1; point = "" }
	NF > 1 { point = $2 " " $3 " " $4 }
	END { out() }'
}

# The sizes in bytes that there are runs of, valid or not
size_tried() { # RTT
	rows_of buffer_size '[.[] | .x | split(", ")] | map(select(.[0] == "'"$1"'") | .[1]
		| capture("(?<n>[0-9]+)(?<unit>[KM])") | (.n | tonumber) * {K: 1024, M: 1048576}[.unit])
		| unique[]'
}

size_picture() { # FILE RTT
	local tuning streams plots= file n=0 mark size
	for tuning in "by hand" "tcptuned, cubic"; do
		for streams in $(cut -d';' -f3 <<<"$sizes" | sort -nu); do
			file=$work/size-$((n++))
			size_points "$2" "$tuning" "$streams" >"$file"
			grep -q . "$file" || continue
			mark=$((streams == 1 ? 1 : 2))
			size=1.4 # the wider mark behind
			[ "$tuning" != "by hand" ] || size=2.2
			plots+="${plots:+, }\"$file\" using 1:2:3:4 with yerrorbars lw 1 ps 0 $(colour_of_tuning "$tuning") notitle"
			plots+=", \"$file\" using 1:2 with linespoints lw 2 ps $size dt $mark pt $((3 + 2 * n)) $(colour_of_tuning "$tuning") title \"$tuning, $streams connection$([ "$streams" = 1 ] || echo s)\""
		done
	done
	{
		picture_head "$1" "Effect of buffer size, $2, 1 Gbit/s (paper 000, Figure 5)"
		echo 'set logscale x
set xlabel "SO_RCVBUF and SO_SNDBUF that each connection asks for, KB (log scale)"
set ylabel "goodput, Mbit/s"
set xtics (8, 16, 32, 64, 128, 256, 512, "1 MB" 1024, "2" 2048, "4" 4096, "8" 8192, "16" 16384, "32" 32768, "64 MB" 65536)
set xrange [6:90000]
set yrange [0:1060]
set key center right'
		awk -v best="$(paper_value 000 "Figure 5" best bytes)" -v rtt="${2% ms}" 'BEGIN {
			printf "set arrow from %g, graph 0 to %g, graph 1 nohead dt 3 lw 2 lc rgb \"black\"\n", best / 1024, best / 1024
			printf "set label \" the best of the paper\" at %g, graph 0.06 left\n", best / 1024
			bdp = rtt * 125000 / 1024
			printf "set arrow from %g, graph 0 to %g, graph 1 nohead dt 3 lw 2 lc rgb \"#888888\"\n", bdp, bdp
			printf "set label \"bandwidth x delay \" at %g, graph 0.06 right tc rgb \"#555555\"\n", bdp }'
		echo "plot $plots"
	} | gnuplot
}

# What was tried and has no valid run: TUNING, STREAMS: SIZE...
size_holes() { # RTT
	local tuning streams size list=
	for tuning in "by hand" "tcptuned, cubic"; do
		for streams in $(cut -d';' -f3 <<<"$sizes" | sort -nu); do
			size=$(comm -23 <(size_tried "$1" | sort) <(awk -F';' -v rtt="$1" -v t="$tuning" -v s="$streams" '
				$1 == rtt && $3 == s && $4 == t { print $2 }' <<<"$sizes" | sort) | sort -n |
				awk '{ printf "%s%g KB", (NR > 1 ? ", " : ""), $1 / 1024 }')
			[ -z "$size" ] || list+="${list:+; }$tuning, connections: $streams ($size)"
		done
	done
	echo "$list"
}

colour_of_tuning() {
	tuning_style "$1" | sed 's/ pt.*//'
}

if [ -n "$sizes" ]; then
cat <<TEXT

## Paper 000: the size of buffers, Figure 5

What an application gets that asks for so much for each connection, with maxima of 64 MB: obeyed (*by hand*), and
with tcptuned, which takes it for a wish.
TEXT
cut -d';' -f1 <<<"$sizes" | sort -gu | while read -r rtt; do
	file=buffer_size_${rtt% ms}.png
	size_picture "$file" "$rtt"
	printf '\n![Effect of buffer size, %s](%s)\n\nMbit/s:\n\n' "$rtt" "$file"
	awk -F';' -v rtt="$rtt" '
	function figure(x) { return x >= 100 ? sprintf("%.0f", x) : sprintf("%.3g", x) }
	$1 == rtt {
		value[$2, $4 ", " $3] = figure($5) ($6 != $7 ? " (" figure($6) "-" figure($7) ")" : "")
		columns[$4 ", " $3]; names[$2] = $8
	}
	END {
		m = asorti(columns, order)
		head = "| asked for"; line = "|---"
		for (i = 1; i <= m; i++) { head = head " | " order[i]; line = line "|---" }
		print head " |"; print line "|"
		n = asorti(names, bytes, "@ind_num_asc")
		for (j = 1; j <= n; j++) {
			row = "| " names[bytes[j]]
			for (i = 1; i <= m; i++)
				row = row " | " value[bytes[j], order[i]]
			print row " |"
		}
	}' <<<"$sizes"
	printf '\n| of Figure 5 | paper | ours | ratio to the paper'"'"'s best |\n|---|---|---|---|\n'
	awk -F';' -v rtt="$rtt" -v paper="$(paper_value 000 "Figure 5" best bytes)" '
		$1 == rtt && $4 == "by hand" && (!($3 in most) || $5 > most[$3]) { most[$3] = $5; at[$3] = $2; name[$3] = $8 }
		$1 == rtt && $4 == "by hand" { mbps[$3, $2] = $5; sizes[$2] = $8 }
		END { n = asorti(most, order, "@ind_num_asc")
			for (i = 1; i <= n; i++) { s = order[i]; least = 0
				largest = 0
				for (b in sizes) if (((s, b) in mbps) && mbps[s, b] >= 0.97 * most[s]) {
					if (!least || b + 0 < least) least = b + 0
					if (b + 0 > largest) largest = b + 0
				}
				printf "| by hand, connections: %d: the best size | %d KB | %s%s | %.2g |\n",
					s, paper / 1024, name[s], (least != largest ? " (within 3 % of it: " sizes[least] " to " sizes[largest] ")" : ""), at[s] / paper
				printf "| by hand, connections: %d: least size measured with 97 %% of that | - | %s | %.2g |\n",
					s, sizes[least], least / paper } }' <<<"$sizes"
done
echo
age_of_kernel=$age_of_shipped row_conditions buffer_size
cat <<TEXT

$(awk -F';' '$1 == "0.5 ms" && $3 == 1 && $4 == "by hand" { mbps[$2] = $5; name[$2] = $8; if ($5 > most) most = $5; if ($2 + 0 > largest) largest = $2 + 0 }
	END { if (65536 in mbps && mbps[65536] < 0.97 * most)
			printf "As in the paper the product of bandwidth and delay, 62.5 KB at 0.5 ms, is too little: two applications take turns with the processors, and what is in the buffer must last until then. "
		if (largest >= 8388608)
			printf "In the paper more memory than the best costs throughput; here %s gets %.0f %% of the best.", name[largest], 100 * mbps[largest] / most
	}' <<<"$sizes")
$(while read -r rtt; do
	tried=$(size_tried "$rtt ms" | awk '{ print $1 / 1024 }')
	[ -n "$tried" ] || continue
	holes=$(size_holes "$rtt ms")
	untried=$(absent "$tried" 8 16 32 64 128 256 512 1024 2048 4096 8192 16384 32768 65536)
	not_measured "${holes:+at $rtt ms without a valid run $holes}${holes:+${untried:+; }}${untried:+not tried at $rtt ms $untried KB}" \
		"BENCH_GRID=full BENCH_RTTS=$rtt bench/run buffer_size"
done < <(cut -d' ' -f1 <<<"$sizes" | sort -gu))
TEXT
else
	printf '\n## Paper 000: the size of buffers, Figure 5\n'
	not_measured "any of it" "BENCH_GRID=full bench/run buffer_size"
fi

# --- Table 1 ---
cat <<TEXT

## Paper 000: Table 1, with tcptuned

| tuning | level | changes | band | visibility |
|---|---|---|---|---|
$(awk -F, '$1 == "Table 1" { if (!($2 in row)) order[++n] = $2; row[$2] = row[$2] " | " $4 }
	END { for (i = 1; i <= n; i++) print "| " order[i] row[order[i]] " |" }' "$top/bench/research/papers/000.csv")

The last row is ours: it works in the kernel, without one that was changed, and measures each connection by its own
segments; applications see it only in what they ask of getsockopt(), and there it says what they set.
TEXT
