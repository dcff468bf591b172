-- Workers: when each was last seen.

local call = use('call')
local config = use('config')
local context = use('context')
local keys = use('keys')

local workers = {}

-- The worker shows that it lives.
function workers.see(worker) call('zadd', keys.workers(), context.now_text, worker) end

-- Who was last seen before this is dropped.
function workers.oldest_seen() return context.now - config.number('max-worker-age') end

return workers
