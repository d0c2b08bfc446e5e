#include "gradwatt/ingest/smi_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <pugixml.hpp>
#include <string_view>

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/fact_list.hpp"
#include "gradwatt/ingest/smi_listing.hpp"
#include "gradwatt/ingest/smi_looks.hpp"

namespace gradwatt::ingest {
namespace {

constexpr std::string_view kRoot = "nvidia_smi_log";
constexpr std::string_view kEnd = "</nvidia_smi_log>";
constexpr int kDeepest = 8;

/// Text of one element; views of pugixml's buffer.
std::string_view text_of(const pugi::xml_node& node) { return core::trim(node.text().get()); }

/// Leaves below a GPU, as paths. Lists that name many things (supported clocks) have no entry and cost a look-up each.
void add_entries(const pugi::xml_node& node, const std::string& above, int depth, SmiListing& gpu) {
  for (const auto& child : node.children()) {
    const std::string_view name = child.name();
    if (child.type() != pugi::node_element || name == "supported_clocks" || name.size() > 80) continue;
    if (name == "mig_device") gpu.add_slice();
    if (name == "process_info") gpu.add_process();
    const auto path = above + listing_key(name);
    const bool leaf = !child.first_child() || child.first_child().type() != pugi::node_element;
    if (leaf) gpu.add(path, text_of(child));
    if (name == "processes") gpu.add("processes", "listed");
    if (!leaf && depth < kDeepest) add_entries(child, path + "/", depth + 1, gpu);
  }
}

/// One document's GPUs; the sentence on what is wrong with it otherwise.
std::optional<std::string> take_document(std::string_view text, std::size_t line, SmiLooks& looks) {
  if (text.size() > kMaxSmiDocumentBytes)
    return fmt::format("a document of more than {} MiB is none of nvidia-smi's", kMaxSmiDocumentBytes >> 20U);
  pugi::xml_document document;
  const auto parsed = document.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!parsed) {
    const auto offset = std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(parsed.offset, 0)), text.size());
    const auto behind = std::ranges::count(text.substr(0, offset), '\n');
    return fmt::format("no valid XML {} lines below: {}", behind, core::to_lower(parsed.description()));
  }
  const auto root = document.child(kRoot.data());
  if (!root) return fmt::format("the root is {}, not nvidia_smi_log", in_quotes(document.document_element().name()));
  looks.at(parse_time(text_of(root.child("timestamp"))), line);
  const auto before = looks.size();
  const auto driver = printable(text_of(root.child("driver_version")), 40);
  for (const auto& element : root.children("gpu")) {
    SmiListing gpu(line);
    add_entries(element, "", 0, gpu);
    gpu.add_bus_id(element.attribute("id").as_string());
    looks.add(gpu.take(driver));
  }
  return looks.size() > before ? std::nullopt : std::optional<std::string>("it lists no GPU");
}

}  // namespace

core::Result<ImportedFile> read_smi_xml(LineReader& lines, const std::string& name, const ImportOptions& options,
                                        Diagnostics& diagnostics) {
  SmiLooks looks(name, options, diagnostics);
  std::optional<std::string> first_trouble;
  std::string document;
  std::size_t begin = 0;
  bool whole = true, too_long = false;
  const auto end_document = [&] {
    const auto trouble = core::trim(document).empty() ? std::nullopt : take_document(document, begin, looks);
    if (trouble) {
      diagnostics.add("documents that cannot be read", begin, *trouble);
      if (!first_trouble) first_trouble = fmt::format("line {}: {}", begin, *trouble);
    }
    document.clear();
  };
  while (const auto line = lines.next()) {
    if (document.empty()) begin = line->number;
    too_long = too_long || line->too_long;
    // Past the limit nothing is kept but the fact that it was passed.
    if (document.size() <= kMaxSmiDocumentBytes) document.append(line->text).push_back('\n');
    whole = line->text.find(kEnd) != std::string_view::npos;
    if (whole) end_document();
  }
  if (lines.failure())
    return core::fail(core::Errc::io, fmt::format("cannot be read to its end: {}", *lines.failure()));
  const bool cut_off = !whole && !core::trim(document).empty();
  end_document();
  if (looks.size() == 0)
    return core::fail(core::Errc::unusable_input, first_trouble.value_or("line 1: it holds no document"));
  ImportedFile file{.rows = looks.size()};
  describe(file, name, "nvidia-smi xml");
  if (cut_off || too_long) file.run.set(record::meta::kComplete, std::string("0"));
  FactList facts(name);
  Testimony to{file.run, facts, diagnostics};
  looks.finish(to);
  auto found = facts.take();
  std::ranges::move(found, std::back_inserter(file.run.facts));
  return file;
}

bool may_be_smi_xml(const LineReader& lines) {
  std::string head(lines.head());
  std::erase(head, '\0');  // UTF-16, as PowerShell's > writes it
  return head.find("<nvidia_smi_log") != std::string_view::npos || head.find("nvsmi_device") != std::string_view::npos;
}

}  // namespace gradwatt::ingest
