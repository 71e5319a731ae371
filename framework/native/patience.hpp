// How long a case waits for what should come and does not: well below what the runner grants it, so that this is a finding and
// no hang.
#pragma once
#include <functional>

namespace assay::native {

class patience {
public:
    // Until it holds; `progress` is called meanwhile. False after 1.5 s of CPU time in which it did not, or of 0.1 s where
    // something did not come before.
    bool until(std::function<bool()> const& holds, std::function<void()> const& progress);

private:
    bool late_ = false;
};

} // namespace assay::native
