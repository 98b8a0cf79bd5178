//! The reading layer: TOML text → tree with places → typed tables, all problems collected.
//!
//! Tables are declared once (see [`declare`]); the declaration yields the typed struct, its defaults, its reader,
//! the JSON Schema and the reference page.

pub(crate) mod declare;
pub(crate) mod files;
pub(crate) mod include;
pub(crate) mod keyword;
pub(crate) mod log;
pub(crate) mod node;
pub(crate) mod reference;
pub(crate) mod schema;
pub(crate) mod table;
pub(crate) mod values;
