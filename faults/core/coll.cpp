#include "coll.hpp"

namespace assay_faults {

void swap(area const& a, area const& b) {
    if (a.count != b.count || a.empty()) return;
    auto const first = load(a), second = load(b);
    store(second, a);
    store(first, b);
}

role role_in(MPI_Comm comm, int root) {
    role r;
    int inter = 0;
    PMPI_Comm_test_inter(comm, &inter);
    r.inter = inter != 0;
    PMPI_Comm_rank(comm, &r.rank);
    if (r.inter) PMPI_Comm_remote_size(comm, &r.partners);
    else PMPI_Comm_size(comm, &r.partners);
    r.root = r.inter ? root == MPI_ROOT : root == r.rank;
    r.partner = !r.inter || root >= 0;
    return r;
}

neighborhood near_in(MPI_Comm comm) {
    neighborhood h;
    int kind = MPI_UNDEFINED, n = 0, m = 0, weighted = 0, rank = 0;
    h.there = true;
    PMPI_Topo_test(comm, &kind);
    PMPI_Comm_rank(comm, &rank);
    if (kind == MPI_CART) {
        h.cartesian = true;
        PMPI_Cartdim_get(comm, &n);
        for (int d = 0; d < n; ++d) {
            int down = -1, up = -1;
            PMPI_Cart_shift(comm, d, 1, &down, &up);
            h.from.insert(h.from.end(), {down, up});
        }
        h.to = h.from;
    } else if (kind == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, rank, &n);
        h.from.resize(static_cast<std::size_t>(n));
        PMPI_Graph_neighbors(comm, rank, n, h.from.data());
        h.to = h.from;
    } else if (kind == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, &n, &m, &weighted);
        h.from.resize(static_cast<std::size_t>(n) + 1); // never without an address
        h.to.resize(static_cast<std::size_t>(m) + 1);
        std::vector<int> in(h.from.size()), out(h.to.size());
        PMPI_Dist_graph_neighbors(comm, n, h.from.data(), in.data(), m, h.to.data(), out.data());
        h.from.pop_back();
        h.to.pop_back();
    }
    return h;
}

} // namespace assay_faults
