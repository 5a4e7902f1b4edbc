// SPDX-License-Identifier: GPL-2.0-only

// receive ADDRESS BYTES: reads what a server sends until its end, with SO_RCVBUF set to BYTES before
// connect(). Prints how many bytes there were.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"
)

func main() {
	size, _ := strconv.Atoi(os.Args[2])
	dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		var err error
		c.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, size)
		})
		return err
	}}
	connection, err := dialer.Dial("tcp", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	count, err := io.Copy(io.Discard, connection)
	fmt.Println(count)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
