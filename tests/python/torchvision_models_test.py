"""The C++ residual networks against torchvision's: weights cross in a safetensors file, then logits, loss, every gradient
and every running statistic of one pass agree."""
import json
import os
import struct
import subprocess
import tempfile
import unittest

from support import require_torch

DTYPES = {"torch.float64": "F64", "torch.float32": "F32", "torch.int64": "I64"}


def setUpModule():
    require_torch()
    try:
        import torchvision  # noqa: F401
    except ImportError:
        raise unittest.SkipTest("torchvision is not installed")


def save_safetensors(path, tensors):
    """By the format's description; knows nothing of the C++ writer."""
    header, data, begin = {}, [], 0
    for name, tensor in tensors.items():
        raw = tensor.detach().contiguous().numpy().tobytes()
        header[name] = {
            "dtype": DTYPES[str(tensor.dtype)], "shape": list(tensor.shape), "data_offsets": [begin, begin + len(raw)],
        }
        data.append(raw)
        begin += len(raw)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data))


def load_safetensors(path):
    import torch

    types = {code: getattr(torch, name.split(".")[1]) for name, code in DTYPES.items()}
    with open(path, "rb") as file:
        content = file.read()
    length = struct.unpack("<Q", content[:8])[0]
    header, data = json.loads(content[8:8 + length]), content[8 + length:]
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        tensor = torch.frombuffer(bytearray(data[begin:end]), dtype=types[entry["dtype"]])
        tensors[name] = tensor.reshape(entry["shape"])
    return tensors


class TorchvisionTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gw-models-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def probe(self, name):
        return subprocess.run(
            [os.environ["GRADWATT_MODEL_PROBE"], name, self.path("weights"), self.path("input"), self.path("out")],
            capture_output=True, text=True, timeout=200,
        )

    def make(self, name, dtype):
        import torch
        import torchvision

        torch.manual_seed(5)
        torch.set_num_threads(1)
        model = getattr(torchvision.models, name)()
        with torch.no_grad():  # the fresh values of a norm, 1 and 0, would hide a mix-up
            for parameter in model.parameters():
                if parameter.dim() == 1:
                    parameter.add_(0.1 * torch.randn_like(parameter))
        model = model.to(dtype)
        inputs = {"input": torch.randn(2, 3, 64, 64).to(dtype), "labels": torch.tensor([3, 977])}
        save_safetensors(self.path("weights"), model.state_dict())
        save_safetensors(self.path("input"), inputs)
        return model, inputs

    def compare(self, name, dtype, tolerance):
        import torch

        model, inputs = self.make(name, dtype)
        logits = model(inputs["input"])
        loss = torch.nn.functional.cross_entropy(logits, inputs["labels"])
        loss.backward()
        done = self.probe(name)
        self.assertEqual(done.returncode, 0, done.stderr)
        theirs = {"logits": logits, "loss": loss}
        theirs.update(("grad." + key, p.grad) for key, p in model.named_parameters())
        theirs.update(("buffer." + key, b) for key, b in model.named_buffers())
        ours = load_safetensors(self.path("out"))
        self.assertEqual(set(ours), set(theirs))
        for key, expected in theirs.items():
            scale = expected.detach().double().abs().max().item()
            worst = (ours[key].double() - expected.detach().double()).abs().max().item()
            self.assertLessEqual(worst, tolerance * max(scale, 1e-30), key)

    def test_resnet18_agrees_in_double_precision(self):
        import torch

        self.compare("resnet18", torch.float64, 1e-10)

    def test_resnet50_agrees_in_double_precision(self):
        import torch

        self.compare("resnet50", torch.float64, 1e-10)

    def test_resnet18_agrees_in_single_precision(self):
        import torch

        self.compare("resnet18", torch.float32, 1e-4)

    def test_resnet50_agrees_in_single_precision(self):
        import torch

        self.compare("resnet50", torch.float32, 1e-3)

    def test_weights_of_another_network_are_refused_by_name(self):
        import torch

        self.make("resnet18", torch.float32)
        done = self.probe("resnet50")
        self.assertEqual(done.returncode, 3)
        self.assertIn("missing layer1.0.conv3.weight", done.stderr)
        self.assertIn("layer1.0.conv1.weight [64, 64, 3, 3] for [64, 64, 1, 1]", done.stderr)


if __name__ == "__main__":
    unittest.main()
