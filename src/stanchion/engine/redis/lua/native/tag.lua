-- Tag a job; the reply is all its tags.

local records = use('queue/records')
local tags = use('queue/tags')
local texts = use('texts')

return function(args)
  local job = records.require(args:text())
  return tags.set(job, tags.with((texts.names(job.tags)), args:names()))
end
