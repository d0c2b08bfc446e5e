/* Lets a C or C++ training program tell gradwatt about its steps. One header, no library.
 *
 *   gradwatt_marks* marks = gradwatt_marks_open();            // NULL when not started by `gradwatt run`
 *   for (...) {
 *     int64_t begin = gradwatt_marks_now();
 *     train_one_step();
 *     gradwatt_step(marks, begin, gradwatt_marks_now(), batch_size, NULL);
 *   }
 *   gradwatt_marks_close(marks);
 *
 * Every function accepts NULL and then does nothing, so a program needs no condition of its own.
 * Writing stores about 128 bytes into mapped memory: no system call, no lock, it cannot fail and cannot block. Threads
 * may share a handle. A forked child shares it safely: its calls do nothing. Times are ns of CLOCK_MONOTONIC.
 * C11 needs -std=gnu11 or _GNU_SOURCE. The layout is in docs/mark-ring.md. */
#ifndef GRADWATT_MARK_RING_H
#define GRADWATT_MARK_RING_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "gradwatt/launch/marks/mark_layout.h"

/* C reads this too: NOLINTBEGIN(modernize-*,cppcoreguidelines-*) */
#ifdef __cplusplus
extern "C" {
#endif

/* A handle lives in a page that the kernel empties in forked children: `armed` is then 0 there. */
typedef struct gradwatt_marks {
  uint32_t armed;
  uint32_t capacity;
  int32_t rank;
  int64_t steps;
  gradwatt_marks_header* header;
  gradwatt_marks_slot* slots;
} gradwatt_marks;

static inline int64_t gradwatt_marks_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The first of the launchers' variables that is set; -1 when none is. */
static inline int32_t gradwatt_marks_env(const char* const* names) {
  for (; *names != NULL; ++names) {
    const char* text = getenv(*names);
    if (text != NULL && *text >= '0' && *text <= '9') return (int32_t)strtol(text, NULL, 10);
  }
  return -1;
}

static inline uint64_t gradwatt_marks_start_ticks(void) {
  char text[1024];
  unsigned long long ticks = 0;
  FILE* file = fopen("/proc/self/stat", "re");
  if (file == NULL) return 0;
  const size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[size] = '\0';
  /* The command name in brackets may hold anything, brackets too: count fields behind the last one. */
  const char* rest = strrchr(text, ')');
  if (rest == NULL) return 0;
  if (sscanf(rest + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu", &ticks) !=
      1)
    return 0;
  return ticks;
}

static inline void gradwatt_marks_fill_header(gradwatt_marks_header* header, uint64_t start_ticks) {
  static const char* const rank[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", NULL};
  static const char* const local[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID",
                                      NULL};
  static const char* const world[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", NULL};
  memcpy(header->magic, GRADWATT_MARKS_MAGIC, sizeof header->magic);
  header->version = GRADWATT_MARKS_VERSION;
  header->header_bytes = GRADWATT_MARKS_HEADER_BYTES;
  header->slot_bytes = GRADWATT_MARKS_SLOT_BYTES;
  header->capacity = GRADWATT_MARKS_CAPACITY;
  header->pid = (int32_t)getpid();
  header->start_ticks = start_ticks;
  header->rank = gradwatt_marks_env(rank);
  header->local_rank = gradwatt_marks_env(local);
  header->world_size = gradwatt_marks_env(world);
  header->clock = GRADWATT_MARKS_CLOCK_MONOTONIC;
  header->writer[0] = 'c';
  header->open_ns = (uint64_t)gradwatt_marks_now();
}

/* Allocates and maps the file; NULL (and no file) when anything fails. */
static inline void* gradwatt_marks_map(const char* path) {
  const off_t bytes = GRADWATT_MARKS_HEADER_BYTES + (off_t)GRADWATT_MARKS_CAPACITY * GRADWATT_MARKS_SLOT_BYTES;
  void* memory = MAP_FAILED;
  const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return NULL;
  if (posix_fallocate(fd, 0, bytes) == 0) memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory != MAP_FAILED) return memory;
  unlink(path);
  return NULL;
}

static inline void* gradwatt_marks_publish(const char* folder) {
  char hidden[4096];
  char path[4096];
  const uint64_t start_ticks = gradwatt_marks_start_ticks();
  if (strlen(folder) + 80 > sizeof path) return NULL;
  for (int n = 0; n < 1000; ++n) {
    snprintf(path, sizeof path, "%s/%ld-%llu-c%d.ring", folder, (long)getpid(), (unsigned long long)start_ticks, n);
    snprintf(hidden, sizeof hidden, "%s/.%ld-%llu-c%d", folder, (long)getpid(), (unsigned long long)start_ticks, n);
    if (access(path, F_OK) == 0) continue;
    void* memory = gradwatt_marks_map(hidden);
    if (memory == NULL) return NULL;
    gradwatt_marks_fill_header((gradwatt_marks_header*)memory, start_ticks);
    if (rename(hidden, path) == 0) return memory;
    unlink(hidden);
    return NULL;
  }
  return NULL;
}

/* Opens this process's ring in `folder`. NULL when the ring cannot be made (folder gone, no space, kernel before 4.14):
 * then nothing is measured and nothing else changes. */
static inline gradwatt_marks* gradwatt_marks_open_in(const char* folder) {
  if (folder == NULL || *folder == '\0') return NULL;
  void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return NULL;
  void* memory = madvise(page, 4096, MADV_WIPEONFORK) == 0 ? gradwatt_marks_publish(folder) : NULL;
  if (memory == NULL) {
    munmap(page, 4096);
    return NULL;
  }
  gradwatt_marks* marks = (gradwatt_marks*)page;
  marks->header = (gradwatt_marks_header*)memory;
  marks->slots = (gradwatt_marks_slot*)((char*)memory + GRADWATT_MARKS_HEADER_BYTES);
  marks->capacity = GRADWATT_MARKS_CAPACITY;
  marks->rank = marks->header->rank;
  marks->armed = 1;
  return marks;
}

/* The same in the folder that GRADWATT_MARKS names; NULL also when it is unset. */
static inline gradwatt_marks* gradwatt_marks_open(void) { return gradwatt_marks_open_in(getenv("GRADWATT_MARKS")); }

/* The file stays for gradwatt to read. No thread may use the handle any more. */
static inline void gradwatt_marks_close(gradwatt_marks* marks) {
  if (marks == NULL) return;
  if (marks->armed)
    munmap(marks->header, GRADWATT_MARKS_HEADER_BYTES + (size_t)marks->capacity * GRADWATT_MARKS_SLOT_BYTES);
  munmap(marks, 4096);
}

/* For programs that learn their rank only after the start. Before the first mark. */
static inline void gradwatt_marks_set_rank(gradwatt_marks* marks, int32_t rank, int32_t local_rank, int32_t world) {
  if (marks == NULL || !marks->armed) return;
  marks->rank = rank;
  marks->header->rank = rank;
  marks->header->local_rank = local_rank;
  marks->header->world_size = world;
}

/* Hands out `count` slots in a row; the number of the first. */
static inline uint64_t gradwatt_marks_take(gradwatt_marks* marks, uint32_t count) {
  return __atomic_fetch_add(&marks->header->head, count, __ATOMIC_RELAXED);
}

static inline gradwatt_marks_slot* gradwatt_marks_begin_slot(gradwatt_marks* marks, uint64_t n) {
  gradwatt_marks_slot* slot = &marks->slots[n & (marks->capacity - 1)];
  __atomic_store_n(&slot->first, n + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE); /* the first word before the content */
  slot->rank = marks->rank;
  return slot;
}

static inline void gradwatt_marks_end_slot(gradwatt_marks_slot* slot, uint64_t n) {
  __atomic_store_n(&slot->last, n + 1, __ATOMIC_RELEASE); /* the content before the last word */
}

/* One span (step, epoch). `samples`: GRADWATT_MARKS_UNKNOWN where not known. `phase_ns`: eight times in the order of
 * record::Phase, each GRADWATT_MARKS_UNKNOWN where not known, or NULL. `on_device`: phases are device events. */
static inline void gradwatt_marks_span_write(gradwatt_marks* marks, uint8_t kind, int64_t number, int64_t begin_ns,
                                             int64_t end_ns, int64_t samples, const int64_t* phase_ns, int on_device) {
  if (marks == NULL || !marks->armed) return;
  const uint64_t n = gradwatt_marks_take(marks, 1);
  gradwatt_marks_slot* slot = gradwatt_marks_begin_slot(marks, n);
  gradwatt_marks_span* span = &slot->content.span;
  slot->kind = kind;
  slot->phase_clock = on_device ? 1 : 0;
  slot->number = number;
  span->begin_ns = begin_ns;
  span->end_ns = end_ns;
  span->samples = samples;
  for (int i = 0; i < GRADWATT_MARKS_PHASES; ++i)
    span->detail.phase_ns[i] = phase_ns != NULL ? phase_ns[i] : GRADWATT_MARKS_UNKNOWN;
  gradwatt_marks_end_slot(slot, n);
}

/* One optimiser step of this rank; steps count from 0. Phases in host time. */
static inline void gradwatt_step(gradwatt_marks* marks, int64_t begin_ns, int64_t end_ns, int64_t samples,
                                 const int64_t* phase_ns) {
  if (marks == NULL || !marks->armed) return;
  const int64_t number = __atomic_fetch_add(&marks->steps, 1, __ATOMIC_RELAXED);
  gradwatt_marks_span_write(marks, GRADWATT_MARKS_STEP, number, begin_ns, end_ns, samples, phase_ns, 0);
}

static inline void gradwatt_epoch(gradwatt_marks* marks, int64_t number, int64_t begin_ns, int64_t end_ns,
                                  int64_t samples) {
  gradwatt_marks_span_write(marks, GRADWATT_MARKS_EPOCH, number, begin_ns, end_ns, samples, NULL, 0);
}

/* A named stretch of time: pass what gradwatt_region_begin returned to gradwatt_region_end. Regions may nest and
 * overlap. Names are UTF-8, at most 64 bytes. */
static inline int64_t gradwatt_region_begin(void) { return gradwatt_marks_now(); }
static inline void gradwatt_region_end(gradwatt_marks* marks, const char* name, int64_t begin_ns) {
  if (marks == NULL || !marks->armed) return;
  const uint64_t n = gradwatt_marks_take(marks, 1);
  gradwatt_marks_slot* slot = gradwatt_marks_begin_slot(marks, n);
  gradwatt_marks_span* span = &slot->content.span;
  const size_t length = strnlen(name, GRADWATT_MARKS_NAME_BYTES);
  slot->kind = GRADWATT_MARKS_REGION;
  slot->phase_clock = 0;
  slot->number = 0;
  span->begin_ns = begin_ns;
  span->end_ns = gradwatt_marks_now();
  span->samples = GRADWATT_MARKS_UNKNOWN;
  memset(span->detail.name, 0, GRADWATT_MARKS_NAME_BYTES);
  memcpy(span->detail.name, name, length);
  gradwatt_marks_end_slot(slot, n);
}

/* A text of up to 64 × 84 bytes; the rest is cut off. */
static inline void gradwatt_marks_text_write(gradwatt_marks* marks, const char* text) {
  if (marks == NULL || !marks->armed) return;
  const size_t most = (size_t)GRADWATT_MARKS_TEXT_BYTES * GRADWATT_MARKS_TEXT_PARTS;
  const size_t length = strnlen(text, most);
  const size_t room = GRADWATT_MARKS_TEXT_BYTES;
  const uint16_t parts = (uint16_t)(length == 0 ? 1 : (length + room - 1) / room);
  const uint64_t base = gradwatt_marks_take(marks, parts);
  const int64_t now = gradwatt_marks_now();
  for (uint16_t part = 0; part < parts; ++part) {
    const size_t offset = part * room;
    const size_t bytes = length - offset < room ? length - offset : room;
    gradwatt_marks_slot* slot = gradwatt_marks_begin_slot(marks, base + part);
    slot->kind = GRADWATT_MARKS_TEXT;
    slot->part = part;
    slot->number = (int64_t)base;
    slot->content.text.time_ns = now;
    slot->content.text.parts = parts;
    slot->content.text.bytes = (uint16_t)bytes;
    memcpy(slot->content.text.text, text + offset, bytes);
    gradwatt_marks_end_slot(slot, base + part);
  }
}

/* A fact of the process; names are those of gradwatt's fact table ("job.framework", "ddp.parameters"). */
static inline void gradwatt_fact_number(gradwatt_marks* marks, const char* name, double value) {
  char text[256];
  snprintf(text, sizeof text, "%s=n%.17g", name, value);
  gradwatt_marks_text_write(marks, text);
}
static inline void gradwatt_fact_text(gradwatt_marks* marks, const char* name, const char* value) {
  char text[4096];
  snprintf(text, sizeof text, "%s=t%s", name, value);
  gradwatt_marks_text_write(marks, text);
}

/* 1 when gradwatt asks for something that was not seen yet: `*id` is 0 before the first call and keeps the last
 * request. Then `*steps` steps should be profiled into `path` (GRADWATT_MARKS_PATH_BYTES). */
static inline int gradwatt_marks_request(gradwatt_marks* marks, uint32_t* id, uint32_t* steps, char* path) {
  if (marks == NULL || !marks->armed) return 0;
  const uint64_t word = __atomic_load_n(&marks->header->request, __ATOMIC_ACQUIRE);
  if ((uint32_t)word == *id) return 0;
  *id = (uint32_t)word;
  *steps = (uint32_t)(word >> 32);
  memcpy(path, marks->header->request_path, GRADWATT_MARKS_PATH_BYTES);
  path[GRADWATT_MARKS_PATH_BYTES - 1] = '\0';
  return 1;
}

/* `state` is GRADWATT_MARKS_TAKEN, _DONE or _FAILED. */
static inline void gradwatt_marks_answer(gradwatt_marks* marks, uint32_t id, uint32_t state) {
  if (marks == NULL || !marks->armed) return;
  __atomic_store_n(&marks->header->answer, ((uint64_t)state << 32) | id, __ATOMIC_RELEASE);
}

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*,cppcoreguidelines-*) */
#endif
