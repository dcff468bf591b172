-- Tracked jobs, as old clients mark and list them.

local call = use('call')
local json = use('script/json')
local keys = use('keys')
local native = use('script/native')
local show = use('script/show')

local tracking = {}

function tracking.add(given) return tostring(native('track', given:need('jid'))) end

function tracking.remove(given) return tostring(native('untrack', given:need('jid'))) end

-- The tracked jobs that exist, and the jids of those that do not.
function tracking.all(_, style)
  local found = native('tracked')
  return json.object('jobs', show.jobs(found[1], style), 'expired', json.names(found[2], style))
end

-- The jids alone.
function tracking.tracked(_, style) return json.names(call('zrange', keys.tracked(), 0, -1), style) end

function tracking.track(given, style)
  local command = given:text()
  if not command then return tracking.all(given, style) end
  local jid_follows = { track = tracking.add, untrack = tracking.remove }
  local run = jid_follows[string.lower(command)] or given:refuse('Unknown action "' .. command .. '"')
  return run(given)
end

return tracking
