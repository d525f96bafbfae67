-- Drives the language server from Neovim 0.7 or later; ends with 1 and the name of the step that did not work.
local function fail(step, seen)
  io.stderr:write("did not work: " .. step .. "\n" .. vim.inspect(seen) .. "\n")
  vim.cmd("cquit 1")
end

local function must(step, is_so, seen)
  -- The time is how long a machine that hangs is waited for; what is asked is what is seen.
  if not vim.wait(120000, function() return is_so() end, 20) then
    fail(step, seen and seen())
  end
end

vim.o.hidden = true
local client = vim.lsp.start_client({
  name = "diglot",
  cmd = { vim.env.DIGLOT_PROGRAM, "diglot", "lsp" },
  root_dir = vim.fn.getcwd(),
})
local buffer = vim.api.nvim_get_current_buf()
must("initialize", function() return vim.lsp.get_client_by_id(client) ~= nil end)
vim.lsp.buf_attach_client(buffer, client)

local function lines() return vim.api.nvim_buf_get_lines(buffer, 0, -1, false) end

local function find(text)
  for number, line in ipairs(lines()) do
    local column = line:find(text, 1, true)
    if column then return number, column - 1 end
  end
  fail("find " .. text, lines())
end

local function change(from, to)
  local number = find(from)
  local line = lines()[number]
  local first, last = line:find(from, 1, true)
  line = line:sub(1, first - 1) .. to .. line:sub(last + 1)
  vim.api.nvim_buf_set_lines(buffer, number - 1, number, false, { line })
end

local function go_to(text)
  vim.api.nvim_set_current_buf(buffer)
  vim.api.nvim_win_set_cursor(0, { find(text) })
end

local function ask(method, extra)
  local params = vim.tbl_extend("force", vim.lsp.util.make_position_params(0, "utf-16"), extra or {})
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 120000)
  return answers and answers[client] and answers[client].result
end

local function found() return vim.diagnostic.get(buffer) end

local function only(rule)
  local all = found()
  return #all == 1 and (all[1].code or all[1].user_data.lsp.code) == rule
end

change("job.due_ms < :now_ms", "job.due_ms <= :now_ms")
must("a finding while typing", function() return only("where-differs") end, found)

local actions = vim.lsp.buf_request_sync(buffer, "textDocument/codeAction", {
  textDocument = vim.lsp.util.make_text_document_params(buffer),
  range = {
    start = { line = found()[1].lnum, character = found()[1].col },
    ["end"] = { line = found()[1].end_lnum, character = found()[1].end_col },
  },
  context = { diagnostics = {} },
}, 120000)[client].result
local declare
for _, action in ipairs(actions or {}) do
  if action.title:find("-- diverges(", 1, true) then declare = action end
end
if not declare then fail("code actions", actions) end
vim.lsp.util.apply_workspace_edit(declare.edit, "utf-16")
must("the declaration", function() return only("missing-reason") end, found)
local declared = find("-- diverges(where")
vim.api.nvim_buf_set_lines(buffer, declared - 1, declared, false, {})
change("job.due_ms <= :now_ms", "job.due_ms < :now_ms")
must("the finding goes", function() return #found() == 0 end, found)

go_to("seen_ms, lane")
local hover = ask("textDocument/hover")
if not (hover and hover.contents.value:find("bigint", 1, true)) then fail("hover", hover) end

go_to("job_take")
vim.lsp.buf.definition()
must("jump to the facing page", function()
  return vim.api.nvim_buf_get_name(0):find("sql/sqlite/job.sql", 1, true) ~= nil
end)

go_to("lane ON")
vim.lsp.buf.definition()
must("jump to the schema", function()
  return vim.api.nvim_buf_get_name(0):find("schema/pg/0001_job.sql", 1, true) ~= nil
end)

go_to("owner IS NULL")
local offered = ask("textDocument/completion")
if not (offered and #offered > 3) then fail("completion", offered) end

go_to(":now_ms")
local renamed = ask("textDocument/rename", { newName = "at_ms" })
if not renamed then fail("rename", renamed) end
vim.lsp.util.apply_workspace_edit(renamed, "utf-16")
local pages = 0
for _, each in ipairs(vim.api.nvim_list_bufs()) do
  local text = table.concat(vim.api.nvim_buf_get_lines(each, 0, -1, false), "\n")
  if text:find(":at_ms", 1, true) then pages = pages + 1 end
end
if pages ~= 2 then fail("rename on both pages", pages) end

vim.lsp.stop_client(client)
must("shutdown", function() return vim.lsp.get_client_by_id(client) == nil end)
io.stdout:write("all of it works\n")
vim.cmd("quitall!")
