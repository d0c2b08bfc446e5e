"""What GPUs show, played by the fake driver through the whole program, gets its cause; a memory-bound job that draws little
is called healthy."""
import concurrent.futures
import json
import unittest

from program import FAKE_NVML, ProgramTest

SECONDS = 5
# What only the job or a trace can tell, given as facts beside the run.
SMALL_STEPS = {"job.local_batch_size": 1, "step.time_s": 0.004, "ddp.parameters": 40_000, "job.world_size": 1}
PADDED = {"job.padding_share": 0.4}
LAYOUT_CHANGES = {"trace.layout_change_share": 0.2}
NEW_SHAPES = {"torch.cudnn_benchmark": 1, "trace.shapes_vary": 1}
# name, script of the fake driver, first finding (None: not decided), facts
SIGNATURES = [
    ("limit lowered", "h100*2; limit=400; power=constant(398); utilization=99; held_power_cap=0.9; event_reasons=4; sm_clock=1300",
     "power:limit-lowered"),
    ("limit held down by the machine's management", "h100*2; limit_enforced=400; power=constant(398); utilization=99; held_power_cap=0.9; event_reasons=4; sm_clock=1300",
     "power:management-cap"),
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
    ("tiny work", "h100; power=constant(140); utilization=97; sm_active=7; tensor_active=1; dram_active=3", "compute:tiny-work", SMALL_STEPS),
    ("padding", "h100*2; power=constant(480); utilization=99; sm_active=85; tensor_active=30; dram_active=40", "compute:padding", PADDED),
    ("layout changes", "h100*2; power=constant(380); utilization=98; sm_active=70; tensor_active=12; dram_active=45", "compute:layout-changes",
     LAYOUT_CHANGES),
    ("tuning anew for each shape", "h100*2; power=constant(300); utilization=90; sm_active=50; tensor_active=10; dram_active=30",
     "compute:autotune-varying-shapes", NEW_SHAPES),
    ("equal cards that differ a little", "h100*4; power=constant(600); utilization=99; sm_active=85; tensor_active=45; dram_active=40; sm_clock=1700; sm_clock@2=1600",
     "hardware:silicon-spread", {"rank.skew_share": 0.05, "rank.culprit": 2, "rank.culprit_stays": 0.95, "job.world_size": 4}),
    ("memory errors", "h100*2; power=constant(600); utilization=99; sm_active=85; tensor_active=45", "hardware:memory-errors", {"gpu.xid": 48}),
    ("a straggler by the ranks' own times", "h100*4; power=constant(300); utilization=99; sm_active=40; tensor_active=15", "imbalance:straggler-rank",
     {"rank.skew_share": 0.4, "rank.culprit": 3, "rank.culprit_stays": 1.0, "job.world_size": 4}),
    ("busy at low power, and nothing else known", "v100*2; power=constant(120); utilization=99", None),
]


class Signatures(ProgramTest):
    def verdict_on(self, row):
        name, script, _, *facts = row
        run = self.folder / name.replace(" ", "-").replace(",", "")
        environment = self.environment(GRADWATT_NVML_LIBRARY=FAKE_NVML, GRADWATT_FAKE_NVML=script)
        status, _, err = self.gradwatt("run", "--quiet", "-i", "200ms", "--out", run, "--", "sleep", str(SECONDS), environment=environment)
        self.assertEqual(status, 0, err)
        files = [run]
        if facts:
            files.append(self.folder / (run.name + ".json"))
            rows = [{"name": key, "subject": "job", "value": value} for key, value in facts[0].items()]
            files[1].write_text(json.dumps({"schema": "gradwatt.facts/1", "facts": rows}))
        status, out, err = self.gradwatt("diagnose", *files, "--json", environment=environment)
        self.assertEqual(status, 0, err)
        return json.loads(out)

    def test_each_signature_gets_its_cause(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            verdicts = list(pool.map(self.verdict_on, SIGNATURES))
        for (name, _, cause, *_), verdict in zip(SIGNATURES, verdicts):
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
