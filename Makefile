# SPDX-License-Identifier: GPL-2.0-only
# `make help` lists the targets. Those of the library, the tests and the measurements are in lib/Makefile, tests/Makefile
# and bench/Makefile, which are included here.

PREFIX     ?= /usr/local
BINDIR     ?= $(PREFIX)/bin
SBINDIR    ?= $(PREFIX)/sbin
UNITDIR    ?= $(if $(filter /usr,$(PREFIX)),/lib/systemd/system,/etc/systemd/system)
ZSHDIR     ?= $(PREFIX)/share/zsh/site-functions
DESTDIR    ?=
BUILD      ?= build
CC         ?= cc
CLANG      ?= clang
BPFTOOL    ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
PKG_CONFIG ?= pkg-config
INSTALL    ?= install
CLANG_FORMAT ?= clang-format
# Those of the compiler's target: make CC=aarch64-linux-gnu-gcc PKG_CONFIG=aarch64-linux-gnu-pkg-config
AR          = $(shell $(CC) -print-prog-name=ar)
LD          = $(shell $(CC) -print-prog-name=ld)
OBJCOPY     = $(shell $(CC) -print-prog-name=objcopy)

VERSION  := $(shell sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
# Of the commit: written by git archive, or asked of git.
REVISION := $(firstword $(filter-out $$%,$(shell cut -c 1-12 REVISION)) $(shell git rev-parse --short=12 HEAD 2>/dev/null))

# Hardened by default. _FORTIFY_SOURCE needs the optimization, so that both are replaced together.
CFLAGS   ?= -O2 -g -fstack-protector-strong -fstack-clash-protection -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
LDFLAGS  ?= -Wl,-z,relro,-z,now
WARN      = -Wall -Wextra -Wshadow -Wno-unused-parameter $(if $(WERROR),-Werror)
# What is built does not depend on the directory in which it is built.
SAME_PATHS = -ffile-prefix-map=$(CURDIR)=.
HOSTFLAGS = $(WARN) $(SAME_PATHS) -Wmissing-prototypes -std=gnu11 -D_GNU_SOURCE -Iinclude -I. -Idaemon -Ictl -I$(BUILD)/skel -MMD -MP \
	    -DTCPTUNED_VERSION='"$(VERSION)"'
BPFFLAGS  = -O2 -g $(WARN) $(SAME_PATHS) -target bpf -mcpu=v3 -Iinclude -Ibpf -MMD -MP \
	    -I$(shell $(CC) -print-sysroot)/usr/include/$(shell $(CC) -print-multiarch)
LIBS      = $(shell $(PKG_CONFIG) --libs libbpf libsystemd libmicrohttpd jansson sqlite3 libseccomp) -lelf -lz
RUN_LIBS  = $(shell $(PKG_CONFIG) --libs libseccomp sqlite3) -lm
LINK      = $(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^)
ARCHIVE   = rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

# Not of the library.
STREAMS_OF_DAEMON := streams/passive.o streams/memory.o
DAEMON_OBJ := $(patsubst %.c,%.o,$(filter-out daemon/main.c,$(wildcard daemon/*.c daemon/*/*.c util/*.c))) $(STREAMS_OF_DAEMON)
CTL_OBJ    := $(patsubst %.c,%.o,$(filter-out ctl/main.c,$(wildcard ctl/*.c)))
RUN_OBJ    := $(patsubst %.c,%.o,$(filter-out run/main.c run/preload.c,$(wildcard run/*.c)))
LINKEM_OBJ := $(patsubst %.c,%.o,$(filter-out %/main.c,$(wildcard bench/linkem/*.c)))
SKELETONS  := $(BUILD)/skel/tcptuned.skel.h $(patsubst %,$(BUILD)/skel/cc/%.skel.h,$(foreach c,bitcp cubic_resume,$(c) $(c)_tx_start))

.PHONY: all help man dist format format-check install uninstall clean FORCE
all: $(BUILD)/tcptuned $(BUILD)/tcptunectl $(BUILD)/tcptune-run $(BUILD)/tcptune-preload.so man ## build everything

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(filter %Makefile,$(MAKEFILE_LIST)) | expand -t 20

include $(wildcard lib/Makefile tests/Makefile bench/Makefile)

# --- objects: $(BUILD)/x.o is made of x.c ---------------------------------------------------------
# A file that is written again only when the text differs, of what depends on the text.
define file_of_text
$(BUILD)/$1: FORCE
	@mkdir -p $$(@D)
	@echo '$2' | cmp -s - $$@ || echo '$2' >$$@
endef
$(eval $(call file_of_text,version,$(VERSION)))
$(eval $(call file_of_text,revision,$(REVISION)))
# The archives are made again with it, since they must not keep an object whose source was removed.
$(eval $(call file_of_text,objects,$(DAEMON_OBJ) $(CTL_OBJ) $(RUN_OBJ) $(LIB_OBJ) $(LINKEM_OBJ)))

# The version is in many of them.
$(BUILD)/%.o: %.c $(BUILD)/version | $(SKELETONS)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(HOSTFLAGS) -c $< -o $@

$(BUILD)/%.bpf.o: %.bpf.c
	@mkdir -p $(@D)
	$(CLANG) $(BPFFLAGS) -c $< -o $@

# For kernels with tcp_congestion_ops.cwnd_event_tx_start: libbpf refuses members that the kernel has not.
$(BUILD)/bpf/cc/%_tx_start.bpf.o: bpf/cc/%.bpf.c
	@mkdir -p $(@D)
	$(CLANG) $(BPFFLAGS) -DHAS_TX_START -c $< -o $@

# All but the congestion controls, which a kernel may refuse.
$(BUILD)/bpf/tcptuned.bpf.o: $(patsubst %.c,$(BUILD)/%.o,$(wildcard bpf/*.bpf.c))
	$(BPFTOOL) gen object $@.new $^ && mv $@.new $@

$(BUILD)/skel/%.skel.h: $(BUILD)/bpf/%.bpf.o
	@mkdir -p $(@D)
	$(BPFTOOL) gen skeleton $< name $(*F)_bpf >$@.new && mv $@.new $@

# What says which commit this is, and nothing else, is compiled again after a commit.
$(BUILD)/util/version.o $(BUILD)/asan/util/version.o: HOSTFLAGS += -DREVISION='"$(REVISION)"'
$(BUILD)/util/version.o $(BUILD)/asan/util/version.o: $(BUILD)/revision

# --- programs -------------------------------------------------------------------------------------
$(BUILD)/libdaemon.a: $(DAEMON_OBJ:%=$(BUILD)/%) $(BUILD)/objects
	$(ARCHIVE)

$(BUILD)/libctl.a: $(CTL_OBJ:%=$(BUILD)/%) $(BUILD)/objects
	$(ARCHIVE)

$(BUILD)/tcptuned: $(BUILD)/daemon/main.o $(BUILD)/libdaemon.a $(BUILD)/libtcptuned.a
	$(LINK) $(LIBS) -lm

$(BUILD)/tcptunectl: $(BUILD)/ctl/main.o $(BUILD)/libctl.a $(BUILD)/libdaemon.a $(BUILD)/libtcptuned.a
	$(LINK) $(LIB_LIBS)

$(BUILD)/librun.a: $(RUN_OBJ:%=$(BUILD)/%) $(BUILD)/objects
	$(ARCHIVE)

$(BUILD)/tcptune-run: $(BUILD)/run/main.o $(BUILD)/librun.a $(BUILD)/libdaemon.a $(BUILD)/libtcptuned.a
	$(LINK) $(RUN_LIBS)

$(BUILD)/run/preload.o: HOSTFLAGS += -fPIC

$(BUILD)/tcptune-preload.so: $(BUILD)/run/preload.o $(BUILD)/libtcptuned.a
	$(LINK) -shared -Wl,--exclude-libs,ALL -Wl,-z,defs

# --- manual pages and the example configuration, from the tables in the sources -------------------
man: $(patsubst %.in,$(BUILD)/%,$(wildcard man/*.in)) $(BUILD)/tcptuned.conf

# make dist has made those of its archive, where nothing that is built has to run.
GENERATED := $(patsubst man/%.in,man/%,$(wildcard man/*.in)) man/tcptuned.conf
ifneq ($(wildcard man/tcptuned.conf),)
$(BUILD)/tcptuned.conf: man/tcptuned.conf
	@mkdir -p $(@D)
	cp $< $@

$(BUILD)/man/%: man/%
	@mkdir -p $(@D)
	cp $< $@
else
$(BUILD)/tcptuned.conf: $(BUILD)/tcptuned
	$(BUILD)/tcptuned --help-config >$@.new && mv $@.new $@

$(BUILD)/man/generate: $(BUILD)/man/generate.o $(BUILD)/librun.a $(BUILD)/libctl.a $(BUILD)/libdaemon.a $(BUILD)/libtcptuned.a
	$(LINK) $(LIBS) -lm

$(BUILD)/man/%: man/%.in $(BUILD)/man/generate
	$(BUILD)/man/generate <$< >$@.new && mv $@.new $@
endif

DIST := tcptuned-$(VERSION)

dist: man ## make an archive of the last commit, with what is generated, in $(BUILD)
	sed 's/@version@/$(VERSION)/' contrib/tcptuned.spec.in >$(BUILD)/tcptuned.spec
	git archive --prefix=$(DIST)/man/ $(addprefix --add-file=$(BUILD)/,$(GENERATED:man/tcptuned.conf=tcptuned.conf)) \
		--prefix=$(DIST)/contrib/ --add-file=$(BUILD)/tcptuned.spec --prefix=$(DIST)/ -o $(BUILD)/$(DIST).tar HEAD
	gzip -9nf $(BUILD)/$(DIST).tar

# --- install --------------------------------------------------------------------------------------
INSTALL_PROGRAM = $(INSTALL) -D -m 755
INSTALL_FILE    = $(INSTALL) -D -m 644

install: all install-lib ## into PREFIX, below DESTDIR
	$(INSTALL_PROGRAM) $(BUILD)/tcptuned $(DESTDIR)$(SBINDIR)/tcptuned
	$(INSTALL_PROGRAM) $(BUILD)/tcptunectl $(DESTDIR)$(BINDIR)/tcptunectl
	$(INSTALL_PROGRAM) $(BUILD)/tcptune-run $(DESTDIR)$(BINDIR)/tcptune-run
	$(INSTALL_FILE) -t $(DESTDIR)$(PREFIX)/lib/tcptuned $(BUILD)/tcptune-preload.so
	$(INSTALL_FILE) -t $(DESTDIR)$(PREFIX)/share/man/man1 $(BUILD)/man/tcptune-run.1
	$(INSTALL_FILE) ctl/completion.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/tcptunectl
	$(INSTALL_FILE) ctl/completion.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/tcptunectl.fish
	$(INSTALL_FILE) ctl/completion.zsh $(DESTDIR)$(ZSHDIR)/_tcptunectl
	$(INSTALL_FILE) -t $(DESTDIR)$(PREFIX)/share/man/man8 $(BUILD)/man/tcptuned.8 $(BUILD)/man/tcptunectl.8
	$(INSTALL_FILE) -t $(DESTDIR)$(PREFIX)/share/man/man5 $(BUILD)/man/tcptuned.conf.5
	$(INSTALL) -d -m 755 $(DESTDIR)/etc/tcptuned/tcptuned.conf.d
	test -e $(DESTDIR)/etc/tcptuned/tcptuned.conf || \
		$(INSTALL_FILE) $(BUILD)/tcptuned.conf $(DESTDIR)/etc/tcptuned/tcptuned.conf
	$(INSTALL_FILE) systemd/tcptuned.service.in $(DESTDIR)$(UNITDIR)/tcptuned.service
	sed -i 's|@sbindir@|$(SBINDIR)|g' $(DESTDIR)$(UNITDIR)/tcptuned.service
	$(INSTALL_FILE) systemd/tcptuned.socket $(DESTDIR)$(UNITDIR)/tcptuned.socket

# The service is stopped before its unit file is removed: it then restores what it changed, and no link is left
# dangling. tcptunectl stops a daemon that systemd did not start, and tcptuned cleans up after one that was killed.
# A staged tree (DESTDIR) has nothing that runs.
UNITS := tcptuned.service tcptuned.socket
uninstall: uninstall-lib ## stop it, and remove what was installed; the configuration in /etc stays
	if [ -z "$(DESTDIR)" ] && [ -e $(UNITDIR)/tcptuned.service ] && command -v systemctl >/dev/null; then \
		systemctl disable -q $(UNITS); \
		[ ! -d /run/systemd/system ] || systemctl stop $(UNITS); \
	fi
	if [ -z "$(DESTDIR)" ] && [ -x $(SBINDIR)/tcptuned ] && \
	   { [ -S /run/tcptuned/control ] || [ -d /sys/fs/bpf/tcptuned ]; }; then \
		$(BINDIR)/tcptunectl detach || $(SBINDIR)/tcptuned --detach; \
	fi
	rm -f $(DESTDIR)$(SBINDIR)/tcptuned $(addprefix $(DESTDIR)$(BINDIR)/,tcptunectl tcptune-run) \
		$(addprefix $(DESTDIR)$(PREFIX)/,lib/tcptuned/tcptune-preload.so \
		share/man/man1/tcptune-run.1 share/man/man8/tcptuned.8 \
		share/man/man8/tcptunectl.8 share/man/man5/tcptuned.conf.5 \
		share/bash-completion/completions/tcptunectl share/fish/vendor_completions.d/tcptunectl.fish) \
		$(DESTDIR)$(ZSHDIR)/_tcptunectl $(UNITS:%=$(DESTDIR)$(UNITDIR)/%)
	rmdir $(DESTDIR)$(PREFIX)/lib/tcptuned 2>/dev/null || :
	[ -n "$(DESTDIR)" ] || [ ! -d /run/systemd/system ] || systemctl daemon-reload

# --- style ----------------------------------------------------------------------------------------
format: ## format the C and C++ sources, with Debian 12's clang-format (14)
	$(CLANG_FORMAT) -i $(shell git ls-files '*.c' '*.h' '*.cc')

# Other releases format some lines differently.
FORMATS_AS_14 = $(CLANG_FORMAT) --version | grep -q 'version 14\.'

format-check: ## is there anything that `make format` would change, or a comment beyond 100 columns?
	@! $(FORMATS_AS_14) && echo "format-check: nothing is checked, since this is not clang-format 14" || \
	$(CLANG_FORMAT) --dry-run --Werror $(shell git ls-files '*.c' '*.h' '*.cc')
	@! awk '{ line = $$0; while (i = index(line, "\t")) \
		line = substr(line, 1, i - 1) sprintf("%*s", 8 - (i - 1) % 8, "") substr(line, i + 1) } \
		length(line) > 100 && (!/"/ || /^[ \t]*\*|\/\*/) { print FILENAME ":" FNR ": longer than 100 columns" }' \
		$(shell git ls-files '*.c' '*.h') | grep .

clean: ## remove what was built
	rm -rf $(BUILD)

.SECONDARY:
# Not those of objects whose source was moved: they would demand the source.
-include $(shell find $(BUILD) -path $(BUILD)/other -prune -o -path $(BUILD)/lane -prune -o -name '*.o' -printf '%p %P\n' \
	2>/dev/null | sed 's, asan/, ,; s,_tx_start\.bpf\.o$$,.bpf.o,' | while read -r object source; do source=$${source%.o}; \
	if [ -e $$source.c ] || [ -e $$source.cc ]; then echo $${object%.o}.d; fi; done)
