-- SPDX-License-Identifier: MIT
--
-- sched.evolve_parse - the text of an expression as a tree of sched.evolve_tree: Lua's own syntax, with the
-- language's fields as names, + - * / ^, min, max, log and sqrt (with or without "math."), divide(a, b), comparisons,
-- and "condition and a or b".

local tree = require "sched.evolve_tree"

local M = {}

local MOST_BYTES <const>, MOST_DEPTH <const> = 20000, 60

local function fail(format, ...)
	error({ why = format:format(...) }, 0)
end

-- { kind, text } of each word.
local function words_of(text)
	local list, at = {}, 1
	while true do
		at = text:find("%S", at)
		if not at then
			break
		end
		local number = text:match("^%d+%.?%d*[eE][+-]?%d+", at) or text:match("^%d+%.?%d*", at) or text:match("^%.%d+", at)
		local name = text:match("^[%a_][%w_.]*", at)
		local sign = text:match("^[<>]=?", at) or text:match("^[-+*/^(),]", at)
		local word = number or name or sign or fail("'%s': not expected in an expression", text:sub(at, at))
		list[#list + 1] = { number and "number" or name and "name" or "sign", word }
		at = at + #word
	end
	return list
end

local Parser = {}
Parser.__index = Parser

function Parser:peek()
	return self.words[self.at] and self.words[self.at][2]
end

function Parser:take(wanted)
	if self:peek() == wanted then
		self.at = self.at + 1
		return true
	end
	return false
end

function Parser:expect(wanted)
	if not self:take(wanted) then
		fail("expected '%s' before '%s'", wanted, self:peek() or "the end")
	end
end

local function number(node)
	if tree.is_condition(node) or node.half then
		fail("expected a number, got a condition")
	end
	return node
end

local function condition(node)
	if not tree.is_condition(node) or node.half then
		fail("expected a condition")
	end
	return node
end

local functions = { min = true, max = true, log = true, sqrt = true, divide = true }

function Parser:call(name)
	local list = {}
	self:expect("(")
	repeat
		list[#list + 1] = number(self:any())
	until not self:take(",")
	self:expect(")")
	local single = name == "log" or name == "sqrt"
	if single and #list ~= 1 or not single and #list < 2 or name == "divide" and #list ~= 2 then
		fail("%s: has %d arguments", name, #list)
	end
	if name == "sqrt" then
		return { "^", list[1], tree.const(0.5) }
	elseif name == "log" then
		return { "log", list[1] }
	end
	local node = list[1]
	for i = 2, #list do
		node = { name == "divide" and "/" or name, node, list[i] }
	end
	return node
end

function Parser:atom()
	local word = self.words[self.at]
	if not word then
		fail("expected more after the end")
	end
	self.at = self.at + 1
	if word[1] == "number" then
		return tree.const(tonumber(word[2]))
	elseif word[2] == "(" then
		local node = self:any()
		self:expect(")")
		if node.half then
			fail("expected 'or' after 'and'")
		end
		return node
	end
	local name = word[2]:gsub("^math%.", "")
	if word[1] == "name" and functions[name] then
		return self:call(name)
	elseif word[1] == "name" and self.language.field[name] then
		return { "field", name = name }
	end
	fail("'%s': no field or function of this language", word[2])
end

function Parser:power()
	local base = self:atom()
	if self:take("^") then
		return { "^", number(base), number(self:unary()) }
	end
	return base
end

function Parser:unary()
	self.depth = self.depth + 1
	if self.depth > MOST_DEPTH then
		fail("too deep")
	end
	local node
	if self:take("-") then
		local of = number(self:unary())
		node = of[1] == "const" and tree.const(-of.value) or { "-", tree.const(0), of }
	else
		node = self:power()
	end
	self.depth = self.depth - 1
	return node
end

-- Operators of one level, from the left.
local function chain(next_level, ops)
	return function(self)
		local node = next_level(self)
		while ops[self:peek()] do
			local op = self:peek()
			self.at = self.at + 1
			node = { op, number(node), number(next_level(self)) }
		end
		return node
	end
end

Parser.product = chain(Parser.unary, { ["*"] = true, ["/"] = true })
Parser.sum = chain(Parser.product, { ["+"] = true, ["-"] = true })

function Parser:comparison()
	local a, op = self:sum(), self:peek()
	if op ~= "<" and op ~= ">" and op ~= "<=" and op ~= ">=" then
		return a
	end
	self.at = self.at + 1
	local b = number(self:sum())
	if op:sub(1, 1) == "<" then
		return { "<", number(a), b }
	end
	return { "<", b, number(a) }
end

-- "condition and number" is half of "condition and a or b".
function Parser:conjunction()
	local node = self:comparison()
	while self:take("and") do
		local other = self:comparison()
		node = { "and", condition(node), other, half = not tree.is_condition(other) }
	end
	return node
end

function Parser:any()
	self.depth = self.depth + 1
	if self.depth > MOST_DEPTH then
		fail("too deep")
	end
	local node = self:conjunction()
	while self:take("or") do
		if node.half then
			node = { "if", node[2], node[3], number(self:any()) }
		else
			node = { "or", condition(node), condition(self:conjunction()) }
		end
	end
	self.depth = self.depth - 1
	return node
end

--- The tree of an expression of a language; nil and why it is none.
function M.parse(text, language)
	if #text > MOST_BYTES then
		return nil, "too long"
	end
	local ok, node = pcall(function()
		local parser = setmetatable({ words = words_of(text), at = 1, language = language, depth = 0 }, Parser)
		local whole = number(parser:any())
		if parser:peek() then
			fail("'%s': not expected there", parser:peek())
		end
		return whole
	end)
	if ok then
		return node
	elseif type(node) == "table" and node.why then
		return nil, node.why
	end
	error(node, 0)
end

return M
