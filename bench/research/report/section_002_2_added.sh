# SPDX-License-Identifier: GPL-2.0-only
# Paper 002: clients added to 20 and to 40 with Reno, Figures 5 to 12.

if [ -z "$(lines_of added)" ]; then
	printf '\n## Paper 002: clients added to Reno'"'"'s, Figures 5 to 12\n'
	not_measured "all of them" "bench/research/sim/run short '^added'"
else

added_all=$(many_clients added)

# The algorithm's colour, the gateway's line and mark.
added_style() { # ALGORITHM GATEWAY
	local colour
	case $1 in
	tt_reno) colour="#b2182b" ;;
	tt_vegas) colour="#4575b4" ;;
	*) colour="#1b7837" ;;
	esac
	case $2 in
	FIFO-*) echo "lc rgb \"$colour\" pt 7" ;;
	RED2) echo "lc rgb \"$colour\" dt 3 pt 4" ;;
	*) echo "lc rgb \"$colour\" dt 2 pt 8" ;;
	esac
}

added_title() { # ALGORITHM GATEWAY
	case $2 in
	FIFO-*) echo "${1#tt_}" ;;
	RED-*) echo "${1#tt_}, RED" ;;
	*) echo "${1#tt_}, $2" ;;
	esac
}

added_plots() { # BACKGROUND WHAT GATEWAY...
	local background=$1 what=$2 algorithm gateway file plots=
	shift 2
	for algorithm in tt_reno tt_vegas bitcp; do
		for gateway; do
			file=$work/added-$background-$what-$algorithm-$gateway
			awk -F '\t' -v name="$algorithm; $background Reno clients; $gateway" -v what="$what" \
				'$1 == name && $3 == what { print $2, $4 }' <<<"$added_all" >"$file"
			[ -s "$file" ] || continue
			plots+="${plots:+, }\"$file\" using 1:2 with linespoints lw 2 ps 1.2 $(added_style "$algorithm" "$gateway") title \"$(added_title "$algorithm" "$gateway")\""
		done
	done
	[ -z "$plots" ] || echo "plot $plots"
}

added_picture() { # FILE TITLE BACKGROUND GATEWAY...
	local file=$1 title=$2
	shift 2
	{
		echo "set terminal pngcairo size 1100,560 font \"sans,10\" noenhanced
set output \"$out/$file\"
set multiplot layout 1,2 title \"$title\"
set grid
set key below
set bmargin 8
set xlabel \"clients added to $1 with Reno\"
set xrange [0:*]
set offsets graph 0, graph 0.05, 0, 0
set yrange [0:*]
set ylabel \"delivered of the added clients, Mbit/s\""
		added_plots "$1" mbps "${@:2}"
		echo 'set ylabel "lost at the gateway, % of what arrived of the added"'
		added_plots "$1" loss_percent "${@:2}"
		echo 'unset multiplot'
	} | gnuplot
}

# reno, vegas, bitcp beside each other; the background's share in brackets
added_table() { # BACKGROUND GATEWAY...
	local background=$1
	shift
	echo "| gateway, added | Mbit/s: reno | vegas | bitcp | vegas / reno | bitcp / reno | lost, %: reno | vegas | bitcp | c.o.v.: reno | vegas | bitcp | Mbit/s of the background: beside reno | vegas | bitcp |"
	echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
	awk -F '\t' -v background="$background" -v gateways="$*" '
	{ value[$1, $2, $3] = $4; if (index($1, "; " background " Reno clients; ")) xs[$2] }
	function cells(gateway, x, what, format,	i, s, v) {
		for (i = 1; i <= 3; i++) {
			v = value[a[i] "; " background " Reno clients; " gateway, x, what]
			s = s " " (v == "" ? "" : sprintf(format, v)) " |"
		}
		return s
	}
	function any(gateway, x,	i) {
		for (i = 1; i <= 3; i++)
			if ((a[i] "; " background " Reno clients; " gateway, x, "mbps") in value)
				return 1
		return 0
	}
	function ratio(gateway, x, i,	v, r) {
		v = value[a[i] "; " background " Reno clients; " gateway, x, "mbps"]
		r = value[a[1] "; " background " Reno clients; " gateway, x, "mbps"]
		return v == "" || !r ? " |" : sprintf(" %.2f |", v / r)
	}
	END {
		split("tt_reno tt_vegas bitcp", a, " ")
		n = split(gateways, g, " ")
		m = 0
		for (x in xs) order[++m] = x + 0
		for (i = 2; i <= m; i++)
			for (j = i; j > 1 && order[j] < order[j - 1]; j--) {
				t = order[j]; order[j] = order[j - 1]; order[j - 1] = t
			}
		for (k = 1; k <= n; k++)
			for (i = 1; i <= m; i++) {
				x = order[i]
				if (!any(g[k], x))
					continue
				print "| " g[k] ", " x " |" cells(g[k], x, "mbps", "%.1f") ratio(g[k], x, 2) \
					ratio(g[k], x, 3) cells(g[k], x, "loss_percent", "%.2f") \
					cells(g[k], x, "cov", "%.3f") cells(g[k], x, "mbps_background", "%.1f")
			}
	}' <<<"$added_all"
}

# In how many cells A's WHAT is below B's, of those in which either is above 0.005: "n of m"
added_less() { # A B WHAT GATEWAY-PATTERN
	awk -F '\t' -v a="$1" -v b="$2" -v what="$3" -v pattern="$4" '$3 == what {
		name = $1; sub(/;.*/, "", name); rest = $1; sub(/^[^;]*; /, "", rest)
		if (rest ~ pattern) { value[name, rest, $2] = $4; keys[rest SUBSEP $2] } }
	END { for (k in keys) if (((a, k) in value) && ((b, k) in value) && (value[a, k] > 0.005 || value[b, k] > 0.005)) {
			n++; less += value[a, k] < value[b, k] }
		printf "%d of %d", less, n }' <<<"$added_all"
}

# The gateways of GATEWAY... that there are points of, with BACKGROUND
added_has() { # BACKGROUND GATEWAY...
	local background=$1 gateway
	shift
	for gateway; do
		! cut -f1 <<<"$added_all" | grep -q "; $background Reno clients; $gateway\$" || echo "$gateway"
	done
}

# What has no point: a gateway, or some algorithms of it at some of the numbers of clients
added_missing() { # BACKGROUND GATEWAY...
	local background=$1
	shift
	awk -F '\t' -v background="$background" -v gateways="$*" '
	$3 == "mbps" && index($1, "; " background " Reno clients; ") { has[$1, $2]; xs[$2] }
	END {
		PROCINFO["sorted_in"] = "@ind_num_asc"
		n = split(gateways, g, " "); split("tt_reno tt_vegas bitcp", a, " ")
		for (k = 1; k <= n; k++) {
			list = ""; points = 0
			for (x in xs)
				for (i = 1; i <= 3; i++)
					if ((a[i] "; " background " Reno clients; " g[k], x) in has) {
						points++
					} else {
						name = a[i]; sub(/^tt_/, "", name)
						list = list (list == "" ? "" : ", ") name " with " x
					}
			if (!points)
				list = "any"
			if (list != "")
				all = all (all == "" ? "" : "; ") g[k] ": " list
		}
		print all
	}' <<<"$added_all"
}

# A picture and its place in the text, if there is anything to see on it.
added_figure() { # FILE BACKGROUND FIGURES QUEUE GATEWAY...
	local file=$1 background=$2 figures=$3 queue=$4
	shift 4
	[ -n "$(added_has "$background" "$@")" ] || return 0
	added_picture "$file" "$background Reno clients, queue of $queue packets (paper 002, Figures $figures)" \
		"$background" "$@"
	printf '![Figures %s](%s)\n\n' "$figures" "$file"
}

added_section() { # BACKGROUND FIGURES-50 FIGURES-1500
	printf '\n### %s clients with Reno in the background, Figures %s (queue of 50) and %s (1500)\n' "$@"
	if [ -n "$(lines_of added ",$1 Reno clients;")" ]; then
		echo
		added_figure "added_$1_50.png" "$1" "$2" 50 FIFO-50 RED-50
		added_figure "added_$1_1500.png" "$1" "$3" 1500 FIFO-1500 RED1 RED2
		added_table "$1" FIFO-50 RED-50 FIFO-1500 RED1 RED2
	fi
	not_measured "$(added_missing "$1" FIFO-50 RED-50 FIFO-1500 RED1 RED2)" \
		"bench/research/sim/run short '^added.*$1 Reno clients'"
}

cat <<TEXT

## Paper 002: clients added to Reno's, Figures 5 to 12

Beside $(paper_value 002 "Section 3.2.1" "background clients" "") and $(paper_value 002 "Section 3.2.2" "background clients" "") clients with Reno, more with the algorithm in question; what is shown is of those. Queue of
$(paper_value 002 "Table 1" "queue packets" "") packets (RED with thresholds of $(paper_value 002 "Table 1" "red min_th" "") and $(paper_value 002 "Table 1" "red max_th" "")) and of $(paper_value 002 "Section 3.2.1" "large queue packets" "") (RED1: $(paper_value 002 "Section 3.2.1" "red1 min_th" "") and $(paper_value 002 "Section 3.2.1" "red1 max_th" ""); RED2: $(paper_value 002 "Section 3.2.1" "red2 min_th" "") and $(paper_value 002 "Section 3.2.1" "red2 max_th" "")). The c.o.v. is
that of all. The paper prints no values of these figures.
TEXT
# Least and most of A's WHAT over B's
added_ratios() { # A B WHAT GATEWAY-PATTERN
	awk -F '\t' -v a="$1" -v b="$2" -v what="$3" -v pattern="$4" '$3 == what {
		name = $1; sub(/;.*/, "", name); rest = $1; sub(/^[^;]*; /, "", rest)
		if (rest ~ pattern) { value[name, rest, $2] = $4; keys[rest SUBSEP $2] } }
	END { for (k in keys) if (((a, k) in value) && value[b, k]) {
			r = value[a, k] / value[b, k]
			if (!n++ || r < least) least = r
			if (n == 1 || r > most) most = r }
		if (n) printf "%.2f to %.2f", least, most }' <<<"$added_all"
}

added_section 20 "5 and 6" "7 and 8"
added_section 40 "9 and 10" "11 and 12"
cat <<TEXT

What the paper's text says of these figures, beside the same of ours; n of m: of the points above at which either loses
anything. Of 6 and 10 it says that Vegas outperforms Reno, or performs admirably; that this is of losses, too, is our reading.

| figures | paper | vegas, ours | bitcp, ours |
|---|---|---|---|
| 5, 9 (queue of 50) | Vegas delivers more than Reno: times as much | $(added_ratios tt_vegas tt_reno mbps -50) | $(added_ratios bitcp tt_reno mbps -50) |
| 6, 10 (queue of 50) | Vegas loses less than Reno | $(added_less tt_vegas tt_reno loss_percent -50) | $(added_less bitcp tt_reno loss_percent -50) |
| 7, 11 (queue of 1500) | throughput is nearly the same: times as much | $(added_ratios tt_vegas tt_reno mbps '1500|RED[12]') | $(added_ratios bitcp tt_reno mbps '1500|RED[12]') |
| 8, 12 (queue of 1500) | Vegas loses less than Reno | $(added_less tt_vegas tt_reno loss_percent '1500|RED[12]') | $(added_less bitcp tt_reno loss_percent '1500|RED[12]') |

With 60 clients and windows of 20, at most 1200 packets are on the way: a queue
of 1500 without RED never loses one. Our Vegas gives up a quarter of its window at a loss; how it reads its paper stands with
Figures 2 to 4.$(awk -F '\t' -v some="$(paper_value 002 "Section 3.2.1" "background clients" "")" -v filled="$(paper_value 002 "Section 3.2.2" "background clients" "")" '$3 == "mbps" || $3 == "loss_percent" {
	name = $1; sub(/;.*/, "", name); rest = $1; sub(/^[^;]*; /, "", rest)
	if (rest ~ /FIFO-1500/) { value[name, rest, $2, $3] = $4; keys[rest SUBSEP $2] } }
	END { for (k in keys) {
			v = value["tt_vegas", k, "mbps"]; r = value["tt_reno", k, "mbps"]
			if (v == "" || !r) continue
			all++
			if (v / r < 0.95 && value["tt_vegas", k, "loss_percent"] < 0.005) {
				q = v / r; if (!n++ || q < least) least = q; if (q > most) most = q
				if (k + 0 >= filled) full++; else half++ } }
		if (n) printf " With the queue of 1500 without RED it gets %.2f to %.2f of what Reno does at %d of %d points, without a loss: not losses keep it\nback, but its own rule. It wants one to three packets of its own in the queue and yields to the delay that Reno makes there. Ours begin all within\na second, on an empty link.", least, most, n, all
		if (full) printf " With %s Reno clients (section 3.2.2) the paper adds the others to a link that those have saturated, so that the least RTT\nthat its Vegas sees may have the queue in it: that is likely why the throughputs are nearly the same there and are not here.", filled
		if (half) printf " With %s (section 3.2.1) only half of\nthe link is taken there, and why ours differ is not shown.", some }' <<<"$added_all")

$(lines_of added | conditions)
TEXT
fi
