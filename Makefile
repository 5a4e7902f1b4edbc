# SPDX-License-Identifier: GPL-2.0-only
# tcptuned: `make help` lists what there is.

PREFIX     ?= /usr/local
SYSCONFDIR ?= /etc
UNITDIR    ?= $(if $(filter /usr,$(PREFIX)),/lib/systemd/system,/etc/systemd/system)
DESTDIR    ?=
BUILD      ?= build
CC         ?= cc
CLANG      ?= clang
BPFTOOL    ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
PKG_CONFIG ?= pkg-config
INSTALL    ?= install

VERSION := 0.1.0

SYSTEM_HELPERS = $(BUILD)/sockets $(BUILD)/rightedge $(BUILD)/connections

WARN     := -Wall -Wextra -Wno-unused-parameter
CFLAGS   ?= -O2 -g
MULTIARCH := $(shell $(CC) -print-multiarch)
HOSTFLAGS = $(WARN) -std=gnu11 -D_GNU_SOURCE -Iinclude -Idaemon -Ictl -I$(BUILD)/skel -MMD -MP \
	    -DTCPTUNED_VERSION='"$(VERSION)"'
BPFFLAGS := -O2 -g $(WARN) -target bpf -mcpu=v3 -Iinclude -Ibpf -I/usr/include/$(MULTIARCH) -MMD -MP
SANITIZE  = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
LIBS      = $(shell $(PKG_CONFIG) --libs libbpf libsystemd libmicrohttpd jansson sqlite3) -lelf -lz
CTL_LIBS  = $(shell $(PKG_CONFIG) --libs jansson)

.PHONY: all others help check check-unit check-asan check-sim check-system check-kernels check-systemd fuzz man \
	demo bench bench-cc bench-full bench-sim bench-sim-full bench-kernels bench-kernels-full report sim stress install uninstall clean
all: $(BUILD)/tcptuned $(BUILD)/tcptunectl $(BUILD)/linkem $(BUILD)/messages $(BUILD)/pingpong $(BUILD)/windows $(BUILD)/poisson $(SYSTEM_HELPERS) $(BUILD)/assigns.bpf.o man ## build everything

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

# --- the kernel side: one object and one skeleton per .bpf.c ---------------------------
BPF_NAMES := bitcp rightsize flows
SKELETONS := $(BPF_NAMES:%=$(BUILD)/skel/%.skel.h)

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c
	@mkdir -p $(@D)
	$(CLANG) $(BPFFLAGS) -c $< -o $@

$(BUILD)/skel/%.skel.h: $(BUILD)/bpf/%.bpf.o
	@mkdir -p $(@D)
	$(BPFTOOL) gen skeleton $< name $*_bpf >$@.new && mv $@.new $@

# --- the daemon: a library for the tests, and main --------------------------------------
DAEMON_SRC := $(filter-out daemon/main.c,$(wildcard daemon/*.c daemon/*/*.c))
DAEMON_OBJ := $(DAEMON_SRC:daemon/%.c=$(BUILD)/daemon/%.o)

$(BUILD)/daemon/%.o: daemon/%.c | $(SKELETONS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(HOSTFLAGS) -c $< -o $@

$(BUILD)/daemon/kern/loader.o: $(SKELETONS)

$(BUILD)/libtcptuned.a: $(DAEMON_OBJ)
	rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/tcptuned: $(BUILD)/daemon/main.o $(BUILD)/libtcptuned.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# --- tcptunectl, on what of the same library needs no kernel -------------------------------------------------------
CTL_SRC := $(filter-out ctl/main.c,$(wildcard ctl/*.c))
CTL_OBJ := $(CTL_SRC:ctl/%.c=$(BUILD)/ctl/%.o)

$(BUILD)/ctl/%.o: ctl/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(HOSTFLAGS) -c $< -o $@

$(BUILD)/libtcptunectl.a: $(CTL_OBJ)
	rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/tcptunectl: $(BUILD)/ctl/main.o $(BUILD)/libtcptunectl.a $(BUILD)/libtcptuned.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CTL_LIBS)

# --- the link emulator and the transfer program ------------------------------------------
LINKEM_OBJ := $(patsubst bench/linkem/%.c,$(BUILD)/linkem.d/%.o,$(wildcard bench/linkem/*.c))

$(BUILD)/linkem.d/%.o: bench/linkem/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(HOSTFLAGS) -c $< -o $@

$(BUILD)/liblinkem.a: $(filter-out %/main.o,$(LINKEM_OBJ))
	rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/linkem: $(BUILD)/linkem.d/main.o $(BUILD)/liblinkem.a
	$(CC) $(CFLAGS) $(LDFLAGS) -pthread -o $@ $^ -lm

$(BUILD)/messages: bench/messages.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(HOSTFLAGS) $(LDFLAGS) -pthread -o $@ $< -lm

$(BUILD)/windows: bench/kernels/windows.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(HOSTFLAGS) $(LDFLAGS) -o $@ $<

$(BUILD)/pingpong: bench/pingpong.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(HOSTFLAGS) $(LDFLAGS) -o $@ $<

$(BUILD)/poisson: bench/poisson.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(HOSTFLAGS) $(LDFLAGS) -o $@ $< -lm

# --- what benches load with bpftool: the comparison congestion controls, and a counter of segments
BENCH_BPF := $(patsubst %.bpf.c,$(BUILD)/%.bpf.o,$(wildcard bench/cc/*.bpf.c bench/*.bpf.c))

bench-cc: $(BENCH_BPF) ## build the congestion controls that bitcp is compared with

$(BUILD)/bench/%.bpf.o: bench/%.bpf.c
	@mkdir -p $(@D)
	$(CLANG) $(BPFFLAGS) -c $< -o $@

# --- the simulations: ns-3 (bench/sim/packages) and the numeric model -------------------------
# ns-3's headers are a system's, whose warnings are its own.
SIM_FLAGS = -O2 $(WARN) -std=c++17 -Iinclude -Ibench/cc -Ibench/sim -MMD -MP
SIM_LIBS  = -lns3-applications -lns3-point-to-point -lns3-internet -lns3-traffic-control \
	    -lns3-bridge -lns3-network -lns3-stats -lns3-core
SIM_NS3   = $(BUILD)/sim/response $(BUILD)/sim/dumbbell $(BUILD)/sim/clients
SIM_MODELS = $(addprefix $(BUILD)/sim/,coarse model parameters readings stochastic)

sim: $(SIM_NS3) $(SIM_MODELS) $(BUILD)/windows ## build the simulations

$(BUILD)/sim/%.o: bench/sim/%.cc
	@mkdir -p $(@D)
	$(CXX) $(SIM_FLAGS) -c $< -o $@

$(SIM_NS3): %: %.o $(addprefix $(BUILD)/sim/,network.o next_seg.o tcp_family.o)
	$(CXX) $(LDFLAGS) -o $@ $^ $(SIM_LIBS)

$(SIM_MODELS): %: %.o
	$(CXX) $(LDFLAGS) -o $@ $^

# --- tests --------------------------------------------------------------------------------
# Each tests/unit/test_NAME.c is a cmocka program; each is built a second time, with all of
# the sources that it uses, under the sanitizers.
UNIT_TESTS := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))
UNIT_LIBS   = $(LIBS) $(shell $(PKG_CONFIG) --libs cmocka) -pthread -lm

ASAN_OBJ := $(DAEMON_SRC:daemon/%.c=$(BUILD)/asan/daemon/%.o) \
	    $(CTL_SRC:ctl/%.c=$(BUILD)/asan/ctl/%.o) \
	    $(patsubst bench/linkem/%.c,$(BUILD)/asan/linkem/%.o,$(filter-out %/main.c,$(wildcard bench/linkem/*.c)))

$(BUILD)/asan/daemon/%.o: daemon/%.c | $(SKELETONS)
	@mkdir -p $(@D)
	$(CC) -O1 -g $(SANITIZE) $(HOSTFLAGS) -c $< -o $@

$(BUILD)/asan/ctl/%.o: ctl/%.c
	@mkdir -p $(@D)
	$(CC) -O1 -g $(SANITIZE) $(HOSTFLAGS) -c $< -o $@

$(BUILD)/asan/linkem/%.o: bench/linkem/%.c
	@mkdir -p $(@D)
	$(CC) -O1 -g $(SANITIZE) $(HOSTFLAGS) -c $< -o $@

$(BUILD)/asan/libtcptuned.a: $(ASAN_OBJ)
	rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/libtcptunectl.a $(BUILD)/libtcptuned.a $(BUILD)/liblinkem.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(HOSTFLAGS) -Ibench/linkem -o $@ $< $(BUILD)/libtcptunectl.a $(BUILD)/libtcptuned.a $(BUILD)/liblinkem.a $(UNIT_LIBS)

$(BUILD)/asan/unit/%: tests/unit/%.c $(BUILD)/asan/libtcptuned.a
	@mkdir -p $(@D)
	$(CC) -O1 -g $(SANITIZE) $(HOSTFLAGS) -Ibench/linkem -o $@ $< $(BUILD)/asan/libtcptuned.a $(UNIT_LIBS)

unit: $(UNIT_TESTS:%=$(BUILD)/unit/%) ## build the unit tests
unit-asan: $(UNIT_TESTS:%=$(BUILD)/asan/unit/%) ## build them with sanitizers

check: ## all tests that CI runs
	tests/run

check-unit: unit ## the order of the folders, and the unit tests
	@tests/layers
	@set -e; for t in $(UNIT_TESTS); do $(BUILD)/unit/$$t; done

check-asan: unit-asan ## the unit tests under AddressSanitizer and UBSan
	@set -e; for t in $(UNIT_TESTS); do $(BUILD)/asan/unit/$$t; done

# Programs that only the system tests use.
$(SYSTEM_HELPERS): $(BUILD)/%: tests/system/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(HOSTFLAGS) $(LDFLAGS) -o $@ $<

# Another sockops program, which they attach beside tcptuned's.
$(BUILD)/assigns.bpf.o: tests/system/assigns.bpf.c
	@mkdir -p $(@D)
	$(CLANG) $(BPFFLAGS) -c $< -o $@

# Other builds of the same sources, for tests in which one daemon replaces another: with another
# program (rightsize), with records of another layout (abi), and with a program that no kernel loads,
# because it calls what only programs under the GPL may (unloadable).
OTHER_HEADER_rightsize := include/tcptuned/algo/rightsize.h
OTHER_CHANGE_rightsize := s/\(RIGHTSIZE_SLOW_ROUNDS[^0-9]*\)8u/\19u/
OTHER_HEADER_abi       := include/tcptuned/abi/flow.h
OTHER_CHANGE_abi       := s/\(define TCPTUNED_ABI \)[0-9]*/\1999/

OTHER_HEADER_unloadable := bpf/flows.bpf.c
OTHER_CHANGE_unloadable := s/\(_license.*"\)GPL"/\1none"/

others: $(BUILD)/other/rightsize/tcptuned $(BUILD)/other/abi/tcptuned $(BUILD)/other/unloadable/tcptuned

$(BUILD)/other/%/tcptuned: Makefile $(wildcard bpf/* daemon/*.[ch] daemon/*/* include/tcptuned/*/*)
	@rm -rf $(@D) && mkdir -p $(@D)
	cp -r Makefile bpf daemon include $(@D)
	sed -i '$(OTHER_CHANGE_$*)' $(@D)/$(OTHER_HEADER_$*)
	! cmp -s $(OTHER_HEADER_$*) $(@D)/$(OTHER_HEADER_$*)
	$(MAKE) -s -C $(@D) BUILD=build CFLAGS=-O0 build/tcptuned
	cp $(@D)/build/tcptuned $@

# Bounded, so that it can run anywhere; FUZZ_SECONDS=3600 for a long night. Starts from the
# example configuration with every key in it. FUZZ_RUNS=1000000: so many inputs each, however long,
# and the same ones each time.
FUZZ_SECONDS ?= 20
FUZZ_LIMIT = $(if $(FUZZ_RUNS),-runs=$(FUZZ_RUNS) -seed=1,-max_total_time=$(FUZZ_SECONDS))
fuzz: $(BUILD)/fuzz/fuzz_config $(BUILD)/fuzz/fuzz_flows $(BUILD)/fuzz/fuzz_request $(BUILD)/tcptuned.conf ## fuzz what reads input
	@mkdir -p $(BUILD)/fuzz/corpus
	sed 's/^#\([a-z]\)/\1/' $(BUILD)/tcptuned.conf >$(BUILD)/fuzz/corpus/example
	printf '[policy           \ta]\ndestination = 10.0.0.0/8, 2001:db8::/32\nlocal_port = 1-9\nmode = off\n' \
		>$(BUILD)/fuzz/corpus/policy
	cd $(BUILD)/fuzz && ./fuzz_config $(FUZZ_LIMIT) -max_len=4096 \
		-print_final_stats=1 corpus
	cd $(BUILD)/fuzz && ./fuzz_flows $(FUZZ_LIMIT) -max_len=2048 -len_control=0
	@mkdir -p $(BUILD)/fuzz/requests
	echo '{"command":"flows","port":5201,"address":"192.0.2.0/24","sort":"rtt","limit":10,"reverse":true}' \
		>$(BUILD)/fuzz/requests/example
	cd $(BUILD)/fuzz && ./fuzz_request $(FUZZ_LIMIT) -max_len=5000 requests

$(BUILD)/fuzz/fuzz_config: tests/fuzz/fuzz_config.c $(patsubst %,daemon/config/%.c,load diff keys print) \
		$(patsubst %,daemon/util/%.c,error ip_prefix text)
	@mkdir -p $(@D)
	$(CLANG) -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all $(HOSTFLAGS) \
		-MF $@.d -o $@ $(filter %.c,$^)

$(BUILD)/fuzz/fuzz_flows: tests/fuzz/fuzz_flows.c $(patsubst %,daemon/%.c,flows/names flows/top metrics/metrics metrics/prom \
		rpc/flow_json util/strbuf util/text)
	@mkdir -p $(@D)
	$(CLANG) -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all $(HOSTFLAGS) \
		-MF $@.d -o $@ $(filter %.c,$^) $(shell $(PKG_CONFIG) --libs libbpf jansson)

$(BUILD)/fuzz/fuzz_request: tests/fuzz/fuzz_request.c $(patsubst %,daemon/%.c,rpc/request flows/filter flows/columns flows/names flows/top config/load config/keys util/error util/ip_prefix util/text)
	@mkdir -p $(@D)
	$(CLANG) -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all $(HOSTFLAGS) \
		-MF $@.d -o $@ $(filter %.c,$^) $(shell $(PKG_CONFIG) --libs libbpf jansson)

check-sim: sim ## the simulations, short
	tests/sim/run

check-system: all bench-cc others ## the system tests, on real connections
	tests/system/run

check-kernels: all ## Debian's 6.1, 6.12 and newest kernels, under QEMU
	tests/kernels/run

check-systemd: all ## systemd as PID 1, in namespaces
	tests/systemd/run

demo: all ## the scene of the README, before and after, on one machine
	bench/demo

stress: all others ## a minute of kills, restarts, replacements under a thousand connections
	tests/system/run -v -k stress -d bench

bench: all bench-cc ## the measurements of the README, interleaved (long); goes on where it was interrupted
	bench/run

bench-full: all bench-cc ## the same, with the papers' own amounts and durations (days)
	BENCH_GRID=full bench/run

bench-sim: sim ## the simulations, short durations
	bench/sim/run short

bench-sim-full: sim ## the simulations in full (many hours); goes on where it was interrupted
	bench/sim/run full

bench-kernels: all bench-cc ## the kernel's own congestion controls and ours, in QEMU in virtual time, short
	bench/kernels/run short

bench-kernels-full: all bench-cc ## the same, with rarer losses and a queue; goes on where it was interrupted
	bench/kernels/run full

report: ## the papers' tables and figures beside what was measured, as one HTML page
	bench/report/make

# --- manual pages and the example configuration: from the tables in the sources ------------
man: $(BUILD)/man/tcptuned.8 $(BUILD)/man/tcptunectl.8 $(BUILD)/man/tcptuned.conf.5 $(BUILD)/tcptuned.conf

$(BUILD)/tcptuned.conf: $(BUILD)/tcptuned
	$(BUILD)/tcptuned --help-config >$@

$(BUILD)/man/generate: man/generate.c $(BUILD)/libtcptunectl.a $(BUILD)/libtcptuned.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(HOSTFLAGS) $(LDFLAGS) -o $@ $< $(BUILD)/libtcptunectl.a $(BUILD)/libtcptuned.a $(LIBS)

$(BUILD)/man/%: man/%.in $(BUILD)/man/generate
	$(BUILD)/man/generate <$< >$@.new && mv $@.new $@

# --- install ---------------------------------------------------------------------------------
install: all ## into PREFIX, below DESTDIR
	$(INSTALL) -D -m 755 $(BUILD)/tcptuned $(DESTDIR)$(PREFIX)/sbin/tcptuned
	$(INSTALL) -D -m 755 $(BUILD)/tcptunectl $(DESTDIR)$(PREFIX)/sbin/tcptunectl
	$(INSTALL) -D -m 644 ctl/completion.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/tcptunectl
	$(INSTALL) -D -m 644 $(BUILD)/man/tcptunectl.8 $(DESTDIR)$(PREFIX)/share/man/man8/tcptunectl.8
	$(INSTALL) -D -m 644 $(BUILD)/man/tcptuned.8 $(DESTDIR)$(PREFIX)/share/man/man8/tcptuned.8
	$(INSTALL) -D -m 644 $(BUILD)/man/tcptuned.conf.5 $(DESTDIR)$(PREFIX)/share/man/man5/tcptuned.conf.5
	$(INSTALL) -d -m 755 $(DESTDIR)$(SYSCONFDIR)/tcptuned/tcptuned.conf.d $(DESTDIR)$(UNITDIR)
	test -e $(DESTDIR)$(SYSCONFDIR)/tcptuned/tcptuned.conf || \
		$(INSTALL) -m 644 $(BUILD)/tcptuned.conf $(DESTDIR)$(SYSCONFDIR)/tcptuned/tcptuned.conf
	sed 's|@sbindir@|$(PREFIX)/sbin|g' systemd/tcptuned.service.in >$(DESTDIR)$(UNITDIR)/tcptuned.service
	$(INSTALL) -m 644 systemd/tcptuned.socket $(DESTDIR)$(UNITDIR)/tcptuned.socket

# The unit goes before its file: stopped, it gives back what it changed, and no link is left
# dangling. tcptunectl stops a daemon that systemd knows nothing of; what one that was killed has
# left is for tcptuned. Below DESTDIR there is nothing that runs.
UNITS := tcptuned.service tcptuned.socket
uninstall: ## stop it, and remove what install put there; the configuration in /etc stays
	if [ -z "$(DESTDIR)" ] && [ -e $(UNITDIR)/tcptuned.service ] && command -v systemctl >/dev/null; then \
		systemctl disable -q $(UNITS); \
		[ ! -d /run/systemd/system ] || systemctl stop $(UNITS); \
	fi
	if [ -z "$(DESTDIR)" ] && [ -x $(PREFIX)/sbin/tcptuned ] && \
	   { [ -S /run/tcptuned/control ] || [ -d /sys/fs/bpf/tcptuned ]; }; then \
		$(PREFIX)/sbin/tcptunectl detach || $(PREFIX)/sbin/tcptuned --detach; \
	fi
	rm -f $(DESTDIR)$(PREFIX)/sbin/tcptuned $(DESTDIR)$(PREFIX)/share/man/man8/tcptuned.8 \
	      $(DESTDIR)$(PREFIX)/sbin/tcptunectl $(DESTDIR)$(PREFIX)/share/man/man8/tcptunectl.8 \
	      $(DESTDIR)$(PREFIX)/share/bash-completion/completions/tcptunectl \
	      $(DESTDIR)$(PREFIX)/share/man/man5/tcptuned.conf.5 \
	      $(DESTDIR)$(UNITDIR)/tcptuned.service $(DESTDIR)$(UNITDIR)/tcptuned.socket
	[ -n "$(DESTDIR)" ] || [ ! -d /run/systemd/system ] || systemctl daemon-reload

clean: ## remove what was built
	rm -rf $(BUILD)

.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' -type f 2>/dev/null)
