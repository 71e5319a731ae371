#include "suites/threads/threads.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace assay::threads {

axis<int> const& numbers() {
    static axis<int> const axis("threads",
                                {{{"2", "2 threads in each rank"}, 2}, {{"4", "4 threads in each rank"}, most}});
    return axis;
}

axis<bool> const& sharing() {
    static axis<bool> const axis("sharing",
                                 {{{"shared", "one communicator for all threads of a rank, a tag for each"}, false},
                                  {{"own", "a communicator for each thread"}, true}});
    return axis;
}

constraint few_types_elsewhere() {
    return where(comm_axis(), type_axis(), [](communicator const& c, datatype const& t) {
        static constexpr std::array<std::string_view, 4> few = {"int", "double", "vector_int", "type_mix"};
        return c.name == "world" || std::find(few.begin(), few.end(), t.name) != few.end();
    });
}

} // namespace assay::threads
