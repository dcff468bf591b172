-- What all modules share during one call: whose keys they are, what time it is, and whether it may write.

local context = { namespace = '', now = 0, given = false, reads = false }

function context.begin(namespace, reads)
  context.namespace = namespace
  context.reads = reads
end

return context
