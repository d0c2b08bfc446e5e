// model_probe NAME WEIGHTS INPUT OUT: one forward and backward pass of a model with weights from elsewhere, for
// comparison with another implementation. INPUT holds "input" (its type decides the model's) and "labels"; OUT gets
// "logits", "loss", "grad.NAME" of every parameter and "buffer.NAME" after the pass. Files are safetensors.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cstdio>
#include <map>

#include "gradwatt/training/models/loss.hpp"
#include "gradwatt/training/models/weights.hpp"

namespace {

using namespace gradwatt;
using namespace gradwatt::training;

core::Result<void> probe(const std::string& name, const char* weights, const char* input_path, const char* out) {
  const auto file = load_safetensors(input_path);
  if (!file) return core::fail(file.error());
  const std::map<std::string, torch::Tensor> inputs(file->tensors.begin(), file->tensors.end());
  auto made = make_model({.name = name}, 1);
  if (!made) return core::fail(made.error());
  Model& model = **made;
  model.to(inputs.at("input").scalar_type());
  if (auto loaded = load_weights(model, weights); !loaded) return loaded;
  const auto logits = model.forward(inputs.at("input"));
  const auto loss = cross_entropy(logits, inputs.at("labels"));
  loss.backward();
  NamedTensors results{{"logits", logits}, {"loss", loss}};
  for (const auto& item : model.named_parameters()) results.emplace_back("grad." + item.key(), item.value().grad());
  for (const auto& item : model.named_buffers()) results.emplace_back("buffer." + item.key(), item.value());
  return save_safetensors(out, results);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return std::fputs("usage: model_probe NAME WEIGHTS INPUT OUT\n", stderr), 2;
  at::set_num_threads(1);
  const auto done = probe(argv[1], argv[2], argv[3], argv[4]);
  if (done) return 0;
  std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return 3;
}
