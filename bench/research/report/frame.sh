#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# frame.sh DESTINATION PICTURES [SIM.csv [RESULTS [KERNELS.csv]]]
#
# Runs the sections that are not yet ported to Python, for make.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../../.." && pwd)
destination=$1
out=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/verdicts"

# Sets the array FILES: the files to read, GIVEN, or what was kept and then what was measured here.
files_of() { # GIVEN KEPT BUILT COMMAND
	local file
	files=()
	for file in "${1:-$top/bench/$2}" ${1:+""} "$top/build/bench/$3"; do
		[ -n "$file" ] || break
		[ ! -s "$file" ] || files+=("$file")
	done
	[ ${#files[@]} != 0 ] || {
		echo "report: ${1:-bench/$2}: nothing there; $4 measures" >&2
		return 1
	}
}

files_of "${3-}" research/results/kernels.csv kernels.csv bench/research/kernels/run || :
kernels=("${files[@]}")
files_of "${1-}" research/results/sim.csv sim.csv bench/research/sim/run

# Of several measurements of the same thing the last one counts.
awk -F, 'FNR > 1 { key = $1; for (i = 2; i <= 7; i++) key = key FS $i; line[key] = $0 }
	END { for (key in line) print line[key] }' "${files[@]}" "${kernels[@]}" | sort >"$work/all.csv"

# One file for each bench.
files_of "${2-}" results/results.json.gz results.json bench/run
for i in "${!files[@]}"; do
	zcat -f "${files[i]}" >"$work/results-$i.json"
	files[i]=$work/results-$i.json
done
jq -rn '[inputs | {file: input_filename, row: .}] as $all
	| ($all | last.file) as $last
	| ($all | map(select(.file == $last and (.row.invalid | not)) | {key: (.row | "\(.bench);\(.x);\(.column)"), value: 1})
		| from_entries) as $newer
	| $all[] | select(.file == $last or $newer[.row | "\(.bench);\(.x);\(.column)"] != 1)
	| .row | "\(.bench)\t\(tojson)"' "${files[@]}" |
	awk -F '\t' -v work="$work" '{ print substr($0, length($1) + 2) >(work "/rows-" $1) }'

# EXPERIMENT [PATTERN]: its lines
lines_of() {
	grep "^$1," "$work/all.csv" | grep -e "${2-}" || :
}

# From lines: of the same queue and rate only those of the longest runs.
longest() {
	awk -F, '{ seconds = $5; sub(/.*; /, "", seconds); split($5, queue, " ")
		k = $2 FS $3 FS $4 FS queue[1]
		if (seconds + 0 > most[k]) most[k] = seconds + 0
		line[NR] = $0; key[NR] = k; length_of[NR] = seconds + 0 }
	END { for (i = 1; i <= NR; i++) if (length_of[i] == most[key[i]]) print line[i] }'
}

# From text with "commit A, B": the same, and a footnote for what is behind those commits.
aged() {
	local text commit part since=
	text=$(cat)
	for commit in $(grep -o 'commit [0-9a-f]\{7,\}[^;]*' <<<"$text" | grep -o '[0-9a-f]\{7,\}' | sort -u); do
		# shellcheck disable=SC2086
		part=$(git -C "$top" diff --name-only "$commit" HEAD -- $age_of 2>/dev/null) || continue
		since+=$part$'\n'
	done
	since=$(sed 's|.*/||' <<<"$since" | sort -u | grep . | paste -sd , | sed 's/,/, /g') || :
	[[ $text != *-dirty* ]] || text+=" *-dirty*: with changes that were not committed by then."
	[ -z "$since" ] || text+=" Changed since one of these commits: $since."
	echo "$text"
}

# What of the sources decides what a congestion control does, anywhere, in the kernel, and what
# decides how large buffers are
age_of="include/tcptuned/algo/congestion.h include/tcptuned/algo/bitcp.h bench/cc/*.h"
age_of_kernel="$age_of bpf/cc/* bench/cc/*.bpf.c"
age_of_shipped="include/tcptuned/algo/congestion.h include/tcptuned/algo/bitcp.h bpf/cc/*"
age_of_tuning="include/tcptuned/algo/rightsize.h bpf/tuner.bpf.c bpf/receiver.h bpf/sender.h"

# From lines: how they were made, as a sentence. ns-3 is that of bench/research/sim/packages.
conditions() {
	awk -F, '$2 == "ns-3" { simulated = "Debian 12'"'"'s ns-3 3.37; " }
	{ seeds[$6]; commits[$10]; dates[substr($11, 1, 10)]; conditions[$5]
		point = $2 FS $3 FS $4 FS $5
		if (!((point, $6) in seen)) { seen[point, $6]; runs[point]++ } }
	function list(a, between,	s, k) {
		for (k in a) s = s (s == "" ? "" : between) k
		return s
	}
	END {
		PROCINFO["sorted_in"] = "@ind_str_asc"
		for (point in runs) {
			if (!least || runs[point] < least) least = runs[point]
			if (runs[point] > most) most = runs[point]
		}
		how = list(conditions, " | ")
		gsub(/droptail/, "drop-tail", how)
		printf "Conditions: %s%s%s %s; %s; commit %s; %s.\n", simulated, (how == "" ? "" : how "; "),
			(length(seeds) > 1 ? "seeds" : "seed"), list(seeds, ", "),
			(most == 1 ? "one run of each, so that no spread is known" : \
			"runs of each: " (least == most ? most : least " to " most)),
			list(commits, ", "), list(dates, ", ")
	}' | aged
}

# From lines of dumbbell: the runs in which ns-3 gave connections up, as a sentence.
given_up() {
	awk -F, '$7 == "given_up" && $8 > 0 { split($5, queue, " ")
			s = s sprintf("%s%d with %s at %s, %s", s == "" ? "" : "; ", $8, $3, $4, queue[1]) }
		END { if (s != "") print "ns-3 gave up, after six retransmissions in a row: " s "." }'
}

# BENCH [FILTER]: what bench/run measured, through jq -r FILTER with all rows as an array
rows_of() {
	local file=$work/rows-$1
	[ -e "$file" ] || file=/dev/null
	jq -L "$top/bench" -rs 'include "grid"; '"${2-.[]}" "$file"
}

# What the sentences about conditions have in common; from an array of rows
row_sentences='def list(f): map(f | select(. != null and . != "")) | unique | map(tostring) | join(", ");
	def count_of($runs; $more): if $runs == [] then "no valid run" elif ($runs | max) == 1
		then "one run of each, so that no spread is known"
		else "runs of each: \($runs | min)\(if ($runs | max) > ($runs | min) then " to \($runs | max)" else "" end)\($more)" end;
	def seeds: list(.seed) | if . == "" then "" else "; seed \(.)" end;
	def tolerated: list(.link.tolerance) | if . == "" or . == "1" then ""
		else "; the emulator was allowed \(.) times its usual lateness" end;'

# How they were measured, as a sentence.
row_conditions() { # BENCH
	rows_of "$1" "$row_sentences"'
		map(select(.invalid | not)) as $valid
		| ($valid | group_by([.x, .column]) | map(length)) as $runs
		| "Conditions: linkem between two hosts on one machine of two cores, Linux \($valid | list(.kernel)); commit \($valid | list(.commit)); \($valid | list(.date[:10])); \(count_of($runs; ", medians, least and most in parentheses"))\($valid | seeds)\($valid | tolerated); runs that the emulator spoiled: \(length - ($valid | length))."' |
		age_of="$age_of_kernel $age_of_tuning" aged
}

# What has not been measured, and the command that measures it; nothing if WHAT is empty.
not_measured() { # WHAT COMMAND
	[ -z "$1" ] || printf '\nNot measured: %s. `%s` measures it.\n' "$1" "$2"
}

# Of NAMEs those that are not among the lines of HAVE, in a list.
absent() { # HAVE NAME...
	local have=$1 name list= between=', '
	shift
	[[ $* != *,* ]] || between='; '
	for name; do
		grep -qxF -e "$name" <<<"$have" || list+=${list:+$between}$name
	done
	echo "$list"
}

# A line of the table that the report begins with. VERDICT: met, "not met", or what else can be
# said
verdict() { # WHAT FOUND VERDICT
	local mark=$3
	[[ $3 != "not met"* ]] || mark="**not met**${3#not met}"
	echo "| $1 | $2 | $mark |" >>"$work/verdicts"
}

# One value of bench/research/papers/PAPER.csv
paper_value() { # PAPER WHERE WHAT X
	awk -F, -v where="$2" -v what="$3" -v x="$4" \
		'$1 == where && $2 == what && $3 == x { print $4 }' "$top/bench/research/papers/$1.csv"
}

# COUNT WHAT: "1 run", "2 runs"
several() {
	[ "$1" = 1 ] && echo "1 $2" || echo "$1 $2s"
}

# Where lists of points are drawn, the colours and marks of the algorithms.
style() { # ALGORITHM
	case ${1#ns3-} in
	bitcp | bic) echo 'lc rgb "#1b7837" pt 7' ;;
	aimd) echo 'lc rgb "#4575b4" pt 5' ;;
	hstcp | highspeed) echo 'lc rgb "#b2182b" pt 9' ;;
	stcp | scalable) echo 'lc rgb "#e08214" pt 13' ;;
	*) echo 'lc rgb "#555555" pt 11' ;;
	esac
}

colour() { # ALGORITHM
	style "$1" | sed 's/ pt.*//'
}

picture_head() { # FILE TITLE
	printf 'set terminal pngcairo size 900,560 font "sans,11" noenhanced\n'
	printf 'set output "%s"\nset title "%s"\nset grid\n' "$out/$1" "$2"
}

for frame_section in "$here"/section_*.sh; do
	frame_name=$(basename "$frame_section" .sh)
	: >"$work/verdicts"
	# shellcheck source=/dev/null
	. "$frame_section" >"$destination/$frame_name.md"
	cp "$work/verdicts" "$destination/$frame_name.verdicts"
done
