# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# build.sh - what is measured: TOP, the source, and BUILD, where it was built (what
# ./quickstart build made, else build/; made when there is none).  Sourced.
TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
if [ -z "${BUILD-}" ]; then
	for BUILD in "$TOP/.work/build" "$TOP/build"; do [ -f "$BUILD/Makefile" ] && break; done
	[ -f "$BUILD/Makefile" ] || { "$TOP/quickstart" build >&2; BUILD=$TOP/.work/build; }
fi

# WHAT DIR: the directory of recorded logs that the command line or $SCHEDLUA_TRACES named; ends where neither did.
need_traces() {
	[ -n "$2" ] || { echo "$1: nothing says where the logs are: expected --traces DIR, or SCHEDLUA_TRACES=DIR" >&2; exit 2; }
	[ -d "$2" ] || { echo "$1: $2: expected a directory of logs" >&2; exit 2; }
}

# A Lua program on the engine as a module.
run_lua() {
	make -s -C "$BUILD" >&2
	export LUA_PATH="$TOP/lua/lib/?.lua;;" LUA_CPATH="$BUILD/.libs/?.so;;"
	exec lua5.4 "$@"
}
