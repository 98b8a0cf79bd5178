//! Threads that wait for the next loop instead of being woken for it.
//!
//! A step of a solver runs hundreds of loops of a tenth of a millisecond, one after the other on the same data. Every
//! loop is cut into pieces; each member of the team begins with the same part of them every time, so that it finds its
//! data in its cache, and then takes what is left of the others' parts from behind. Between loops members watch for the
//! next one; after a while without any they go back to the pool, and come again when there is one.
//!
//! Which member does a piece depends on chance, what the piece does must not.
#![allow(
    unsafe_code,
    reason = "members call a loop's body while its owner waits for them, which no lifetime can express"
)]

use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a member watches for the next loop before it goes back to the pool.
const PATIENCE: Duration = Duration::from_micros(150);

/// Looks at the next loop between two looks at the clock and at what else the pool has to do.
const LOOKS: u32 = 64;

/// The body of a loop, called with the number of a piece.
type Body<'a> = dyn Fn(usize) + Sync + 'a;

/// Members of a pool, and the loop under way.
struct Team {
    /// The thread that owns the loops, by its number in the pool.
    owner: Option<usize>,
    /// The body of the loop under way; valid while `open`.
    body: UnsafeCell<Option<*const Body<'static>>>,
    open: Own<AtomicBool>,
    /// Members that may be calling the body, the owner of the loop not counted.
    inside: Own<AtomicUsize>,
    /// What each member has left to do.
    parts: Vec<Own<Part>>,
    /// Which members are here.
    here: Vec<Own<AtomicBool>>,
    /// Whether there will be no more loops.
    dissolved: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: `body` is written by the owner alone while the loop is not open and nobody is inside, and read by others only
// while it is open and they are inside.
unsafe impl Sync for Team {}
// SAFETY: the body is called only while its owner waits, and it is `Sync`.
unsafe impl Send for Team {}

/// Something in cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Own<T>(T);

/// Consecutive pieces: the first in the upper half, the end in the lower half.
#[derive(Default)]
struct Part(AtomicU64);

impl Part {
    fn set(&self, first: u32, end: u32) {
        self.0.store(u64::from(first) << 32 | u64::from(end), Relaxed);
    }

    /// Takes the first piece that is left, or the last.
    fn take(&self, last: bool) -> Option<usize> {
        let taken = self.0.fetch_update(Relaxed, Relaxed, |part| {
            let (first, end) = ((part >> 32) as u32, part as u32);
            (first < end).then(|| if last { part - 1 } else { part + (1 << 32) })
        });
        taken.ok().map(|part| if last { part as u32 as usize - 1 } else { (part >> 32) as usize })
    }
}

thread_local! {
    /// The team of which this thread owns the loops, unless it is in one.
    static TEAM: Cell<Option<Arc<Team>>> = const { Cell::new(None) };
}

/// Runs `f` on this thread, a member of a pool, with a team of all its members for the loops in it.
pub(super) fn with_team<R>(f: impl FnOnce() -> R) -> R {
    let members = rayon::current_num_threads();
    if members < 2 || rayon::current_thread_index().is_none() {
        return f();
    }
    if let Some(team) = TEAM.take() {
        TEAM.set(Some(team));
        return f();
    }
    TEAM.set(Some(Arc::new(Team::new(members))));
    let _dissolve = Dissolve;
    f()
}

/// Takes leave of a team, whichever way its owner leaves.
struct Dissolve;

impl Drop for Dissolve {
    fn drop(&mut self) {
        if let Some(team) = TEAM.take() {
            team.dissolved.store(true, Relaxed);
        }
    }
}

/// Calls `body(k)` for every `k` below `count`, in any order, each on some member of the team; says whether there is one.
pub(super) fn run(count: usize, body: &Body<'_>) -> bool {
    let Some(team) = TEAM.take() else { return false };
    assert!(u32::try_from(count).is_ok(), "a loop of more than four billion pieces");
    // A loop within a piece is none of the team's.
    let result = catch_unwind(AssertUnwindSafe(|| team.run(count, body)));
    TEAM.set(Some(team));
    if let Err(panic) = result {
        resume_unwind(panic);
    }
    true
}

impl Team {
    fn new(members: usize) -> Self {
        let each = || 0..members;
        Self {
            owner: rayon::current_thread_index(),
            body: UnsafeCell::new(None),
            open: Own::default(),
            inside: Own::default(),
            parts: each().map(|_| Own::default()).collect(),
            here: each().map(|_| Own::default()).collect(),
            dissolved: AtomicBool::new(false),
            panic: Mutex::new(None),
        }
    }

    fn run(self: &Arc<Self>, count: usize, body: &Body<'_>) {
        let members = self.parts.len();
        for (m, part) in self.parts.iter().enumerate() {
            let border = |m: usize| (count * m / members) as u32;
            part.0.set(border(m), border(m + 1));
        }
        // SAFETY: only the lifetime changes. Nobody uses the body after `close`, which is called before it ends.
        let body: *const Body<'static> = unsafe { std::mem::transmute::<*const Body<'_>, _>(body) };
        // SAFETY: no loop is open and nobody is inside.
        unsafe { *self.body.get() = Some(body) };
        self.open.0.store(true, SeqCst);
        let closing = Close(self);
        self.call_absent();
        // SAFETY: the body outlives `closing`.
        self.work(0, unsafe { &*body });
        drop(closing);
        let panic = self.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    /// Has the pool send members that went away.
    fn call_absent(self: &Arc<Self>) {
        for m in 1..self.here.len() {
            let here = &self.here[m].0;
            if !here.load(Relaxed) && !here.swap(true, Relaxed) {
                let team = Arc::clone(self);
                rayon::spawn(move || {
                    // The owner, waiting for something else, has better things to do.
                    if rayon::current_thread_index() != team.owner {
                        team.take_part(m);
                    }
                    team.here[m].0.store(false, Release);
                });
            }
        }
    }

    /// Does what is left of a member's part, then of others'.
    fn work(&self, member: usize, body: &Body<'_>) {
        while let Some(k) = self.parts[member].0.take(false) {
            body(k);
        }
        let others = || (1..self.parts.len()).map(|away| (member + away) % self.parts.len());
        for other in others() {
            while let Some(k) = self.parts[other].0.take(true) {
                body(k);
            }
        }
    }

    /// Takes part in loops until there has been none for a while.
    fn take_part(&self, member: usize) {
        let mut idle = Instant::now();
        loop {
            for _ in 0..LOOKS {
                if self.open.0.load(Relaxed) && self.any_left() {
                    self.help(member);
                    idle = Instant::now();
                }
                std::hint::spin_loop();
            }
            if self.dissolved.load(Relaxed) || idle.elapsed() > PATIENCE {
                return;
            }
            // What the pool has to do for others, and the machine, comes first.
            if rayon::yield_now() != Some(rayon::Yield::Executed) {
                std::thread::yield_now();
            }
        }
    }

    /// Takes part in the loop under way.
    fn help(&self, member: usize) {
        self.inside.0.fetch_add(1, SeqCst);
        if self.open.0.load(SeqCst) {
            // SAFETY: the loop was open after this member was counted as inside, so its owner waits in `Close`.
            if let Some(body) = unsafe { (*self.body.get()).map(|body| &*body) } {
                let result = catch_unwind(AssertUnwindSafe(|| self.work(member, body)));
                if let Err(panic) = result {
                    self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
                }
            }
        }
        self.inside.0.fetch_sub(1, Release);
    }

    fn any_left(&self) -> bool {
        self.parts.iter().any(|part| {
            let part = part.0.0.load(Relaxed);
            part >> 32 < part & u64::from(u32::MAX)
        })
    }
}

/// Ends a loop, whichever way its owner leaves it: nothing is left to take, and nobody is inside.
struct Close<'a>(&'a Team);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        self.0.open.0.store(false, SeqCst);
        let mut looks = 0u32;
        while self.0.inside.0.load(SeqCst) != 0 {
            std::hint::spin_loop();
            looks += 1;
            if looks.is_multiple_of(LOOKS * 16) {
                std::thread::yield_now();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::par::{chunks_mut, fill, inside, map, sum, with_threads};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    /// Loops of all lengths, some of them long after the one before, when everybody has gone.
    #[test]
    fn every_piece_of_every_loop_is_done_once() {
        for threads in [2, 3, 7] {
            with_threads(threads, || {
                for round in 0..2000usize {
                    let mut counts = vec![0u32; round % 23];
                    chunks_mut(&mut counts, 1, |_, count| count[0] += 1);
                    assert!(counts.iter().all(|count| *count == 1), "{threads} {round}");
                    if round.is_multiple_of(500) {
                        std::thread::sleep(Duration::from_millis(2));
                    }
                }
            });
        }
    }

    #[test]
    fn pools_of_several_threads_have_a_team_outside_of_its_own_loops() {
        assert!(!super::run(2, &|_| {}));
        assert!(!with_threads(1, || super::run(2, &|_| {})));
        assert!(with_threads(2, || super::run(2, &|_| assert!(!super::run(2, &|_| {})))));
        assert!(inside(|| super::run(2, &|_| {})) == (crate::par::threads() > 1));
    }

    #[test]
    fn members_share_the_work() {
        let busy = AtomicUsize::new(0);
        with_threads(2, || {
            // Both pieces wait for each other: they end only if two threads work on them.
            chunks_mut(&mut [0; 2], 1, |_, _| {
                busy.fetch_add(1, Ordering::SeqCst);
                while busy.load(Ordering::SeqCst) < 2 {
                    std::thread::yield_now();
                }
            });
        });
        assert_eq!(busy.into_inner(), 2);
    }

    #[test]
    fn loops_within_loops_and_pools_within_pools_give_what_they_give_alone() {
        let inner = |i: usize| sum(3000, |k| (k * i) as f64);
        let truth: Vec<f64> = (0..40).map(inner).collect();
        with_threads(2, || {
            assert_eq!(map(40, inner), truth);
            assert_eq!(map(40, |i| with_threads(2, || inner(i))), truth);
            assert_eq!(map(40, |i| inside(|| inner(i))), truth);
            assert_eq!(inside(|| map(40, inner)), truth);
        });
        // Several at the same time, each from a thread of its own.
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..50).for_each(|_| assert_eq!(inside(|| map(40, inner)), truth)));
            }
        });
    }

    #[test]
    fn a_panic_reaches_the_owner_of_the_loop_and_the_next_loop_runs() {
        with_threads(2, || {
            for bad in 0..64 {
                let result = std::panic::catch_unwind(|| {
                    chunks_mut(&mut [0; 64], 1, |k, _| assert!(k != bad, "piece {k}"));
                });
                assert!(result.is_err(), "{bad}");
                let mut after = vec![0; 5000];
                fill(&mut after, |i| i);
                assert!(after.iter().enumerate().all(|(i, x)| i == *x));
            }
        });
    }
}
