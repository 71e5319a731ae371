// A walk through the axes of a test under globs of case names.
#pragma once
#include "framework/plan/names.hpp"
#include "framework/plan/registry.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace assay {

// What globs let through of the full product of a test, which can be far too large to be made first and selected from
// afterwards: told for a value alone and, on a walk through the axes, for a case of which only the first values are set.
class glob_walk {
    using places = pattern_reader::places;

public:
    glob_walk(std::vector<std::string> const& selects, test const& t) {
        for (auto const& use : t.axes) {
            auto& pieces = pieces_.emplace_back(); // of names
            for (std::size_t v = 0; v < use.axis->size(); ++v)
                pieces.push_back("/" + use.axis->name() + "=" + use.axis->name_of(v));
            may_.emplace_back(pieces.size(), false);
        }
        for (auto const& select : selects) {
            if (select.starts_with('^')) continue;
            all_ = false;
            glob g{pattern_reader(select), {}, {}};
            look_ahead(g, t.full_name());
            if (g.good[0].empty()) continue;
            for (auto const& pieces : pieces_) g.steps.emplace_back(pieces.size());
            globs_.push_back(std::move(g));
        }
        at_.assign(t.axes.size() + 1, std::vector<places>(globs_.size()));
        for (std::size_t g = 0; g < globs_.size(); ++g) at_[0][g] = globs_[g].good[0];
    }

    // Whether a case with this value, and any values of the other axes, can match.
    bool may_match(std::size_t axis, std::size_t value) const { return all_ || may_[axis][value]; }

    // The same with the values that were last set of the axes before.
    bool set(std::size_t axis, std::size_t value) {
        bool any = all_;
        for (std::size_t g = 0; g < globs_.size(); ++g) {
            auto const& from = at_[axis][g];
            auto& last = globs_[g].steps[axis][value]; // mostly from where it was asked last
            if (last.from != from) {
                last.from = from;
                last.to.clear();
                auto const to = globs_[g].reader.after(from, pieces_[axis][value]);
                auto const& good = globs_[g].good[axis + 1];
                std::set_intersection(to.begin(), to.end(), good.begin(), good.end(), std::back_inserter(last.to));
            }
            at_[axis + 1][g] = last.to;
            any |= !last.to.empty();
        }
        return any;
    }

private:
    struct step {
        places from, to;
    };
    struct glob {
        pattern_reader reader;
        std::vector<places> good; // before each axis and after the last: places from which some rest leads to the end
        std::vector<std::vector<step>> steps; // by axis and value
    };

    void look_ahead(glob& g, std::string const& test_name) {
        auto const axes = pieces_.size();
        std::vector<places> before{g.reader.after(g.reader.start(), test_name)}; // that some values lead to
        for (auto const& pieces : pieces_) {
            std::set<std::size_t> next;
            for (auto const& piece : pieces)
                for (auto const place : g.reader.after(before.back(), piece)) next.insert(place);
            before.emplace_back(next.begin(), next.end());
        }
        g.good.assign(axes + 1, {});
        g.good[axes] = {g.reader.end()};
        for (auto a = axes; a-- > 0;)
            for (auto const place : before[a]) {
                bool leads_on = false;
                for (std::size_t v = 0; v < pieces_[a].size(); ++v) {
                    auto const to = g.reader.after({place}, pieces_[a][v]);
                    auto const& good = g.good[a + 1];
                    if (std::find_first_of(to.begin(), to.end(), good.begin(), good.end()) == to.end()) continue;
                    leads_on = may_[a][v] = true;
                }
                if (leads_on) g.good[a].push_back(place);
            }
    }

    bool all_ = true; // no glob, or only such that exclude
    std::vector<std::vector<std::string>> pieces_;
    std::vector<std::vector<bool>> may_;
    std::vector<glob> globs_;             // that can match at all
    std::vector<std::vector<places>> at_; // by number of axes that are set, and by glob
};

} // namespace assay
