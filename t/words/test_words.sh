#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The pages have the list of words as it is, and the options of schedlua willrun are those that its texts name.

# shellcheck source=t/tool/tool.sh
. "${0%/*}/../tool/tool.sh"
HERE=$(cd "${0%/*}" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
WORDS=${WORDS:-t/words/words}

printed() { # PAGE
	cp "$TOP/doc/$1" "$T/$1" && chmod u+w "$T/$1" && "$HERE/into-doc" "$WORDS" "$T/$1" && diff "$TOP/doc/$1" "$T/$1"
}
ok "doc/requests.md has the list as it is (else: make words-doc)" printed requests.md
ok "doc/parity.md has it, too" printed parity.md
ok "doc/claims.md has the claims as they are, and the list leaves none of them to select" printed claims.md

narrow() { { "$WORDS" requests; "$WORDS" parity; "$WORDS" claims "$HERE/claims"; } | awk -F ' [|] ' '{ for (i = 1; i <= NF; i++) if (length($i) > 200) { print; bad = 1 } } END { exit bad }'; }
ok "no cell of it is too wide to be read" narrow

# What a job has that is not there yet, or in no command line, nobody can ask of willrun.
NOT_ASKED='--bb|--dependency|--extra|--spread-segments|--consolidate-segments'
known() {
	"$WORDS" list | awk -F '\t' -v not_asked="^($NOT_ASKED)\$" '
		{
			for (text = $5; match(text, /--[a-z-]+/); text = substr(text, RSTART + RLENGTH)) {
				option = substr(text, RSTART, RLENGTH)
				if (option !~ not_asked && index(" " $6, " " option " ") == 0) {
					print $1 ": no line of the list of options says that " option " may say it"
					bad = 1
				}
			}
		}
		END { exit bad }'
}
ok "each word has the options that its text names" known

echo "1..$n"
