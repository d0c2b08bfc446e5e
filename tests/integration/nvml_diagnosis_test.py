"""What GPUs show, played by the fake driver through the whole program, gets its cause; a memory-bound job that draws little
is called healthy."""
import concurrent.futures
import json
import unittest

from program import FAKE_NVML, ProgramTest

SECONDS = 5
# name, script of the fake driver, first finding (None: not decided)
SIGNATURES = [
    ("limit lowered", "h100*2; limit=400; power=constant(398); utilization=99; held_power_cap=0.9; event_reasons=4; sm_clock=1300",
     "power:limit-lowered"),
    ("capped far below the limit", "h100*2; power=constant(240); utilization=99; held_power_cap=0.8; event_reasons=4; sm_clock=1100",
     "power:capped-below-limit"),
    ("cap at the limit is what a busy GPU looks like",
     "h100*2; power=constant(690); utilization=99; held_power_cap=0.9; event_reasons=4; sm_clock=1700; sm_active=90; tensor_active=60; dram_active=40",
     "control:healthy"),
    ("power brake", "h100*8; power=constant(300); utilization=99; event_reasons=136; sm_clock=700", "power:brake"),
    ("heat", "h100*2; power=constant(500); utilization=99; event_reasons=32; temperature=90; sm_clock=1200", "thermal:throttling"),
    ("locked clocks", "h100*2; power=constant(300); utilization=99; event_reasons=2; sm_clock=1000", "config:clocks-locked"),
    ("a GPU that is lost", "h100*2; utilization=99; fault=return(*,15) 2s.. @1", "hardware:gpu-lost"),
    ("unlike cards", "h100; a100; utilization=99; power=constant(300)", "hardware:mixed"),
    ("PCIe link on four lanes", "h100*2; utilization=99; power=constant(300); pcie_width@1=4", "interconnect:pcie-link-downgraded"),
    ("fp32 without tensor cores", "h100*2; power=constant(450); utilization=99; sm_active=92; tensor_active=0; fp32_active=60; dram_active=25",
     "compute:no-tensor-cores"),
    ("memory-bound", "h100*2; power=constant(350); utilization=99; sm_active=60; tensor_active=5; dram_active=55", "compute:memory-bound"),
    ("memory-bound at the roofline is healthy at low power",
     "h100*2; power=constant(330); utilization=99; sm_active=70; tensor_active=8; dram_active=78", "control:healthy-low-power"),
    ("tensor cores at work are healthy", "h100*2; power=constant(420); utilization=99; sm_active=88; tensor_active=55; dram_active=40",
     "control:healthy-low-power"),
    ("seven GPUs wait for one",
     "h100*8; power=constant(130); utilization=100; sm_active=15; tensor_active=0; dram_active=1; sm_active@3=80; tensor_active@3=40; power@3=constant(450)",
     "imbalance:straggler-rank"),
    ("an idle GPU beside busy ones", "h100*4; utilization=99; power=constant(600); utilization@2=0; power@2=constant(70)", "config:idle-gpus"),
    ("busy at low power, and nothing else known", "v100*2; power=constant(120); utilization=99", None),
]


class Signatures(ProgramTest):
    def verdict_on(self, row):
        name, script, _ = row
        run = self.folder / name.replace(" ", "-").replace(",", "")
        environment = self.environment(GRADWATT_NVML_LIBRARY=FAKE_NVML, GRADWATT_FAKE_NVML=script)
        status, _, err = self.gradwatt("run", "--quiet", "-i", "200ms", "--out", run, "--", "sleep", str(SECONDS), environment=environment)
        self.assertEqual(status, 0, err)
        status, out, err = self.gradwatt("diagnose", run, "--json", environment=environment)
        self.assertEqual(status, 0, err)
        return json.loads(out)

    def test_each_signature_gets_its_cause(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            verdicts = list(pool.map(self.verdict_on, SIGNATURES))
        for (name, _, cause), verdict in zip(SIGNATURES, verdicts):
            with self.subTest(name):
                findings = [(f["cause"], round(f["confidence"], 2)) for f in verdict["findings"]]
                if cause is None:
                    self.assertEqual(findings, [])
                    self.assertTrue(verdict["missing"], "what would decide is not said")
                else:
                    self.assertTrue(findings, f"not decided: {[(c['cause'], c['confidence']) for c in verdict['candidates']]}")
                    self.assertEqual(findings[0][0], cause, findings)


if __name__ == "__main__":
    unittest.main()
