"""What the agent says about the job's settings. Names are those of gradwatt's fact table; what is not known is not said."""
import os
import weakref

from . import storage
from .ring import UNKNOWN
from .shares import Shares

_REPORT_AT = (10, 100, 1000, 10000)  # steps after which figures that grow are said again


def key_of(iterator):
    """The same for every pass over one loader: iterators come and go, the loader's index sampler stays."""
    return id(getattr(iterator, "_index_sampler", iterator))


def samples_of(iterator, batch):
    """Batch dimension of the first tensor in it; UNKNOWN where the loader does not make the batches itself."""
    if not getattr(iterator, "_auto_collation", False):
        return UNKNOWN
    first = batch[0] if type(batch) in (list, tuple) and batch else batch
    shape = getattr(first, "shape", None) or _first_shape(batch, 3)
    return int(shape[0]) if shape else UNKNOWN


def full_batches(torch, iterator, samples):
    """How many batches of a pass have certainly as many samples as its first: all but the last where PyTorch's own
    parts choose and stack them; else 0. To ask each batch for its shape costs more than all else of that hook."""
    sampler = getattr(iterator, "_index_sampler", None)
    collate = getattr(iterator, "_collate_fn", None)
    if type(sampler) is not torch.utils.data.BatchSampler or samples != sampler.batch_size:
        return 0
    if collate is not torch.utils.data.default_collate or isinstance(iterator._dataset, torch.utils.data.IterableDataset):
        return 0
    try:
        return len(sampler) - 1
    except (TypeError, NotImplementedError):
        return 0


def _first_shape(value, depth):
    shape = getattr(value, "shape", None)
    if shape is not None:
        return shape
    if depth == 0 or isinstance(value, (str, bytes)):
        return None
    if isinstance(value, (tuple, list)):
        items = value
    else:
        values = getattr(value, "values", None)
        items = values() if callable(values) else ()
    for item in items:
        shape = _first_shape(item, depth - 1)
        if shape:
            return shape
    return None


class Facts:
    def __init__(self, torch, recorder):
        self._torch = torch
        self._say = recorder.fact
        self._model = None  # weak reference to the DDP module
        self._optimizer = None  # class, said once
        self._shares = Shares()

    def loader(self, iterator, samples):
        """At the first batch of a training pass."""
        say = self._say
        workers = getattr(iterator, "_num_workers", None)
        sampler = getattr(iterator, "_index_sampler", None)
        say("loader.workers", workers)
        say("loader.batch_size", getattr(sampler, "batch_size", None))
        say("loader.pin_memory", getattr(iterator, "_pin_memory", None))
        if workers:
            say("loader.prefetch_factor", getattr(iterator, "_prefetch_factor", None))
            say("loader.persistent_workers", getattr(iterator, "_persistent_workers", None))
        if samples != UNKNOWN:
            say("job.local_batch_size", samples)
        try:
            say("loader.batches", len(iterator))
        except (TypeError, NotImplementedError):
            pass  # an endless or unknown length is not said
        self._storage(getattr(iterator, "_dataset", None))

    def optimizer(self, optimizer):
        if self._optimizer is None:
            self._optimizer = type(optimizer).__name__
            self._say("job.optimizer", self._optimizer)
            self._say("job.device", optimizer.param_groups[0]["params"][0].device.type)

    def wrapped(self, model):
        """A DistributedDataParallel was made."""
        self._model = weakref.ref(model)
        data = model._get_ddp_logging_data()
        say = self._say
        say("ddp.bucket_cap_bytes", data.get("bucket_cap_bytes"))
        say("ddp.find_unused_parameters", _flag(data.get("find_unused_parameters")))
        say("ddp.static_graph", _flag(getattr(model, "static_graph", None)))
        trained = [p for p in model.module.parameters() if p.requires_grad]
        say("ddp.parameters", sum(p.numel() for p in trained))
        say("ddp.parameter_bytes", sum(p.numel() * p.element_size() for p in trained))

    def after_steps(self, before, steps, own_cpu_s):
        """`own_cpu_s`: tells the agent's CPU time so far, None where it is not known."""
        if before == 0:
            self._environment()
            self._shares.begin()
        if any(before < number <= steps for number in _REPORT_AT):
            self.at_end(own_cpu_s)

    def at_end(self, own_cpu_s):
        self._say("agent.cpu_s", own_cpu_s(), estimated=True)
        for name, share in self._shares.told().items():
            self._say(name, share)
        self._communication()

    def _environment(self):
        torch, say = self._torch, self._say
        say("job.framework", "PyTorch " + str(torch.__version__))
        say("torch.num_threads", torch.get_num_threads())
        distributed = getattr(torch, "distributed", None)
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            say("job.world_size", distributed.get_world_size())
            say("job.backend", str(distributed.get_backend()))
        elif "WORLD_SIZE" not in os.environ:
            say("job.world_size", 1)

    def _storage(self, dataset):
        try:
            path = storage.path_of(dataset)
            self._say("host.data_storage", None if path is None else storage.kind_of(path))
        except Exception:
            pass  # a data set may answer anything when asked for a name; what it does not tell is not said

    def _communication(self):
        """What DDP's reducer timed itself in the passes that it samples; nothing where it timed none."""
        model = self._model() if self._model is not None else None
        if model is None:
            return
        data = model._get_ddp_logging_data()
        communication = data.get("avg_backward_comm_time")
        if communication:
            self._say("ddp.comm_s", communication * 1e-9)
            self._say("ddp.comm_overlap_s", data.get("avg_backward_compute_comm_overlap_time", 0) * 1e-9)


def _flag(value):
    return None if value is None else bool(value)
