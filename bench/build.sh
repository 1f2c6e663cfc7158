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

# A Lua program on the engine as a module.
run_lua() {
	make -s -C "$BUILD" >&2
	export LUA_PATH="$TOP/lua/lib/?.lua;;" LUA_CPATH="$BUILD/.libs/?.so;;"
	exec lua5.4 "$@"
}
