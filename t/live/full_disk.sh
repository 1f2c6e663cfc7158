# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A disk that is full; sourced behind live.sh.  DIR is a directory on a file system of its own.

# Full, and what is freed meanwhile is taken at once.
fill_disk() {
	: > "$C/full"
	while [ -e "$C/full" ]; do
		dd if=/dev/zero of="$DIR/fill" bs=4k oflag=append conv=notrunc 2>/dev/null
		LD_PRELOAD='' sleep 0.05
	done < /dev/null > /dev/null 2>&1 &
	FILLER=$!
	wait_for 10 eval '[ "$(df --output=avail "$DIR" | tail -n 1)" -eq 0 ]'
}
make_room() { rm "$C/full"; wait "$FILLER" || true; rm "$DIR/fill"; }
