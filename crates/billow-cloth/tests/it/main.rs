//! Cloth against closed forms, conservation laws and the exact audit.

mod motion;
mod support;
