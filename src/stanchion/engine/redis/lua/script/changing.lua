-- What old clients change in a job.

local json = use('script/json')
local native_cancel = use('native/cancel')
local native_depend = use('native/depend')
local native_log = use('native/log')
local native_priority = use('native/priority')
local native_undepend = use('native/undepend')
local run = use('script/run')

local changing = {}

local function names_of(jids, style) return style.names_jobs and jids or json.names(jids, style) end

-- The jids that were canceled.
function changing.cancel(given, style)
  local jids = given:rest()
  return names_of(#jids > 0 and run(native_cancel, jids) or {}, style)
end

function changing.priority(given)
  local jid = given:need('jid')
  local priority = given:number('priority')
  run(native_priority, jid, priority)
  return priority
end

function changing.depend(given)
  run(native_depend, given:need('jid'), given:rest())
  return 1
end

function changing.undepend(given)
  local jid, jids = given:need('jid'), given:rest()
  if jids[1] == 'all' then jids = nil end
  run(native_undepend, jid, jids)
  return 1
end

function changing.depends(given)
  local jid, command = given:need('jid'), given:need('command')
  given.at = given.at - 1
  given.args[given.at] = jid
  if command == 'on' then return changing.depend(given) end
  if command == 'off' then return changing.undepend(given) end
  given:refuse('Argument "command" must be "on" or "off"')
end

-- The data of an entry as an object.
local function more_of(text)
  if not text then return '{}' end
  if string.find(text, '^%s*{') then return text end
  return '{"data":' .. text .. '}'
end

function changing.log(given)
  local jid, message = given:need('jid'), given:need('message')
  return run(native_log, jid, message, more_of(given:optional_json('data')))
end

return changing
