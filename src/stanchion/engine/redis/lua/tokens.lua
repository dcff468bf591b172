-- Requests that were answered, for those that did not hear the answer: the same token is answered the same, and nothing is done again.
--
-- Tokens are kept in a hash for each generation, which is dropped whole: a minute for those that the driver made for its own repeats (request
-- is empty), a day for those of callers.

local call = use('call')
local context = use('context')
local keys = use('keys')
local replies = use('replies')

local MINUTE, DAY = 60, 86400
local DROPPED = 100 -- generations that one call drops

local tokens = {}
local present = {} -- key -> true, for the generations known to be listed

local function keys_of(request)
  local kind, length = 'm', MINUTE
  if request ~= '' then
    kind, length = 'd', DAY
  end
  local number = math.floor(context.now / length)
  return keys.generation(string.format('%s%.0f', kind, number)), keys.generation(string.format('%s%.0f', kind, number - 1)),
    (number + 2) * length
end

local function list_generation(key, ends)
  if present[key] then return end
  present[key] = true
  call('zadd', keys.generations(), ends, key)
  for _, old in ipairs(call('zrangebyscore', keys.generations(), '-inf', context.now, 'limit', 0, DROPPED)) do
    call('unlink', old)
    call('zrem', keys.generations(), old)
    present[old] = nil
  end
end

local function answered(token, now_key, before_key)
  local found = call('hget', now_key, token) or call('hget', before_key, token)
  return found and cmsgpack.unpack(found)
end

-- Run a command unless one with its token was answered before: then that answer is given again.
function tokens.once(command, token, request, reader)
  local now_key, before_key, ends = keys_of(request)
  local before = answered(token, now_key, before_key)
  if before then
    if before[1] ~= request then replies.refuse('token-reused', 'token', token, 'earlier', before[3] or '?') end
    -- Kept once more, so that there is a write whose arrival on replicas can be waited for.
    call('hset', now_key, token, cmsgpack.pack(before))
    list_generation(now_key, ends)
    return command.recall and command.recall(before[2]) or before[2]
  end
  local reply = command.run(reader)
  local kept = reply
  if command.remember then kept = command.remember(reply) end
  call('hset', now_key, token, cmsgpack.pack({ request, kept, command.name }))
  list_generation(now_key, ends)
  return reply
end

return tokens
