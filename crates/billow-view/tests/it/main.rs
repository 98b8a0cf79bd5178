//! The viewer as others meet it: a server under attack, a run that grows, and the page in a real browser.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
#![allow(clippy::print_stdout, reason = "a test says why it skips")]

mod arrays;
mod browser;
mod chromium;
mod client;
mod devices;
mod hostile;
mod large;
mod live;
#[path = "../../examples/demo/scene.rs"]
mod scene;
mod silhouette;
