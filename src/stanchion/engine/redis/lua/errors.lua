-- What a call is answered: its reply, or the error that was raised.

local errors = {}

function errors.answer(ok, reply)
  if ok then return reply end
  if type(reply) == 'table' and reply.refused then return redis.error_reply(reply.refused) end
  if type(reply) == 'table' and reply.err then return redis.error_reply(reply.err) end
  return redis.error_reply('ERR ' .. tostring(reply))
end

return errors
