#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The past: what schedlua predict says of predictors, and the ledger of what was used.

# shellcheck source=t/tool/tool.sh
. "$(dirname "$0")/tool.sh"
small_cluster

# anna's: the walltime is 920, 820, 720, 620 s too long; 200 s miss by 100, 0, 100, 200; the last two by 920 (nothing
# is known, so the walltime), 100, 150, 150.
predict_report() {
	predict_log >"$T/predict.sacct"
	echo "return { name = 'mine', sample = function() return { 200 } end }" >"$T/mine200.lua"
	echo "return { name = 'not', sample = function() return 0 / 0 end }" >"$T/notanumber.lua"
	run 0 predict --path="$T" --predictors=limit,mine200,last_two --workload="$T/predict.sacct" --machine=1x8c report &&
		out "^mine200 *5  *280  *120  *-80  *60.0 %  *20.0 %$" &&
		out "^anna  limit  *4  *250  *770  *+770  *0.0 %  *0.0 %$" &&
		out "^ *mine200  *4  *250  *100  *-50  *50.0 %  *25.0 %$" &&
		out "^ *last_two  *4  *250  *330  *+130  *75.0 %  *0.0 %$" &&
		run 0 predict --runs=1 --predictors=last_two --workload="$T/predict.sacct" --machine=1x8c --json report &&
		out '"user": "anna", "predictor": "last_two", "runs": 1, "runtime_mean_s": 400, "error_mean_s": 150,' &&
		run 0 predict --path="$T" --predictors=notanumber --users=0 --workload="$T/predict.sacct" --machine=1x8c report &&
		out "^notanumber  *5  *280  *740  *+740 " && err "predictor notanumber: gave .*nan, expected seconds; walltimes are used" &&
		run 1 predict --predictors=none --workload=esp report && err "predictor 'none': " &&
		run 2 predict --predictors='a b' report && run 2 predict && run 2 predict show && run 2 predict --policy=easy report &&
		run 2 predict --workload=esp --ledger=x report && run 1 predict --ledger="$T/none.db" report && err "none.db"
}
ok "predict report says how good predictors have been, by what was known then" predict_report

mkdir "$T/ledger" "$T/ledger2"
cat >"$T/sacct.txt" <<'EOF'
JobIDRaw|User|Account|Partition|Start|End|ElapsedRaw|AllocCPUS|NNodes|AllocTRES|State
1|anna|chem|p|2026-03-29T00:30:00|2026-03-29T03:30:00|7200|4|1|cpu=4,node=1,gres/gpu=2|COMPLETED
1.batch|||p|2026-03-29T00:30:00|2026-03-29T03:30:00|7200|4|1|cpu=4,node=1|COMPLETED
2|bob|phys|p|1774737000|1774740600|1800|2|1|cpu=2,node=1|CANCELLED by 0
2|bob|phys|p|1774750000|1774753600|3600|2|1|cpu=2,node=1|REQUEUED
3|bob|phys|p|Unknown|Unknown|0|0|0||PENDING
4|bob|phys|p|yesterday|today|x|2|1||FAILED
5|bob|phys|p|1774750000|1774753600|3600|2|1|cpu=2,node=1
EOF
L="--dir=$T/ledger"
if "$SCHEDLUA" ledger create "$L" 2>&1 | grep -q "without SQLite"; then
	without_sqlite() { run 1 ledger show "$L" && err "libsqlite3-dev"; }
	ok "ledger says so where the program was built without SQLite" without_sqlite
else

# 00:30 to 03:30 in a zone whose clocks go on an hour at 02:00 is two hours
ledger_import() {
	rm "$T/ledger/ledger.db"
	TZ=Europe/Berlin run 0 ledger import "$L" "$T/sacct.txt" &&
		out "^5 rows: 3 added, 0 known, 1 unfinished, 1 never ran, 1 unreadable$" && err "sacct.txt:8: left out: another number" && err "users whom this machine does not know, which count: 3, such as of anna" &&
		TZ=Europe/Berlin run 0 ledger import "$L" "$T/sacct.txt" && out " 0 added, 3 known" &&
		run 0 ledger show "$L" && out "^anna  *8.00  *4.00  *2.00$" && out "^bob  *3.00  *0.00  *1.50$" &&
		run 0 ledger verify "$L" && out "3 runs .* all totals are right"
}
ok "ledger import reads what sacct printed, local times too, and counts nothing twice" ledger_import

# A column in which users write: what looks like a row may be a user's. Nothing is read.
ledger_words() {
	mkdir "$T/freetext"
	for c in JobName Comment WorkDir SubmitLine WCKey Constraints Licenses Extra StdOut NewInSlurm99; do
		printf 'JobIDRaw|User|Start|End|ElapsedRaw|AllocCPUS|State|%s\n1|root|1774737000|1774740600|1800|2|COMPLETED|x\n' "$c" >"$T/freetext.txt"
		run 1 ledger import --dir="$T/freetext" "$T/freetext.txt" && err "freetext.txt:1: users may write line ends.* column $c; expected what this prints: SLURM_TIME_FORMAT=%s sacct -aXDP .*--format=JobIDRaw,User" &&
			! grep -q "format=.*JobName" "$T/err" && ! "$SCHEDLUA" ledger show --dir="$T/freetext" --runs 2>&1 | grep COMPLETED || return 1
	done
	# what it says is to be printed is taken
	grep -o 'JobIDRaw,User,[A-Za-z,]*' "$T/err" | tr , '|' >"$T/freetext.txt"
	echo '1|root|chem|p|1774737000|1774740600|1800|2|1|cpu=2,node=1|COMPLETED|1:00:00' >>"$T/freetext.txt"
	run 0 ledger import --dir="$T/freetext" "$T/freetext.txt" && out ' 1 added' && quiet err
}
ok "ledger import refuses columns in which users write, and says what to print" ledger_words

ledger_impossible() { # each row by itself, with its line and why
	line=1
	mkdir "$T/impossible"
	{
		echo 'JobIDRaw|User|Account|Partition|Start|End|ElapsedRaw|AllocCPUS|NNodes|AllocTRES|State'
		echo '1|root|chem|p|1774737000|1774740600|3601|2|1|cpu=2,node=1|COMPLETED'
		echo '2|root|chem|p|1774737000|4000000000|60|2|1|cpu=2,node=1|COMPLETED'
		echo '3|root|chem|p|1774737000|1774740600|60|100000000|1||COMPLETED'
		echo '4|root|chem|p|1774737000|1774740600|60|64|1|cpu=2,node=1|COMPLETED'
		echo '5|root|chem|p|1774737000|1774740600|60|2|3|cpu=2,node=3|COMPLETED'
		echo '6||chem|p|1774737000|1774740600|60|2|1|cpu=2,node=1|COMPLETED'
		printf '7|ro\033ot|chem|p|1774737000|1774740600|60|2|1|cpu=2,node=1|COMPLETED\n'
		echo '8|root|chem|p|1774740600|1774737000|60|2|1|cpu=2,node=1|COMPLETED'
		echo '9|root|chem|p|1774737000|1774740600|60|-2|1|cpu=2,node=1|COMPLETED'
		echo '10|root|chem|p|1774737000|1774740600|60|2|1|cpu=2,node=1|COMPLETED|x'
		echo '11|root|chem|p|1774737000|1774740600|60|2|1|ADJUSTMENT'
		echo '12|root|chem|p|1774737000|1774740600|3600|2|1|cpu=2,node=1|COMPLETED'
	} >"$T/impossible.txt"
	run 0 ledger import --dir="$T/impossible" "$T/impossible.txt" && out ' 1 added, 0 known, .* 11 unreadable$' || return 1
	for why in 'longer than from its start' 'end in the future' 'more CPUs than there can be' 'another number of CPUs' 'fewer than nodes' \
		'no user' 'name cannot be one' 'before its start' 'more CPUs' 'number of fields' 'number of fields'; do
		line=$((line + 1))
		err "impossible.txt:$line: left out: .*$why" || return 1
	done
}
ok "ledger import names the rows that cannot be true" ledger_impossible

predict_ledger() {
	mkdir "$T/predict" && run 0 ledger create --dir="$T/predict" && cut -d'|' -f 1-4,6- "$T/predict.sacct" >"$T/nameless.sacct" &&
		run 0 ledger import --quiet --dir="$T/predict" "$T/nameless.sacct" &&
		run 0 predict --predictors=limit,last_two --dir="$T/predict" report &&
		out "^anna  limit  *4  *250  *770  *+770 " && out "^ *last_two  *4  *250  *330  *+130 " && out "^eve " &&
		run 0 predict --predictors=limit --last=1m --ledger="$T/predict/ledger.db" report && out "^limit  *5 "
}
ok "predict report reads the ledger" predict_ledger

# Nothing is no figure: zeros would be the best that there is.
predict_nothing() {
	mkdir "$T/unjudged" && run 0 ledger create --dir="$T/unjudged" && run 0 predict --predictors=limit --dir="$T/unjudged" report &&
		err "nothing to judge: of 0 users no run with a walltime" && out "^limit  *0  *-  *-  *-  *-  *-$" &&
		cut -d'|' -f 1-4,6-9,11- "$T/predict.sacct" >"$T/unlimited.sacct" &&
		run 0 ledger import --quiet --dir="$T/unjudged" "$T/unlimited.sacct" &&
		run 0 predict --predictors=limit --json --dir="$T/unjudged" report && err "of 2 users no run" &&
		out '"user": "anna", "predictor": "limit", "runs": 0}'
}
ok "predict report says where there is nothing to judge" predict_nothing

ledger_since() {
	TZ=Europe/Berlin run 0 ledger show "$L" --since=2026-03-29T01:00 --until=2026-03-29T03:00 --user=anna --json &&
		out '"user": "anna", "cpu_s": 14400, "gpu_s": 7200, "node_s": 3600' && ! grep -q bob "$T/out" &&
		run 0 ledger show "$L" --without=REQUEUED --by=account && out "^phys  *1.00" && out "^chem  *8.00" &&
		run 0 ledger show "$L" --partition=q --json && out "^\\[\\]$" &&
		run 0 ledger show "$L" --runs --user=bob && out "REQUEUED" && [ "$(wc -l <"$T/out")" = 3 ]
}
ok "ledger show: an hour that the clocks left out does not count" ledger_since

ledger_adjust() {
	run 0 ledger adjust "$L" --user=anna --account=chem --cpu=-1-00:00:00 --gpu=30:00 --reason="a b" --who=me &&
		run 0 ledger show "$L" && out "^anna  *-16.00  *4.50" &&
		run 0 ledger show "$L" --adjustments && out " me .*-24.00  *+0.50 .* a b$" &&
		run 0 ledger export "$L" && cp "$T/out" "$T/saved" && run 0 ledger import --dir="$T/ledger2" "$T/saved" &&
		run 0 ledger import --dir="$T/ledger2" "$T/saved" && out " 0 added, 4 known" &&
		run 0 ledger show --dir="$T/ledger2" && out "^anna  *-16.00  *4.50" &&
		run 0 ledger export --dir="$T/ledger2" && cmp "$T/out" "$T/saved"
}
ok "ledger adjust is journalled; export is what import reads" ledger_adjust

ledger_wrong() {
	run 2 ledger adjust "$L" --user=anna --cpu=1:00:00 && err "why? say --reason" &&
		run 2 ledger adjust "$L" --reason=x --cpu=1:00:00 && err "whose?" &&
		run 2 ledger adjust "$L" --user=x --reason=x && err "how much?" &&
		run 2 ledger adjust "$L" --user=x --reason=x --cpu=much && err "expected a time such as" &&
		run 2 ledger show "$L" --since=soon && err "expected 2026-01-31" &&
		run 2 ledger show "$L" --by=qos && err "expected user or account" && run 2 ledger frob && run 2 ledger import &&
		run 1 ledger import "$L" "$T/nowhere" && run 2 ledger create "$L" && err "there is one already" &&
		run 1 ledger show --dir="$T" && err "there is no ledger"
}
ok "ledger says what it needs" ledger_wrong

ledger_damaged() {
	printf '%s garbage' "$(head -c 600 "$T/sacct.txt")" >"$T/ledger2/ledger.db" && run 1 ledger show --dir="$T/ledger2" &&
		err "ledger.db: .*not a database" &&
		mv "$T/ledger2/ledger.db" "$T/ledger2/ledger.db.damaged-20260101T000000Z" &&
		run 1 ledger show --dir="$T/ledger2" && err "was damaged and set aside; make another with" &&
		run 0 ledger create --dir="$T/ledger2" && run 0 ledger show --dir="$T/ledger2"
}
ok "a damaged ledger is recognized" ledger_damaged

cat >"$T/used.lua" <<'EOF'
return { api = 1, name = "used", admit = function(job, cluster)
	return false, "used " .. (cluster.usage:past { by = "user", unit = "cpu" }.anna or 0)
end }
EOF
plan_ledger() {
	run 0 plan --policy="$T/used.lua" --json "$T/busy.json" && out "used 0" &&
		run 0 plan --policy="$T/used.lua" --ledger="$T/ledger/ledger.db" --json "$T/busy.json" && out "used -57600"
}
ok "plan --ledger decides with what was used" plan_ledger
fi

echo "1..$n"
