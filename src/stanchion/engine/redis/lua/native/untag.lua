-- Take tags from a job; the reply is the tags left.

local records = use('queue/records')
local tags = use('queue/tags')
local texts = use('texts')

return function(args)
  local job = records.require(args:text())
  return tags.set(job, tags.without((texts.names(job.tags)), args:names()))
end
