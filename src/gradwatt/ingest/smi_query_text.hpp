// `nvidia-smi -q`: entries "key : value" below each other by indentation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gradwatt/ingest/line_reader.hpp"
#include "gradwatt/ingest/smi_listing.hpp"

namespace gradwatt::ingest {

class SmiQueryText {
 public:
  explicit SmiQueryText(SmiLooks& looks) : looks_(looks) {}
  /// True: the line is part of a listing.
  bool take(const Line& line);
  /// After the last line of the file.
  void end();

 private:
  struct Section {
    std::size_t indent = 0;
    std::string path;  ///< of it and all above, "pci/gpu_link_info"
  };

  bool take_top(std::string_view text, const Line& line);
  void take_entry(std::string_view text, std::size_t indent);
  void end_gpu();

  SmiLooks& looks_;
  bool inside_ = false;      // a listing
  bool in_snippet_ = false;  // a piece of one, without its head
  std::string driver_;
  std::optional<SmiListing> gpu_;
  std::vector<Section> sections_;
};

}  // namespace gradwatt::ingest
