// Names of cases and the patterns that select them.
#pragma once
#include <bitset>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Wrong use: main prints it as one sentence and exits with 2.
struct wrong_use {
    std::string message;
};

// Ends the program when a registered name leaves the alphabet [a-z0-9_.+]: a programming error.
void require_name(std::string_view name, std::string_view kind);

// Shell patterns over whole names: * ? [set], where * also matches '/'.
bool matches(std::string const& pattern, std::string const& name);
bool is_pattern(std::string_view text); // contains * ? or [

// A pattern that reads a name in pieces, so that one of many names can be given up before it is whole.
class pattern_reader {
public:
    using places = std::vector<std::size_t>; // in the pattern, up to which a name has been read; ascending

    explicit pattern_reader(std::string const& pattern);
    places start() const { return with_skipped_stars({0}); }
    places after(places const& before, std::string_view piece) const; // empty: no name that goes on so matches
    std::size_t end() const { return signs_.size(); } // among the places after its last piece, when the name matches

private:
    struct sign {
        std::bitset<256> takes;
        bool star;
    };
    places with_skipped_stars(places const& some) const;
    std::vector<sign> signs_;
};

// Whether a version such as "3.1" comes after another, number by number: "10.0" is newer than "3.1". "" is older than all.
bool is_newer(std::string_view version, std::string_view than);

std::vector<std::string> split(std::string_view text, char separator);

// The entries of `known` that look most like `word`, best first; for error messages.
std::vector<std::string> near(std::string const& word, std::vector<std::string> const& known);

// A comma list with ^ exclusions, as in --axis=type=int,char or --suite=^env.
class pick {
public:
    pick() = default; // keeps everything
    explicit pick(std::string_view list);
    bool operator()(std::string const& name) const;
    bool wants_some() const { return !wanted_.empty(); }             // not only exclusions
    std::vector<std::string> const& words() const { return words_; } // without ^
    void add(pick const& other);

private:
    std::vector<std::string> words_, wanted_, excluded_;
};

} // namespace assay
