#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The links of all documents lead somewhere, in the source and as they are installed; and doc/links finds those that
# do not.  $DOCUMENTS is what is installed beside each other, named from the top of the source.

# shellcheck source=t/tool/tool.sh
. "${0%/*}/tool/tool.sh"
TOP=$(cd "${0%/*}/.." && pwd)
LINKS=$TOP/doc/links

# page FILE LINE... : a document in $T/site
page() {
	file=$T/site/$1
	shift
	mkdir -p "${file%/*}" && printf '%s\n' "$@" >"$file"
}

# finds LINE FILE... : that, and nothing else
finds() {
	want=$1
	shift
	"$LINKS" check "$T/site" "$@" >"$T/out" 2>"$T/err"
	[ $? = 1 ] && [ ! -s "$T/err" ] && [ "$(cat "$T/out")" = "$want" ]
}

# Builds may lie within the source: their copies of documents are not looked at.
in_source() {
	# shellcheck disable=SC2046
	(cd "$TOP" && "$LINKS" check . $(find . -name '*.md' ! -path './.work/*' ! -path './.git/*' ! -path './build*' \
		! -path './schedlua-[0-9]*' | sed 's|^\./||'))
}
ok "in the source each link leads to a file, and each anchor to a heading" in_source

# what "make install" does with documents, but for where
install_documents() {
	rm -rf "$T/site"
	for file in $DOCUMENTS; do
		mkdir -p "$T/site/$(dirname "$file")" && cp "$TOP/$file" "$T/site/$file" && chmod u+w "$T/site/$file" || return 1
	done
	"$LINKS" settle "$T/site"
}

installed() {
	# shellcheck disable=SC2046
	install_documents && cd "$T/site" && "$LINKS" check . $(find . -name '*.md' | sed 's|^\./||')
}
if [ -n "${DOCUMENTS:-}" ]; then
	ok "and so they do as they are installed" installed
fi

missing() { page a.md 'See [this](doc/b.md).' && finds 'a.md:1: doc/b.md: no such file' a.md; }
ok "a link to a file that is not there is found" missing

upward() { page doc/c.md '# C' '' '[up](../nowhere/) and [home](../doc/c.md#c)' && finds 'doc/c.md:3: ../nowhere/: no such file' doc/c.md; }
ok "a link is read from the file's own folder" upward

no_heading() {
	page a.md '# One `two`, three' '## Same' '## Same' '[1](#one-two-three) [2](#same-1) [3](#same-2)' &&
		finds 'a.md:4: #same-2: no such heading' a.md
}
ok "an anchor without a heading is found, also where headings are alike" no_heading

other_heading() {
	page a.md '[b](doc/b.md#there) [c](doc/b.md#not-there)' && page doc/b.md '# There' &&
		finds 'a.md:1: doc/b.md#not-there: no such heading' a.md doc/b.md
}
ok "and so is one of another document" other_heading

code() {
	page a.md '```' '[no](link.md)' '```' '[web](https://localhost/x.md)' && "$LINKS" check "$T/site" a.md
}
ok "code and addresses of the web are not looked at" code

settled() {
	page a.md 'The [figures](bench/x.md#of-all) of [bench/x.md](bench/x.md) and [the' 'page](bench/y.md) of [b](doc/b.md).' &&
		page doc/b.md '# There' 'Back [home](../a.md), or to [x](../bench/x.md).' && "$LINKS" settle "$T/site" &&
		[ "$(cat "$T/site/a.md")" = 'The figures (`bench/x.md` in the source) of `bench/x.md` (in the source) and the
page (`bench/y.md` in the source) of [b](doc/b.md).' ] &&
		[ "$(tail -n 1 "$T/site/doc/b.md")" = 'Back [home](../a.md), or to x (`bench/x.md` in the source).' ]
}
ok "where a file is not installed its link becomes its name in the source, and others stay" settled

twice() { cp "$T/site/a.md" "$T/once" && "$LINKS" settle "$T/site" && cmp "$T/once" "$T/site/a.md"; }
ok "a second time changes nothing" twice

usage() { "$LINKS" mend "$T/site" 2>"$T/err"; [ $? = 2 ] && err '^usage: ' && { "$LINKS" check "$T/nowhere" a.md 2>"$T/err"; [ $? = 2 ]; }; }
ok "wrong usage says what is right" usage

echo "1..$n"
