//! Tests of the mesher through its public interface.

mod pipeline;
mod red_green;
mod shapes;
