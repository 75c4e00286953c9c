-- Turns the links of a page into those of the site, and notes each of them in the file SITE_LINKS for the check:
-- page, link, path in the source, anchor. The page is SITE_PAGE, a path in the folder SITE_SOURCE.

local source = os.getenv("SITE_SOURCE")
local page = os.getenv("SITE_PAGE")
local links = io.open(os.getenv("SITE_LINKS"), "a")

-- Returns `path`, as written on the page, as a path in the source.
local function resolve(path)
  local parts = {}
  for part in (page:gsub("[^/]*$", "") .. path):gmatch("[^/]+") do
    if part == ".." and #parts > 0 and parts[#parts] ~= ".." then
      table.remove(parts)
    elseif part ~= "." then
      table.insert(parts, part)
    end
  end
  return table.concat(parts, "/")
end

local function is_folder(path)
  local file = io.open(source .. "/" .. path .. "/.") -- opens a folder alone
  return file ~= nil and file:close()
end

-- Returns `path` as `published` of reports/site names it.
local function published(path)
  if path:match("%.svg$") or path:match("%.png$") or path:match("%.webp$") or path:match("%.html$") then
    return path
  elseif path:match("%.md$") then
    return (path:gsub("README%.md$", "index.md"):gsub("%.md$", ".html"))
  elseif is_folder(resolve(path)) then
    return path:gsub("/$", "") .. "/index.html"
  end
  return path .. ".txt"
end

local function site_link(link)
  if link:match("^%a[%w+.-]*:") then
    return link -- of the web
  end
  local path, anchor = link:match("^([^#]*)#?(.*)$")
  local target = path == "" and page or resolve(path)
  links:write(page, "\t", link, "\t", target, "\t", anchor, "\n")
  local shown = path == "" and "" or published(path)
  return anchor == "" and shown or shown .. "#" .. anchor
end

local function raw_links(element)
  for _, attribute in ipairs({ "src", "srcset", "href" }) do
    element.text = element.text:gsub("(%s" .. attribute .. '=")([^"]*)"', function(before, link)
      return before .. site_link(link) .. '"'
    end)
  end
  return element
end

return {
  {
    Link = function(link)
      link.target = site_link(link.target)
      return link
    end,
    Image = function(image)
      image.src = site_link(image.src)
      return image
    end,
    RawInline = raw_links,
    RawBlock = raw_links,
    Pandoc = function(document)
      for _, block in ipairs(document.blocks) do
        if block.t == "Header" then
          document.meta.pagetitle = pandoc.utils.stringify(block)
          break
        end
      end
      return document
    end,
  },
}
