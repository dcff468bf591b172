-- Hand out one job of a queue's line that somebody asks for by its jid.

local call = use('call')
local config = use('config')
local keys = use('keys')
local taking = use('queue/taking')
local throttles = use('queue/throttles')
local workers = use('queue/workers')

return function(queue, jid, worker)
  workers.see(worker)
  if call('sismember', keys.paused(), queue) == 1 then return {} end
  local heartbeat, limit, history_limit = config.of_queue(queue)
  limit = throttles.limit_of_queue(queue, limit)
  return taking.hand_out(taking.take_named(queue, jid, limit), queue, worker, heartbeat, history_limit)
end
