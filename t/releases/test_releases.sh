#!/bin/sh
# SPDX-License-Identifier: MIT
# Which releases are found where, what is said before anything is done, and what becomes of the table.
. "$(dirname "$0")/../tool/tool.sh"
HERE=$(cd "$(dirname "$0")" && pwd)

if ! command -v git >"$T/which" || ! command -v bash >"$T/which"; then
	echo "1..0 # SKIP no git or bash"
	exit 0
fi
export HOME="$T" GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

mkdir "$T/clone" "$T/tarballs" "$T/nothing"
git -C "$T/clone" init -q && git -C "$T/clone" commit -q --allow-empty -m begin || exit 1
for tag in 24-11-9-1 24-11-10-1 24-11-11-0rc1 26-05-0-0rc1; do git -C "$T/clone" tag slurm-$tag; done
: >"$T/tarballs/slurm-23.02.7.tar.bz2"
: >"$T/tarballs/slurm-23.02.8.tar.gz"
newest() { [ "$("$HERE/root" newest "$T/$1" "$2")" = "$3" ]; }
ok "the newest release of a series is found in a clone" newest clone 24.11 24.11.10
ok "... and among tarballs" newest tarballs 23.02 23.02.8
candidate() { "$HERE/root" newest "$T/clone" 26.05 >"$T/out"; [ $? = 1 ] && [ ! -s "$T/out" ]; }
ok "a release candidate is no release" candidate

# A tree with nothing in it but the scripts, and a disk of our own making.
mkdir -p "$T/top/t" "$T/top/doc" "$T/bin"
cp -r "$HERE" "$T/top/t/releases"
disk() { # MB
	printf '#!/bin/sh\necho Filesystem\necho "disk 9 9 %s 9 /"\n' "$1" >"$T/bin/df"
	chmod +x "$T/bin/df"
}
releases() { PATH=$T/bin:$PATH "$T/top/t/releases/releases" "$@" >"$T/out" 2>"$T/err"; }
says() { # STATUS PATTERN OPTION...
	status=$1 pattern=$2
	shift 2
	releases "$@"
	[ $? = "$status" ] && cat "$T/out" "$T/err" | grep -q -- "$pattern"
}
disk 900000
ok "what is going to be done is said" says 0 'Slurm 24.11.10, to be built from' --look --slurm "$T/clone" 24.11
ok "... and what it takes" says 0 'minutes .* MB of disk; 900000 MB are free' --look --slurm "$T/clone" 24.11
ok "a release that is not there is said" says 0 '23.02: not here; --slurm DIR' --look --slurm "$T/clone" 23.02
disk 20
ok "a disk that is too small is not begun with" says 1 'not enough disk' --look --slurm "$T/clone" 24.11
disk 900000
ok "a series that there is not is refused" says 2 "'24.12' is none of" --look 24.12
ok "a directory without a Slurm is refused" says 2 'neither a clone' --look --slurm "$T/nothing" 24.11

# A Slurm that is installed, and tests that say what they are told to.
printf '#!/bin/sh\necho 24.11.10\n' >"$T/bin/dpkg-query"
printf '#!/bin/sh\n' >"$T/bin/make"
chmod +x "$T/bin/"*
mkdir -p "$T/top/engine" "$T/top/plugin" "$T/top/lua" "$T/top/examples" "$T/top/t/live" "$T/top/t/suite" "$T/top/.work/releases"
: >"$T/top/configure.ac"
for t in start jobs place limits actions life canary tool gres; do echo true >"$T/top/t/live/$t.t"; done
printf '| series | release |\n|---|---|\n' >"$T/top/doc/releases.md"
cat >"$T/top/t/run-suites" <<'EOS'
#!/bin/sh
shift
for t; do
	echo "$t" >>"$SL_TEST_OUT/../ran"
	if sh "${0%/*}/live/$t.t"; then s=0 word=ok; else s=1 word='not ok'; fi
	echo "$word 1 - it is so" >"$SL_TEST_OUT/live-$t.tap"
	echo $s 1 >"$SL_TEST_OUT/live-$t.status"
done
EOS
cat >"$T/top/t/suite/suite" <<'EOS'
#!/bin/sh
echo suite >>"${SL_SUITE_OUT%/*}/ran"
echo "2 tests: 2 pass under both, 0 worse under sched/lua, 0 at the second try, 0 other, 0 better, 0 x"
EOS
chmod +x "$T/top/t/run-suites" "$T/top/t/suite/suite"
row_says() { # STATUS PATTERN NUMBER OPTION... : and so many tests were run
	status=$1 pattern=$2 number=$3 root=$T/top/.work/releases/24.11.10
	shift 3
	mkdir -p "$root"
	: >"$root/ran"
	SLURM_SRC=$T SLURM_BUILD=$T SL_PREFIX=$T releases "$@" 24.11
	[ $? = "$status" ] || return 1
	cat "$T/top/doc/releases.md" "$root/ran" 2>&1
	grep -q -- "^| 24.11 |.*$pattern" "$T/top/doc/releases.md" && [ "$(grep -c . "$root/ran")" = "$number" ]
}
ok "some of the tests make a row" row_says 0 '| 8 passed | 2 as stock.*| short |' 9 --short
echo false >"$T/top/t/live/gres.t"
ok "all of them make another: what has passed is not run again" \
	row_says 1 '| 8 passed, 1 failed |.*| gres: it is so | whole |' 1
ok "a red one is run again" row_says 1 '| 8 passed, 1 failed |' 1
echo true >"$T/top/t/live/gres.t"
ok "a red one that is named brings the row up to date" row_says 0 '| 9 passed | 2 as stock.*| – | whole |' 1 --live gres
ok "a run that has been made is not made again" row_says 0 '| 9 passed |.*| – | whole |' 0
echo more >"$T/top/plugin/file"
ok "a row of several states says so" \
	row_says 0 "| 9 passed |.*| whole, 8 of 9 files of an earlier state; so Slurm's own |" 1 --live gres
ok "... and what is of an earlier one is run again" row_says 0 '| 9 passed |.*| whole |' 9
printf '# what is\nslurm_tells() { echo 3; }\nslurm_shows() {\n\techo a\n}\n' >"$T/top/t/live/releases.sh"
echo '[ "$(slurm_shows)" != b ]' >"$T/top/t/live/gres.t"
row_says 0 '.' 1 >"$T/ok" 2>&1
sed -i 's/echo 3/echo 4/' "$T/top/t/live/releases.sh"
ok "what a release shows otherwise is of no concern to tests that do not look" row_says 0 '| 9 passed |.*| whole |' 0
sed -i 's/echo a/echo b/' "$T/top/t/live/releases.sh"
ok "... and to those that do it is" row_says 0 '| 9 passed |.*| whole |' 1
echo 'echo suite >>"${SL_SUITE_OUT%/*}/ran"' >"$T/top/t/suite/suite"
row_says 0 '| 9 passed | - | – |' 1 >"$T/ok" 2>&1
ok "Slurm's own tests that skipped themselves are run again" row_says 0 '| 9 passed | - | – |' 1
echo exit 3 >"$T/top/t/suite/suite"
ok "Slurm's own tests that do not end are red" row_says 1 "| 9 passed | - | Slurm's own did not come to their end |" 0

refused() { "$T/top/t/releases/debian" "$@" >"$T/out" 2>&1; [ $? = 2 ] && grep -q "is no suite of Debian" "$T/out"; }
ok "a suite that can be none is refused" refused ../trixie

page() { # ROW... : the table with these rows put in, one after the other
	printf 'Text.\n\n| series | release |\n|---|---|\n\nMore text.\n' >"$T/page"
	for row; do
		echo "$row" >"$T/row"
		awk -f "$HERE/rows.awk" "$T/row" "$T/page" >"$T/page.new" && mv "$T/page.new" "$T/page"
	done
}
row() { echo "| $1 | $2, built | yes | ${4:-} | - | – | $3 | 2026-01-01 |"; }
rows_are() { grep '^| [0-9]' "$T/page" >"$T/out"; for row; do echo "$row"; done | cmp -s - "$T/out"; }

in_order() {
	page "$(row 24.11 24.11.7 whole)" "$(row 26.05 26.05.3 whole)" "$(row 22.05 22.05.8 whole)" "$(row 25.05 25.05.8 short)"
	rows_are "$(row 22.05 22.05.8 whole)" "$(row 24.11 24.11.7 whole)" "$(row 25.05 25.05.8 short)" "$(row 26.05 26.05.3 whole)" &&
		[ "$(head -n 1 "$T/page") $(tail -n 1 "$T/page")" = 'Text. More text.' ]
}
ok "rows stand in the order of releases" in_order
beside() {
	page "$(row 24.11 24.11.7 whole)" "$(row '24.11 (trixie)' 24.11.5 short)" "$(row 25.05 25.05.8 short)" "$(row 24.11 24.11.7 whole)"
	rows_are "$(row 24.11 24.11.7 whole)" "$(row '24.11 (trixie)' 24.11.5 short)" "$(row 25.05 25.05.8 short)"
}
ok "... that of a suite of Debian beside that of its series" beside
replaced() {
	page "$(row 24.11 24.11.7 whole before)" "$(row 24.11 24.11.7 whole after)"
	rows_are "$(row 24.11 24.11.7 whole after)"
}
ok "a run takes the place of the one before it" replaced
kept() {
	page "$(row 24.11 24.11.7 whole)" "$(row 24.11 24.11.7 short)" "$(row 24.11 24.11.7 compiled)"
	rows_are "$(row 24.11 24.11.7 whole)"
}
ok "... not one that looked at more" kept
another() {
	page "$(row 24.11 24.11.7 whole)" "$(row 24.11 24.11.8 short)"
	rows_are "$(row 24.11 24.11.8 short)"
}
ok "... unless that was of another release" another
other_table() {
	page "$(row 24.11 24.11.7 short)"
	printf '\n| since | what |\n|---|---|\n| 24.11 | something |\n' >>"$T/page"
	cp "$T/page" "$T/before"
	row 24.11 24.11.7 whole >"$T/row"
	awk -f "$HERE/rows.awk" "$T/row" "$T/page" >"$T/page.new" && mv "$T/page.new" "$T/page"
	diff "$T/before" "$T/page" >"$T/out"
	[ "$(grep -c '^>' "$T/out")" = 1 ] && rows_are "$(row 24.11 24.11.7 whole)" '| 24.11 | something |'
}
ok "another table of the page is left alone" other_table

echo "1..$n"
