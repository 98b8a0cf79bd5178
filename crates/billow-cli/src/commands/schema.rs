//! `billow schema`.

use crate::failure::Failure;
use crate::output::print_line;

pub(crate) fn schema() -> Result<(), Failure> {
    print_line(&format!("{:#}", billow::scene::schema()));
    Ok(())
}
