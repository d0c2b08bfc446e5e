// What an importer did not understand, by file and line: kept short enough to read, with nothing hidden by the cut.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gradwatt::ingest {

struct Diagnostic {
  std::string file;
  std::size_t line = 0;  ///< from 1; 0: the file as a whole
  std::string message;   ///< one sentence
};

/// "power.csv line 12: …" as a user reads it.
[[nodiscard]] std::string format(const Diagnostic& diagnostic);

/// A piece of a foreign file inside a message: quoted, without control characters, cut after 60 bytes.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// Collects diagnostics of one file. The first few of each kind are kept in words, the rest as a count.
class Diagnostics {
 public:
  explicit Diagnostics(std::string file, std::size_t keep_of_kind = 3)
      : file_(std::move(file)), keep_of_kind_(keep_of_kind) {}

  /// `kind` is a plural that ends the sentence "… and 12 more": "lines with the wrong number of cells".
  void add(std::string_view kind, std::size_t line, std::string message);
  /// About the file as a whole; never cut.
  void note(std::string message) { add({}, 0, std::move(message)); }

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::size_t count(std::string_view kind) const;
  /// In the order of their lines; whole-file notes last.
  [[nodiscard]] std::vector<Diagnostic> finish() const;

 private:
  struct Kind {
    std::size_t count = 0, last_line = 0;
  };
  std::string file_;
  std::size_t keep_of_kind_;
  std::map<std::string, Kind, std::less<>> kinds_;
  std::vector<Diagnostic> kept_;
};

}  // namespace gradwatt::ingest
