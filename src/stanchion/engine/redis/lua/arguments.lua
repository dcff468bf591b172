-- Reading a command's arguments, one after another, as the caller laid them out. They were checked there already. Those at the end that have
-- their defaults are not sent.

local NONE = '\0'
local EMPTY = {} -- nobody changes a list that was read

local Arguments = {}
Arguments.__index = Arguments

local arguments = {}

-- A reader of arguments from a place to another.
function arguments.of(args, at, last) return setmetatable({ args = args, at = at, last = last or #args }, Arguments) end

-- A text, or nil where none was given.
function Arguments:text()
  local at = self.at
  if at > self.last then return nil end
  self.at = at + 1
  local value = self.args[at]
  if value == NONE then return nil end
  return value
end

-- A number, or nil where none was given.
function Arguments:number()
  if self.at > self.last then return nil end
  local value = self:text()
  return value and tonumber(value)
end

function Arguments:flag() return self:text() == '1' end

-- A list of names, or nil where none was given.
function Arguments:optional_names()
  if self.at > self.last then return nil end
  local count = self:number()
  if not count then return nil end
  local names = {}
  for index = 1, count do names[index] = self.args[self.at + index - 1] end
  self.at = self.at + count
  return names
end

function Arguments:names()
  if self.at > self.last then return EMPTY end
  return self:optional_names() or EMPTY
end

-- A reader of the arguments of a part, which are preceded by their number.
function Arguments:part()
  local count = self:number()
  local reader = arguments.of(self.args, self.at, self.at + count - 1)
  self.at = self.at + count
  return reader
end

return arguments
