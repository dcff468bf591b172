-- Which of the server's commands that functions use may this user not run? They are tried, on keys of their own.

local context = use('context')

local TRIES = {
  { 'hset', 'hash', 'f', '1' }, { 'hget', 'hash', 'f' }, { 'hmget', 'hash', 'f' }, { 'hgetall', 'hash' }, { 'hkeys', 'hash' },
  { 'hincrby', 'hash', 'n', 1 }, { 'hdel', 'hash', 'n' },
  { 'zadd', 'zset', 1, 'm' }, { 'zincrby', 'zset', 1, 'm' }, { 'zscore', 'zset', 'm' }, { 'zcard', 'zset' },
  { 'zcount', 'zset', 0, 1 }, { 'zrange', 'zset', 0, 0 }, { 'zrevrange', 'zset', 0, 0 }, { 'zrangebyscore', 'zset', 0, 1 },
  { 'zrem', 'zset', 'm' },
  { 'sadd', 'set', 'm' }, { 'scard', 'set' }, { 'sismember', 'set', 'm' }, { 'smembers', 'set' }, { 'srandmember', 'set', 1 },
  { 'srem', 'set', 'm' },
  { 'rpush', 'list', 'a' }, { 'rpushx', 'list', 'b' }, { 'lpush', 'list', 'c' }, { 'linsert', 'list', 'after', 'a', 'd' },
  { 'llen', 'list' }, { 'lindex', 'list', 0 }, { 'lrange', 'list', 0, 0 }, { 'lrem', 'list', 1, 'd' }, { 'ltrim', 'list', 0, 0 },
  { 'exists', 'list' }, { 'rename', 'list', 'moved' }, { 'unlink', 'moved' }, { 'del', 'hash' }, { 'publish', 'try', '' },
}

local function try(command, name, ...)
  local arguments = { ... }
  if command == 'rename' then arguments[1] = context.namespace .. 'x:may:' .. arguments[1] end
  local reply = redis.pcall(command, context.namespace .. 'x:may:' .. name, unpack(arguments))
  return type(reply) ~= 'table' or not reply.err or not string.find(reply.err, 'ACL', 1, true)
end

return function()
  local denied = {}
  for _, one in ipairs(TRIES) do
    if not try(unpack(one)) then denied[#denied + 1] = one[1] end
  end
  for _, name in ipairs({ 'hash', 'zset', 'set', 'list', 'moved' }) do try('del', name) end
  return denied
end
