#include "recording/arguments.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mpi.h>
#include <set>
#include <string_view>
#include <sys/uio.h>
#include <unistd.h>

namespace assay_recording {
namespace {

constexpr std::size_t most_bytes = std::size_t{8} << 20; // of a buffer

// Arguments may be addresses of nothing: reading them by the system fails instead of killing the process.
bool read_memory(std::uint64_t address, void* to, std::size_t size) {
    if (size == 0) return true;
    iovec const local{to, size}, remote{reinterpret_cast<void*>(address), size};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

template <class T> bool read_number(std::uint64_t address, std::int64_t& value) {
    T read{};
    if (!read_memory(address, &read, sizeof read)) return false;
    value = static_cast<std::int64_t>(word_of(read));
    return true;
}

struct element {
    std::size_t size;
    bool (*read)(std::uint64_t address, std::int64_t& value);
};
template <class T> constexpr element element_of() { return {sizeof(T), read_number<T>}; }

// The types whose values are recorded by number.
std::map<std::string, element, std::less<>> const elements {
    {"int", element_of<int>()}, {"MPI_Aint", element_of<MPI_Aint>()}, {"MPI_Count", element_of<MPI_Count>()},
        {"MPI_Offset", element_of<MPI_Offset>()}, {"MPI_Comm", element_of<MPI_Comm>()},
        {"MPI_Datatype", element_of<MPI_Datatype>()}, {"MPI_Errhandler", element_of<MPI_Errhandler>()},
        {"MPI_File", element_of<MPI_File>()}, {"MPI_Group", element_of<MPI_Group>()},
        {"MPI_Info", element_of<MPI_Info>()}, {"MPI_Message", element_of<MPI_Message>()},
        {"MPI_Op", element_of<MPI_Op>()}, {"MPI_Request", element_of<MPI_Request>()},
#if MPI_VERSION >= 4 || defined(MPI_SESSION_NULL)
        {"MPI_Session", element_of<MPI_Session>()},
#endif
        {"MPI_Win", element_of<MPI_Win>()},
};

template <class Handle> Handle handle_of(std::uint64_t word) {
    Handle handle;
    std::memcpy(&handle, &word, sizeof handle); // little-endian where it is an int
    return handle;
}

// The arguments of one call, by name.
class arguments {
public:
    arguments(procedure const& which, std::vector<std::uint64_t> const& words) : which_(which), words_(words) {}

    bool has(std::string_view name) const { return at(name) < words_.size(); }
    std::int64_t number(std::string_view name) const {
        auto const k = at(name);
        if (k == words_.size()) return 0;
        if (!which_.parameters[k].pointer) return static_cast<std::int64_t>(words_[k]);
        return value(k, 0);
    }
    std::int64_t value(std::size_t k, std::int64_t index) const {
        auto const found = elements.find(which_.parameters[k].type);
        std::int64_t read = 0;
        if (found != elements.end() &&
            !found->second.read(words_[k] + static_cast<std::uint64_t>(index) * found->second.size, read))
            return 0;
        return read;
    }
    std::int64_t sum(std::string_view name, std::int64_t n) const {
        std::int64_t total = 0;
        for (std::int64_t k = 0; has(name) && k < n; ++k) total += value(at(name), k);
        return total;
    }
    MPI_Comm comm() const {
        for (std::size_t k = 0; k < words_.size(); ++k)
            if (which_.parameters[k].type == "MPI_Comm" && !which_.parameters[k].pointer)
                return handle_of<MPI_Comm>(words_[k]);
        return MPI_COMM_NULL;
    }
    std::int64_t first_number() const {
        for (std::size_t k = 0; k < words_.size(); ++k) {
            auto const& p = which_.parameters[k];
            if (!p.pointer && (p.type == "int" || p.type == "MPI_Count")) return static_cast<std::int64_t>(words_[k]);
        }
        return 1;
    }
    std::size_t at(std::string_view name) const {
        std::size_t k = 0;
        while (k < words_.size() && which_.parameters[k].name != name) ++k;
        return k;
    }
    std::uint64_t word(std::size_t k) const { return words_[k]; }
    procedure const& which() const { return which_; }

private:
    procedure const& which_;
    std::vector<std::uint64_t> const& words_;
};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// With how many processes of its communicator a call deals: on the side that it sends to, or receives from.
std::int64_t peers(arguments const& a, bool sending) {
    auto const comm = a.comm();
    if (comm == MPI_COMM_NULL) return 0;
    int n = 0, inter = 0;
    if (contains(a.which().name, "eighbor")) {
        int topology = MPI_UNDEFINED, in = 0, out = 0, weighted = 0, rank = 0;
        PMPI_Topo_test(comm, &topology);
        PMPI_Comm_rank(comm, &rank);
        if (topology == MPI_CART && PMPI_Cartdim_get(comm, &n) == MPI_SUCCESS) return 2 * n;
        if (topology == MPI_GRAPH && PMPI_Graph_neighbors_count(comm, rank, &n) == MPI_SUCCESS) return n;
        if (topology == MPI_DIST_GRAPH) PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
        return sending ? out : in;
    }
    PMPI_Comm_test_inter(comm, &inter);
    if (inter != 0 && !contains(a.which().name, "educe_scatter")) PMPI_Comm_remote_size(comm, &n);
    else PMPI_Comm_size(comm, &n);
    return n;
}

std::int64_t dimensions(MPI_Comm comm) {
    int n = 0;
    return comm != MPI_COMM_NULL && PMPI_Cartdim_get(comm, &n) == MPI_SUCCESS ? n : 0;
}

// How many values an array has. One that nothing is known of is a single value.
std::int64_t length(arguments const& a, std::string const& name) {
    std::string_view const which(a.which().name);
    auto const is = [&name](std::initializer_list<std::string_view> names) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (is({"array_of_requests", "array_of_statuses", "array_of_indices", "indices", "array_of_blocklengths",
            "array_of_block_lengths", "array_of_displacements", "array_of_types"})) {
        for (auto const* count : {"count", "incount"})
            if (a.has(count)) return a.number(count);
        return a.first_number();
    }
    if (is({"sendcounts", "sdispls", "sendtypes"})) return peers(a, true);
    if (is({"recvcounts", "rdispls", "recvtypes"})) return peers(a, false);
    if (name == "displs") return peers(a, contains(which, "catter"));
    if (is({"array_of_sizes", "array_of_subsizes", "array_of_starts", "array_of_gsizes", "array_of_distribs",
            "array_of_dargs", "array_of_psizes"}) ||
        (is({"dims", "periods"}) && a.has("ndims")))
        return a.number("ndims");
    if (is({"dims", "periods", "coords"}) && a.has("maxdims")) return a.number("maxdims");
    if (is({"coords", "remain_dims"})) return dimensions(a.comm());
    if (is({"index", "indx", "edges"}) && a.has("nnodes")) {
        auto const nodes = a.number("nnodes");
        return name != "edges" ? nodes : nodes > 0 ? a.value(a.at(a.has("index") ? "index" : "indx"), nodes - 1) : 0;
    }
    if (is({"sources", "sourceweights", "destinations", "destweights", "degrees", "weights"})) {
        bool const in = is({"sources", "sourceweights"});
        if (contains(which, "graph_create_adjacent")) return a.number(in ? "indegree" : "outdegree");
        if (contains(which, "graph_neighbors")) return a.number(in ? "maxindegree" : "maxoutdegree");
        return is({"sources", "degrees"}) ? a.number("n") : a.sum("degrees", a.number("n"));
    }
    if (is({"index", "indx"}) && a.has("maxindex")) return a.number("maxindex");
    if (name == "edges") return a.number("maxedges");
    if (is({"ranks", "ranks1", "ranks2"})) return a.number("n");
    if (name == "ranges") return 3 * a.number("n");
    if (name == "neighbors") return a.number("maxneighbors");
    if (name == "array_of_partitions") return a.number("length");
    if (name == "array_of_integers") return a.number("max_integers");
    if (name == "array_of_addresses") return a.number("max_addresses");
    if (name == "array_of_datatypes") return a.number("max_datatypes");
    return 1;
}

// The bytes of `count` elements, relative to the address.
std::pair<std::int64_t, std::int64_t> range_of(std::int64_t count, MPI_Datatype type) {
    MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
    if (count <= 0 || type == MPI_DATATYPE_NULL || PMPI_Type_get_extent(type, &lower, &extent) != MPI_SUCCESS ||
        PMPI_Type_get_true_extent(type, &true_lower, &true_extent) != MPI_SUCCESS)
        return {0, 0};
    auto const last = (count - 1) * extent;
    return {true_lower + std::min<std::int64_t>(last, 0), true_lower + true_extent + std::max<std::int64_t>(last, 0)};
}

// The bytes of a buffer, relative to its address: by the count and the datatype that come after it.
std::pair<std::int64_t, std::int64_t> buffer_range(arguments const& a, std::size_t k) {
    auto const& all = a.which().parameters;
    std::string_view const which(a.which().name), name(all[k].name);
    auto j = k + 1;
    while (j < all.size() && all[j].type == "void") ++j;
    auto count = all.size(), displacements = all.size(), type = all.size();
    for (; j < all.size() && all[j].type != "void" && type == all.size(); ++j) {
        if (all[j].type == "MPI_Datatype") type = j;
        else if (elements.count(all[j].type) == 0 || all[j].type.starts_with("MPI_Comm")) break;
        else if (count == all.size()) count = j;
        else if (all[j].pointer && displacements == all.size() && contains(all[j].name, "displs")) displacements = j;
    }
    if (type == all.size()) {
        bool const sized = count < all.size() && !all[count].pointer && contains(all[count].name, "size");
        return {0, sized ? static_cast<std::int64_t>(a.word(count)) : 0};
    }
    if (count == all.size()) return range_of(1, handle_of<MPI_Datatype>(a.word(type))); // MPI_Fetch_and_op
    bool const sending = all[k].constant;
    if (!all[count].pointer) {
        auto n = static_cast<std::int64_t>(a.word(count));
        if (all[count].name == "partitions") n *= a.number("count");
        bool const all_of_them = contains(which, "alltoall") || (contains(which, "gather") && !sending) ||
                                 ((contains(which, "catter") || contains(which, "scatter_block")) && sending);
        if (all_of_them && (contains(name, "send") || contains(name, "recv"))) n *= peers(a, sending);
        return range_of(n, handle_of<MPI_Datatype>(a.word(type)));
    }
    std::pair<std::int64_t, std::int64_t> all_bytes{0, 0};
    auto const n = peers(a, sending);
    if (displacements == all.size() && !all[type].pointer) // MPI_Reduce_scatter
        return range_of(a.sum(all[count].name, n), handle_of<MPI_Datatype>(a.word(type)));
    for (std::int64_t p = 0; p < n; ++p) {
        auto const one_type =
            handle_of<MPI_Datatype>(all[type].pointer ? static_cast<std::uint64_t>(a.value(type, p)) : a.word(type));
        MPI_Aint lower = 0, extent = 1;
        if (!all[type].pointer && one_type != MPI_DATATYPE_NULL) PMPI_Type_get_extent(one_type, &lower, &extent);
        auto const [low, high] = range_of(a.value(count, p), one_type);
        if (high == low) continue;
        auto const begin = displacements < all.size() ? a.value(displacements, p) * extent : 0;
        all_bytes = {std::min(all_bytes.first, begin + low), std::max(all_bytes.second, begin + high)};
    }
    return all_bytes;
}

bool is_marker(std::uint64_t address) {
    static std::set<std::uint64_t> const all = [] {
        std::set<std::uint64_t> found;
        for (auto const& [name, value] : constants()["pointer"].items()) found.insert(value.get<std::uint64_t>());
        return found;
    }();
    return address == 0 || all.count(address) > 0;
}

void add_buffer(json& one, arguments const& a, std::size_t k) {
    auto const [low, high] = buffer_range(a, k);
    if (high <= low || static_cast<std::size_t>(high - low) > most_bytes) return;
    one["low"] = low;
    one["bytes"] = bytes_at(a.word(k) + static_cast<std::uint64_t>(low), static_cast<std::size_t>(high - low));
}

json status_at(std::uint64_t address) {
    MPI_Status status;
    if (!read_memory(address, &status, sizeof status)) return {};
    int cancelled = 0;
    MPI_Count bytes = 0;
    PMPI_Test_cancelled(&status, &cancelled);
    PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    return {{"source", status.MPI_SOURCE},
            {"tag", status.MPI_TAG},
            {"error", status.MPI_ERROR},
            {"bytes", bytes},
            {"cancelled", cancelled != 0}};
}

void add_values(json& one, arguments const& a, std::size_t k) {
    auto const& p = a.which().parameters[k];
    auto const found = elements.find(p.type);
    if (found == elements.end()) return;
    auto values = json::array();
    auto const n = std::min<std::int64_t>(length(a, p.name), 4096);
    for (std::int64_t index = 0; index < n; ++index) values.push_back(a.value(k, index));
    one["values"] = std::move(values);
}

void add_text(json& one, std::uint64_t address) {
    std::string text;
    for (char c = 0; text.size() < 8192 && read_memory(address + text.size(), &c, 1) && c != 0;) text += c;
    one["text"] = text;
}

} // namespace

json constants() {
    json all;
#define CONSTANT(type, name) all[#type][#name] = word_of(name);
#include "constants.inc"
#undef CONSTANT
    for (auto& [name, value] : all["int"].items()) value = static_cast<std::int64_t>(value.get<std::uint64_t>());
    return all;
}

json sizes() {
    json all{{"MPI_Status", sizeof(MPI_Status)}};
    for (auto const& [type, one] : elements) all[type] = one.size;
    return all;
}

std::string bytes_at(std::uint64_t address, std::size_t size) {
    std::vector<unsigned char> read(size);
    if (!read_memory(address, read.data(), size)) return "";
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    text.reserve(2 * size);
    for (auto const byte : read) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

json before(procedure const& which, std::vector<std::uint64_t> const& words) {
    arguments const a(which, words);
    auto all = json::array();
    for (std::size_t k = 0; k < words.size(); ++k) {
        auto const& p = which.parameters[k];
        json one{{"name", p.name}, {"type", p.type}};
        if (!p.pointer) {
            if (elements.count(p.type) > 0) one["value"] = static_cast<std::int64_t>(words[k]);
            else one["function"] = words[k]; // or another type that the header names
        } else {
            one["at"] = words[k];
            one["constant"] = p.constant;
            if (is_marker(words[k])) {
                // nothing is there
            } else if (p.type == "void") {
                if (p.name != "baseptr") add_buffer(one, a, k);
            } else if (p.type == "char") {
                if (p.constant) add_text(one, words[k]);
            } else {
                add_values(one, a, k);
            }
        }
        all.push_back(std::move(one));
    }
    return all;
}

json after(procedure const& which, std::vector<std::uint64_t> const& words) {
    arguments const a(which, words);
    auto all = json::array();
    for (std::size_t k = 0; k < words.size(); ++k) {
        auto const& p = which.parameters[k];
        json one = json::object();
        if (p.pointer && !p.constant && !is_marker(words[k])) {
            if (p.type == "MPI_Status") {
                auto statuses = json::array();
                auto n = length(a, p.name);
                if (a.has("outcount")) n = std::clamp<std::int64_t>(a.number("outcount"), 0, n);
                for (std::int64_t index = 0; index < n; ++index)
                    statuses.push_back(status_at(words[k] + static_cast<std::uint64_t>(index) * sizeof(MPI_Status)));
                one["statuses"] = std::move(statuses);
            } else if (p.name == "baseptr") { // of MPI_Alloc_mem and the like: where a pointer to the memory goes
                std::uint64_t memory = 0;
                read_memory(words[k], &memory, sizeof memory);
                one["memory"] = memory;
            } else if (p.type == "void") {
                add_buffer(one, a, k);
            } else if (p.type == "char") {
                add_text(one, words[k]);
            } else {
                add_values(one, a, k);
            }
        }
        all.push_back(std::move(one));
    }
    return all;
}

} // namespace assay_recording
