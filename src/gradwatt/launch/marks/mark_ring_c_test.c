/* The public writer used from C: this file only has to compile and be called by mark_ring_test.cpp. */
#include "gradwatt/launch/marks/mark_ring.h"

int gradwatt_test_write_from_c(void);

int gradwatt_test_write_from_c(void) {
  const int64_t phases[GRADWATT_MARKS_PHASES] = {1, 2, 3, GRADWATT_MARKS_UNKNOWN, 5, 6, 7, 8};
  gradwatt_marks* marks = gradwatt_marks_open();
  if (marks == NULL) return 0;
  gradwatt_step(marks, 10, 20, 64, phases);
  gradwatt_marks_close(marks);
  return 1;
}
