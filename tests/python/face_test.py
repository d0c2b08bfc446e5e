"""gradwatt.step, gradwatt.region and EnergyMonitor, without PyTorch."""
import unittest

from support import PYTHON_FOLDER, AgentTest

PATH = str(PYTHON_FOLDER)


class FaceTest(AgentTest):
    def test_outside_gradwatt_every_call_does_nothing(self):
        out = self.run_code(
            """
            import gradwatt
            @gradwatt.region("function")
            def double(x): "doc"; return 2 * x
            with gradwatt.region("block"):
                gradwatt.step(); gradwatt.step(samples=3)
            monitor = gradwatt.EnergyMonitor()
            monitor.start("window")
            print(double(4), double.__name__, monitor.stop("window") >= 0)
            """,
            PYTHONPATH=PATH, GRADWATT_MARKS=None,
        )  # fmt: skip
        self.assertEqual(out.split(), ["8", "double", "True"])
        self.assert_silent()

    def test_steps_and_regions_are_recorded(self):
        self.run_code(
            """
            import gradwatt, time
            gradwatt.step()
            for i in range(3):
                with gradwatt.region("outer"), gradwatt.region("inner"):
                    pass
                gradwatt.step(samples=8)
            """,
            PYTHONPATH=PATH,
        )
        steps = self.marks("step")
        self.assertEqual([(s["number"], s["samples"]) for s in steps], [(0, 8), (1, 8), (2, 8)])
        self.assertEqual(steps[0]["end_ns"], steps[1]["begin_ns"])
        self.assertEqual([r["name"] for r in self.marks("region")], ["inner", "outer"] * 3)

    def test_a_region_that_an_exception_leaves_is_recorded_and_the_exception_goes_on(self):
        self.run_code(
            """
            import gradwatt
            @gradwatt.region("fails")
            def fail(): raise KeyError("mine")
            try: fail()
            except KeyError as error: assert error.args == ("mine",)
            else: raise SystemExit(1)
            """,
            PYTHONPATH=PATH,
        )
        self.assertEqual([r["name"] for r in self.marks("region")], ["fails"])

    def test_windows_that_do_not_fit_are_an_error_of_the_program(self):
        self.run_code(
            """
            import gradwatt
            monitor = gradwatt.EnergyMonitor()
            monitor.start("a")
            for call in (lambda: monitor.start("a"), lambda: monitor.stop("b")):
                try: call()
                except ValueError as error: assert "the window" in str(error)
                else: raise SystemExit(1)
            """,
            PYTHONPATH=PATH,
        )

    def test_a_forked_child_is_silent(self):
        self.run_code(
            """
            import gradwatt, os
            with gradwatt.region("parent"): pass
            if os.fork() == 0:
                with gradwatt.region("child"): pass
                os._exit(0)
            os.wait()
            """,
            PYTHONPATH=PATH,
        )
        self.assertEqual([r["name"] for r in self.marks("region")], ["parent"])

    def test_a_folder_that_is_gone_changes_nothing(self):
        self.run_code("import gradwatt\nwith gradwatt.region('x'): gradwatt.step()", PYTHONPATH=PATH,
                      GRADWATT_MARKS="/nonexistent/folder")  # fmt: skip


if __name__ == "__main__":
    unittest.main()
