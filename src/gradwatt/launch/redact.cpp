#include "gradwatt/launch/redact.hpp"

#include <algorithm>
#include <array>

#include "gradwatt/core/shell.hpp"
#include "gradwatt/core/text.hpp"

namespace gradwatt::launch {
namespace {

using Words = std::vector<std::string>;

// A word of the name that makes its value secret.
constexpr auto kSecretWords = std::to_array<std::string_view>(
    {"token",      "secret",      "secrets",   "password",  "pgpassword",    "passwd",     "passphrase",
     "passcode",   "pwd",         "apikey",    "accesskey", "secretkey",     "privatekey", "authtoken",
     "credential", "credentials", "creds",     "auth",      "authorization", "cookie",     "jwt",
     "bearer",     "pat",         "signature", "sig"});
// "key" is secret only after one of these: --key-frames, --attention-key are not.
constexpr auto kBeforeKey = std::to_array<std::string_view>(
    {"api",     "access", "private", "secret",  "account",      "signing", "encryption", "ssh",     "license",
     "licence", "auth",   "wandb",   "openai",  "anthropic",    "hf",      "comet",      "neptune", "mlflow",
     "aws",     "azure",  "gcp",     "storage", "subscription", "master",  "deploy",     "service"});
// "pass" is secret only after one of these: --forward-pass is not.
constexpr auto kBeforePass =
    std::to_array<std::string_view>({"db", "user", "mysql", "postgres", "pg", "smtp", "mail", "redis", "ftp", "http",
                                     "proxy", "login", "admin", "root"});
// --eos-token, --num-token: words that make a token one of language, not of access.
constexpr auto kLanguageToken = std::to_array<std::string_view>(
    {"pad",   "eos",  "bos", "mask",  "unk",    "sep",         "cls",  "special", "image", "audio",
     "video", "stop", "end", "start", "per",    "next",        "prev", "class",   "first", "last",
     "n",     "num",  "max", "min",   "target", "speculative", "word", "byte"});
// What follows a secret word when the value only describes the secret: --token-file, --auth-type.
constexpr auto kDescribes = std::to_array<std::string_view>(
    {"file",   "path", "dir",   "folder", "type",     "url",     "uri",       "endpoint", "length",  "len",
     "count",  "size", "limit", "budget", "dropout",  "ids",     "embedding", "mode",     "enabled", "name",
     "method", "rate", "dim",   "weight", "loss",     "timeout", "interval",  "level",    "merging", "pruning",
     "shift",  "drop", "env",   "var",    "lifetime", "ttl",     "types",     "embed"});
// After such a name 40 hex digits are a version of code or data, not a key.
constexpr auto kHexIsHarmless = std::to_array<std::string_view>(
    {"revision", "commit", "sha", "sha1", "hash", "ref", "rev", "version", "branch", "checksum", "digest", "id"});

struct KeyPrefix {
  std::string_view text;
  std::size_t shortest;  ///< of the whole key
};
// Prefixes that the services chose so that leaked keys can be recognised.
constexpr auto kKeyPrefixes = std::to_array<KeyPrefix>({
    {"hf_", 20},
    {"ghp_", 20},
    {"gho_", 20},
    {"ghu_", 20},
    {"ghs_", 20},
    {"ghr_", 20},
    {"github_pat_", 20},
    {"glpat-", 20},
    {"sk-", 20},
    {"sk_live_", 20},
    {"sk_test_", 20},
    {"rk_live_", 20},
    {"xoxb-", 15},
    {"xoxp-", 15},
    {"xoxa-", 15},
    {"xoxs-", 15},
    {"xapp-", 15},
    {"AKIA", 20},
    {"ASIA", 20},
    {"AIza", 35},
    {"ya29.", 20},
    {"npm_", 30},
    {"pypi-", 30},
    {"dop_v1_", 30},
    {"SG.", 40},
    {"wandb_v", 20},
    {"nvapi-", 20},
    {"r8_", 30},
    {"gsk_", 30},
    {"dckr_pat_", 20},
    {"AGE-SECRET-KEY-", 30},
});

// Prefixes and whole names of variables that explain a training run.
constexpr auto kKeptPrefixes = std::to_array<std::string_view>(
    {"NCCL_", "RCCL_", "CUDA_",    "CUDNN_",      "CUBLAS_",    "NVIDIA_",  "HIP_",    "ROCR_",    "HSA_",     "OMP_",
     "GOMP_", "KMP_",  "MKL_",     "OPENBLAS_",   "BLIS_",      "NUMEXPR_", "SLURM_",  "OMPI_",    "PMIX_",    "PMI_",
     "PRTE_", "MPI_",  "MV2_",     "I_MPI_",      "UCX_",       "FI_",      "GLOO_",   "TORCH",    "PYTORCH_", "TF_",
     "XLA_",  "JAX_",  "HOROVOD_", "ACCELERATE_", "DEEPSPEED_", "DS_",      "MALLOC_", "GRADWATT_"});
constexpr auto kKeptNames = std::to_array<std::string_view>(
    {"LD_LIBRARY_PATH", "LD_PRELOAD", "RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE",
     "GROUP_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "PYTHONPATH", "PYTHONHASHSEED", "PYTHONUNBUFFERED",
     "VIRTUAL_ENV", "CONDA_DEFAULT_ENV", "TOKENIZERS_PARALLELISM", "PATH"});

template <class List>
bool contains(const List& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alphanumeric(char c) { return is_lower(c) || is_upper(c) || is_digit(c); }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// "--wandbApiKey" -> wandb, api, key; "X-API-Key" -> x, api, key.
Words words_of(std::string_view name) {
  Words words;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!is_alphanumeric(c)) continue;
    const bool new_word = i == 0 || !is_alphanumeric(name[i - 1]) || (is_upper(c) && is_lower(name[i - 1]));
    if (new_word || words.empty()) words.emplace_back();
    words.back() += c;
  }
  for (auto& word : words) word = core::to_lower(word);
  return words;
}

bool is_secret_word(const Words& words, std::size_t i) {
  const std::string_view before = i > 0 ? std::string_view(words[i - 1]) : std::string_view();
  if (words[i] == "token") return !contains(kLanguageToken, before);
  if (words[i] == "key" || words[i] == "keys") return contains(kBeforeKey, before);
  if (words[i] == "pass") return contains(kBeforePass, before);
  if (words[i] == "pwd" || words[i] == "pat" || words[i] == "sig")
    return words.size() > 1 && before != "old";  // PWD, OLDPWD
  return contains(kSecretWords, words[i]);
}

bool is_jwt(std::string_view value) {
  return value.size() > 40 && value.starts_with("eyJ") && std::ranges::count(value, '.') == 2;
}

bool is_hex_key(std::string_view value) { return value.size() == 40 && std::ranges::all_of(value, is_hex); }

/// The secret half of an AWS key pair: 40 characters of base64 of all kinds; a path would begin or be cut otherwise.
bool is_aws_secret(std::string_view value) {
  if (value.size() != 40 || value.front() == '/' || std::ranges::count(value, '/') > 3) return false;
  if (!std::ranges::all_of(value, [](char c) { return is_alphanumeric(c) || c == '/' || c == '+' || c == '='; }))
    return false;
  return std::ranges::any_of(value, is_upper) && std::ranges::any_of(value, is_lower) &&
         std::ranges::count_if(value, is_digit) >= 2 && !is_hex_key(value);
}

bool is_prefixed_key(std::string_view value) {
  const auto same = [&](const KeyPrefix& p) { return value.size() >= p.shortest && value.starts_with(p.text); };
  const auto key_like = [](char c) { return is_alphanumeric(c) || c == '_' || c == '-' || c == '.'; };
  return std::ranges::any_of(kKeyPrefixes, same) && std::ranges::all_of(value, key_like) &&
         std::ranges::any_of(value, is_digit);
}

std::string redact_query(std::string_view query) {
  std::string kept;
  for (const auto pair : core::split(query, '&')) {
    if (!kept.empty()) kept += '&';
    const auto equals = pair.find('=');
    const bool secret = equals != std::string_view::npos &&
                        (is_secret_name(pair.substr(0, equals)) || looks_secret(pair.substr(equals + 1)) ||
                         pair.substr(0, equals) == "sig" || pair.substr(0, equals) == "key");
    kept += secret ? std::string(pair.substr(0, equals + 1)) + std::string(kRedacted) : std::string(pair);
  }
  return kept;
}

/// scheme://user:password@host/path?token=… ; nothing else is touched.
std::string redact_url(std::string_view text) {
  const auto scheme = text.find("://");
  if (scheme == std::string_view::npos) return std::string(text);
  const auto begin = scheme + 3;
  const auto end = std::min(text.find_first_of("/?#", begin), text.size());
  auto authority = std::string(text.substr(begin, end - begin));
  if (const auto at = authority.rfind('@'); at != std::string::npos) {
    const auto colon = authority.find(':');
    if (colon < at)
      authority = authority.substr(0, colon + 1) + std::string(kRedacted) + authority.substr(at);
    else if (looks_secret(std::string_view(authority).substr(0, at)))
      authority = std::string(kRedacted) + authority.substr(at);
  }
  std::string rest(text.substr(end));
  if (const auto question = rest.find('?'); question != std::string::npos)
    rest = rest.substr(0, question + 1) + redact_query(std::string_view(rest).substr(question + 1));
  return std::string(text.substr(0, begin)) + authority + rest;
}

bool hex_is_harmless_after(std::string_view name) {
  const auto words = words_of(name);
  return !words.empty() && contains(kHexIsHarmless, words.back());
}

/// A value without a name that says anything.
std::string redact_value(std::string_view value, std::string_view name = {}) {
  if (looks_secret(value) && !(is_hex_key(value) && hex_is_harmless_after(name))) return std::string(kRedacted);
  return redact_url(value);
}

bool is_header_name(std::string_view word) { return word.size() > 1 && word.ends_with(':') && is_secret_name(word); }

/// Walks words and remembers whether the last one asks for a secret as the next.
class WordRedactor {
 public:
  std::string operator()(std::string_view word) {
    const auto name = std::exchange(name_, {});
    const bool secret_next = std::exchange(secret_next_, false), header = std::exchange(header_, false);
    if (secret_next && !word.starts_with("--")) {
      // "Authorization: Bearer X": the scheme is kept, what follows is not.
      const auto lower = core::to_lower(word);
      if (header && (lower == "bearer" || lower == "basic" || lower == "token" || lower == "digest")) {
        secret_next_ = true;
        return std::string(word);
      }
      return std::string(kRedacted);
    }
    if (const auto equals = name_end(word); equals != std::string_view::npos) return redact_pair(word, equals);
    if (word.starts_with('-')) {
      secret_next_ = is_secret_name(word);
      name_ = word;
    } else if (is_header_name(word)) {
      secret_next_ = header_ = true;
    }
    return redact_value(word, name);
  }

 private:
  /// Where NAME ends in NAME=value; npos for a URL's own '=' and for text.
  static std::size_t name_end(std::string_view word) {
    const auto equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0) return std::string_view::npos;
    const auto name = word.substr(0, equals);
    const auto fits = [](char c) {
      return is_alphanumeric(c) || c == '_' || c == '-' || c == '.' || c == '+' || c == '~';
    };
    return std::ranges::all_of(name, fits) ? equals : std::string_view::npos;
  }
  static std::string redact_pair(std::string_view word, std::size_t equals) {
    const auto name = word.substr(0, equals), value = word.substr(equals + 1);
    const bool secret = is_secret_name(name) && !value.empty();
    return std::string(word.substr(0, equals + 1)) + (secret ? std::string(kRedacted) : redact_value(value, name));
  }
  bool secret_next_ = false;
  bool header_ = false;
  std::string name_;
};

/// Text that holds several words, such as the script of `sh -c`: each word between white space and quotes.
std::string redact_text(std::string_view text) {
  if (text.find("-----BEGIN") != std::string_view::npos && text.find("PRIVATE KEY") != std::string_view::npos)
    return std::string(kRedacted);
  WordRedactor redact;
  std::string kept;
  const auto separates = [](char c) {
    return is_space(c) || c == '\'' || c == '"' || c == ';' || c == '|' || c == '`';
  };
  for (std::size_t i = 0; i < text.size();) {
    if (separates(text[i])) {
      kept += text[i++];
      continue;
    }
    const auto begin = i;
    while (i < text.size() && !separates(text[i])) ++i;
    // NAME="a value": the quote follows the '=', the value is the next word.
    const auto word = text.substr(begin, i - begin);
    const bool quoted_value = word.ends_with('=') && i < text.size() && (text[i] == '"' || text[i] == '\'');
    if (quoted_value && is_secret_name(word)) {
      const auto quote = text[i];
      const auto close = std::min(text.find(quote, i + 1), text.size());
      kept += std::string(word) + quote + std::string(kRedacted);
      i = close;
      continue;
    }
    kept += redact(word);
  }
  return kept;
}

}  // namespace

bool is_secret_name(std::string_view name) {
  const auto words = words_of(name);
  if (words.empty() || contains(kDescribes, words.back())) return false;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (is_secret_word(words, i)) return true;
  return false;
}

bool looks_secret(std::string_view value) {
  return is_prefixed_key(value) || is_jwt(value) || is_hex_key(value) || is_aws_secret(value) ||
         (value.find("-----BEGIN") != std::string_view::npos && value.find("PRIVATE KEY") != std::string_view::npos);
}

std::vector<std::string> redact_arguments(std::span<const std::string> arguments) {
  WordRedactor redact;
  std::vector<std::string> kept;
  bool secret_next = false;
  for (const auto& argument : arguments) {
    if (std::ranges::none_of(argument, is_space)) {
      kept.push_back(redact(argument));
      secret_next = argument.starts_with('-') && argument.find('=') == std::string::npos && is_secret_name(argument);
      continue;
    }
    const auto equals = argument.find_first_of("= \t\n");
    const bool named = equals != std::string::npos && argument[equals] == '=' &&
                       is_secret_name(std::string_view(argument).substr(0, equals));
    if (secret_next)
      kept.emplace_back(kRedacted);
    else if (named && argument.starts_with('-'))
      kept.push_back(argument.substr(0, equals + 1) + std::string(kRedacted));
    else
      kept.push_back(redact_text(argument));
    redact = WordRedactor();
    secret_next = false;
  }
  return kept;
}

std::string redact_command(std::span<const std::string> arguments) {
  std::string line;
  for (const auto& argument : redact_arguments(arguments)) {
    if (!line.empty()) line += ' ';
    line += shell_quote(argument);
  }
  return line;
}

std::string redact_variable(std::string_view name, std::string_view value) {
  if (is_secret_name(name) && !value.empty()) return std::string(kRedacted);
  if (looks_secret(value) && !(is_hex_key(value) && hex_is_harmless_after(name))) return std::string(kRedacted);
  return redact_text(value);
}

std::vector<std::pair<std::string, std::string>> kept_environment(const Environment& environment) {
  std::vector<std::pair<std::string, std::string>> kept;
  for (const std::string_view entry : environment) {
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    const auto name = entry.substr(0, equals);
    const bool wanted = contains(kKeptNames, name) ||
                        std::ranges::any_of(kKeptPrefixes, [&](auto prefix) { return name.starts_with(prefix); });
    if (wanted) kept.emplace_back(name, redact_variable(name, entry.substr(equals + 1)));
  }
  std::ranges::sort(kept);
  return kept;
}

std::string shell_quote(std::string_view word) {
  // The stars of a hidden value stay readable; any other star is a pattern to the shell.
  if (word.ends_with(kRedacted)) {
    const auto seen = word.substr(0, word.size() - kRedacted.size());
    if (seen.empty() || core::shell_quote(seen) == seen) return std::string(word);
  }
  return core::shell_quote(word);
}

}  // namespace gradwatt::launch
