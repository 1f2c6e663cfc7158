# SPDX-License-Identifier: MIT
#
# rows.awk ROW PAGE - PAGE with the row of its first table that has the same first cell replaced, or added at
# the end; unless that one is of the same release and of a run that looked at more.
function rank(extent) { return extent ~ /^whole/ ? 3 : extent ~ /^short/ ? 2 : 1 }
function cell(row, n, c) { split(row, c, / \| /); return c[n] }
function name(row) { sub(/^\| /, "", row); return cell(row, 1) }

BEGIN { FS = "\n" }
FILENAME == ARGV[1] { new = $0; next }
/^\| [0-9][0-9]\.[0-9]/ && !over {
	table = 1
	if (name($0) == name(new)) {
		placed = 1
		if (cell($0, 2) != cell(new, 2) || rank(cell($0, 7)) <= rank(cell(new, 7))) $0 = new
	} else if (!placed && name($0) > name(new)) {
		placed = 1
		print new
	}
	print
	next
}
table && !placed { print new; placed = 1 }
table { over = 1 }
{ print }
/^\|---/ { table = 1 }
END { if (!placed) print new }
