-- Set a limit: at most so many jobs with this throttle run at once. It is gone after some seconds, if any are given.

local call = use('call')
local context = use('context')
local keys = use('keys')
local quiet = use('queue/quiet')
local replies = use('replies')
local throttles = use('queue/throttles')

return function(args)
  local id, maximum, expiration = args:text(), args:number(), args:number() or 0
  local ending = keys.shared_ending('throttle', id)
  if ending then replies.bad_argument('throttle.set', 'id', 'must not end in ' .. ending .. ', which names a key of another') end
  local expires = expiration > 0 and context.now + expiration or 0
  call('hset', keys.throttle(id), 'id', id, 'maximum', maximum, 'x-expires', expires)
  call('sadd', keys.throttles(), id)
  if expires > 0 then
    call('zadd', keys.expiring(), expires, id)
  else
    call('zrem', keys.expiring(), id)
  end
  quiet.disturb()
  throttles.let_in(id)
  return false
end
