// The table search of the CPU: vectorised row tests. Ids and pairs go to the lanes' buffers, packed bits to the table.
#pragma once

#include <memory>

#include <epsflow/core/cancel.hpp>
#include <epsflow/core/table_search.hpp>
#include <epsflow/index/row_search.hpp>
#include <epsflow/index/search_index.hpp>

namespace epsflow::cpu {

/// rows: a search of `index`. The token must outlive the result. If options.format is automatic, takes the format of
/// fewer bytes; the size of the csr table is estimated from a sample. Throws UsageError for the packed format with a
/// kernel that emits pairs or more than kMostPackedDims dimensions; Cancelled for another format.
[[nodiscard]] std::unique_ptr<TableSearch> make_table_search(std::shared_ptr<const index::SearchIndex> index,
                                                             std::shared_ptr<const index::RowSearch> rows,
                                                             const TableOptions& options, const CancelToken& cancel);

}  // namespace epsflow::cpu
