#include "gradwatt/ingest/smi_text.hpp"

#include "gradwatt/ingest/smi_links.hpp"
#include "gradwatt/ingest/smi_looks.hpp"
#include "gradwatt/ingest/smi_monitor.hpp"
#include "gradwatt/ingest/smi_query_text.hpp"
#include "gradwatt/ingest/smi_table.hpp"

namespace gradwatt::ingest {
namespace {

class SmiText final : public LineWitness {
 public:
  SmiText(const std::string& file, const ImportOptions& options, Diagnostics& notes)
      : looks_(file, options, notes), query_(looks_), table_(looks_), monitor_(looks_, options) {}
  [[nodiscard]] std::string_view name() const override { return "nvidia-smi"; }

  bool take(const Line& line) override {
    return query_.take(line) || table_.take(line) || monitor_.take(line) || links_.take(line);
  }

  void finish(Testimony& to) override {
    query_.end();
    table_.end();
    looks_.finish(to);
    links_.finish(to);
  }

 private:
  SmiLooks looks_;
  SmiQueryText query_;
  SmiTable table_;
  SmiMonitor monitor_;
  SmiLinks links_;
};

}  // namespace

std::unique_ptr<LineWitness> make_smi_text(const std::string& file, const ImportOptions& options, Diagnostics& notes) {
  return std::make_unique<SmiText>(file, options, notes);
}

}  // namespace gradwatt::ingest
