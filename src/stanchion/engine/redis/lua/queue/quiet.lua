-- Until when no upkeep is due, as far as this library's memory knows: most calls need not even look. Whatever brings a duty forward disturbs.

local context = use('context')

local LONGEST = 60 -- seconds after which one looks in any case

local quiet = {}
local ends = {} -- namespace -> when it may be over

function quiet.disturb() ends[context.namespace] = nil end

function quiet.till(time) ends[context.namespace] = math.min(time, context.now + LONGEST) end

-- Something will be due then.
function quiet.at_most(time)
  local till = ends[context.namespace]
  if till and time < till then ends[context.namespace] = time end
end

-- Is nothing due? A clock that was set back is not trusted.
function quiet.is()
  local till = ends[context.namespace]
  return till ~= nil and context.now < till and till - context.now <= LONGEST
end

return quiet
