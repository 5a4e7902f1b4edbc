# SPDX-License-Identifier: GPL-2.0-only
# The tools, with the options that tcptunectl streams prints for them: they open as many connections as it
# advises, no more for two files, receive all data undamaged, and gain half of what it predicts or more. The server
# sends 10 Mbit/s to each connection, and the path carries 50 of them, so that n connections carry n times what one
# does; on a busy host the search may end early. HTTP/2 would use one connection for all: the server chooses it if a
# client offers it, and then cannot serve it.

bytes=$((8 << 20)) url=https://10.99.0.2:8000

path_to_server() {
	CONGESTION=reno host a b
	link a b --rate 500mbit --delay 10ms
	openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=b -addext subjectAltName=IP:10.99.0.2 \
		-keyout "$TEST_DIR/key" -out "$TEST_DIR/certificate" 2>"$TEST_DIR/said"
	cat "$TEST_DIR/certificate" >>"$TEST_DIR/key"
	# of the tools, which find no configuration there
	export HOME=$TEST_DIR CURL_CA_BUNDLE=$TEST_DIR/certificate SSL_CERT_FILE=$TEST_DIR/certificate
	head -c $bytes /dev/urandom >"$TEST_DIR/file"
}

# Serves the file under any name.
serve() {
	[ -z "${LIB_PID[http]-}" ] || stop http || :
	background http in_host b "$TEST_TOP/tests/system/http_ranges.py" 10.99.0.2 8000 "$TEST_DIR/file" \
		paced "$TEST_DIR/key"
	wait_printed http listening
}

# --- the recipes of tcptunectl(8): they receive FILE... into the current directory, with $options -------------
receive_by_rclone() { # FILE...
	local from=":http:$1"
	printf '%s\n' "$@" >"$TEST_DIR/files"
	[ $# = 1 ] || from="--no-traverse --files-from $TEST_DIR/files :http:"
	in_host a rclone copy $options --quiet --http-url $url $from .
}

receive_by_aria2() { # FILE...
	printf "$url/%s\n" "$@" >"$TEST_DIR/files"
	in_host a aria2c $options --quiet --ca-certificate "$SSL_CERT_FILE" --input-file "$TEST_DIR/files"
}

receive_by_curl() { # FILE...
	local file size at
	for file; do
		size=$(in_host a curl --http1.1 --silent --head --output /dev/null \
			--write-out '%header{content-length}' $url/$file)
		for at in $(seq 0 1048576 $((size - 1))); do
			printf 'next\nhttp1.1\nfail\nurl = %s\nrange = %d-%d\noutput = %s.%012d\n' \
				$url/$file $at $((at + 1048575)) $file $at
		done
	done | in_host a curl $options --no-progress-meter --config -
	for file; do
		cat "$file".* >"$file"
	done
}

# Receives FILE... with the options for at most so many connections. Sets $streams, their number, and $rate, in Mbit/s.
receive() { # TOOL STREAMS FILE...
	local began file
	serve
	options=$(in_host a "${tcptunectl[@]}" streams --probe http --probe-time 24 --max-streams "$2" \
		--for "$1" $url/file)
	note "$options"
	streams=${options##*[ =]} # the last one of them, with every tool
	expect_between "$streams" 1 "$2" "connections advised"
	serve # with an empty log
	mkdir "$TEST_DIR/received-$2"
	cd "$TEST_DIR/received-$2"
	began=$EPOCHREALTIME
	"receive_by_$1" "${@:3}"
	rate=$(awk -v a="$began" -v b="$EPOCHREALTIME" -v bytes=$((($# - 2) * bytes)) \
		'BEGIN { print 8 * bytes / (b - a) / 1e6 }')
	for file in "${@:3}"; do
		cmp "$TEST_DIR/file" "$file"
	done
	expect_eq "$(sort -n "$TEST_DIR/http.log" | tail -n 1)" "$streams" "connections of $1 at a time"
	# The first ten segments of a connection are not paced.
	expect_le "$rate" $((streams * 10 + 1)) "Mbit/s of $1 with $streams"
}

# The gain that the number promises, of which the start of the tool and of its connections takes a part.
recipe() { # TOOL
	local one streams
	path_to_server
	receive "$1" 1 one
	one=$rate
	receive "$1" 3 one two
	expect_ge "$(awk -v n="$rate" -v one="$one" 'BEGIN { print 2 * n / one }')" "$streams" \
		"times half of the rate of one connection"
}

test_recipes_rclone() {
	recipe rclone
}

test_recipes_aria2() {
	recipe aria2
}

test_recipes_curl() {
	recipe curl
}
