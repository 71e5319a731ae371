// What a finding rests on: a sentence of the standard, or the statement that it is silent (standard/*.toml).
#pragma once

namespace assay {

enum class level { must, advisory }; // advisory: fails the case only under --strict

// Named by its id: requirement("p2p.send.data"). Its level comes from standard/, so that no check can choose one.
// An id that stands in no file of standard/ does not compile with a sanitizer (framework/check/standard.hpp). Other builds
// know only the id, so that a new requirement does not compile every suite again; there all_tests() looks at what tests name.
class requirement {
public:
#ifdef ASSAY_REQUIREMENTS_ARE_CHECKED
    consteval requirement(char const* id);
#else
    constexpr requirement(char const* id) : id_(id) {}
#endif
    constexpr char const* id() const { return id_; }
    bool is_known() const;
    // These two throw std::logic_error for an id that is not known.
    char const* section() const; // of MPI-5.0; a manual page or a function for others
    level severity() const;

private:
    char const* id_;
};

} // namespace assay
