#include "gradwatt/ingest/kineto/element_ends.hpp"

#include <algorithm>
#include <array>
#include <bit>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace gradwatt::ingest::kineto {
namespace {

/// One bit for each byte of a stride.
struct Masks {
  std::uint64_t quote = 0, backslash = 0, open = 0, close = 0;
};

// '[' and '{' differ in one bit, and so do ']' and '}'.
constexpr char kBracketBit = 0x20;

#ifdef __SSE2__
Masks classify(const char* text) {
  Masks masks;
  for (unsigned part = 0; part < 4; ++part) {
    const auto bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + 16 * part));
    const auto folded = _mm_or_si128(bytes, _mm_set1_epi8(kBracketBit));
    const auto bits = [&](__m128i a, char c) {
      return static_cast<std::uint64_t>(
                 static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(a, _mm_set1_epi8(c)))))
             << (16 * part);
    };
    masks.quote |= bits(bytes, '"');
    masks.backslash |= bits(bytes, '\\');
    masks.open |= bits(folded, '{');
    masks.close |= bits(folded, '}');
  }
  return masks;
}
#else
Masks classify(const char* text) {
  Masks masks;
  for (unsigned i = 0; i < ElementEnds::kStride; ++i) {
    const auto bit = std::uint64_t{1} << i;
    if (text[i] == '"') masks.quote |= bit;
    if (text[i] == '\\') masks.backslash |= bit;
    if ((text[i] | kBracketBit) == '{') masks.open |= bit;
    if ((text[i] | kBracketBit) == '}') masks.close |= bit;
  }
  return masks;
}
#endif

/// Bit i is set where an odd number of bits up to i is.
std::uint64_t prefix_xor(std::uint64_t bits) {
  for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

/// Bytes that a backslash stands before; `carry` goes from stride to stride.
std::uint64_t escaped_bytes(std::uint64_t backslash, std::uint64_t& carry) {
  if (backslash == 0) {
    const auto escaped = carry;
    carry = 0;
    return escaped;
  }
  std::uint64_t escaped = 0;
  for (unsigned i = 0; i < 64; ++i) {
    const auto bit = std::uint64_t{1} << i;
    const bool is_escaped = carry != 0;
    if (is_escaped) escaped |= bit;
    carry = !is_escaped && (backslash & bit) != 0 ? 1 : 0;
  }
  return escaped;
}

}  // namespace

void ElementEnds::walk(std::uint64_t open, std::uint64_t close, Found& found, std::vector<std::size_t>& ends) {
  for (auto brackets = open | close; brackets != 0; brackets &= brackets - 1) {
    const auto at = static_cast<unsigned>(std::countr_zero(brackets));
    if ((open >> at & 1U) != 0) {
      ++depth_;
    } else if (depth_ == 0) {
      found.close = found.scanned + at;
      return;
    } else if (--depth_ == 0) {
      ends.push_back(found.scanned + at + 1);
    }
  }
}

ElementEnds::Found ElementEnds::scan(std::string_view text, std::vector<std::size_t>& ends) {
  Found found;
  for (; found.scanned + kStride <= text.size() && !found.close; found.scanned += kStride) {
    const auto masks = classify(text.data() + found.scanned);
    const auto quotes = masks.quote & ~escaped_bytes(masks.backslash, escaped_);
    const auto inside = prefix_xor(quotes) ^ in_string_;
    in_string_ = std::uint64_t{0} - (inside >> 63U);
    const auto open = masks.open & ~inside, close = masks.close & ~inside;
    const auto closing = std::popcount(close);
    if (depth_ > closing) {  // nothing can end here
      depth_ += std::popcount(open) - closing;
    } else {
      walk(open, close, found, ends);
    }
  }
  return found;
}

ElementEnds::Found ElementEnds::finish(std::string_view text, std::vector<std::size_t>& ends) {
  std::array<char, kStride> padded;
  padded.fill(' ');
  std::ranges::copy(text.substr(0, kStride), padded.begin());
  return scan({padded.data(), padded.size()}, ends);
}

}  // namespace gradwatt::ingest::kineto
