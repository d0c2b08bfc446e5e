#include "step_times_file.hpp"

namespace gradwatt::app {

StepTimesFile::StepTimesFile(const std::string& path) {
  if (path.empty()) return;
  file_.open(path);
  file_ << "epoch,update,step_ns,data_wait_ns,forward_ns,backward_ns,comm_exposed_ns,optimizer_ns,loss\n";
}

void StepTimesFile::add(const training::Progress& p) {
  if (!file_.is_open() || p.evaluated) return;
  const auto& t = p.times;
  file_ << p.epoch << ',' << p.step << ',' << t.end_ns - t.begin_ns << ',' << t.data_wait_ns << ',' << t.forward_ns
        << ',' << t.backward_ns << ',' << t.exposed_ns << ',' << t.optimizer_ns << ',' << p.loss << '\n';
}

}  // namespace gradwatt::app
