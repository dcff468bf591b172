-- The engine's time: the server's, which never goes back for us.
--
-- What is kept in the library's memory is also in x:engine, about a second late: a server that starts again, or takes over, goes on
-- from there. A longer gap is an absence: the server was away, or its clock was stepped, and nobody could renew anything meanwhile. If it
-- outlasts the locks of a queue, its living workers get time to renew theirs before locks that lapsed in it are handed over.

local call = use('call')
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

local function last_absence()
  local away = call('hmget', keys.engine(), 'away-from', 'away-till')
  return tonumber(away[1]), tonumber(away[2])
end

-- A longer absence that still counts is not forgotten for a shorter one.
local function notice_absence(from, now)
  local before, till = last_absence()
  if till and till - before > now - from and now < till + (till - before) / 2 then return end
  call('hset', keys.engine(), 'away-from', from, 'away-till', now)
end

local function write(state, now)
  if state.latest > 0 and now - state.latest > WRITE_EVERY then notice_absence(state.latest, now) end
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

-- By when a lock must have ended to be handed over: now; but if the server was away for longer than the locks of the queue last, when it
-- went, until half a heartbeat after it was back. Then that moment comes second.
function clock.lapsed_by(heartbeat)
  if context.given then return context.now end
  local from, till = last_absence()
  if not till or till - from <= heartbeat or till + heartbeat / 2 <= context.now then return context.now end
  return from, till + heartbeat / 2
end

clock.server_time = server_time

return clock
