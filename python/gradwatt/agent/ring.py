"""Writes one process's mark ring; docs/mark-ring.md has the layout.

A mark is one struct.pack_into on mapped memory: no system call and no lock. The interpreter lock makes each of them
whole towards other threads of this process.
"""
import itertools
import os
import struct
import time

STEP, EPOCH, REGION, TEXT = 1, 2, 3, 4
UNKNOWN = -(2**63)
TAKEN, DONE, FAILED = 1, 2, 3
NO_PHASES = (UNKNOWN,) * 8
NO_REQUEST = (0,)

_HEADER_BYTES = 4096
_SLOT_BYTES = 128
_CAPACITY = 16384
_PATH_BYTES = 1024
_HEADER = struct.Struct("<8sIIIIiIQiiiI8sQQ")
_RANKS = struct.Struct("<iii")
_WORD = struct.Struct("<Q")
_SPAN = struct.Struct("<QBBHiqqqq8qQQ")
_REGION = struct.Struct("<QBBHiqqqq64sQQ")
_TEXT = struct.Struct("<QBBHiqqHH84sQ")
_TEXT_BYTES = 84
_TEXT_PARTS = 64
_RANKS_AT, _HEAD_AT, _REQUEST_AT, _ANSWER_AT, _PATH_AT = 40, 64, 128, 136, 256
_UNORDERED = 1

_RANK = ("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")
_LOCAL_RANK = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
_WORLD_SIZE = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")


def _number_in_environment(names):
    for name in names:
        text = os.environ.get(name, "")
        if text.isdigit():
            return int(text)
    return -1


def _start_ticks():
    with open("/proc/self/stat", "rb") as file:
        text = file.read()
    return int(text[text.rindex(b")") + 1 :].split()[19])


def _utf8(text, limit):
    """At most `limit` bytes, never half a character."""
    data = text.encode("utf-8", "replace")
    return data if len(data) <= limit else data[:limit].decode("utf-8", "ignore").encode("utf-8")


class Ring:
    """Raises OSError where the ring cannot be made; after that no method fails or blocks."""

    def __init__(self, folder):
        self.rank = _number_in_environment(_RANK)
        self.memory = self._create(folder)
        self._numbers = itertools.count().__next__
        self.asked = memoryview(self.memory)[_REQUEST_AT : _REQUEST_AT + 4].cast("I")  # number of the last request
        self.seen = 0  # number of the last one that request() returned

    def _create(self, folder):
        import mmap  # a library of its own, which only processes that train need to load

        pid, ticks = os.getpid(), _start_ticks()
        for n in itertools.count():
            name = "%d-%d-python%d" % (pid, ticks, n)
            path = os.path.join(folder, name + ".ring")
            if not os.path.exists(path):
                break
        hidden = os.path.join(folder, "." + name)
        size = _HEADER_BYTES + _CAPACITY * _SLOT_BYTES
        file = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(file, 0, size)  # a full file system must fail here, not in a store
            memory = mmap.mmap(file, size)
            self._fill_header(memory, pid, ticks)
            os.rename(hidden, path)
            return memory
        except BaseException:
            os.unlink(hidden)
            raise
        finally:
            os.close(file)

    def _fill_header(self, memory, pid, ticks):
        ordered = os.uname().machine in ("x86_64", "i686")
        _HEADER.pack_into(
            memory,
            0,
            b"GWMARKS\n",
            1,
            _HEADER_BYTES,
            _SLOT_BYTES,
            _CAPACITY,
            pid,
            0 if ordered else _UNORDERED,
            ticks,
            self.rank,
            _number_in_environment(_LOCAL_RANK),
            _number_in_environment(_WORLD_SIZE),
            1,
            b"python",
            0,
            time.monotonic_ns(),
        )

    def set_ranks(self, rank, local_rank, world_size):
        self.rank = rank
        _RANKS.pack_into(self.memory, _RANKS_AT, rank, local_rank, world_size)

    def span(self, kind, number, begin_ns, end_ns, samples=UNKNOWN, phases=NO_PHASES, on_device=0):
        n = self._numbers()
        at = _HEADER_BYTES + (n & (_CAPACITY - 1)) * _SLOT_BYTES
        n += 1
        _SPAN.pack_into(
            self.memory, at, n, kind, on_device, 0, self.rank, number, begin_ns, end_ns, samples, *phases, 0, n
        )
        _WORD.pack_into(self.memory, _HEAD_AT, n)

    def step(self, number, begin_ns, end_ns, samples=None):
        self.span(STEP, number, begin_ns, end_ns, UNKNOWN if samples is None else int(samples))

    def region(self, name, begin_ns, end_ns):
        n = self._numbers()
        at = _HEADER_BYTES + (n & (_CAPACITY - 1)) * _SLOT_BYTES
        n += 1
        _REGION.pack_into(
            self.memory, at, n, REGION, 0, 0, self.rank, 0, begin_ns, end_ns, UNKNOWN, _utf8(name, 64), 0, n
        )
        _WORD.pack_into(self.memory, _HEAD_AT, n)

    def fact(self, name, value, estimated=False):
        """`value`: a bool or number, or a text. `estimated`: a number that was not counted."""
        if isinstance(value, (bool, int, float)):
            value = ("e" if estimated else "n") + repr(int(value) if isinstance(value, bool) else value)
        else:
            value = "t" + str(value)
        data = _utf8(name + "=" + value, _TEXT_BYTES * _TEXT_PARTS)
        pieces = [data[i : i + _TEXT_BYTES] for i in range(0, len(data), _TEXT_BYTES)]
        now, number = time.monotonic_ns(), None
        for part, piece in enumerate(pieces):
            n = self._numbers()
            number = n if number is None else number
            at = _HEADER_BYTES + (n & (_CAPACITY - 1)) * _SLOT_BYTES
            n += 1
            _TEXT.pack_into(
                self.memory, at, n, TEXT, 0, part, self.rank, number, now, len(pieces), len(piece), piece, n
            )
            _WORD.pack_into(self.memory, _HEAD_AT, n)

    def request(self):
        """(number, steps, path) of a request not seen before, else None."""
        (word,) = _WORD.unpack_from(self.memory, _REQUEST_AT)
        if word & 0xFFFFFFFF == self.seen:
            return None
        self.seen = word & 0xFFFFFFFF
        path = bytes(self.memory[_PATH_AT : _PATH_AT + _PATH_BYTES]).split(b"\0", 1)[0]
        return self.seen, word >> 32, os.fsdecode(path)

    def answer(self, request, state):
        _WORD.pack_into(self.memory, _ANSWER_AT, state << 32 | request)
