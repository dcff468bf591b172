-- What old clients do to queues.

local call = use('call')
local json = use('script/json')
local keys = use('keys')
local native_pause = use('native/pause')
local native_queue_forget = use('native/queue_forget')
local native_unpause = use('native/unpause')
local run = use('script/run')

local queues = {}

function queues.pause(given) return run(native_pause, given:some('queue')) end

function queues.unpause(given) return run(native_unpause, given:some('queue')) end

function queues.forget(given) return run(native_queue_forget, given:some('queue')) end

-- The known queues in the order first seen.
function queues.names(_, style) return json.names(call('zrange', keys.queues(), 0, -1), style) end

return queues
