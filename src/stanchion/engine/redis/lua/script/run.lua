-- Runs a command of the queue, from within: a list goes as its length and its members, what is left out as NUL.

local arguments = use('arguments')

local NONE = '\0'

local function add(args, value)
  if type(value) == 'table' then
    args[#args + 1] = #value
    for _, member in ipairs(value) do args[#args + 1] = member end
  elseif value == nil then
    args[#args + 1] = NONE
  elseif type(value) == 'boolean' then
    args[#args + 1] = value and '1' or '0'
  else
    args[#args + 1] = value
  end
end

return function(native, ...)
  local args = {}
  for index = 1, select('#', ...) do add(args, (select(index, ...))) end
  return native(arguments.of(args, 1))
end
