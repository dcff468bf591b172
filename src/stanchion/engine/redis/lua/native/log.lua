-- Add an entry to a job's history.

local history = use('queue/history')
local records = use('queue/records')
local replies = use('replies')

return function(args)
  local jid, message, more = args:text(), args:text(), args:text()
  records.require(jid)
  if not more then replies.bad_argument('log', 'data', 'must be a JSON object') end
  history.append(jid, nil, history.log_entry(message, more))
  return false
end
