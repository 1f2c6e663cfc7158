#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ./quickstart before anything is built, and in two clones side by side.  What takes long is a stand-in that waits to be told.

srcdir=${srcdir:-.}
T=$(mktemp -d "${TMPDIR:-/tmp}/quickstart.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
n=0 pid_one='' pid_two='' pid_three=''

ok() { # TEXT COMMAND...
	n=$((n + 1))
	text=$1
	shift
	if "$@"; then echo "ok $n - $text"; else
		echo "not ok $n - $text"
		sed 's/^/# /' "$T/out" 2>/dev/null
	fi
}

if ! command -v bash >/dev/null; then
	echo "1..0 # SKIP no bash"
	exit
fi

mkdir -p "$T/new/packaging"
cp "$srcdir/quickstart" "$T/new/"
cp "$srcdir/packaging/package" "$T/new/packaging/"
help() {
	for command in build test suite package releases harden demo shell clean; do
		timeout 600 "$T/new/quickstart" "$command" --help >"$T/out" 2>&1 </dev/null && grep -q "^usage: ./quickstart $command " "$T/out" &&
			grep -q "^  $command " "$T/out" && [ "$(grep -c '^  [a-z][a-z]* ' "$T/out")" = 1 ] || return 1
	done
	"$T/new/quickstart" package --help | grep -q -e '--format deb' && "$T/new/quickstart" package --help | grep -q -e '--test' || return 1
	[ ! -e "$T/new/.work" ]
}
ok "each command says what it does, at once, and makes nothing" help

unknown() {
	! "$T/new/quickstart" biuld >"$T/out" 2>&1 && grep -q "unknown command 'biuld'" "$T/out" && [ ! -e "$T/new/.work" ]
}
ok "an unknown command is refused before anything is made" unknown

# A clone whose build says that it has begun, and ends when it is told.
make_clone() { # NAME
	mkdir "$T/$1" && mkfifo "$T/$1/began" "$T/$1/end" && {
		sed '$d' "$srcdir/quickstart"
		printf '%s\n' 'need_root() { :; }' 'build() { echo began > "$TOP/began"; read -r _ < "$TOP/end"; }' 'main "$@"'
	} >"$T/$1/quickstart" && chmod +x "$T/$1/quickstart"
}
begin() { # NAME: in the background; returns when its build has begun
	"$T/$1/quickstart" build >"$T/$1/out" 2>&1 &
	eval "pid_$1=$!"
	read -r _ <"$T/$1/began"
}
finish() { # NAME
	echo end >"$T/$1/end"
	eval "wait \$pid_$1" && grep -q 'built: ' "$T/$1/out" && [ ! -e "$T/$1/.work/running" ]
}
side_by_side() {
	make_clone one && make_clone two && begin one && begin two || return 1
	# within one clone there is one at a time
	! timeout 600 "$T/one/quickstart" build >"$T/out" 2>&1 && grep -q "runs in this clone already (pid $pid_one)" "$T/out" &&
		! timeout 600 "$T/two/quickstart" build >"$T/out" 2>&1 && grep -q "runs in this clone already (pid $pid_two)" "$T/out" || return 1
	# who was refused has not taken the lock along, and who ends has not ended the other
	[ -e "$T/one/.work/running" ] && finish one && kill -0 "$pid_two" && [ -e "$T/two/.work/running" ] && finish two
}
ok "two clones work side by side, and one clone does one thing at a time" side_by_side

killed() {
	make_clone three && begin three && kill -9 "$pid_three" && { wait "$pid_three" 2>/dev/null || :; } && [ -e "$T/three/.work/running" ] || return 1
	begin three && finish three
}
ok "the lock of one that was killed holds up nobody" killed

# Plain busted in a clone: the shell's, and the distribution's where its own Lua is another one.  The engine is looked up, not loaded.
specs() {
	command -v busted >/dev/null && command -v lua5.4 >/dev/null || return 0
	mkdir -p "$T/tree/spec" "$T/elsewhere" "$T/tree/.work/build/.libs" && cp "$srcdir/.busted" "$T/tree/" && : >"$T/tree/.work/build/.libs/sched_core.so" &&
		cat >"$T/tree/spec/which_spec.lua" <<-'EOL' || return 1
			it("is Lua 5.4 with an engine", function()
				assert.equal("Lua 5.4", _VERSION)
				assert.equal(os.getenv("ENGINE"), package.searchpath("sched_core", package.cpath))
			end)
		EOL
	(cd "$T/tree" && env -u LUA_PATH -u LUA_CPATH ENGINE=.work/build/.libs/sched_core.so busted) >"$T/out" 2>&1 || return 1
	# in the shell the directory is any, and the engine is the installed one
	{
		sed '$d' "$srcdir/quickstart"
		echo 'load_cluster; shell_rc'
	} >"$T/tree/quickstart"
	mkdir -p "$T/tree/t/live" "$T/tree/.work/inst/lib/lua/5.4" && echo 'SLURM_CONF=x' >"$T/tree/t/live/cluster.sh" && bash "$T/tree/quickstart" >"$T/rc" &&
		: >"$T/tree/.work/inst/lib/lua/5.4/sched_core.so" &&
		(cd "$T/elsewhere" && ENGINE=$T/tree/.work/inst/lib/lua/5.4/sched_core.so bash -c '. "$0" 2>/dev/null; busted "$1"' "$T/rc" "$T/tree/spec/which_spec.lua") >"$T/out" 2>&1
}
ok "plain busted takes Lua 5.4 and the engine, in a clone and in ./quickstart shell" specs

echo "1..$n"
