# SPDX-License-Identifier: GPL-2.0-only
# What tests and measurements of tcptune-run share: a user without privileges, on host a, and servers on host b.

# What that user can reach, in the mount namespace of the test.
own=/mnt
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=$own)

prepare_own() {
	mount -t tmpfs -o mode=1777 tmpfs $own
	cp "$TEST_BUILD"/{tcptune-run,tcptune-preload.so,messages} \
		"$TEST_BUILD"/tests/system/{receive,confine,preload_rcvbuf.so} \
		"$TEST_TOP"/tests/system/{sockets,keep_alive}.py $own
}

build_receive_go() {
	HOME=$TEST_DIR GOCACHE=${TCPTUNED_CACHE:-/var/cache/tcptuned-tests}/go CGO_ENABLED=0 \
		go build -o $own/receive_go "$TEST_TOP/tests/system/receive.go"
}

serve_http() { # PORT BYTES
	background "http-$1" in_host b "$TEST_TOP/tests/system/http_ranges.py" 0.0.0.0 "$1" "$2"
	wait_printed "http-$1" listening
}

# Each connection receives as much.
serve_zeroes() { # PORT BYTES
	background "zeroes-$1" in_host b python3 -c "
import socket
server, piece = socket.create_server(('', $1)), bytes(100000)
print('listening', flush=True)
while True:
    with server.accept()[0] as connection:
        for sent in range(0, $2, len(piece)):
            connection.sendall(piece[:$2 - sent])"
	wait_printed "zeroes-$1" listening
}

# The files in $own, as module "files", at port 8730.
serve_rsync() {
	printf '[files]\npath = %s\nuse chroot = no\nuid = 0\n' $own >"$TEST_DIR/rsyncd.conf"
	background rsync in_host b rsync --daemon --no-detach --config="$TEST_DIR/rsyncd.conf" --port=8730
	wait_output != "" in_host b ss -Hltn "sport = :8730"
}
