"""The start of a Python process under gradwatt, with and without something called torch."""
import os
import unittest

from support import SITE, AgentTest

PRINT = "import sys; print(sorted(sys.modules)); print(sys.path)"


class StartTest(AgentTest):
    def fake_torch(self, code="value = 1"):
        return os.path.dirname(self.write("fake/torch/__init__.py", code).rstrip("/").rsplit("/", 1)[0])

    def path(self, *more):
        return os.pathsep.join([str(SITE), *more])

    def test_a_process_without_torch_sees_the_modules_and_the_path_of_a_plain_one(self):
        with_agent = self.run_python("-c", PRINT)
        plain = self.run_python("-c", PRINT, PYTHONPATH=None, GRADWATT_MARKS=None)
        extra = set(eval(with_agent.splitlines()[0])) - set(eval(plain.splitlines()[0]))
        self.assertLessEqual(extra, {"sitecustomize"})
        self.assertEqual(with_agent.splitlines()[1], plain.splitlines()[1])
        self.assert_silent()

    def test_the_sitecustomize_that_is_shadowed_runs_once_and_is_the_one_that_programs_see(self):
        self.write("theirs/sitecustomize.py", "import builtins\nbuiltins.ran = getattr(builtins, 'ran', 0) + 1\nmine = 5")
        out = self.run_python(
            "-c", "import sitecustomize; print(ran, sitecustomize.mine, sitecustomize.__file__)",
            PYTHONPATH=self.path(os.path.join(self.folder, "theirs")),
        )  # fmt: skip
        self.assertEqual(out.split(), ["1", "5", os.path.join(self.folder, "theirs", "sitecustomize.py")])

    def test_a_shadowed_sitecustomize_that_fails_is_reported_as_python_reports_it(self):
        self.write("theirs/sitecustomize.py", "raise ValueError('theirs is broken')")
        theirs = os.path.join(self.folder, "theirs")
        self.run_python("-c", "pass", PYTHONPATH=self.path(theirs))
        self.assertIn("theirs is broken", self.errors)
        self.assertIn("Error in sitecustomize", self.errors)

    def test_usercustomize_is_left_alone(self):
        self.write("theirs/usercustomize.py", "print('user')")
        out = self.run_python("-c", "print('main')", PYTHONPATH=self.path(os.path.join(self.folder, "theirs")))
        plain = self.run_python("-c", "print('main')", PYTHONPATH=os.path.join(self.folder, "theirs"))
        self.assertEqual(out, plain)

    def test_children_are_followed(self):
        out = self.run_python(
            "-c",
            "import subprocess, sys\n"
            "code = 'import sys; print(any(type(f).__name__ == \"_TorchFinder\" for f in sys.meta_path))'\n"
            "print(subprocess.run([sys.executable, '-c', code], capture_output=True, text=True).stdout)",
        )
        self.assertIn("True", out)

    def test_without_a_ring_folder_or_when_opted_out_nothing_is_installed(self):
        code = "import sys; print(any(type(f).__name__ == '_TorchFinder' for f in sys.meta_path))"
        self.assertEqual(self.run_python("-c", code).strip(), "True")
        self.assertEqual(self.run_python("-c", code, GRADWATT_MARKS=None).strip(), "False")
        self.assertEqual(self.run_python("-c", code, GRADWATT_NO_AGENT="1").strip(), "False")

    def test_something_else_called_torch_still_works_and_the_agent_says_why_it_is_quiet(self):
        out = self.run_python("-c", "import torch; print(torch.value)", PYTHONPATH=self.path(self.fake_torch()))
        self.assertEqual(out.strip(), "1")
        self.assertIn("AttributeError", self.facts()["agent.problem"])

    def test_a_torch_that_fails_to_import_fails_in_the_same_way_twice(self):
        fake = self.fake_torch("raise ImportError('libcudart is missing')")
        out = self.run_python(
            "-c",
            "for i in range(2):\n"
            "    try: import torch\n"
            "    except ImportError as error: print(error)",
            PYTHONPATH=self.path(fake),
        )
        self.assertEqual(out.splitlines(), ["libcudart is missing"] * 2)
        self.assert_silent()

    def test_no_torch_at_all_is_the_usual_error(self):
        out = self.run_python(
            "-S", "-c",
            "import site, sys; sys.path.insert(0, %r); import sitecustomize\n"
            "try: import torch\n"
            "except ModuleNotFoundError as error: print(error.name)" % str(SITE),
        )  # fmt: skip
        self.assertEqual(out.strip(), "torch")

    def test_the_loader_of_torch_keeps_its_class_and_its_source(self):
        out = self.run_python(
            "-c",
            "import inspect, torch; print(type(torch.__spec__.loader).__name__, 'exec_module' in vars(torch.__loader__))\n"
            "print(inspect.getsource(torch))",
            PYTHONPATH=self.path(self.fake_torch()),
        )
        self.assertEqual(out.split(), ["SourceFileLoader", "False", "value", "=", "1"])

    def test_the_exit_status_of_the_program_is_its_own(self):
        self.run_python("-c", "raise SystemExit(7)", status=7)
        self.run_python("-c", "1/0", status=1)
        self.assertIn("ZeroDivisionError", self.errors)


if __name__ == "__main__":
    unittest.main()
