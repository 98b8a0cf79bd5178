//! Whole-pipeline tests: what goes in free of intersections comes out free of them.

mod guarantee;
mod posed;
