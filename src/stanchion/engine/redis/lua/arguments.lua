-- Reading a command's arguments, one after another, as the caller laid them out. They were checked there already.

local NONE = '\0'

local Arguments = {}
Arguments.__index = Arguments

local arguments = {}

function arguments.of(args, at) return setmetatable({ args = args, at = at }, Arguments) end

function Arguments:text()
  local value = self.args[self.at]
  self.at = self.at + 1
  return value
end

-- A text, or nil where none was given.
function Arguments:optional()
  local value = self:text()
  if value == NONE then return nil end
  return value
end

function Arguments:number() return tonumber(self:text()) end

function Arguments:optional_number() return tonumber(self:optional()) end

function Arguments:flag() return self:text() == '1' end

function Arguments:names() return self:_names(self:number()) end

-- Names, or nil where none were given.
function Arguments:optional_names()
  local count = self:optional()
  return count and self:_names(tonumber(count)) or nil
end

function Arguments:_names(count)
  local names = {}
  for index = 1, count do names[index] = self.args[self.at + index - 1] end
  self.at = self.at + count
  return names
end

return arguments
