/// @file
/// A time-ordered queue of objects. Most objects wait in unsorted buckets until their time is near.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/containers/cell_pool.hpp"
#include "core/containers/counted_tree.hpp"
#include "core/containers/intrusive_list.hpp"
#include "core/containers/prefetch.hpp"
#include "routemaster/detail/assert.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Time-ordered queue of pointers to objects with an instant `at` and a text `id()`, sorted by `at`
/// and then `id()`. Each bucket covers a range of times, and a tree finds the bucket of an object.
/// Only the first bucket is sorted. An object therefore takes the 8 bytes of a pointer, and is read
/// only when its bucket is split or becomes the first bucket. Buckets are small: an operation takes
/// logarithmic time plus the sorting of one bucket, even if many objects are due at once.
///
/// `at` and `id()` must not change while an object is in the queue. The queue does not own objects.
/// When memory is exhausted, `insert` throws and changes nothing. Not thread safe.
template <class T>
class TimedBuckets {
    struct Bucket;

public:
    /// The bucket into which an object would be inserted. Valid until the next change of the queue.
    using Spot = const Bucket*;

    /// Memory shared by many `TimedBuckets`; must outlive them.
    class Memory {
        friend class TimedBuckets;

        CellPool small{small_bytes};
        CellPool full{full_bytes};
    };

    explicit TimedBuckets(Memory& memory) noexcept : memory_{memory} {}
    TimedBuckets(const TimedBuckets&) = delete;
    TimedBuckets& operator=(const TimedBuckets&) = delete;
    ~TimedBuckets() {
        while (auto* bucket = line_.front()) free(*bucket);
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t buckets() const noexcept { return line_.size(); }

    /// The first object. The queue must not be empty.
    [[nodiscard]] T& first() const noexcept { return *line_.front()->things().back(); }

    /// The objects of the first bucket, in descending order: the first object is the last element.
    /// The queue must not be empty.
    [[nodiscard]] std::span<T* const> first_few() const noexcept {
        return std::as_const(*line_.front()).things();
    }

    // `spot` and `fetch` prefetch memory into the processor's cache. Many prefetches begun together
    // take little longer than a single one, because their cache misses overlap.

    /// The bucket into which an object with this time and id would be inserted; null when the queue
    /// is empty. Prefetches the data that `fetch` needs.
    [[nodiscard]] Spot spot(TimePoint at, std::string_view id) const noexcept {
        if (empty()) return nullptr;
        const auto* bucket = &bucket_of(at, id);
        prefetch(bucket);
        return bucket;
    }
    static void fetch(Spot spot) noexcept {
        if (spot != nullptr) prefetch(spot->things().data() + spot->size);
    }

    /// Inserts an object. The queue must not contain the object.
    void insert(T& thing) {
        if (empty()) line_.push_back(make(small_bytes));
        auto* bucket = &bucket_of(thing);
        if (bucket->is_full()) {
            bucket = bucket->capacity < full_capacity ? &enlarged(*bucket) : &split(*bucket, thing);
        }
        bucket->append(thing);
        if (bucket == line_.front()) {
            const auto things = bucket->things();
            const auto place = std::upper_bound(things.begin(), things.end() - 1, &thing, later);
            std::rotate(place, things.end() - 1, things.end());
        }
        ++size_;
    }

    /// Removes an object. The queue must contain the object.
    void remove(const T& thing) noexcept {
        --size_;
        auto& bucket = &thing == &first() ? *line_.front() : bucket_of(thing);
        const auto things = bucket.things();
        const auto found = &thing == things.back()
                               ? things.end() - 1
                               : std::find(things.begin(), things.end(), &thing);
        ROUTEMASTER_ASSERT(found != things.end());
        if (&bucket == line_.front()) {
            std::move(found + 1, things.end(), found);
        } else {
            *found = things.back();
        }
        --bucket.size;
        if (bucket.size <= full_capacity / 4) shrink(bucket);
    }

    /// Calls `visit` with the objects in order, from the time `from` on, until it returns false. If
    /// `after` is not empty, skips the objects at `from` whose id is not greater than `after`.
    /// `visit` must not change the objects or their order.
    template <class Visit>
    void visit_from(TimePoint from, std::string_view after, Visit visit) const {
        const auto precedes = [&](const Place& place) {
            return place.at < from ||
                   (place.at == from && !after.empty() && place.thing->id() <= after);
        };
        const auto visit_each = [&](const Bucket& bucket) {
            auto places = Places{bucket};
            const auto end = std::remove_if(places.begin(), places.end(), precedes);
            std::sort(places.begin(), end);
            return std::all_of(places.begin(), end,
                               [&](const Place& place) { return visit(*place.thing); });
        };
        if (empty()) return;
        const auto* bucket = &bucket_of(from, after);
        while (bucket != nullptr && visit_each(*bucket)) bucket = line_.next(*bucket);
    }

private:
    static constexpr std::size_t small_bytes = 128;
    static constexpr std::size_t full_bytes = 1'024;

    /// Array of objects; the pointers follow this header in memory. The first bucket is sorted in
    /// descending order, so that the first object is removed from the end.
    struct Bucket {
        ListHook<Bucket> in_line{};
        std::uint32_t size = 0;
        std::uint32_t capacity;
        /// The exclusive upper bound of the bucket: its objects are before `end_at`, or at `end_at`
        /// with an id less than `end_id`. The last bucket has no bound.
        TimePoint end_at{};
        std::string end_id{};  ///< Empty: all objects are before `end_at`.

        [[nodiscard]] bool is_full() const noexcept { return size == capacity; }
        [[nodiscard]] std::span<T*> things() noexcept {
            return {reinterpret_cast<T**>(this + 1), size};
        }
        [[nodiscard]] std::span<T* const> things() const noexcept {
            return {reinterpret_cast<T* const*>(this + 1), size};
        }
        void append(T& thing) noexcept {
            ++size;
            things().back() = &thing;
        }
    };
    static_assert(sizeof(Bucket) % alignof(T*) == 0);

    static constexpr std::size_t capacity_of(std::size_t bytes) noexcept {
        return (bytes - sizeof(Bucket)) / sizeof(T*);
    }
    static constexpr std::size_t full_capacity = capacity_of(full_bytes);

    /// The upper bound of a bucket. The last bucket has none.
    struct End {
        TimePoint at;
        Bucket* bucket;

        [[nodiscard]] bool is_reached(TimePoint when, std::string_view id) const noexcept {
            return at != when ? at < when : bucket->end_id <= id;
        }
        [[nodiscard]] bool is_reached(const T& thing) const noexcept {
            return at != thing.at ? at < thing.at : bucket->end_id <= thing.id();
        }
        friend bool operator<(const End& a, const End& b) noexcept {
            return a.at != b.at ? a.at < b.at : a.bucket->end_id < b.bucket->end_id;
        }
    };

    /// An object together with its time, because the time alone decides most comparisons.
    struct Place {
        TimePoint at;
        T* thing;

        friend bool operator<(const Place& a, const Place& b) noexcept {
            return a.at != b.at ? a.at < b.at : a.thing->id() < b.thing->id();
        }
    };
    static bool later(const T* a, const T* b) noexcept {
        return a->at != b->at ? a->at > b->at : a->id() > b->id();
    }

    /// The objects of a bucket with their times, to be sorted. Reading all times at once takes
    /// little longer than reading one, because the cache misses overlap.
    class Places {
    public:
        explicit Places(const Bucket& bucket) noexcept : size_{bucket.size} {
            const auto things = bucket.things();
            for (std::size_t n = 0; n < size_; ++n) all_[n] = {things[n]->at, things[n]};
        }
        [[nodiscard]] auto begin() noexcept { return all_.begin(); }
        [[nodiscard]] auto end() noexcept {
            return all_.begin() + static_cast<std::ptrdiff_t>(size_);
        }

    private:
        std::size_t size_;
        std::array<Place, full_capacity> all_;
    };

    [[nodiscard]] Bucket& make(std::size_t bytes) {
        auto* cell = bytes == full_bytes ? memory_.full.take() : memory_.small.take();
        return *new (cell) Bucket{.capacity = static_cast<std::uint32_t>(capacity_of(bytes))};
    }
    void free(Bucket& bucket) noexcept {
        line_.remove(bucket);
        deallocate(bucket);
    }
    void deallocate(Bucket& bucket) noexcept {
        auto& pool = bucket.capacity == full_capacity ? memory_.full : memory_.small;
        std::destroy_at(&bucket);
        pool.deallocate(reinterpret_cast<std::byte*>(&bucket));
    }

    template <class... Sought>
    [[nodiscard]] Bucket& bucket_of(const Sought&... sought) const noexcept {
        auto* found = line_.back();
        ends_.visit_from([&](const End& end) { return end.is_reached(sought...); },
                         [&](const End& end) {
                             found = end.bucket;
                             return false;
                         });
        return *found;
    }

    [[nodiscard]] Bucket& enlarged(Bucket& small) {
        auto& full = make(full_bytes);
        for (auto* thing : small.things()) full.append(*thing);
        free(small);
        line_.push_back(full);
        return full;
    }

    /// Splits a full bucket. Returns the half into which `thing` belongs.
    [[nodiscard]] Bucket& split(Bucket& upper, const T& thing) {
        auto places = Places{upper};
        auto* before = line_.previous(upper);
        if (before == nullptr) std::reverse(places.begin(), places.end());
        // If objects arrive in the order of their times, few more objects will be inserted into the
        // lower bucket. It then receives more than half of the objects.
        const auto by_time = [](const Place& a, const Place& b) { return a.at < b.at; };
        const bool in_order = thing.at >= (places.end() - 1)->at &&
                              std::is_sorted(places.begin(), places.end(), by_time);
        const auto middle =
            places.end() - static_cast<std::ptrdiff_t>(full_capacity / (in_order ? 16U : 2U));
        std::nth_element(places.begin(), middle, places.end());
        const bool is_tie = std::any_of(places.begin(), middle,
                                        [&](const Place& each) { return each.at == middle->at; });

        auto& lower = make(full_bytes);
        lower.end_at = middle->at;
        try {
            if (is_tie) lower.end_id = middle->thing->id();
            ends_.insert({lower.end_at, &lower});
        } catch (...) {
            deallocate(lower);
            throw;
        }
        line_.insert_after(before, lower);
        upper.size = 0;
        std::for_each(places.begin(), middle, [&](auto& place) { lower.append(*place.thing); });
        std::for_each(middle, places.end(), [&](auto& place) { upper.append(*place.thing); });
        if (before == nullptr) sort(lower);
        return End{lower.end_at, &lower}.is_reached(thing) ? upper : lower;
    }

    static void sort(Bucket& bucket) noexcept {
        auto places = Places{bucket};
        std::sort(places.begin(), places.end());
        bucket.size = 0;
        for (auto place = places.end(); place != places.begin();) bucket.append(*(--place)->thing);
    }

    void shrink(Bucket& bucket) noexcept {
        auto* next = line_.next(bucket);
        auto* previous = line_.previous(bucket);
        if (empty()) {
            while (auto* any = line_.front()) end(*any);
        } else if (next != nullptr && may_merge(bucket, *next)) {
            merge(bucket, *next);
        } else if (previous != nullptr && may_merge(bucket, *previous)) {
            merge(*previous, bucket);
        }
    }

    [[nodiscard]] static bool may_merge(const Bucket& small, const Bucket& other) noexcept {
        return small.size == 0 || small.size + other.size <= full_capacity / 4 * 3;
    }

    void merge(Bucket& lower, Bucket& upper) noexcept {
        for (auto* thing : lower.things()) upper.append(*thing);
        const bool begins = &lower == line_.front();
        end(lower);
        if (begins) sort(upper);
    }

    void end(Bucket& bucket) noexcept {
        if (&bucket != line_.back()) ends_.remove({bucket.end_at, &bucket});
        free(bucket);
    }

    Memory& memory_;
    IntrusiveList<Bucket, &Bucket::in_line> line_;
    CountedTree<End> ends_;  ///< The bounds of all buckets except the last.
    std::size_t size_ = 0;
};

}  // namespace routemaster::detail
