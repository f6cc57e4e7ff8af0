#include <epsflow/mpi/mpi_ranks.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include <epsflow/core/error.hpp>

namespace epsflow::mpi {
namespace {

/// MPI counts elements in int.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;

void check(int status, const char* what) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw ResourceError(std::string(what) + " failed: " + text);
}

class MpiCommunicator final : public parts::Communicator {
 public:
  explicit MpiCommunicator(MPI_Comm communicator, RanksAre ranks) : Communicator(ranks) {
    int provided = MPI_THREAD_SINGLE;
    MPI_Query_thread(&provided);
    if (provided < MPI_THREAD_SERIALIZED) {
      throw UsageError(
          "MPI was initialised without support for threads: call MPI_Init_thread() with MPI_THREAD_SERIALIZED, and use "
          "an MPI that was built with threads");
    }
    check(MPI_Comm_dup(communicator, &communicator_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(communicator_, &rank_);
    MPI_Comm_size(communicator_, &size_);
  }
  ~MpiCommunicator() override {
    int finalised = 0;
    MPI_Finalized(&finalised);
    if (finalised == 0) MPI_Comm_free(&communicator_);
  }

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }

  [[nodiscard]] std::vector<std::uint64_t> exchange_counts(std::span<const std::uint64_t> counts) override {
    std::vector<std::uint64_t> received(counts.size());
    check(MPI_Alltoall(counts.data(), 1, MPI_UINT64_T, received.data(), 1, MPI_UINT64_T, communicator_),
          "MPI_Alltoall");
    return received;
  }

  using Communicator::max;
  using Communicator::sum;
  void sum(std::span<std::uint64_t> values) override { reduce(values, MPI_UINT64_T, MPI_SUM); }
  void max(std::span<double> values) override { reduce(values, MPI_DOUBLE, MPI_MAX); }

 protected:
  void alltoallv(Outgoing send, Incoming receive) override {
    std::vector<MPI_Request> requests;
    const auto start = [&](const auto& letters, auto call, const char* what) {
      for (std::size_t r = 0; r < letters.size(); ++r) {
        for (std::size_t at = 0; at < letters[r].size(); at += kMostAtOnce) {
          const auto count = static_cast<int>(std::min(kMostAtOnce, letters[r].size() - at));
          check(call(letters[r].data() + at, count, MPI_BYTE, static_cast<int>(r), kTag, communicator_,
                     &requests.emplace_back()),
                what);
        }
      }
    };
    start(receive, MPI_Irecv, "MPI_Irecv");
    start(send, MPI_Isend, "MPI_Isend");
    check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  }

 private:
  static constexpr int kTag = 1;

  template <class T>
  void reduce(std::span<T> values, MPI_Datatype type, MPI_Op operation) {
    for (std::size_t at = 0; at < values.size(); at += kMostAtOnce) {
      const auto count = static_cast<int>(std::min(kMostAtOnce, values.size() - at));
      check(MPI_Allreduce(MPI_IN_PLACE, values.data() + at, count, type, operation, communicator_), "MPI_Allreduce");
    }
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

std::unique_ptr<parts::Communicator> make_communicator(MPI_Comm communicator, bool carried) {
  return std::make_unique<MpiCommunicator>(
      communicator, carried ? parts::Communicator::RanksAre::apart : parts::Communicator::RanksAre::processes);
}

int run_world(int* argc, char*** argv, const std::function<int(parts::Communicator&)>& body,
              const std::function<int(const std::exception&)>& exit_code) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int status = 0;
  try {
    const std::unique_ptr<parts::Communicator> communicator = make_communicator(MPI_COMM_WORLD);
    status = body(*communicator);
  } catch (const std::exception& error) {
    // A low rank reports an error of all ranks first, and ends the others before they print it.
    std::this_thread::sleep_for(std::chrono::milliseconds(200) * std::min(rank, 25));
    std::fprintf(stderr, "epsflow: rank %d: %s\n", rank, error.what());
    std::fflush(stderr);
    // Launchers forward output after a delay, and MPICH's discards the rest when a process aborts.
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    MPI_Abort(MPI_COMM_WORLD, exit_code(error));
  }
  MPI_Finalize();
  return status;
}

}  // namespace epsflow::mpi
