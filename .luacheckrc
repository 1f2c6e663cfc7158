-- SPDX-License-Identifier: MIT
std = "lua54"
max_line_length = 120
exclude_files = { "examples/demo/broken.lua" }
files["spec"] = { std = "+busted" }
