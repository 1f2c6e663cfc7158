# SPDX-License-Identifier: MIT
#
# Lists of commands (A && B) whose failure nobody would see: `set -e` does not look at them, and they are not the last of a
# function, which would fail with them.  Lines that are not indented run without `set -e`.  Only what decides where to go on (... && return) may be such a list.
# And what is looked for once in a log, in the status or by explain: what has happened is written there in a moment.
# And the pid of an engine that nobody has waited for: until it lives, there is none.

function words(s) {	# without what is quoted or in a subshell, which count as one word
	gsub(/\\./, "_", s)
	gsub(/'[^']*'/, "_", s)
	while (gsub(/\([^()]*\)/, "_", s)) ;
	gsub(/"[^"]*"/, "_", s)
	sub(/[ \t]#.*/, "", s)
	gsub(/\[\[[^]]*\]\]/, "_", s)
	return s
}

# The next line says whether something follows.
function judge(next_line) {
	if (list != "" && next_line !~ /^(\}|\)|fi|else|elif|esac|;;)/) {
		printf "%s:%d: nobody looks at whether this fails: %s\n", FILENAME, at, list
		bad = 1
	}
	list = ""
}

FNR == 1 { judge("}"); here = text = before = "" }
here != "" { if ($0 ~ "^\t*" here "$") here = ""; next }
match($0, /<<-?'?[A-Z]+/) { here = substr($0, RSTART, RLENGTH); gsub(/[-<']/, "", here) }
quotes % 2 { text = text "\n" $0 }
!(quotes % 2) && /^[ \t]*(#.*)?$/ { next }
!(quotes % 2) { text = continued ? text " " $0 : $0; if (!continued) begun = FNR }
{
	rest = text
	gsub(/\\./, "", rest)
	gsub(/"[^"\n]*"/, "", rest)
	sub(/[ \t]#[^'\n]*'[^'\n]*$/, "", rest)
	quotes = gsub(/'/, "", rest)
	continued = !(quotes % 2) && text ~ /(&&|\|\||\||\\)[ \t]*$/
	if (continued || quotes % 2) {
		sub(/\\[ \t]*$/, "", text)
		next
	}
	line = words(text)
	sub(/^[ \t]+/, "", line)
	sub(/[ \t]+$/, "", line)
	if (line == "" || line ~ /^#/)
		next
	judge(line)
	if (line ~ /^(log_said|log_has|book_says|status_says|explains) /) {
		printf "%s:%d: it may be written in a moment, so wait_for it: %s\n", FILENAME, begun, line
		bad = 1
	}
	if (text ~ /=\$\(engine_pid\)|kill [^;|&]*\$\((status )?engine_pid\)/ && text !~ /engine_lives|wait_for/ && before !~ /engine_lives/) {
		printf "%s:%d: there may be no engine yet, so wait_for engine_lives on the line before: %s\n", FILENAME, begun, line
		bad = 1
	}
	before = line
	if (text !~ /^\t/ || line !~ /&&/ || line ~ /^\{/ || line ~ /\|\||^(if|while|until|elif|it|function) |^[a-z_]+_? *$/)
		next
	if (line ~ /&& *(\{.*)?(return|continue|break|exit|skip)[^&]*$/ || line ~ /\{ .*\}$/ || line ~ / &$/)
		next
	list = line ~ /;? done/ ? "" : line
	at = begun
	if (line ~ /do .*&&.*; *done/) {
		list = line
		judge("")
	}
}
END { judge("}"); exit bad }
