-- What all modules share during one call: whose keys they are, what time it is (as a number, and as the same in text, which saves the server
-- to write it out each time), whether the caller gave it, and whether the call may write.

local context = { namespace = '', now = 0, now_text = '0', given = false, reads = false }

function context.begin(namespace, reads)
  context.namespace = namespace
  context.reads = reads
end

return context
