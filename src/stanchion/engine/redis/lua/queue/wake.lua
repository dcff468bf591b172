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

local wake = {}
local asleep = {} -- key -> until when somebody may be
local since -- when the library was loaded

local function somebody_sleeps(key)
  if context.given then return true end
  since = since or context.now
  return context.now < (asleep[key] or since + LONGEST_SLEEP)
end

-- Note that somebody will sleep until the queue has something.
function wake.expect(queue, now) asleep[keys.wake(queue)] = now + LONGEST_SLEEP end

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

-- Nothing is left to wake for.
function wake.clear(queue)
  local key = keys.wake(queue)
  if somebody_sleeps(key) then call('del', key) end
end

wake.now = clock.server_time

return wake
