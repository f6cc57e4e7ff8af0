#include <functional>
#include <new>
#include <string>
#include <system_error>

#include <epsflow/cli/commands.hpp>
#include <epsflow/cli/help.hpp>
#include <epsflow/cli/output.hpp>
#include <epsflow/core/error.hpp>
#include <epsflow/io/write/atomic_file.hpp>

namespace {

using namespace epsflow::cli;

int dispatch(const Words& words) {
  if (words.empty()) {
    say("no command is given\n\n" + program_help());
    return kUsage;
  }
  if (words.front() == "--help" || words.front() == "-h") {
    print_text(program_help());
    return kDone;
  }
  if (words.front() == "--version") {
    print_result("epsflow {}\n", EPSFLOW_VERSION);
    return kDone;
  }
  const Command& command = find_command(words.front());
  const Arguments arguments(command, {words.begin() + 1, words.end()});
  if (arguments.flag("help")) {
    print_text(command_help(command));
    return kDone;
  }
  return command.run(arguments);
}

int fail(int code, const char* what) {
  say(what);
  return code;
}

/// The exit code of `work`, whose errors are printed.
int guarded(const std::function<int()>& work) {
  try {
    return work();
  } catch (const epsflow::UsageError& e) {
    return fail(kUsage, e.what());
  } catch (const epsflow::InputError& e) {
    return fail(kInput, e.what());
  } catch (const epsflow::io::ReaderGone&) {
    return kReaderGone;
  } catch (const epsflow::ResourceError& e) {
    return fail(kResources, e.what());
  } catch (const epsflow::Cancelled&) {
    return fail(kInterrupted, "interrupted; nothing was written");
  } catch (const std::bad_alloc&) {
    return fail(kResources, "the machine has no memory left; lower --memory or take fewer points");
  } catch (const std::system_error& e) {
    return fail(kResources, e.what());  // as where no thread can be started
  } catch (const std::exception& e) {
    return fail(kDefect, (std::string("a defect of epsflow, please report it: ") + e.what()).c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  prepare_streams();
  const int code = guarded([&] { return dispatch({argv + 1, argv + argc}); });
  const int printed = guarded([] {
    flush_output();
    return kDone;
  });
  return code != kDone ? code : printed;
}
