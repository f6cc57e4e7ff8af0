#include <functional>
#include <iostream>
#include <map>
#include <new>

#include <epsflow/cli/commands.hpp>
#include <epsflow/core/error.hpp>

namespace {

using namespace epsflow::cli;

constexpr const char* kHelp = R"(epsflow: DBSCAN over a whole grid of parameters

usage: epsflow COMMAND [options]      epsflow COMMAND --help

  sweep FILE …      cluster under every (eps, minpts) of a grid or list, into a results folder
  cluster FILE …    cluster under one (eps, minpts), into one file of labels
  neighbors FILE …  write all neighbours within eps
  generate KIND     write look-alike data to play with
  info              what this build and this machine offer

A first try:

  epsflow generate tec --n 200000 --out tec.npy
  epsflow sweep tec.npy --columns 0,1 --eps 0.1:0.3:0.1 --minpts 4,16,64 --out results

eps is the neighbourhood radius in the unit of the coordinates (a distance of exactly eps counts);
minpts is the number of points within eps, the point itself counted, that makes a core point.
Labels are those of scikit-learn's DBSCAN: -1 is noise, clusters are 0, 1, 2, …

Exit codes: 0 done, 2 usage, 3 input, 4 resources (memory, disk, permissions), 130 interrupted.
)";

int fail(int code, const char* what) {
  std::cerr << "epsflow: " << what << "\n";
  return code;
}

int dispatch(const Words& words) {
  static const std::map<std::string, std::function<int(const Words&)>> commands{{"sweep", run_sweep},
                                                                                {"cluster", run_cluster},
                                                                                {"neighbors", run_neighbors},
                                                                                {"generate", run_generate},
                                                                                {"info", run_info}};
  if (words.empty()) {
    std::cerr << kHelp;
    return kUsage;
  }
  if (words.front() == "--help" || words.front() == "-h" || words.front() == "help") {
    std::cout << kHelp;
    return kDone;
  }
  if (words.front() == "--version") {
    std::cout << "epsflow " << EPSFLOW_VERSION << "\n";
    return kDone;
  }
  const auto command = commands.find(words.front());
  if (command == commands.end()) {
    throw epsflow::UsageError("there is no command '" + words.front() +
                              "'; the commands are sweep, cluster, neighbors, generate and info: see epsflow --help");
  }
  return command->second({words.begin() + 1, words.end()});
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return dispatch({argv + 1, argv + argc});
  } catch (const epsflow::UsageError& e) {
    return fail(kUsage, e.what());
  } catch (const epsflow::InputError& e) {
    return fail(kInput, e.what());
  } catch (const epsflow::ResourceError& e) {
    return fail(kResources, e.what());
  } catch (const epsflow::Cancelled&) {
    return fail(kInterrupted, "interrupted; nothing was written");
  } catch (const std::bad_alloc&) {
    return fail(kResources, "the machine has no memory left; lower --memory or take fewer points");
  } catch (const std::exception& e) {
    return fail(1, e.what());
  }
}
