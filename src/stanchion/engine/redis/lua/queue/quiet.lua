-- Until when no upkeep is due: most calls need not even look. Whatever brings a duty forward disturbs. It is in the library's memory; a script,
-- which has none, keeps it beside the clock.

local call = use('call')
local context = use('context')
local keys = use('keys')

local LONGEST = 60 -- seconds after which one looks in any case

local quiet = {}
local ends = {} -- namespace -> when it may be over

local function till()
  if context.whole_records then return tonumber(call('hget', keys.engine(), 'quiet')) end
  return ends[context.namespace]
end

local function set(time)
  if context.whole_records then
    call('hset', keys.engine(), 'quiet', time or '')
  else
    ends[context.namespace] = time
  end
end

function quiet.disturb() set(nil) end

function quiet.till(time) set(math.min(time, context.now + LONGEST)) end

-- Something will be due then.
function quiet.at_most(time)
  local known = till()
  if known and time < known then set(time) end
end

-- Is nothing due? A clock that was set back is not trusted.
function quiet.is()
  local known = till()
  return known ~= nil and context.now < known and known - context.now <= LONGEST
end

return quiet
