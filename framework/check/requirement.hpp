// What a finding rests on: a sentence of the standard, or the statement that it is silent (standard/*.toml).
#pragma once

namespace assay {

enum class level { must, advisory }; // advisory: fails the case only under --strict

// Named by its id: requirement("p2p.send.data"). Its level comes from there, so that no check can choose one. An id that
// stands in no file of standard/ does not compile. The constructor is in framework/check/standard.hpp, with the table, so that
// what knows no MPI library is compiled once for all.
class requirement {
public:
    consteval requirement(char const* id);
    constexpr char const* id() const { return id_; }
    constexpr char const* section() const { return section_; } // of MPI-5.0; a manual page or a function for others
    constexpr level severity() const { return severity_; }

private:
    char const *id_, *section_;
    level severity_;
};

} // namespace assay
