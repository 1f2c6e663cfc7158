# SPDX-License-Identifier: MIT
#
# Finds three faults in live tests.
#
# 1. A list of commands (A && B) whose failure is not noticed.  `set -e` does not end the test if A fails; the function fails only if
#    the list is its last command.  Allowed are lists that decide where to go on (... && return), and lines that are not indented,
#    which run without `set -e`.
# 2. A test that looks once for a text in a log, in the status, in the book or in the output of explain.  The text may be written a
#    moment after the event, so the test has to use wait_for.
# 3. A test that takes the engine's pid without a wait for the engine: until the engine lives, there is no pid.

function words(s) {	# without what is quoted or in a subshell, which count as one word
	gsub(/\\./, "_", s)
	gsub(/'[^']*'/, "_", s)
	while (gsub(/\([^()]*\)/, "_", s)) ;
	gsub(/"[^"]*"/, "_", s)
	sub(/[ \t]#.*/, "", s)
	gsub(/\[\[[^]]*\]\]/, "_", s)
	return s
}

# What explain or the status has to say, and nobody has waited for.
function is_asked(s) {
	return s ~ /^([A-Z_]+=[^ ]* )?schedlua (explain|status) [^|]*\| *grep/ && before !~ /was_explained/
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
	if (line ~ /^(log_said|log_has|book_says|status_says|explains) / || is_asked(line)) {
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
