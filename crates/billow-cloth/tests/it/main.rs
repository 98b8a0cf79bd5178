//! Cloth against closed forms, conservation laws and the exact audit.

mod friction;
mod invariance;
mod motion;
mod support;
mod time;
mod zones;
