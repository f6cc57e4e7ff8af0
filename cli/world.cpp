#include <epsflow/cli/world.hpp>

#include <cstdlib>
#include <optional>

#include <epsflow/io/read/source.hpp>

namespace epsflow::cli {
namespace {

std::optional<int> number_in(const char* variable) {
  const char* const value = std::getenv(variable);
  if (value == nullptr) return std::nullopt;
  const std::optional<int> number = io::number_in<int>(value);
  return number.value_or(-1) >= 0 ? number : std::nullopt;
}

}  // namespace

Launched launched() {
  // Variables of OpenMPI; of MPICH, Intel MPI and Slurm's PMI2; of Slurm's PMIx, which has only the step's size.
  constexpr struct {
    const char* rank;
    const char* size;
  } kLaunchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                    {"PMI_RANK", "PMI_SIZE"},
                    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}};
  for (const auto& launcher : kLaunchers) {
    const auto rank = number_in(launcher.rank);
    const auto size = number_in(launcher.size);
    if (rank && size && *rank < *size) return {*rank, *size};
  }
  return {};
}

}  // namespace epsflow::cli
