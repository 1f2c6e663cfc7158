# SPDX-License-Identifier: MIT
#
# compare.awk TESTS STOCK LUA AGAIN - what differs between two runs of the tests; AGAIN has those that
# did worse, run once more.  tap=1: as TAP.  Exit status 1 when a test does worse,
# or was not run under one of the two.
BEGIN { FS = "\t" }
FILENAME == ARGV[1] { split($0, f, " "); mark[f[1]] = f[4]; next }
FILENAME == ARGV[2] { name[++count] = $1; stock[$1] = $2; took[$1] = $3; next }
FILENAME == ARGV[3] { lua[$1] = $2; why[$1] = $4; spent[$1] = $3; next }
{ again[$1] = $2 }

function line(word, n) {
	printf "%-9s %-48s %-8s -> %-8s (%d s -> %d s)  %s\n", word, n, stock[n], lua[n], took[n], spent[n], why[n]
}

END {
	if (tap) print "1.." count
	for (i = 1; i <= count; i++) {
		n = name[i]
		if (stock[n] == "not run" || lua[n] == "not run" || lua[n] == "") {
			lost++
			if (tap) print "not ok " i " - " n "\n# there was no cluster to run it on"
		} else if (stock[n] != "pass") {
			if (lua[n] == "pass") better++
			else no_news++
			if (tap) print "ok " i " - " n " # SKIP " stock[n] " under stock"
			else line(lua[n] == "pass" ? "better" : "neither", n)
		} else if (lua[n] == "pass") {
			same++
			if (tap) print "ok " i " - " n
			else if (spent[n] > 2 * took[n] + 15) line("slower", n)
		} else if (mark[n] == "other") {
			others++
			if (tap) print "ok " i " - " n " # SKIP starts are deferred"
			else line("other", n)
		} else if (again[n] == "pass") {
			unsteady++
			if (tap) print "ok " i " - " n " # at the second try"
			else line("unsteady", n)
		} else {
			worse++
			if (tap) print "not ok " i " - " n "\n# pass under stock, " lua[n] " under sched/lua: " why[n]
			else line("worse", n)
		}
	}
	printf "%s%d tests: %d pass under both, %d worse under sched/lua, %d at the second try, %d other, %d better, %d pass under neither\n",
		tap ? "# " : "", count, same, worse, unsteady, others, better, no_news
	if (lost) printf "%s%d tests were not run\n", tap ? "# " : "", lost
	exit worse + lost > 0
}
