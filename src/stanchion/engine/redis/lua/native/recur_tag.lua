-- Tag a recurring job, and so what it spawns from now on.

local tags = use('queue/tags')
local templates = use('queue/templates')

return function(args)
  local template = templates.require(args:text())
  return templates.set_tags(template, tags.with(template.tags, args:names()))
end
