-- The engine's time: the server's, which never goes back for us.
--
-- What is kept in the library's memory is also in x:engine, about a second late: a server that starts again, or takes over, goes on
-- from there. If more time has passed than a lock lasts, nobody could renew anything meanwhile (the server was away, or its clock was
-- stepped): then the living get time to do so before lapsed locks are handed over.

local call = use('call')
local config = use('config')
local context = use('context')
local keys = use('keys')
local texts = use('texts')

local WRITE_EVERY = 1

local clock = {}
local known = {} -- namespace -> { latest, written }

-- The server's time, in seconds, and the same as text.
local function server_time()
  local time = redis.call('time')
  -- As whole numbers: a fraction costs the server far more to read.
  return tonumber(time[1]) + tonumber(time[2]) / 1000000, time[1] .. '.' .. string.rep('0', 6 - #time[2]) .. time[2]
end

local function recall(namespace)
  local latest = tonumber(call('hget', keys.engine(), 'clock')) or 0
  known[namespace] = { latest = latest, written = latest }
  return known[namespace]
end

local function notice_absence(from, now)
  local heartbeat = config.number('heartbeat')
  if from > 0 and now - from > heartbeat then call('hset', keys.engine(), 'amnesty', now + heartbeat / 2) end
end

local function write(state, now)
  notice_absence(state.latest, now)
  call('hset', keys.engine(), 'clock', now)
  state.written = now
end

-- Set the time of this call: the one given, or the clock's.
function clock.set(given)
  context.given = given ~= ''
  if context.given then
    context.now, context.now_text = tonumber(given), given
    return
  end
  local state = known[context.namespace] or recall(context.namespace)
  local now, text = server_time()
  if now < state.latest then
    now = state.latest
    text = texts.number(now)
  end
  context.now, context.now_text = now, text
  if context.reads then return end
  if now - state.written >= WRITE_EVERY then write(state, now) end
  state.latest = now
end

-- Are lapsed locks left alone, so that the living can renew theirs?
function clock.amnesty()
  if context.given then return false end
  local till = tonumber(call('hget', keys.engine(), 'amnesty'))
  return till ~= nil and till > context.now
end

clock.server_time = server_time

return clock
