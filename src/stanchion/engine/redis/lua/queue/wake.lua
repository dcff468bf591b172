-- Waking those who sleep until a queue has something for them: a marker in a list that one of them takes.
--
-- Only while somebody may be asleep: who asks how long to sleep (native/next) is noted in the library's memory. That is lost when the
-- library is loaded anew, so for a while after that everybody may be asleep.

local call = use('call')
local clock = use('clock')
local context = use('context')
local keys = use('keys')

local LONGEST_SLEEP = 60
local MARKERS = 64
local ASKS_AGAIN, LATE = 5, 0.5 -- so often a sleeper asks anew, and so late it may be

local wake = {}
local asleep = {} -- key -> until when somebody may be
local alarms = {} -- key -> who wakes for what is due when, and till when nobody else need
local since -- when the library was loaded

local function somebody_sleeps(key)
  if context.given then return true end
  since = since or context.now
  return context.now < (asleep[key] or since + LONGEST_SLEEP)
end

-- Note that somebody will sleep until the queue has something.
function wake.expect(queue, now) asleep[keys.wake(queue)] = now + LONGEST_SLEEP end

-- May this sleeper, who waits for so long at most, sleep till then? One wakes for what is due, and the others sleep on: it is the one who asked
-- first, as long as it asks again in time.
function wake.takes_alarm(queue, at, asker, patience)
  local key, now = keys.wake(queue), context.now
  local alarm = alarms[key]
  if alarm and alarm.asker ~= asker and alarm.at <= at and now < alarm.till then return false end
  local there_till = math.min(at, now + ASKS_AGAIN)
  if now + patience >= there_till then alarms[key] = { asker = asker, at = at, till = there_till + LATE } end
  return true
end

-- Wake one sleeper for each of so many jobs.
function wake.up(queue, count)
  local key = keys.wake(queue)
  if not somebody_sleeps(key) then return end
  for _ = 1, math.min(count or 1, MARKERS) do
    if call('rpush', key, 1) > MARKERS then
      call('ltrim', key, -MARKERS, -1)
      return
    end
  end
end

-- Somebody got a job, perhaps the one who was to wake for what is due soon: another may have to.
function wake.pass_alarm(queue)
  local key = keys.wake(queue)
  local alarm = alarms[key]
  if alarm and alarm.at < context.now + ASKS_AGAIN then
    alarms[key] = nil
    wake.up(queue)
  end
end

-- Nothing is left to wake for.
function wake.clear(queue)
  local key = keys.wake(queue)
  if somebody_sleeps(key) then call('del', key) end
end

wake.now = clock.server_time

return wake
