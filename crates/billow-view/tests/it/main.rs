//! The viewer as others meet it: a server under attack, a run that grows, and the page in a real browser.

mod browser;
mod chromium;
mod client;
mod hostile;
mod live;
#[path = "../../examples/demo/scene.rs"]
mod scene;
mod silhouette;
