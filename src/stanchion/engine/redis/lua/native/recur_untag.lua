-- Take tags from a recurring job; the reply is the tags left.

local tags = use('queue/tags')
local templates = use('queue/templates')

return function(args)
  local template = templates.require(args:text())
  return templates.set_tags(template, tags.without(template.tags, args:names()))
end
