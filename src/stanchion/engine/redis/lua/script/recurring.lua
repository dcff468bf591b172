-- Recurring jobs, as old clients change them.

local call = use('call')
local json = use('script/json')
local keys = use('keys')
local native_recur = use('native/recur')
local native_recur_get = use('native/recur_get')
local native_recur_tag = use('native/recur_tag')
local native_recur_untag = use('native/recur_untag')
local native_recur_update = use('native/recur_update')
local native_unrecur = use('native/unrecur')
local run = use('script/run')
local show = use('script/show')
local texts = use('texts')

local recurring = {}

local NUMBERS = { priority = true, interval = true, retries = true, backlog = true }

local function interval_of(given, text)
  local interval = given:number_of(text, 'interval')
  if interval <= 0 then given:refuse('Arg "interval" not a number above 0: ' .. text) end
  return interval
end

function recurring.recur_at_interval(given)
  local queue, jid, klass, data = given:need('queue'), given:need('jid'), given:need('klass'), given:json('data')
  local interval, offset = interval_of(given, given:text()), given:number('offset')
  local options = given:options()
  return run(
    native_recur, queue, jid, klass, data, interval, offset,
    options.priority and given:number_of(options.priority, 'priority'), given:names_of(options.tags, 'tags') or {},
    options.retries and given:whole_of(options.retries, 'retries', -1),
    options.backlog and given:whole_of(options.backlog, 'backlog', 0),
    given:names_of(options.throttles, 'throttles') or {}
  )
end

function recurring.recur(given)
  local spec = given.args[given.at + 4]
  if spec ~= 'interval' then given:refuse('schedule type "' .. tostring(spec) .. '" unknown') end
  table.remove(given.args, given.at + 4)
  return recurring.recur_at_interval(given)
end

function recurring.unrecur(given) return run(native_unrecur, given:need('jid')) end

function recurring.get(given, style)
  local found = run(native_recur_get, given:need('jid'))
  return found and show.recurring(found[1], style)
end

local function check(given, name, text)
  if not text then given:refuse('No value provided for ' .. name) end
  if name == 'interval' then return interval_of(given, text) end
  if NUMBERS[name] then return given:whole_of(text, name, name == 'priority' and -math.huge or name == 'retries' and -1 or 0) end
  if name == 'data' and not texts.is_json(text) then given:refuse('Arg "data" is not JSON-encoded: ' .. text) end
  if name == 'throttles' then return given:names_of(text, name) end
  if name == 'data' or name == 'klass' or name == 'queue' then return text end
  given:refuse('Unrecognized option "' .. name .. '"')
end

function recurring.update(given)
  local jid, changes = given:need('jid'), {}
  while given:count() > 0 do
    local name = given:text()
    changes[name] = check(given, name, given:text())
  end
  run(
    native_recur_update, jid, changes.priority, changes.interval, changes.retries, changes.data, changes.klass, changes.queue,
    changes.backlog
  )
  if changes.throttles then call('hset', keys.recurring(jid), 'throttles', texts.list(changes.throttles)) end
  return 1
end

function recurring.tag(given, style) return json.names(run(native_recur_tag, given:need('jid'), given:rest()), style) end

function recurring.untag(given, style) return json.names(run(native_recur_untag, given:need('jid'), given:rest()), style) end

return recurring
