-- How long a job waits before it is tried again, where whoever put it said so: a JSON object of initial_delay, in seconds, and factor.

local call = use('call')
local keys = use('keys')
local texts = use('texts')

local backoff = {}

-- The waits that a text describes, or nil.
function backoff.read(text)
  if not text then return nil end
  local fields = texts.fields(text)
  local initial, factor = texts.finite(fields.initial_delay) or 0, texts.finite(fields.factor) or 1
  return initial > 0 and { initial = initial, factor = factor } or nil
end

function backoff.store(jid, text) call('hset', keys.job(jid), 'backoff', text) end

-- The seconds before the next try, after so many.
function backoff.delay(jid, tries)
  local waits = backoff.read(call('hget', keys.job(jid), 'backoff') or nil)
  local delay = waits and waits.initial * waits.factor ^ tries or 0
  return delay == delay and delay < 1e10 and delay or 0
end

return backoff
