"""What a data set's files lie on, by the kernel's own tables: fact host.data_storage."""
import os

_ATTRIBUTES = ("root", "data_dir", "data_root", "data_path", "path", "filename", "file_path", "samples", "files", "paths")
_DEEPEST = 4  # wrappers around wrappers: Subset, ConcatDataset
_NETWORK = {"nfs4": "nfs", "smb3": "cifs"}
_KNOWN = {"nfs", "cifs", "lustre", "gpfs", "ceph", "beegfs", "9p", "tmpfs", "ramfs", "virtiofs"}


def path_of(dataset):
    """Where the samples are read from, as far as the data set's usual attributes tell; None else."""
    for _ in range(_DEEPEST):
        for name in _ATTRIBUTES:
            path = _first_path(getattr(dataset, name, None))
            if path is not None:
                return path
        inner = getattr(dataset, "dataset", None)
        if inner is None:
            inner = next(iter(getattr(dataset, "datasets", None) or ()), None)
        if inner is None:
            return None
        dataset = inner
    return None


def _first_path(value):
    while type(value) in (list, tuple) and value:
        value = value[0]
    if isinstance(value, (str, os.PathLike)):
        path = os.fspath(value)
        if isinstance(path, str) and path and os.path.exists(path):
            return path
    return None


def kind_of(path, root="/"):
    """nvme, ssd, hdd, or the file system where its name says it; None where neither is certain: layered file systems,
    disks that a hypervisor makes up. `root`: where proc and sys are found."""
    device = os.stat(path).st_dev
    number = "%d:%d" % (os.major(device), os.minor(device))
    system = _file_system(number, root)
    if system is None:
        return None
    system = _NETWORK.get(system, system)
    if system in _KNOWN:
        return system
    if system.startswith("fuse"):
        return "fuse"
    return _disk(number, root)


def _file_system(number, root):
    with open(os.path.join(root, "proc/self/mountinfo")) as lines:
        for line in lines:  # "36 35 98:0 /root /mount options - type source options"
            fields, _, rest = line.partition(" - ")
            if fields.split()[2] == number:
                return rest.split()[0]
    return None


def _disk(number, root):
    folder = os.path.realpath(os.path.join(root, "sys/dev/block", number))
    if os.path.exists(os.path.join(folder, "partition")):
        folder = os.path.dirname(folder)
    name = os.path.basename(folder)
    if name.startswith("nvme"):
        return "nvme"
    if not name.startswith("sd"):
        return None
    try:
        with open(os.path.join(folder, "queue/rotational")) as flag:
            return "hdd" if flag.read().strip() == "1" else "ssd"
    except OSError:
        return None
