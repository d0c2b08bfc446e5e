// Takes passwords, tokens and keys out of what a run record keeps of the command line and the environment. Errs towards
// hiding: a record travels to colleagues and bug reports.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gradwatt/launch/environment.hpp"

namespace gradwatt::launch {

inline constexpr std::string_view kRedacted = "***";

/// "WANDB_API_KEY", "--token", "logger.password": a value of this name is secret. "--max-tokens", "--eos-token",
/// "TOKENIZERS_PARALLELISM", "--token-file" are not.
[[nodiscard]] bool is_secret_name(std::string_view name);
/// A secret by its own look: known key prefixes, JWT, AWS keys, 40 hex digits, PEM.
[[nodiscard]] bool looks_secret(std::string_view value);

/// The arguments with every secret replaced by ***: values of secret names (`--token X`, `--api-key=X`, `NAME=X`), of
/// HTTP headers, passwords in URLs, and keys by their look; inside `sh -c '…'` too.
[[nodiscard]] std::vector<std::string> redact_arguments(std::span<const std::string> arguments);
/// The same as one line that a shell could read.
[[nodiscard]] std::string redact_command(std::span<const std::string> arguments);
/// The value of an environment variable as it may be kept.
[[nodiscard]] std::string redact_variable(std::string_view name, std::string_view value);

/// The variables that explain a training run (NCCL_*, CUDA_*, OMP_*, launcher, thread counts, …), redacted and sorted;
/// never the whole environment.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> kept_environment(const Environment& environment);

/// One word as a shell would have to read it: quoted only where needed.
[[nodiscard]] std::string shell_quote(std::string_view word);

}  // namespace gradwatt::launch
