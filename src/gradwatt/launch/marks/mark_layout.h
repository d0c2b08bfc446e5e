/* Layout version 1 of the mark ring, shared by the C writer and the C++ reader. docs/mark-ring.md explains it.
 * Plain C11 and C++; little-endian only. */
#ifndef GRADWATT_MARK_LAYOUT_H
#define GRADWATT_MARK_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* C reads this too: NOLINTBEGIN(modernize-*,cppcoreguidelines-*) */
#define GRADWATT_MARKS_MAGIC "GWMARKS\n"
#define GRADWATT_MARKS_UNKNOWN INT64_MIN

enum {
  GRADWATT_MARKS_VERSION = 1,
  GRADWATT_MARKS_HEADER_BYTES = 4096,
  GRADWATT_MARKS_SLOT_BYTES = 128,
  GRADWATT_MARKS_CAPACITY = 16384,
  GRADWATT_MARKS_PHASES = 8,
  GRADWATT_MARKS_NAME_BYTES = 64,
  GRADWATT_MARKS_TEXT_BYTES = 84,
  GRADWATT_MARKS_TEXT_PARTS = 64,
  GRADWATT_MARKS_PATH_BYTES = 1024
};

enum { GRADWATT_MARKS_STEP = 1, GRADWATT_MARKS_EPOCH = 2, GRADWATT_MARKS_REGION = 3, GRADWATT_MARKS_TEXT = 4 };
enum { GRADWATT_MARKS_FLAG_UNORDERED = 1 };
enum { GRADWATT_MARKS_CLOCK_MONOTONIC = 1 };
enum { GRADWATT_MARKS_TAKEN = 1, GRADWATT_MARKS_DONE = 2, GRADWATT_MARKS_FAILED = 3 };

typedef struct gradwatt_marks_header {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  uint32_t slot_bytes;
  uint32_t capacity;
  int32_t pid;
  uint32_t flags;
  uint64_t start_ticks;
  int32_t rank;
  int32_t local_rank;
  int32_t world_size;
  uint32_t clock;
  char writer[8];
  uint64_t head;
  uint64_t open_ns;
  uint8_t reserved_1[48];
  uint64_t request;
  uint64_t answer;
  uint8_t reserved_2[112];
  char request_path[GRADWATT_MARKS_PATH_BYTES];
  uint8_t reserved_3[2816];
} gradwatt_marks_header;

typedef struct gradwatt_marks_text {
  int64_t time_ns;
  uint16_t parts;
  uint16_t bytes;
  char text[GRADWATT_MARKS_TEXT_BYTES];
} gradwatt_marks_text;

typedef struct gradwatt_marks_span {
  int64_t begin_ns;
  int64_t end_ns;
  int64_t samples;
  union {
    int64_t phase_ns[GRADWATT_MARKS_PHASES];
    char name[GRADWATT_MARKS_NAME_BYTES];
  } detail;
  uint64_t reserved;
} gradwatt_marks_span;

typedef struct gradwatt_marks_slot {
  uint64_t first;
  uint8_t kind;
  uint8_t phase_clock;
  uint16_t part;
  int32_t rank;
  int64_t number;
  union {
    gradwatt_marks_span span;
    gradwatt_marks_text text;
  } content;
  uint64_t last;
} gradwatt_marks_slot;
/* NOLINTEND(modernize-*,cppcoreguidelines-*) */

#ifdef __cplusplus
#define GRADWATT_MARKS_ASSERT static_assert
#else
#define GRADWATT_MARKS_ASSERT _Static_assert
#endif
GRADWATT_MARKS_ASSERT(sizeof(gradwatt_marks_header) == GRADWATT_MARKS_HEADER_BYTES, "the header is one page");
GRADWATT_MARKS_ASSERT(sizeof(gradwatt_marks_slot) == GRADWATT_MARKS_SLOT_BYTES, "a slot is two cache lines");
GRADWATT_MARKS_ASSERT(offsetof(gradwatt_marks_header, head) == 64, "as documented");
GRADWATT_MARKS_ASSERT(offsetof(gradwatt_marks_header, request) == 128, "as documented");
GRADWATT_MARKS_ASSERT(offsetof(gradwatt_marks_header, request_path) == 256, "as documented");
GRADWATT_MARKS_ASSERT(offsetof(gradwatt_marks_slot, content.span.detail) == 48, "as documented");
GRADWATT_MARKS_ASSERT(offsetof(gradwatt_marks_slot, content.text.text) == 36, "as documented");
GRADWATT_MARKS_ASSERT(offsetof(gradwatt_marks_slot, last) == 120, "as documented");

#endif
