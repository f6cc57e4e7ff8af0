#include <epsflow/pipeline/backends.hpp>

#include <epsflow/index/cpu_backend.hpp>
#include <epsflow/index/row_search.hpp>

namespace epsflow {

std::vector<BackendInfo> backends() {
  return {{"cpu", "vector instructions " + std::string(index::RowSearch::instruction_set())}};
}

std::unique_ptr<Backend> make_backend(BackendChoice choice, unsigned threads) {
  switch (choice) {
    case BackendChoice::automatic:
    case BackendChoice::cpu:
      break;
  }
  return index::make_cpu_backend(threads);
}

}  // namespace epsflow
