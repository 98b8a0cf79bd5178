//! Sparse matrices in compressed rows, with numbers ([`Csr`]) or 3×3 blocks ([`BlockCsr`]) as entries.
//!
//! The [`Pattern`] is built once from the mesh and shared; filling in new values allocates nothing. Products and
//! parallel assembly give the same bits for any number of threads: every row, and every entry, is summed by one
//! thread in a fixed order.

mod assembly;
mod matrix;
mod pattern;

pub use assembly::{ElementSlots, SlotGather};
pub use matrix::{Block, BlockCsr, Csr, Sparse};
pub use pattern::Pattern;
