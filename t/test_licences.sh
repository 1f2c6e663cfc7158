#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Each file of the source that can have a comment names its licence, GPL in plugin/ and MIT elsewhere; and the text of
# each licence is in LICENSES, where `reuse lint` looks for it.

# shellcheck source=t/tool/tool.sh
. "${0%/*}/tool/tool.sh"
cd "${0%/*}/.." || exit 1

# DIRECTORY... : files of the kinds that can have a comment
sources() {
	find "$@" -type f \( -name '*.[ch]' -o -name '*.lua' -o -name '*.sh' -o -name '*.am' -o -name '*.md' -o -name '*.t' \
		-o -name '*.css' -o -name '*.js' -o -name '*.html' -o -name '*.py' -o -name '*.yml' -o -name '*.toml' \) \
		! -name 'uPlot*' ! -path '*/corpus/*' ! -path '*/node_modules/*'
}

# IDENTIFIER FILE... : those whose first lines do not name it
unlike() {
	spdx="SPDX-License-Identifier: $1"
	shift
	for file; do
		head -n 20 "$file" | grep -q "$spdx" || echo "$file: expected $spdx"
	done
}

# shellcheck disable=SC2046
mit() { unlike MIT README.md HACKING.md NEWS.md Makefile.am REUSE.toml CITATION.cff quickstart release configure.ac \
	$(sources bench doc engine examples lab lua packaging report spec t) >"$T/out" && quiet out; }
ok "files name their licence, MIT" mit

# shellcheck disable=SC2046
gpl() { unlike GPL-2.0-or-later $(sources plugin) >"$T/out" && quiet out; }
ok "those of the plug-in GPL-2.0-or-later" gpl

forgotten() { echo 'int x;' >"$T/x.c" && unlike MIT "$T/x.c" >"$T/out" && out "x.c: expected SPDX" && rm "$T/x.c" && : >"$T/out"; }
ok "a file without is named" forgotten

texts() {
	cmp plugin/COPYING LICENSES/GPL-2.0-or-later.txt && sed -n '/^Copyright/,$p' LICENSE >"$T/mit" &&
		sed -n '/^Copyright/,$p' LICENSES/MIT.txt | cmp - "$T/mit"
}
ok "the texts in LICENSES are those that are installed" texts

echo "1..$n"
