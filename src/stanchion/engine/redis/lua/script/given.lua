-- The arguments of an old client's call, one after another, and what is said when one is wrong.

local texts = use('texts')

local finite = texts.finite

local Given = {}
Given.__index = Given

local given = {}

-- Refuse the call with an error that old clients can take apart.
function given.refuse(area, message) error({ refused = 'ERR user_script:0: ' .. area .. '(): ' .. message }) end

-- A reader of a call's arguments from a place on.
function given.of(args, at, area) return setmetatable({ args = args, at = at, area = area }, Given) end

function Given:refuse(message) given.refuse(self.area, message) end

-- How many are left.
function Given:count() return #self.args - self.at + 1 end

-- A text, or nil where none was given.
function Given:text()
  local value = self.args[self.at]
  self.at = self.at + 1
  return value
end

function Given:need(name)
  return self:text() or self:refuse('Arg "' .. name .. '" missing')
end

-- The number that a text is; a refusal where it is none.
function Given:number_of(text, name)
  if not text then self:refuse('Arg "' .. name .. '" missing or not a number: nil') end
  return finite(text) or self:refuse('Arg "' .. name .. '" not a number: ' .. text)
end

function Given:whole_of(text, name, least)
  local number = self:number_of(text, name)
  if number ~= math.floor(number) or number < least then
    self:refuse('Arg "' .. name .. '" not a number that can be: ' .. text)
  end
  return number
end

-- A number; without a default it must be there.
function Given:number(name, default)
  local text = self:text()
  if not text and default then return default end
  return self:number_of(text, name)
end

-- A place to begin at, and how many from there; -1 is all.
function Given:page(count)
  local offset = self:number('offset', 0)
  local wanted = self:number('count', count or 25)
  if wanted < 0 then wanted = 2 ^ 31 end
  return math.max(0, math.floor(offset)), math.floor(wanted)
end

-- A JSON text, which stays as it is.
function Given:json(name)
  local text = self:text()
  if not text or not texts.is_json(text) then self:refuse('Arg "' .. name .. '" missing or not JSON: ' .. tostring(text)) end
  return text
end

-- A JSON text that may be left out.
function Given:optional_json(name)
  if not self.args[self.at] then return nil end
  return self:json(name)
end

-- The names of a JSON list; numbers are taken as their texts. Some clients write an empty list as an object.
function Given:names_of(text, name)
  if not text then return nil end
  local names = texts.any_names(text)
  return names or self:refuse('Arg "' .. name .. '" not JSON array: ' .. text)
end

-- All that are left.
function Given:rest()
  local rest = {}
  for index = self.at, #self.args do rest[#rest + 1] = self.args[index] end
  self.at = #self.args + 1
  return rest
end

-- All that are left; at least one.
function Given:some(name)
  if self:count() < 1 then self:refuse('Arg "' .. name .. '" missing') end
  return self:rest()
end

-- Pairs of a name and a value.
function Given:options()
  if self:count() % 2 == 1 then self:refuse('Odd number of additional args: ' .. self:count()) end
  local options = {}
  while self:count() > 0 do
    local name = self:text()
    options[name] = self:text()
  end
  return options
end

return given
