#include <epsflow/cli/failure.hpp>

#include <new>
#include <system_error>

#include <epsflow/core/error.hpp>
#include <epsflow/io/write/atomic_file.hpp>

namespace epsflow::cli {

Failure current_failure() {
  try {
    throw;
  } catch (const epsflow::UsageError& e) {
    return {kUsage, e.what()};
  } catch (const epsflow::InputError& e) {
    return {kInput, e.what()};
  } catch (const epsflow::io::ReaderGone&) {
    return {kReaderGone};
  } catch (const epsflow::ResourceError& e) {
    return {kResources, e.what()};
  } catch (const epsflow::Cancelled&) {
    return {kInterrupted, "interrupted; nothing was written"};
  } catch (const std::bad_alloc&) {
    return {kResources, "the machine has no memory left; lower --memory or take fewer points"};
  } catch (const std::system_error& e) {
    return {kResources, e.what()};  // as where no thread can be started
  } catch (const std::exception& e) {
    return {kDefect, std::string("a defect of epsflow, please report it: ") + e.what()};
  }
}

}  // namespace epsflow::cli
