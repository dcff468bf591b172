-- What old clients do to queues.

local call = use('call')
local json = use('script/json')
local keys = use('keys')
local native = use('script/native')

local queues = {}

function queues.pause(given) return native('pause', given:some('queue')) end

function queues.unpause(given) return native('unpause', given:some('queue')) end

function queues.forget(given) return native('queue_forget', given:some('queue')) end

-- The known queues in the order first seen.
function queues.names(_, style) return json.names(call('zrange', keys.queues(), 0, -1), style) end

return queues
