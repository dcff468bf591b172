-- Every command to the server goes through here, so that a key of the wrong type can stop nobody: it is set aside under
-- another name, and the command finds nothing in its place.

local context = use('context')

-- What a command that reads finds where there is nothing.
local NOTHING = {
  hget = false, lindex = false, zscore = false,
  hexists = 0, hlen = 0, llen = 0, scard = 0, sismember = 0, zcard = 0, zcount = 0,
}
local NO_NUMBER = { hincrby = true, hincrbyfloat = true }

local function set_aside(key)
  redis.call('rename', key, context.namespace .. 'x:broken:' .. key)
end

local function nothing(command, ...)
  if command == 'hmget' then
    local none = {}
    for index = 1, select('#', ...) do none[index] = false end
    return none
  end
  local found = NOTHING[command]
  if found == nil then return {} end
  return found
end

local function recover(reply, command, key, ...)
  if string.find(reply.err, 'WRONGTYPE', 1, true) then
    if context.reads then return nothing(command, ...) end
    set_aside(key)
    return redis.call(command, key, ...)
  end
  if NO_NUMBER[command] then
    local field, step = ...
    redis.call('hset', key, field, step)
    return step
  end
  error(reply)
end

return function(command, key, ...)
  local reply = redis.pcall(command, key, ...)
  if type(reply) == 'table' and reply.err then return recover(reply, command, key, ...) end
  return reply
end
