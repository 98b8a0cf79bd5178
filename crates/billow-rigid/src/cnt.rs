//! c
#![allow(missing_docs)]
use std::sync::atomic::{AtomicU64,Ordering::Relaxed};
pub static C:[AtomicU64;16]=[const{AtomicU64::new(0)};16];
pub fn add(i:usize,n:u64){C[i].fetch_add(n,Relaxed);}
pub fn take()->[u64;16]{std::array::from_fn(|i|C[i].swap(0,Relaxed))}
