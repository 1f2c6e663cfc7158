#!/bin/sh
# SPDX-License-Identifier: MIT
# The release script on a project of six files, whose distcheck is a line of shell.  What
# it does with ours is tried by ./release --dry-run.
. "$(dirname "$0")/tool/tool.sh"
RELEASE=$(cd "$(dirname "$0")/.." && pwd)/release

if ! command -v git >"$T/which" || ! command -v xz >"$T/which" || ! command -v bash >"$T/which"; then
	echo "1..0 # SKIP no git, xz or bash"
	exit 0
fi
export HOME="$T" GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
P=$T/project

commit() { git -C "$P" add -A && git -C "$P" commit -q -m "$1"; }
release() { "$P/release" "$@" >"$T/out" 2>"$T/err"; }
tarball=$P/.work/release/schedlua-1.2.3.tar.xz
tags() { git -C "$P" tag --list; }

mkdir "$P" && cp "$RELEASE" "$P/release" && git -C "$P" init -q || exit 1
echo 'AC_INIT([schedlua], [1.2.3])' >"$P/configure.ac"
printf '# News\n\n## 1.2.3 (2026-11-30)\n\n* What is new.\n\n## 1.2.2 (2026-10-01)\n\n* What was.\n' >"$P/NEWS.md"
echo '.work/' >"$P/.gitignore"
echo 'payload' >"$P/payload"
cat >"$P/autogen.sh" <<'EOF'
#!/bin/sh
cat >configure <<'EOC'
#!/bin/sh
cp ../src/Makefile.project Makefile
EOC
chmod +x configure
EOF
cat >"$P/Makefile.project" <<'EOF'
D = schedlua-1.2.3
distcheck: dist
	test ! -e ../src/broken
all:
dist:
	rm -rf $D && mkdir $D && cp ../src/payload $D/ && tar -chf - $D | xz -c >$D.tar.xz && rm -rf $D
EOF
sed -i 's/\$D/$(D)/g' "$P/Makefile.project"
mkdir "$P/packaging"
printf '#!/bin/sh\necho "of $*"\n' >"$P/packaging/sbom"
chmod +x "$P/autogen.sh" "$P/packaging/sbom"
commit begin || exit 1

dry_run() {
	release --dry-run || return 1
	xz -dc "$tarball" | tar -tf - | grep -qx 'schedlua-1.2.3/payload' || return 1
	grep -q '^of --tarball .*schedlua-1.2.3.tar.xz schedlua' "$P/.work/release/schedlua-1.2.3.spdx" || return 1
	(cd "$P/.work/release" && sha256sum -c schedlua-1.2.3.tar.xz.sha256) >"$T/which" && [ -z "$(tags)" ]
}
ok "a dry run makes the tarball and its digest, and no tag" dry_run

same_again() {
	cp "$tarball.sha256" "$T/first" && touch "$P/payload" && release --dry-run && cmp -s "$tarball.sha256" "$T/first"
}
ok "the same commit makes the same tarball" same_again

refused() { # PATTERN
	release --dry-run && return 1
	grep -q -- "$1" "$T/err" && [ -z "$(tags)" ]
}
uncommitted() { echo more >"$P/payload"; refused 'not committed' || return 1; git -C "$P" checkout -q payload; }
ok "changes that are not committed are refused" uncommitted

no_news() { sed -i 's/1\.2\.3/1.2.4/' "$P/configure.ac"; commit next; refused 'NEWS.md: no section "## 1.2.4'; }
ok "a version without a section in NEWS.md is refused" no_news

no_day() {
	sed -i 's/1\.2\.4/1.2.3/' "$P/configure.ac"
	sed -i 's/(2026-11-30)/(not yet released)/' "$P/NEWS.md"
	commit "no day"
	refused 'expected the day of the release' || return 1
	git -C "$P" revert -n HEAD && sed -i 's/1\.2\.4/1.2.3/' "$P/configure.ac" && commit "a day"
}
ok "a section that has no day is refused" no_day

both() {
	git -C "$P" tag v1.2.3
	echo more >"$P/payload"
	release --dry-run && return 1
	grep -q 'not committed' "$T/err" && grep -q 'v1.2.3 exists already' "$T/err" || return 1
	git -C "$P" tag -d v1.2.3 >"$T/which" && git -C "$P" checkout -q payload
}
ok "a tag that exists is refused, and all that is wrong is told at once" both

distcheck_fails() {
	rm -f "$tarball" && touch "$P/broken" && commit broken
	refused 'did not pass' && [ ! -e "$tarball" ] || return 1
	rm "$P/broken" && commit mended
}
ok "without a good distcheck there is neither tarball nor tag" distcheck_fails

unsigned() {
	git -C "$P" config gpg.program false
	release && return 1
	grep -q 'could not be signed' "$T/err" && [ -z "$(tags)" ]
}
ok "no tag where it cannot be signed" unsigned

signed() {
	ssh-keygen -q -t ed25519 -N '' -f "$T/key" &&
		git -C "$P" config gpg.format ssh && git -C "$P" config user.signingkey "$T/key.pub" &&
		release && [ "$(tags)" = v1.2.3 ] || return 1
	git -C "$P" cat-file tag v1.2.3 >"$T/tag"
	grep -q 'BEGIN SSH SIGNATURE' "$T/tag" && grep -qx 'sched/lua 1.2.3' "$T/tag" &&
		grep -qx '\* What is new.' "$T/tag" && ! grep -q 'What was' "$T/tag"
}
if command -v ssh-keygen >"$T/which"; then
	ok "the tag is signed, and says what NEWS.md says of the version" signed
else
	n=$((n + 1))
	echo "ok $n - the tag is signed # SKIP no ssh-keygen"
fi

echo "1..$n"
