-- Throttles, as old clients see them. A queue's own throttle limits how many of its jobs run: its places are those that run.

local call = use('call')
local json = use('script/json')
local keys = use('keys')
local native_throttle_delete = use('native/throttle_delete')
local native_throttle_get = use('native/throttle_get')
local native_throttle_locks = use('native/throttle_locks')
local native_throttle_pending = use('native/throttle_pending')
local native_throttle_release = use('native/throttle_release')
local native_throttle_set = use('native/throttle_set')
local run = use('script/run')

local throttles = {}

local NO_SUCH, NO_END = -2, -1

-- The queue that has this throttle as its own, or nil.
local function queue_of(id)
  local start = keys.own_throttle('')
  return string.sub(id, 1, #start) == start and string.sub(id, #start + 1) or nil
end

-- The seconds until a limit ends: -1 if it does not, -2 if there is none.
local function ttl(id)
  local found = run(native_throttle_get, id)
  if found[3] then return math.max(0, math.ceil(tonumber(found[3]))) end
  if call('exists', keys.throttle(id)) == 0 then return NO_SUCH end
  local old = call('ttl', keys.throttle(id))
  return old > 0 and old or NO_END
end

local function show(id)
  local maximum = run(native_throttle_get, id)[2]
  return json.object('id', json.quote(id), 'maximum', json.number(maximum), 'ttl', json.number(ttl(id)))
end

local function set(given, id)
  local maximum, expiration = given:number('maximum'), given:number('expiration', 0)
  return run(native_throttle_set, id, math.max(0, math.floor(maximum)), math.max(0, expiration))
end

function throttles.set(given) return set(given, given:need('id')) end

function throttles.get(given) return show(given:need('id')) end

function throttles.set_own(given) return set(given, keys.own_throttle(given:need('queue'))) end

function throttles.get_own(given) return show(keys.own_throttle(given:need('queue'))) end

function throttles.delete(given) return run(native_throttle_delete, given:need('id')) end

-- The jids that hold a place.
function throttles.locks(given, style)
  local id = given:need('id')
  local queue = queue_of(id)
  return json.names(queue and call('zrange', keys.locks(queue), 0, -1) or run(native_throttle_locks, id), style)
end

-- The jids that wait for one.
function throttles.pending(given, style) return json.names(run(native_throttle_pending, given:need('id')), style) end

function throttles.ttl(given) return ttl(given:need('id')) end

function throttles.release(given) return run(native_throttle_release, given:need('id'), given:rest()) end

return throttles
