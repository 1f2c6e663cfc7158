#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# upgrade.t [--again] - the packages, on a root of their own: a cluster goes over to sched/lua, Slurm is upgraded
# with jobs that run and wait, and goes back.  doc/operating.md, "Upgrading Slurm", step by step.
#
# Needs root, a network for the distribution's packages, and Slurm's source (SLURM_SRC and SLURM_BUILD:
# ./quickstart package --test sets them).  Everything is under .work/package; what is made once stays: the
# root without packages of ours, Slurm's next release (t/package/next-slurm); with --again our packages, too.  The cluster runs in
# namespaces of its own (processes, network, mounts), and ends with them.
set -eu

HERE=$(cd "$(dirname "$0")" && pwd -P)
TOP=$(cd "$HERE/../.." && pwd -P)
WORK=${PACKAGE_WORK:-$TOP/.work/package}
SUITE=$(. /etc/os-release && echo "$VERSION_CODENAME")
mkdir -p "$WORK/log"
: "${SOURCE_DATE_EPOCH:=$(git -C "$TOP" log -1 --format=%ct)}"	# of all packages
export SOURCE_DATE_EPOCH

skip_all() { echo "1..0 # SKIP $*"; echo "SKIPPED: ${0##*/}: $*" >&2; exit 0; }
note() { echo "# $*"; }

quietly() { # NAME COMMAND... : its output is shown when it fails
	local log=$WORK/log/$1.log
	shift
	"$@" > "$log" 2>&1 || { tail -n 30 "$log" | sed 's/^/# /'; echo "Bail out! ${log##*/}"; exit 1; }
}

[ "$(id -u)" = 0 ] || skip_all "needs root"
[ -n "${SLURM_SRC-}" ] || skip_all "no source of Slurm: ./quickstart package --test"
for program in mmdebstrap dpkg-scanpackages dpkg-buildpackage unshare ip; do
	command -v $program > /dev/null || skip_all "no $program"
done

note "packages for the installed Slurm"
OLD=$(sed -n 's/^#define SLURM_VERSION_STRING "\([0-9.]*\).*"/\1/p' "$SLURM_BUILD/config.h")
[ "${1-}" = --again ] || quietly package-old "$TOP/packaging/package" --format deb --slurm-src "$SLURM_SRC" --slurm-build "$SLURM_BUILD" \
	--out "$WORK/lua-old"
note "the next Slurm"
quietly next-slurm "$HERE/next-slurm" "$SLURM_SRC" "$WORK/next"
NEW=${OLD%.*}.$((${OLD##*.} + 1))
note "packages for Slurm $NEW"
[ "${1-}" = --again ] || quietly package-new "$TOP/packaging/package" --format deb --slurm-src "$WORK/next/src" --slurm-build "$WORK/next/build" \
	--out "$WORK/lua-new"

make_root() {
	rm -rf "$WORK/root.tar"
	mmdebstrap --variant=minbase --include=slurmctld,slurmd,slurm-client,munge,procps,libjansson4,liblua5.4-0,libsqlite3-0,libseccomp2,libncursesw6,libmicrohttpd12,zlib1g \
		"$SUITE" "$WORK/root.tar"
}
[ -f "$WORK/root.tar" ] || { note "a root of $SUITE"; quietly root make_root; }
ROOT=$WORK/root
rm -rf "$ROOT" && mkdir -p "$ROOT"
tar -xf "$WORK/root.tar" -C "$ROOT" --exclude='./dev/*'

# Packages as a site would have them: what is installed, what comes, and ours for each.
mkdir -p "$ROOT/repo"/{slurm-old,slurm-new,lua-old,lua-new}
cp "$WORK"/next/old/*.deb "$ROOT/repo/slurm-old/"
cp "$WORK"/next/new/*.deb "$ROOT/repo/slurm-new/"
for when in old new; do
	find "$WORK/lua-$when" -name '*.deb' ! -name '*-dbgsym_*' ! -name 'schedlua-capture_*' -exec cp -t "$ROOT/repo/lua-$when" {} +
done
for repo in "$ROOT"/repo/*; do (cd "$repo" && dpkg-scanpackages -m . > Packages 2>/dev/null); done
cp "$HERE/inside" "$ROOT/inside"
echo '127.0.0.1 localhost' > "$ROOT/etc/hosts"	# (and an address beside it: AI_ADDRCONFIG takes none for no network)
rm -f "$ROOT/etc/resolv.conf" "$ROOT"/etc/apt/sources.list.d/*
: > "$ROOT/etc/apt/sources.list"
printf 'exit 101\n' > "$ROOT/usr/sbin/policy-rc.d" && chmod 755 "$ROOT/usr/sbin/policy-rc.d"

# What has no Slurm in it is the same, whichever it was built for.
same=yes
for deb in "$WORK"/lua-old/schedlua_*.deb "$WORK"/lua-old/slurm-plugin-sched-lua_*.deb; do
	cmp -s "$deb" "$WORK/lua-new/${deb##*/}" || same=no
done
[ $same = yes ] || echo "not ok 1 - built twice, against another Slurm, the packages that know no release are the same"
[ $same = no ] || echo "ok 1 - built twice, against another Slurm, the packages that know no release are the same"

status=0
unshare --net --pid --mount --uts --ipc --fork --kill-child --mount-proc="$ROOT/proc" sh -c "
	hostname localhost && ip link set lo up && ip address add 192.0.2.1/32 dev lo && mount -t tmpfs none '$ROOT/dev' &&
	mknod -m 666 '$ROOT/dev/null' c 1 3 && mknod -m 666 '$ROOT/dev/zero' c 1 5 &&
	mknod -m 666 '$ROOT/dev/urandom' c 1 9 && mknod -m 666 '$ROOT/dev/random' c 1 8 &&
	mkdir '$ROOT/dev/shm' && exec chroot '$ROOT' /bin/bash /inside '$OLD' '$NEW'" || status=$?
[ $same = yes ] || status=1
exit $status
