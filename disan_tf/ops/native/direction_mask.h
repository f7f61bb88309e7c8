// Which (head, dependent) pairs of a sentence a direction, a mask and a selection of heads allow.

#ifndef DISAN_TF_OPS_NATIVE_DIRECTION_MASK_H_
#define DISAN_TF_OPS_NATIVE_DIRECTION_MASK_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace disan {

enum class Direction { kForward, kBackward, kDiagonal };

struct Range {
  int64_t begin, end;
};

// Which tokens of a sentence are heads and dependents, and which pairs of them may attend.
class AdmissiblePairs {
 public:
  // head_mask: null = every token is a head.
  AdmissiblePairs(const bool* mask, const bool* head_mask, int64_t length, Direction direction)
      : direction_(direction) {
    for (auto* positions : {&heads_, &dependents_, &dependents_before_, &dependents_until_,
                            &heads_before_, &heads_until_}) {
      positions->reserve(length);
    }
    for (int64_t token = 0; token < length; ++token) {
      const bool is_head = !head_mask || head_mask[token];
      const auto dependents_before = static_cast<int64_t>(dependents_.size());
      const auto heads_before = static_cast<int64_t>(heads_.size());
      if (is_head) {
        heads_.push_back(token);
        dependents_before_.push_back(dependents_before);
        dependents_until_.push_back(dependents_before + mask[token]);
      }
      if (mask[token]) {
        dependents_.push_back(token);
        heads_before_.push_back(heads_before);
        heads_until_.push_back(heads_before + is_head);
      }
    }
  }

  const std::vector<int64_t>& heads() const { return heads_; }
  const std::vector<int64_t>& dependents() const { return dependents_; }

  // Calls visit(Range) for each run of dependents in `tile` that head number `head` may attend to.
  template <typename Visit>
  void DependentsOf(int64_t head, Range tile, Visit visit) const {
    const Range before = {tile.begin, std::min(tile.end, dependents_before_[head])};
    const Range after = {std::max(tile.begin, dependents_until_[head]), tile.end};
    VisitSides(before, after, direction_ != Direction::kBackward,
               direction_ != Direction::kForward, visit);
  }

  // The reverse: the heads in `tile` that may attend to dependent number `dependent`.
  template <typename Visit>
  void HeadsOf(int64_t dependent, Range tile, Visit visit) const {
    const Range before = {tile.begin, std::min(tile.end, heads_before_[dependent])};
    const Range after = {std::max(tile.begin, heads_until_[dependent]), tile.end};
    VisitSides(before, after, direction_ != Direction::kForward,
               direction_ != Direction::kBackward, visit);
  }

 private:
  template <typename Visit>
  static void VisitSides(Range before, Range after, bool with_before, bool with_after,
                         Visit visit) {
    if (with_before && before.begin < before.end) visit(before);
    if (with_after && after.begin < after.end) visit(after);
  }

  Direction direction_;
  std::vector<int64_t> heads_, dependents_;  // token positions
  std::vector<int64_t> dependents_before_, dependents_until_;  // of each head
  std::vector<int64_t> heads_before_, heads_until_;            // of each dependent
};

}  // namespace disan

#endif  // DISAN_TF_OPS_NATIVE_DIRECTION_MASK_H_
