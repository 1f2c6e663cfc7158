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

# Which words a command line says for certain (t/live/words.lua), for t/live/accepted.t.
says() { # WORDS OPTION...
	want=$1
	shift
	"$WORDS" list > "$T/list"
	got=$(lua5.4 -e "print(table.concat(dofile(arg[1])(arg[2]).of(arg[3], \"\"), \" \"))" /dev/null \
		"$TOP/t/live/words.lua" "$T/list" "$*")
	[ "$got" = "$want" ] || { echo "says \"$got\", not \"$want\": $*"; return 1; }
}
counted() {
	says "COUNTS NODE_COUNTS" --partition=i001 -N1,2,4 "--constraint=[west*1&east*1]" &&
		says "COUNTS NODE_COUNTS GRES JOB_GRES" -N1,2,4 "--constraint=[west*1&east*1]" --gpus=4 &&
		says COUNTS -N1-2,5 "--constraint=[west*1&east*1]" --nodes=2 &&
		says "COUNTS GRES JOB_GRES TASKS_PER_GRES" -N1,2,4 "--constraint=[west*1&east*1]" --ntasks-per-gpu=1 --gpus=2 &&
		says "GRES JOB_GRES" -N2-6:2 --gpus=5
}
if command -v lua5.4 > "$T/lua"; then
	ok "a list of numbers of nodes is no word where sbatch overrules or slurmctld forgets it" counted
fi

echo "1..$n"
