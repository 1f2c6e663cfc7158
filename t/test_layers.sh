#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check-layers passes the tree as it is, and names each arrow that goes where it should not.

# shellcheck source=t/tool/tool.sh
. "${0%/*}/tool/tool.sh"
TOP=$(cd "${0%/*}/.." && pwd)

# check STATUS : how check-layers ends on the tree, or on the copy of it
check() {
	"$TOP/t/check-layers" "${COPY:-$TOP}" >"$T/out" 2>"$T/err"
	[ $? = "$1" ] && [ ! -s "$T/err" ]
}

# with FILE LINE... : a copy of the tree, and lines behind what a file has
with() {
	COPY=$T/copy
	rm -rf "$COPY"
	mkdir "$COPY"
	(cd "$TOP" && tar cf - --exclude=.libs --exclude='*.o' engine lab plugin) | (cd "$COPY" && tar xf -)
	chmod -R u+w "$COPY"
	file=$COPY/$1
	shift
	mkdir -p "${file%/*}"
	printf '%s\n' "$@" >>"$file"
}

# says TEXT : that, and nothing else that is wrong
says() {
	check 1 && [ "$(grep -c '' "$T/out")" = 1 ] && grep -qF -- "$1" "$T/out"
}

ok "the tree is in order" check 0

# in the build tree: the plug-in, built in the top directory, would find ours before Slurm's
config() { [ ! -e config.h ] && [ -e config.own.h ]; }
ok "what configure makes is not called as Slurm's config.h is" config

built() {
	with engine/base/.libs/x.o '' && mkdir -p "$COPY/engine/tool/.deps" && check 0
}
ok "what make leaves in a tree that is built in is no room" built

upward() { with engine/base/grow.c '#include "tool/member.h"' && says "engine/base/grow.c -> engine/tool/member.h: from a lower floor"; }
ok "an arrow that is turned round is printed" upward

lab() { with engine/tool/cmd_plan.c '#include "sim/sim.h"' && says "engine/tool/cmd_plan.c -> lab/sim/sim.h: from a lower floor"; }
ok "the engine knows nothing of the lab" lab

plugin_lab() { with plugin/cycle.c '#include "workload/workload.h"' && says "plugin/cycle.c -> lab/workload/workload.h: from a lower floor"; }
ok "nor does the plug-in" plugin_lab

in_lab() { with lab/report/page.c '#include "sim/sim.h"' && says "lab/report/page.c -> lab/sim/sim.h: from a lower floor"; }
ok "the lab has floors too" in_lab

private() { with engine/bind/node.c '#include "timeline/impl.h"' && says "engine/bind/node.c -> engine/timeline/impl.h: a private header"; }
ok "a private header does not leave its room" private

roomless() { with engine/bind/node.c ' # include "bind.h"' && says 'includes "bind.h", expected "ROOM/FILE.h"'; }
ok "an include of the engine says the room" roomless

circle() { with engine/base/error.h '#include "base/suggest.h"' && with_also engine/base/suggest.h '#include "base/error.h"' && says "a circle: "; }
with_also() { printf '%s\n' "$2" >>"$COPY/$1"; }
ok "files of a room that need each other are a circle" circle

plugin_circle() { with plugin/request/asked.c '#include "plugin/request/shape.h"' && says "a circle: plugin/request/"; }
ok "and so are files of the plug-in" plugin_circle

plugin_circle_wide() { with plugin/host/keep.h '#include "plugin/host/remembered.h"' && says "a circle: plugin/host/"; }
ok "also through others" plugin_circle_wide

homeless() { with engine/stray.c 'int stray;' && says "engine/stray.c: stands in no room"; }
ok "no file lies beside the rooms" homeless

unlisted() { with engine/attic/README.md 'old things' && says "engine/attic: no room of engine/engine.am"; }
ok "a room stands in the list of floors" unlisted

unlisted_lab() { with lab/attic/README.md 'old things' && says "lab/attic: no room of lab/lab.am"; }
ok "and so does one of the lab" unlisted_lab

untold() { with engine/engine.am '' && rm "$COPY/engine/mip/README.md" && says "engine/mip: no README.md"; }
ok "a room says what it is" untold

plugin_up() { with plugin/host/keep.c '#include "plugin/commit/start.h"' && says "plugin/host/keep.c -> plugin/commit/start.h: from a lower floor"; }
ok "the plug-in has floors too" plugin_up

plugin_engine() { with plugin/cycle.c '#include "model/plan.h"' && says "plugin/cycle.c -> engine/model/plan.h: from a lower floor"; }
ok "the plug-in knows of the engine what both programs link" plugin_engine

echo "1..$n"
