-- Tracked jobs, as old clients mark and list them.

local call = use('call')
local json = use('script/json')
local keys = use('keys')
local native_track = use('native/track')
local native_tracked = use('native/tracked')
local native_untrack = use('native/untrack')
local run = use('script/run')
local show = use('script/show')

local tracking = {}

function tracking.add(given) return tostring(run(native_track, given:need('jid'))) end

function tracking.remove(given) return tostring(run(native_untrack, given:need('jid'))) end

-- The tracked jobs that exist, and the jids of those that do not.
function tracking.all(_, style)
  local found = run(native_tracked)
  return json.object('jobs', show.jobs(found[1], style), 'expired', json.names(found[2], style))
end

-- The jids alone.
function tracking.tracked(_, style) return json.names(call('zrange', keys.tracked(), 0, -1), style) end

function tracking.track(given, style)
  local command = given:text()
  if not command then return tracking.all(given, style) end
  command = string.lower(command)
  if command == 'track' then return tracking.add(given) end
  if command == 'untrack' then return tracking.remove(given) end
  given:refuse('Unknown action "' .. command .. '"')
end

return tracking
