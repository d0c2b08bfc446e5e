// `nvidia-smi -L` and `nvidia-smi nvlink --status`: the GPUs of a host, their slices, and which of their NVLinks are
// up.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "gradwatt/ingest/line_witness.hpp"

namespace gradwatt::ingest {

class SmiLinks {
 public:
  /// True: the line is of one of these lists.
  bool take(const Line& line);
  void finish(Testimony& to) const;
  [[nodiscard]] bool empty() const { return gpus_.empty(); }

 private:
  struct Gpu {
    int index = -1;
    std::string name, uuid;
    std::size_t line = 0, links = 0, links_up = 0, slices = 0;
    bool asked_for_links = false;
  };
  bool take_gpu(std::string_view text, std::size_t line);

  std::vector<Gpu> gpus_;
  std::size_t current_ = 0;
};

}  // namespace gradwatt::ingest
